//! Where loops are in the linear order of blocks.
//!
//! A depth-first search finds the edges that lead back to a block it is still below; each spans an
//! extent of blocks from its target to its source. Extents that overlap in part are widened to
//! nest, so that they form a forest even for irreducible graphs or odd orders of blocks. Edges from
//! cold blocks, which stand far away at the end, are passed over. Extents guide where to split and
//! what to spill; nothing rests on them being right.

use super::position::Pos;
use crate::buffer::Buffer;
use crate::entity::{Arena, Entity};
use crate::mach::{VBlock, VBlockData};
use crate::pooled;

const NONE: u32 = u32::MAX;

/// A loop's extent.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// Where its first block begins.
    pub start: Pos,
    /// Where its last block ends.
    pub end: Pos,
    parent: u32,
}

impl Loop {
    /// Whether a position is inside.
    pub fn contains(&self, pos: Pos) -> bool {
        self.start <= pos && pos < self.end
    }
}

pooled! { Loop, Mark, (VBlock, usize) }

/// The forest of loops.
#[derive(Debug)]
pub struct Loops {
    loops: Buffer<Loop>,
    innermost: Buffer<u32>,
}

impl Loops {
    /// Finds the loops.
    pub fn new(blocks: &Arena<VBlock, VBlockData>) -> Self {
        let mut extents = back_edges(blocks);
        extents.sort_unstable_by_key(|&(first, last)| (first, std::cmp::Reverse(last)));
        extents.dedup_by_key(|&mut (first, _)| first);
        let mut loops: Buffer<(u32, u32, u32)> = Buffer::with_capacity(extents.len());
        let mut open = NONE;
        for &(first, last) in &extents {
            while open != NONE && loops[open as usize].1 < first {
                open = loops[open as usize].2;
            }
            let mut outer = open;
            while outer != NONE && loops[outer as usize].1 < last {
                loops[outer as usize].1 = last;
                outer = loops[outer as usize].2;
            }
            loops.push((first, last, open));
            open = loops.len() as u32 - 1;
        }
        let mut innermost = Buffer::filled(NONE, blocks.len());
        let mut next = 0;
        let mut open = NONE;
        for (block, innermost) in innermost.iter_mut().enumerate() {
            while open != NONE && loops[open as usize].1 < block as u32 {
                open = loops[open as usize].2;
            }
            if loops.get(next).is_some_and(|l| l.0 == block as u32) {
                open = next as u32;
                next += 1;
            }
            *innermost = open;
        }
        let bounds = |block: u32| &blocks[VBlock::new(block as usize)].insts;
        let loops = loops
            .iter()
            .map(|&(first, last, parent)| Loop {
                start: Pos::gap(bounds(first).start),
                end: Pos::gap(bounds(last).end),
                parent,
            })
            .collect();
        Self { loops, innermost }
    }

    /// The loops around a block, from the inside out.
    pub fn around(&self, block: VBlock) -> impl Iterator<Item = &Loop> {
        let mut at = self.innermost[block.index()];
        std::iter::from_fn(move || {
            let found = self.loops.get(at as usize)?;
            at = found.parent;
            Some(found)
        })
    }
}

/// How far the search is with a block.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    OnPath,
    Done,
}

/// Edges back to a block on the path of a depth-first search, as (target, source).
fn back_edges(blocks: &Arena<VBlock, VBlockData>) -> Buffer<(u32, u32)> {
    let mut marks = Buffer::filled(Mark::New, blocks.len());
    let mut found = Buffer::new();
    let mut path = Buffer::new();
    if let Some(mark) = marks.first_mut() {
        *mark = Mark::OnPath;
        path.push((VBlock::new(0), 0));
    }
    while let Some((block, next)) = path.last_mut() {
        let (from, data) = (*block, &blocks[*block]);
        let Some(edge) = data.succs.get(*next) else {
            marks[from.index()] = Mark::Done;
            path.pop();
            continue;
        };
        *next += 1;
        match marks[edge.target.index()] {
            Mark::New => {
                marks[edge.target.index()] = Mark::OnPath;
                path.push((edge.target, 0));
            }
            Mark::OnPath if edge.target <= from && (!data.cold || blocks[edge.target].cold) => {
                found.push((edge.target.0, from.0));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mach::VEdge;

    fn graph(edges: &[&[u32]]) -> Arena<VBlock, VBlockData> {
        let edge = |&target| VEdge { target: VBlock(target), args: Default::default() };
        edges
            .iter()
            .enumerate()
            .map(|(i, succs)| VBlockData {
                insts: i as u32..i as u32 + 1,
                params: Default::default(),
                succs: succs.iter().map(edge).collect(),
                preds: Default::default(),
                loop_depth: 0,
                cold: false,
            })
            .collect()
    }

    fn around(edges: &[&[u32]], block: u32) -> Vec<(u32, u32)> {
        let blocks = graph(edges);
        let loops = Loops::new(&blocks);
        loops.around(VBlock(block)).map(|l| (l.start.inst(), l.end.inst())).collect()
    }

    #[test]
    fn nested_loops() {
        let edges: &[&[u32]] = &[&[1], &[2, 5], &[3, 4], &[2], &[1], &[]];
        assert_eq!(around(edges, 3), [(2, 4), (1, 5)]);
        assert_eq!(around(edges, 4), [(1, 5)]);
        assert_eq!(around(edges, 5), []);
    }

    #[test]
    fn overlapping_extents_are_made_to_nest() {
        let edges: &[&[u32]] = &[&[1], &[2], &[3], &[1, 4], &[2, 5], &[]];
        assert_eq!(around(edges, 4), [(2, 5), (1, 5)]);
        assert_eq!(around(edges, 1), [(1, 5)]);
    }

    #[test]
    fn a_branch_backwards_is_no_loop_by_itself() {
        let edges: &[&[u32]] = &[&[1, 2], &[3], &[1], &[]];
        assert_eq!(around(edges, 1), []);
    }
}
