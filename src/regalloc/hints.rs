//! Which registers would save moves.
//!
//! Wherever a move would vanish if two things had one register, they are related, with the weight
//! of the block in which the move would be: fixed operands, tied operands, register copies, and
//! edge arguments with their parameters. A piece scores the registers that its relations have
//! already, or, where they have none yet, the fixed register that they want most, or else that of
//! their own best relation: a sum that is made in steps ends in the register that its loop's
//! parameter has.

use super::layout::{Access, Layout};
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::mach::{PReg, VReg};
use crate::pooled;

/// Relations looked at for one piece: enough for the best, and a bound on the work.
const LIMIT: usize = 16;
/// The same for those of its partners.
const CHAINED: usize = 4;

#[derive(Clone, Copy, Debug)]
enum Partner {
    Fixed(PReg),
    Value(VReg),
}

pooled! { (VReg, Partner, f32), (Partner, f32), Option<PReg>, (Option<PReg>, f32) }

/// All relations.
#[derive(Debug)]
pub struct Hints {
    relations: Buffer<(Partner, f32)>,
    starts: Buffer<u32>,
    /// The register that a virtual register had last.
    current: Buffer<Option<PReg>>,
    /// The fixed register that it is related to most, and how much.
    wanted: Buffer<(Option<PReg>, f32)>,
}

impl Hints {
    /// Collects the relations.
    pub fn new(layout: &Layout) -> Self {
        let mut pairs: Buffer<(VReg, Partner, f32)> = Buffer::new();
        for i in 0..layout.len() {
            let weight = layout.weight(layout.block_of(i));
            layout.accesses(i, |operand, access| match access {
                Access::CopyTo(reg) | Access::DefIn(reg) => {
                    pairs.push((operand.vreg, Partner::Fixed(reg), weight));
                }
                Access::CopyToDef(def) => relate(&mut pairs, operand.vreg, def, weight),
                Access::Here { .. } | Access::TempIn(_) => {}
            });
        }
        for &(i, to, from) in &layout.moves {
            relate(&mut pairs, to, from, layout.weight(layout.block_of(i)));
        }
        for (block, data) in layout.blocks.iter() {
            for edge in &data.succs {
                let weight = layout.weight(block).min(layout.weight(edge.target));
                let params = &layout.blocks[edge.target].params;
                for (&arg, &param) in edge.args.iter().zip(params) {
                    relate(&mut pairs, arg, param, weight);
                }
            }
        }
        let mut starts = Buffer::filled(0u32, layout.vregs.len() + 1);
        for (vreg, ..) in &pairs {
            starts[vreg.index() + 1] += 1;
        }
        for v in 0..layout.vregs.len() {
            starts[v + 1] += starts[v];
        }
        let mut ends = starts.clone();
        let mut relations = Buffer::filled((Partner::Fixed(PReg(0)), 0.0), pairs.len());
        let mut wanted = Buffer::filled((None, 0.0), layout.vregs.len());
        for &(vreg, partner, weight) in &pairs {
            let end = &mut ends[vreg.index()];
            relations[*end as usize] = (partner, weight);
            *end += 1;
            if let Partner::Fixed(reg) = partner
                && weight > wanted[vreg.index()].1
            {
                wanted[vreg.index()] = (Some(reg), weight);
            }
        }
        Self { relations, starts, current: Buffer::filled(None, layout.vregs.len()), wanted }
    }

    /// `vreg` has `reg` from now on.
    pub fn assigned(&mut self, vreg: VReg, reg: PReg) {
        self.current[vreg.index()] = Some(reg);
    }

    /// The weight of the moves that each register would save.
    pub fn scores(&self, vreg: VReg) -> [f32; PReg::COUNT] {
        let mut scores = [0.0; PReg::COUNT];
        if let Some(reg) = self.current[vreg.index()] {
            scores[reg.0 as usize] += 1.0;
        }
        for &(partner, weight) in self.relations(vreg).iter().take(LIMIT) {
            let (reg, weight) = match partner {
                Partner::Fixed(reg) => (Some(reg), weight),
                Partner::Value(other) => match self.current[other.index()] {
                    Some(reg) => (Some(reg), weight),
                    None => match self.wanted[other.index()].0 {
                        Some(reg) => (Some(reg), weight / 2.0),
                        None => self.wish(other, weight),
                    },
                },
            };
            if let Some(reg) = reg {
                scores[reg.0 as usize] += weight;
            }
        }
        scores
    }

    /// What a value that has no register yet will want most, if `weight` can be saved by sharing it.
    fn wish(&self, vreg: VReg, weight: f32) -> (Option<PReg>, f32) {
        let mut best = (None, 0.0);
        for &(partner, own) in self.relations(vreg).iter().take(CHAINED) {
            if let Partner::Value(other) = partner
                && let Some(reg) = self.current[other.index()]
                && own > best.1
            {
                best = (Some(reg), own);
            }
        }
        (best.0, best.1.min(weight) / 2.0)
    }

    /// The virtual registers related to `vreg`.
    pub fn related(&self, vreg: VReg) -> impl Iterator<Item = VReg> {
        self.relations(vreg).iter().take(LIMIT).filter_map(|&(partner, _)| match partner {
            Partner::Value(other) => Some(other),
            Partner::Fixed(_) => None,
        })
    }

    fn relations(&self, vreg: VReg) -> &[(Partner, f32)] {
        let (start, end) = (self.starts[vreg.index()], self.starts[vreg.index() + 1]);
        &self.relations[start as usize..end as usize]
    }
}

fn relate(pairs: &mut Vec<(VReg, Partner, f32)>, a: VReg, b: VReg, weight: f32) {
    pairs.push((a, Partner::Value(b), weight));
    pairs.push((b, Partner::Value(a), weight));
}
