//! The context: the words that machine code reaches through `r15`.
//!
//! One mapping of address space holds the [`Context`] and, behind it, the storage of the globals,
//! so that global `i` is `[r15 + GLOBALS + 8 * i]`. It never moves, and memory is touched only as
//! far as there are globals.

use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::entry::{ENTRIES, ENTRY_COUNT};
use crate::memory::Mapping;
use crate::runtime::Runtime;

/// What machine code reads and writes. All offsets are constants of this module.
#[repr(C, align(64))]
pub struct Context {
    /// Where the next object of the nursery goes.
    pub nursery_next: u64,
    /// Where inline allocation must stop: an object fits where `next + size <= end`.
    pub nursery_end: u64,
    /// The lowest stack pointer that a function may go on with; above all where the run shall end.
    pub stack_limit: AtomicU64,
    /// The stack pointer of Toy code at its latest call into the runtime, before the call.
    pub last_sp: u64,
    /// The stack pointer of the host inside `enter`.
    pub host_sp: u64,
    /// Not 0 where the run shall end: a number of [`Interrupt`](crate::Interrupt).
    pub interrupt: AtomicU64,
    /// The operands of a check of a region that machine code could not settle.
    pub region: u64,
    /// The index that goes with it.
    pub region_index: u64,
    /// How many units of fuel are left.
    pub fuel: u64,
    /// The runtime; set while Toy code runs.
    pub runtime: *mut Runtime,
    /// Addresses of the entry points.
    pub entries: [u64; ENTRY_COUNT],
}

/// Offset of [`Context::nursery_next`].
pub const NURSERY_NEXT: u64 = offset_of!(Context, nursery_next) as u64;
/// Offset of [`Context::nursery_end`].
pub const NURSERY_END: u64 = offset_of!(Context, nursery_end) as u64;
/// Offset of [`Context::stack_limit`].
pub const STACK_LIMIT: u64 = offset_of!(Context, stack_limit) as u64;
/// Offset of [`Context::last_sp`].
pub const LAST_SP: u64 = offset_of!(Context, last_sp) as u64;
/// Offset of [`Context::host_sp`].
pub const HOST_SP: u64 = offset_of!(Context, host_sp) as u64;
/// Offset of [`Context::interrupt`].
pub const INTERRUPT: u64 = offset_of!(Context, interrupt) as u64;
/// Offset of [`Context::region`].
pub const REGION: u64 = offset_of!(Context, region) as u64;
/// Offset of [`Context::region_index`].
pub const REGION_INDEX: u64 = offset_of!(Context, region_index) as u64;
/// Offset of [`Context::fuel`].
pub const FUEL: u64 = offset_of!(Context, fuel) as u64;
/// Offset of the table of entry points, 8 bytes each, in the order of `Rt`.
pub const ENTRY_TABLE: u64 = offset_of!(Context, entries) as u64;
/// Offset of the globals, 8 bytes each.
pub const GLOBALS: u64 = size_of::<Context>() as u64;
/// How many globals there can be.
pub const MAX_GLOBALS: usize = 1 << 20;

/// The context's memory; shared with the handles that interrupt a run.
pub(crate) struct ContextMemory(Mapping);

// SAFETY: other threads see the memory only through `interrupt` and `stack_limit`, which are atomic.
unsafe impl Send for ContextMemory {}
// SAFETY: the same.
unsafe impl Sync for ContextMemory {}

impl ContextMemory {
    /// A context with the table of entry points filled in; `None` without address space.
    pub(crate) fn new() -> Option<Arc<Self>> {
        let memory = Mapping::reserve(size_of::<Context>() + 8 * MAX_GLOBALS)?;
        let entries = std::array::from_fn(|i| (ENTRIES[i].address)());
        let context = Context {
            nursery_next: 0,
            nursery_end: 0,
            stack_limit: AtomicU64::new(0),
            last_sp: 0,
            host_sp: 0,
            interrupt: AtomicU64::new(0),
            region: 0,
            region_index: 0,
            fuel: u64::MAX,
            runtime: std::ptr::null_mut(),
            entries,
        };
        // SAFETY: the mapping is large enough, aligned to pages, and nobody else's.
        unsafe { memory.pointer().cast::<Context>().write(context) };
        Some(Arc::new(Self(memory)))
    }

    /// Where the context is.
    #[inline]
    pub(crate) fn pointer(&self) -> *mut Context {
        self.0.pointer().cast()
    }
}
