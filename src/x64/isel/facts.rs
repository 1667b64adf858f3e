//! What selection knows of a function before it walks it.
//!
//! One pass in reverse postorder. *Roots*: copies, checks and bool-to-int conversions give back
//! their operand's bits, so their results are other names of one root value and share its register.
//! *Uses* are counted on roots. *Epochs* number the stretches between instructions that may change
//! memory or collect: a load may move to a later place of its block while the epoch is the same.

use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::ir::cfg::Cfg;
use crate::ir::{Block, Effects, Function, Inst, Op, Value, ValueDef};
use toyjit_runtime::{Effects as RtEffects, Rt};

/// See the module.
#[derive(Debug)]
pub(super) struct Facts {
    /// By value.
    roots: Buffer<Value>,
    /// By value.
    uses: Buffer<u32>,
    /// By instruction.
    places: Buffer<(Block, u32)>,
}

impl Facts {
    pub(super) fn compute(function: &Function, cfg: &Cfg) -> Self {
        let mut facts = Self {
            roots: function.values.keys().collect(),
            uses: Buffer::filled(0, function.values.len()),
            places: Buffer::filled((Block(0), 0), function.insts.len()),
        };
        for &block in cfg.rpo() {
            let mut epoch = 0;
            for &inst in &function.blocks[block].insts {
                facts.places[inst.index()] = (block, epoch);
                let data = &function.insts[inst];
                if ends_epoch(effects(data.op, data.imm)) {
                    epoch += 1;
                }
                let args = function.args(inst);
                if let (Some(result), Some(arg)) = (data.result, alias(data.op, args)) {
                    facts.roots[result.index()] = facts.root(arg);
                    if matches!(data.op, Op::Copy | Op::BToI) {
                        continue;
                    }
                }
                for &arg in args {
                    let root = facts.root(arg);
                    facts.uses[root.index()] += 1;
                }
            }
        }
        for &block in cfg.rpo() {
            function.blocks[block].terminator.for_each_use(|value| {
                let root = facts.root(value);
                facts.uses[root.index()] += 1;
            });
        }
        facts
    }

    /// The value whose register `value` shares.
    pub(super) fn root(&self, value: Value) -> Value {
        self.roots[value.index()]
    }

    /// How often a root is used under any of its names.
    pub(super) fn uses(&self, root: Value) -> u32 {
        self.uses[root.index()]
    }

    /// Block and epoch of an instruction.
    pub(super) fn place(&self, inst: Inst) -> (Block, u32) {
        self.places[inst.index()]
    }

    /// The epoch at a block's end.
    pub(super) fn last_epoch(&self, function: &Function, block: Block) -> u32 {
        function.blocks[block].insts.last().map_or(0, |&inst| {
            let data = &function.insts[inst];
            self.places[inst.index()].1 + u32::from(ends_epoch(effects(data.op, data.imm)))
        })
    }
}

/// The operand whose bits the result has, if there is one.
fn alias(op: Op, args: &[Value]) -> Option<Value> {
    match op {
        Op::Copy | Op::BToI | Op::CheckBounds | Op::CheckNil | Op::CheckDiv => args.first(),
        Op::CheckRead | Op::CheckWrite => args.get(1),
        _ => None,
    }
    .copied()
}

fn ends_epoch(effects: Effects) -> bool {
    effects.has(Effects::WRITES.and(Effects::ALLOCATES).and(Effects::IO))
}

/// The row of the runtime's table that an `rt` instruction names.
pub(super) fn row(imm: u64) -> Rt {
    Rt::ALL[imm as usize]
}

/// The effects of an instruction: the operator's, or for a runtime call those of its row.
pub(super) fn effects(op: Op, imm: u64) -> Effects {
    if op != Op::Rt {
        return op.info().effects;
    }
    let of_row = row(imm).entry().effects;
    let pairs = [
        (RtEffects::READS, Effects::READS),
        (RtEffects::WRITES, Effects::WRITES),
        (RtEffects::ALLOCATES, Effects::ALLOCATES),
        (RtEffects::TRAPS, Effects::TRAPS),
        (RtEffects::IO, Effects::IO),
        (RtEffects::DIVERGES, Effects::TRAPS),
    ];
    pairs
        .iter()
        .filter(|(rt, _)| of_row.contains(*rt))
        .fold(Effects::NONE, |all, &(_, e)| all.and(e))
}

/// The block that defines a value; for a constant, none.
pub(super) fn def_block(function: &Function, facts: &Facts, value: Value) -> Option<Block> {
    match function.values[value].def {
        ValueDef::Inst(inst) => Some(facts.place(inst).0),
        ValueDef::Param(block, _) => Some(block),
        ValueDef::Variable(_) | ValueDef::Const(_) => None,
    }
}
