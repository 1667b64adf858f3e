//! Functions that nobody calls any more.
//!
//! Of a whole program only what can be reached from the top-level statements and `main` is kept: by calls,
//! and by function values, wherever they are made. Of the rest stay the name and what traps are told with,
//! since code of it may run where it was inlined.
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
