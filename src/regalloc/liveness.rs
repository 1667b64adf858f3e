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
use crate::entity::Entity;
use crate::mach::{Role, VBlock, VReg};

/// Where each virtual register is defined: the position where its life begins.
pub type Definitions = Vec<Pos>;

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
    uses: Vec<Use>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    definitions: Definitions,
}

fn collect_uses(layout: &Layout) -> Uses {
    let mut definitions = vec![Pos::MIN; layout.vregs.len()];
    let mut counts = vec![0u32; layout.vregs.len()];
    for block in layout.blocks.keys() {
        each_operand(
            layout,
            block,
            |vreg, _| counts[vreg.index()] += 1,
            |vreg, pos| {
                definitions[vreg.index()] = pos;
            },
        );
        for &arg in layout.blocks[block].succs.iter().flat_map(|edge| &edge.args) {
            counts[arg.index()] += 1;
        }
    }
    let mut total = 0;
    let starts: Vec<u32> = counts
        .iter()
        .map(|count| {
            total += count;
            total - count
        })
        .collect();
    let mut ends = starts.clone();
    let mut uses = vec![Use { pos: Pos::MIN, need: Need::Copied }; total as usize];
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
    for (block, data) in layout.blocks.iter() {
        each_operand(layout, block, &mut add, |_, _| {});
        for edge in &data.succs {
            for (&arg, &param) in edge.args.iter().zip(&layout.blocks[edge.target].params) {
                if counts[param.index()] > 0 {
                    add(arg, Use { pos: layout.block_last(block), need: Need::Copied });
                }
            }
        }
    }
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
    /// For each block, the last exploration that entered it and where in `segments` it is.
    entered: Vec<(u32, u32)>,
    exploration: u32,
    /// (block, where the value dies in it)
    segments: Vec<(VBlock, Pos)>,
    ranges: Vec<LiveRange>,
}

impl<'a> Paths<'a> {
    fn new(layout: &'a Layout<'a>) -> Self {
        Self {
            layout,
            entered: vec![(0, 0); layout.blocks.len()],
            exploration: 0,
            segments: Vec::new(),
            ranges: Vec::new(),
        }
    }

    /// Finds the ranges of a value.
    fn explore(&mut self, definition: Pos, uses: &[Use]) {
        self.exploration += 1;
        self.segments.clear();
        let home = self.layout.block_of(definition.inst());
        for u in uses {
            let mut explored = self.segments.len();
            self.reach(self.layout.block_of(u.pos.inst()), u.pos.next());
            while let Some(&(block, _)) = self.segments.get(explored) {
                explored += 1;
                if block != home {
                    for &pred in &self.layout.blocks[block].preds {
                        self.reach(pred, self.layout.block_end(pred));
                    }
                }
            }
        }
        self.segments.sort_unstable();
        self.ranges.clear();
        for &(block, end) in &self.segments {
            let start = if block == home { definition } else { self.layout.block_start(block) };
            match self.ranges.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => self.ranges.push(LiveRange { start, end }),
            }
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
