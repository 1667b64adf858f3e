//! What every target must say: registers, operands, instructions over virtual registers, what the
//! allocator answers, and the code that comes out.
//!
//! Selection makes a [`VCode`]; the allocator (`regalloc`, which sees no target) answers with an
//! [`Allocation`]; the target's emitter turns both into a [`CompiledFunction`]. No machine flags
//! appear here: an instruction that compares and branches, or compares and sets, is one instruction.

pub mod allocation;
pub mod compiled;
pub mod copies;
pub mod vcode;

pub use allocation::{Allocation, EdgeMoves, Edit, Place, ProgPoint, Side, SpillSlot};
pub use compiled::{
    CallSite, CompiledFunction, JumpTable, Origin, PollSite, RelocTarget, Relocation,
};
pub use copies::Copies;
pub use vcode::{
    Constraint, Operand, Role, VBlock, VBlockData, VCode, VEdge, VInst, VReg, VRegData,
};

use crate::ir;

/// A class of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegClass {
    /// Integers, bools and references.
    Int,
    /// Floats.
    Float,
}

/// A physical register: 0 to 15 are of class `Int`, 16 to 31 of class `Float`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PReg(pub u8);

impl PReg {
    /// How many there are in all.
    pub const COUNT: usize = 32;

    /// Its class.
    #[inline]
    pub fn class(self) -> RegClass {
        if self.0 < 16 { RegClass::Int } else { RegClass::Float }
    }

    /// Its number in the machine's encoding.
    #[inline]
    pub fn encoding(self) -> u8 {
        self.0 & 15
    }
}

/// A set of physical registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RegSet(pub u32);

impl RegSet {
    /// No register.
    pub const EMPTY: RegSet = RegSet(0);

    /// Whether `reg` is in it.
    #[inline]
    pub const fn contains(self, reg: PReg) -> bool {
        self.0 & (1 << reg.0) != 0
    }

    /// With `reg` added.
    #[must_use]
    pub const fn with(self, reg: PReg) -> RegSet {
        RegSet(self.0 | 1 << reg.0)
    }

    /// Without `reg`.
    #[must_use]
    pub const fn without(self, reg: PReg) -> RegSet {
        RegSet(self.0 & !(1 << reg.0))
    }

    /// What is in either.
    #[must_use]
    pub const fn union(self, other: RegSet) -> RegSet {
        RegSet(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn intersection(self, other: RegSet) -> RegSet {
        RegSet(self.0 & other.0)
    }

    /// Whether it is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many registers it holds.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Its registers, lowest number first.
    pub fn iter(self) -> impl Iterator<Item = PReg> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let reg = (left != 0).then(|| PReg(left.trailing_zeros() as u8));
            left &= left.wrapping_sub(1);
            reg
        })
    }
}

impl FromIterator<PReg> for RegSet {
    fn from_iter<I: IntoIterator<Item = PReg>>(iter: I) -> Self {
        iter.into_iter().fold(RegSet::EMPTY, RegSet::with)
    }
}

/// The registers that an allocation may use.
#[derive(Clone, Debug)]
pub struct RegisterFile {
    /// Allocatable registers, in order of preference within each class.
    pub allocatable: Vec<PReg>,
    /// Those of them that a call preserves; using one costs a save in the prologue.
    pub callee_saved: RegSet,
    /// One register of each class (`Int`, `Float`) that is never allocated: the allocator uses it
    /// in its own moves (cycles, memory to memory).
    pub scratch: [PReg; 2],
    /// The name of a register, for dumps.
    pub name: fn(PReg) -> &'static str,
}

/// A target: how IR in SSA form becomes machine code.
pub trait Target {
    /// Its machine instructions.
    type Inst: VInst;

    /// Chooses instructions.
    fn select(&self, module: &ir::Module, function: ir::FuncRef) -> VCode<Self::Inst>;

    /// The registers to allocate.
    fn registers(&self) -> &RegisterFile;

    /// Makes the bytes.
    fn emit(&self, code: &VCode<Self::Inst>, allocation: &Allocation) -> CompiledFunction;
}
