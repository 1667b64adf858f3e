//! Comparisons: in branches, as values, in selections and in checks.

use super::Selector;
use crate::ir::{Op, Type, Value};
use crate::mach::{RegClass, VReg};
use crate::x64::inst::{Compare, CompareKind, Cond, Inst, Src, ZeroTrap};
use toyjit_runtime::fault::{self, Fault};

impl Selector<'_> {
    /// The comparison `a op b`; a comparison of a bool with a constant is looked through.
    pub(super) fn compare(&mut self, op: Op, a: Value, b: Value) -> Compare {
        if matches!(op, Op::IEq | Op::INe) && self.function.values[a].ty == Type::Bool {
            for (value, constant) in [(a, b), (b, a)] {
                if let Some(constant) = self.int_constant(constant)
                    && self.constant(value).is_none()
                {
                    let holds = self.condition(value);
                    let same = (op == Op::IEq) == (constant != 0);
                    return if same { holds } else { holds.inverted() };
                }
            }
        }
        match op {
            Op::IEq | Op::REq => self.int_compare(Cond::E, Cond::E, a, b),
            Op::INe | Op::RNe => self.int_compare(Cond::Ne, Cond::Ne, a, b),
            Op::ILt => self.int_compare(Cond::L, Cond::G, a, b),
            Op::ILe => self.int_compare(Cond::Le, Cond::Ge, a, b),
            Op::IGt => self.int_compare(Cond::G, Cond::L, a, b),
            Op::IGe => self.int_compare(Cond::Ge, Cond::Le, a, b),
            Op::ULt => self.int_compare(Cond::B, Cond::A, a, b),
            Op::ULe => self.int_compare(Cond::Be, Cond::Ae, a, b),
            Op::UGt => self.int_compare(Cond::A, Cond::B, a, b),
            Op::UGe => self.int_compare(Cond::Ae, Cond::Be, a, b),
            // `ucomisd` says "below" where its operands are not ordered too: only "above" serves.
            Op::FLt if fault::is(Fault::FloatBelow) => self.float_compare(Cond::B, a, b),
            Op::FLt => self.float_compare(Cond::A, b, a),
            Op::FLe => self.float_compare(Cond::Ae, b, a),
            Op::FGt => self.float_compare(Cond::A, a, b),
            Op::FGe => self.float_compare(Cond::Ae, a, b),
            Op::FEq => self.float_equality(Cond::FloatE, a, b),
            Op::FNe => self.float_equality(Cond::FloatNe, a, b),
            _ => self.test(a),
        }
    }

    /// The comparison that tells whether a bool is true, looking through negations and through a
    /// comparison that nobody else uses.
    pub(super) fn condition(&mut self, value: Value) -> Compare {
        let mut value = self.root(value);
        let mut inverted = false;
        let compare = loop {
            let Some(inst) = self.foldable(value) else { break self.test(value) };
            let op = self.function.insts[inst].op;
            let function = self.function;
            let &[a, b] = function.args(inst) else { break self.test(value) };
            let is_bool = function.values[a].ty == Type::Bool;
            let (inner, constant) = if self.constant(a).is_some() { (b, a) } else { (a, b) };
            match (op, self.int_constant(constant)) {
                (Op::IXor, Some(1)) if is_bool => inverted = !inverted,
                (Op::IEq, Some(bit)) if is_bool => inverted ^= bit == 0,
                (Op::INe, Some(bit)) if is_bool => inverted ^= bit != 0,
                _ if op.is_comparison() => break self.compare(op, a, b),
                _ => break self.test(value),
            }
            value = self.root(inner);
        };
        if inverted { compare.inverted() } else { compare }
    }

    /// Whether a value's word is not zero.
    fn test(&mut self, value: Value) -> Compare {
        if let Some(load) = self.fused_byte(value) {
            let lhs = Src::Mem(self.address_of(load));
            return Compare { kind: CompareKind::Byte, cond: Cond::Ne, lhs, rhs: Src::Imm(0) };
        }
        self.int_compare_zero(Cond::Ne, value)
    }

    fn int_compare_zero(&mut self, cond: Cond, value: Value) -> Compare {
        if let Some(load) = self.fused_load(value) {
            let lhs = Src::Mem(self.address_of(load));
            return Compare { kind: CompareKind::Int, cond, lhs, rhs: Src::Imm(0) };
        }
        if matches!(cond, Cond::E | Cond::Ne)
            && let Some(compare) = self.bits_compare(cond, value)
        {
            return compare;
        }
        let operand = Src::Reg(self.reg(value));
        Compare { kind: CompareKind::Test, cond, lhs: operand, rhs: operand }
    }

    /// `x & y` compared with zero, as a `test`; `x % 2^k` is zero where the low bits are.
    fn bits_compare(&mut self, cond: Cond, value: Value) -> Option<Compare> {
        let inst = self.foldable(value)?;
        let &[a, b] = self.function.args(inst) else { return None };
        let op = self.function.insts[inst].op;
        let swap = op == Op::IAnd && self.constant(a).is_some();
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let rhs = match (op, self.immediate(b)) {
            (Op::IAnd, Some(imm)) => Src::Imm(imm),
            (Op::IAnd, None) => Src::Reg(self.reg(b)),
            (Op::SRem, Some(imm)) if imm > 0 && imm & (imm - 1) == 0 => Src::Imm(imm - 1),
            _ => return None,
        };
        let lhs = Src::Reg(self.reg(a));
        Some(Compare { kind: CompareKind::Test, cond, lhs, rhs })
    }

    /// `swapped` is the condition for operands that have changed places.
    fn int_compare(&mut self, cond: Cond, swapped: Cond, a: Value, b: Value) -> Compare {
        let (cond, a, b) = if self.constant(a).is_some() && self.constant(b).is_none() {
            (swapped, b, a)
        } else {
            (cond, a, b)
        };
        if let Some(imm) = self.immediate(b).filter(|imm| (0..=255).contains(imm))
            && let Some(load) = self.fused_byte(a)
        {
            let lhs = Src::Mem(self.address_of(load));
            let (kind, cond) = (CompareKind::Byte, cond.unsigned());
            return Compare { kind, cond, lhs, rhs: Src::Imm(imm) };
        }
        if self.immediate(b) == Some(0) {
            return self.int_compare_zero(cond, a);
        }
        let kind = CompareKind::Int;
        if let Some(load) = self.fused_load(a) {
            let lhs = Src::Mem(self.address_of(load));
            let rhs = match self.immediate(b) {
                Some(imm) => Src::Imm(imm),
                None => Src::Reg(self.reg(b)),
            };
            return Compare { kind, cond, lhs, rhs };
        }
        let rhs = self.src(b);
        let lhs = Src::Reg(self.reg(a));
        Compare { kind, cond, lhs, rhs }
    }

    fn float_compare(&mut self, cond: Cond, a: Value, b: Value) -> Compare {
        let rhs = self.src(b);
        let lhs = Src::Reg(self.reg(a));
        Compare { kind: CompareKind::Float, cond, lhs, rhs }
    }

    fn float_equality(&mut self, cond: Cond, a: Value, b: Value) -> Compare {
        let (a, b) = self.commute(a, b);
        self.float_compare(cond, a, b)
    }

    pub(super) fn set(&mut self, op: Op, dst: VReg, a: Value, b: Value) {
        let compare = self.compare(op, a, b);
        self.push(Inst::Set { compare, dst });
    }

    /// `a` where `a op b`, else `b`.
    pub(super) fn min_max(&mut self, op: Op, dst: VReg, a: Value, b: Value) {
        let a_reg = self.reg(a);
        let b_reg = self.reg(b);
        let cond = if op == Op::ILt { Cond::L } else { Cond::G };
        let (a_src, b_src) = (Src::Reg(a_reg), Src::Reg(b_reg));
        let compare = Compare { kind: CompareKind::Int, cond, lhs: a_src, rhs: b_src };
        let (compare, on_false) = (Box::new(compare), b_reg);
        self.push(Inst::Select { class: RegClass::Int, compare, dst, on_true: a_src, on_false });
    }

    pub(super) fn select_op(&mut self, dst: VReg, condition: Value, a: Value, b: Value) {
        let class = self.vregs[dst].class;
        let on_true = Src::Reg(self.reg(a));
        let on_false = self.reg(b);
        let compare = match self.int_constant(condition) {
            Some(_) => self.test(condition),
            None => self.condition(condition),
        };
        let compare = Box::new(compare);
        self.push(Inst::Select { class, compare, dst, on_true, on_false });
    }

    pub(super) fn check_bounds(&mut self, index: Value, len: Value) {
        match (self.int_constant(index), self.int_constant(len)) {
            (Some(i), Some(n)) if 0 <= i && i < n => return,
            _ => {}
        }
        let index = match (self.immediate(index), self.constant(len)) {
            (Some(imm), None) => Src::Imm(imm),
            _ => Src::Reg(self.reg(index)),
        };
        let len = self.src(len);
        self.push(Inst::CheckBounds { index, len });
    }

    pub(super) fn check_region(&mut self, write: bool, region: Value, index: Value) {
        let index = match self.immediate(index) {
            Some(imm) => Src::Imm(imm),
            None => Src::Reg(self.reg(index)),
        };
        let region = self.reg(region);
        self.push(Inst::CheckRegion { write, region, index });
    }

    pub(super) fn check_zero(&mut self, value: Value, trap: ZeroTrap) {
        match (self.constant(value), self.int_constant(value)) {
            (Some(_), None) => return,
            (_, Some(n)) if n != 0 => return,
            _ => {}
        }
        let value = match self.fused_load(value) {
            Some(load) => Src::Mem(self.address_of(load)),
            None => Src::Reg(self.reg(value)),
        };
        self.push(Inst::CheckZero { value, trap });
    }
}
