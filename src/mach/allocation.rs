//! What the register allocator answers.

use super::{PReg, VBlock};
use crate::buffer::Buffer;
use crate::pooled;

crate::entity! {
    /// A spill slot: 8 bytes of the frame.
    SpillSlot = "slot";
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// In a register.
    Reg(PReg),
    /// In a spill slot.
    Slot(SpillSlot),
}

impl Place {
    /// The register, if it is one.
    pub fn reg(self) -> Option<PReg> {
        match self {
            Place::Reg(reg) => Some(reg),
            Place::Slot(_) => None,
        }
    }
}

/// Before or after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Before it.
    Before,
    /// After it.
    After,
}

/// A point between instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgPoint {
    /// The instruction's index in `VCode::insts`.
    pub inst: u32,
    /// Which side of it.
    pub side: Side,
}

/// Code that the allocator adds. Edits at one point are executed in order; parallel copies have
/// been put in sequence already, and at most one side of a move is a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// `to` becomes a copy of `from`; both belong to one class (a slot fits either).
    Move {
        /// Written.
        to: Place,
        /// Read.
        from: Place,
    },
    /// The rematerialisable instruction at this index is executed again into `to`.
    Remat {
        /// Written.
        to: PReg,
        /// The index of the instruction in `VCode::insts`.
        inst: u32,
    },
}

/// Moves on an edge. The emitter puts them before the terminator where the source has one
/// successor, at the target's beginning where that has one predecessor, else in a block of their
/// own (a split critical edge).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeMoves {
    /// The edge's source.
    pub from: VBlock,
    /// Which of its successors.
    pub succ: u32,
    /// The moves in sequence; never empty.
    pub edits: Vec<Edit>,
}

pooled! { Place, (ProgPoint, Edit) }

/// The allocation of a function.
#[derive(Clone, Debug, Default)]
pub struct Allocation {
    /// The places of all operands, instruction after instruction in `operands()` order.
    pub places: Buffer<Place>,
    /// Where each instruction's places begin in `places`; one more entry than instructions.
    pub starts: Buffer<u32>,
    /// Edits, sorted by point.
    pub edits: Buffer<(ProgPoint, Edit)>,
    /// Edits on edges, sorted by source and successor; only edges that need any.
    pub edge_moves: Vec<EdgeMoves>,
    /// How many spill slots there are.
    pub num_slots: u32,
    /// For each safepoint (instruction index, ascending): the slots that hold references which are
    /// live across it.
    pub stack_maps: Vec<(u32, Vec<SpillSlot>)>,
}

impl Allocation {
    /// The places of an instruction's operands.
    #[inline]
    pub fn of(&self, inst: usize) -> &[Place] {
        &self.places[self.starts[inst] as usize..self.starts[inst + 1] as usize]
    }
}
