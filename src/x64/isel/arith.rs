//! Arithmetic on ints and floats.

use super::Selector;
use crate::ir::{Op, Value};
use crate::mach::VReg;
use crate::x64::inst::{
    Addr, AluOp, Base, FloatOp, Inst, Round, Scale, ShiftOp, SignOp, Src, UnaryOp, Width,
};
use toyjit_runtime::Rt;

/// The mask of the low half of a word.
const LOW_HALF: i64 = 0xFFFF_FFFF;

impl Selector<'_> {
    /// Operands of a commutative operation in the order that suits a two-address machine: a
    /// constant or a load that can be fused on the right, on the left what is not needed any longer.
    pub(super) fn commute(&self, a: Value, b: Value) -> (Value, Value) {
        let right = |v| self.constant(v).is_some() || self.fused_load(v).is_some();
        if right(b) || !(right(a) || self.lives_on(a) && !self.lives_on(b)) {
            (a, b)
        } else {
            (b, a)
        }
    }

    /// A commutative operation.
    pub(super) fn alu(&mut self, op: AluOp, dst: VReg, a: Value, b: Value) {
        let (a, b) = self.commute(a, b);
        self.alu_in_order(op, dst, a, b);
    }

    fn alu_in_order(&mut self, op: AluOp, dst: VReg, a: Value, b: Value) {
        let rhs = self.src(b);
        let lhs = self.reg(a);
        self.push(Inst::Alu { op, dst, lhs, rhs });
    }

    fn lea(&mut self, dst: VReg, base: VReg, index: Option<(VReg, Scale)>, disp: i32) {
        self.push(Inst::Lea { dst, addr: Addr { base: Base::Reg(base), index, disp } });
    }

    pub(super) fn add(&mut self, dst: VReg, a: Value, b: Value) {
        let (a, b) = self.commute(a, b);
        if let Some(imm) = self.immediate(b) {
            return self.add_imm(dst, a, imm);
        }
        for (base, scaled) in [(a, b), (b, a)] {
            if let Some((index, scale)) = self.scaled(scaled) {
                let base = self.reg(base);
                let index = self.reg(index);
                return self.lea(dst, base, Some((index, scale)), 0);
            }
            if let Some((index, inner, outer)) = self.scaled_twice(scaled) {
                let base = self.reg(base);
                let index = self.reg(index);
                let middle = self.int_vreg();
                self.lea(middle, index, Some((index, inner)), 0);
                return self.lea(dst, base, Some((middle, outer)), 0);
            }
        }
        if self.lives_on(a) && self.lives_on(b) && self.constant(b).is_none() {
            let base = self.reg(a);
            let index = self.reg(b);
            return self.lea(dst, base, Some((index, Scale::One)), 0);
        }
        self.alu_in_order(AluOp::Add, dst, a, b);
    }

    fn add_imm(&mut self, dst: VReg, a: Value, imm: i32) {
        let keep = self.lives_on(a);
        let lhs = self.reg(a);
        if keep {
            self.lea(dst, lhs, None, imm);
        } else {
            self.push(Inst::Alu { op: AluOp::Add, dst, lhs, rhs: Src::Imm(imm) });
        }
    }

    /// Index and factor of a value that is a left shift by 1, 2 or 3 for this one user.
    fn scaled(&self, value: Value) -> Option<(Value, Scale)> {
        let inst = self.foldable(value)?;
        let &[index, count] = self.function.args(inst) else { return None };
        if self.function.insts[inst].op != Op::Shl {
            return None;
        }
        let shift = self.int_constant(count).filter(|n| (1..=3).contains(n))?;
        Some((index, Scale::from_shift(shift as u32)?))
    }

    /// The same of a product with 3, 5 or 9 times 2, 4 or 8: how much is added of the value to
    /// itself, and the factor of that sum. (Two steps, where a multiplication takes three.)
    fn scaled_twice(&self, value: Value) -> Option<(Value, Scale, Scale)> {
        let inst = self.foldable(value)?;
        let &[a, b] = self.function.args(inst) else { return None };
        if self.function.insts[inst].op != Op::IMul {
            return None;
        }
        let (index, by) = match (self.immediate(a), self.immediate(b)) {
            (_, Some(by)) => (a, by),
            (Some(by), _) => (b, by),
            _ => return None,
        };
        let shift = by.trailing_zeros();
        match by >> (shift & 31) {
            sum @ (3 | 5 | 9) if (1..=3).contains(&shift) => {
                Some((index, Scale::from_shift(sum.ilog2())?, Scale::from_shift(shift)?))
            }
            _ => None,
        }
    }

    pub(super) fn sub(&mut self, dst: VReg, a: Value, b: Value) {
        match self.immediate(b).and_then(i32::checked_neg) {
            Some(imm) => self.add_imm(dst, a, imm),
            None if self.int_constant(a) == Some(0) => self.int_unary(UnaryOp::Neg, dst, b),
            None => self.alu_in_order(AluOp::Sub, dst, a, b),
        }
    }

    pub(super) fn mul(&mut self, dst: VReg, a: Value, b: Value) {
        let (a, b) = self.commute(a, b);
        let Some(imm) = self.immediate(b) else {
            return self.alu_in_order(AluOp::Mul, dst, a, b);
        };
        match imm {
            3 | 5 | 9 => {
                let src = self.reg(a);
                let scale = Scale::from_shift(imm.ilog2());
                self.lea(dst, src, scale.map(|scale| (src, scale)), 0);
            }
            _ if imm > 0 && imm & (imm - 1) == 0 => {
                let src = self.reg(a);
                self.push(Inst::Shift { op: ShiftOp::Shl, dst, src, count: imm.ilog2() as u8 });
            }
            _ => {
                let src = self.reg_or_mem(a);
                self.push(Inst::MulImm { dst, src, imm });
            }
        }
    }

    pub(super) fn and(&mut self, dst: VReg, a: Value, b: Value) {
        let (a, b) = self.commute(a, b);
        let width = match self.int_constant(b) {
            Some(0xFF) => Width::Byte,
            Some(LOW_HALF) if self.half(dst, a) => return,
            Some(LOW_HALF) => Width::Half,
            _ => return self.alu_in_order(AluOp::And, dst, a, b),
        };
        let src = self.reg(a);
        self.push(Inst::Zext { width, dst, src });
    }

    /// The low half of a value whose low half depends on those of its operands only; false, and
    /// nothing done, if it is no such value or has other users.
    fn half(&mut self, dst: VReg, value: Value) -> bool {
        let Some(inst) = self.foldable(value) else { return false };
        let function = self.function;
        let &[a, b] = function.args(inst) else { return false };
        let op = match function.insts[inst].op {
            Op::IAdd => AluOp::Add,
            Op::ISub => AluOp::Sub,
            Op::IMul => AluOp::Mul,
            Op::IAnd => AluOp::And,
            Op::IOr => AluOp::Or,
            Op::IXor => AluOp::Xor,
            _ => return false,
        };
        let (a, b) = if op == AluOp::Sub { (a, b) } else { self.commute(a, b) };
        // The upper half of a constant does not matter.
        let constant = self.int_constant(b).map(|b| b as i32);
        if op == AluOp::Mul && matches!(constant, Some(3 | 5 | 9)) {
            return false;
        }
        let rhs = constant.map_or_else(|| self.src(b), Src::Imm);
        let lhs = self.reg(a);
        self.push(Inst::AluHalf { op, dst, lhs, rhs });
        true
    }

    pub(super) fn int_unary(&mut self, op: UnaryOp, dst: VReg, a: Value) {
        let src = self.reg(a);
        self.push(Inst::Unary { op, dst, src });
    }

    pub(super) fn shift(&mut self, op: ShiftOp, dst: VReg, a: Value, b: Value) {
        let src = self.reg(a);
        if let Some(count) = self.int_constant(b) {
            return self.push(Inst::Shift { op, dst, src, count: (count & 63) as u8 });
        }
        let count = self.reg(b);
        let rotates = matches!(op, ShiftOp::Rol | ShiftOp::Ror);
        self.push(if self.features.bmi2 && !rotates {
            Inst::ShiftX { op, dst, src, count }
        } else {
            Inst::ShiftCl { op, dst, src, count }
        });
    }

    pub(super) fn float(&mut self, op: FloatOp, dst: VReg, a: Value, b: Value) {
        let commutes = matches!(op, FloatOp::Add | FloatOp::Mul);
        let (a, b) = if commutes { self.commute(a, b) } else { (a, b) };
        let rhs = self.src(b);
        let lhs = self.reg(a);
        self.push(Inst::FloatAlu { op, dst, lhs, rhs });
    }

    pub(super) fn float_sign(&mut self, op: SignOp, dst: VReg, a: Value) {
        let src = self.reg(a);
        self.push(Inst::FloatSign { op, dst, src });
    }

    pub(super) fn round(&mut self, mode: Round, fallback: Rt, dst: VReg, a: Value) {
        if self.features.sse41 {
            let src = self.src(a);
            self.push(Inst::FloatRound { mode, dst, src });
        } else {
            self.call_runtime(fallback, &[a], Some(dst));
        }
    }
}
