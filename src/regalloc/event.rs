//! What happens during an allocation.
//!
//! A piece is named by its number: first there is one for each virtual register that is used, in
//! their order, then those that are split off. A position is an instruction's index times four, plus
//! 0 in the gap before it, 1 early, 2 late, 3 after it.

use super::intervals::{Intervals, LiveRange, Piece};
pub use super::parallel_move::Why;
use super::passages::Site;
use super::position::Pos;
use crate::mach::{Edit, PReg, Place, ProgPoint, RegClass, SpillSlot, VBlock, VReg};

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A virtual register is live in these stretches.
    Interval {
        /// The piece that is all of its life.
        piece: u32,
        /// The virtual register.
        vreg: VReg,
        /// The stretches, half open.
        ranges: Vec<(u32, u32)>,
        /// The positions at which it is used, and whether in a register.
        uses: Vec<(u32, bool)>,
    },
    /// A piece begins: it is its turn.
    Taken(u32),
    /// A piece gets a register.
    Assigned(u32, PReg, Choice),
    /// A piece ends at the first position; the next piece begins at the second.
    Split(u32, u32, u32, u32),
    /// A piece gets no register.
    Spilled(u32, Spill),
    /// A piece loses a register to the piece whose turn it is: from this position on, or all of it.
    Evicted(u32, PReg, Option<u32>),
    /// All pieces have homes; what of a virtual register is spilled is in this slot.
    Slot(VReg, SpillSlot),
    /// Copies that happen at once, in a gap or on an edge.
    Copies(Where, Vec<(Place, Origin)>),
    /// The next step of doing these copies one after the other.
    Done(Edit, Why),
}

/// Why this register.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// It is free: until when, and the weight of the moves that it saves.
    Free(u32, f32),
    /// Its value is needed later: by how much, in instructions executed about.
    Taken(u64),
    /// No other register will do here.
    Last,
}

/// Why no register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spill {
    /// The piece begins in the middle of an instruction, where it can't be moved to one.
    Unmovable,
    /// All registers have values that are used sooner.
    UsedLater,
    /// Everything is to be in its slot.
    Asked,
    /// It lost its register.
    Evicted,
}

/// Where copies happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// Before or after an instruction.
    Point(ProgPoint),
    /// On the edge with this number of a block.
    Edge(VBlock, u32),
}

/// What a copy reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A place.
    Place(Place),
    /// Nothing: the constant of this instruction is made again.
    Made(u32, RegClass),
}

impl From<Site> for Where {
    fn from(site: Site) -> Where {
        match site {
            Site::Point(point) => Where::Point(point),
            Site::Edge(from, succ) => Where::Edge(from, succ),
        }
    }
}

impl Event {
    pub(super) fn interval(intervals: &Intervals, piece: Piece) -> Event {
        let range = |LiveRange { start, end }| (start.number(), end.number());
        let uses = intervals.uses(piece).iter();
        Event::Interval {
            piece: piece.0,
            vreg: intervals[piece].vreg,
            ranges: intervals.ranges(piece).map(range).collect(),
            uses: uses
                .map(|u| (u.pos.number(), u.need == super::intervals::Need::Register))
                .collect(),
        }
    }

    pub(super) fn split(intervals: &Intervals, piece: Piece, rest: Piece) -> Event {
        let number = |pos: Pos| pos.number();
        Event::Split(piece.0, number(intervals[piece].end), rest.0, number(intervals[rest].start))
    }
}
