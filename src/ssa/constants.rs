//! Operators on constants, by the table of operators, and what is folded while SSA form is built.

use super::Folding;
use crate::ir::{Const, Function, Inst, Op, Type, Value, Variable};
use smallvec::SmallVec;

/// The constant of type `ty` that an operator gives on these operands. `None` where an operand is
/// not known, where the operator traps, or where its result depends on more than its operands.
pub fn evaluate(
    op: Op,
    args: impl IntoIterator<Item = Option<Const>>,
    ty: Option<Type>,
) -> Option<Const> {
    let (eval, ty) = (op.info().eval?, ty?);
    let mut bits = SmallVec::<[u64; 4]>::new();
    for arg in args {
        bits.push(arg?.bits()?);
    }
    Const::from_bits(ty, eval(&bits)?)
}

/// The value that an instruction of this type need not compute while values are being named: a
/// copy's operand, or the constant that an operator gives.
pub(super) fn fold(
    function: &mut Function,
    inst: Inst,
    ty: Type,
    folding: Folding,
) -> Option<Value> {
    if folding == Folding::Off {
        return None;
    }
    let (op, args) = (function.insts[inst].op, function.args(inst));
    if op == Op::Copy {
        return Some(args[0]);
    }
    let args = args.iter().map(|&arg| function.as_const(arg));
    evaluate(op, args, Some(ty)).map(|constant| function.constant(constant))
}

/// What a variable holds where nothing was assigned to it.
pub(super) fn undefined(function: &mut Function, variable: Variable) -> Value {
    function.constant(match function.variables[variable].ty {
        Type::Int => Const::Int(0),
        Type::Float => Const::Float(0),
        Type::Bool => Const::Bool(false),
        Type::Ref => Const::Nil,
    })
}
