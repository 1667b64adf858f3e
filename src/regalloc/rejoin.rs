//! Ends a piece where paths come that have not passed it.
//!
//! What a call or a lack of registers does to a value in one arm of a branch is nothing to the paths
//! around that arm. So a piece that is split off in the middle of a block ends at the next block, in
//! linear order, that is reached from before the cut: an arm behind it, or where arms meet. There
//! the value stays in the register that it has on the other paths if it can, and the arm pays
//! for bringing it back; otherwise the linear order alone would have all paths pay.

use super::bounds::Bounds;
use super::event::{Choice, Event, Spill};
use super::intervals::{Home, Interval, Piece};
use super::position::Pos;
use super::scan::Scan;
use crate::entity::Entity;
use crate::mach::{PReg, VBlock, VReg};
use crate::watch::Watch;

/// So many blocks behind a cut are looked at, and so many pieces of a value.
const LIMIT: usize = 64;

impl<W: Watch<Event>> Scan<'_, W> {
    /// Cuts a piece in two, or in three: the second, which is the answer, ends where paths come that
    /// have not passed it.
    pub(super) fn split_off(&mut self, piece: Piece, at: Pos) -> Piece {
        let rest = self.split(piece, at);
        if let Some(joined) = self.joined(rest) {
            let back = self.split(rest, joined);
            self.intervals[back].rejoins = true;
            self.enqueue(back);
        }
        rest
    }

    fn joined(&self, piece: Piece) -> Option<Pos> {
        let Interval { start, end, .. } = self.intervals[piece];
        if start.is_gap() || self.options.spill_everything {
            return None;
        }
        let block = self.layout.block_of(start.inst());
        let cold = self.layout.blocks[block].cold;
        let behind = (block.index() + 1..self.layout.blocks.len()).take(LIMIT).map(VBlock::new);
        let mut lived = behind.take_while(|&b| self.layout.block_start(b) < end);
        let found = lived.find(|&b| {
            let data = &self.layout.blocks[b];
            data.cold == cold
                && data.preds.iter().any(|&pred| pred < block)
                && self.intervals.covers(piece, self.layout.block_start(b))
        });
        found.map(|b| self.layout.block_start(b))
    }

    /// Places a piece that begins where paths come that have not passed the piece before it.
    pub(super) fn rejoin(&mut self, piece: Piece, regs: &[PReg], bounds: &Bounds) {
        let Interval { vreg, start, .. } = self.intervals[piece];
        let preds = &self.layout.blocks[self.layout.block_of(start.inst())].preds;
        let home = |pred| self.home_at(vreg, self.layout.block_last(pred));
        let around = preds.iter().min().and_then(|&pred| home(pred));
        if let Some(Home::Reg(reg)) = around {
            let agreed = preds.iter().all(|&pred| home(pred) == around);
            let free = bounds.free[reg.0 as usize];
            let long = free >= self.enough(piece) || free >= self.goal(piece, None);
            let choice = Choice::Free(free.number(), 0.0);
            if (long || (agreed && free > start)) && self.assign(piece, reg, free, None, choice)
                || self.take_free(piece, regs, bounds, None)
            {
                return;
            }
        }
        self.spill(piece, Spill::UsedLater);
    }

    /// Where a value is at a position that has been passed.
    fn home_at(&self, vreg: VReg, pos: Pos) -> Option<Home> {
        let mut pieces = self.intervals.pieces_of(vreg).take(LIMIT);
        let found = pieces.find(|&piece| pos < self.intervals[piece].end)?;
        Some(self.intervals[found].home)
    }
}
