//! Value numbering while SSA form is being built: an instruction whose operator and operands were
//! seen before, in a block that dominates this one, is not made a second time.
//!
//! A table (open addressing, never iterated over) of the instructions kept so far, by what they
//! compute. Operators that read or write memory or allocate are not in it; checks are, since one
//! that passed on every path here passes again. Where the instruction found dominates nothing that
//! comes now, the newer one takes its place. Operands that a φ's removal makes equal later are not
//! seen to be equal: the pass `gvn` finds those.

use super::forward::Forward;
use crate::entity::{Entity, SideTable};
use crate::ir::cfg::Cfg;
use crate::ir::dominators::Dominators;
use crate::ir::{Block, Effects, Function, Inst, Op, Value};

/// The table.
#[derive(Debug)]
pub(super) struct Numbering {
    dominators: Dominators,
    slots: Vec<Inst>,
    /// Where the instructions in the table stand.
    blocks: SideTable<Inst, Block>,
    len: usize,
}

const FREE: Inst = Inst(u32::MAX);

impl Numbering {
    pub(super) fn new(function: &Function, cfg: &Cfg) -> Self {
        Self {
            dominators: Dominators::compute(cfg),
            slots: vec![FREE; 64],
            blocks: SideTable::with_len(Block(0), function.insts.len()),
            len: 0,
        }
    }

    /// The value that an instruction, with its operands in SSA form, computes again; if there is
    /// none, it is remembered.
    pub(super) fn find(
        &mut self,
        f: &Function,
        forward: &mut Forward,
        block: Block,
        inst: Inst,
    ) -> Option<Value> {
        let op = f.insts[inst].op;
        let others = Effects(Effects::ALL.0 & !Effects::TRAPS.0);
        if op == Op::Copy || f.effects(inst).has(others) {
            return None;
        }
        let at = self.slot(f, inst);
        let found = self.slots[at];
        if found != FREE && self.dominators.dominates(self.blocks[found], block) {
            return f.insts[found].result.map(|value| forward.resolve(value));
        }
        self.slots[at] = inst;
        self.blocks[inst] = block;
        if found == FREE {
            self.len += 1;
            if self.len * 2 > self.slots.len() {
                self.grow(f);
            }
        }
        None
    }

    /// The slot of what an instruction computes, or the free slot where it belongs.
    fn slot(&self, f: &Function, inst: Inst) -> usize {
        let (data, args) = (&f.insts[inst], f.args(inst));
        let ty = data.result.map(|value| f.values[value].ty);
        let mut hash = u64::from(data.op as u8) << 32 ^ data.imm;
        for &arg in args {
            hash = (hash.rotate_left(5) ^ arg.index() as u64).wrapping_mul(FACTOR);
        }
        let mask = self.slots.len() - 1;
        let mut at = (hash.wrapping_mul(FACTOR) >> 32) as usize & mask;
        loop {
            let found = self.slots[at];
            if found == FREE {
                return at;
            }
            let other = &f.insts[found];
            let same = (other.op, other.imm) == (data.op, data.imm)
                && other.result.map(|value| f.values[value].ty) == ty
                && f.args(found) == args;
            if same {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self, f: &Function) {
        let doubled = vec![FREE; self.slots.len() * 2];
        for inst in std::mem::replace(&mut self.slots, doubled) {
            if inst != FREE {
                let at = self.slot(f, inst);
                self.slots[at] = inst;
            }
        }
    }
}

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
