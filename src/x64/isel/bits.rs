//! Counting bits: one instruction where the processor has it, else a sequence for every processor.

use super::Selector;
use crate::ir::Value;
use crate::mach::VReg;
use crate::x64::inst::{AluOp, BitOp, Inst, ShiftOp, Src, UnaryOp};

impl Selector<'_> {
    pub(super) fn popcnt(&mut self, dst: VReg, a: Value) {
        if self.features.popcnt {
            self.bit_count(BitOp::Popcnt, dst, a);
        } else {
            let src = self.reg(a);
            self.popcnt_sequence(dst, src);
        }
    }

    /// Without `lzcnt`: every bit below the highest is set, then the others are counted.
    pub(super) fn clz(&mut self, dst: VReg, a: Value) {
        if self.features.lzcnt {
            return self.bit_count(BitOp::Lzcnt, dst, a);
        }
        let mut bits = self.reg(a);
        for count in [1, 2, 4, 8, 16, 32] {
            let shifted = self.shift_new(ShiftOp::Shr, bits, count);
            bits = self.alu_new(AluOp::Or, shifted, Src::Reg(bits));
        }
        let others = self.int_vreg();
        self.push(Inst::Unary { op: UnaryOp::Not, dst: others, src: bits });
        self.popcnt_of(dst, others);
    }

    /// Without `tzcnt`: the bits below the lowest are counted, `(x - 1) & !x`.
    pub(super) fn ctz(&mut self, dst: VReg, a: Value) {
        if self.features.bmi1 {
            return self.bit_count(BitOp::Tzcnt, dst, a);
        }
        let bits = self.reg(a);
        let others = self.int_vreg();
        self.push(Inst::Unary { op: UnaryOp::Not, dst: others, src: bits });
        let less = self.alu_new(AluOp::Add, bits, Src::Imm(-1));
        let below = self.alu_new(AluOp::And, less, Src::Reg(others));
        self.popcnt_of(dst, below);
    }

    fn bit_count(&mut self, op: BitOp, dst: VReg, a: Value) {
        let src = self.reg_or_mem(a);
        self.push(Inst::BitCount { op, dst, src });
    }

    fn popcnt_of(&mut self, dst: VReg, src: VReg) {
        if self.features.popcnt {
            self.push(Inst::BitCount { op: BitOp::Popcnt, dst, src: Src::Reg(src) });
        } else {
            self.popcnt_sequence(dst, src);
        }
    }

    /// Sums in pairs, fours and bytes; a multiplication adds the bytes.
    fn popcnt_sequence(&mut self, dst: VReg, x: VReg) {
        let half = self.shift_new(ShiftOp::Shr, x, 1);
        let half = self.masked(half, 0x5555_5555_5555_5555);
        let pairs = self.alu_new(AluOp::Sub, x, Src::Reg(half));
        let high = self.shift_new(ShiftOp::Shr, pairs, 2);
        let high = self.masked(high, 0x3333_3333_3333_3333);
        let low = self.masked(pairs, 0x3333_3333_3333_3333);
        let fours = self.alu_new(AluOp::Add, low, Src::Reg(high));
        let high = self.shift_new(ShiftOp::Shr, fours, 4);
        let bytes = self.alu_new(AluOp::Add, high, Src::Reg(fours));
        let bytes = self.masked(bytes, 0x0F0F_0F0F_0F0F_0F0F);
        let ones = Src::Reg(self.imm_reg(0x0101_0101_0101_0101));
        let sum = self.alu_new(AluOp::Mul, bytes, ones);
        self.push(Inst::Shift { op: ShiftOp::Shr, dst, src: sum, count: 56 });
    }

    fn masked(&mut self, x: VReg, mask: i64) -> VReg {
        let mask = Src::Reg(self.imm_reg(mask));
        self.alu_new(AluOp::And, x, mask)
    }

    fn shift_new(&mut self, op: ShiftOp, src: VReg, count: u8) -> VReg {
        let dst = self.int_vreg();
        self.push(Inst::Shift { op, dst, src, count });
        dst
    }
}
