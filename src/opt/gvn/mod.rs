//! Global value numbering over the dominator tree.
//!
//! A walk in preorder keeps a table of what the dominating blocks have computed. An instruction
//! whose operator and operands are in the table is replaced by the value found: pure operators and
//! calls of what is pure; checks (an equal check that dominates this one has passed); loads, whose
//! key holds the version of the memory that they read (`memory`). A store enters the value stored
//! under the new version, a new object its fields, so that loads find them. A store of what is there
//! already goes. Behind a branch its comparison is known, and one of the same values is decided.
//!
//! The table is pessimistic about loops: a parameter of a loop header equals only itself.
//!
//! SSA → SSA, near-linear.

mod memory;
pub(super) mod table;
#[cfg(test)]
mod tests;

use super::Context;
use super::effects::{effects, slot};
use crate::ir::{
    Block, Cfg, Const, Effects, FuncRef, Function, Inst, Module, Op, Space, Structure, Terminator,
    Value, field_imm,
};
use crate::ssa::{Forward, empty_unreachable};
use memory::{Memory, location};
use smallvec::SmallVec;
use table::{Key, Table};
use toyjit_runtime::fault::{self, Fault};
use toyjit_runtime::layout::Slot;

/// Replaces what was computed before.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let (cfg, dominators) = cx.graph.dominators(f);
    let insts = cfg.rpo().iter().map(|&block| f.blocks[block].insts.len()).sum();
    let mut numbering = Numbering {
        memory: Memory::new(f, cx.module, &cfg, &dominators),
        table: Table::with_capacity(insts),
        forward: Forward::new(f),
        f,
        module: cx.module,
    };
    let mut decided = false;
    // Open blocks, each with the marks to go back to when its subtree is done.
    let mut open: Vec<(Block, usize, usize)> = Vec::new();
    for &block in dominators.preorder() {
        while let Some(&(above, table, memory)) = open.last()
            && !dominators.dominates(above, block)
        {
            if !fault::is(Fault::GvnScope) {
                numbering.table.leave(table);
            }
            numbering.memory.leave(memory);
            open.pop();
        }
        open.push((block, numbering.table.mark(), numbering.memory.mark()));
        numbering.memory.enter(block);
        numbering.assume(&cfg, block);
        let mut insts = std::mem::take(&mut numbering.f.blocks[block].insts);
        insts.retain(|&inst| numbering.inst(inst, cx));
        numbering.f.blocks[block].insts = insts;
        decided |= numbering.branch(block, cx);
    }
    numbering.forward.apply(numbering.f);
    if decided {
        empty_unreachable(f, &cx.graph.cfg(f));
    }
}

/// The key of a comparison, whichever way round it is written.
fn comparison(mut op: Op, mut args: [Value; 2]) -> Key {
    if args[0] > args[1] {
        op = op.swapped();
        args.swap(0, 1);
    }
    Key { op, imm: 0, version: 0, args: SmallVec::from_slice(&args) }
}

struct Numbering<'a> {
    f: &'a mut Function,
    module: &'a Module,
    table: Table,
    memory: Memory,
    forward: Forward,
}

impl Numbering<'_> {
    /// Enters what the branch says that alone leads to a block.
    fn assume(&mut self, cfg: &Cfg, block: Block) {
        let &[edge] = cfg.pred_edges(block) else { return };
        let Terminator::Branch { op, args, edges } = &self.f.blocks[edge.block].terminator else {
            return;
        };
        if edges[0].target == edges[1].target || op.opposite().is_none() {
            return;
        }
        let (op, args) = (*op, *args);
        let taken = (edge.index == 0) != fault::is(Fault::GvnAssume);
        for (op, holds) in [(Some(op), taken), (op.opposite(), !taken)] {
            let Some(op) = op else { continue };
            let args = [self.forward.resolve(args[0]), self.forward.resolve(args[1])];
            let outcome = self.f.constant(Const::Bool(holds));
            self.table.insert(comparison(op, args), outcome);
        }
    }

    /// Decides a block's branch where its outcome is known; whether it has.
    fn branch(&mut self, block: Block, cx: &mut Context<'_>) -> bool {
        let Terminator::Branch { op, args, .. } = &self.f.blocks[block].terminator else {
            return false;
        };
        let args = [self.forward.resolve(args[0]), self.forward.resolve(args[1])];
        let outcome = self.table.get(&comparison(*op, args)).and_then(|v| self.f.as_const(v));
        let Some(Const::Bool(holds)) = outcome.filter(|_| cx.fuel.tick()) else { return false };
        let edge = self.f.blocks[block].terminator.edges()[usize::from(!holds)].clone();
        self.f.blocks[block].terminator = Terminator::Jump(edge);
        true
    }

    /// Numbers an instruction; whether it stays.
    fn inst(&mut self, inst: Inst, cx: &mut Context<'_>) -> bool {
        for i in 0..self.f.args(inst).len() {
            let arg = self.forward.resolve(self.f.args(inst)[i]);
            self.f.args_mut(inst)[i] = arg;
        }
        let keep = self.replace(inst, cx);
        if keep {
            self.memory.step(self.module, self.f, inst);
            self.remember_contents(inst, cx.module);
        }
        keep
    }

    /// Looks an instruction up, and enters it where it is new; whether it stays.
    fn replace(&mut self, inst: Inst, cx: &mut Context<'_>) -> bool {
        if let Some((key, stored)) = self.stored(inst) {
            return self.table.get(&key) != Some(stored) || !cx.fuel.tick();
        }
        let Some(result) = self.f.insts[inst].result else { return true };
        let Some(key) = self.key(inst) else { return true };
        match self.table.get(&key) {
            Some(value) if cx.fuel.tick() => {
                self.forward.set(result, value);
                false
            }
            _ => {
                // What was loaded may be stored, and what was stored may be loaded.
                if matches!(key.op, Op::CheckRead | Op::CheckWrite) {
                    let op = match key.op {
                        Op::CheckRead => Op::CheckWrite,
                        _ => Op::CheckRead,
                    };
                    self.table.insert(Key { op, ..key.clone() }, result);
                }
                self.table.insert(key, result);
                true
            }
        }
    }

    /// What an instruction computes, if it is the same wherever this is computed.
    fn key(&self, inst: Inst) -> Option<Key> {
        const VARIES: Effects = Effects::WRITES.and(Effects::ALLOCATES).and(Effects::IO);
        let data = &self.f.insts[inst];
        let effects = effects(self.module, self.f, inst);
        // To note twice that an element is stored is to note it once.
        if effects.has(VARIES) && data.op != Op::CheckWrite {
            return None;
        }
        let version = match location(self.f, inst) {
            Some((space, imm)) => self.memory.version(space, imm)?,
            None if effects.has(Effects::READS) => return None,
            None => 0,
        };
        let (mut op, mut args) = (data.op, SmallVec::from_slice(self.f.args(inst)));
        let swaps = op.info().commutes || op.is_comparison();
        if swaps && args[0] > args[1] {
            op = if fault::is(Fault::GvnSwapKeepsOp) { op } else { op.swapped() };
            args.swap(0, 1);
        }
        let imm = if fault::is(Fault::GvnFields) && op == Op::LoadField { 0 } else { data.imm };
        Some(Key { op, imm, version, args })
    }

    /// For a store: the load that would give the value stored, at the current version.
    fn stored(&self, inst: Inst) -> Option<(Key, Value)> {
        let data = &self.f.insts[inst];
        let op = match data.op {
            Op::StoreElem => Op::LoadElem,
            Op::StoreField => Op::LoadField,
            Op::StoreGlobal => Op::LoadGlobal,
            _ => return None,
        };
        let version = self.memory.version(data.op.info().space, data.imm)?;
        let (&value, place) = self.f.args(inst).split_last()?;
        Some((Key { op, imm: data.imm, version, args: SmallVec::from_slice(place) }, value))
    }

    /// Enters what memory holds now that this instruction has written it.
    fn remember_contents(&mut self, inst: Inst, module: &Module) {
        let data = self.f.insts[inst];
        match (data.op, data.result) {
            (Op::StoreElem | Op::StoreField | Op::StoreGlobal, _) => {
                if let Some((key, value)) = self.stored(inst)
                    && self.fits(value, slot(module, data.op.info().space, data.imm))
                {
                    self.table.insert(key, value);
                }
            }
            (Op::NewStruct, Some(object)) => {
                for i in 0..self.f.args(inst).len() {
                    let imm = field_imm(Structure(data.imm as u32), i as u32);
                    let value = self.f.args(inst)[i];
                    if let Some(version) = self.memory.version(Space::Field, imm)
                        && self.fits(value, slot(module, Space::Field, imm))
                    {
                        let args = SmallVec::from_slice(&[object]);
                        self.table.insert(Key { op: Op::LoadField, imm, version, args }, value);
                    }
                }
            }
            (Op::NewClosure, Some(object)) => {
                let slots = module.captures.get(FuncRef(data.imm as u32));
                for i in 0..self.f.args(inst).len() {
                    let value = self.f.args(inst)[i];
                    if self.fits(value, slots.and_then(|slots| slots.get(i)).copied()) {
                        let args = SmallVec::from_slice(&[object]);
                        let key = Key { op: Op::LoadCapture, imm: i as u64, version: 0, args };
                        self.table.insert(key, value);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a slot gives a value back as it was: a byte only from 0 to 255.
    fn fits(&self, value: Value, slot: Option<Slot>) -> bool {
        match slot {
            None => false,
            Some(Slot::Byte) => match self.f.as_const(value) {
                Some(Const::Int(i)) => (0..256).contains(&i),
                _ => false,
            },
            Some(_) => true,
        }
    }
}
