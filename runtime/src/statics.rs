//! Static objects: string literals and the function values of named functions.
//!
//! They lie outside the collected heap, never move, are never freed before the runtime, and never
//! refer to the heap.

use crate::layout::{
    CLOSURE_CAPTURES, CLOSURE_CODE, HEADER, IMMORTAL, STR_BYTES, STR_LEN, round_up,
};
use crate::raw;
use crate::types;

/// Words of a piece of the area.
const PIECE: usize = 512;

/// The area of the static objects.
#[derive(Debug, Default)]
pub(crate) struct Statics {
    pieces: Vec<*mut [u64]>,
    next: u64,
    end: u64,
}

impl Statics {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A string with these bytes.
    pub(crate) fn string(&mut self, bytes: &[u8]) -> u64 {
        let at = self.allocate(STR_BYTES + round_up(bytes.len() as u64));
        // SAFETY: the memory was had just now and is large enough.
        unsafe {
            raw::store(at + HEADER, u64::from(types::STR) | IMMORTAL);
            raw::store(at + STR_LEN, bytes.len() as u64);
            raw::bytes_mut(at + STR_BYTES, bytes.len() as u64).copy_from_slice(bytes);
        }
        at
    }

    /// A function value without captures, its code word still 0.
    pub(crate) fn closure(&mut self, type_id: u32) -> u64 {
        let at = self.allocate(CLOSURE_CAPTURES);
        // SAFETY: the memory was had just now and is large enough.
        unsafe {
            raw::store(at + HEADER, u64::from(type_id) | IMMORTAL);
            raw::store(at + CLOSURE_CODE, 0);
        }
        at
    }

    fn allocate(&mut self, size: u64) -> u64 {
        if self.end - self.next < size {
            let len = PIECE.max(size as usize / 8);
            let piece = Box::into_raw(vec![0u64; len].into_boxed_slice());
            self.next = piece.cast::<u64>().expose_provenance() as u64;
            self.end = self.next + 8 * len as u64;
            self.pieces.push(piece);
        }
        let at = self.next;
        self.next += size;
        at
    }
}

impl Drop for Statics {
    fn drop(&mut self) {
        for &piece in &self.pieces {
            // SAFETY: the piece came from `Box::into_raw`, and nobody may use it any longer.
            drop(unsafe { Box::from_raw(piece) });
        }
    }
}
