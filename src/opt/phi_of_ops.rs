//! Operators on a join's parameter whose result is there on every edge already ("phi of ops", Click,
//! "Combining Analyses, Combining Optimizations", 1995; NewGVN in LLVM).
//!
//! A loop over digits tests `c - 48` where it ends, and computes `c - 48` again where the next round
//! begins, of the parameter that brings `c`. Where the parameter serves nothing else, it brings
//! `c - 48` instead. On an edge that passes a constant, the result is a constant.
//!
//! SSA → SSA; a walk, and a logarithm for each edge of the joins that matter.

use super::Context;
use crate::entity::SideTable;
use crate::ir::{Block, Cfg, Dominators, ENTRY, Effects, Function, Inst, Value, ValueDef};
use crate::ssa::Forward;
use crate::ssa::constants::evaluate;
use smallvec::SmallVec;
use toyjit_runtime::fault::{self, Fault};

/// A join with more edges is left alone.
const MAX_EDGES: usize = 8;
/// Of a value with more steps, these are known.
const MAX_STEPS: usize = 8;

/// Passes on results in place of operands.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    if f.blocks.iter().all(|(block, data)| block == ENTRY || data.params.is_empty()) {
        return;
    }
    let mut steps = steps(f);
    let uses = uses(f);
    let is_candidate =
        |step: &Step| joined(f, step.of).is_some() && uses[step.of] as usize <= MAX_EDGES;
    let candidates: Vec<Step> = steps.iter().copied().filter(is_candidate).collect();
    if candidates.is_empty() {
        return;
    }
    steps.sort_by_key(|step| step.of);
    let (cfg, dominators) = cx.graph.dominators(f);
    let join = Join { steps: &steps, cfg: &cfg, dominators: &dominators };
    let mut done = Vec::new();
    let mut forward = Forward::new(f);
    for step in &candidates {
        if let Some(results) = join.results(f, step, uses[step.of])
            && cx.fuel.tick()
        {
            join.rewrite(f, step, &results);
            forward.set(step.result, step.of);
            done.push(*step);
        }
    }
    forward.apply(f);
    done.sort_by_key(|step: &Step| (step.block, step.inst));
    for steps in done.chunk_by(|a, b| a.block == b.block) {
        let is_done = |inst: Inst| steps.binary_search_by_key(&inst, |step| step.inst).is_ok();
        f.blocks[steps[0].block].insts.retain(|&inst| !is_done(inst));
    }
}

/// An instruction whose operands are one value and constants.
#[derive(Clone, Copy)]
struct Step {
    /// The value.
    of: Value,
    inst: Inst,
    result: Value,
    block: Block,
}

/// All of them.
fn steps(f: &Function) -> Vec<Step> {
    let mut steps = Vec::new();
    for (block, data) in f.blocks.iter() {
        for &inst in &data.insts {
            let info = f.insts[inst].op.info();
            if info.effects == Effects::NONE
                && info.eval.is_some()
                && let Some(result) = f.insts[inst].result
                && let mut varying = f.args(inst).iter().filter(|&&arg| f.as_const(arg).is_none())
                && let (Some(&of), None) = (varying.next(), varying.next())
            {
                steps.push(Step { of, inst, result, block });
            }
        }
    }
    steps
}

/// The join whose parameter a value is, and its place there.
fn joined(f: &Function, value: Value) -> Option<(Block, usize)> {
    match f.values[value].def {
        ValueDef::Param(block, place) if block != ENTRY => Some((block, place as usize)),
        _ => None,
    }
}

/// How often each value is used.
fn uses(f: &Function) -> SideTable<Value, u32> {
    let mut uses = SideTable::with_len(0, f.values.len());
    for data in f.blocks.values() {
        for &inst in &data.insts {
            f.args(inst).iter().for_each(|&arg| uses[arg] += 1);
        }
        data.terminator.for_each_use(|value| uses[value] += 1);
    }
    uses
}

struct Join<'a> {
    /// By the value that they are made of.
    steps: &'a [Step],
    cfg: &'a Cfg,
    dominators: &'a Dominators,
}

impl Join<'_> {
    /// What a step on a parameter gives on each edge that brings the parameter, if the step is all
    /// that the parameter is for.
    fn results(&self, f: &mut Function, step: &Step, uses: u32) -> Option<SmallVec<[Value; 4]>> {
        let (block, place) = joined(f, step.of)?;
        let edges = self.cfg.pred_edges(block);
        if edges.len() > MAX_EDGES {
            return None;
        }
        let mut results = SmallVec::new();
        let mut passed_on = 0;
        for edge in edges {
            let arg = f.blocks[edge.block].terminator.edges()[edge.index as usize].args[place];
            results.push(if arg == step.of {
                passed_on += 1;
                arg
            } else if f.as_const(arg).is_some() {
                constant(f, step, arg)?
            } else {
                self.made(f, step, arg, edge.block)?
            });
        }
        (uses == 1 + passed_on).then_some(results)
    }

    /// The result of the same step on `arg`, where it is known at the end of a block.
    fn made(&self, f: &Function, step: &Step, arg: Value, at: Block) -> Option<Value> {
        let first = self.steps.partition_point(|other| other.of < arg);
        let others = self.steps[first..].iter().take_while(|other| other.of == arg);
        let mut known = others
            .take(MAX_STEPS)
            .filter(|other| alike(f, step, other) && self.dominators.dominates(other.block, at));
        known.next().map(|other| other.result)
    }

    /// Lets the edges bring the results.
    fn rewrite(&self, f: &mut Function, step: &Step, results: &[Value]) {
        let Some((block, place)) = joined(f, step.of) else { return };
        for (edge, &result) in self.cfg.pred_edges(block).iter().zip(results) {
            let edges = f.blocks[edge.block].terminator.edges_mut();
            edges[edge.index as usize].args[place] = result;
        }
        f.values[step.of].ty = f.values[step.result].ty;
    }
}

/// What a step gives for a constant.
fn constant(f: &mut Function, step: &Step, arg: Value) -> Option<Value> {
    let args = f.args(step.inst).iter().map(|&v| f.as_const(if v == step.of { arg } else { v }));
    let ty = f.values[step.result].ty;
    let result = evaluate(f.insts[step.inst].op, args, Some(ty))?;
    Some(f.constant(result))
}

/// Whether two steps do the same, each to its value.
fn alike(f: &Function, a: &Step, b: &Step) -> bool {
    let (left, right) = (f.insts[a.inst], f.insts[b.inst]);
    let same = |(&x, &y): (&Value, &Value)| {
        (x == a.of) == (y == b.of) && (x == a.of || x == y || fault::is(Fault::PhiOfOpsAlike))
    };
    left.op == right.op
        && left.imm == right.imm
        && f.args(a.inst).iter().zip(f.args(b.inst)).all(same)
}
