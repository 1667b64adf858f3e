//! Semi-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005):
//! semidominators as Lengauer and Tarjan find them, with path compression, then for each block the
//! nearest ancestor that is no deeper than its semidominator.
//!
//! It stays fast where thousands of blocks leave a long chain for one exit.

use crate::buffer::Buffer;
use crate::entity::SideTable;
use crate::ir::cfg::Cfg;
use crate::ir::function::Block;

/// Pairs of block and immediate dominator, for all reachable blocks but the entry. All numbers in
/// here are places in the depth-first tree.
pub(super) fn immediate_dominators(cfg: &Cfg) -> Buffer<(Block, Block)> {
    let count = cfg.tree.len();
    let mut place = SideTable::with_len(0u32, cfg.blocks);
    for (i, &(block, _)) in cfg.tree.iter().enumerate() {
        place[block] = i as u32;
    }
    let mut idom: Vec<u32> = cfg.tree.iter().map(|&(_, parent)| parent).collect();
    let mut forest = Forest {
        ancestor: idom.clone(),
        label: (0..count as u32).collect(),
        semi: (0..count as u32).collect(),
        path: Vec::new(),
    };
    for at in (1..count as u32).rev() {
        let mut semi = idom[at as usize];
        for pred in cfg.preds(cfg.tree[at as usize].0) {
            let best = forest.eval(place[pred], at + 1);
            semi = semi.min(forest.semi[best as usize]);
        }
        forest.semi[at as usize] = semi;
    }
    for at in 1..count {
        let mut candidate = idom[at];
        while candidate > forest.semi[at] {
            candidate = idom[candidate as usize];
        }
        idom[at] = candidate;
    }
    let block = |at: u32| cfg.tree[at as usize].0;
    (1..count as u32).map(|at| (block(at), block(idom[at as usize]))).collect()
}

/// The part of the depth-first tree whose semidominators are known, with compressed paths.
struct Forest {
    ancestor: Vec<u32>,
    label: Vec<u32>,
    semi: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The block with the least semidominator on the path from `at` up to its root, where blocks
    /// from `linked` on belong to the forest. Leaves every block of the path hanging on the root.
    fn eval(&mut self, at: u32, linked: u32) -> u32 {
        let mut root = at;
        while self.ancestor[root as usize] >= linked {
            self.path.push(root);
            root = self.ancestor[root as usize];
        }
        let top = self.ancestor[root as usize];
        let mut above = root;
        while let Some(below) = self.path.pop() {
            let (best, own) = (self.label[above as usize], self.label[below as usize]);
            if self.semi[best as usize] < self.semi[own as usize] {
                self.label[below as usize] = best;
            }
            self.ancestor[below as usize] = top;
            above = below;
        }
        self.label[at as usize]
    }
}
