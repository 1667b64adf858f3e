//! Identities on floats that hold for every operand bit by bit, signed zeros included. (Of a NaN
//! only that it is one can be seen; no rule asks for its bits.)

use super::{Folder, Rewrite};
use crate::ir::{Const, Op, Value};
use smallvec::smallvec;
use toyjit_runtime::fault::{self, Fault};

impl Folder<'_> {
    pub(super) fn float(&mut self, op: Op, args: &[Value]) -> Option<Rewrite> {
        let a = args[0];
        let Some(&b) = args.get(1) else { return self.sign(op, a) };
        if op == Op::FSub && self.number(a).is_some_and(|a| a == 0.0 && a.is_sign_negative()) {
            return Some(Rewrite::Inst(Op::FNeg, smallvec![b]));
        }
        let constant = self.number(b)?;
        match op {
            // -0.0 + 0.0 is 0.0: only the zero of the other sign does nothing.
            Op::FAdd
                if constant == 0.0
                    && (constant.is_sign_negative() || fault::is(Fault::FoldAddZero)) =>
            {
                Some(Rewrite::Value(a))
            }
            Op::FSub if constant == 0.0 && constant.is_sign_positive() => Some(Rewrite::Value(a)),
            Op::FMul | Op::FDiv if constant == 1.0 => Some(Rewrite::Value(a)),
            Op::FMul | Op::FDiv if constant == -1.0 => Some(Rewrite::Inst(Op::FNeg, smallvec![a])),
            Op::FMul if constant == 2.0 => Some(Rewrite::Inst(Op::FAdd, smallvec![a, a])),
            Op::FDiv => {
                let inverse = exact_inverse(constant)?;
                let inverse = self.f.constant(Const::Float(inverse.to_bits()));
                Some(Rewrite::Inst(Op::FMul, smallvec![a, inverse]))
            }
            _ => None,
        }
    }

    fn sign(&mut self, op: Op, a: Value) -> Option<Rewrite> {
        match (op, self.def(a)?) {
            (Op::FNeg, (Op::FNeg, of)) => Some(Rewrite::Value(of[0])),
            (Op::FAbs, (Op::FAbs, _)) => Some(Rewrite::Value(a)),
            (Op::FAbs, (Op::FNeg, of)) => Some(Rewrite::Inst(Op::FAbs, of)),
            _ => None,
        }
    }

    /// Rounding what is whole.
    pub(super) fn round(&mut self, a: Value) -> Option<Rewrite> {
        let whole = matches!(self.def(a)?.0, Op::IToF | Op::FFloor | Op::FCeil | Op::FTrunc);
        whole.then_some(Rewrite::Value(a))
    }

    fn number(&self, value: Value) -> Option<f64> {
        match self.f.as_const(value) {
            Some(Const::Float(bits)) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
}

/// `1 / x` where it is exact: for powers of two whose inverse is a normal number.
fn exact_inverse(x: f64) -> Option<f64> {
    const MANTISSA: u64 = (1 << 52) - 1;
    let inverse = 1.0 / x;
    (x.is_normal()
        && inverse.is_normal()
        && (x.to_bits() & MANTISSA == 0 || fault::is(Fault::FoldInverse)))
    .then_some(inverse)
}
