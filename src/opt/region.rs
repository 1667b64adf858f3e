//! Copies of regions of a function: one mechanism for loops that are turned, split or unrolled.
//!
//! A region is a set of blocks. Its copy has the same edges, but that those which lead to the
//! region's blocks lead to their copies. Values that other blocks use have two definitions then;
//! they become variables, assigned in the region and in its copies, and SSA construction does the
//! rest, once for all regions ([`Regions::finish`]).
//!
//! Linear in what is copied, and once in the function.

use crate::entity::SideTable;
use crate::ir::{
    Block, Cfg, Form, Function, Inst, Loc, Op, Terminator, Value, ValueData, ValueDef,
};
use crate::source::Span;
use crate::ssa::{Construction, Folding, construct};
use smallvec::SmallVec;
use toyjit_runtime::fault::{self, Fault};

/// The regions of a function that are being copied.
pub(super) struct Regions {
    /// The number of the region that a block, or its copy, belongs to.
    homes: SideTable<Block, Option<u32>>,
    /// The number of the region that a value is defined in.
    defined: SideTable<Value, Option<u32>>,
    /// The variable's value for each value that blocks outside of its region use.
    leaks: SideTable<Value, Option<Value>>,
    /// The latest copies.
    blocks: SideTable<Block, Option<Block>>,
    values: SideTable<Value, Option<Value>>,
}

impl Regions {
    /// Prepares for copies of these regions, which have no block in common.
    pub(super) fn new(f: &mut Function, cfg: &Cfg, regions: &[Vec<Block>]) -> Self {
        let mut all = Self {
            homes: SideTable::with_len(None, f.blocks.len()),
            defined: SideTable::with_len(None, f.values.len()),
            leaks: SideTable::with_len(None, f.values.len()),
            blocks: SideTable::with_len(None, f.blocks.len()),
            values: SideTable::with_len(None, f.values.len()),
        };
        let blocks = || (0u32..).zip(regions).flat_map(|(i, r)| r.iter().map(move |&b| (i, b)));
        for (number, block) in blocks() {
            all.homes[block] = Some(number);
            let data = &f.blocks[block];
            let results = data.insts.iter().filter_map(|&inst| f.insts[inst].result);
            let values = data.params.iter().copied().chain(results);
            values.for_each(|value| all.defined[value] = Some(number));
        }
        all.find_leaks(f, cfg);
        blocks().for_each(|(_, block)| all.assign(f, block));
        all
    }

    fn find_leaks(&mut self, f: &mut Function, cfg: &Cfg) {
        let mut leaking = Vec::new();
        for &block in cfg.rpo() {
            let home = self.homes[block];
            let mut visit = |value: Value| {
                if self.defined[value].is_some() && self.defined[value] != home {
                    leaking.push(value);
                }
            };
            let data = &f.blocks[block];
            data.insts.iter().flat_map(|&inst| f.args(inst)).for_each(|&value| visit(value));
            data.terminator.for_each_use(visit);
        }
        for value in leaking {
            if self.leaks[value].is_none() {
                let variable = f.add_variable("", f.values[value].ty, Span::default());
                self.leaks[value] = Some(f.variables[variable].value);
            }
        }
    }

    /// Appends assignments to the variables of what a block defines and others use.
    fn assign(&self, f: &mut Function, block: Block) {
        let data = &f.blocks[block];
        let results = data.insts.iter().filter_map(|&inst| f.insts[inst].result);
        let leaking = data.params.iter().copied().chain(results);
        let leaking: Vec<_> = leaking.filter_map(|v| Some((v, self.leaks[v]?))).collect();
        for (value, variable) in leaking {
            if let ValueDef::Variable(variable) = f.values[variable].def {
                f.append_assign(block, variable, Op::Copy, &[value], 0, Loc(0));
            }
        }
    }

    /// The latest copy of a block of a region.
    pub(super) fn block(&self, block: Block) -> Block {
        self.blocks[block].unwrap_or(block)
    }

    /// The latest copy of a value that a region defines.
    pub(super) fn value(&self, value: Value) -> Value {
        self.values[value].unwrap_or(value)
    }

    /// Copies a region, all of its blocks.
    pub(super) fn copy(&mut self, f: &mut Function, region: &[Block]) {
        for &block in region {
            let copy = f.add_block();
            self.blocks[block] = Some(copy);
            self.homes[copy] = self.homes[block];
            for i in 0..f.blocks[block].params.len() {
                let param = f.blocks[block].params[i];
                let twin = f.add_param(copy, f.values[param].ty);
                self.values[param] = Some(twin);
            }
            for i in 0..f.blocks[block].insts.len() {
                let inst = self.copy_inst(f, f.blocks[block].insts[i]);
                f.blocks[copy].insts.push(inst);
            }
        }
        for &block in region {
            let (own, copy) = (self.homes[block], self.block(block));
            let twin = |value: Value| match self.defined[value] == own {
                true => self.value(value),
                false => value,
            };
            for i in 0..f.blocks[copy].insts.len() {
                let inst = f.blocks[copy].insts[i];
                if !(fault::is(Fault::InvertStale) && assigns(f, inst)) {
                    f.args_mut(inst).iter_mut().for_each(|arg| *arg = twin(*arg));
                }
            }
            let mut terminator = f.blocks[block].terminator.clone();
            terminator.map_uses(twin);
            for edge in terminator.edges_mut() {
                if self.homes[edge.target] == own {
                    edge.target = self.block(edge.target);
                }
            }
            f.blocks[copy].terminator = terminator;
            f.blocks[copy].loc = f.blocks[block].loc;
        }
    }

    /// Copies an instruction, its operands as they are.
    fn copy_inst(&mut self, f: &mut Function, inst: Inst) -> Inst {
        let mut data = f.insts[inst];
        let args: SmallVec<[Value; 4]> = SmallVec::from_slice(f.args(inst));
        data.args = f.pool.list(&args);
        let copy = f.insts.next_key();
        if let Some(result) = data.result.filter(|_| !assigns(f, inst)) {
            let ty = f.values[result].ty;
            let twin = f.values.push(ValueData { ty, def: ValueDef::Inst(copy) });
            self.values[result] = Some(twin);
            data.result = Some(twin);
        }
        f.insts.push(data)
    }

    /// Lets all blocks but those of a value's region read its variable, and constructs SSA form.
    pub(super) fn finish(self, f: &mut Function) {
        for block in f.blocks.keys() {
            let read = |value: Value| match self.leaks[value] {
                Some(variable) if self.homes[block] != self.defined[value] => variable,
                _ => value,
            };
            for i in 0..f.blocks[block].insts.len() {
                let inst = f.blocks[block].insts[i];
                f.args_mut(inst).iter_mut().for_each(|arg| *arg = read(*arg));
            }
            let mut terminator =
                std::mem::replace(&mut f.blocks[block].terminator, Terminator::Unreachable);
            terminator.map_uses(read);
            f.blocks[block].terminator = terminator;
        }
        f.form = Form::Variable;
        construct(f, Construction::Braun, Folding::On);
    }
}

/// Whether an instruction assigns a variable.
fn assigns(f: &Function, inst: Inst) -> bool {
    let result = f.insts[inst].result;
    result.is_some_and(|value| matches!(f.values[value].def, ValueDef::Variable(_)))
}
