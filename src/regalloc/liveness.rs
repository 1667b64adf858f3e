//! Builds the live interval of each virtual register.
//!
//! Idea: path exploration, one variable at a time (Boissinot et al., "Computing liveness sets for
//! SSA-form programs", 2011): from each use the blocks are walked backwards to the definition, and
//! a block is entered once for each variable. The cost is that of the result, the sum of the live
//! sets; there are no sets over all variables and there is no fixpoint, and any graph will do.
//!
//! A definition in a fixed register is live from just after its instruction, and a use in a fixed
//! register or tied to a definition reads it in the gap before: the fixed register and the value's
//! own place are apart, joined by a move that vanishes when both are the same.
//!
//! Input: the layout. Output: intervals, and for each virtual register where it is defined. A
//! parameter that nobody uses has no interval, and no edge carries anything to it.

use super::intervals::{Intervals, LiveRange, Need, Use};
use super::layout::{Access, Layout};
use super::position::Pos;
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::mach::{Role, VBlock, VReg};
use crate::pooled;

pooled! { Pos, (VReg, Use), (VBlock, Pos) }

/// Where each virtual register is defined: the position where its life begins.
pub type Definitions = Buffer<Pos>;

/// Computes all intervals.
pub fn intervals(layout: &Layout) -> (Intervals, Definitions) {
    let Uses { uses, starts, ends, definitions } = collect_uses(layout);
    let mut paths = Paths::new(layout);
    let mut intervals = Intervals::new(definitions.len(), uses);
    for vreg in layout.vregs.keys() {
        let range = starts[vreg.index()]..ends[vreg.index()];
        if !range.is_empty() {
            paths.explore(definitions[vreg.index()], intervals.all_uses(range.clone()));
            intervals.add(vreg, &paths.ranges, range);
        }
    }
    (intervals, definitions)
}

/// Uses by virtual register: those of `v` are at `starts[v]..ends[v]`, sorted.
struct Uses {
    uses: Buffer<Use>,
    starts: Buffer<u32>,
    ends: Buffer<u32>,
    definitions: Definitions,
}

fn collect_uses(layout: &Layout) -> Uses {
    let mut definitions = Buffer::filled(Pos::MIN, layout.vregs.len());
    let mut counts = Buffer::filled(0u32, layout.vregs.len());
    let mut found: Buffer<(VReg, Use)> = Buffer::with_capacity(layout.num_operands());
    // Edges behind their blocks' operands: they say whether a parameter is used.
    let mut edges = Buffer::new();
    for (block, data) in layout.blocks.iter() {
        let mut used = |vreg: VReg, new: Use| {
            counts[vreg.index()] += 1;
            found.push((vreg, new));
        };
        each_operand(layout, block, &mut used, |vreg, pos| definitions[vreg.index()] = pos);
        if data.succs.iter().any(|edge| !edge.args.is_empty()) {
            edges.push((block, found.len()));
            data.succs.iter().flat_map(|edge| &edge.args).for_each(|arg| counts[arg.index()] += 1);
        }
    }
    let mut total = 0;
    let starts: Buffer<u32> = counts
        .iter()
        .map(|count| {
            total += count;
            total - count
        })
        .collect();
    let mut ends = starts.clone();
    let mut uses = Buffer::filled(Use { pos: Pos::MIN, need: Need::Copied }, total as usize);
    let mut add = |vreg: VReg, new: Use| {
        let first = starts[vreg.index()] as usize;
        let mut at = ends[vreg.index()] as usize;
        ends[vreg.index()] += 1;
        while at > first && uses[at - 1] > new {
            uses[at] = uses[at - 1];
            at -= 1;
        }
        uses[at] = new;
    };
    let mut done = 0;
    for &(block, behind) in &edges {
        found[done..behind].iter().for_each(|&(vreg, new)| add(vreg, new));
        done = behind;
        for edge in &layout.blocks[block].succs {
            for (&arg, &param) in edge.args.iter().zip(&layout.blocks[edge.target].params) {
                if counts[param.index()] > 0 {
                    add(arg, Use { pos: layout.block_last(block), need: Need::Copied });
                }
            }
        }
    }
    found[done..].iter().for_each(|&(vreg, new)| add(vreg, new));
    Uses { uses, starts, ends, definitions }
}

/// Visits uses and definitions of a block in order but for those of one instruction.
fn each_operand(
    layout: &Layout,
    block: VBlock,
    mut used: impl FnMut(VReg, Use),
    mut defined: impl FnMut(VReg, Pos),
) {
    for &param in &layout.blocks[block].params {
        defined(param, layout.block_start(block));
    }
    for i in layout.blocks[block].insts.clone() {
        layout.accesses(i, |operand, access| {
            let vreg = operand.vreg;
            let position = match access {
                Access::Here { early, late, required } => {
                    let need = if required { Need::Register } else { Need::Anywhere };
                    if early {
                        used(vreg, Use { pos: Pos::early(i), need });
                    }
                    if late {
                        used(vreg, Use { pos: Pos::late(i), need });
                    }
                    if early { Pos::early(i) } else { Pos::late(i) }
                }
                Access::CopyTo(_) | Access::CopyToDef(_) => {
                    used(vreg, Use { pos: Pos::gap(i), need: Need::Copied });
                    return;
                }
                Access::DefIn(_) => Pos::after(i),
                Access::TempIn(_) => return,
            };
            if !matches!(operand.role, Role::Use | Role::LateUse) {
                defined(vreg, position);
            }
        });
    }
}

/// The exploration of paths, with its memory.
struct Paths<'a> {
    layout: &'a Layout<'a>,
    /// The predecessors of block `b` are `preds[starts[b]..starts[b + 1]]`.
    preds: Buffer<VBlock>,
    starts: Buffer<u32>,
    /// For each block, the last exploration that entered it and where in `segments` it is.
    entered: Buffer<(u32, u32)>,
    exploration: u32,
    /// (block, where the value dies in it)
    segments: Buffer<(VBlock, Pos)>,
    /// Blocks to be put in order, a bit for each; empty in between.
    marks: Buffer<u64>,
    ranges: Buffer<LiveRange>,
}

/// So few segments are sorted by comparing them.
const FEW: usize = 16;

impl<'a> Paths<'a> {
    fn new(layout: &'a Layout<'a>) -> Self {
        let blocks = layout.blocks.len();
        let mut preds = Buffer::with_capacity(2 * blocks);
        let mut starts = Buffer::with_capacity(blocks + 1);
        for data in layout.blocks.values() {
            starts.push(preds.len() as u32);
            preds.extend_from_slice(&data.preds);
        }
        starts.push(preds.len() as u32);
        Self {
            layout,
            preds,
            starts,
            entered: Buffer::filled((0, 0), blocks),
            exploration: 0,
            segments: Buffer::new(),
            marks: Buffer::filled(0, blocks.div_ceil(64)),
            ranges: Buffer::new(),
        }
    }

    /// Finds the ranges of a value.
    fn explore(&mut self, definition: Pos, uses: &[Use]) {
        self.exploration += 1;
        self.segments.clear();
        self.ranges.clear();
        let home = self.layout.block_of(definition.inst());
        if let (Some(first), Some(last)) = (uses.first(), uses.last())
            && self.layout.block_start(home) <= first.pos
            && last.pos < self.layout.block_end(home)
        {
            self.ranges.push(LiveRange { start: definition, end: last.pos.next() });
            return;
        }
        for u in uses {
            let mut explored = self.segments.len();
            self.reach(self.layout.block_of(u.pos.inst()), u.pos.next());
            while let Some(&(block, _)) = self.segments.get(explored) {
                explored += 1;
                if block != home {
                    let b = block.index();
                    for pred in self.starts[b]..self.starts[b + 1] {
                        self.reach(self.preds[pred as usize], Pos::MAX);
                    }
                }
            }
        }
        if self.segments.len() <= FEW {
            self.segments.sort_unstable();
            for i in 0..self.segments.len() {
                self.add(home, definition, self.segments[i]);
            }
        } else {
            self.add_by_marks(home, definition);
        }
    }

    /// Adds all segments in the order of their blocks, by a bit set.
    fn add_by_marks(&mut self, home: VBlock, definition: Pos) {
        let (mut first, mut last) = (usize::MAX, 0);
        for (block, _) in &self.segments {
            let b = block.index();
            self.marks[b / 64] |= 1 << (b % 64);
            (first, last) = (first.min(b / 64), last.max(b / 64));
        }
        for word in first..=last {
            let mut left = std::mem::take(&mut self.marks[word]);
            while left != 0 {
                let block = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let segment = self.segments[self.entered[block].1 as usize];
                self.add(home, definition, segment);
            }
        }
    }

    fn add(&mut self, home: VBlock, definition: Pos, (block, end): (VBlock, Pos)) {
        let start = if block == home { definition } else { self.layout.block_start(block) };
        let end = end.min(self.layout.block_end(block));
        match self.ranges.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => self.ranges.push(LiveRange { start, end }),
        }
    }

    fn reach(&mut self, block: VBlock, end: Pos) {
        let (exploration, segment) = self.entered[block.index()];
        if exploration == self.exploration {
            let (_, known) = &mut self.segments[segment as usize];
            *known = end.max(*known);
        } else {
            self.entered[block.index()] = (self.exploration, self.segments.len() as u32);
            self.segments.push((block, end));
        }
    }
}
