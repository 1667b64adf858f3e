//! What the machine instructions work on: addresses, source operands, comparisons.

use crate::mach::{Constraint, Role, VReg};

/// What an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base<R> {
    /// A register.
    Reg(R),
    /// The context.
    Context,
    /// The words that the caller passed on the stack.
    Incoming,
    /// The words that this function passes on the stack.
    Outgoing,
}

/// The factor of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Scale {
    One,
    Two,
    Four,
    Eight,
}

impl Scale {
    /// The factor whose base-two logarithm is `shift`.
    pub fn from_shift(shift: u32) -> Option<Scale> {
        [Scale::One, Scale::Two, Scale::Four, Scale::Eight].get(shift as usize).copied()
    }

    /// The factor.
    pub fn factor(self) -> u32 {
        1 << self as u32
    }
}

/// A memory address: base + index * scale + disp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addr<R = VReg> {
    /// The base.
    pub base: Base<R>,
    /// The index and its factor.
    pub index: Option<(R, Scale)>,
    /// The displacement.
    pub disp: i32,
}

/// The bits of a float, aligned as registers and immediates are: so a source operand has 20 bytes.
#[repr(Rust, packed(4))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatBits(pub u64);

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Src<R = VReg> {
    /// A register, or the slot it was spilled to.
    Reg(R),
    /// Memory.
    Mem(Addr<R>),
    /// An immediate, extended by its sign.
    Imm(i32),
    /// A float constant of the literal pool.
    Float(FloatBits),
}

/// How much a load or store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One byte, extended by zeros.
    Byte,
    /// Four bytes, extended by zeros.
    Half,
    /// Eight bytes.
    Word,
}

/// Which comparison sets the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareKind {
    /// `cmp`
    Int,
    /// `cmp` of a byte in memory with an immediate from 0 to 255
    Byte,
    /// `test`
    Test,
    /// `ucomisd`
    Float,
}

/// What the flags must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Cond {
    E,
    Ne,
    L,
    Le,
    G,
    Ge,
    B,
    Be,
    A,
    Ae,
    /// Equal and ordered.
    FloatE,
    /// Not equal, or not ordered.
    FloatNe,
}

impl Cond {
    /// The condition on unsigned numbers that this one is on signed ones.
    pub fn unsigned(self) -> Cond {
        match self {
            Cond::L => Cond::B,
            Cond::Le => Cond::Be,
            Cond::G => Cond::A,
            Cond::Ge => Cond::Ae,
            cond => cond,
        }
    }

    /// The condition that holds where this one does not.
    pub fn inverted(self) -> Cond {
        match self {
            Cond::E => Cond::Ne,
            Cond::Ne => Cond::E,
            Cond::L => Cond::Ge,
            Cond::Le => Cond::G,
            Cond::G => Cond::Le,
            Cond::Ge => Cond::L,
            Cond::B => Cond::Ae,
            Cond::Be => Cond::A,
            Cond::A => Cond::Be,
            Cond::Ae => Cond::B,
            Cond::FloatE => Cond::FloatNe,
            Cond::FloatNe => Cond::FloatE,
        }
    }
}

/// A comparison of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compare<R = VReg> {
    /// The instruction.
    pub kind: CompareKind,
    /// When it holds.
    pub cond: Cond,
    /// The left operand; never an immediate.
    pub lhs: Src<R>,
    /// The right operand; memory only where the left one is not.
    pub rhs: Src<R>,
}

/// Visits a register operand: its role and constraint are told.
pub(super) type Visit<'a, R, S> = &'a mut dyn FnMut(R, Role, Constraint) -> S;

impl<R: Copy> Addr<R> {
    /// The address `disp` behind a register.
    pub fn offset(base: R, disp: i32) -> Self {
        Self { base: Base::Reg(base), index: None, disp }
    }

    pub(super) fn map<S>(self, f: Visit<R, S>) -> Addr<S> {
        let base = match self.base {
            Base::Reg(base) => Base::Reg(f(base, Role::Use, Constraint::Reg)),
            Base::Context => Base::Context,
            Base::Incoming => Base::Incoming,
            Base::Outgoing => Base::Outgoing,
        };
        let index = self.index.map(|(index, scale)| (f(index, Role::Use, Constraint::Reg), scale));
        Addr { base, index, disp: self.disp }
    }
}

impl<R: Copy> Src<R> {
    pub(super) fn map<S>(self, constraint: Constraint, f: Visit<R, S>) -> Src<S> {
        match self {
            Src::Reg(reg) => Src::Reg(f(reg, Role::Use, constraint)),
            Src::Mem(addr) => Src::Mem(addr.map(f)),
            Src::Imm(imm) => Src::Imm(imm),
            Src::Float(bits) => Src::Float(bits),
        }
    }

    pub(super) fn any<S>(self, f: Visit<R, S>) -> Src<S> {
        self.map(Constraint::Any, f)
    }

    pub(super) fn reg<S>(self, f: Visit<R, S>) -> Src<S> {
        self.map(Constraint::Reg, f)
    }

    /// Both operands of a `cmp`: one at most is in memory.
    pub(super) fn pair<S>(lhs: Self, rhs: Self, f: Visit<R, S>) -> (Src<S>, Src<S>) {
        match (lhs, rhs) {
            (_, Src::Imm(_)) => (lhs.any(f), rhs.any(f)),
            (Src::Mem(_) | Src::Imm(_), _) => (lhs.any(f), rhs.reg(f)),
            _ => (lhs.reg(f), rhs.any(f)),
        }
    }
}

impl<R: Copy> Compare<R> {
    /// The comparison that holds where this one does not.
    #[must_use]
    pub fn inverted(self) -> Self {
        Self { cond: self.cond.inverted(), ..self }
    }

    pub(super) fn map<S>(self, f: Visit<R, S>) -> Compare<S> {
        let (lhs, rhs) = match self.kind {
            CompareKind::Int | CompareKind::Byte => Src::pair(self.lhs, self.rhs, f),
            CompareKind::Test => (self.lhs.reg(f), self.rhs.reg(f)),
            CompareKind::Float => (self.lhs.reg(f), self.rhs.any(f)),
        };
        Compare { kind: self.kind, cond: self.cond, lhs, rhs }
    }
}
