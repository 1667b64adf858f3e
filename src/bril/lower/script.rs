//! The script of a Bril program: what comes before and after `main`.

use super::Checks;
use crate::bril::program::{Base, Program};
use crate::entity::Entity;
use crate::ir::{self, ENTRY, FuncRef, Loc, LocData, Op, Signature, Terminator, Type, Value};
use toyjit_runtime::Rt;

/// What comes before and after `main`.
pub(super) fn script_of(program: &Program, checks: Checks, id: FuncRef) -> ir::Function {
    let mut f = ir::Function::new("start", id, Signature::default());
    if let Some(main) = program.main {
        let of = &program.functions[main];
        let count = f.int(of.params.len() as i64);
        let at = f.locs.push(LocData { span: of.span, function: id, inlined_at: None });
        f.append(ENTRY, Op::Rt, &[count], Rt::BrilArgs as u64, None, at);
        let mut args = Vec::new();
        for (number, &param) in of.params.iter().enumerate() {
            let base = of.vars[param].ty.base;
            let kind = f.int(base as i64);
            let number = f.int(number as i64);
            let row = Rt::BrilArg as u64;
            let inst = f.append(ENTRY, Op::Rt, &[kind, number], row, Some(Type::Int), at);
            let word = f.insts[inst].result.unwrap_or(number);
            args.push(match base {
                Base::Int | Base::Char => word,
                Base::Bool => {
                    let zero = f.int(0);
                    result(&mut f, Op::INe, &[word, zero], 0, None)
                }
                Base::Float => {
                    let row = Rt::FloatOfBits as u64;
                    result(&mut f, Op::Rt, &[word], row, Some(Type::Float))
                }
            });
        }
        f.append(ENTRY, Op::Call, &args, main.index() as u64, None, at);
        if checks == Checks::On {
            f.append(ENTRY, Op::Rt, &[], Rt::RegionLeaks as u64, None, at);
        }
    }
    f.blocks[ENTRY].terminator = Terminator::Return(None);
    f
}

fn result(f: &mut ir::Function, op: Op, args: &[Value], imm: u64, ty: Option<Type>) -> Value {
    let inst = f.append(ENTRY, op, args, imm, ty, Loc(0));
    f.insts[inst].result.unwrap_or(args[0])
}
