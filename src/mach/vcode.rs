//! Code over virtual registers, in SSA form with block parameters.

use super::{PReg, RegClass, RegSet};
use crate::entity::Arena;
use crate::ir::Loc;
use crate::pooled;
use smallvec::SmallVec;
use std::ops::Range;

crate::entity! {
    /// A virtual register: defined once (by an instruction or as a block parameter).
    VReg = "%";
    /// A block; block 0 is the entry; the order is the order of emission.
    VBlock = "bb";
}

/// What an instruction does with an operand, and when. Each instruction has two moments: *early*
/// (operands are read) and *late* (results are written).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read early: the register may be reused for a `Def`.
    Use,
    /// Read until late: shares no register with a `Def`.
    LateUse,
    /// Written late.
    Def,
    /// Written early: shares no register with any use.
    EarlyDef,
    /// A scratch register for the whole instruction (defined and dead here).
    Temp,
}

/// Where an operand may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// A register or a spill slot.
    Any,
    /// A register.
    Reg,
    /// This register.
    Fixed(PReg),
    /// (For a `Def`.) The place of the instruction's first operand, which is a `Use` with `Reg`.
    SameAsFirst,
}

/// One register operand of a machine instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The virtual register.
    pub vreg: VReg,
    /// What happens to it.
    pub role: Role,
    /// Where it may be.
    pub constraint: Constraint,
}

pooled! { Operand }

impl Operand {
    /// Read early, in a register.
    pub fn reg(vreg: VReg) -> Self {
        Self { vreg, role: Role::Use, constraint: Constraint::Reg }
    }

    /// Read early, in a register or slot.
    pub fn any(vreg: VReg) -> Self {
        Self { vreg, role: Role::Use, constraint: Constraint::Any }
    }

    /// Read early, in this register.
    pub fn fixed(vreg: VReg, reg: PReg) -> Self {
        Self { vreg, role: Role::Use, constraint: Constraint::Fixed(reg) }
    }

    /// Written late, to a register.
    pub fn def(vreg: VReg) -> Self {
        Self { vreg, role: Role::Def, constraint: Constraint::Reg }
    }

    /// Written late, to this register.
    pub fn def_fixed(vreg: VReg, reg: PReg) -> Self {
        Self { vreg, role: Role::Def, constraint: Constraint::Fixed(reg) }
    }

    /// Written late, to the place of the first operand.
    pub fn def_same(vreg: VReg) -> Self {
        Self { vreg, role: Role::Def, constraint: Constraint::SameAsFirst }
    }

    /// A scratch register.
    pub fn temp(vreg: VReg) -> Self {
        Self { vreg, role: Role::Temp, constraint: Constraint::Reg }
    }
}

/// A machine instruction as the allocator sees it.
pub trait VInst {
    /// Visits every register operand, always in the same order. All that is known of operands is
    /// told here, once: liveness, intervals, rewriting, printing and the checker read it.
    fn operands(&self, visit: &mut dyn FnMut(Operand));

    /// Registers whose content is lost (late), besides those defined.
    fn clobbers(&self) -> RegSet;

    /// Whether a collection may happen here: references that live across it must be in spill
    /// slots, and the registers that held them are stale afterwards.
    fn is_safepoint(&self) -> bool;

    /// For a plain register copy: (destination, source).
    fn as_move(&self) -> Option<(VReg, VReg)>;

    /// Whether it has exactly one operand, a `Def`, and can be executed again anywhere to make the
    /// same value (a constant): the allocator may repeat it in place of a reload.
    fn is_rematerializable(&self) -> bool;
}

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VRegData {
    /// Its class.
    pub class: RegClass,
    /// Whether it holds a reference into the collected heap.
    pub is_ref: bool,
}

/// An edge: arguments become the target's parameters, all at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VEdge {
    /// The block it leads to.
    pub target: VBlock,
    /// One argument for each parameter of the target.
    pub args: SmallVec<[VReg; 4]>,
}

/// A block. Its last instruction is its terminator; the terminator of a block with one successor
/// has no register operands.
#[derive(Clone, Debug)]
pub struct VBlockData {
    /// Its instructions, as a range of `VCode::insts`; ranges are in block order without gaps.
    pub insts: Range<u32>,
    /// Its parameters.
    pub params: SmallVec<[VReg; 4]>,
    /// Its outgoing edges in the order that the terminator knows them.
    pub succs: SmallVec<[VEdge; 2]>,
    /// Blocks with an edge to this one, once per edge.
    pub preds: SmallVec<[VBlock; 4]>,
    /// How many loops it is in.
    pub loop_depth: u32,
    /// Rarely executed.
    pub cold: bool,
}

/// A function over virtual registers.
#[derive(Clone, Debug)]
pub struct VCode<I> {
    /// The function's name.
    pub name: String,
    /// The blocks in order of emission.
    pub blocks: Arena<VBlock, VBlockData>,
    /// All instructions, block after block.
    pub insts: Vec<I>,
    /// The source location of each instruction.
    pub locs: Vec<Loc>,
    /// The virtual registers.
    pub vregs: Arena<VReg, VRegData>,
}
