//! The heap.

use crate::context::Context;
use crate::raw;
use crate::runtime::Runtime;
use crate::trap::{Stop, Trap};

/// Whether new memory must be 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zeroing {
    /// All words behind the header are 0.
    Zeroed,
    /// The caller writes every word before the next allocation.
    No,
}

/// What the heap has done so far.
#[derive(Clone, Debug, Default)]
pub struct HeapStats {
    /// Bytes allocated since the start.
    pub allocated: u64,
    /// Collections of the nursery alone.
    pub minor: u64,
    /// Collections of everything.
    pub major: u64,
    /// Bytes that survived collections of the nursery.
    pub survived: u64,
    /// The length of each pause.
    pub pauses: Vec<std::time::Duration>,
}

#[derive(Debug)]
pub(crate) struct Heap {
    limit: u64,
}

impl Heap {
    pub(crate) fn new(limit: Option<u64>, _stress: bool) -> Self {
        Self { limit: limit.unwrap_or(4 << 30) }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) fn bump(&mut self, _: *mut Context, _size: u64) -> Option<u64> {
        None
    }

    pub(crate) fn remember(&mut self, _object: u64) {}
}

impl Runtime {
    /// Memory for an object of `size` bytes, its header written.
    pub(crate) fn allocate(&mut self, size: u64, header: u64, _: Zeroing) -> Result<u64, Stop> {
        if size > self.heap.limit {
            return Err(Trap::Memory.into());
        }
        // SAFETY: no precondition.
        let at = unsafe { libc::calloc(1, size as usize) };
        if at.is_null() {
            return Err(Trap::Memory.into());
        }
        let at = at.expose_provenance() as u64;
        // SAFETY: had just now.
        unsafe { raw::store(at, header) };
        Ok(at)
    }

    /// What the heap has done so far.
    pub fn heap_stats(&self) -> HeapStats {
        HeapStats::default()
    }
}
