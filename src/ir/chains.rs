//! Def-use chains: from each value to the places that use it.
//!
//! The way back is part of the IR itself: an operand *is* its value, and a value knows its definition
//! ([`ValueDef`]). The way forth is derived by whoever wants it: two walks over the
//! function lay all chains into one vector, sorted by value and, within each, in the order of the
//! blocks. A pass that rewrites builds new code rather than patching chains, so none can be stale;
//! [`DefUse::check`] is the proof for those that are kept across changes.
//!
//! [`Function`] in either form, [`Cfg`] → [`DefUse`], linear: twelve bytes a use.

use super::Cfg;
use super::function::{Block, Function, Inst, Terminator, Value, ValueDef};
use crate::buffer::Buffer;
use crate::entity::Entity;

/// A place that uses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// An operand of an instruction.
    Inst(Inst),
    /// Compared by the branch at a block's end.
    Test(Block),
    /// Returned at a block's end.
    Return(Block),
    /// An argument of a block's outgoing edge: number of the edge, place among its arguments.
    Arg(Block, u8, u32),
}

/// The uses of every value but constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefUse {
    starts: Vec<u32>,
    uses: Vec<Use>,
}

impl DefUse {
    /// The chains of what the reachable blocks use; an operand that occurs twice counts twice.
    pub fn compute(f: &Function, cfg: &Cfg) -> Self {
        Self::with(f, cfg, |_| None)
    }

    /// The same where an instruction may depend on one more value than its operands tell.
    pub fn with(f: &Function, cfg: &Cfg, more: impl Fn(Inst) -> Option<Value>) -> Self {
        let mut starts = vec![0u32; f.values.len() + 1];
        for &block in cfg.rpo() {
            for_each_use(f, block, &more, |value, _| starts[value.index() + 1] += 1);
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next: Buffer<u32> = starts.iter().copied().collect();
        let mut uses = vec![Use::Test(Block(0)); starts[f.values.len()] as usize];
        for &block in cfg.rpo() {
            for_each_use(f, block, &more, |value, place| {
                let slot = &mut next[value.index()];
                uses[*slot as usize] = place;
                *slot += 1;
            });
        }
        Self { starts, uses }
    }

    /// The uses of a value; none of a constant, nor of a value that is newer than the chains.
    #[inline]
    pub fn of(&self, value: Value) -> &[Use] {
        match (self.starts.get(value.index()), self.starts.get(value.index() + 1)) {
            (Some(&start), Some(&end)) => &self.uses[start as usize..end as usize],
            _ => &[],
        }
    }

    /// Whether these are the chains of this function as it is now; else the first value that has
    /// other uses.
    pub fn check(&self, f: &Function, cfg: &Cfg) -> Result<(), Value> {
        let now = Self::compute(f, cfg);
        f.values.keys().find(|&v| now.of(v) != self.of(v)).map_or(Ok(()), Err)
    }
}

/// Calls `visit` with each value used in a block, constants aside, and the place.
fn for_each_use(
    f: &Function,
    block: Block,
    more: &impl Fn(Inst) -> Option<Value>,
    mut visit: impl FnMut(Value, Use),
) {
    let mut visit = |value: Value, place: Use| {
        if !matches!(f.values[value].def, ValueDef::Const(_)) {
            visit(value, place);
        }
    };
    let data = &f.blocks[block];
    for &inst in &data.insts {
        f.args(inst).iter().for_each(|&arg| visit(arg, Use::Inst(inst)));
        if let Some(value) = more(inst) {
            visit(value, Use::Inst(inst));
        }
    }
    match &data.terminator {
        Terminator::Branch { args, .. } => args.iter().for_each(|&v| visit(v, Use::Test(block))),
        Terminator::Switch(switch) => visit(switch.value, Use::Test(block)),
        Terminator::Return(Some(value)) => visit(*value, Use::Return(block)),
        _ => {}
    }
    for (edge, to) in data.terminator.edges().iter().enumerate() {
        for (place, &arg) in to.args.iter().enumerate() {
            visit(arg, Use::Arg(block, edge as u8, place as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::generate::{self, Rng, Shape};
    use crate::ir::{ENTRY, Form, Op};

    /// How often a value stands anywhere in a function.
    fn occurrences(f: &Function, cfg: &Cfg, value: Value) -> usize {
        let mut count = 0;
        for &block in cfg.rpo() {
            let data = &f.blocks[block];
            let operands = data.insts.iter().flat_map(|&inst| f.args(inst));
            count += operands.filter(|&&arg| arg == value).count();
            data.terminator.for_each_use(|used| count += usize::from(used == value));
        }
        count
    }

    /// Whether a value stands at a place.
    fn stands_at(f: &Function, value: Value, place: Use) -> bool {
        match place {
            Use::Inst(inst) => f.args(inst).contains(&value),
            Use::Test(block) => match &f.blocks[block].terminator {
                Terminator::Branch { args, .. } => args.contains(&value),
                Terminator::Switch(switch) => switch.value == value,
                _ => false,
            },
            Use::Return(block) => f.blocks[block].terminator == Terminator::Return(Some(value)),
            Use::Arg(block, edge, place) => {
                let edges = f.blocks[block].terminator.edges();
                edges[usize::from(edge)].args[place as usize] == value
            }
        }
    }

    #[test]
    fn chains_name_each_use_and_nothing_else() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let form = if rng.percent(50) { Form::Variable } else { Form::Ssa };
            let module = generate::module(&mut rng, &Shape { form, ..Shape::default() });
            for f in module.functions.values() {
                let cfg = Cfg::compute(f);
                let chains = DefUse::compute(f, &cfg);
                for value in f.values.keys() {
                    let uses = chains.of(value);
                    assert!(uses.iter().all(|&place| stands_at(f, value, place)), "seed {seed}");
                    let wanted = match f.as_const(value) {
                        Some(_) => 0,
                        None => occurrences(f, &cfg, value),
                    };
                    assert_eq!(uses.len(), wanted, "seed {seed}, {value}");
                }
            }
        }
    }

    #[test]
    fn stale_chains_are_found_out() {
        let module = generate::module(&mut Rng::new(1), &Shape::default());
        let mut f = module.functions.values().next().expect("a function").clone();
        let cfg = Cfg::compute(&f);
        let chains = DefUse::compute(&f, &cfg);
        assert_eq!(chains.check(&f, &cfg), Ok(()));
        let one = f.int(1);
        let loc = f.blocks[ENTRY].loc;
        let inst = f.append(ENTRY, Op::IAdd, &[one, one], 0, None, loc);
        let sum = f.insts[inst].result.expect("a sum");
        f.append(ENTRY, Op::INeg, &[sum], 0, None, loc);
        assert_eq!(chains.check(&f, &cfg), Err(sum));
    }
}
