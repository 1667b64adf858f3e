//! Where to cut a piece.
//!
//! A piece that has to leave its register by some position leaves it at the best one before:
//! outside of loops in which its value is not used, so that the loop pays nothing. Distances to the
//! next use follow the loops for the same reason: a use behind the end of a loop is far away, and a
//! use earlier in the loop comes again with the next iteration.

use super::event::Event;
use super::intervals::{Need, Piece};
use super::position::Pos;
use super::scan::Scan;
use crate::entity::Entity;
use crate::mach::VReg;
use crate::watch::Watch;

/// Added to a distance for each end of a loop that is crossed.
const OUTSIDE: u64 = 400_000;

/// The distance to the next use where there is none.
const NEVER: u64 = u64::MAX / 8;

impl<W: Watch<Event>> Scan<'_, W> {
    /// The best position at which to cut `piece` so that it ends by `limit`; none if it would have
    /// to end where it begins.
    ///
    /// Where a register is lost in the middle of an instruction, a value that the instruction reads
    /// from it is cut right there and is in its slot from then on; others are cut in the gap before,
    /// where they can still be moved to another register.
    pub(super) fn cut(&self, piece: Piece, limit: Pos) -> Option<Pos> {
        let mut latest = limit;
        if !limit.is_movable() {
            let i = limit.inst();
            let uses = self.intervals.uses_from(piece, Pos::early(i)).iter();
            let read_before = uses.clone().next().is_some_and(|u| u.pos < limit);
            let definition = self.definitions[self.intervals[piece].vreg.index()];
            let made_here = definition.inst() == i && !definition.is_gap();
            let used_after = uses.take_while(|u| u.pos.inst() == i).any(|u| {
                u.pos >= limit
                    && (u.need == Need::Register || (made_here && u.need == Need::Anywhere))
            });
            if !read_before || used_after {
                latest = Pos::early(i);
            }
        }
        (latest > self.intervals[piece].start).then(|| self.lift(piece, latest))
    }

    /// Where a piece is cut that loses its register to another at `now`.
    pub(super) fn eviction_point(&self, piece: Piece, now: Pos) -> Pos {
        let definition = self.definitions[self.intervals[piece].vreg.index()];
        let being_made = now == Pos::late(now.inst()) && definition == Pos::early(now.inst());
        self.lift(piece, if being_made { definition } else { now })
    }

    /// The beginning of the outermost loop around `pos` that does not use the value, if the piece
    /// has begun before that.
    fn lift(&self, piece: Piece, pos: Pos) -> Pos {
        let vreg = self.intervals[piece].vreg;
        let block = self.layout.block_of(pos.inst().min(self.layout.len() - 1));
        let mut best = pos;
        for extent in self.layout.loops.around(block) {
            let uses = self.intervals.uses_of(vreg);
            let inside = uses[uses.partition_point(|u| u.pos < extent.start)..].first();
            if extent.start <= self.intervals[piece].start
                || inside.is_some_and(|u| u.pos < extent.end)
                || !self.intervals.covers(piece, extent.start)
            {
                break;
            }
            best = best.min(extent.start);
        }
        best
    }

    /// How far `next`, the next use in linear order, is from `now`, following loops.
    pub(super) fn next_use(&self, vreg: VReg, next: Option<Pos>, now: Pos) -> u64 {
        let uses = self.intervals.uses_of(vreg);
        let definition = self.definitions[vreg.index()];
        let mut outside = 0;
        for extent in self.layout.loops.around(self.layout.block_of(now.inst())) {
            if let Some(next) = next
                && next < extent.end
            {
                return outside + u64::from(next.since(now));
            }
            let first = uses[uses.partition_point(|u| u.pos < extent.start)..].first();
            if let Some(first) = first
                && first.pos < now
                && !extent.contains(definition)
            {
                let around = extent.end.since(now) + first.pos.since(extent.start);
                return outside + u64::from(around);
            }
            outside += OUTSIDE;
        }
        match next {
            Some(next) if next >= self.layout.cold_from && now < self.layout.cold_from => {
                outside + OUTSIDE + u64::from(next.since(now))
            }
            Some(next) => outside + u64::from(next.since(now)),
            None => NEVER,
        }
    }
}
