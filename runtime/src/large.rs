//! The large objects: each has memory of its own, never moves, and is freed by itself.
//!
//! Very large ones are mappings, so that their memory is zeroed for nothing, goes back at once, and
//! can grow without being copied. A large object is young until a collection reaches it, so that
//! stores that fill a new one need no barrier.

use crate::layout::{LARGE, LOG, MARK, YOUNG};
use crate::memory::Mapping;
use crate::raw::{load, store};

/// Objects of more bytes are large.
pub(crate) const LARGE_SIZE: u64 = 8 << 10;
/// Objects of more bytes are mappings.
const MAPPED_SIZE: u64 = 1 << 20;
/// Bytes before the object: its number in the list it stands in.
const PREFIX: u64 = 16;

/// Where an object's memory comes from.
#[derive(Debug)]
enum Memory {
    Mapped(Mapping),
    Allocated(*mut libc::c_void),
}

#[derive(Debug)]
struct LargeObject {
    memory: Memory,
    /// Of the object.
    size: u64,
}

impl LargeObject {
    /// `None` where there is no memory. All of it is 0 where `zeroed`.
    fn new(size: u64, zeroed: bool) -> Option<Self> {
        let whole = usize::try_from(size + PREFIX).ok()?;
        let memory = if size >= MAPPED_SIZE {
            Memory::Mapped(Mapping::reserve(whole)?)
        } else {
            // SAFETY: no precondition.
            let start =
                unsafe { if zeroed { libc::calloc(1, whole) } else { libc::malloc(whole) } };
            if start.is_null() {
                return None;
            }
            start.expose_provenance();
            Memory::Allocated(start)
        };
        Some(Self { memory, size })
    }

    fn address(&self) -> u64 {
        PREFIX
            + match &self.memory {
                Memory::Mapped(mapping) => mapping.start() as u64,
                Memory::Allocated(start) => start.addr() as u64,
            }
    }

    fn header(&self) -> u64 {
        // SAFETY: the object is this value's own.
        unsafe { load(self.address()) }
    }

    fn set_number(&self, number: usize) {
        // SAFETY: the prefix is this value's own.
        unsafe { store(self.address() - PREFIX, number as u64) };
    }
}

impl Drop for LargeObject {
    fn drop(&mut self) {
        if let Memory::Allocated(start) = self.memory {
            // SAFETY: it came from `malloc` or `calloc`, and nobody may use it any longer.
            unsafe { libc::free(start) };
        }
    }
}

/// The large object space.
#[derive(Debug, Default)]
pub(crate) struct Large {
    old: Vec<LargeObject>,
    young: Vec<LargeObject>,
    /// Bytes of the objects that are not young.
    pub(crate) old_bytes: u64,
    /// Bytes of the young objects.
    pub(crate) young_bytes: u64,
    /// All young objects are at addresses from here …
    pub(crate) young_low: u64,
    /// … and fewer than so many bytes further.
    pub(crate) young_span: u64,
}

impl Large {
    /// A new object, its header written; `None` where there is no memory.
    pub(crate) fn allocate(&mut self, size: u64, header: u64, zeroed: bool) -> Option<u64> {
        self.young.try_reserve(1).ok()?;
        let object = LargeObject::new(size, zeroed)?;
        let at = object.address();
        object.set_number(self.young.len());
        // SAFETY: the object was had just now.
        unsafe { store(at, header | LARGE | YOUNG) };
        self.include_young(at);
        self.young.push(object);
        self.young_bytes += size;
        Some(at)
    }

    /// Makes an object larger without copying it, though it may move; what comes behind its old bytes
    /// is 0. The answer is where it is now, or `None` where that is not to be had.
    ///
    /// # Safety
    /// `object` is a live object of this space, and its one reference is the caller's.
    pub(crate) unsafe fn grow(&mut self, object: u64, size: u64) -> Option<u64> {
        // SAFETY: told above; the prefix holds the number.
        let (young, number) =
            unsafe { (load(object) & YOUNG != 0, load(object - PREFIX) as usize) };
        let (list, bytes) = match young {
            true => (&mut self.young, &mut self.young_bytes),
            false => (&mut self.old, &mut self.old_bytes),
        };
        let entry = &mut list[number];
        let Memory::Mapped(mapping) = &mut entry.memory else { return None };
        if !mapping.resize(usize::try_from(size + PREFIX).ok()?) {
            return None;
        }
        *bytes += size - entry.size;
        entry.size = size;
        let at = entry.address();
        if young {
            self.include_young(at);
        }
        Some(at)
    }

    /// Notes that there is a young object at `at`.
    fn include_young(&mut self, at: u64) {
        if self.young_span == 0 {
            (self.young_low, self.young_span) = (at, 1);
        } else {
            let high = (self.young_low + self.young_span).max(at + 1);
            self.young_low = self.young_low.min(at);
            self.young_span = high - self.young_low;
        }
    }

    /// After a collection of the nursery: keeps the young objects that were reached (they are not
    /// young any longer), frees the others.
    pub(crate) fn sweep_young(&mut self) {
        for object in std::mem::take(&mut self.young) {
            if object.header() & YOUNG == 0 {
                object.set_number(self.old.len());
                self.old_bytes += object.size;
                self.old.push(object);
            }
        }
        (self.young_bytes, self.young_low, self.young_span) = (0, 0, 0);
    }

    /// After a collection of everything: frees what was not marked in this sense.
    pub(crate) fn sweep(&mut self, sense: u64) {
        self.sweep_young();
        let before = self.old_bytes;
        self.old.retain(|object| object.header() & MARK == sense);
        self.old_bytes = 0;
        for (number, object) in self.old.iter().enumerate() {
            object.set_number(number);
            self.old_bytes += object.size;
        }
        if before - self.old_bytes > TRIMMED {
            trim();
        }
    }
}

/// When so many bytes were freed, the allocator is asked to give memory back.
const TRIMMED: u64 = 4 << 20;

/// Has the C allocator give its free memory back to the operating system.
fn trim() {
    #[cfg(all(target_env = "gnu", not(miri)))]
    // SAFETY: no precondition.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The header of a large object that a collection reached.
pub(crate) fn reached(header: u64, sense: u64) -> u64 {
    header & !(YOUNG | MARK) | LOG | sense
}
