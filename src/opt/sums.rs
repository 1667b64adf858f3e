//! A value as another one and a constant, as counters and indices of loops often are.

use crate::ir::{Const, Function, Op, Value};

/// Sums are looked through so far.
const MAX_STEPS: usize = 8;

/// A value without its checks and copies and the constants that are added to it, and their sum.
pub(super) fn sum(f: &Function, mut value: Value) -> (Value, i64) {
    let mut plus = 0i64;
    for _ in 0..MAX_STEPS {
        let Some(inst) = f.def_inst(value) else { break };
        match (f.insts[inst].op, f.args(inst)) {
            (Op::CheckBounds | Op::Copy, &[of, ..]) => value = of,
            (Op::IAdd, &[a, b]) => match (f.as_const(a), f.as_const(b)) {
                (_, Some(Const::Int(by))) => (value, plus) = (a, plus.wrapping_add(by)),
                (Some(Const::Int(by)), _) => (value, plus) = (b, plus.wrapping_add(by)),
                _ => break,
            },
            _ => break,
        }
    }
    (value, plus)
}
