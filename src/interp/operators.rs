//! Operators, as §4 of the reference says them.

use super::{Interpreter, Run};
use crate::sema::hir::{BinaryOp, CompareOp, Ty, UnaryOp};
use crate::source::Span;
use std::cmp::Ordering;
use toyjit_runtime::Trap;

impl Interpreter<'_> {
    /// `a op b` on operands of type `ty` (the count of a shift is an int); a division by zero traps
    /// at `span`.
    pub(super) fn binary(&mut self, op: BinaryOp, ty: Ty, a: u64, b: u64, span: Span) -> Run<u64> {
        let result = match ty {
            Ty::INT => int(op, a as i64, b as i64).map(|x| x as u64),
            Ty::BYTE => byte(op, a as u8, b).map(u64::from),
            Ty::FLOAT => Ok(float(op, f64::from_bits(a), f64::from_bits(b)).to_bits()),
            Ty::BOOL => Ok(match op {
                BinaryOp::BitAnd => a & b,
                BinaryOp::BitOr => a | b,
                _ => a ^ b,
            }),
            _ => {
                return {
                    let joined = self.runtime.str_concat(a, b);
                    self.at(span, joined)
                };
            }
        };
        self.at(span, result)
    }

    pub(super) fn unary(op: UnaryOp, ty: Ty, a: u64) -> u64 {
        match (op, ty) {
            (UnaryOp::Neg, Ty::FLOAT) => (-f64::from_bits(a)).to_bits(),
            (UnaryOp::Neg, Ty::BYTE) => u64::from((a as u8).wrapping_neg()),
            (UnaryOp::Neg, _) => (a as i64).wrapping_neg() as u64,
            (UnaryOp::BitNot, Ty::BYTE) => u64::from(!(a as u8)),
            (UnaryOp::BitNot, _) => !a,
            (UnaryOp::Not, _) => u64::from(a == 0),
        }
    }

    /// A comparison of two values of type `ty`.
    pub(super) fn compare(&self, op: CompareOp, ty: Ty, a: u64, b: u64) -> bool {
        let stripped = self.program.types.strip_optional(ty);
        let order = match stripped {
            Ty::FLOAT => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
            Ty::STR if a != 0 && b != 0 => {
                Some(self.runtime.str_bytes(a).cmp(self.runtime.str_bytes(b)))
            }
            Ty::INT => Some((a as i64).cmp(&(b as i64))),
            _ => Some(a.cmp(&b)),
        };
        match op {
            CompareOp::Eq => order == Some(Ordering::Equal),
            CompareOp::Ne => order != Some(Ordering::Equal),
            CompareOp::Lt => order == Some(Ordering::Less),
            CompareOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            CompareOp::Gt => order == Some(Ordering::Greater),
            CompareOp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

fn int(op: BinaryOp, a: i64, b: i64) -> Result<i64, Trap> {
    let count = (b & 63) as u32;
    Ok(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => return Err(Trap::Division),
        BinaryOp::Div if b == -1 => a.wrapping_neg(),
        BinaryOp::Rem if b == -1 => 0,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        BinaryOp::Shl => ((a as u64) << count) as i64,
        BinaryOp::Shr => a >> count,
        BinaryOp::UShr => ((a as u64) >> count) as i64,
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitOr => a | b,
    })
}

/// The right side is a byte, or for shifts an int.
fn byte(op: BinaryOp, a: u8, right: u64) -> Result<u8, Trap> {
    let b = right as u8;
    let count = (right & 7) as u32;
    Ok(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => return Err(Trap::Division),
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        BinaryOp::Shl => a << count,
        BinaryOp::Shr | BinaryOp::UShr => a >> count,
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitOr => a | b,
    })
}

fn float(op: BinaryOp, a: f64, b: f64) -> f64 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        _ => a % b,
    }
}
