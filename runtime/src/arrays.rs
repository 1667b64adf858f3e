//! The builtins on arrays.
//!
//! Elements past an array's length in a buffer of references are always 0, so that the collector
//! needs to know only the buffer.

use crate::heap::Zeroing;
use crate::layout::{ARRAY_DATA, ARRAY_LEN, BUFFER_CAPACITY, BUFFER_ELEMENTS, Slot, buffer_size};
use crate::object::{load_element, store_element};
use crate::raw;
use crate::runtime::Runtime;
use crate::strings::slice_len;
use crate::trap::{Stop, Trap};

/// Bytes of the elements that the first push makes room for.
const FIRST_ELEMENTS: u64 = 32;

impl Runtime {
    /// A new array of `len` elements, all 0; traps where `len` is negative.
    pub fn array_new(&mut self, slot: Slot, len: i64) -> Result<u64, Stop> {
        if len < 0 {
            return Err(Trap::Length(len).into());
        }
        self.alloc_array(slot, len as u64)
    }

    /// `[value; count]`
    pub fn array_fill(&mut self, slot: Slot, value: u64, count: i64) -> Result<u64, Stop> {
        let root = self.roots.push(if slot == Slot::Ref { value } else { 0 });
        let array = self.array_new(slot, count);
        let value = if slot == Slot::Ref { self.roots.get(root) } else { value };
        self.roots.truncate(root);
        let array = array?;
        if value == 0 || count == 0 {
            return Ok(array);
        }
        // SAFETY: the new array has `count` elements of this kind.
        unsafe {
            let data = raw::load(array + ARRAY_DATA);
            let elements = data + BUFFER_ELEMENTS;
            match slot {
                Slot::Bool | Slot::Byte => raw::fill(elements, value as u8, count as u64),
                Slot::Int | Slot::Float => self.fill(elements, count as u64, value)?,
                Slot::Ref => {
                    self.fill(elements, count as u64, value)?;
                    self.barrier(data);
                }
            }
        }
        Ok(array)
    }

    /// `push`
    #[inline]
    pub fn array_push(&mut self, array: u64, value: u64) -> Result<(), Stop> {
        let slot = self.array_slot(array);
        // SAFETY: an array, by the contract of the `object` module; the store is below the capacity.
        unsafe {
            let len = raw::load(array + ARRAY_LEN);
            let data = raw::load(array + ARRAY_DATA);
            let capacity = if data == 0 { 0 } else { raw::load(data + BUFFER_CAPACITY) };
            let (array, data, value) =
                if len < capacity { (array, data, value) } else { self.grow(array, slot, value)? };
            store_element(data + BUFFER_ELEMENTS, slot, len, value);
            raw::store(array + ARRAY_LEN, len + 1);
            if slot == Slot::Ref {
                self.barrier(data);
            }
        }
        Ok(())
    }

    /// Gives a full array a larger buffer. Answers the array, the buffer and the value to push, all
    /// of which may have moved.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, array: u64, slot: Slot, value: u64) -> Result<(u64, u64, u64), Stop> {
        let len = self.array_len(array);
        let capacity = (2 * len).max(FIRST_ELEMENTS >> slot.element_shift());
        if let Some(buffer) = self.grow_in_place(array, slot, capacity) {
            return Ok((array, buffer, value));
        }
        let root = self.roots.push(array);
        self.roots.push(if slot == Slot::Ref { value } else { 0 });
        let buffer = self.alloc_buffer(slot, capacity, Zeroing::No);
        let (array, moved) = (self.roots.get(root), self.roots.get(root + 1));
        self.roots.truncate(root);
        let buffer = buffer?;
        let used = len << slot.element_shift();
        // SAFETY: the new buffer is larger than the old one, which has `len` elements.
        unsafe {
            let old = raw::load(array + ARRAY_DATA);
            if len > 0 {
                self.copy(old + BUFFER_ELEMENTS, buffer + BUFFER_ELEMENTS, used)?;
            }
            if slot == Slot::Ref {
                let rest = (capacity << slot.element_shift()) - used;
                raw::fill(buffer + BUFFER_ELEMENTS + used, 0, rest);
            }
            raw::store(array + ARRAY_DATA, buffer);
        }
        self.barrier(array);
        Ok((array, buffer, if slot == Slot::Ref { moved } else { value }))
    }

    /// Makes a very large buffer larger where it is, or moves its pages. Only its array refers to a
    /// buffer, so that nobody has its old address.
    fn grow_in_place(&mut self, array: u64, slot: Slot, capacity: u64) -> Option<u64> {
        let size = buffer_size(slot, capacity)?;
        // SAFETY: an array, by the contract of the `object` module; its buffer is its own.
        unsafe {
            let old = raw::load(array + ARRAY_DATA);
            if old == 0 {
                return None;
            }
            let old_size = buffer_size(slot, raw::load(old + BUFFER_CAPACITY))?;
            let buffer = self.heap.grow(old, old_size, size)?;
            raw::store(buffer + BUFFER_CAPACITY, capacity);
            raw::store(array + ARRAY_DATA, buffer);
            self.barrier(array);
            Some(buffer)
        }
    }

    /// `pop`
    #[inline]
    pub fn array_pop(&mut self, array: u64) -> Result<u64, Stop> {
        let slot = self.array_slot(array);
        // SAFETY: an array, by the contract of the `object` module.
        unsafe {
            let len = raw::load(array + ARRAY_LEN);
            if len == 0 {
                return Err(Trap::Pop.into());
            }
            let elements = raw::load(array + ARRAY_DATA) + BUFFER_ELEMENTS;
            let value = load_element(elements, slot, len - 1);
            if slot == Slot::Ref {
                store_element(elements, slot, len - 1, 0);
            }
            raw::store(array + ARRAY_LEN, len - 1);
            Ok(value)
        }
    }

    /// `slice` of an array.
    pub fn array_slice(&mut self, array: u64, from: i64, to: i64) -> Result<u64, Stop> {
        let slot = self.array_slot(array);
        let count = slice_len(from, to, self.array_len(array))?;
        self.roots.push(array);
        let new = self.alloc_array(slot, count);
        let array = self.roots.pop();
        let new = new?;
        if count > 0 {
            let (skip, size) =
                ((from as u64) << slot.element_shift(), count << slot.element_shift());
            // SAFETY: the bounds were checked, and the new array has room.
            unsafe {
                let data = raw::load(new + ARRAY_DATA);
                let old = raw::load(array + ARRAY_DATA) + BUFFER_ELEMENTS + skip;
                self.copy(old, data + BUFFER_ELEMENTS, size)?;
                if slot == Slot::Ref {
                    self.barrier(data);
                }
            }
        }
        Ok(new)
    }
}
