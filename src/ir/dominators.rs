//! The dominator tree.
//!
//! Block `a` dominates `b` where every path from the entry to `b` goes through `a`. The immediate
//! dominators come from the Semi-NCA algorithm (Georgiadis, "Linear-Time Algorithms for Dominators
//! and Related Problems"): semidominators as Lengauer and Tarjan find them, with path compression,
//! then for each block the nearest ancestor that is no deeper than its semidominator. Unlike the
//! iterative scheme of Cooper, Harvey and Kennedy it stays fast where thousands of blocks leave a
//! long chain for one exit. A walk over the finished tree gives each block an interval of numbers
//! that holds those of all blocks below it, so that a question of dominance is two comparisons.
//!
//! [`Cfg`] → [`Dominators`]. Unreachable blocks have no place in it: they dominate nothing and
//! nothing dominates them.

use super::cfg::Cfg;
use super::function::Block;
use crate::entity::SideTable;

/// The dominator tree of the reachable blocks.
#[derive(Clone, Debug)]
pub struct Dominators {
    nodes: SideTable<Block, Node>,
    preorder: Vec<Block>,
    children: Vec<Block>,
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

const NOWHERE: Node = Node { idom: None, first: 1, end: 0, depth: 0, child_start: 0, child_end: 0 };

impl Dominators {
    /// The dominator tree of a graph.
    pub fn compute(cfg: &Cfg) -> Self {
        let idoms = immediate_dominators(cfg);
        let mut nodes = SideTable::new(NOWHERE);
        let mut children = vec![cfg.rpo()[0]; cfg.rpo().len().saturating_sub(1)];
        for &(block, idom) in &idoms {
            nodes[block].idom = Some(idom);
            nodes[idom].child_end += 1;
        }
        let mut start = 0;
        for &block in cfg.rpo() {
            let node = &mut nodes[block];
            let count = node.child_end;
            (node.child_start, node.child_end) = (start, start);
            start += count;
        }
        for &block in &cfg.rpo()[1..] {
            if let Some(idom) = nodes[block].idom {
                let parent = &mut nodes[idom];
                children[parent.child_end as usize] = block;
                parent.child_end += 1;
            }
        }
        let mut tree = Self { nodes, preorder: Vec::with_capacity(cfg.rpo().len()), children };
        tree.number(cfg.rpo()[0]);
        tree
    }

    fn number(&mut self, root: Block) {
        let mut open = vec![(root, 0)];
        while let Some((block, depth)) = open.pop() {
            let first = self.preorder.len() as u32;
            self.preorder.push(block);
            let node = &mut self.nodes[block];
            (node.first, node.end, node.depth) = (first, first + 1, depth);
            open.extend(self.children(block).iter().rev().map(|&child| (child, depth + 1)));
        }
        for &block in self.preorder.iter().skip(1).rev() {
            let node = self.nodes[block];
            if let Some(idom) = node.idom {
                self.nodes[idom].end = self.nodes[idom].end.max(node.end);
            }
        }
    }

    /// The immediate dominator; none for the entry and for unreachable blocks.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.nodes[block].idom
    }

    /// The blocks whose immediate dominator is `block`, in reverse postorder.
    pub fn children(&self, block: Block) -> &[Block] {
        let node = self.nodes[block];
        &self.children[node.child_start as usize..node.child_end as usize]
    }

    /// How many blocks strictly dominate `block`.
    pub fn depth(&self, block: Block) -> u32 {
        self.nodes[block].depth
    }

    /// The tree's blocks in preorder: each before those below it.
    pub fn preorder(&self) -> &[Block] {
        &self.preorder
    }

    /// Whether every path from the entry to `b` goes through `a`; a block dominates itself.
    #[inline]
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (above, below) = (self.nodes[a], self.nodes[b]);
        below.first < below.end && above.first <= below.first && below.first < above.end
    }

    /// Whether `a` dominates `b` and is another block.
    #[inline]
    pub fn strictly_dominates(&self, a: Block, b: Block) -> bool {
        a != b && self.dominates(a, b)
    }
}

/// Pairs of block and immediate dominator, for all reachable blocks but the entry. All numbers in
/// here are places in the depth-first tree.
fn immediate_dominators(cfg: &Cfg) -> Vec<(Block, Block)> {
    let count = cfg.tree.len();
    let mut place = SideTable::new(0u32);
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

#[cfg(test)]
mod tests {
    use super::*;
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
}
