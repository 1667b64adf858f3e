//! Identities on wrapping integers and on bools.

use super::{Folder, Operands, Rewrite};
use crate::ir::{Const, Op, Type, Value};
use smallvec::smallvec;
use toyjit_runtime::fault::{self, Fault};

impl Folder<'_> {
    pub(super) fn int_rule(&mut self, op: Op, args: &[Value], ty: Type) -> Option<Rewrite> {
        match *args {
            [a] => self.unary(op, a),
            [a, b] => match op {
                Op::IAdd => self.add(a, b),
                Op::ISub => self.subtract(a, b),
                Op::IMul => self.multiply(a, b),
                Op::SDiv | Op::SRem => self.divide(op, a, b),
                Op::IMin | Op::IMax => (a == b).then_some(Rewrite::Value(a)),
                Op::IAnd | Op::IOr | Op::IXor => self.bitwise(op, a, b, ty),
                Op::Shl | Op::Sar | Op::Shr | Op::Rotl | Op::Rotr => self.shift(op, a, b),
                _ => None,
            },
            _ => None,
        }
    }

    fn unary(&mut self, op: Op, a: Value) -> Option<Rewrite> {
        let (inner, of) = self.def(a)?;
        match (op, inner) {
            (Op::INeg, Op::INeg) | (Op::INot, Op::INot) => Some(Rewrite::Value(of[0])),
            (Op::INeg, Op::ISub) => Some(Rewrite::Inst(Op::ISub, smallvec![of[1], of[0]])),
            (Op::IAbs, Op::IAbs) => Some(Rewrite::Value(a)),
            (Op::IAbs, Op::INeg) => Some(Rewrite::Inst(Op::IAbs, of)),
            _ => None,
        }
    }

    fn add(&mut self, a: Value, b: Value) -> Option<Rewrite> {
        if let Some(by) = self.int(b) {
            if by == 0 {
                return Some(Rewrite::Value(a));
            }
            return self.combine(Op::IAdd, a, by, i64::wrapping_add);
        }
        if let Some((Op::INeg, of)) = self.def(b) {
            return Some(Rewrite::Inst(Op::ISub, smallvec![a, of[0]]));
        }
        if let Some((Op::INeg, of)) = self.def(a) {
            return Some(Rewrite::Inst(Op::ISub, smallvec![b, of[0]]));
        }
        match (self.def(a), self.def(b)) {
            (Some((Op::ISub, of)), _) if of[1] == b => Some(Rewrite::Value(of[0])),
            (_, Some((Op::ISub, of))) if of[1] == a => Some(Rewrite::Value(of[0])),
            _ => None,
        }
    }

    fn subtract(&mut self, a: Value, b: Value) -> Option<Rewrite> {
        if a == b {
            return Some(self.constant(Const::Int(0)));
        }
        if let Some(by) = self.int(b) {
            let by = self.f.int(by.wrapping_neg());
            return Some(Rewrite::Inst(Op::IAdd, smallvec![a, by]));
        }
        if self.int(a) == Some(0) {
            return Some(Rewrite::Inst(Op::INeg, smallvec![b]));
        }
        match (self.def(a), self.def(b)) {
            (_, Some((Op::INeg, of))) => {
                let op = if fault::is(Fault::FoldSubNeg) { Op::ISub } else { Op::IAdd };
                Some(Rewrite::Inst(op, smallvec![a, of[0]]))
            }
            (Some((Op::IAdd, of)), _) if of[0] == b => Some(Rewrite::Value(of[1])),
            (Some((Op::IAdd, of)), _) if of[1] == b => Some(Rewrite::Value(of[0])),
            (_, Some((Op::IAdd, of))) if of[0] == a => {
                Some(Rewrite::Inst(Op::INeg, smallvec![of[1]]))
            }
            (_, Some((Op::IAdd, of))) if of[1] == a => {
                Some(Rewrite::Inst(Op::INeg, smallvec![of[0]]))
            }
            _ => None,
        }
    }

    fn multiply(&mut self, a: Value, b: Value) -> Option<Rewrite> {
        match self.int(b)? {
            0 => Some(Rewrite::Value(b)),
            1 => Some(Rewrite::Value(a)),
            -1 => Some(Rewrite::Inst(Op::INeg, smallvec![a])),
            by if (by as u64).is_power_of_two() => {
                let count = self.f.int(i64::from(by.trailing_zeros()));
                Some(Rewrite::Inst(Op::Shl, smallvec![a, count]))
            }
            by => self.combine(Op::IMul, a, by, i64::wrapping_mul),
        }
    }

    /// The divisor is not zero here.
    fn divide(&mut self, op: Op, a: Value, b: Value) -> Option<Rewrite> {
        let divisor = self.int(b);
        if self.int(a) == Some(0) {
            return Some(Rewrite::Value(a));
        }
        let same = self.unchecked(a) == self.unchecked(b);
        match op {
            Op::SRem
                if fault::is(Fault::FoldRemMask)
                    && divisor.is_some_and(|d| d > 0 && d & (d - 1) == 0) =>
            {
                let mask = self.f.int(divisor.unwrap_or(1) - 1);
                Some(Rewrite::Inst(Op::IAnd, smallvec![a, mask]))
            }
            Op::SDiv
                if fault::is(Fault::FoldDivShift)
                    && divisor.is_some_and(|d| d > 0 && d & (d - 1) == 0) =>
            {
                let count = self.f.int(i64::from(divisor.unwrap_or(1).trailing_zeros()));
                Some(Rewrite::Inst(Op::Sar, smallvec![a, count]))
            }
            Op::SDiv if divisor == Some(1) => Some(Rewrite::Value(a)),
            Op::SDiv if divisor == Some(-1) => Some(Rewrite::Inst(Op::INeg, smallvec![a])),
            Op::SDiv if same => Some(self.constant(Const::Int(1))),
            Op::SRem if same || matches!(divisor, Some(1 | -1)) => {
                Some(self.constant(Const::Int(0)))
            }
            _ => None,
        }
    }

    fn bitwise(&mut self, op: Op, a: Value, b: Value, ty: Type) -> Option<Rewrite> {
        let zero = Const::from_bits(ty, 0)?;
        let ones = Const::from_bits(ty, if ty == Type::Bool { 1 } else { u64::MAX })?;
        if a == b {
            return Some(if op == Op::IXor { self.constant(zero) } else { Rewrite::Value(a) });
        }
        let constant = self.f.as_const(b)?;
        match op {
            Op::IAnd if constant == zero => Some(Rewrite::Value(b)),
            Op::IAnd if constant == ones => Some(Rewrite::Value(a)),
            Op::IOr if constant == ones => Some(Rewrite::Value(b)),
            Op::IOr | Op::IXor if constant == zero => Some(Rewrite::Value(a)),
            Op::IXor if constant == ones => self.complement(a, ty),
            _ => {
                let Const::Int(with) = constant else { return None };
                self.combine(
                    op,
                    a,
                    with,
                    match op {
                        Op::IAnd => |x, y| x & y,
                        Op::IOr => |x, y| x | y,
                        _ => |x, y| x ^ y,
                    },
                )
            }
        }
    }

    fn complement(&mut self, a: Value, ty: Type) -> Option<Rewrite> {
        if ty == Type::Int {
            return Some(Rewrite::Inst(Op::INot, smallvec![a]));
        }
        if let Some(inner) = self.negated(a) {
            return Some(Rewrite::Value(inner));
        }
        let (op, args) = self.def(a)?;
        if fault::is(Fault::FoldNotLess) && op == Op::FLt {
            return Some(Rewrite::Inst(Op::FGe, args));
        }
        Some(Rewrite::Inst(op.opposite()?, args))
    }

    fn shift(&mut self, op: Op, a: Value, b: Value) -> Option<Rewrite> {
        if self.int(a) == Some(0) || self.int(a) == Some(-1) && op != Op::Shl && op != Op::Shr {
            return Some(Rewrite::Value(a));
        }
        let by = self.int(b)?;
        if fault::is(Fault::FoldShiftCount) && by > 63 {
            return Some(self.constant(Const::Int(0)));
        }
        let count = by & 63;
        if count == 0 {
            return Some(Rewrite::Value(a));
        }
        if count != by {
            let count = self.f.int(count);
            return Some(Rewrite::Inst(op, smallvec![a, count]));
        }
        let (inner, of) = self.def(a)?;
        let both = count + (self.int(of.get(1).copied()?)? & 63);
        match op {
            _ if inner != op => None,
            Op::Shl | Op::Shr if both > 63 => Some(self.constant(Const::Int(0))),
            _ => {
                let both = if op == Op::Sar { both.min(63) } else { both & 63 };
                let both = self.f.int(both);
                Some(Rewrite::Inst(op, smallvec![of[0], both]))
            }
        }
    }

    /// `(x op k) op with` as one operation.
    fn combine(&mut self, op: Op, a: Value, with: i64, f: fn(i64, i64) -> i64) -> Option<Rewrite> {
        let (inner, of): (Op, Operands) = self.def(a)?;
        if inner != op {
            return None;
        }
        let both = f(self.int(of[1])?, with);
        let both = self.f.int(both);
        Some(Rewrite::Inst(op, smallvec![of[0], both]))
    }
}
