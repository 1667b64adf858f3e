//! Address space from the operating system: mappings that are touched only as they are used.

use std::ptr;

/// Private, zeroed, readable and writable memory; given back when dropped.
pub(crate) struct Mapping {
    start: *mut u8,
    len: usize,
}

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

impl Mapping {
    /// `len` bytes (rounded up to pages) of zeroed memory, or `None` where there is none.
    pub(crate) fn reserve(len: usize) -> Option<Self> {
        let len = len.checked_next_multiple_of(PAGE)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let flags = if cfg!(miri) { flags } else { flags | libc::MAP_NORESERVE };
        // SAFETY: a new private mapping touches nothing that exists.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        start.expose_provenance();
        Some(Self { start: start.cast(), len })
    }

    /// The first byte.
    #[inline]
    pub(crate) fn pointer(&self) -> *mut u8 {
        self.start
    }

    /// The address of the first byte.
    #[inline]
    pub(crate) fn start(&self) -> usize {
        self.start.addr()
    }

    /// How many bytes there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Makes the first `len` bytes fault when touched; whether that was done.
    pub(crate) fn guard(&self, len: usize) -> bool {
        // SAFETY: the pages are this mapping's own.
        unsafe { libc::mprotect(self.start.cast(), len.min(self.len), libc::PROT_NONE) == 0 }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nobody may use it any longer.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}
