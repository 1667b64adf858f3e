//! Linking: the compiled functions of a module are laid side by side, their relocations filled in,
//! the whole made executable, and the runtime told of every call site.

use super::memory::{CodeBuffer, CodeMemory};
use crate::entity::Arena;
use crate::ir::load::Loaded;
use crate::ir::{FuncRef, Module};
use crate::mach::{CompiledFunction, RelocTarget};
use std::fmt;
use toyjit_runtime::Runtime;
use toyjit_runtime::stack::{Arguments, Results};
use toyjit_runtime::trap::Stopped;
use toyjit_runtime::{CodeRange, Interruptible, Site};

/// Functions begin at multiples of this many bytes.
const ALIGN: usize = 64;

/// Why a module could not be linked.
#[derive(Debug)]
pub enum LinkError {
    /// The operating system gave no executable memory.
    Memory(std::io::Error),
    /// The code of one module passes 2 GiB.
    TooLarge,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::Memory(error) => write!(f, "no executable memory: {error}"),
            LinkError::TooLarge => f.write_str("the machine code of the program passes 2 GiB"),
        }
    }
}

impl std::error::Error for LinkError {}

/// A module's code, ready to run in the runtime it was linked for.
#[derive(Debug)]
pub struct Linked {
    /// Dropped before the memory.
    _interruptible: Interruptible,
    memory: CodeMemory,
    entries: Arena<FuncRef, u64>,
}

impl Linked {
    /// The address of a function.
    pub fn entry(&self, function: FuncRef) -> u64 {
        self.entries[function]
    }

    /// How many bytes of code memory the module takes.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Never: a module has at least one function.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// Calls a function that takes no arguments (or whose arguments are `arguments`).
    pub fn call(
        &self,
        runtime: &mut Runtime,
        function: FuncRef,
        arguments: &Arguments,
    ) -> Result<Results, Box<Stopped>> {
        // SAFETY: the address is that of a function which `link` placed in executable memory that
        // lives as long as `self`, relocated and with its call sites in the runtime's code map; the
        // compiler made it for the conventions of the runtime.
        unsafe { runtime.enter(self.entries[function], arguments) }
    }

    /// Takes the module's code out of a runtime's code map; it must not run afterwards.
    pub fn unlink(&self, runtime: &mut Runtime) {
        for &entry in self.entries.values() {
            runtime.code.remove(entry);
        }
    }
}

/// Lays out `functions` (one for each function of the module) and the target's shared `stubs`.
pub fn link(
    module: &Module,
    functions: &[CompiledFunction],
    stubs: &[CompiledFunction],
    loaded: &Loaded,
    runtime: &mut Runtime,
) -> Result<Linked, LinkError> {
    let mut len = 0usize;
    let mut place = |function: &CompiledFunction| {
        let at = len.next_multiple_of(ALIGN);
        len = at + function.bytes.len();
        at
    };
    let stub_offsets: Vec<usize> = stubs.iter().map(&mut place).collect();
    let offsets: Vec<usize> = functions.iter().map(&mut place).collect();
    if len > i32::MAX as usize {
        return Err(LinkError::TooLarge);
    }
    let mut buffer = CodeBuffer::new(len.max(1)).map_err(LinkError::Memory)?;
    let base = buffer.address();
    let bytes = buffer.bytes_mut();
    bytes.fill(INT3);
    let placed = stubs.iter().zip(&stub_offsets).chain(functions.iter().zip(&offsets));
    for (function, &at) in placed {
        bytes[at..at + function.bytes.len()].copy_from_slice(&function.bytes);
        for relocation in &function.relocations {
            let hole = at + relocation.offset as usize;
            let target = match relocation.target {
                RelocTarget::Function(f) => base + offsets[f.0 as usize] as u64,
                RelocTarget::Stub(n) => base + stub_offsets[n as usize] as u64,
                RelocTarget::Str(s) => loaded.strings[s],
                RelocTarget::Closure(f) => loaded.closures[f],
            };
            if relocation.relative {
                let distance = target.wrapping_sub(base + hole as u64 + 4) as i32;
                bytes[hole..hole + 4].copy_from_slice(&distance.to_le_bytes());
            } else {
                bytes[hole..hole + 8].copy_from_slice(&target.to_le_bytes());
            }
        }
    }
    let memory = buffer.seal().map_err(LinkError::Memory)?;
    debug_assert_eq!(memory.address(), base);
    let entries: Arena<FuncRef, u64> = offsets.iter().map(|&at| base + at as u64).collect();
    for (function, code) in module.functions.keys().zip(functions) {
        let start = entries[function];
        let sites = code
            .sites
            .iter()
            .map(|site| Site {
                address: start + u64::from(site.offset),
                loc: site.loc.0,
                refs: site.slots.clone(),
            })
            .collect();
        let range = CodeRange {
            start,
            end: start + u64::from(code.code_len),
            function: loaded.first_function + function.0,
            frame_size: code.frame_size,
        };
        runtime.code.add(range, sites);
        if loaded.closures[function] != 0 {
            runtime.set_code(loaded.closures[function], start);
        }
    }
    let polls = functions.iter().zip(&offsets).flat_map(|(function, &at)| {
        let at = at as u32;
        function.polls.iter().map(move |poll| (at + poll.offset, at + poll.target))
    });
    // SAFETY: the polls are in this code, whose memory outlives the answer; the compiler made them
    // for it.
    let interruptible = unsafe { runtime.interrupter().add_code(base, memory.len(), polls) };
    Ok(Linked { _interruptible: interruptible, memory, entries })
}

/// The padding between functions: executing it faults.
const INT3: u8 = 0xCC;
