//! Loads and stores by address: the only places where a word becomes a pointer.
//!
//! Toy values are plain words, so an object's address has lost its provenance; it is taken up again
//! here (`with_exposed_provenance`), for memory whose pointers were exposed when it was had.

use std::ptr;

/// The word at `address`.
///
/// # Safety
/// `address` is 8-aligned and lies in an object or in other memory of the runtime.
#[inline(always)]
pub(crate) unsafe fn load(address: u64) -> u64 {
    // SAFETY: told above.
    unsafe { ptr::with_exposed_provenance::<u64>(address as usize).read() }
}

/// Stores a word at `address`.
///
/// # Safety
/// As for [`load`], and the memory may be written.
#[inline(always)]
pub(crate) unsafe fn store(address: u64, value: u64) {
    // SAFETY: told above.
    unsafe { ptr::with_exposed_provenance_mut::<u64>(address as usize).write(value) }
}

/// The byte at `address`.
///
/// # Safety
/// `address` lies in an object or in other memory of the runtime.
#[inline(always)]
pub(crate) unsafe fn load_byte(address: u64) -> u8 {
    // SAFETY: told above.
    unsafe { ptr::with_exposed_provenance::<u8>(address as usize).read() }
}

/// Stores a byte at `address`.
///
/// # Safety
/// As for [`load_byte`], and the memory may be written.
#[inline(always)]
pub(crate) unsafe fn store_byte(address: u64, value: u8) {
    // SAFETY: told above.
    unsafe { ptr::with_exposed_provenance_mut::<u8>(address as usize).write(value) }
}

/// Copies `len` bytes between places that do not overlap.
///
/// # Safety
/// Both places lie in memory of the runtime, and `to` may be written.
#[inline(always)]
pub(crate) unsafe fn copy(from: u64, to: u64, len: u64) {
    let from = ptr::with_exposed_provenance::<u8>(from as usize);
    let to = ptr::with_exposed_provenance_mut::<u8>(to as usize);
    // SAFETY: told above.
    unsafe { ptr::copy_nonoverlapping(from, to, len as usize) }
}

/// Copies `len` bytes between places that may overlap, as they were before.
///
/// # Safety
/// As for [`copy`].
#[inline(always)]
pub(crate) unsafe fn copy_overlapping(from: u64, to: u64, len: u64) {
    let from = ptr::with_exposed_provenance::<u8>(from as usize);
    let to = ptr::with_exposed_provenance_mut::<u8>(to as usize);
    // SAFETY: told above.
    unsafe { ptr::copy(from, to, len as usize) }
}

/// Copies `len` bytes, a multiple of 8 and mostly few, between 8-aligned places that do not overlap.
///
/// # Safety
/// As for [`copy`].
#[inline(always)]
pub(crate) unsafe fn copy_words(from: u64, to: u64, len: u64) {
    if len > 64 {
        // SAFETY: told above.
        return unsafe { copy(from, to, len) };
    }
    for offset in (0..len).step_by(8) {
        // SAFETY: told above.
        unsafe { store(to + offset, load(from + offset)) };
    }
}

/// Fills `len` bytes.
///
/// # Safety
/// The place lies in memory of the runtime that may be written.
#[inline(always)]
pub(crate) unsafe fn fill(address: u64, byte: u8, len: u64) {
    // SAFETY: told above.
    unsafe {
        ptr::with_exposed_provenance_mut::<u8>(address as usize).write_bytes(byte, len as usize)
    }
}

/// The bytes at `address`.
///
/// # Safety
/// The place lies in memory of the runtime, has been written, and is neither written nor given back
/// while the answer is in use.
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(address: u64, len: u64) -> &'a [u8] {
    let start = ptr::with_exposed_provenance::<u8>(address as usize);
    // SAFETY: told above.
    unsafe { std::slice::from_raw_parts(start, len as usize) }
}

/// The bytes at `address`, to be written.
///
/// # Safety
/// As for [`bytes`], and nobody else reads or writes there while the answer is in use.
#[inline(always)]
pub(crate) unsafe fn bytes_mut<'a>(address: u64, len: u64) -> &'a mut [u8] {
    let start = ptr::with_exposed_provenance_mut::<u8>(address as usize);
    // SAFETY: told above.
    unsafe { std::slice::from_raw_parts_mut(start, len as usize) }
}

/// The words at `address`, to be written.
///
/// # Safety
/// As for [`bytes_mut`], and `address` is 8-aligned.
#[inline(always)]
pub(crate) unsafe fn words_mut<'a>(address: u64, len: u64) -> &'a mut [u64] {
    let start = ptr::with_exposed_provenance_mut::<u64>(address as usize);
    // SAFETY: told above.
    unsafe { std::slice::from_raw_parts_mut(start, len as usize) }
}
