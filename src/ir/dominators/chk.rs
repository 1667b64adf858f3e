//! Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001): dominators as a dataflow
//! problem whose sets are kept as paths of the growing tree. Two sets meet where the paths do. In
//! reverse postorder few rounds suffice; only irreducible graphs need more than two.
//!
//! Simple and fast on small graphs. A walk up the tree is as long as the tree is deep, so the worst
//! case is quadratic.

use crate::buffer::Buffer;
use crate::ir::cfg::Cfg;
use crate::ir::function::Block;

/// Pairs of block and immediate dominator, for all reachable blocks but the entry. All numbers in
/// here are places in reverse postorder.
pub(super) fn immediate_dominators(cfg: &Cfg) -> Buffer<(Block, Block)> {
    const UNKNOWN: u32 = u32::MAX;
    let mut idom = Buffer::filled(UNKNOWN, cfg.rpo().len());
    idom[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for (number, &block) in cfg.rpo().iter().enumerate().skip(1) {
            let mut new = UNKNOWN;
            for pred in cfg.preds(block).filter_map(|pred| cfg.rpo_number(pred)) {
                new = match (idom[pred as usize], new) {
                    (UNKNOWN, _) => new,
                    (_, UNKNOWN) => pred,
                    _ => meet(&idom, pred, new),
                };
            }
            changed |= idom[number] != new;
            idom[number] = new;
        }
    }
    let rpo = cfg.rpo();
    (1..rpo.len()).map(|number| (rpo[number], rpo[idom[number] as usize])).collect()
}

/// The nearest common ancestor: the greater number is never above the lesser one.
fn meet(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = idom[a as usize];
        }
        while b > a {
            b = idom[b as usize];
        }
    }
    a
}
