//! Sparse conditional constant propagation (Wegman and Zadeck 1991) over constants, integer ranges
//! and nil-ness.
//!
//! Every value has a `Fact`, at first that nothing has reached it. Two worklists, of edges found
//! executable and of values whose fact has risen, drive the evaluation until nothing rises
//! (`solver`). Only facts along executable edges meet at block parameters, so a constant that
//! decides a branch is found together with what the branch makes constant. In loops, ranges rise by
//! thresholds and in few steps. What a branch has compared has a name of its own behind the branch
//! (`sigma`); on an edge into a join, the arguments are refined on the edge.
//!
//! Then: constants replace values, decided branches become jumps, checks that can't fail become
//! their operands (bounds also by proof of order, `order`), and operators that are cheaper on
//! numbers that are not negative are chosen.
//!
//! A check that is not decided keeps its result as what its users rely on, constant or not.
//!
//! SSA → SSA, near-linear. Empties blocks that are reached no longer.

mod fact;
mod order;
mod sigma;
mod solver;
mod transfer;

use super::Context;
use super::effects::effects;
use crate::entity::SideTable;
use crate::ir::{
    Block, Cfg, Const, Dominators, ENTRY, Effects, Function, Inst, Module, Op, Terminator, Value,
    ValueDef,
};
use crate::ssa::params::retain_params;
use crate::ssa::{Forward, empty_unreachable};
use crate::watch::Watch;
pub use fact::Fact;
use order::is_below;
use sigma::Sigmas;
use solver::{Solution, Solver};

/// What happens while it runs.
#[derive(Clone, Debug)]
pub enum Event {
    /// The function, in which what branches have compared has names of its own.
    Begin(Box<Function>),
    /// Control comes to a block for the first time: all in it is evaluated.
    Reached(Block),
    /// The fact about a value was the first, and is the second.
    Raised(Value, Fact, Fact),
    /// A value is put on the worklist, since its fact has risen.
    ValueQueued(Value),
    /// A value is taken from the worklist: what uses it is evaluated.
    Value(Value),
    /// An edge is put on the worklist.
    EdgeQueued(Block, usize),
    /// An edge is taken from the worklist: from now on it is executable.
    Edge(Block, usize),
    /// Nothing rises any more; this is what is done about it.
    Decided(Decision),
}

/// Finds what is constant, decides what can be decided.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    run_watched(f, cx, &mut ());
}

/// The same, watched.
pub fn run_watched(f: &mut Function, cx: &mut Context<'_>, watch: &mut impl Watch<Event>) {
    let (cfg, dominators) = cx.graph.dominators(f);
    let sigmas = Sigmas::insert(f, &cfg, &dominators);
    watch.see(|| Event::Begin(Box::new(f.clone())));
    let solution = Solver::new(f, cx.module, &cfg, &sigmas, watch).solve();
    let facts = Facts {
        f,
        module: cx.module,
        cfg: &cfg,
        dominators: &dominators,
        sigmas: &sigmas,
        solution,
    };
    let decisions = facts.decide();
    decisions.iter().for_each(|&decision| watch.see(|| Event::Decided(decision)));
    apply(f, decisions, &sigmas, cx);
}

/// What is known of a function.
struct Facts<'a> {
    f: &'a Function,
    module: &'a Module,
    cfg: &'a Cfg,
    dominators: &'a Dominators,
    sigmas: &'a Sigmas,
    solution: Solution,
}

/// A rewrite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// The value is a constant.
    Const(Value, Const),
    /// The instruction's result is its operand of this number.
    Operand(Inst, usize),
    /// The instruction computes this from its first operand and a constant.
    Simpler(Inst, Op, i64),
    /// The block's branch always takes this edge.
    Taken(Block, usize),
}

impl Facts<'_> {
    fn fact(&self, value: Value) -> Fact {
        self.solution.facts[value]
    }

    fn bounds(&self, value: Value) -> Option<(i64, i64)> {
        self.fact(value).bounds()
    }

    /// The int that a value always is.
    fn constant(&self, value: Value) -> Option<i64> {
        self.bounds(value).filter(|(lo, hi)| lo == hi).map(|(lo, _)| lo)
    }

    /// Whether a value is defined where it stays the same while control goes round in `block`.
    fn is_defined_above(&self, value: Value, block: Block) -> bool {
        let home = match self.f.values[value].def {
            ValueDef::Const(_) => return true,
            ValueDef::Param(home, _) => home,
            ValueDef::Inst(inst) => self.solution.home[inst],
            ValueDef::Variable(_) => return false,
        };
        self.dominators.strictly_dominates(home, block)
    }

    fn decide(&self) -> Vec<Decision> {
        let mut decisions = Vec::new();
        for &block in self.cfg.rpo() {
            if !self.solution.reached.contains(block) {
                continue;
            }
            let data = &self.f.blocks[block];
            if block != ENTRY {
                let known = |&param: &Value| Some((param, self.fact(param).as_const()?));
                let known = data.params.iter().filter_map(known);
                decisions.extend(known.map(|(param, constant)| Decision::Const(param, constant)));
            }
            decisions.extend(data.insts.iter().filter_map(|&inst| self.decide_inst(inst)));
            if data.terminator.edges().len() == 2 {
                match self.solution.executable[block] {
                    [true, false] => decisions.push(Decision::Taken(block, 0)),
                    [false, true] => decisions.push(Decision::Taken(block, 1)),
                    _ => {}
                }
            }
        }
        decisions
    }

    fn decide_inst(&self, inst: Inst) -> Option<Decision> {
        let result = self.f.insts[inst].result?;
        let args = self.f.args(inst);
        let op = self.f.insts[inst].op;
        let passes = match op {
            Op::CheckBounds => self.is_in_bounds(args[0], args[1]),
            Op::CheckNil => self.fact(args[0]).is_object(),
            Op::CheckDiv => self.bounds(args[0]).is_some_and(|(lo, hi)| lo > 0 || hi < 0),
            _ => effects(self.module, self.f, inst).removable(),
        };
        if !passes {
            return None;
        }
        if let Some(constant) = self.fact(result).as_const() {
            return Some(Decision::Const(result, constant));
        }
        match op {
            Op::CheckBounds | Op::CheckNil | Op::CheckDiv => Some(Decision::Operand(inst, 0)),
            Op::Select => match self.fact(args[0]).as_const()? {
                Const::Bool(true) => Some(Decision::Operand(inst, 1)),
                _ => Some(Decision::Operand(inst, 2)),
            },
            Op::IAbs => (self.bounds(args[0])?.0 >= 0).then_some(Decision::Operand(inst, 0)),
            _ => self.decide_ranges(inst, op, *args.first()?, *args.get(1)?),
        }
    }

    fn is_in_bounds(&self, index: Value, len: Value) -> bool {
        let (Some((lo, hi)), Some((least, _))) = (self.bounds(index), self.bounds(len)) else {
            return false;
        };
        lo >= 0 && (hi < least || is_below(self, index, len))
    }

    fn decide_ranges(&self, inst: Inst, op: Op, a: Value, b: Value) -> Option<Decision> {
        let ((lo, hi), (least, greatest)) = (self.bounds(a)?, self.bounds(b)?);
        let constant = self.constant(b);
        let power = constant.filter(|&k| k > 0 && k & (k - 1) == 0);
        match op {
            Op::IMin if hi <= least => Some(Decision::Operand(inst, 0)),
            Op::IMin if greatest <= lo => Some(Decision::Operand(inst, 1)),
            Op::IMax if lo >= greatest => Some(Decision::Operand(inst, 0)),
            Op::IMax if least >= hi => Some(Decision::Operand(inst, 1)),
            Op::IAnd if lo >= 0 => {
                let mask = constant.filter(|&k| k >= 0 && k & k.wrapping_add(1) == 0)?;
                (hi <= mask).then_some(Decision::Operand(inst, 0))
            }
            Op::SRem if lo >= 0 && hi < least => Some(Decision::Operand(inst, 0)),
            Op::SRem if lo >= 0 => Some(Decision::Simpler(inst, Op::IAnd, power? - 1)),
            Op::SDiv if lo >= 0 => {
                Some(Decision::Simpler(inst, Op::Shr, i64::from(power?.trailing_zeros())))
            }
            _ => None,
        }
    }
}

fn apply(f: &mut Function, decisions: Vec<Decision>, sigmas: &Sigmas, cx: &mut Context<'_>) {
    let mut forward = Forward::new(f);
    let (mut gone, mut decided) = (SideTable::new(false), false);
    let any = !decisions.is_empty();
    for decision in decisions {
        if !cx.fuel.tick() {
            break;
        }
        match decision {
            Decision::Const(value, constant) => {
                let constant = f.constant(constant);
                forward.set(value, constant);
                if let Some(inst) = f.def_inst(value) {
                    gone[inst] = true;
                }
            }
            Decision::Operand(inst, number) => {
                if f.insts[inst].op.info().effects == Effects::TRAPS {
                    let name = f.insts[inst].op.info().name;
                    let said = || format!("`{name}` left out: it never fails");
                    cx.remarks.say("sccp", f, f.insts[inst].loc, said);
                }
                let operand = forward.resolve(f.args(inst)[number]);
                if let Some(result) = f.insts[inst].result {
                    forward.set(result, operand);
                }
                gone[inst] = true;
            }
            Decision::Simpler(inst, op, constant) => {
                let args = [f.args(inst)[0], f.int(constant)];
                let args = f.pool.list(&args);
                (f.insts[inst].op, f.insts[inst].args) = (op, args);
            }
            Decision::Taken(block, edge) => {
                decided = true;
                if let Terminator::Branch { edges, .. } = &f.blocks[block].terminator {
                    f.blocks[block].terminator = Terminator::Jump(edges[edge].clone());
                }
            }
        }
    }
    sigmas.remove(f, &mut forward);
    if any {
        for block in f.blocks.values_mut() {
            block.insts.retain(|&inst| !gone[inst]);
        }
        retain_params(f, |param| forward.is_own(param));
    }
    forward.apply(f);
    if decided {
        empty_unreachable(f, &cx.graph.cfg(f));
    }
}
