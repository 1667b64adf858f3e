//! What leaving SSA form costs: the copies that block parameters stand for, and what is left of
//! them once registers are chosen.
//!
//! [`VCode`], [`Allocation`] → [`Copies`], linear.

use super::{Allocation, VBlock, VCode};
use std::ops::AddAssign;

/// Copies on the edges of functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// Arguments of all edges: the copies that a translation without coalescing makes.
    pub before: usize,
    /// Moves on all edges in the end, those of split intervals and the opening of cycles included.
    pub after: usize,
    /// Critical edges that got a block of their own, since moves stand on them.
    pub split_edges: usize,
}

impl Copies {
    /// Those of one function.
    pub fn count<I>(code: &VCode<I>, allocation: &Allocation) -> Self {
        let edges = || code.blocks.values().flat_map(|data| &data.succs);
        let is_critical = |from: VBlock, succ: u32| {
            let succs = &code.blocks[from].succs;
            succs.len() > 1 && code.blocks[succs[succ as usize].target].preds.len() > 1
        };
        let moves = &allocation.edge_moves;
        Self {
            before: edges().map(|edge| edge.args.len()).sum(),
            after: moves.iter().map(|on_edge| on_edge.edits.len()).sum(),
            split_edges: moves.iter().filter(|m| is_critical(m.from, m.succ)).count(),
        }
    }
}

impl AddAssign for Copies {
    fn add_assign(&mut self, more: Self) {
        self.before += more.before;
        self.after += more.after;
        self.split_edges += more.split_edges;
    }
}
