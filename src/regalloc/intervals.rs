//! Live intervals: where a virtual register is live, with holes, and where it is used.
//!
//! An interval's ranges and uses are slices of two pools that are never copied: splitting an
//! interval gives both halves parts of the same slices, and each interval clips the ranges at its
//! ends. The pieces of one virtual register are a list in order of position.

use super::position::Pos;
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::mach::{PReg, VReg};
use crate::pooled;
use std::ops::{Index, IndexMut, Range};

crate::entity! {
    /// A live interval: all of a virtual register's life, or a piece of it.
    Piece = "i";
}

/// A stretch of positions, half open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveRange {
    /// Where it begins.
    pub start: Pos,
    /// Where it has ended.
    pub end: Pos,
}

/// How a value is needed at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// In a register.
    Register,
    /// Anywhere, but read or written in place.
    Anywhere,
    /// Anywhere: it is copied from there.
    Copied,
}

/// A use or definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// Where.
    pub pos: Pos,
    /// How.
    pub need: Need,
}

/// Where a piece was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Nothing was decided.
    Open,
    /// A register.
    Reg(PReg),
    /// Its virtual register's spill slot, or nowhere if it can be made again.
    Spilled,
}

/// A live interval.
#[derive(Clone, Debug)]
pub struct Interval {
    /// Whose.
    pub vreg: VReg,
    /// The first position.
    pub start: Pos,
    /// After the last position.
    pub end: Pos,
    ranges: Range<u32>,
    uses: Range<u32>,
    /// Where it was put.
    pub home: Home,
    /// Whether it begins where paths come that have not passed the piece before.
    pub rejoins: bool,
    /// The next piece of the same virtual register.
    pub next: Option<Piece>,
}

pooled! { LiveRange, Use, (Option<Piece>, Range<u32>), Interval }

/// All live intervals of a function.
#[derive(Debug)]
pub struct Intervals {
    pieces: Buffer<Interval>,
    ranges: Buffer<LiveRange>,
    uses: Buffer<Use>,
    /// For each virtual register, its first piece and all its uses.
    of: Buffer<(Option<Piece>, Range<u32>)>,
}

impl Intervals {
    /// No interval yet; `uses` has room for them all.
    pub fn new(vregs: usize, uses: Buffer<Use>) -> Self {
        Self {
            pieces: Buffer::with_capacity(vregs),
            ranges: Buffer::with_capacity(vregs),
            uses,
            of: Buffer::filled((None, 0..0), vregs),
        }
    }

    /// Adds the interval of a virtual register.
    pub fn add(&mut self, vreg: VReg, ranges: &[LiveRange], uses: Range<u32>) {
        let first = self.ranges.len() as u32;
        self.ranges.extend_from_slice(ranges);
        let (Some(start), Some(end)) = (ranges.first(), ranges.last()) else { return };
        let piece = self.push(Interval {
            vreg,
            start: start.start,
            end: end.end,
            ranges: first..self.ranges.len() as u32,
            uses: uses.clone(),
            home: Home::Open,
            rejoins: false,
            next: None,
        });
        self.of[vreg.index()] = (Some(piece), uses);
    }

    fn push(&mut self, interval: Interval) -> Piece {
        self.pieces.push(interval);
        Piece::new(self.pieces.len() - 1)
    }

    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// How many ranges there are.
    pub fn num_ranges(&self) -> usize {
        self.ranges.len()
    }

    /// All pieces.
    pub fn keys(&self) -> impl Iterator<Item = Piece> + use<> {
        (0..self.pieces.len()).map(Piece::new)
    }

    /// The pieces of a virtual register, in order.
    pub fn pieces_of(&self, vreg: VReg) -> impl Iterator<Item = Piece> {
        std::iter::successors(self.of[vreg.index()].0, |&piece| self[piece].next)
    }

    /// All uses of a virtual register in order.
    pub fn uses_of(&self, vreg: VReg) -> &[Use] {
        self.all_uses(self.of[vreg.index()].1.clone())
    }

    /// Uses by their place in the pool.
    pub fn all_uses(&self, uses: Range<u32>) -> &[Use] {
        &self.uses[uses.start as usize..uses.end as usize]
    }

    /// The uses of a piece in order.
    pub fn uses(&self, piece: Piece) -> &[Use] {
        self.all_uses(self[piece].uses.clone())
    }

    /// The uses of a piece from a position on.
    pub fn uses_from(&self, piece: Piece, pos: Pos) -> &[Use] {
        let uses = self.uses(piece);
        &uses[uses.partition_point(|u| u.pos < pos)..]
    }

    /// The ranges of a piece in order.
    pub fn ranges(&self, piece: Piece) -> impl Iterator<Item = LiveRange> {
        let Interval { start, end, .. } = self[piece];
        self.pool(piece)
            .iter()
            .map(move |r| LiveRange { start: r.start.max(start), end: r.end.min(end) })
    }

    /// The first range that ends after `pos`.
    pub fn range_after(&self, piece: Piece, pos: Pos) -> Option<LiveRange> {
        let Interval { start, end, .. } = self[piece];
        let pool = self.pool(piece);
        let found = match pool {
            [first, ..] if first.end > pos => *first,
            _ => *pool.get(pool.partition_point(|r| r.end <= pos))?,
        };
        let range = LiveRange { start: found.start.max(start), end: found.end.min(end) };
        (range.end > pos).then_some(range)
    }

    /// Whether the value is live at `pos` and `pos` is the piece's.
    pub fn covers(&self, piece: Piece, pos: Pos) -> bool {
        self.range_after(piece, pos).is_some_and(|range| range.start <= pos)
    }

    /// Whether the piece begins in the middle of a range: its value comes from the piece before.
    pub fn begins_within(&self, piece: Piece) -> bool {
        let start = self[piece].start;
        self.pool(piece).first().is_some_and(|range| range.start < start)
    }

    fn pool(&self, piece: Piece) -> &[LiveRange] {
        let ranges = &self[piece].ranges;
        &self.ranges[ranges.start as usize..ranges.end as usize]
    }

    /// The first position at which both are live.
    pub fn intersection(&self, a: Piece, b: Piece) -> Option<Pos> {
        let mut at = self[a].start.max(self[b].start);
        loop {
            let (x, y) = (self.range_after(a, at)?, self.range_after(b, at)?);
            let start = x.start.max(y.start).max(at);
            if start < x.end.min(y.end) {
                return Some(start);
            }
            at = start;
        }
    }

    /// Cuts a piece at `pos`, which is inside it; what is from there on becomes a new piece. Where
    /// `pos` is in a hole, the new piece begins after the hole.
    pub fn split(&mut self, piece: Piece, pos: Pos) -> Piece {
        let mut left = self[piece].clone();
        debug_assert!(left.start < pos && pos < left.end, "{pos} is not inside {left:?}");
        let pool = self.pool(piece);
        let before = pool.partition_point(|r| r.start < pos) as u32;
        let after = pool.partition_point(|r| r.end <= pos) as u32;
        let mut right = left.clone();
        left.ranges.end = left.ranges.start + before;
        right.ranges.start += after;
        left.end = pos.min(self.ranges[left.ranges.end as usize - 1].end);
        right.start = pos.max(self.ranges[right.ranges.start as usize].start);
        let uses = self.uses(piece).partition_point(|u| u.pos < pos) as u32;
        left.uses.end = left.uses.start + uses;
        right.uses.start += uses;
        right.home = Home::Open;
        right.rejoins = false;
        let right = self.push(right);
        left.next = Some(right);
        self[piece] = left;
        right
    }
}

impl Index<Piece> for Intervals {
    type Output = Interval;
    #[inline]
    fn index(&self, piece: Piece) -> &Interval {
        &self.pieces[piece.index()]
    }
}

impl IndexMut<Piece> for Intervals {
    #[inline]
    fn index_mut(&mut self, piece: Piece) -> &mut Interval {
        &mut self.pieces[piece.index()]
    }
}
