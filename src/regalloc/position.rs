//! Positions: where in the linear order of instructions something happens.
//!
//! Each instruction has four positions. In the *gap* before it the allocator's moves are made, all
//! at once: they read what the places hold at the gap and write what they shall hold from *early*
//! on. Uses are read early, definitions are written *late*, and *after* is where definitions in
//! fixed registers are moved to where they live. A stretch of positions is half open.

use std::fmt;

/// A position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pos(u32);

impl Pos {
    /// After everything.
    pub const MAX: Pos = Pos(u32::MAX);
    /// Before everything.
    pub const MIN: Pos = Pos(0);

    /// The gap before an instruction.
    #[inline]
    pub const fn gap(inst: u32) -> Pos {
        Pos(inst * 4)
    }

    /// Where an instruction reads.
    #[inline]
    pub const fn early(inst: u32) -> Pos {
        Pos(inst * 4 + 1)
    }

    /// Where an instruction writes.
    #[inline]
    pub const fn late(inst: u32) -> Pos {
        Pos(inst * 4 + 2)
    }

    /// Where an instruction is done.
    #[inline]
    pub const fn after(inst: u32) -> Pos {
        Pos(inst * 4 + 3)
    }

    /// The instruction's index times four, and the moment.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The instruction that it belongs to.
    #[inline]
    pub const fn inst(self) -> u32 {
        self.0 / 4
    }

    /// The next position.
    #[inline]
    pub const fn next(self) -> Pos {
        Pos(self.0 + 1)
    }

    /// Whether a value may come to a new place here: by a move in the gap just before, or, at a
    /// gap, which is where a stretch begins only at the beginning of a block, on the block's edges.
    #[inline]
    pub const fn is_movable(self) -> bool {
        self.0 % 4 <= 1
    }

    /// Whether this is a gap.
    #[inline]
    pub const fn is_gap(self) -> bool {
        self.0.is_multiple_of(4)
    }

    /// How far it is from `earlier`.
    #[inline]
    pub const fn since(self, earlier: Pos) -> u32 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = ["g", "e", "l", "a"][(self.0 % 4) as usize];
        write!(f, "{}{moment}", self.inst())
    }
}

impl fmt::Debug for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
