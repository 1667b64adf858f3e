//! The machine instructions, over virtual registers or (after allocation) over places.
//!
//! An instruction here is one to a few of the processor's: what belongs together because flags,
//! fixed registers or a cold path tie it (compare and branch, divide, check, allocate) is one. All
//! that is known of an instruction's register operands is told in [`Inst::map`], once: it visits
//! them in order and rebuilds the instruction over whatever the visitor answers, so that the
//! allocator's view (`operands`), the emitter's (`Inst<Place>`) and the dumps can't disagree.

pub use super::operand::{Addr, Base, Compare, CompareKind, Cond, FloatBits, Scale, Src, Width};

use super::operand::Visit;
use super::regs::{CALLER_SAVED, RAX, RCX, RDX};
use crate::ir::FuncRef;
use crate::mach::{Constraint, Operand, PReg, RegClass, RegSet, RelocTarget, Role, VInst, VReg};
use toyjit_runtime::Rt;
use toyjit_runtime::fault::{self, Fault};

/// Integer operations on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AluOp {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Mul,
}

/// Integer operations on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Neg,
    Not,
}

/// Shifts and rotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ShiftOp {
    Shl,
    Sar,
    Shr,
    Rol,
    Ror,
}

/// Counting bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BitOp {
    Popcnt,
    Lzcnt,
    Tzcnt,
}

/// Float operations on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

/// What happens to the sign of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SignOp {
    Neg,
    Abs,
}

/// How a float is rounded; the number is the instruction's mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Round {
    Floor = 1,
    Ceil = 2,
    Trunc = 3,
}

/// What a check for zero found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ZeroTrap {
    Nil,
    Division,
}

/// Who is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of the module.
    Function(FuncRef),
    /// The function value in `r10`.
    Value,
    /// The runtime.
    Runtime(Rt),
}

/// A machine instruction over registers of kind `R`.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Inst<R = VReg> {
    /// Where the function's parameters are when it begins.
    Args {
        defs: Box<[(R, PReg)]>,
    },
    /// A copy within a class.
    Copy {
        class: RegClass,
        dst: R,
        src: R,
    },
    /// An int constant.
    Imm {
        dst: R,
        value: i64,
    },
    /// A float constant.
    FloatImm {
        dst: R,
        bits: u64,
    },
    /// The address of something the linker knows.
    Static {
        dst: R,
        target: RelocTarget,
    },
    Alu {
        op: AluOp,
        dst: R,
        lhs: R,
        rhs: Src<R>,
    },
    /// The same on the low halves, the result extended by zeros.
    AluHalf {
        op: AluOp,
        dst: R,
        lhs: R,
        rhs: Src<R>,
    },
    /// An operation on a word of memory; `rhs` is a register or an immediate.
    AluMem {
        op: AluOp,
        addr: Addr<R>,
        rhs: Src<R>,
    },
    MulImm {
        dst: R,
        src: Src<R>,
        imm: i32,
    },
    Lea {
        dst: R,
        addr: Addr<R>,
    },
    Unary {
        op: UnaryOp,
        dst: R,
        src: R,
    },
    Abs {
        dst: R,
        src: R,
    },
    /// The low bits, extended by zeros.
    Zext {
        width: Width,
        dst: R,
        src: R,
    },
    Shift {
        op: ShiftOp,
        dst: R,
        src: R,
        count: u8,
    },
    /// A shift by `cl`.
    ShiftCl {
        op: ShiftOp,
        dst: R,
        src: R,
        count: R,
    },
    /// A shift with three operands (BMI2).
    ShiftX {
        op: ShiftOp,
        dst: R,
        src: R,
        count: R,
    },
    BitCount {
        op: BitOp,
        dst: R,
        src: Src<R>,
    },
    /// The high half of a signed product.
    MulHigh {
        dst: R,
        lhs: R,
        rhs: Src<R>,
    },
    /// The quotient; MIN / -1 is MIN.
    Div {
        dst: R,
        temp: R,
        lhs: R,
        rhs: R,
    },
    /// The remainder; MIN % -1 is 0.
    Rem {
        dst: R,
        lhs: R,
        rhs: R,
    },
    Load {
        width: Width,
        dst: R,
        addr: Addr<R>,
    },
    /// `src` is a register or an immediate.
    Store {
        width: Width,
        addr: Addr<R>,
        src: Src<R>,
    },
    FloatLoad {
        dst: R,
        addr: Addr<R>,
    },
    FloatStore {
        addr: Addr<R>,
        src: R,
    },
    FloatAlu {
        op: FloatOp,
        dst: R,
        lhs: R,
        rhs: Src<R>,
    },
    FloatSign {
        op: SignOp,
        dst: R,
        src: R,
    },
    FloatSqrt {
        dst: R,
        src: Src<R>,
    },
    FloatRound {
        mode: Round,
        dst: R,
        src: Src<R>,
    },
    IntToFloat {
        dst: R,
        src: Src<R>,
    },
    /// Toward zero, saturating; NaN gives 0.
    FloatToInt {
        dst: R,
        src: R,
    },
    /// 1 where the comparison holds, else 0.
    Set {
        compare: Compare<R>,
        dst: R,
    },
    /// Rare and wide: the comparison stands elsewhere.
    Select {
        class: RegClass,
        compare: Box<Compare<R>>,
        dst: R,
        on_true: Src<R>,
        on_false: R,
    },
    /// Traps unless `index` is below `len`, both taken as unsigned.
    CheckBounds {
        index: Src<R>,
        len: Src<R>,
    },
    /// Traps unless the element `index` of a region may be loaded, or stored (which is noted).
    CheckRegion {
        write: bool,
        region: R,
        index: Src<R>,
    },
    /// Traps where `value` is zero.
    CheckZero {
        value: Src<R>,
        trap: ZeroTrap,
    },
    /// After a reference was stored into `object`: puts it into the remembered set if it must be.
    Barrier {
        object: R,
    },
    /// A new object of `size` bytes with its header; the rest is not initialised.
    Alloc {
        dst: R,
        size: u32,
        header: u32,
    },
    Call {
        callee: Callee,
        uses: Box<[(R, PReg)]>,
        def: Option<(R, PReg)>,
    },
    /// At the head of a loop: where a run that shall end is made to leave it.
    Poll,
    /// Uses up a unit of fuel; traps where there is none.
    Burn,
    Jump,
    /// To the first successor where the comparison holds, else to the second.
    Branch {
        compare: Compare<R>,
    },
    /// To the successor that the table has at `value - base`, or outside of it to the first; on the way
    /// the register of `value` is that of `temp`.
    Switch {
        value: R,
        temp: R,
        base: i64,
        table: Box<[u8]>,
    },
    Return {
        value: Option<(R, PReg)>,
    },
    Unreachable,
}

const _: () = assert!(size_of::<Inst>() <= 48);

impl<R: Copy> Inst<R> {
    /// Visits every register operand in a fixed order and puts the visitor's answers in their
    /// places. The lists of `Args` and `Call` come out empty: their registers are fixed, and after
    /// allocation nobody asks for them.
    #[rustfmt::skip]
    pub fn map<S>(&self, f: Visit<R, S>) -> Inst<S> {
        use Constraint::{Fixed, Reg, SameAsFirst};
        use Role::{Def, EarlyDef, LateUse, Temp, Use};
        match *self {
            Inst::Args { ref defs } => {
                for &(reg, at) in defs {
                    f(reg, Def, Fixed(at));
                }
                Inst::Args { defs: Box::default() }
            }
            Inst::Copy { class, dst, src } => {
                let src = f(src, Use, Reg);
                Inst::Copy { class, src, dst: f(dst, Def, Reg) }
            }
            Inst::Imm { dst, value } => Inst::Imm { dst: f(dst, Def, Reg), value },
            Inst::FloatImm { dst, bits } => Inst::FloatImm { dst: f(dst, Def, Reg), bits },
            Inst::Static { dst, target } => Inst::Static { dst: f(dst, Def, Reg), target },
            Inst::Alu { op, dst, lhs, rhs } => {
                let lhs = f(lhs, Use, Reg);
                let rhs = rhs.any(f);
                Inst::Alu { op, lhs, rhs, dst: f(dst, Def, SameAsFirst) }
            }
            Inst::AluHalf { op, dst, lhs, rhs } => {
                let lhs = f(lhs, Use, Reg);
                let rhs = rhs.any(f);
                Inst::AluHalf { op, lhs, rhs, dst: f(dst, Def, SameAsFirst) }
            }
            Inst::AluMem { op, addr, rhs } => {
                let addr = addr.map(f);
                Inst::AluMem { op, addr, rhs: rhs.reg(f) }
            }
            Inst::MulImm { dst, src, imm } => {
                let src = src.any(f);
                Inst::MulImm { src, imm, dst: f(dst, Def, Reg) }
            }
            Inst::Lea { dst, addr } => {
                let addr = addr.map(f);
                Inst::Lea { addr, dst: f(dst, Def, Reg) }
            }
            Inst::Unary { op, dst, src } => {
                let src = f(src, Use, Reg);
                Inst::Unary { op, src, dst: f(dst, Def, SameAsFirst) }
            }
            Inst::Abs { dst, src } => {
                let src = f(src, Use, Reg);
                Inst::Abs { src, dst: f(dst, EarlyDef, Reg) }
            }
            Inst::Zext { width, dst, src } => {
                let src = f(src, Use, Reg);
                Inst::Zext { width, src, dst: f(dst, Def, Reg) }
            }
            Inst::Shift { op, dst, src, count } => {
                let src = f(src, Use, Reg);
                Inst::Shift { op, src, count, dst: f(dst, Def, SameAsFirst) }
            }
            Inst::ShiftCl { op, dst, src, count } => {
                let src = f(src, Use, Reg);
                let count = f(count, LateUse, Fixed(RCX));
                Inst::ShiftCl { op, src, count, dst: f(dst, Def, SameAsFirst) }
            }
            Inst::ShiftX { op, dst, src, count } => {
                let src = f(src, Use, Reg);
                let count = f(count, Use, Reg);
                Inst::ShiftX { op, src, count, dst: f(dst, Def, Reg) }
            }
            Inst::BitCount { op, dst, src } => {
                let src = src.any(f);
                Inst::BitCount { op, src, dst: f(dst, Def, Reg) }
            }
            Inst::MulHigh { dst, lhs, rhs } => {
                let lhs = f(lhs, Use, Fixed(RAX));
                let rhs = rhs.any(f);
                Inst::MulHigh { lhs, rhs, dst: f(dst, Def, Fixed(RDX)) }
            }
            Inst::Div { dst, temp, lhs, rhs } => {
                let lhs = f(lhs, Use, Fixed(RAX));
                let rhs = f(rhs, Use, Reg);
                let temp = f(temp, Temp, Fixed(RDX));
                Inst::Div { temp, lhs, rhs, dst: f(dst, Def, Fixed(RAX)) }
            }
            Inst::Rem { dst, lhs, rhs } => {
                let lhs = f(lhs, Use, Fixed(RAX));
                let rhs = f(rhs, Use, Reg);
                Inst::Rem { lhs, rhs, dst: f(dst, EarlyDef, Fixed(RDX)) }
            }
            Inst::Load { width, dst, addr } => {
                let addr = addr.map(f);
                Inst::Load { width, addr, dst: f(dst, Def, Reg) }
            }
            Inst::Store { width, addr, src } => {
                let addr = addr.map(f);
                Inst::Store { width, addr, src: src.reg(f) }
            }
            Inst::FloatLoad { dst, addr } => {
                let addr = addr.map(f);
                Inst::FloatLoad { addr, dst: f(dst, Def, Reg) }
            }
            Inst::FloatStore { addr, src } => {
                let addr = addr.map(f);
                Inst::FloatStore { addr, src: f(src, Use, Reg) }
            }
            Inst::FloatAlu { op, dst, lhs, rhs } => {
                let lhs = f(lhs, Use, Reg);
                let rhs = rhs.any(f);
                Inst::FloatAlu { op, lhs, rhs, dst: f(dst, Def, SameAsFirst) }
            }
            Inst::FloatSign { op, dst, src } => {
                let src = f(src, Use, Reg);
                Inst::FloatSign { op, src, dst: f(dst, Def, SameAsFirst) }
            }
            Inst::FloatSqrt { dst, src } => {
                let src = src.any(f);
                Inst::FloatSqrt { src, dst: f(dst, Def, Reg) }
            }
            Inst::FloatRound { mode, dst, src } => {
                let src = src.any(f);
                Inst::FloatRound { mode, src, dst: f(dst, Def, Reg) }
            }
            Inst::IntToFloat { dst, src } => {
                let src = src.any(f);
                Inst::IntToFloat { src, dst: f(dst, Def, Reg) }
            }
            Inst::FloatToInt { dst, src } => {
                let src = f(src, Use, Reg);
                Inst::FloatToInt { src, dst: f(dst, Def, Reg) }
            }
            Inst::Set { compare, dst } => {
                let compare = compare.map(f);
                Inst::Set { compare, dst: f(dst, Def, Reg) }
            }
            Inst::Select { class, ref compare, dst, on_true, on_false } => {
                let on_false = f(on_false, Use, Reg);
                let compare = Box::new(compare.map(f));
                let on_true = on_true.any(f);
                Inst::Select { class, compare, on_true, on_false, dst: f(dst, Def, SameAsFirst) }
            }
            Inst::CheckBounds { index, len } => {
                let (index, len) = Src::pair(index, len, f);
                Inst::CheckBounds { index, len }
            }
            Inst::CheckRegion { write, region, index } => {
                let region = f(region, Use, Reg);
                Inst::CheckRegion { write, region, index: index.reg(f) }
            }
            Inst::CheckZero { value, trap } => Inst::CheckZero { value: value.any(f), trap },
            Inst::Barrier { object } => Inst::Barrier { object: f(object, Use, Reg) },
            Inst::Alloc { dst, size, header } => {
                Inst::Alloc { size, header, dst: f(dst, Def, Reg) }
            }
            Inst::Call { callee, ref uses, def } => {
                for &(reg, at) in uses {
                    f(reg, Use, Fixed(at));
                }
                let def = def.map(|(reg, at)| (f(reg, Def, Fixed(at)), at));
                Inst::Call { callee, uses: Box::default(), def }
            }
            Inst::Poll => Inst::Poll,
            Inst::Burn => Inst::Burn,
            Inst::Jump => Inst::Jump,
            Inst::Branch { compare } => Inst::Branch { compare: compare.map(f) },
            Inst::Switch { value, temp, base, ref table } => {
                let value = f(value, Use, Reg);
                Inst::Switch { value, temp: f(temp, Def, SameAsFirst), base, table: table.clone() }
            }
            Inst::Return { value } => {
                Inst::Return { value: value.map(|(reg, at)| (f(reg, Use, Fixed(at)), at)) }
            }
            Inst::Unreachable => Inst::Unreachable,
        }
    }

    /// Whether it calls other code in its normal course, which asks for an aligned stack.
    pub fn is_call(&self) -> bool {
        matches!(self, Inst::Call { .. })
    }
}

impl VInst for Inst {
    fn operands(&self, visit: &mut dyn FnMut(Operand)) {
        self.map(&mut |vreg, role, constraint| visit(Operand { vreg, role, constraint }));
    }

    fn clobbers(&self) -> RegSet {
        match self {
            Inst::Call { def, .. } if fault::is(Fault::XmmNotSaved) => {
                let lost = RegSet(CALLER_SAVED.0 & 0xFFFF);
                def.map_or(lost, |(_, reg)| lost.without(reg))
            }
            Inst::Call { def: Some((_, reg)), .. } => CALLER_SAVED.without(*reg),
            Inst::Call { def: None, .. } => CALLER_SAVED,
            Inst::Rem { .. } if fault::is(Fault::RemClobbersRax) => RegSet::EMPTY,
            Inst::MulHigh { .. } | Inst::Rem { .. } => RegSet::EMPTY.with(RAX),
            _ => RegSet::EMPTY,
        }
    }

    fn is_safepoint(&self) -> bool {
        match self {
            Inst::Alloc { .. } => true,
            Inst::Call { callee, .. } => callee.may_collect(),
            _ => false,
        }
    }

    fn as_move(&self) -> Option<(VReg, VReg)> {
        match *self {
            Inst::Copy { dst, src, .. } => Some((dst, src)),
            _ => None,
        }
    }

    fn is_rematerializable(&self) -> bool {
        matches!(self, Inst::Imm { .. } | Inst::FloatImm { .. } | Inst::Static { .. })
    }
}

impl Callee {
    /// Whether a collection may happen in the call.
    pub fn may_collect(self) -> bool {
        use toyjit_runtime::Effects;
        match self {
            Callee::Function(_) | Callee::Value => true,
            Callee::Runtime(rt) => rt.entry().effects.contains(Effects::ALLOCATES),
        }
    }

    /// Whether somebody may ask for the chain of calls at the call.
    pub fn needs_site(self) -> bool {
        use toyjit_runtime::Effects;
        match self {
            Callee::Function(_) | Callee::Value => true,
            Callee::Runtime(rt) => {
                let effects = rt.entry().effects;
                effects.contains(Effects::ALLOCATES) || effects.contains(Effects::TRAPS)
            }
        }
    }
}
