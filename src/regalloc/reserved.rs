//! Where physical registers are taken by the instructions themselves: fixed operands and clobbers.
//!
//! Each register has its points in order. A point may belong to a virtual register, the one that
//! is copied to or from the register there: its own piece may stay in the register.

use super::intervals::{Intervals, Piece};
use super::layout::{Access, Layout};
use super::position::Pos;
use crate::mach::{PReg, Role, VReg};

/// Points looked at in one search; a register is taken to be reserved beyond.
const LIMIT: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Point {
    pos: Pos,
    owner: Option<VReg>,
}

/// The reserved points of all registers.
#[derive(Debug)]
pub struct Reserved {
    points: Vec<Vec<Point>>,
    /// For each register, the first point that is not behind the scan.
    cursors: [usize; PReg::COUNT],
    /// Steps of all searches.
    pub steps: u64,
}

impl Reserved {
    /// Collects the points.
    pub fn new(layout: &Layout) -> Self {
        let mut points = vec![Vec::new(); PReg::COUNT];
        let mut late = Vec::new();
        let mut clobbers = layout.clobbers.iter().peekable();
        for i in 0..layout.len() {
            layout.accesses(i, |operand, access| {
                let (reg, at_early, at_late) = match access {
                    Access::CopyTo(reg) => (reg, true, operand.role == Role::LateUse),
                    Access::DefIn(reg) => (reg, operand.role == Role::EarlyDef, true),
                    Access::TempIn(reg) => (reg, true, true),
                    Access::Here { .. } | Access::CopyToDef(_) => return,
                };
                let owner = Some(operand.vreg);
                if at_early {
                    points[reg.0 as usize].push(Point { pos: Pos::early(i), owner });
                }
                if at_late {
                    late.push((reg, Point { pos: Pos::late(i), owner }));
                }
            });
            for (reg, point) in late.drain(..) {
                points[reg.0 as usize].push(point);
            }
            if let Some((_, set)) = clobbers.next_if(|&&(inst, _)| inst == i) {
                for reg in set.iter() {
                    points[reg.0 as usize].push(Point { pos: Pos::late(i), owner: None });
                }
            }
        }
        Self { points, cursors: [0; PReg::COUNT], steps: 0 }
    }

    /// The first position at which `piece`, which begins where the scan is, can't be in `reg`.
    pub fn conflict(&mut self, intervals: &Intervals, piece: Piece, reg: PReg) -> Option<Pos> {
        let interval = &intervals[piece];
        let points = &self.points[reg.0 as usize];
        let cursor = &mut self.cursors[reg.0 as usize];
        while points.get(*cursor).is_some_and(|point| point.pos < interval.start) {
            *cursor += 1;
        }
        let mut at = *cursor;
        let mut range = intervals.range_after(piece, interval.start)?;
        for _ in 0..LIMIT {
            self.steps += 1;
            let point = points.get(at)?;
            if point.pos >= interval.end {
                return None;
            }
            if point.pos >= range.end {
                range = intervals.range_after(piece, point.pos)?;
            }
            if point.pos < range.start {
                at += points[at..].partition_point(|p| p.pos < range.start);
            } else if point.owner == Some(interval.vreg) {
                at += 1;
            } else {
                return Some(point.pos);
            }
        }
        points.get(at).map(|point| point.pos)
    }
}
