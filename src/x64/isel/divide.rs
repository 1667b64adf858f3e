//! Division and remainder; by constants without dividing.
//!
//! A power of two is a shift, with what rounds toward zero added first for negative dividends. For
//! any other divisor the quotient is the high half of a product with a "magic" reciprocal
//! (Granlund and Montgomery; the derivation is in Hacker's Delight, chapter 10).

use super::Selector;
use crate::ir::Value;
use crate::mach::VReg;
use crate::x64::inst::{AluOp, Inst, ShiftOp, Src, UnaryOp};
use toyjit_runtime::fault::{self, Fault};

/// Multiplier and shift for a signed division: with `h` the high half of `n * multiplier`, plus `n`
/// where divisor > 0 > multiplier, minus `n` where divisor < 0 < multiplier, the quotient is
/// `h >> shift`, plus one where that is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Magic {
    pub(super) multiplier: i64,
    pub(super) shift: u32,
}

/// The magic numbers of a divisor other than 0, 1, -1.
///
/// The least `p >= 64` with `2^p > c * (d - 2^p mod d)` serves, where `d` is the divisor's size and
/// `c` the largest dividend's size that has remainder `d - 1`; the multiplier is then
/// `(2^p + d - 2^p mod d) / d`. All fits 128 bits, since `p < 128`.
pub(super) fn magic(divisor: i64) -> Magic {
    let d = u128::from(divisor.unsigned_abs());
    let largest = (1u128 << 63) + u128::from(divisor < 0);
    let c = largest - 1 - largest % d;
    let mut p = 64;
    loop {
        let rest = d - (1u128 << p) % d;
        if (1u128 << p) > c * rest || p == 127 {
            let size = ((1u128 << p) + rest) / d;
            let multiplier = if divisor < 0 { (size as i64).wrapping_neg() } else { size as i64 };
            let multiplier = multiplier.wrapping_add(i64::from(fault::is(Fault::MagicOffByOne)));
            return Magic { multiplier, shift: p - 64 };
        }
        p += 1;
    }
}

impl Selector<'_> {
    pub(super) fn divide(&mut self, dst: VReg, a: Value, b: Value) {
        match self.int_constant(b).filter(|_| self.constant(a).is_none()) {
            Some(divisor) if divisor != 0 => {
                let lhs = self.reg(a);
                let positive = self.is_non_negative(a);
                self.divide_by(dst, lhs, divisor, positive);
            }
            _ => {
                let lhs = self.reg(a);
                let rhs = self.reg(b);
                let temp = self.int_vreg();
                self.push(Inst::Div { dst, temp, lhs, rhs });
            }
        }
    }

    pub(super) fn remainder(&mut self, dst: VReg, a: Value, b: Value) {
        match self.int_constant(b).filter(|_| self.constant(a).is_none()) {
            Some(1 | -1) => self.push(Inst::Imm { dst, value: 0 }),
            Some(divisor) if divisor != 0 => {
                let lhs = self.reg(a);
                let positive = self.is_non_negative(a);
                if divisor.unsigned_abs().is_power_of_two() {
                    self.remainder_by_power(dst, lhs, divisor.unsigned_abs(), positive);
                    return;
                }
                let quotient = self.int_vreg();
                self.divide_by(quotient, lhs, divisor, positive);
                let product = self.multiply(quotient, divisor);
                self.push(Inst::Alu { op: AluOp::Sub, dst, lhs, rhs: Src::Reg(product) });
            }
            _ => {
                let lhs = self.reg(a);
                let rhs = self.reg(b);
                self.push(Inst::Rem { dst, lhs, rhs });
            }
        }
    }

    fn multiply(&mut self, a: VReg, factor: i64) -> VReg {
        let dst = self.int_vreg();
        match i32::try_from(factor) {
            Ok(imm) => self.push(Inst::MulImm { dst, src: Src::Reg(a), imm }),
            Err(_) => {
                let rhs = Src::Reg(self.imm_reg(factor));
                self.push(Inst::Alu { op: AluOp::Mul, dst, lhs: a, rhs });
            }
        }
        dst
    }

    fn divide_by(&mut self, dst: VReg, n: VReg, divisor: i64, positive: bool) {
        match divisor {
            1 => self.push(Inst::Lea { dst, addr: crate::x64::inst::Addr::offset(n, 0) }),
            -1 => self.push(Inst::Unary { op: UnaryOp::Neg, dst, src: n }),
            _ if divisor.unsigned_abs().is_power_of_two() => {
                let count = divisor.unsigned_abs().trailing_zeros() as u8;
                let sum = if positive || fault::is(Fault::DivNoBias) {
                    n
                } else {
                    let bias = self.bias(n, count);
                    self.alu_new(AluOp::Add, bias, Src::Reg(n))
                };
                let quotient = if divisor < 0 { self.int_vreg() } else { dst };
                self.push(Inst::Shift { op: ShiftOp::Sar, dst: quotient, src: sum, count });
                if divisor < 0 {
                    self.push(Inst::Unary { op: UnaryOp::Neg, dst, src: quotient });
                }
            }
            _ => self.divide_by_magic(dst, n, divisor, positive),
        }
    }

    fn divide_by_magic(&mut self, dst: VReg, n: VReg, divisor: i64, positive: bool) {
        let Magic { multiplier, shift } = magic(divisor);
        let lhs = self.imm_reg(multiplier);
        let mut high = self.int_vreg();
        self.push(Inst::MulHigh { dst: high, lhs, rhs: Src::Reg(n) });
        if divisor > 0 && multiplier < 0 {
            high = self.alu_new(AluOp::Add, high, Src::Reg(n));
        } else if divisor < 0 && multiplier > 0 {
            high = self.alu_new(AluOp::Sub, high, Src::Reg(n));
        }
        // The quotient of a dividend that is not negative has the divisor's sign.
        let adjust = !(positive && divisor > 0);
        if shift > 0 {
            let to = if adjust { self.int_vreg() } else { dst };
            self.push(Inst::Shift { op: ShiftOp::Sar, dst: to, src: high, count: shift as u8 });
            high = to;
        }
        if adjust {
            let sign = self.int_vreg();
            self.push(Inst::Shift { op: ShiftOp::Shr, dst: sign, src: high, count: 63 });
            self.push(Inst::Alu { op: AluOp::Add, dst, lhs: sign, rhs: Src::Reg(high) });
        } else if shift == 0 {
            self.push(Inst::Lea { dst, addr: crate::x64::inst::Addr::offset(high, 0) });
        }
    }

    /// `n % 2^k`: the low bits of the biased dividend, less the bias.
    fn remainder_by_power(&mut self, dst: VReg, n: VReg, size: u64, positive: bool) {
        let mask = (size - 1) as i64;
        if positive {
            let rhs = self.imm_src(mask);
            self.push(Inst::Alu { op: AluOp::And, dst, lhs: n, rhs });
            return;
        }
        let bias = self.bias(n, size.trailing_zeros() as u8);
        let sum = self.alu_new(AluOp::Add, n, Src::Reg(bias));
        let rhs = self.imm_src(mask);
        let low = self.alu_new(AluOp::And, sum, rhs);
        self.push(Inst::Alu { op: AluOp::Sub, dst, lhs: low, rhs: Src::Reg(bias) });
    }

    /// `2^count - 1` where `n` is negative, else 0.
    fn bias(&mut self, n: VReg, count: u8) -> VReg {
        let mut sign = n;
        if count > 1 {
            sign = self.int_vreg();
            self.push(Inst::Shift { op: ShiftOp::Sar, dst: sign, src: n, count: 63 });
        }
        let bias = self.int_vreg();
        self.push(Inst::Shift { op: ShiftOp::Shr, dst: bias, src: sign, count: 64 - count });
        bias
    }

    pub(super) fn alu_new(&mut self, op: AluOp, lhs: VReg, rhs: Src) -> VReg {
        let dst = self.int_vreg();
        self.push(Inst::Alu { op, dst, lhs, rhs });
        dst
    }

    pub(super) fn imm_src(&mut self, value: i64) -> Src {
        match i32::try_from(value) {
            Ok(imm) => Src::Imm(imm),
            Err(_) => Src::Reg(self.imm_reg(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_magic(n: i64, d: i64) -> i64 {
        let Magic { multiplier, shift } = magic(d);
        let mut high = ((i128::from(n) * i128::from(multiplier)) >> 64) as i64;
        if d > 0 && multiplier < 0 {
            high = high.wrapping_add(n);
        } else if d < 0 && multiplier > 0 {
            high = high.wrapping_sub(n);
        }
        high >>= shift;
        high.wrapping_add(((high as u64) >> 63) as i64)
    }

    fn edges() -> Vec<i64> {
        let mut edges: Vec<i64> = (-70..=70).collect();
        for k in 0..64 {
            for delta in -3..=3 {
                edges.push((1i64 << k).wrapping_add(delta));
                edges.push((1i64 << k).wrapping_add(delta).wrapping_neg());
            }
        }
        edges.extend([
            i64::MIN,
            i64::MIN + 1,
            i64::MAX,
            i64::MAX - 1,
            1_000_000_007,
            10_i64.pow(18),
        ]);
        edges.extend([i64::MAX / 3, i64::MIN / 3, 641, 6_700_417, 0x5555_5555_5555_5555]);
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    #[test]
    fn magic_divides() {
        for &d in edges().iter().filter(|&&d| !(-1..=1).contains(&d)) {
            let near = [d.wrapping_mul(3), i64::MAX / d * d, i64::MIN / d * d];
            let near = near.into_iter().flat_map(|n| [n.wrapping_sub(1), n, n.wrapping_add(1)]);
            for n in edges().into_iter().chain(near) {
                assert_eq!(by_magic(n, d), n.wrapping_div(d), "{n} / {d}");
            }
        }
    }
}
