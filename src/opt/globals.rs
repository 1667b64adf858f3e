//! Named constants: a global that is declared with `let` and a constant is that constant.
//!
//! No use of a global can come before its declaration has run (the language sees to that), and a
//! `let` is assigned nowhere else; so where the module's only store to such a global stores a
//! constant, every load of it gives that. [`find`] looks once for the whole module, before the
//! passes; the pass replaces the loads.
//!
//! SSA → SSA, linear.

use super::Context;
use crate::ir::{Const, Function, Global, Module, Op};
use crate::ssa::Forward;
use toyjit_runtime::layout::Slot;

/// Notes in the module which globals are constants.
pub fn find(module: &mut Module) {
    let mut stores = vec![0u32; module.globals.len()];
    for f in module.functions.values() {
        for inst in f.blocks.values().flat_map(|data| &data.insts) {
            let data = &f.insts[*inst];
            if data.op != Op::StoreGlobal {
                continue;
            }
            let id = Global(data.imm as u32);
            stores[id.0 as usize] += 1;
            let global = &mut module.globals[id];
            let once = !global.mutable && stores[id.0 as usize] == 1;
            let constant = f.as_const(f.args(*inst)[0]).filter(|_| once);
            global.constant = constant.filter(|&constant| fits(constant, global.slot));
        }
    }
}

/// Whether the slot gives the constant back as it is.
fn fits(constant: Const, slot: Slot) -> bool {
    match (constant, slot) {
        (Const::Int(i), Slot::Byte) => (0..256).contains(&i),
        _ => true,
    }
}

/// Replaces loads of constants.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let mut forward = Forward::new(f);
    for block in f.blocks.keys() {
        let mut insts = std::mem::take(&mut f.blocks[block].insts);
        insts.retain(|&inst| {
            let data = f.insts[inst];
            let (Op::LoadGlobal, Some(result)) = (data.op, data.result) else { return true };
            match cx.module.globals[Global(data.imm as u32)].constant {
                Some(constant) if cx.fuel.tick() => {
                    let constant = f.constant(constant);
                    forward.set(result, constant);
                    false
                }
                _ => true,
            }
        });
        f.blocks[block].insts = insts;
    }
    forward.apply(f);
}
