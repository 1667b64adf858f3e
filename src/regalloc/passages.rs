//! Where values pass from one home to another: in gaps, where one stay follows another, and on
//! edges whose ends disagree.
//!
//! Input: homes. Output: passages; only values that have more than one stay are looked at.

use super::homes::Homes;
use super::intervals::{Home, Intervals, LiveRange};
use super::layout::Layout;
use super::liveness::Definitions;
use super::position::Pos;
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::mach::{ProgPoint, Side, VBlock, VReg};
use crate::pooled;
use std::ops::Range;

/// Where moves are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Site {
    /// Around an instruction.
    Point(ProgPoint),
    /// On an edge: its source and which successor.
    Edge(VBlock, u32),
}

/// A value passes from one home to another.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Whose.
    pub vreg: VReg,
    /// Where.
    pub site: Site,
    /// The home before.
    pub from: Home,
    /// The home after.
    pub to: Home,
}

pooled! { Passage, Incoming }

/// Finds where values pass from one home to another.
pub fn passages(
    layout: &Layout,
    definitions: &Definitions,
    intervals: &Intervals,
    homes: &Homes,
    work: &mut u64,
) -> Buffer<Passage> {
    let incoming = IncomingEdges::new(layout);
    let mut passages = Buffer::new();
    for vreg in layout.vregs.keys() {
        let [_, rest @ ..] = homes.of(vreg) else { continue };
        if rest.is_empty() {
            continue;
        }
        let definition = definitions[vreg.index()];
        for stay in rest.iter().filter(|stay| stay.continues) {
            let i = stay.start.inst();
            if stay.start == layout.block_start(layout.block_of(i)) {
                continue;
            }
            let made_here = definition.inst() == i && !definition.is_gap();
            let (side, from) = if made_here {
                (Side::After, homes.at(vreg, definition))
            } else {
                (Side::Before, homes.at(vreg, Pos::gap(i)))
            };
            if from != stay.home {
                let site = Site::Point(ProgPoint { inst: i, side });
                passages.push(Passage { vreg, site, from, to: stay.home });
            }
        }
        for (piece, stay) in intervals.pieces_of(vreg).zip(homes.of(vreg)) {
            for range in intervals.ranges(piece) {
                let edges = incoming.edges_into(&blocks_entered(layout, range));
                *work += edges.len() as u64;
                for edge in edges {
                    if stay.start <= edge.last && edge.last < stay.end
                        || layout.block_start(edge.to) == definition
                    {
                        continue;
                    }
                    let (from, to) = (homes.at(vreg, edge.last), stay.home);
                    if from != to {
                        let site = Site::Edge(edge.from, edge.succ);
                        passages.push(Passage { vreg, site, from, to });
                    }
                }
            }
        }
    }
    passages
}

/// The blocks at whose beginning a range is live.
fn blocks_entered(layout: &Layout, range: LiveRange) -> Range<usize> {
    let mut first = layout.block_of(range.start.inst()).index();
    if layout.block_start(VBlock::new(first)) < range.start {
        first += 1;
    }
    let mut end = layout.block_of(range.end.inst().min(layout.len() - 1)).index();
    if layout.block_start(VBlock::new(end)) < range.end {
        end += 1;
    }
    first..end.max(first)
}

/// An edge.
#[derive(Clone, Copy)]
struct Incoming {
    from: VBlock,
    succ: u32,
    /// The last position of `from`.
    last: Pos,
    to: VBlock,
}

/// All edges, in the order of the blocks that they lead to.
struct IncomingEdges {
    edges: Buffer<Incoming>,
    starts: Buffer<u32>,
}

impl IncomingEdges {
    fn new(layout: &Layout) -> Self {
        let mut starts = Buffer::filled(0, layout.blocks.len() + 1);
        for edge in layout.blocks.values().flat_map(|data| &data.succs) {
            starts[edge.target.index() + 1] += 1;
        }
        for b in 0..layout.blocks.len() {
            starts[b + 1] += starts[b];
        }
        let mut ends = starts.clone();
        let none = Incoming { from: VBlock(0), succ: 0, last: Pos::MIN, to: VBlock(0) };
        let mut edges = Buffer::filled(none, starts[layout.blocks.len()] as usize);
        for (from, data) in layout.blocks.iter() {
            for (succ, edge) in data.succs.iter().enumerate() {
                let end = &mut ends[edge.target.index()];
                let (succ, last, to) = (succ as u32, layout.block_last(from), edge.target);
                edges[*end as usize] = Incoming { from, succ, last, to };
                *end += 1;
            }
        }
        Self { edges, starts }
    }

    /// The edges into some blocks.
    fn edges_into(&self, blocks: &Range<usize>) -> &[Incoming] {
        &self.edges[self.starts[blocks.start] as usize..self.starts[blocks.end] as usize]
    }
}
