//! Gives spill slots to the virtual registers that need one.
//!
//! Each has one slot for all its spilled pieces. Slots are coloured by a linear scan over the
//! stretches in which their content matters; a slot that is free is used again, best of all that
//! of a related value, since the move between the two then vanishes.
//!
//! Input: (virtual register, stretch). Output: the slot of each, and how many there are.

use super::hints::Hints;
use super::intervals::LiveRange;
use super::position::Pos;
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::mach::{SpillSlot, VReg};
use crate::pooled;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use toyjit_runtime::fault::{self, Fault};

pooled! { Option<SpillSlot> }

/// The slots of all virtual registers.
#[derive(Debug)]
pub struct Slots {
    of: Buffer<Option<SpillSlot>>,
    /// Until when each slot is taken.
    taken: Buffer<Pos>,
}

impl Slots {
    /// Colours the stretches.
    pub fn new(vregs: usize, mut stretches: Buffer<(VReg, LiveRange)>, hints: &Hints) -> Self {
        stretches.sort_unstable_by_key(|&(vreg, stretch)| (stretch.start, vreg));
        let mut slots = Self { of: Buffer::filled(None, vregs), taken: Buffer::new() };
        let mut ends: BinaryHeap<Reverse<(Pos, SpillSlot)>> = BinaryHeap::new();
        let mut free: Buffer<SpillSlot> = Buffer::new();
        for &(vreg, LiveRange { start, end }) in &*stretches {
            while let Some(&Reverse((ended, slot))) = ends.peek()
                && ended <= start
            {
                ends.pop();
                if slots.taken[slot.index()] == ended {
                    free.push(slot);
                }
            }
            let is_free = |slot: &SpillSlot| slots.taken[slot.index()] <= start;
            let slot = hints
                .related(vreg)
                .filter_map(|other| slots.of[other.index()])
                .find(is_free)
                .or_else(|| std::iter::from_fn(|| free.pop()).find(is_free))
                .unwrap_or_else(|| {
                    slots.taken.push(Pos::MIN);
                    SpillSlot::new(slots.taken.len() - 1)
                });
            let end = if fault::is(Fault::SlotsShared) { start } else { end };
            slots.taken[slot.index()] = end;
            ends.push(Reverse((end, slot)));
            slots.of[vreg.index()] = Some(slot);
        }
        slots
    }

    /// The slot of a virtual register.
    pub fn of(&self, vreg: VReg) -> Option<SpillSlot> {
        self.of[vreg.index()]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.taken.len()
    }
}
