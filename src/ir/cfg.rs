//! The control flow graph of a function: predecessors and the reverse postorder.
//!
//! One depth-first walk from the entry (explicit stack, linear time) numbers the reachable blocks.
//! Blocks that it does not reach are not part of the graph: they have no number and appear in
//! nobody's list of predecessors.
//!
//! `Function` → [`Cfg`]. It is a snapshot: whoever changes a terminator computes it anew.

use super::function::{Block, ENTRY, Function};
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::pooled;

/// Where control comes from: the edge with this index in this block's terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredEdge {
    /// The block that the edge leaves.
    pub block: Block,
    /// Its place in `Terminator::edges`.
    pub index: u32,
}

pooled! { PredEdge, (Block, u32) }

/// The control flow graph of a function.
#[derive(Clone, Debug)]
pub struct Cfg {
    rpo: Buffer<Block>,
    number: Buffer<u32>,
    pred_edges: Buffer<PredEdge>,
    pred_starts: Buffer<u32>,
    /// The reachable blocks in the order in which the walk found them, each with the place in this
    /// list of the block it was found from (the entry: itself).
    pub(super) tree: Buffer<(Block, u32)>,
    /// How many blocks the function has, reachable or not.
    pub(super) blocks: usize,
}

const UNREACHABLE: u32 = u32::MAX;

impl Cfg {
    /// The graph of `function` as it is now.
    pub fn compute(function: &Function) -> Self {
        let Walk { tree, postorder: mut rpo, edges_into: mut number } = walk(function);
        rpo.reverse();
        // Counting sort of all edges by their target; within a list, by the source's number. Lists
        // are filled from their ends, which become their beginnings.
        let mut pred_starts = Buffer::with_capacity(rpo.len() + 1);
        let mut edges = 0;
        for (i, &block) in rpo.iter().enumerate() {
            let number = &mut number[block.index()];
            edges += number.wrapping_sub(UNREACHABLE);
            pred_starts.push(edges);
            *number = i as u32;
        }
        pred_starts.push(edges);
        let mut pred_edges = Buffer::filled(PredEdge { block: ENTRY, index: 0 }, edges as usize);
        for &block in rpo.iter().rev() {
            for (index, edge) in function.blocks[block].terminator.edges().iter().enumerate().rev()
            {
                let slot = &mut pred_starts[number[edge.target.index()] as usize];
                *slot -= 1;
                pred_edges[*slot as usize] = PredEdge { block, index: index as u32 };
            }
        }
        Self { rpo, number, pred_edges, pred_starts, tree, blocks: function.blocks.len() }
    }

    /// Whether this is the graph of `function` as it is now.
    pub fn is_of(&self, function: &Function) -> bool {
        let mut edges = 0;
        let has_preds = |(&block, ends): (&Block, &[u32])| {
            edges += function.blocks[block].terminator.edges().len();
            self.pred_edges[ends[0] as usize..ends[1] as usize].iter().all(|pred| {
                let edges = function.blocks[pred.block].terminator.edges();
                edges.get(pred.index as usize).is_some_and(|edge| edge.target == block)
            })
        };
        self.blocks == function.blocks.len()
            && self.rpo.iter().zip(self.pred_starts.windows(2)).all(has_preds)
            && edges == self.pred_edges.len()
    }

    /// The reachable blocks in reverse postorder: the entry first, every block before those it
    /// dominates, and before its successors but along back edges.
    #[inline]
    pub fn rpo(&self) -> &[Block] {
        &self.rpo
    }

    /// The reachable blocks in postorder.
    pub fn postorder(&self) -> impl DoubleEndedIterator<Item = Block> + ExactSizeIterator + '_ {
        self.rpo.iter().rev().copied()
    }

    /// The depth-first tree: the reachable blocks in the order in which the walk found them, each with
    /// the place in this list of the block it was found from (the entry: itself).
    pub fn tree(&self) -> &[(Block, u32)] {
        &self.tree
    }

    /// A reachable block's place in [`Cfg::rpo`]; none for blocks that were added since.
    #[inline]
    pub fn rpo_number(&self, block: Block) -> Option<u32> {
        self.number.get(block.index()).copied().filter(|&n| n != UNREACHABLE)
    }

    /// Whether a path leads from the entry to `block`.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.rpo_number(block).is_some()
    }

    /// The edges that lead to `block`, in the order of their sources' RPO numbers.
    #[inline]
    pub fn pred_edges(&self, block: Block) -> &[PredEdge] {
        let Some(n) = self.rpo_number(block) else { return &[] };
        let n = n as usize;
        &self.pred_edges[self.pred_starts[n] as usize..self.pred_starts[n + 1] as usize]
    }

    /// The predecessors of `block`, one for each edge: a branch with equal targets counts twice.
    #[inline]
    pub fn preds(&self, block: Block) -> impl ExactSizeIterator<Item = Block> + '_ {
        self.pred_edges(block).iter().map(|edge| edge.block)
    }
}

/// What the depth-first walk finds.
struct Walk {
    tree: Buffer<(Block, u32)>,
    postorder: Buffer<Block>,
    /// For each block, how many edges lead to it, counted from `UNREACHABLE`.
    edges_into: Buffer<u32>,
}

/// Of two edges the second is walked first, so that in reverse postorder what the first leads to (a
/// loop's body) stands directly behind its source.
fn walk(function: &Function) -> Walk {
    let count = function.blocks.len();
    let edges = |block: Block| function.blocks[block].terminator.edges();
    let mut edges_into = Buffer::filled(UNREACHABLE, count);
    let mut tree = Buffer::with_capacity(count);
    let mut postorder = Buffer::with_capacity(count);
    // Open blocks: place in `tree`, edges still to walk.
    let mut open: Buffer<(u32, u32)> = Buffer::new();
    tree.push((ENTRY, 0));
    open.push((0, edges(ENTRY).len() as u32));
    while let Some((at, left)) = open.last_mut() {
        let (block, _) = tree[*at as usize];
        if *left == 0 {
            postorder.push(block);
            open.pop();
            continue;
        }
        *left -= 1;
        let succ = edges(block)[*left as usize].target;
        let known = &mut edges_into[succ.index()];
        let is_first = *known == UNREACHABLE;
        *known = known.wrapping_add(1);
        if is_first && succ != ENTRY {
            tree.push((succ, *at));
            open.push((tree.len() as u32 - 1, edges(succ).len() as u32));
        }
    }
    Walk { tree, postorder, edges_into }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Edge, FuncRef, Op, Signature, Terminator};

    fn graph(edges: &[&[u32]]) -> Function {
        let mut f = Function::new("g", FuncRef(0), Signature::default());
        let zero = f.int(0);
        for _ in 1..edges.len() {
            f.add_block();
        }
        for (from, to) in edges.iter().enumerate() {
            f.blocks[Block(from as u32)].terminator = match **to {
                [] => Terminator::Return(None),
                [a] => Terminator::Jump(Edge::to(Block(a))),
                [a, b, ..] => Terminator::Branch {
                    op: Op::IEq,
                    args: [zero, zero],
                    edges: [Edge::to(Block(a)), Edge::to(Block(b))],
                },
            };
        }
        f
    }

    #[test]
    fn a_loop_body_stands_between_header_and_exit() {
        let cfg = Cfg::compute(&graph(&[&[1], &[2, 3], &[1], &[], &[3]]));
        assert_eq!(cfg.rpo(), [Block(0), Block(1), Block(2), Block(3)]);
        assert_eq!(cfg.preds(Block(1)).collect::<Vec<_>>(), [Block(0), Block(2)]);
        assert_eq!(cfg.preds(Block(3)).collect::<Vec<_>>(), [Block(1)]);
        assert!(!cfg.is_reachable(Block(4)));
    }

    #[test]
    fn equal_targets_are_two_edges() {
        let cfg = Cfg::compute(&graph(&[&[1, 1], &[]]));
        let edges = cfg.pred_edges(Block(1));
        assert_eq!(edges.iter().map(|e| e.index).collect::<Vec<_>>(), [0, 1]);
    }
}
