//! The nursery: where all but large objects begin, by bumping a pointer.
//!
//! The pointer and its limit stand in the context, since machine code allocates inline. A collection
//! moves what lives into the old generation and starts again at the bottom. The nursery's address
//! space is reserved at the first allocation; how much of it is used grows with the part of it that
//! survives.

use crate::context::Context;
use crate::memory::{LARGE_PAGE, Mapping};
use crate::raw;

/// Bytes used at first.
const FIRST_SIZE: u64 = 1 << 20;
/// Bytes used at most.
const LAST_SIZE: u64 = 12 << 20;
/// Bytes used where nearly all survives.
const SMALL_SIZE: u64 = 512 << 10;
/// How many collections nearly all must survive for that.
const MANY: u32 = 12;
/// No nursery is smaller.
const LEAST_SIZE: u64 = 64 << 10;
/// What freed memory is filled with under stress.
pub(crate) const POISON: u8 = 0xD5;

/// The nursery's memory.
#[derive(Debug)]
pub(crate) struct Nursery {
    memory: Option<Mapping>,
    /// The first address; 0 before the first allocation.
    pub(crate) start: u64,
    /// Bytes that may be used.
    pub(crate) size: u64,
    /// Where the first object since the latest collection is.
    bottom: u64,
    last_size: u64,
    /// How many of the latest collections nearly all survived.
    steady: u32,
    stress: bool,
}

impl Nursery {
    /// A nursery for a heap with this limit.
    pub(crate) fn new(heap_limit: Option<u64>, stress: bool) -> Self {
        let most = heap_limit.map_or(LAST_SIZE, |limit| limit / 4);
        let last_size = most.clamp(LEAST_SIZE, LAST_SIZE) & !4095;
        let size = last_size.min(FIRST_SIZE);
        Self { memory: None, start: 0, size, bottom: 0, last_size, steady: 0, stress }
    }

    /// Reserves the memory if that was not done yet; `false` where there is none.
    pub(crate) fn prepare(&mut self, context: *mut Context) -> bool {
        if self.memory.is_none() {
            let Some(memory) = Mapping::reserve_aligned(self.last_size as usize, LARGE_PAGE) else {
                return false;
            };
            self.start = memory.start() as u64;
            self.bottom = self.start;
            self.memory = Some(memory);
            // SAFETY: as in `used`.
            unsafe { (*context).nursery_next = self.start };
            self.restart(context);
        }
        true
    }

    /// Bytes that could be in use, from the first address.
    pub(crate) fn span(&self) -> u64 {
        self.memory.as_ref().map_or(0, |memory| memory.len() as u64)
    }

    /// Bytes allocated since the latest restart.
    pub(crate) fn used(&self, context: *mut Context) -> u64 {
        // SAFETY: the context lives as long as the runtime that the nursery belongs to.
        unsafe { (*context).nursery_next - self.bottom }
    }

    /// An object's memory, if there is room for it.
    #[inline(always)]
    pub(crate) fn bump(&self, context: *mut Context, size: u64) -> Option<u64> {
        // SAFETY: as in `used`.
        unsafe { bump(&mut (*context).nursery_next, (*context).nursery_end, size) }
    }

    /// The same up to the real end: under stress inline allocation finds no room at all.
    pub(crate) fn bump_to_end(&self, context: *mut Context, size: u64) -> Option<u64> {
        // SAFETY: as in `used`.
        unsafe { bump(&mut (*context).nursery_next, self.start + self.size, size) }
    }

    /// Starts again, after everything that lives has been moved out. Under stress the next objects
    /// come behind the last ones as long as there is room, so that a stale reference finds poison
    /// rather than a new object.
    pub(crate) fn restart(&mut self, context: *mut Context) {
        let end = self.start + self.size;
        // SAFETY: as in `used`; the memory is the nursery's own, and nothing in it is in use.
        unsafe {
            let next = (*context).nursery_next;
            if self.stress || cfg!(debug_assertions) {
                raw::fill(self.bottom, POISON, next - self.bottom);
            }
            if self.stress {
                self.bottom =
                    if end.saturating_sub(next) < self.size / 4 { self.start } else { next };
            }
            (*context).nursery_end = if self.stress { 0 } else { end };
            (*context).nursery_next = self.bottom;
        }
    }

    /// Uses twice as much where a collection cost as much as if more than a tenth had survived. Where
    /// nearly all survived many times, a large nursery only makes pauses longer: then it is small until
    /// less survives. To be called before `restart`.
    pub(crate) fn adapt(&mut self, survived: u64, cost: u64) {
        let all_survive = survived > self.size / 4 * 3;
        self.steady = if all_survive { self.steady + 1 } else { 0 };
        let small = self.last_size.min(SMALL_SIZE);
        if self.steady > MANY {
            self.size = small;
        } else if self.size == small {
            self.size = self.last_size.min(FIRST_SIZE);
        } else if cost > self.size / 10 && self.size < self.last_size {
            if self.size == FIRST_SIZE
                && let Some(memory) = &self.memory
            {
                memory.prefer_large_pages();
            }
            self.size = (self.size * 2).min(self.last_size);
        }
    }
}

#[inline(always)]
fn bump(next: &mut u64, end: u64, size: u64) -> Option<u64> {
    let at = *next;
    let after = at + size;
    (after <= end).then(|| {
        *next = after;
        at
    })
}
