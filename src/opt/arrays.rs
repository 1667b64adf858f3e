//! Scalar replacement of small arrays: one that nobody else can see, whose length and indices are constants,
//! is taken apart into its elements.
//!
//! Of an array that is only asked for its length, loaded from and stored to, each element is a variable:
//! its creation assigns them, stores assign one, loads read one, and SSA construction does the rest.
//! (An array has one name here: what flows into block parameters stays whole.) A literal makes such
//! arrays, and so does a loop over one that has been unrolled.
//!
//! SSA → SSA, linear; functions that make no small array are left after one look.

use super::Context;
use crate::entity::SideTable;
use crate::ir::{
    Block, Const, ElemClass, Form, Function, Inst, InstData, Module, Op, Type, Value, Variable,
    slot_type,
};
use crate::source::Span;
use crate::ssa::{Construction, Folding, construct};
use smallvec::SmallVec;
use toyjit_runtime::Rt;
use toyjit_runtime::fault::{self, Fault};
use toyjit_runtime::layout::Slot;

/// Arrays with more elements stay whole.
const MAX_LEN: i64 = 8;
/// The most arrays taken apart at once.
const MAX_ARRAYS: usize = 64;

/// An array that may be taken apart.
struct Array {
    made: Inst,
    name: Value,
    slot: Slot,
    len: usize,
    /// What its elements are at first; nothing where they are zeros.
    filled: Option<Value>,
    escapes: bool,
}

/// Takes arrays apart.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let mut arrays: Vec<Array> = Vec::new();
    for data in f.blocks.values() {
        arrays.extend(data.insts.iter().filter_map(|&inst| made(f, inst)));
    }
    if arrays.is_empty() {
        return;
    }
    arrays.truncate(MAX_ARRAYS);
    // Of arrays and of their buffers: which array.
    let mut owner: SideTable<Value, Option<u32>> = SideTable::with_len(None, f.values.len());
    for (number, array) in arrays.iter().enumerate() {
        owner[array.name] = Some(number as u32);
    }
    for data in f.blocks.values() {
        for &inst in data.insts.iter().filter(|&&inst| f.insts[inst].op == Op::ArrayData) {
            if let (Some(buffer), &[array]) = (f.insts[inst].result, f.args(inst)) {
                owner[buffer] = owner[array];
            }
        }
    }
    find_escapes(f, cx.module, &owner, &mut arrays);
    if arrays.iter().all(|array| array.escapes) || !cx.fuel.tick() {
        return;
    }
    for array in arrays.iter().filter(|array| !array.escapes) {
        cx.remarks.say("arrays", f, f.insts[array.made].loc, || {
            "array left out: its elements are values".to_owned()
        });
    }
    take_apart(f, &owner, &arrays);
}

/// What an instruction makes, if it is a small array of constant length.
fn made(f: &Function, inst: Inst) -> Option<Array> {
    let InstData { op, imm, result, .. } = f.insts[inst];
    if op != Op::Rt {
        return None;
    }
    let int = |value: Value| match f.as_const(value) {
        Some(Const::Int(int)) => Some(int),
        _ => None,
    };
    let kind = |slot: Value| int(slot).map(|slot| Slot::from_number(slot as u64));
    let is = |row: Rt| imm == row as u64;
    let (slot, len, filled) = match *f.args(inst) {
        [slot, len] if is(Rt::ArrayNew) => (kind(slot)?, len, None),
        [slot, value, len] if is(Rt::ArrayFillInt) => (kind(slot)?, len, Some(value)),
        [value, len] if is(Rt::ArrayFillFloat) => (Slot::Float, len, Some(value)),
        [value, len] if is(Rt::ArrayFillRef) => (Slot::Ref, len, Some(value)),
        _ => return None,
    };
    let len = int(len).filter(|len| (1..=MAX_LEN).contains(len))?;
    let fits = filled.is_none_or(|value| f.values[value].ty == slot_type(slot));
    let len = len as usize;
    fits.then_some(Array { made: inst, name: result?, slot, len, filled, escapes: false })
}

/// Finds the arrays that are used otherwise than for their length and constant elements.
fn find_escapes(
    f: &Function,
    module: &Module,
    owner: &SideTable<Value, Option<u32>>,
    arrays: &mut [Array],
) {
    let escape = |value: Value, arrays: &mut [Array]| {
        if let Some(number) = owner[value] {
            arrays[number as usize].escapes = true;
        }
    };
    for data in f.blocks.values() {
        for &inst in &data.insts {
            let InstData { op, imm, .. } = f.insts[inst];
            let args = f.args(inst);
            for (place, &arg) in args.iter().enumerate() {
                let Some(number) = owner[arg] else { continue };
                let array = &arrays[number as usize];
                let is_array = array.name == arg;
                let is_class = || module.classes.get(ElemClass(imm as u32)) == Some(&array.slot);
                let fits = match op {
                    Op::ArrayLen | Op::ArrayData => is_array && is_class(),
                    Op::LoadElem | Op::StoreElem => {
                        let index = constant(f, args[1]);
                        place == 0
                            && !is_array
                            && is_class()
                            && index.is_some_and(|index| (0..array.len as i64).contains(&index))
                    }
                    _ => false,
                };
                if !fits {
                    escape(arg, arrays);
                }
            }
        }
        data.terminator.for_each_use(|value| escape(value, arrays));
    }
}

/// The int that a value is behind its checks.
fn constant(f: &Function, mut value: Value) -> Option<i64> {
    while let Some(inst) = f.def_inst(value) {
        match (f.insts[inst].op, f.args(inst)) {
            (Op::CheckBounds | Op::Copy, &[of, ..]) => value = of,
            _ => return None,
        }
    }
    match f.as_const(value)? {
        Const::Int(int) => Some(int),
        _ => None,
    }
}

/// Lets variables stand for the elements.
fn take_apart(f: &mut Function, owner: &SideTable<Value, Option<u32>>, arrays: &[Array]) {
    let mut elements: Vec<SmallVec<[Variable; 8]>> = Vec::with_capacity(arrays.len());
    for array in arrays {
        let count = if array.escapes { 0 } else { array.len };
        let add = |_| f.add_variable("", slot_type(array.slot), Span::default());
        elements.push((0..count).map(add).collect());
    }
    let blocks: Vec<Block> = f.blocks.keys().collect();
    for block in blocks {
        for inst in std::mem::take(&mut f.blocks[block].insts) {
            let InstData { op, result, .. } = f.insts[inst];
            let object = match op {
                Op::Rt => result,
                Op::ArrayLen | Op::ArrayData | Op::LoadElem | Op::StoreElem => {
                    f.args(inst).first().copied()
                }
                _ => None,
            };
            let number = object.and_then(|object| owner[object]).map(|number| number as usize);
            match number.filter(|&number| !arrays[number].escapes) {
                Some(number) => rewrite(f, block, inst, &arrays[number], &elements[number]),
                None => f.blocks[block].insts.push(inst),
            }
        }
    }
    f.form = Form::Variable;
    construct(f, Construction::Braun, Folding::On);
}

/// Appends to a block what an instruction is on variables.
fn rewrite(f: &mut Function, block: Block, inst: Inst, array: &Array, elements: &[Variable]) {
    let InstData { op, loc, .. } = f.insts[inst];
    let copy_of = |f: &mut Function, value: Value| {
        let args = f.pool.list(&[value]);
        let data = &mut f.insts[inst];
        (data.op, data.args, data.imm) = (Op::Copy, args, 0);
        f.blocks[block].insts.push(inst);
    };
    // What a byte does not hold is lost.
    let narrowed = |f: &mut Function, value: Value| {
        if array.slot != Slot::Byte || f.as_const(value).is_some_and(is_byte) {
            return value;
        }
        let mask = f.int(0xFF);
        let and = f.append(block, Op::IAnd, &[value, mask], 0, Some(Type::Int), loc);
        f.insts[and].result.unwrap_or(value)
    };
    match op {
        Op::Rt => {
            let zero = Const::from_bits(slot_type(array.slot), 0);
            let first = match (array.filled, zero) {
                (Some(value), _) => narrowed(f, value),
                (None, Some(zero)) => f.constant(zero),
                (None, None) => return,
            };
            for &element in elements {
                f.append_assign(block, element, Op::Copy, &[first], 0, loc);
            }
        }
        Op::ArrayLen => {
            let len = f.int(array.len as i64);
            copy_of(f, len);
        }
        Op::LoadElem | Op::StoreElem => {
            let Some(index) = constant(f, f.args(inst)[1]) else { return };
            let index = match fault::is(Fault::ArraysFirst) && elements.len() > 2 {
                true => index.min(1),
                false => index,
            };
            let element = elements[index as usize];
            if op == Op::LoadElem {
                let value = f.variables[element].value;
                return copy_of(f, value);
            }
            let value = f.args(inst)[2];
            let value = narrowed(f, value);
            f.append_assign(block, element, Op::Copy, &[value], 0, loc);
        }
        _ => {}
    }
}

fn is_byte(constant: Const) -> bool {
    matches!(constant, Const::Int(0..=255))
}
