//! Linear scan over live intervals.
//!
//! Idea: Wimmer and Mössenböck, "Optimized interval splitting in a linear scan register
//! allocator" (VEE 2005), and Wimmer and Franz, "Linear scan register allocation on SSA form" (CGO
//! 2010). Pieces are taken in order of their beginning. Each gets a register that is free for all
//! of it, or as long as possible, or the register of whoever needs it last; what does not fit is
//! split off and comes again later (`split.rs`, `spill.rs`).
//!
//! Differences from the papers:
//! * A register's future is known in three parts: the piece that is in it now; pieces that are in a
//!   hole now, in a heap by the end of the hole, so that time passes them without looking at each;
//!   the points where instructions take it (`reserved.rs`).
//! * In SSA form a value that is not live where another is defined never meets it later, hence
//!   pieces in holes matter to split pieces only. This needs definitions to come first in the
//!   linear order, too; where some do not, holes are always looked at.
//! * Most pieces find a register that is free for all of their life, and for them two comparisons
//!   for each register are enough: with the next time that anything happens to it, and with the
//!   next point that takes it. Only where that finds none are all bounds computed (`bounds.rs`).
//! * A conflict in the cold blocks at the end of the function does not keep a piece from a
//!   register: it is split there.
//!
//! Input: layout, intervals. Output: every piece has a home.

use super::Options;
use super::bounds::Bounds;
use super::event::{Choice, Event, Spill};
use super::hints::Hints;
use super::intervals::{Home, Intervals, Need, Piece, Use};
use super::layout::Layout;
use super::liveness::Definitions;
use super::position::Pos;
use super::reserved::Reserved;
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::mach::{PReg, RegClass, RegSet, RegisterFile};
use crate::pooled;
use crate::watch::Watch;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pooled! { (Pos, Piece) }

/// The state of the scan.
pub struct Scan<'a, W> {
    /// Who watches.
    pub watch: &'a mut W,
    pub(super) layout: &'a Layout<'a>,
    pub(super) definitions: &'a Definitions,
    pub(super) registers: &'a RegisterFile,
    pub(super) options: Options,
    /// The intervals, with homes.
    pub intervals: Intervals,
    pub(super) hints: Hints,
    pub(super) reserved: Reserved,
    /// Allocatable registers, and how many of them there are.
    by_class: [([PReg; PReg::COUNT / 2], usize); 2],
    /// The whole lives, in order; those before `next` have been placed.
    whole: Buffer<(Pos, Piece)>,
    next: usize,
    /// What was split off and comes again.
    again: BinaryHeap<Reverse<(Pos, Piece)>>,
    /// For each register, when its piece ends or one in a hole comes back.
    wakes: [Pos; PReg::COUNT],
    pub(super) active: [Option<Active>; PReg::COUNT],
    pub(super) in_hole: [BinaryHeap<Reverse<(Pos, Piece)>>; PReg::COUNT],
    used: RegSet,
    pub(super) ordered: bool,
    pub(super) steps: u64,
}

/// The piece that is in a register now, and where its present range ends.
#[derive(Clone, Copy)]
pub(super) struct Active {
    piece: Piece,
    until: Pos,
}

impl<'a, W: Watch<Event>> Scan<'a, W> {
    /// Ready to run.
    pub fn new(
        layout: &'a Layout<'a>,
        definitions: &'a Definitions,
        registers: &'a RegisterFile,
        options: Options,
        intervals: Intervals,
        watch: &'a mut W,
    ) -> Self {
        let of = |class| {
            let mut list = ([PReg(0); PReg::COUNT / 2], 0);
            for &reg in registers.allocatable.iter().filter(|reg| reg.class() == class) {
                list.0[list.1] = reg;
                list.1 += 1;
            }
            list
        };
        let ordered = intervals.keys().all(|piece| {
            let interval = &intervals[piece];
            interval.start == definitions[interval.vreg.index()]
        });
        for piece in intervals.keys() {
            watch.see(|| Event::interval(&intervals, piece));
        }
        Self {
            watch,
            layout,
            definitions,
            registers,
            options,
            hints: Hints::new(layout),
            reserved: Reserved::new(layout),
            by_class: [of(RegClass::Int), of(RegClass::Float)],
            whole: by_start(&intervals, layout.len()),
            next: 0,
            again: BinaryHeap::new(),
            wakes: [Pos::MAX; PReg::COUNT],
            active: [None; PReg::COUNT],
            in_hole: std::array::from_fn(|_| BinaryHeap::new()),
            used: RegSet::EMPTY,
            ordered,
            steps: 0,
            intervals,
        }
    }

    /// Gives every piece a home.
    pub fn run(&mut self) {
        while let Some((start, piece)) = self.next_piece() {
            self.steps += 1;
            self.watch.see(|| Event::Taken(piece.0));
            let class = self.layout.class(self.intervals[piece].vreg);
            for reg in due(&self.wakes, class, start).iter() {
                self.advance(reg, start);
            }
            self.reserved.advance(class, start);
            let (regs, count) = self.by_class[class as usize];
            self.place(piece, &regs[..count]);
        }
    }

    /// The piece that begins next.
    fn next_piece(&mut self) -> Option<(Pos, Piece)> {
        let whole = self.whole.get(self.next).copied();
        match (whole, self.again.peek()) {
            (Some(whole), Some(&Reverse(again)))
                if again < whole || (again.0 == whole.0 && self.intervals[again.1].rejoins) => {}
            (None, _) => {}
            (Some(whole), _) => {
                self.next += 1;
                return Some(whole);
            }
        }
        self.again.pop().map(|Reverse(again)| again)
    }

    /// What came out: the pieces with their homes, and who wants to be where whom is.
    pub fn finish(self) -> (Intervals, Hints) {
        (self.intervals, self.hints)
    }

    /// How much was done: pieces, and steps of the searches for conflicts.
    pub fn work(&self) -> u64 {
        self.steps + self.reserved.steps + self.intervals.num_ranges() as u64
    }

    /// Cuts a piece; what is from there on is the answer.
    pub(super) fn split(&mut self, piece: Piece, at: Pos) -> Piece {
        let rest = self.intervals.split(piece, at);
        self.watch.see(|| Event::split(&self.intervals, piece, rest));
        rest
    }

    /// The piece comes again when its beginning is reached.
    pub(super) fn enqueue(&mut self, piece: Piece) {
        self.again.push(Reverse((self.intervals[piece].start, piece)));
    }

    /// Time passes for a register.
    fn advance(&mut self, reg: PReg, now: Pos) {
        let r = reg.0 as usize;
        if let Some(Active { piece, until }) = self.active[r]
            && until <= now
        {
            self.active[r] = None;
            self.wait(reg, piece, now);
        }
        while let Some(&Reverse((resumes, piece))) = self.in_hole[r].peek()
            && resumes <= now
        {
            self.in_hole[r].pop();
            self.wait(reg, piece, now);
        }
        self.wakes[r] = self.wakes_at(reg);
    }

    fn wakes_at(&self, reg: PReg) -> Pos {
        let r = reg.0 as usize;
        let until = self.active[r].map_or(Pos::MAX, |active| active.until);
        self.in_hole[r].peek().map_or(until, |&Reverse((resumes, _))| until.min(resumes))
    }

    /// A piece of `reg` is in it, or in a hole, or over.
    fn wait(&mut self, reg: PReg, piece: Piece, now: Pos) {
        match self.intervals.range_after(piece, now) {
            Some(range) if range.start <= now => {
                debug_assert!(self.active[reg.0 as usize].is_none(), "{reg:?} is given twice");
                self.active[reg.0 as usize] = Some(Active { piece, until: range.end });
            }
            Some(range) => self.in_hole[reg.0 as usize].push(Reverse((range.start, piece))),
            None => {}
        }
        self.wakes[reg.0 as usize] = self.wakes_at(reg);
    }

    fn place(&mut self, piece: Piece, regs: &[PReg]) {
        let start = self.intervals[piece].start;
        let within = self.intervals.begins_within(piece);
        if within && !start.is_movable() {
            return self.spill(piece, Spill::Unmovable);
        }
        let mut needed = self.needed(piece);
        if self.options.spill_everything {
            let Some(end) = needed else { return self.spill(piece, Spill::Asked) };
            if end < self.intervals[piece].end {
                let rest = self.split(piece, end);
                self.spill(rest, Spill::Asked);
            }
            needed = Some(end.min(self.intervals[piece].end));
        }
        if let Some((reg, limit, score)) = self.free_throughout(piece, regs)
            && self.assign(piece, reg, limit, needed, Choice::Free(limit.number(), score))
        {
            return;
        }
        let bounds = self.bounds(piece, regs);
        if self.intervals[piece].rejoins {
            self.rejoin(piece, regs, &bounds);
        } else if !self.take_free(piece, regs, &bounds, needed) {
            self.take_occupied(piece, regs, &bounds, needed);
        }
    }

    /// If the piece needs a register where it begins: until where.
    fn needed(&self, piece: Piece) -> Option<Pos> {
        let start = self.intervals[piece].start;
        let mut end = None;
        for u in self.intervals.uses(piece) {
            let reaches = u.pos <= end.unwrap_or(start) && u.pos.inst() == start.inst();
            match u.need {
                Need::Register if reaches => end = Some(u.pos.next()),
                _ if reaches => {}
                _ => break,
            }
        }
        end
    }

    /// What is wanted of a register: the needed stretch, else the first use.
    pub(super) fn goal(&self, piece: Piece, needed: Option<Pos>) -> Pos {
        let first_use = || self.intervals.uses(piece).first().map(|u| u.pos.next());
        needed.or_else(first_use).unwrap_or(self.intervals[piece].end)
    }

    /// The best of the registers that are free for all of the piece but for cold code, and until
    /// when it is, where that can be told without a look at pieces in holes.
    fn free_throughout(&mut self, piece: Piece, regs: &[PReg]) -> Option<(PReg, Pos, f32)> {
        let interval = &self.intervals[piece];
        let (vreg, start, end) = (interval.vreg, interval.start, interval.end);
        let whole = start == self.definitions[vreg.index()] && !self.intervals.begins_within(piece);
        if !whole || !self.ordered || self.safepoint(piece).is_some() {
            return None;
        }
        let enough = self.enough(piece);
        let scores = self.hints.scores(vreg);
        let mut best: Option<(f32, bool, Pos, PReg)> = None;
        for &reg in regs {
            let r = reg.0 as usize;
            if self.active[r].is_some() {
                continue;
            }
            let candidate = (scores[r], !self.costs_save(reg));
            if best.is_some_and(|(score, free, ..)| (score, free) >= candidate) {
                continue;
            }
            let limit = match self.reserved.upcoming[r] < end {
                true => self.reserved.conflict(&self.intervals, piece, reg).unwrap_or(Pos::MAX),
                false => Pos::MAX,
            };
            if limit >= enough {
                best = Some((candidate.0, candidate.1, limit, reg));
            }
        }
        best.map(|(score, _, limit, reg)| (reg, limit, score))
    }

    /// Until where a register is wanted: a conflict in cold code is none.
    pub(super) fn enough(&self, piece: Piece) -> Pos {
        let interval = &self.intervals[piece];
        let cold_from = self.layout.cold_from;
        if interval.start < cold_from { interval.end.min(cold_from) } else { interval.end }
    }

    /// Whether the prologue would have to save the register, and need not do so yet.
    fn costs_save(&self, reg: PReg) -> bool {
        self.registers.callee_saved.contains(reg) && !self.used.contains(reg)
    }

    pub(super) fn take_free(
        &mut self,
        piece: Piece,
        regs: &[PReg],
        bounds: &Bounds,
        needed: Option<Pos>,
    ) -> bool {
        let interval = &self.intervals[piece];
        let scores = self.hints.scores(interval.vreg);
        let enough = self.enough(piece);
        let mut best: Option<(bool, Pos, f32, bool, PReg)> = None;
        for &reg in regs {
            let free = bounds.free[reg.0 as usize];
            let all = free >= enough;
            let until = if all { enough } else { free };
            let candidate = (all, until, scores[reg.0 as usize], !self.costs_save(reg));
            if best.is_none_or(|(a, b, c, d, _)| (a, b, c, d) < candidate) {
                best = Some((all, until, candidate.2, candidate.3, reg));
            }
        }
        let Some((all, _, score, _, reg)) = best else { return false };
        let free = bounds.free[reg.0 as usize];
        let choice = Choice::Free(free.number(), score);
        (all || free >= self.goal(piece, needed)) && self.assign(piece, reg, free, needed, choice)
    }

    /// Puts the piece in `reg` until `limit` at most; false, and nothing done, if that is too short.
    pub(super) fn assign(
        &mut self,
        piece: Piece,
        reg: PReg,
        limit: Pos,
        needed: Option<Pos>,
        choice: Choice,
    ) -> bool {
        if limit < self.intervals[piece].end {
            match self.cut(piece, limit) {
                Some(cut) if needed.is_none_or(|end| cut >= end) => {
                    let rest = self.split_off(piece, cut);
                    self.enqueue(rest);
                }
                _ => return false,
            }
        }
        self.watch.see(|| Event::Assigned(piece.0, reg, choice));
        let interval = &mut self.intervals[piece];
        interval.home = Home::Reg(reg);
        let (vreg, start) = (interval.vreg, interval.start);
        self.used = self.used.with(reg);
        self.hints.assigned(vreg, reg);
        self.wait(reg, piece, start);
        true
    }

    /// Takes the register whose piece is used last, if the piece at hand is used sooner.
    fn take_occupied(&mut self, piece: Piece, regs: &[PReg], bounds: &Bounds, needed: Option<Pos>) {
        let start = self.intervals[piece].start;
        let goal = self.goal(piece, needed);
        let mut best: Option<(u64, PReg)> = None;
        for &reg in regs {
            let limit = bounds.limit[reg.0 as usize];
            if limit >= goal && self.fits(piece, limit, needed) {
                let active = self.active[reg.0 as usize];
                let distance = active.map_or(u64::MAX, |a| self.distance(a.piece, start));
                if distance > 0 && best.is_none_or(|(known, _)| known < distance) {
                    best = Some((distance, reg));
                }
            }
        }
        let Some(end) = needed else {
            let own = self.distance(piece, start);
            match best.filter(|&(distance, _)| own < distance) {
                Some((distance, reg)) => {
                    let limit = bounds.limit[reg.0 as usize];
                    self.take_from(piece, reg, limit, needed, Choice::Taken(distance));
                }
                None => self.spill(piece, Spill::UsedLater),
            }
            return;
        };
        if let Some((distance, reg)) = best {
            let limit = bounds.limit[reg.0 as usize];
            return self.take_from(piece, reg, limit, needed, Choice::Taken(distance));
        }
        let reg = regs.iter().copied().find(|&reg| {
            bounds.reserved[reg.0 as usize] >= end && self.can_be_moved(reg, start, end)
        });
        let Some(reg) = reg else {
            panic!("instruction {}: its operands don't fit the registers", start.inst())
        };
        let limit = bounds.reserved[reg.0 as usize];
        let in_hole = self.in_hole[reg.0 as usize].iter().map(|&Reverse((_, other))| other);
        let meeting: Vec<Piece> =
            in_hole.filter(|&o| self.intervals.intersection(piece, o).is_some()).collect();
        for other in meeting {
            self.evict(other, reg, start);
        }
        self.take_from(piece, reg, limit, needed, Choice::Last);
    }

    fn take_from(
        &mut self,
        piece: Piece,
        reg: PReg,
        limit: Pos,
        needed: Option<Pos>,
        choice: Choice,
    ) {
        if let Some(active) = self.active[reg.0 as usize] {
            self.evict(active.piece, reg, self.intervals[piece].start);
        }
        let assigned = self.assign(piece, reg, limit, needed, choice);
        debug_assert!(assigned, "{reg:?} was found to fit");
    }

    /// Whether cutting the piece at `limit` leaves it what it needs.
    fn fits(&self, piece: Piece, limit: Pos, needed: Option<Pos>) -> bool {
        limit >= self.intervals[piece].end
            || self.cut(piece, limit).is_some_and(|cut| needed.is_none_or(|end| cut >= end))
    }

    /// Whether the piece that is in `reg` at the beginning of an instruction can do with another
    /// register: it needs none, or needs it early while `reg` is needed from early to late, and
    /// so may go to one that is taken late.
    fn can_be_moved(&self, reg: PReg, start: Pos, end: Pos) -> bool {
        let late = Pos::late(start.inst());
        let Some(Active { piece, .. }) = self.active[reg.0 as usize] else { return true };
        let needed_late = Use { pos: late, need: Need::Register };
        let used_late = self.intervals.uses_from(piece, late).first() == Some(&needed_late);
        self.distance(piece, start) > 0 || (start < late && end > late && !used_late)
    }

    /// How far the next use is from `now`, in instructions executed; 0 if the piece can't leave.
    fn distance(&self, piece: Piece, now: Pos) -> u64 {
        let vreg = self.intervals[piece].vreg;
        let uses = self.intervals.uses_of(vreg);
        let next = uses.partition_point(|u| u.pos < now);
        if let Some(u) = uses.get(next)
            && u.pos == now
            && u.need == Need::Register
        {
            return 0;
        }
        let distance = 1 + self.next_use(vreg, uses.get(next).map(|u| u.pos), now);
        if self.layout.remat(vreg).is_some() { distance.saturating_mul(4) } else { distance }
    }

    /// A register lost its piece: it is cut at `now`, or at a better place before.
    fn evict(&mut self, piece: Piece, reg: PReg, now: Pos) {
        let r = reg.0 as usize;
        if self.active[r].is_some_and(|a| a.piece == piece) {
            self.active[r] = None;
        } else {
            self.in_hole[r].retain(|&Reverse((_, other))| other != piece);
        }
        self.wakes[r] = self.wakes_at(reg);
        let cut = self.eviction_point(piece, now);
        let all = cut <= self.intervals[piece].start;
        self.watch.see(|| Event::Evicted(piece.0, reg, (!all).then_some(cut.number())));
        if all {
            self.intervals[piece].home = Home::Open;
            self.spill(piece, Spill::Evicted);
        } else {
            let rest = self.split_off(piece, cut);
            self.spill(rest, Spill::Evicted);
        }
    }
}

/// The registers of a class whose time has come.
pub(super) fn due(times: &[Pos; PReg::COUNT], class: RegClass, now: Pos) -> RegSet {
    let first = match class {
        RegClass::Int => 0,
        RegClass::Float => PReg::COUNT / 2,
    };
    let mut bits = 0;
    for (i, &time) in times[first..first + PReg::COUNT / 2].iter().enumerate() {
        bits |= u32::from(time <= now) << i;
    }
    RegSet(bits << first)
}

/// The pieces in order of their beginnings, which are instructions `0..insts`.
fn by_start(intervals: &Intervals, insts: u32) -> Buffer<(Pos, Piece)> {
    let start = |piece: Piece| intervals[piece].start;
    let mut next = Buffer::filled(0u32, insts as usize + 1);
    for piece in intervals.keys() {
        next[start(piece).inst() as usize + 1] += 1;
    }
    for i in 1..next.len() {
        next[i] += next[i - 1];
    }
    let mut sorted = Buffer::filled((Pos::MIN, Piece(0)), intervals.len());
    for piece in intervals.keys() {
        let place = &mut next[start(piece).inst() as usize];
        sorted[*place as usize] = (start(piece), piece);
        *place += 1;
    }
    for same in sorted.chunk_by_mut(|a, b| a.0.inst() == b.0.inst()) {
        if same.len() > 1 {
            same.sort_unstable();
        }
    }
    sorted
}
