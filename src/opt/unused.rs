//! Functions that nobody calls any more.
//!
//! Of a whole program only what can be reached from the top-level statements and `main` is kept: by
//! calls, and by function values, wherever they are made. Of the rest stay the name and what traps are
//! told with, since code of it may run where it was inlined.
//!
//! Linear in the module.

use super::callee::callee;
use crate::entity::EntitySet;
use crate::ir::{Const, ENTRY, FuncRef, Function, Module, Op, Type, ValueDef};
use toyjit_runtime::fault::{self, Fault};

/// Drops the code of the functions that nobody can call.
pub(super) fn drop_unused(module: &mut Module) {
    let mut reached = EntitySet::<FuncRef>::with_len(module.functions.len());
    let mut open: Vec<FuncRef> = module.script.into_iter().collect();
    open.extend(module.main.map(|(main, ..)| main));
    while let Some(id) = open.pop() {
        if reached.insert(id)
            && let Some(function) = module.functions.get(id)
        {
            add_callees(function, &mut open);
        }
    }
    for id in module.functions.keys() {
        if !reached.contains(id) {
            drop_code(&mut module.functions[id]);
        }
    }
}

/// Leaves a function that is well formed.
fn drop_code(f: &mut Function) {
    let params: Vec<Type> = f.blocks[ENTRY].params.iter().map(|&of| f.values[of].ty).collect();
    f.drop_code();
    params.into_iter().for_each(|ty| _ = f.add_param(ENTRY, ty));
}

fn add_callees(f: &Function, open: &mut Vec<FuncRef>) {
    for &inst in f.blocks.values().flat_map(|data| &data.insts) {
        let made = f.insts[inst].op == Op::NewClosure && !fault::is(Fault::UnusedClosures);
        open.extend(callee(f, inst).or(made.then_some(FuncRef(f.insts[inst].imm as u32))));
    }
    open.extend(f.values.values().filter_map(|value| match value.def {
        ValueDef::Const(Const::Func(id)) => Some(id),
        _ => None,
    }));
}

#[cfg(test)]
mod tests {
    use super::drop_unused;
    use crate::ir::parse;

    #[test]
    fn what_values_and_calls_lead_to_stays() {
        let mut module = parse::module(
            "script = @script
            fn @script() {
            b0:
              v0: int = call @called(1)
              v1: int = call_value &named(v0)
              ret
            }
            fn @called(int) -> int {
            b0(v0: int):
              v1 = new_closure @made(v0)
              v2: int = call_value v1()
              ret v2
            }
            fn @named(int) -> int {
            b0(v0: int):
              v1 = iadd v0, 1
              ret v1
            }
            fn @made() -> int captures(int) {
            b0(v0: ref):
              v1: int = load_capture 0, v0
              ret v1
            }
            fn @lost(int) -> int {
            b0(v0: int):
              v1: int = call @behind(v0)
              ret v1
            }
            fn @behind(int) -> int {
            b0(v0: int):
              ret v0
            }",
        )
        .unwrap();
        drop_unused(&mut module);
        let kept =
            module.functions.values().filter(|f| !f.blocks.values().all(|b| b.insts.is_empty()));
        let kept: Vec<&str> = kept.map(|f| f.name.as_str()).collect();
        assert_eq!(kept, ["script", "called", "named", "made"]);
        assert!(crate::ir::verify::verify_module(&module).is_ok());
    }
}
