//! The dominance frontier (Cytron et al. 1991): for each block, the blocks where its dominance
//! ends, that is, joins that it does not strictly dominate though it dominates a predecessor.
//!
//! From each join we climb from its predecessors towards its immediate dominator (Cooper, Harvey
//! and Kennedy 2001), and stop where an earlier climb from the same join has been.
//!
//! [`Cfg`], [`Dominators`] → [`Frontier`], linear in its own size.

use crate::entity::SideTable;
use crate::ir::{Block, Cfg, Dominators};

/// A step of the search for an iterated frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The frontier of this block is looked at.
    Look(Block),
    /// This block is in the iterated frontier.
    Join(Block),
}

/// The dominance frontiers of all blocks.
#[derive(Clone, Debug)]
pub struct Frontier {
    starts: SideTable<Block, (u32, u32)>,
    joins: Vec<Block>,
}

impl Frontier {
    /// The dominance frontiers of a graph.
    pub fn compute(cfg: &Cfg, dominators: &Dominators) -> Self {
        let mut pairs = Vec::new();
        let mut starts = SideTable::new((0, 0));
        let mut last = SideTable::new(None);
        for &join in cfg.rpo().iter().filter(|&&block| cfg.pred_edges(block).len() > 1) {
            let end = dominators.idom(join);
            for pred in cfg.preds(join) {
                let mut at = Some(pred);
                while let Some(block) = at.filter(|_| at != end) {
                    if last[block].replace(join) == Some(join) {
                        break;
                    }
                    pairs.push((block, join));
                    starts[block].1 += 1;
                    at = dominators.idom(block);
                }
            }
        }
        let mut start = 0;
        for &block in cfg.rpo() {
            let count = starts[block].1;
            starts[block] = (start, start);
            start += count;
        }
        let mut joins = vec![cfg.rpo()[0]; pairs.len()];
        for (block, join) in pairs {
            let end: &mut u32 = &mut starts[block].1;
            joins[*end as usize] = join;
            *end += 1;
        }
        Self { starts, joins }
    }

    /// The dominance frontier of a block, in reverse postorder.
    pub fn of(&self, block: Block) -> &[Block] {
        let (start, end) = self.starts[block];
        &self.joins[start as usize..end as usize]
    }

    /// Calls `visit` once with each block of the iterated frontier of `blocks`: where what these
    /// blocks write meets something else; and with each block whose frontier is looked at. `seen` is
    /// scratch memory that holds `stamp` nowhere yet.
    pub fn iterated(
        &self,
        blocks: &mut Vec<Block>,
        seen: &mut SideTable<Block, u32>,
        stamp: u32,
        mut visit: impl FnMut(Step),
    ) {
        while let Some(block) = blocks.pop() {
            visit(Step::Look(block));
            for &at in self.of(block) {
                if seen[at] != stamp {
                    seen[at] = stamp;
                    visit(Step::Join(at));
                    blocks.push(at);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::random_graph;
    use super::*;

    #[test]
    fn agrees_with_the_definition() {
        arbtest::arbtest(|u| {
            let f = random_graph(u)?;
            let cfg = Cfg::compute(&f);
            let dominators = Dominators::compute(&cfg);
            let frontier = Frontier::compute(&cfg, &dominators);
            let by_definition = |a: Block| -> Vec<Block> {
                let ends = |&join: &Block| {
                    cfg.preds(join).any(|pred| dominators.dominates(a, pred))
                        && !dominators.strictly_dominates(a, join)
                };
                cfg.rpo().iter().copied().filter(ends).collect()
            };
            for &a in cfg.rpo() {
                assert_eq!(frontier.of(a), by_definition(a), "{a}");
            }
            // The iterated frontier of two blocks is the least set closed under frontiers.
            let some = [cfg.rpo()[0], cfg.rpo()[cfg.rpo().len() / 2]];
            let mut closed: Vec<Block> = some.iter().flat_map(|&a| by_definition(a)).collect();
            let mut next = 0;
            while let Some(&block) = closed.get(next) {
                next += 1;
                for join in by_definition(block) {
                    if !closed.contains(&join) {
                        closed.push(join);
                    }
                }
            }
            closed.sort_unstable();
            closed.dedup();
            let mut found = Vec::new();
            let mut seen = SideTable::new(u32::MAX);
            frontier.iterated(&mut some.to_vec(), &mut seen, 0, |step| {
                if let Step::Join(join) = step {
                    found.push(join);
                }
            });
            found.sort_unstable();
            assert_eq!(found, closed);
            Ok(())
        });
    }
}
