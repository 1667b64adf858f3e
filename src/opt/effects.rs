//! What an instruction does beside computing its result, and what its result can't be.

use crate::ir::{Const, Effects, Function, Inst, Op, Value, ValueDef};

/// The effects of an instruction: of its operator's row, or of the runtime's row that it calls.
pub fn effects(f: &Function, inst: Inst) -> Effects {
    f.insts[inst].op.info().effects
}

/// Whether a reference is seen not to be nil from where it comes from.
pub fn is_never_nil(f: &Function, value: Value) -> bool {
    match f.values[value].def {
        ValueDef::Const(constant) => matches!(constant, Const::Str(_) | Const::Func(_)),
        ValueDef::Inst(inst) => {
            matches!(f.insts[inst].op, Op::CheckNil | Op::NewStruct | Op::NewClosure)
        }
        _ => false,
    }
}
