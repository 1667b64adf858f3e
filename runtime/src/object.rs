//! Objects as Rust code sees them: making them, reading and writing their parts.
//!
//! Contract of every method here: an argument called `object`, `string`, `array` … is the address of
//! a live object of that kind, of this runtime, not nil. Addresses read before an allocation are
//! stale after it, except what stands in `Runtime::roots`, globals, and the frames of machine code.

use crate::heap::Zeroing;
use crate::layout::*;
use crate::raw;
use crate::runtime::Runtime;
use crate::trap::{Stop, Trap};
use crate::types::{self, TypeInfo, array_type, buffer_type, element_slot};

impl Runtime {
    /// A new string of `len` bytes, all 0, to be filled in with [`Runtime::fill_str`].
    pub fn alloc_str(&mut self, len: u64) -> Result<u64, Stop> {
        let size = str_size(len).ok_or(Trap::Memory)?;
        let at = self.allocate(size, u64::from(types::STR), Zeroing::Zeroed)?;
        // SAFETY: the object was had just now.
        unsafe { raw::store(at + STR_LEN, len) };
        Ok(at)
    }

    /// A new string with these bytes.
    pub fn new_str(&mut self, bytes: &[u8]) -> Result<u64, Stop> {
        let string = self.uninit_str(bytes.len() as u64)?;
        self.fill_str(string, 0, bytes);
        Ok(string)
    }

    /// A new string whose bytes are still to be written, before the next allocation.
    pub(crate) fn uninit_str(&mut self, len: u64) -> Result<u64, Stop> {
        let size = str_size(len).ok_or(Trap::Memory)?;
        let at = self.allocate(size, u64::from(types::STR), Zeroing::No)?;
        // SAFETY: the object was had just now.
        unsafe { raw::store(at + STR_LEN, len) };
        Ok(at)
    }

    /// Writes bytes into a string that nobody has seen yet.
    pub fn fill_str(&mut self, string: u64, from: u64, bytes: &[u8]) {
        assert!(from + bytes.len() as u64 <= self.str_len(string));
        // SAFETY: a string, by the contract of this module, and large enough.
        unsafe {
            raw::bytes_mut(string + STR_BYTES + from, bytes.len() as u64).copy_from_slice(bytes);
        }
    }

    /// A new array of `len` elements, all 0 (nil, false).
    pub fn alloc_array(&mut self, slot: Slot, len: u64) -> Result<u64, Stop> {
        let data = if len == 0 { 0 } else { self.alloc_buffer(slot, len, Zeroing::Zeroed)? };
        self.roots.push(data);
        let array = self.allocate(ARRAY_SIZE, u64::from(array_type(slot)), Zeroing::No);
        let data = self.roots.pop();
        let array = array?;
        // SAFETY: the object was had just now.
        unsafe {
            raw::store(array + ARRAY_LEN, len);
            raw::store(array + ARRAY_DATA, data);
        }
        Ok(array)
    }

    /// A new buffer.
    pub(crate) fn alloc_buffer(
        &mut self,
        slot: Slot,
        capacity: u64,
        zeroing: Zeroing,
    ) -> Result<u64, Stop> {
        let size = buffer_size(slot, capacity).ok_or(Trap::Memory)?;
        let buffer = self.allocate(size, u64::from(buffer_type(slot)), zeroing)?;
        // SAFETY: the object was had just now.
        unsafe { raw::store(buffer + BUFFER_CAPACITY, capacity) };
        Ok(buffer)
    }

    /// A new struct with these fields.
    pub fn alloc_struct(&mut self, type_id: u32, fields: &[u64]) -> Result<u64, Stop> {
        self.alloc_fixed(type_id, STRUCT_FIELDS, fields)
    }

    /// A new function value with this code word and these captures.
    pub fn alloc_closure(
        &mut self,
        type_id: u32,
        code: u64,
        captures: &[u64],
    ) -> Result<u64, Stop> {
        let at = self.alloc_fixed(type_id, CLOSURE_CAPTURES, captures)?;
        self.set_code(at, code);
        Ok(at)
    }

    fn alloc_fixed(&mut self, type_id: u32, start: u64, words: &[u64]) -> Result<u64, Stop> {
        let size = self.types.fixed_size(type_id);
        assert!(start + WORD * words.len() as u64 == size, "a value for each field");
        let header = u64::from(type_id);
        let at = match self.heap.bump(self.context.pointer(), size) {
            Some(at) => {
                // SAFETY: the object was had just now.
                unsafe { raw::store(at + HEADER, header) };
                at
            }
            None => return self.alloc_fixed_slow(type_id, start, words),
        };
        // SAFETY: the object was had just now and has a word for each value.
        unsafe { raw::words_mut(at + start, words.len() as u64).copy_from_slice(words) };
        Ok(at)
    }

    /// The same where a collection may come first: the references among `words` are protected.
    #[cold]
    fn alloc_fixed_slow(&mut self, type_id: u32, start: u64, words: &[u64]) -> Result<u64, Stop> {
        let size = self.types.fixed_size(type_id);
        let mark = self.roots.len();
        for offset in self.types.references(type_id) {
            self.roots.push(words[((u64::from(*offset) - start) / WORD) as usize]);
        }
        let at = self.allocate(size, u64::from(type_id), Zeroing::No);
        if let Ok(at) = at {
            // SAFETY: the object was had just now and has a word for each value.
            unsafe {
                raw::words_mut(at + start, words.len() as u64).copy_from_slice(words);
                for (i, offset) in self.types.references(type_id).iter().enumerate() {
                    raw::store(at + u64::from(*offset), self.roots.get(mark + i));
                }
            }
        }
        self.roots.truncate(mark);
        at
    }

    /// A static string with these bytes.
    pub fn static_str(&mut self, bytes: &[u8]) -> u64 {
        self.statics.string(bytes)
    }

    /// A static function value without captures; its code word is set later.
    pub fn static_closure(&mut self, type_id: u32) -> u64 {
        debug_assert!(
            matches!(self.types.info(type_id), TypeInfo::Closure { captures, .. } if captures.is_empty())
        );
        self.statics.closure(type_id)
    }

    /// The type of an object.
    #[inline]
    pub fn type_of(&self, object: u64) -> u32 {
        // SAFETY: an object, by the contract of this module.
        type_id(unsafe { raw::load(object + HEADER) })
    }

    /// How many bytes a string has.
    #[inline]
    pub fn str_len(&self, string: u64) -> u64 {
        debug_assert_eq!(self.type_of(string), types::STR);
        // SAFETY: a string, by the contract of this module.
        unsafe { raw::load(string + STR_LEN) }
    }

    /// The bytes of a string. They stay where they are until the next allocation.
    #[inline]
    pub fn str_bytes(&self, string: u64) -> &[u8] {
        // SAFETY: a string, by the contract of this module; allocating takes `self` mutably.
        unsafe { raw::bytes(string + STR_BYTES, self.str_len(string)) }
    }

    /// How many elements an array has.
    #[inline]
    pub fn array_len(&self, array: u64) -> u64 {
        // SAFETY: an array, by the contract of this module.
        unsafe { raw::load(array + ARRAY_LEN) }
    }

    /// The kind of an array's elements.
    #[inline]
    pub fn array_slot(&self, array: u64) -> Slot {
        element_slot(self.type_of(array))
    }

    /// An element of an array, or the index trap.
    #[inline]
    pub fn array_get(&self, array: u64, index: i64) -> Result<u64, Trap> {
        let len = self.array_len(array);
        if index as u64 >= len {
            return Err(Trap::Index { index, len });
        }
        // SAFETY: an array, by the contract of this module, and the index is below its length.
        Ok(unsafe {
            let elements = raw::load(array + ARRAY_DATA) + BUFFER_ELEMENTS;
            load_element(elements, self.array_slot(array), index as u64)
        })
    }

    /// Sets an element of an array, or gives the index trap.
    #[inline]
    pub fn array_set(&mut self, array: u64, index: i64, value: u64) -> Result<(), Trap> {
        let len = self.array_len(array);
        if index as u64 >= len {
            return Err(Trap::Index { index, len });
        }
        let slot = self.array_slot(array);
        // SAFETY: an array, by the contract of this module, and the index is below its length.
        unsafe {
            let data = raw::load(array + ARRAY_DATA);
            store_element(data + BUFFER_ELEMENTS, slot, index as u64, value);
            if slot == Slot::Ref {
                self.barrier(data);
            }
        }
        Ok(())
    }

    /// A field of a struct.
    #[inline]
    pub fn field(&self, object: u64, index: u32) -> u64 {
        debug_assert!(
            STRUCT_FIELDS + WORD * u64::from(index) < self.types.fixed_size(self.type_of(object))
        );
        // SAFETY: a struct with such a field, by the contract of this module.
        unsafe { raw::load(object + STRUCT_FIELDS + WORD * u64::from(index)) }
    }

    /// Sets a field of a struct.
    #[inline]
    pub fn set_field(&mut self, object: u64, index: u32, value: u64) {
        debug_assert!(
            STRUCT_FIELDS + WORD * u64::from(index) < self.types.fixed_size(self.type_of(object))
        );
        // SAFETY: a struct with such a field, by the contract of this module.
        unsafe { raw::store(object + STRUCT_FIELDS + WORD * u64::from(index), value) };
        self.barrier(object);
    }

    /// The code word of a function value.
    #[inline]
    pub fn code_of(&self, closure: u64) -> u64 {
        // SAFETY: a function value, by the contract of this module.
        unsafe { raw::load(closure + CLOSURE_CODE) }
    }

    /// Sets the code word of a function value.
    pub fn set_code(&mut self, closure: u64, code: u64) {
        // SAFETY: a function value, by the contract of this module.
        unsafe { raw::store(closure + CLOSURE_CODE, code) };
    }

    /// A capture of a function value.
    #[inline]
    pub fn capture(&self, closure: u64, index: u32) -> u64 {
        debug_assert!(
            CLOSURE_CAPTURES + WORD * u64::from(index)
                < self.types.fixed_size(self.type_of(closure))
        );
        // SAFETY: a function value with such a capture, by the contract of this module.
        unsafe { raw::load(closure + CLOSURE_CAPTURES + WORD * u64::from(index)) }
    }

    /// To be called after a reference was stored into `object`.
    #[inline]
    pub fn barrier(&mut self, object: u64) {
        // SAFETY: an object, by the contract of this module.
        if unsafe { raw::load(object + HEADER) } & LOG != 0 {
            self.heap.remember(object);
        }
    }
}

/// The element at an index as a word.
///
/// # Safety
/// The elements of a buffer of this kind begin at `elements`, and there is one with this index.
#[inline]
pub(crate) unsafe fn load_element(elements: u64, slot: Slot, index: u64) -> u64 {
    let at = elements + (index << slot.element_shift());
    // SAFETY: told above.
    unsafe {
        match slot {
            Slot::Bool | Slot::Byte => u64::from(raw::load_byte(at)),
            Slot::Int | Slot::Float | Slot::Ref => raw::load(at),
        }
    }
}

/// Stores an element without a barrier.
///
/// # Safety
/// As for [`load_element`].
#[inline]
pub(crate) unsafe fn store_element(elements: u64, slot: Slot, index: u64, value: u64) {
    let at = elements + (index << slot.element_shift());
    // SAFETY: told above.
    unsafe {
        match slot {
            Slot::Bool | Slot::Byte => raw::store_byte(at, value as u8),
            Slot::Int | Slot::Float | Slot::Ref => raw::store(at, value),
        }
    }
}
