//! Executable memory: written first, executable afterwards, never both (W^X). It is mapped from a
//! file without a name, so that the runtime can map it once more to interrupt what runs there.

use memmap2::{Mmap, MmapMut};
use std::io;
use toyjit_runtime::code_memory;

/// Code in memory that can be executed and no longer written. Unmapped when dropped.
#[derive(Debug)]
pub struct CodeMemory {
    map: Mmap,
}

/// Memory for code that is still being written.
#[derive(Debug)]
pub struct CodeBuffer {
    map: MmapMut,
}

impl CodeBuffer {
    /// Zeroed memory for `len` bytes of code (`len` > 0).
    pub fn new(len: usize) -> io::Result<Self> {
        let file = code_memory(len)?;
        // SAFETY: nobody else has the file, and it is not made shorter.
        Ok(Self { map: unsafe { MmapMut::map_mut(&file)? } })
    }

    /// Where the code will be.
    pub fn address(&self) -> u64 {
        self.map.as_ptr() as u64
    }

    /// The bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }

    /// Makes the memory executable and no longer writable.
    pub fn seal(self) -> io::Result<CodeMemory> {
        Ok(CodeMemory { map: self.map.make_exec()? })
    }
}

impl CodeMemory {
    /// Where the code begins.
    pub fn address(&self) -> u64 {
        self.map.as_ptr() as u64
    }

    /// How many bytes it takes.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Never: code memory holds at least a byte.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }
}
