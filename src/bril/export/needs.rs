//! Which values of a function something in Bril is made of.

use crate::entity::SideTable;
use crate::ir::{self, Function, InstData, Op, Value};
use toyjit_runtime::Rt;

/// The values that are used by what is written: of a region only its buffer, of what is freed not
/// the length.
pub(super) fn needed(f: &Function, bril: bool) -> SideTable<Value, bool> {
    let mut needed = SideTable::with_len(false, f.values.len());
    let mut work = Vec::new();
    let mut need = |value: Value, work: &mut Vec<Value>| {
        if !std::mem::replace(&mut needed[value], true) {
            work.push(value);
        }
    };
    let parts = |inst: ir::Inst| {
        let (op, args) = (f.insts[inst].op, f.args(inst));
        match op {
            Op::NewStruct if bril => &args[2..3],
            Op::Rt if f.insts[inst].imm == Rt::RegionFree as u64 => &args[..2],
            _ => args,
        }
    };
    for data in f.blocks.values() {
        data.terminator.for_each_use(|value| need(value, &mut work));
        for &inst in &data.insts {
            let result = f.insts[inst].result;
            let is_variable = |value: Value| f.def_inst(value) != Some(inst);
            if !f.effects(inst).removable() || result.is_some_and(is_variable) {
                parts(inst).iter().for_each(|&value| need(value, &mut work));
                result.into_iter().for_each(|value| need(value, &mut work));
            }
        }
    }
    while let Some(value) = work.pop() {
        if let Some(inst) = f.def_inst(value) {
            parts(inst).iter().for_each(|&value| need(value, &mut work));
        }
    }
    needed
}

/// The indices that elements are loaded at, as far as the loads are written.
pub(super) fn loaded(f: &Function, needed: &SideTable<Value, bool>) -> SideTable<Value, bool> {
    let mut loaded = SideTable::with_len(false, f.values.len());
    for &inst in f.blocks.values().flat_map(|data| &data.insts) {
        let InstData { op, result, .. } = f.insts[inst];
        if op == Op::LoadElem && result.is_some_and(|value| needed[value]) {
            loaded[f.args(inst)[1]] = true;
        }
    }
    loaded
}
