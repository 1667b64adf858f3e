//! Loop inversion: `while c { … }` becomes `if c { do { … } while c }`.
//!
//! A loop whose header tests and leaves, and whose back edges test nothing, gets a copy of its
//! header at the bottom: back edges lead to the copy, and the header itself, now outside, is the
//! guard. That is one jump less each time round, and behind the guard the body is known to run,
//! so that invariant code has a place to go.
//!
//! Outer loops go first: a copy takes over its original's edges as they are then.
//!
//! A loop that has its test at the bottom already, but a step behind it (`a..=b`), takes the step
//! before the test, and jumps no more than the others.
//!
//! SSA → SSA, linear; each small header is copied at most once a run.

use super::Context;
use super::region::Regions;
use crate::analysis::loops::{Loop, Loops};
use crate::ir::{Block, Cfg, Effects, Function, Inst, Terminator};
use std::mem::replace;

/// Headers with more instructions stay single.
const MAX_HEADER: usize = 16;
/// More instructions stay behind a test.
const MAX_STEP: usize = 3;

/// Inverts loops.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let Some((cfg, loops)) = cx.graph.loops(f) else { return };
    let chosen: Vec<(Loop, Block)> = loops
        .iter()
        .rev()
        .filter(|&(id, data)| wants_inversion(f, &cfg, &loops, id, data.header) && cx.fuel.tick())
        .map(|(id, data)| (id, data.header))
        .collect();
    lift_steps(f, &cfg, &loops, &chosen, cx);
    if chosen.is_empty() {
        return;
    }
    let headers: Vec<Vec<Block>> = chosen.iter().map(|&(_, header)| vec![header]).collect();
    let mut regions = Regions::new(f, &cfg, &headers);
    for (id, header) in chosen {
        regions.copy(f, &[header]);
        let copy = regions.block(header);
        for edge in cfg.pred_edges(header) {
            if loops.contains(id, edge.block) {
                let edges = f.blocks[edge.block].terminator.edges_mut();
                edges[edge.index as usize].target = copy;
            }
        }
    }
    regions.finish(f);
}

/// Whether the header is small and leaves the loop, and no back edge comes from such a test.
fn wants_inversion(f: &Function, cfg: &Cfg, loops: &Loops, id: Loop, header: Block) -> bool {
    let leaves = |block: Block| {
        let edges = f.blocks[block].terminator.edges();
        edges.len() == 2 && edges.iter().any(|edge| !loops.contains(id, edge.target))
    };
    f.blocks[header].insts.len() <= MAX_HEADER
        && leaves(header)
        && f.succs(header).any(|succ| loops.contains(id, succ))
        && !cfg.preds(header).any(|pred| loops.contains(id, pred) && leaves(pred))
}

/// Takes what stands between the test at a loop's bottom and its header before the test.
fn lift_steps(
    f: &mut Function,
    cfg: &Cfg,
    loops: &Loops,
    chosen: &[(Loop, Block)],
    cx: &mut Context<'_>,
) {
    // The chosen are in reverse order.
    let is_chosen = |id: Loop| chosen.binary_search_by(|&(other, _)| id.cmp(&other)).is_ok();
    for (id, data) in loops.iter().filter(|&(id, _)| !is_chosen(id)) {
        for latch in cfg.preds(data.header).filter(|&pred| loops.contains(id, pred)) {
            let &[above] = cfg.pred_edges(latch) else { continue };
            let step = &f.blocks[latch];
            let is_pure = |&inst: &Inst| f.insts[inst].op.info().effects == Effects::NONE;
            let is_small = step.insts.len() <= MAX_STEP && step.insts.iter().all(is_pure);
            if !is_small
                || !step.params.is_empty()
                || !matches!(step.terminator, Terminator::Jump(_))
                || !matches!(f.blocks[above.block].terminator, Terminator::Branch { .. })
                || !f.succs(above.block).any(|succ| !loops.contains(id, succ))
                || !cx.fuel.tick()
            {
                continue;
            }
            let insts = std::mem::take(&mut f.blocks[latch].insts);
            f.blocks[above.block].insts.extend(insts);
            if let Terminator::Jump(edge) =
                replace(&mut f.blocks[latch].terminator, Terminator::Unreachable)
            {
                f.blocks[above.block].terminator.edges_mut()[above.index as usize] = edge;
            }
        }
    }
}
