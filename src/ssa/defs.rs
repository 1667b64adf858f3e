//! Which value a variable has at the end of a block: the `currentDef` of Braun et al.
//!
//! Most pairs of variable and block have no entry, so neither a table of blocks for each variable
//! nor the converse stays linear in memory; this is one open-addressed table (linear probing, never
//! iterated over, so nothing depends on its order).

use crate::buffer::Buffer;
use crate::ir::{Block, Value, Variable};
use crate::pooled;

/// The table.
#[derive(Debug)]
pub(super) struct Defs {
    slots: Buffer<Slot>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    variable: Variable,
    block: Block,
    value: Value,
}

pooled! { Slot }

const FREE: Slot =
    Slot { variable: Variable(u32::MAX), block: Block(u32::MAX), value: Value(u32::MAX) };

impl Defs {
    pub(super) fn with_capacity(entries: usize) -> Self {
        Self { slots: Buffer::filled(FREE, (entries * 2).next_power_of_two().max(64)), len: 0 }
    }

    #[inline]
    pub(super) fn get(&self, variable: Variable, block: Block) -> Option<Value> {
        let slot = self.slots[self.find(variable, block)];
        (slot.variable == variable).then_some(slot.value)
    }

    #[inline]
    pub(super) fn set(&mut self, variable: Variable, block: Block, value: Value) {
        let at = self.find(variable, block);
        let new = self.slots[at].variable != variable;
        self.slots[at] = Slot { variable, block, value };
        if new {
            self.len += 1;
            if self.len * 4 > self.slots.len() * 3 {
                self.grow();
            }
        }
    }

    /// The slot of this pair, or the free slot where it belongs.
    #[inline]
    fn find(&self, variable: Variable, block: Block) -> usize {
        let key = u64::from(variable.0) << 32 | u64::from(block.0);
        let shift = 64 - self.slots.len().trailing_zeros();
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize;
        loop {
            let slot = &self.slots[at];
            if slot.variable == FREE.variable || (slot.variable == variable && slot.block == block)
            {
                return at;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    fn grow(&mut self) {
        let doubled = Buffer::filled(FREE, self.slots.len() * 2);
        for &slot in &std::mem::replace(&mut self.slots, doubled) {
            if slot.variable != FREE.variable {
                let at = self.find(slot.variable, slot.block);
                self.slots[at] = slot;
            }
        }
    }
}
