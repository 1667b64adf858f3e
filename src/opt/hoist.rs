//! Code common to both arms of a branch is computed once, before it.
//!
//! What may go up is told by very busy expressions (`analysis/busy.rs`): at the branch, every path
//! computes them, and no other trap and no output comes before. So nothing is computed that was not
//! computed anyway, and the first trap stays the first; a trapping one moves only where both arms
//! name the same place in the source for it. Bottom up, so that what all arms of a nest share
//! climbs to its top. An arm that is empty afterwards is one that `if-convert` can take.
//!
//! Between tests that will be a table of jumps nothing is put.
//!
//! SSA → SSA. Near-linear; functions in which no branch has two arms that begin alike are left
//! after one look at each branch.

use super::{Context, switch};
use crate::analysis::bits::Must;
use crate::analysis::busy::Busy;
use crate::analysis::expressions::{Expression, Expressions};
use crate::analysis::sparse::{SLICE, Sparse};
use crate::entity::EntitySet;
use crate::ir::{Block, Cfg, Effects, Function, Inst, Terminator, Value};
use crate::ssa::forward::Forward;
use toyjit_runtime::fault::{self, Fault};

/// Moves what both arms of a branch compute before it.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let cfg = cx.graph.cfg(f);
    if !cfg.rpo().iter().any(|&block| arms(f, &cfg, block).is_some_and(|arms| look_alike(f, arms)))
    {
        return;
    }
    let kept_bare = switch::inner_tests(f, &cfg);
    let expressions = Expressions::compute(f, &cfg);
    let shared: Vec<Expression> =
        expressions.keys().filter(|&e| expressions.blocks(e).len() > 1).collect();
    let mut hoisting = Hoisting { expressions: &expressions, forward: Forward::new(f) };
    let mut sparse = Sparse::<Must>::new(f);
    for some in shared.chunks(SLICE) {
        let busy = Busy::new(&expressions, &cfg, some);
        sparse.solve(f, &cfg, &busy, busy.seeds());
        for &block in cfg.rpo().iter().rev().filter(|&&block| !kept_bare.contains(block)) {
            if let (Some(arms), Some(bits)) = (arms(f, &cfg, block), sparse.input(block)) {
                let is_busy = |e| some.binary_search(&e).is_ok_and(|bit| bits.contains(bit));
                hoisting.lift(f, block, arms, is_busy, cx);
            }
        }
    }
    hoisting.forward.apply(f);
}

/// The two blocks behind a branch, if nothing else leads to them.
fn arms(f: &Function, cfg: &Cfg, block: Block) -> Option<[Block; 2]> {
    let Terminator::Branch { edges, .. } = &f.blocks[block].terminator else { return None };
    let arms = [edges[0].target, edges[1].target];
    arms.iter().all(|&arm| cfg.pred_edges(arm).len() == 1).then_some(arms)
}

/// So many instructions of an arm are looked at before the analysis is thought worth its while.
const LOOK: usize = 8;

fn look_alike(f: &Function, [one, other]: [Block; 2]) -> bool {
    let head = |arm: Block| f.blocks[arm].insts.iter().take(LOOK).map(|&inst| &f.insts[inst]);
    head(one).any(|a| a.result.is_some() && head(other).any(|b| (a.op, a.imm) == (b.op, b.imm)))
}

struct Hoisting<'a> {
    expressions: &'a Expressions,
    forward: Forward,
}

impl Hoisting<'_> {
    /// Moves what is busy at the end of `block`, and computed in both arms, there.
    fn lift(
        &mut self,
        f: &mut Function,
        block: Block,
        [one, other]: [Block; 2],
        is_busy: impl Fn(Expression) -> bool,
        cx: &mut Context<'_>,
    ) {
        let busy =
            |&inst: &Inst| Some((self.expressions.of_inst(inst).filter(|&e| is_busy(e))?, inst));
        let mut twins: Vec<_> = f.blocks[other].insts.iter().filter_map(busy).collect();
        if twins.is_empty() {
            return;
        }
        twins.sort_by_key(|&(expression, _)| expression);
        let mut gone = EntitySet::<Inst>::new();
        let mut lifted = Vec::new();
        // What the arm still defines itself: it can't be used before the branch.
        let mut own: EntitySet<Value> = f.blocks[one].params.iter().copied().collect();
        for &inst in &f.blocks[one].insts {
            let Some(result) = f.insts[inst].result else { continue };
            let twin = busy(&inst).and_then(|(expression, _)| {
                let first = twins.partition_point(|&(e, _)| e < expression);
                let twin = twins.get(first).filter(|&&(e, _)| e == expression)?.1;
                let traps = f.effects(inst).has(Effects::TRAPS);
                let same_place = f.insts[inst].loc == f.insts[twin].loc;
                (!traps || same_place || fault::is(Fault::HoistAnyPlace)).then_some(twin)
            });
            let is_early = f.args(inst).iter().all(|&arg| !own.contains(self.forward.resolve(arg)));
            match twin {
                Some(twin) if is_early && !gone.contains(twin) && cx.fuel.tick() => {
                    let of_twin = f.insts[twin].result.map(|value| self.forward.resolve(value));
                    if let Some(from) = of_twin.filter(|&from| from != result) {
                        self.forward.set(from, result);
                    }
                    gone.insert(twin);
                    gone.insert(inst);
                    lifted.push(inst);
                }
                _ => _ = own.insert(result),
            }
        }
        if !lifted.is_empty() {
            for arm in [one, other] {
                f.blocks[arm].insts.retain(|&inst| !gone.contains(inst));
            }
            f.blocks[block].insts.append(&mut lifted);
        }
    }
}
