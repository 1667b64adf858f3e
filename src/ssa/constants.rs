//! Operators on constants, by the table of operators.

use crate::ir::{Const, Op, Type};
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
