//! How long each register could be had.

use super::event::Event;
use super::intervals::Piece;
use super::position::Pos;
use super::scan::Scan;
use crate::entity::Entity;
use crate::mach::PReg;
use crate::watch::Watch;
use std::cmp::Reverse;

/// Pieces in holes looked at one by one; with more of them, the nearest end of a hole counts.
const HOLES: usize = 32;

/// How long each register could be had by the piece at hand.
pub struct Bounds {
    /// Until an instruction or a safepoint takes it.
    pub reserved: [Pos; PReg::COUNT],
    /// Until, besides, a piece comes back to it that is in a hole now.
    pub limit: [Pos; PReg::COUNT],
    /// The same, but nothing where a piece is in it now.
    pub free: [Pos; PReg::COUNT],
}

impl<W: Watch<Event>> Scan<'_, W> {
    /// The bounds for a piece that begins now.
    pub(super) fn bounds(&mut self, piece: Piece, regs: &[PReg]) -> Bounds {
        let safepoint = self.safepoint(piece).unwrap_or(Pos::MAX);
        let interval = &self.intervals[piece];
        let whole = interval.start == self.definitions[interval.vreg.index()]
            && !self.intervals.begins_within(piece);
        let mut bounds = Bounds {
            reserved: [Pos::MAX; PReg::COUNT],
            limit: [Pos::MAX; PReg::COUNT],
            free: [Pos::MIN; PReg::COUNT],
        };
        for &reg in regs {
            let r = reg.0 as usize;
            let conflict = self.reserved.conflict(&self.intervals, piece, reg);
            bounds.reserved[r] = conflict.unwrap_or(Pos::MAX).min(safepoint);
            bounds.limit[r] = bounds.reserved[r];
            if !(whole && self.ordered) {
                bounds.limit[r] = bounds.limit[r].min(self.hole_ends(piece, reg));
            }
            if self.active[r].is_none() {
                bounds.free[r] = bounds.limit[r];
            }
        }
        bounds
    }

    /// Where a piece that is in a hole comes back to `reg`, if that meets `piece`.
    fn hole_ends(&mut self, piece: Piece, reg: PReg) -> Pos {
        let heap = &self.in_hole[reg.0 as usize];
        if heap.len() > HOLES {
            return heap.peek().map_or(Pos::MAX, |&Reverse((resumes, _))| resumes);
        }
        self.steps += heap.len() as u64;
        heap.iter()
            .filter_map(|&Reverse((_, other))| self.intervals.intersection(piece, other))
            .min()
            .unwrap_or(Pos::MAX)
    }

    /// The first point at which a reference can't stay in any register.
    pub(super) fn safepoint(&self, piece: Piece) -> Option<Pos> {
        let interval = &self.intervals[piece];
        if !self.layout.is_traced(interval.vreg) {
            return None;
        }
        let safepoints = &self.layout.safepoints;
        let made = self.definitions[interval.vreg.index()];
        let mut next = safepoints.partition_point(|&i| Pos::after(i) <= interval.start);
        loop {
            let i = *safepoints.get(next)?;
            let range = self.intervals.range_after(piece, Pos::after(i))?;
            if range.start < Pos::after(i) && (made.inst() != i || made.is_gap()) {
                return Some(Pos::after(i));
            }
            let beyond = range.start.max(Pos::after(i).next());
            next += safepoints[next..].partition_point(|&i| Pos::after(i) < beyond);
        }
    }
}
