//! Whom a call leads to, where that can be told.
//!
//! A function value that is called where it is made, or that has a name, is a function as well.

use crate::ir::{Const, FuncRef, Function, Inst, Module, Op, Signature, Value};
use smallvec::SmallVec;

/// The function of the module that an instruction calls.
pub fn callee(f: &Function, inst: Inst) -> Option<FuncRef> {
    let data = &f.insts[inst];
    (data.op == Op::Call).then_some(FuncRef(data.imm as u32))
}

/// The same for calls of function values too. One that has captured something is known only with the
/// instruction that made it.
pub(super) fn known(f: &Function, module: &Module, inst: Inst) -> Option<FuncRef> {
    let value = f.args(inst).first().copied();
    let made =
        value.and_then(|value| closure(f, value)).map(|made| FuncRef(f.insts[made].imm as u32));
    let id = match f.insts[inst].op {
        Op::Call => callee(f, inst)?,
        Op::CallValue => {
            let id = value.and_then(|value| named(f, value)).or(made)?;
            fits(f, inst, &module.functions.get(id)?.signature).then_some(id)?
        }
        _ => return None,
    };
    let has_env = module.functions.get(id)?.signature.env;
    (!has_env || made == Some(id)).then_some(id)
}

/// Whether a function has the parameters and the result that the call of a value wants: in a text of
/// IR it may be another's.
fn fits(f: &Function, inst: Inst, callee: &Signature) -> bool {
    let given = f.args(inst)[1..].iter().map(|&arg| f.values[arg].ty);
    let result = f.insts[inst].result.map(|result| f.values[result].ty);
    given.eq(callee.params.iter().copied()) && result == callee.result
}

/// The instruction that makes a function value.
pub(super) fn closure(f: &Function, value: Value) -> Option<Inst> {
    f.def_inst(value).filter(|&inst| f.insts[inst].op == Op::NewClosure)
}

/// The function that a function value names.
fn named(f: &Function, value: Value) -> Option<FuncRef> {
    match f.as_const(value) {
        Some(Const::Func(id)) => Some(id),
        _ => None,
    }
}

/// Lets calls of function values that have a name be calls of that function.
pub(super) fn name_callees(f: &mut Function, module: &Module) {
    for block in f.blocks.keys() {
        for i in 0..f.blocks[block].insts.len() {
            let inst = f.blocks[block].insts[i];
            if f.insts[inst].op == Op::CallValue
                && named(f, f.args(inst)[0]).is_some()
                && let Some(id) = known(f, module, inst)
            {
                let args: SmallVec<[Value; 4]> = SmallVec::from_slice(&f.args(inst)[1..]);
                let args = f.pool.list(&args);
                let data = &mut f.insts[inst];
                (data.op, data.imm, data.args) = (Op::Call, id.0.into(), args);
            }
        }
    }
}
