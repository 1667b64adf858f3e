//! Where values pass from one home to another: in gaps, where one stay follows another, and on
//! edges whose ends disagree.
//!
//! Input: homes. Output: passages; only values that have more than one stay are looked at.

use super::homes::Homes;
use super::intervals::{Home, Intervals, LiveRange};
use super::layout::Layout;
use super::liveness::Definitions;
use super::position::Pos;
use crate::entity::Entity;
use crate::mach::{ProgPoint, Side, VBlock, VReg};

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

/// Finds where values pass from one home to another.
pub fn passages(
    layout: &Layout,
    definitions: &Definitions,
    intervals: &Intervals,
    homes: &Homes,
    work: &mut u64,
) -> Vec<Passage> {
    let incoming = incoming_edges(layout);
    let mut passages = Vec::new();
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
                each_block_entered(layout, range, definition, |block| {
                    for &(pred, succ) in incoming.of(block) {
                        *work += 1;
                        let last = layout.block_last(pred);
                        if stay.start <= last && last < stay.end {
                            continue;
                        }
                        let (from, to) = (homes.at(vreg, last), stay.home);
                        if from != to {
                            passages.push(Passage { vreg, site: Site::Edge(pred, succ), from, to });
                        }
                    }
                });
            }
        }
    }
    passages
}

/// Visits the blocks at whose beginning a range is live, coming from elsewhere.
fn each_block_entered(
    layout: &Layout,
    range: LiveRange,
    definition: Pos,
    mut visit: impl FnMut(VBlock),
) {
    let mut block = layout.block_of(range.start.inst());
    if layout.block_start(block) < range.start {
        block = VBlock::new(block.index() + 1);
    }
    while block < layout.blocks.next_key() && layout.block_start(block) < range.end {
        if layout.block_start(block) != definition {
            visit(block);
        }
        block = VBlock::new(block.index() + 1);
    }
}

/// The edges into each block: (source, which of its successors).
struct Incoming {
    edges: Vec<(VBlock, u32)>,
    starts: Vec<u32>,
}

impl Incoming {
    fn of(&self, block: VBlock) -> &[(VBlock, u32)] {
        let (start, end) = (self.starts[block.index()], self.starts[block.index() + 1]);
        &self.edges[start as usize..end as usize]
    }
}

fn incoming_edges(layout: &Layout) -> Incoming {
    let mut starts = vec![0; layout.blocks.len() + 1];
    for edge in layout.blocks.values().flat_map(|data| &data.succs) {
        starts[edge.target.index() + 1] += 1;
    }
    for b in 0..layout.blocks.len() {
        starts[b + 1] += starts[b];
    }
    let mut ends = starts.clone();
    let mut edges = vec![(VBlock::new(0), 0); starts[layout.blocks.len()] as usize];
    for (block, data) in layout.blocks.iter() {
        for (succ, edge) in data.succs.iter().enumerate() {
            let end = &mut ends[edge.target.index()];
            edges[*end as usize] = (block, succ as u32);
            *end += 1;
        }
    }
    Incoming { edges, starts }
}
