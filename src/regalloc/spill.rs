//! Sends pieces to their spill slots, and says when they come back.
//!
//! A spilled piece stays in its slot until an instruction needs it in a register; what follows is
//! split off and looks for a register again, in the gap before that instruction, or, if that is in
//! a loop that the spilled piece does not reach into, before the loop. A use that can do with the
//! slot brings a value back only to the front of a loop.

use super::event::{Event, Spill};
use super::intervals::{Home, Need, Piece};
use super::position::Pos;
use super::scan::Scan;
use crate::watch::Watch;

impl<W: Watch<Event>> Scan<'_, W> {
    /// The piece is in its slot from its beginning until it has to be in a register.
    pub(super) fn spill(&mut self, piece: Piece, why: Spill) {
        match self.reload_point(piece) {
            Some(at) if at <= self.intervals[piece].start => return self.enqueue(piece),
            Some(at) => {
                let rest = self.split(piece, at);
                self.enqueue(rest);
            }
            None => {}
        }
        self.intervals[piece].home = Home::Spilled;
        self.watch.see(|| Event::Spilled(piece.0, why));
    }

    fn reload_point(&self, piece: Piece) -> Option<Pos> {
        let start = self.intervals[piece].start;
        for u in self.intervals.uses(piece) {
            let range = self.intervals.range_after(piece, u.pos)?;
            let latest = Pos::early(u.pos.inst()).max(range.start);
            let lifted = self.before_loops(piece, latest);
            if u.need == Need::Register || (start < lifted && lifted < latest) {
                return Some(lifted);
            }
        }
        None
    }

    /// The beginning of the outermost loop around `pos` that the piece has not reached where it
    /// begins.
    fn before_loops(&self, piece: Piece, pos: Pos) -> Pos {
        let block = self.layout.block_of(pos.inst());
        let mut best = pos;
        if self.options.spill_everything || self.layout.blocks[block].cold {
            return best;
        }
        for extent in self.layout.loops.around(block) {
            let begun = self.intervals[piece].start;
            if extent.start <= begun || !self.intervals.covers(piece, extent.start) {
                break;
            }
            best = best.min(extent.start);
        }
        best
    }
}
