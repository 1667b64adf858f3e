//! Appending operators, unless what they compute is simpler than that.

use crate::ir::{Block, Const, Function, Loc, Op, Value};
use crate::ssa::evaluate;

/// Appends an operator on a value and a constant, unless it is simpler than that.
pub(super) fn emit(f: &mut Function, at: Block, op: Op, a: Value, b: Const, loc: Loc) -> Value {
    let b = f.constant(b);
    emit_values(f, at, op, a, b, loc)
}

/// Appends an operator, unless it is simpler than that.
pub(super) fn emit_values(
    f: &mut Function,
    at: Block,
    op: Op,
    a: Value,
    b: Value,
    loc: Loc,
) -> Value {
    let constants = [f.as_const(a), f.as_const(b)];
    if let Some(constant) = evaluate(op, constants, Some(f.values[a].ty)) {
        return f.constant(constant);
    }
    match (op, constants) {
        (Op::IAdd | Op::ISub | Op::Shr, [_, Some(Const::Int(0))]) => return a,
        (Op::IAdd, [Some(Const::Int(0)), _]) => return b,
        (Op::IMul | Op::SDiv, [_, Some(Const::Int(1))]) => return a,
        (Op::IMul, [Some(Const::Int(0)), _] | [_, Some(Const::Int(0))]) => return f.int(0),
        _ => {}
    }
    let inst = f.append(at, op, &[a, b], 0, None, loc);
    f.insts[inst].result.unwrap_or(a)
}
