//! The memory of Bril programs: regions that a program allocates and frees by itself.
//!
//! A region is a struct that the compiler declares, with these fields:
//!
//! ```text
//! ready | len | data (a Buffer) | offsets (a Buffer of ints, or nil) | map | map_at | beyond
//! ```
//!
//! A pointer is a region and an index, which may be anything. Regions of pointers keep the regions
//! in `data` and the indices in `offsets`. `map` is the last of the two, and `map_at` where in that
//! object its elements end. The first `ready` elements have all been stored, so that
//! one comparison says that an access is in bounds, to what was stored, in a region that was not
//! freed: freeing sets `ready` and `len` to 0, and the collector takes the memory when no pointer is
//! left. Where that
//! number does not say so, a store of the very next element adds one to it; all else is decided here.
//! Behind the elements of `map` there is a bit for each element that was stored out of this order,
//! the last of them before `beyond`, and `ready` grows as far as these are set.

use crate::heap::Zeroing;
use crate::layout::{HEADER, STRUCT_FIELDS, Slot, WORD, type_id};
use crate::raw;
use crate::runtime::Runtime;
use crate::trap::{Stop, Trap};
use crate::types::buffer_type;

/// Where a region's number of leading elements that were stored is.
pub const REGION_READY: u64 = STRUCT_FIELDS;
/// Where its number of elements is; 0 when it was freed.
pub const REGION_LEN: u64 = STRUCT_FIELDS + WORD;
/// Where its buffer is.
pub const REGION_DATA: u64 = STRUCT_FIELDS + 2 * WORD;
/// Where its buffer of indices is.
pub const REGION_OFFSETS: u64 = STRUCT_FIELDS + 3 * WORD;

/// Where the buffer with its map is.
pub const REGION_MAP: u64 = STRUCT_FIELDS + 4 * WORD;
/// Where the offset of the map in that buffer is.
pub const REGION_MAP_AT: u64 = STRUCT_FIELDS + 5 * WORD;

/// Where the number is that is above the indices of all elements stored out of order.
pub const REGION_BEYOND: u64 = STRUCT_FIELDS + 6 * WORD;

/// What a Bril program is told of a fault.
pub fn error(message: impl Into<String>) -> Stop {
    Trap::Panic(message.into().into_bytes()).into()
}

impl Runtime {
    /// The buffer of a new region of `len` elements, which counts as allocated.
    pub fn region_new(&mut self, slot: Slot, len: i64) -> Result<u64, Stop> {
        if len <= 0 {
            return Err(error(format!("cannot allocate {len} elements")));
        }
        let len = len as u64;
        let buffer = match slot {
            Slot::Ref => self.alloc_buffer(slot, len, Zeroing::Zeroed)?,
            _ => self.buffer_with_map(slot, len)?,
        };
        self.live_regions += 1;
        Ok(buffer)
    }

    /// The buffer for the indices of a new region of `len` pointers.
    pub fn region_offsets(&mut self, len: i64) -> Result<u64, Stop> {
        self.buffer_with_map(Slot::Int, len.max(1) as u64)
    }

    fn buffer_with_map(&mut self, slot: Slot, len: u64) -> Result<u64, Stop> {
        let map = len.div_ceil(64);
        let capacity = match slot.element_size() {
            1 => len.checked_next_multiple_of(WORD).and_then(|len| len.checked_add(WORD * map)),
            _ => len.checked_add(map),
        };
        let buffer = self.alloc_buffer(slot, capacity.ok_or(Trap::Memory)?, Zeroing::Zeroed)?;
        debug_assert_eq!(type_id(self.word(buffer, HEADER)), buffer_type(slot));
        Ok(buffer)
    }

    /// Notes that a region of `len` elements is freed through a pointer with this index. The caller
    /// sets its length to 0.
    pub fn region_free(&mut self, region: u64, index: i64, len: i64) -> Result<(), Stop> {
        if len == 0 {
            return Err(error("free of memory that was freed before"));
        }
        if index != 0 {
            return Err(error(format!("free of a pointer to element {index}, not to the first")));
        }
        self.live_regions -= 1;
        // SAFETY: a field of the region.
        unsafe { raw::store(region + REGION_READY, 0) };
        Ok(())
    }

    /// What a program that ends has not freed.
    pub fn region_leaks(&mut self) -> Result<(), Stop> {
        match self.live_regions {
            0 => Ok(()),
            1 => Err(error("memory that was allocated has not been freed at the end")),
            n => Err(error(format!("memory of {n} allocations has not been freed at the end"))),
        }
    }

    /// Whether an element may be loaded, where `ready` does not say so.
    pub fn region_read(&mut self, region: u64, index: i64) -> Result<(), Stop> {
        let (at, bit) = self.map_of(region, index)?;
        if self.word(at, 0) & bit == 0 {
            return Err(error(format!("element {index} is loaded, but was never stored")));
        }
        Ok(())
    }

    /// Notes that an element is stored, where `ready` does not say that it was.
    pub fn region_write(&mut self, region: u64, index: i64) -> Result<(), Stop> {
        let (at, bit) = self.map_of(region, index)?;
        let (mut ready, len) = (self.word(region, REGION_READY), self.word(region, REGION_LEN));
        let beyond = self.word(region, REGION_BEYOND).max(index as u64 + 1);
        // SAFETY: a word of the region's map, and a field of the region.
        unsafe {
            raw::store(at, self.word(at, 0) | bit);
            raw::store(region + REGION_BEYOND, beyond);
        }
        while ready < len {
            let (at, _) = self.map_of(region, ready as i64)?;
            let full = u64::from((self.word(at, 0) >> (ready % 64)).trailing_ones());
            ready += full;
            if full == 0 || ready % 64 != 0 {
                break;
            }
        }
        // SAFETY: a field of the region.
        unsafe { raw::store(region + REGION_READY, ready.min(len)) };
        Ok(())
    }

    /// The word and the bit of the map that are an element's.
    fn map_of(&self, region: u64, index: i64) -> Result<(u64, u64), Stop> {
        let len = self.word(region, REGION_LEN);
        if len == 0 {
            return Err(error("use of memory that was freed"));
        }
        if index as u64 >= len {
            return Err(error(format!("element {index} of a region of {len} elements")));
        }
        let map = self.word(region, REGION_MAP) + self.word(region, REGION_MAP_AT);
        Ok((map + WORD * (index as u64 / 64), 1 << (index % 64)))
    }

    fn word(&self, object: u64, offset: u64) -> u64 {
        // SAFETY: the callers name words of regions and their buffers, which are live objects.
        unsafe { raw::load(object + offset) }
    }
}
