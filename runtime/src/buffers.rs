//! Buffers by themselves, for interpreters of code that keeps an array's buffer beside the array.

use crate::layout::{ARRAY_DATA, BUFFER_CAPACITY, BUFFER_ELEMENTS, Slot};
use crate::object::{load_element, store_element};
use crate::raw;
use crate::runtime::Runtime;
use crate::types::{TypeInfo, element_slot};

impl Runtime {
    /// The buffer of an array; 0 for one that never had elements.
    pub fn array_data(&self, array: u64) -> u64 {
        // SAFETY: an array, by the contract of the `object` module.
        unsafe { raw::load(array + ARRAY_DATA) }
    }

    /// An element of a buffer; none where there is no such buffer or element.
    pub fn buffer_get(&self, buffer: u64, index: i64) -> Option<u64> {
        let slot = self.element_at(buffer, index)?;
        // SAFETY: a buffer with room for this element.
        Some(unsafe { load_element(buffer + BUFFER_ELEMENTS, slot, index as u64) })
    }

    /// Sets an element of a buffer; none where there is no such buffer or element.
    pub fn buffer_set(&mut self, buffer: u64, index: i64, value: u64) -> Option<()> {
        let slot = self.element_at(buffer, index)?;
        // SAFETY: a buffer with room for this element.
        unsafe { store_element(buffer + BUFFER_ELEMENTS, slot, index as u64, value) };
        if slot == Slot::Ref {
            self.barrier(buffer);
        }
        Some(())
    }

    /// The kind of a buffer's elements, where it is a buffer and has room for one at `index`.
    fn element_at(&self, buffer: u64, index: i64) -> Option<Slot> {
        if buffer == 0 || !matches!(self.types.info(self.type_of(buffer)), TypeInfo::Buffer(_)) {
            return None;
        }
        // SAFETY: it is a buffer.
        let capacity = unsafe { raw::load(buffer + BUFFER_CAPACITY) };
        ((index as u64) < capacity).then(|| element_slot(self.type_of(buffer)))
    }
}
