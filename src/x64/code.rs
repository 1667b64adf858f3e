//! Selected and allocated code → bytes.
//!
//! Blocks are emitted in their order, each instruction between the allocator's edits, and behind
//! them the cold paths and the literal pool. Moves on edges go before a lone jump, to the beginning
//! of a block with one predecessor, before the head of the loop that they lead back to, or into code
//! of their own. Blocks that do nothing but jump are
//! jumped over. The code is assembled twice: from the first assembly it is known which jumps are
//! short, and what stands where loops are left. Once is enough without either, and for a small
//! function without loops, in which all jumps are short.
//!
//! `VCode` + `Allocation` → `CompiledFunction`. The code must lie at a multiple of 16.

mod arrays;
mod cold;
mod fast_exit;
mod forward;
mod frame;
mod insts;
mod poll;
mod switch;
mod tops;

use self::cold::{Cold, ColdKind};
use self::fast_exit::{FastExit, Step};
use self::forward::forwarding;
use self::frame::Frame;
use self::poll::{Poll, Stretch};
use self::tops::{is_tight_loop, tops};
use super::emit::{Asm, Label, Mem, Rmi, ShortJumps};
use super::inst::{AluOp, Cond, Inst, Width};
use super::regs::{RSP, SCRATCH};
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::ir::Loc;
use crate::mach::{
    Allocation, CallSite, CompiledFunction, Edit, Origin, PReg, Place, ProgPoint, RegClass,
    Relocation, Side, SpillSlot, VBlock, VCode,
};
use toyjit_runtime::context::STACK_LIMIT;

/// The most instructions of a function of which it is tried whether all its jumps are short.
const SMALL: usize = 24;

/// Makes the bytes of a function.
pub(super) fn emit(code: &VCode<Inst>, allocation: &Allocation) -> CompiledFunction {
    let frame = Frame::of(code, allocation);
    let edges = EdgeIndex::of(code, allocation);
    let forward = forwarding(code, allocation, &edges);
    let fast_exit = FastExit::find(code, allocation, &frame);
    let tops = tops(code, allocation, &edges, &forward);
    let (forward, tops, fast_exit, frame) = (&forward[..], &tops[..], fast_exit.as_ref(), &frame);
    let plan = Plan { code, allocation, edges: &edges, forward, tops, fast_exit, frame };
    if code.insts.len() <= SMALL && !code.insts.iter().any(|inst| matches!(inst, Inst::Poll)) {
        let mut only = Emitter::new(plan, ShortJumps::All, Vec::new());
        only.function();
        if only.asm.all_reach() {
            let code_len = only.asm.finish_code();
            return only.finish(code_len);
        }
    }
    let mut first = Emitter::new(plan, ShortJumps::None, Vec::new());
    first.function();
    let code_len = first.asm.finish_code();
    let short_jumps = first.asm.relax();
    if first.polls.is_empty() && !short_jumps.contains(&true) {
        return first.finish(code_len);
    }
    let stretches = poll::stretches(&first.polls, &first.asm.finish());
    let mut second = Emitter::new(plan, ShortJumps::These(short_jumps), stretches);
    second.relocations = emptied(first.relocations);
    second.sites = emptied(first.sites);
    second.source_map = emptied(first.source_map);
    second.origins = emptied(first.origins);
    second.function();
    let code_len = second.asm.finish_code();
    second.finish(code_len)
}

/// What is known before anything is emitted.
#[derive(Clone, Copy)]
struct Plan<'a> {
    code: &'a VCode<Inst>,
    allocation: &'a Allocation,
    edges: &'a EdgeIndex,
    /// For each block, the block where a jump to it ends up.
    forward: &'a [VBlock],
    /// For each loop's head, the moves that stand before it.
    tops: &'a [Option<usize>],
    fast_exit: Option<&'a FastExit>,
    frame: &'a Frame,
}

struct Emitter<'a> {
    plan: Plan<'a>,
    asm: Asm,
    /// By block.
    labels: Buffer<Label>,
    /// Where the moves before a loop's head begin, by block.
    tops: Buffer<Label>,
    cold: Vec<Cold>,
    loc: Loc,
    /// The edit that comes next.
    next_edit: usize,
    relocations: Vec<Relocation>,
    sites: Vec<CallSite>,
    source_map: Vec<(u32, Loc)>,
    origins: Vec<(u32, Origin)>,
    polls: Vec<Poll>,
    /// What the polls need, in their order; nothing in the first assembly.
    stretches: Vec<Stretch>,
}

impl<'a> Emitter<'a> {
    fn new(plan: Plan<'a>, short_jumps: ShortJumps, stretches: Vec<Stretch>) -> Self {
        // Some instructions have labels of their own for cold code.
        let (insts, blocks) = (plan.code.insts.len(), plan.code.blocks.len());
        let mut asm = Asm::with_room(short_jumps, insts + 8, blocks + insts / 4 + 4);
        let labels = plan.code.blocks.keys().map(|_| asm.label()).collect();
        let tops = plan.code.blocks.keys().map(|_| asm.label()).collect();
        Self {
            plan,
            asm,
            labels,
            tops,
            cold: Vec::new(),
            loc: Loc(0),
            next_edit: 0,
            relocations: Vec::new(),
            sites: Vec::new(),
            source_map: Vec::new(),
            origins: Vec::new(),
            polls: Vec::new(),
            stretches,
        }
    }

    fn finish(self, code_len: u32) -> CompiledFunction {
        CompiledFunction {
            polls: poll::sites(&self.polls, &self.asm),
            code_len,
            frame_size: self.plan.frame.size(),
            tables: self.asm.tables(),
            bytes: self.asm.finish(),
            relocations: self.relocations,
            sites: self.sites,
            source_map: self.source_map,
            origins: self.origins,
        }
    }

    fn function(&mut self) {
        let Plan { code, forward, fast_exit, .. } = self.plan;
        let done = fast_exit.map(|exit| exit.block);
        let emitted = code.blocks.keys().filter(|&b| forward[b.index()] == b && Some(b) != done);
        let mut emitted = emitted.peekable();
        // What comes next, where nothing stands before it.
        let tops = self.plan.tops;
        let plain = |block: &VBlock| tops[block.index()].is_none().then_some(*block);
        self.belongs(Origin::Block(VBlock(0)));
        match fast_exit {
            Some(exit) => {
                emitted.next();
                self.fast_exit(exit, emitted.peek().and_then(plain));
            }
            None => self.prologue(),
        }
        while let Some(block) = emitted.next() {
            self.block(block, emitted.peek().and_then(plain));
        }
        self.belongs(Origin::Nowhere);
        while !self.cold.is_empty() {
            for cold in std::mem::take(&mut self.cold) {
                self.emit_cold(cold);
            }
        }
    }

    /// The entry block, the way out without a frame, and the prologue on the other way.
    fn fast_exit(&mut self, exit: &FastExit, next: Option<VBlock>) {
        self.steps(&exit.entry);
        self.compare(&exit.compare);
        let entry = VBlock(0);
        let data = &self.plan.code.blocks[entry];
        let Inst::Branch { compare } = &self.plan.code.insts[data.insts.end as usize - 1] else {
            return;
        };
        let on = 1 - exit.way;
        let cond = if on == 0 { compare.cond } else { compare.cond.inverted() };
        let go_on = self.asm.label();
        self.asm.jump_if(cond, go_on);
        self.belongs(Origin::Edge(entry, exit.way as u32));
        self.steps(&exit.leave);
        self.asm.ret();
        self.asm.bind(go_on);
        self.belongs(Origin::Edge(entry, on as u32));
        self.prologue();
        self.edits(exit.delayed.iter().copied());
        let target = self.plan.forward[data.succs[on].target.index()];
        self.edits_of_edge(self.moves_of_own(entry, on));
        self.go_to(target, next);
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Edit(edit) => self.edit(*edit),
                Step::Inst(inst, index) => {
                    self.at(self.plan.code.locs[*index as usize]);
                    self.inst(inst, *index);
                }
            }
        }
    }

    fn prologue(&mut self) {
        self.at(Loc(0));
        if self.plan.frame.checks_stack {
            let (cold, _) = self.cold(ColdKind::Stack);
            let limit = Rmi::Mem(Mem::context(STACK_LIMIT));
            if self.plan.frame.size() > 4096 {
                self.asm.lea(SCRATCH, Mem::at(RSP, -self.plan.frame.size().cast_signed()));
                self.asm.cmp(Rmi::Reg(SCRATCH), limit);
            } else {
                self.asm.cmp(Rmi::Reg(RSP), limit);
            }
            self.asm.jump_if(Cond::B, cold);
        }
        for &saved in &self.plan.frame.saved {
            self.asm.push(Rmi::Reg(saved));
        }
        if self.plan.frame.adjust != 0 {
            self.asm.alu(AluOp::Sub, RSP, Rmi::Imm(self.plan.frame.adjust.cast_signed()));
        }
    }

    fn epilogue(&mut self) {
        if self.plan.frame.adjust != 0 {
            self.asm.alu(AluOp::Add, RSP, Rmi::Imm(self.plan.frame.adjust.cast_signed()));
        }
        for &saved in self.plan.frame.saved.iter().rev() {
            self.asm.pop(saved);
        }
        self.asm.ret();
    }

    fn block(&mut self, block: VBlock, next: Option<VBlock>) {
        let code = self.plan.code;
        let data = &code.blocks[block];
        if let Some(moves) = self.plan.tops[block.index()] {
            self.top(block, moves);
        } else if is_tight_loop(code, block) {
            self.asm.align_loop();
        } else if self.polls(block) {
            self.asm.align_poll();
        }
        self.asm.bind(self.labels[block.index()]);
        self.belongs(Origin::Block(block));
        if self.polls(block) {
            self.poll(block);
        }
        if let &[pred] = &data.preds[..]
            && code.blocks[pred].succs.len() > 1
            && let Some(succ) = code.blocks[pred].succs.iter().position(|s| s.target == block)
            && let Some(moves) = self.edge_moves(pred, succ as u32)
        {
            self.edits(self.plan.allocation.edge_moves[moves].edits.iter().copied());
        }
        for index in data.insts.clone() {
            self.at(code.locs[index as usize]);
            self.edits_at(ProgPoint { inst: index, side: Side::Before });
            let inst = self.placed(index);
            if index + 1 == data.insts.end {
                self.terminator(&inst, block, next);
            } else {
                self.inst(&inst, index);
            }
            self.edits_at(ProgPoint { inst: index, side: Side::After });
        }
        if self.polls(block) {
            self.end_poll();
        }
    }

    /// An instruction with its operands' places.
    fn placed(&self, index: u32) -> Inst<Place> {
        let mut places = self.plan.allocation.of(index as usize).iter().copied();
        self.plan.code.insts[index as usize]
            .map(&mut |_, _, _| places.next().expect("a place for every operand"))
    }

    fn terminator(&mut self, inst: &Inst<Place>, block: VBlock, next: Option<VBlock>) {
        match inst {
            Inst::Jump => {
                let target = self.plan.code.blocks[block].succs[0].target;
                if let Some(moves) = self.edge_moves(block, 0) {
                    self.edits(self.plan.allocation.edge_moves[moves].edits.iter().copied());
                }
                self.go_to(target, next);
            }
            Inst::Branch { compare } => {
                self.compare(compare);
                self.branch(compare.cond, block, next);
            }
            Inst::Switch { .. } => self.switch(inst, block, next),
            Inst::Return { .. } => self.epilogue(),
            _ => self.asm.ud2(),
        }
    }

    fn go_to(&mut self, target: VBlock, next: Option<VBlock>) {
        let target = self.plan.forward[target.index()];
        if next != Some(target) {
            self.asm.jmp(self.labels[target.index()]);
        }
    }

    /// The two ways out of a block. A way with moves is executed in line, behind a jump to the
    /// other one, but for moves on the way to a trap.
    fn branch(&mut self, cond: Cond, block: VBlock, next: Option<VBlock>) {
        let succs = &self.plan.code.blocks[block].succs;
        let target = |way: usize| self.plan.forward[succs[way].target.index()];
        let targets = [target(0), target(1)];
        let mut moves = [self.moves_of_own(block, 0), self.moves_of_own(block, 1)];
        let label = |target: VBlock| self.labels[target.index()];
        let mut labels = [label(targets[0]), label(targets[1])];
        let mut to_top = [false; 2];
        for way in 0..2 {
            let target = targets[way].index();
            if moves[way].is_some() && moves[way] == self.plan.tops[target] {
                (moves[way], labels[way], to_top[way]) = (None, self.tops[target], true);
            }
        }
        let conds = [cond, cond.inverted()];
        let is_cold = |way: usize| self.plan.code.blocks[succs[way].target].cold;
        // The way that comes last may fall through to the next block.
        let last = match moves {
            [Some(_), None] => 0,
            [None, Some(_)] => 1,
            _ if next == Some(targets[0]) || to_top[1] => 0,
            _ => 1,
        };
        let first = 1 - last;
        match (moves[first], moves[last]) {
            (None, Some(edge)) if is_cold(last) && !is_cold(first) => {
                let (entry, _) = self.cold(ColdKind::Edge { moves: edge });
                self.asm.jump_if(conds[last], entry);
                self.belongs(Origin::Edge(block, first as u32));
                if next != Some(targets[first]) {
                    self.asm.jmp(labels[first]);
                }
            }
            (None, _) => {
                self.asm.jump_if(conds[first], labels[first]);
                self.belongs(Origin::Edge(block, last as u32));
                self.edits_of_edge(moves[last]);
                if next != Some(targets[last]) {
                    self.asm.jmp(labels[last]);
                }
            }
            (Some(_), _) => {
                let label = self.asm.label();
                self.asm.jump_if(conds[last], label);
                self.belongs(Origin::Edge(block, first as u32));
                self.edits_of_edge(moves[first]);
                self.asm.jmp(labels[first]);
                self.asm.bind(label);
                self.belongs(Origin::Edge(block, last as u32));
                self.edits_of_edge(moves[last]);
                if next != Some(targets[last]) {
                    self.asm.jmp(labels[last]);
                }
            }
        }
    }

    fn edits_of_edge(&mut self, moves: Option<usize>) {
        if let Some(moves) = moves {
            self.edits(self.plan.allocation.edge_moves[moves].edits.iter().copied());
        }
    }

    /// The moves of an edge: an index of `edge_moves`.
    fn edge_moves(&self, from: VBlock, succ: u32) -> Option<usize> {
        self.plan.edges.moves(self.plan.allocation, from, succ)
    }

    /// The moves of an edge between a block with several successors and one with several
    /// predecessors.
    fn moves_of_own(&self, from: VBlock, succ: usize) -> Option<usize> {
        let target = self.plan.code.blocks[from].succs[succ].target;
        let critical = self.plan.code.blocks[target].preds.len() > 1;
        self.edge_moves(from, succ as u32).filter(|_| critical)
    }

    // Edits.

    fn edits_at(&mut self, point: ProgPoint) {
        let edits = &self.plan.allocation.edits;
        if edits.get(self.next_edit).is_some_and(|(at, _)| *at < point) {
            // Behind blocks that were emitted elsewhere.
            self.next_edit = edits.partition_point(|(at, _)| *at < point);
        }
        while let Some(&(at, edit)) = edits.get(self.next_edit)
            && at == point
        {
            self.next_edit += 1;
            self.edit(edit);
        }
    }

    fn edits(&mut self, edits: impl Iterator<Item = Edit>) {
        for edit in edits {
            self.edit(edit);
        }
    }

    fn edit(&mut self, edit: Edit) {
        match edit {
            Edit::Move { to: Place::Reg(to), from: Place::Reg(from) } => {
                self.copy(to.class(), to, from);
            }
            Edit::Move { to: Place::Reg(to), from: Place::Slot(from) } => {
                let from = self.slot(from);
                match to.class() {
                    RegClass::Int => self.asm.load(Width::Word, to, from),
                    RegClass::Float => self.asm.float_load(to, from),
                }
            }
            Edit::Move { to: Place::Slot(to), from: Place::Reg(from) } => {
                let to = self.slot(to);
                match from.class() {
                    RegClass::Int => self.asm.store(Width::Word, to, Rmi::Reg(from)),
                    RegClass::Float => self.asm.float_store(to, from),
                }
            }
            Edit::Move { to: Place::Slot(_), from: Place::Slot(_) } => {
                unreachable!("the allocator moves no slot to a slot")
            }
            Edit::Remat { to, inst } => self.rematerialize(to, inst),
        }
    }

    fn rematerialize(&mut self, to: PReg, inst: u32) {
        let again = self.plan.code.insts[inst as usize].map(&mut |_, _, _| Place::Reg(to));
        self.inst(&again, inst);
    }

    fn slot(&self, slot: SpillSlot) -> Mem {
        Mem::at(RSP, self.plan.frame.slot(slot).cast_signed())
    }

    // What is told about the code.

    /// From here on the code comes from `loc`.
    fn at(&mut self, loc: Loc) {
        self.loc = loc;
        let offset = self.asm.offset();
        match self.source_map.last_mut() {
            Some(last) if last.1 == loc => {}
            Some(last) if last.0 == offset => last.1 = loc,
            _ => self.source_map.push((offset, loc)),
        }
    }

    /// From here on the code belongs to this.
    fn belongs(&mut self, origin: Origin) {
        let offset = self.asm.offset();
        match self.origins.last_mut() {
            Some(last) if last.0 == offset => last.1 = origin,
            _ => self.origins.push((offset, origin)),
        }
    }

    /// A call has just been made; `safepoint` is its instruction where references may move.
    fn site(&mut self, safepoint: Option<u32>) {
        let maps = &self.plan.allocation.stack_maps;
        let slots = safepoint
            .and_then(|inst| maps.binary_search_by_key(&inst, |map| map.0).ok())
            .map(|i| maps[i].1.iter().map(|&slot| self.plan.frame.slot(slot)).collect())
            .unwrap_or_default();
        self.sites.push(CallSite { offset: self.asm.offset(), loc: self.loc, slots });
    }
}

/// A vector's memory.
fn emptied<T>(mut vector: Vec<T>) -> Vec<T> {
    vector.clear();
    vector
}

/// Where the moves of a block's edges stand among those of all.
struct EdgeIndex(Buffer<u32>);

impl EdgeIndex {
    fn of(code: &VCode<Inst>, allocation: &Allocation) -> Self {
        let mut starts = Buffer::filled(0, code.blocks.len() + 1);
        for moves in &allocation.edge_moves {
            starts[moves.from.index() + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        Self(starts)
    }

    /// The moves of an edge: an index of `edge_moves`.
    fn moves(&self, allocation: &Allocation, from: VBlock, succ: u32) -> Option<usize> {
        let (start, end) = (self.0[from.index()] as usize, self.0[from.index() + 1] as usize);
        (start..end).find(|&at| allocation.edge_moves[at].succ == succ)
    }
}
