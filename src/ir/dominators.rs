//! The dominator tree.
//!
//! Block `a` dominates `b` where every path from the entry to `b` goes through `a`. The immediate
//! dominators come from one of two algorithms: up to [`SMALL`] blocks Cooper's, Harvey's and
//! Kennedy's (`chk`), above Semi-NCA (`semi_nca`), which stays near-linear. A walk over the finished
//! tree gives each block an interval of numbers that holds those of all blocks below it, so that a
//! question of dominance is two comparisons.
//!
//! [`Cfg`] → [`Dominators`]. Unreachable blocks have no place in it: they dominate nothing and
//! nothing dominates them.

mod chk;
mod semi_nca;

use super::cfg::Cfg;
use super::function::Block;
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::pooled;

/// Up to so many blocks `chk` is used. Measured on chains of diamonds and loops (the test `measure`):
/// half the time of `semi_nca` at 10 blocks, the same near 100, and more above; in the worst case
/// quadratic.
pub const SMALL: usize = 64;

/// The dominator tree of the reachable blocks.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// By block.
    nodes: Buffer<Node>,
    preorder: Buffer<Block>,
    children: Buffer<Block>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    idom: Option<Block>,
    /// This block and those below it have the places `first..end` in preorder.
    first: u32,
    end: u32,
    depth: u32,
    /// Its children are `children[child_start..child_end]`.
    child_start: u32,
    child_end: u32,
}

pooled! { Node, (Block, Block) }

const NOWHERE: Node = Node { idom: None, first: 1, end: 0, depth: 0, child_start: 0, child_end: 0 };

impl Dominators {
    /// The dominator tree of a graph.
    pub fn compute(cfg: &Cfg) -> Self {
        Self::from_idoms(
            cfg,
            &match cfg.rpo().len() {
                ..=SMALL => chk::immediate_dominators(cfg),
                _ => semi_nca::immediate_dominators(cfg),
            },
        )
    }

    fn from_idoms(cfg: &Cfg, idoms: &[(Block, Block)]) -> Self {
        let mut nodes = Buffer::filled(NOWHERE, cfg.blocks);
        let mut children = Buffer::filled(cfg.rpo()[0], cfg.rpo().len().saturating_sub(1));
        for &(block, idom) in idoms {
            nodes[block.index()].idom = Some(idom);
            nodes[idom.index()].child_end += 1;
        }
        let mut start = 0;
        for &block in cfg.rpo() {
            let node = &mut nodes[block.index()];
            let count = node.child_end;
            (node.child_start, node.child_end) = (start, start);
            start += count;
        }
        for &block in &cfg.rpo()[1..] {
            if let Some(idom) = nodes[block.index()].idom {
                let parent = &mut nodes[idom.index()];
                children[parent.child_end as usize] = block;
                parent.child_end += 1;
            }
        }
        let mut tree = Self { nodes, preorder: Buffer::with_capacity(cfg.rpo().len()), children };
        tree.number(cfg.rpo()[0]);
        tree
    }

    fn number(&mut self, root: Block) {
        let mut open = Buffer::filled((root, 0), 1);
        while let Some((block, depth)) = open.pop() {
            let first = self.preorder.len() as u32;
            self.preorder.push(block);
            let node = &mut self.nodes[block.index()];
            (node.first, node.end, node.depth) = (first, first + 1, depth);
            open.extend(self.children(block).iter().rev().map(|&child| (child, depth + 1)));
        }
        for &block in self.preorder.iter().skip(1).rev() {
            let node = self.nodes[block.index()];
            if let Some(idom) = node.idom {
                let above = &mut self.nodes[idom.index()];
                above.end = above.end.max(node.end);
            }
        }
    }

    /// What is known of a block; of one that was added since, that it is nowhere.
    #[inline]
    fn node(&self, block: Block) -> Node {
        self.nodes.get(block.index()).copied().unwrap_or(NOWHERE)
    }

    /// The immediate dominator; none for the entry and for unreachable blocks.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.node(block).idom
    }

    /// The blocks whose immediate dominator is `block`, in reverse postorder.
    pub fn children(&self, block: Block) -> &[Block] {
        let node = self.node(block);
        &self.children[node.child_start as usize..node.child_end as usize]
    }

    /// How many blocks strictly dominate `block`.
    pub fn depth(&self, block: Block) -> u32 {
        self.node(block).depth
    }

    /// The tree's blocks in preorder: each before those below it.
    pub fn preorder(&self) -> &[Block] {
        &self.preorder
    }

    /// Whether every path from the entry to `b` goes through `a`; a block dominates itself.
    #[inline]
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (above, below) = (self.node(a), self.node(b));
        below.first < below.end && above.first <= below.first && below.first < above.end
    }

    /// Whether `a` dominates `b` and is another block.
    #[inline]
    pub fn strictly_dominates(&self, a: Block, b: Block) -> bool {
        a != b && self.dominates(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::SideTable;
    use crate::ir::{ENTRY, Edge, FuncRef, Function, Op, Signature, Terminator};

    fn random_graph(
        u: &mut arbtest::arbitrary::Unstructured,
    ) -> arbtest::arbitrary::Result<Function> {
        let mut f = Function::new("g", FuncRef(0), Signature::default());
        let zero = f.int(0);
        let count = u.int_in_range(1..=24u32)?;
        for _ in 1..count {
            f.add_block();
        }
        for block in f.blocks.keys() {
            let mut edge = || u.int_in_range(0..=count - 1).map(|b| Edge::to(Block(b)));
            let edges = [edge()?, edge()?];
            f.blocks[block].terminator = match u.int_in_range(0..=4)? {
                0 => Terminator::Return(None),
                1 => Terminator::Jump(edges[0].clone()),
                _ => Terminator::Branch { op: Op::IEq, args: [zero, zero], edges },
            };
        }
        Ok(f)
    }

    /// The blocks that the entry reaches when `without` is taken out.
    fn reached(f: &Function, without: Option<Block>) -> SideTable<Block, bool> {
        let mut seen = SideTable::new(false);
        let mut open = vec![ENTRY];
        while let Some(block) = open.pop() {
            if Some(block) != without && !std::mem::replace(&mut seen[block], true) {
                open.extend(f.succs(block));
            }
        }
        seen
    }

    #[test]
    fn agrees_with_the_definition() {
        arbtest::arbtest(|u| {
            let f = random_graph(u)?;
            let cfg = Cfg::compute(&f);
            let tree = Dominators::compute(&cfg);
            let (mut chk, mut semi_nca) =
                (chk::immediate_dominators(&cfg), semi_nca::immediate_dominators(&cfg));
            chk.sort_unstable();
            semi_nca.sort_unstable();
            assert_eq!(chk, semi_nca);
            let reachable = reached(&f, None);
            for a in f.blocks.keys() {
                assert_eq!(cfg.is_reachable(a), reachable[a]);
                let others = reached(&f, Some(a));
                for b in f.blocks.keys() {
                    let expected = reachable[a] && reachable[b] && !others[b];
                    assert_eq!(tree.dominates(a, b), expected, "{a} {b}");
                }
            }
            for b in f.blocks.keys().filter(|&b| reachable[b]) {
                let strict = f.blocks.keys().filter(|&a| tree.strictly_dominates(a, b));
                assert_eq!(strict.count() as u32, tree.depth(b));
                for &child in tree.children(b) {
                    assert_eq!(tree.idom(child), Some(b));
                }
                assert_eq!(tree.idom(b).is_none(), b == ENTRY);
            }
            assert_eq!(tree.preorder().len(), cfg.rpo().len());
            Ok(())
        });
    }

    #[test]
    fn a_long_ladder_takes_no_time() {
        const RUNGS: u32 = 50_000;
        let mut f = Function::new("ladder", FuncRef(0), Signature::default());
        let zero = f.int(0);
        (0..RUNGS).for_each(|_| _ = f.add_block());
        for at in 0..RUNGS - 1 {
            let edges = [Edge::to(Block(RUNGS)), Edge::to(Block(at + 1))];
            f.blocks[Block(at)].terminator =
                Terminator::Branch { op: Op::IEq, args: [zero, zero], edges };
        }
        let tree = Dominators::compute(&Cfg::compute(&f));
        assert_eq!(tree.idom(Block(RUNGS)), Some(ENTRY));
        assert_eq!(tree.depth(Block(RUNGS - 1)), RUNGS - 1);
    }

    /// Times both algorithms on chains of diamonds and of loops. Run with `--ignored --nocapture`.
    #[test]
    #[ignore = "a measurement"]
    fn measure() {
        use std::hint::black_box;
        use std::time::Instant;
        for count in [3u32, 10, 30, 100, 300, 1_000, 3_000, 10_000, 100_000] {
            for loops in [false, true] {
                let mut f = Function::new("g", FuncRef(0), Signature::default());
                let zero = f.int(0);
                (1..count).for_each(|_| _ = f.add_block());
                let to = |block: u32| Edge::to(Block(block.clamp(1, count - 1)));
                for at in 0..count {
                    let branch =
                        |edges| Terminator::Branch { op: Op::IEq, args: [zero, zero], edges };
                    f.blocks[Block(at)].terminator = match at % 3 {
                        _ if at + 1 == count => Terminator::Return(None),
                        0 => branch([to(at + 1), to(at + 2)]),
                        1 => Terminator::Jump(to(at + 2)),
                        _ if loops && at > 3 => branch([to(at - at % 7), to(at + 1)]),
                        _ => Terminator::Jump(to(at + 1)),
                    };
                }
                let cfg = Cfg::compute(&f);
                let time = |work: fn(&Cfg) -> Buffer<(Block, Block)>| {
                    let runs = 300_000 / count + 3;
                    let start = Instant::now();
                    (0..runs).for_each(|_| _ = black_box(work(black_box(&cfg))));
                    start.elapsed().as_secs_f64() * 1e9 / f64::from(runs) / f64::from(count)
                };
                let (chk, semi) = (chk::immediate_dominators, semi_nca::immediate_dominators);
                let (chk, semi) = (time(chk), time(semi));
                println!(
                    "{count:>7} blocks, loops {loops}: chk {chk:.1}, semi-nca {semi:.1} ns/block"
                );
            }
        }
    }
}
