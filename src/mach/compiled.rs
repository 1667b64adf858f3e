//! The machine code of one function, before it is linked.

use super::VBlock;
use crate::ir::{FuncRef, Loc};

/// What a relocation refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocTarget {
    /// The first byte of a function of the module.
    Function(FuncRef),
    /// A static string literal's address.
    Str(crate::ir::StrRef),
    /// The static closure object of a named function.
    Closure(FuncRef),
    /// A shared piece of code that the target provides once per module, by its number.
    Stub(u32),
}

/// A hole in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The offset of the hole.
    pub offset: u32,
    /// What goes there.
    pub target: RelocTarget,
    /// Whether it is a 4-byte distance from the hole's end (a call), else an 8-byte address.
    pub relative: bool,
}

/// A call that may collect, trap, or appear in a chain of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The offset of the return address.
    pub offset: u32,
    /// The source location.
    pub loc: Loc,
    /// Byte offsets from the stack pointer (at the call) of the slots that hold live references.
    pub slots: Vec<u32>,
}

/// A place where a run that shall end is made to leave a loop: an instruction of at least 5 bytes,
/// the first 5 inside an aligned word of 8 bytes. A jump can take their place at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollSite {
    /// The offset of the instruction.
    pub offset: u32,
    /// The offset of the code that ends the run.
    pub target: u32,
}

/// What a stretch of code belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A block: it runs when the block runs.
    Block(VBlock),
    /// One of the ways out of a block, by its number.
    Edge(VBlock, u32),
    /// Neither: what happens seldom, such as the way to a trap.
    Nowhere,
}

/// A table of jumps in the literal pool: distances of 4 bytes from the table's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpTable {
    /// Where it begins.
    pub offset: u32,
    /// How many distances it has.
    pub len: u32,
}

/// A function's code.
#[derive(Clone, Debug, Default)]
pub struct CompiledFunction {
    /// Instructions, then the literal pool; position independent but for the relocations.
    pub bytes: Vec<u8>,
    /// Where the instructions end and the pool begins.
    pub code_len: u32,
    /// Distance from the stack pointer in the body to the return address.
    pub frame_size: u32,
    /// Holes to fill when it is linked.
    pub relocations: Vec<Relocation>,
    /// Its call sites by ascending offset.
    pub sites: Vec<CallSite>,
    /// Its tables of jumps by ascending offset.
    pub tables: Vec<JumpTable>,
    /// Its polls.
    pub polls: Vec<PollSite>,
    /// Source locations: from this offset on, this location.
    pub source_map: Vec<(u32, Loc)>,
    /// From this offset on, what the code belongs to.
    pub origins: Vec<(u32, Origin)>,
}

impl CompiledFunction {
    /// Where a table of jumps leads.
    pub fn targets(&self, table: JumpTable) -> impl Iterator<Item = u32> + '_ {
        let bytes = self.bytes.get(table.offset as usize..).unwrap_or(&[]);
        let words = bytes.as_chunks::<4>().0.iter().take(table.len as usize);
        words.map(move |&word| table.offset.wrapping_add(u32::from_le_bytes(word)))
    }

    /// What the code at an offset belongs to.
    pub fn origin(&self, offset: u32) -> Origin {
        let number = self.origins.partition_point(|&(from, _)| from <= offset);
        number.checked_sub(1).map_or(Origin::Nowhere, |number| self.origins[number].1)
    }
}
