//! Where physical registers are taken by the instructions themselves: fixed operands and clobbers.
//!
//! Each register has its points in order. A point may belong to a virtual register, the one that
//! is copied to or from the register there: its own piece may stay in the register.

use super::intervals::{Intervals, Piece};
use super::layout::{Access, Layout};
use super::position::Pos;
use super::scan::due;
use crate::buffer::Buffer;
use crate::mach::{PReg, RegClass, Role, VReg};
use crate::pooled;

/// Points looked at in one search; a register is taken to be reserved beyond.
const LIMIT: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Point {
    pos: Pos,
    owner: Option<VReg>,
}

pooled! { Point, (PReg, Point) }

/// The reserved points of all registers.
#[derive(Debug)]
pub struct Reserved {
    points: Buffer<Point>,
    /// Those of register `r` are `points[starts[r]..starts[r + 1]]`.
    starts: [usize; PReg::COUNT + 1],
    /// For each register, the first point that is not behind the scan.
    cursors: [usize; PReg::COUNT],
    /// For each register, the position of that point.
    pub upcoming: [Pos; PReg::COUNT],
    /// For each class, no such position is before this one.
    earliest: [Pos; 2],
    /// Steps of all searches.
    pub steps: u64,
}

impl Reserved {
    /// Collects the points.
    pub fn new(layout: &Layout) -> Self {
        let mut found: Buffer<(PReg, Point)> = Buffer::with_capacity(layout.len() as usize / 2);
        let mut late = Buffer::new();
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
                    found.push((reg, Point { pos: Pos::early(i), owner }));
                }
                if at_late {
                    late.push((reg, Point { pos: Pos::late(i), owner }));
                }
            });
            found.append(&mut late);
            if let Some((_, set)) = clobbers.next_if(|&&(inst, _)| inst == i) {
                found.extend(set.iter().map(|reg| (reg, Point { pos: Pos::late(i), owner: None })));
            }
        }
        // A counting sort by register.
        let mut starts = [0; PReg::COUNT + 1];
        for (reg, _) in &found {
            starts[reg.0 as usize + 1] += 1;
        }
        for r in 0..PReg::COUNT {
            starts[r + 1] += starts[r];
        }
        let mut ends = starts;
        let mut points = Buffer::filled(Point { pos: Pos::MAX, owner: None }, found.len());
        for &(reg, point) in &found {
            let end = &mut ends[reg.0 as usize];
            points[*end] = point;
            *end += 1;
        }
        let upcoming = std::array::from_fn(|r| {
            points[starts[r]..starts[r + 1]].first().map_or(Pos::MAX, |point| point.pos)
        });
        let cursors = [0; PReg::COUNT];
        Self { points, starts, cursors, upcoming, earliest: [Pos::MIN; 2], steps: 0 }
    }

    /// The scan has come to `now`.
    pub fn advance(&mut self, class: RegClass, now: Pos) {
        if now < self.earliest[class as usize] {
            return;
        }
        for reg in due(&self.upcoming, class, now).iter() {
            let r = reg.0 as usize;
            let points = &self.points[self.starts[r]..self.starts[r + 1]];
            while points.get(self.cursors[r]).is_some_and(|point| point.pos < now) {
                self.cursors[r] += 1;
            }
            self.upcoming[r] = points.get(self.cursors[r]).map_or(Pos::MAX, |point| point.pos);
        }
        let half = PReg::COUNT / 2 * class as usize;
        let times = self.upcoming[half..half + PReg::COUNT / 2].iter();
        self.earliest[class as usize] = times.min().copied().unwrap_or(Pos::MAX);
    }

    /// The first position at which `piece`, which begins where the scan is, can't be in `reg`. The
    /// class of `reg` must have been advanced to there.
    pub fn conflict(&mut self, intervals: &Intervals, piece: Piece, reg: PReg) -> Option<Pos> {
        let interval = &intervals[piece];
        let points = &self.points[self.starts[reg.0 as usize]..self.starts[reg.0 as usize + 1]];
        let mut at = self.cursors[reg.0 as usize];
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
