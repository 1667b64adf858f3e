//! Random modules, for tests and the fuzzer.
//!
//! Each is valid, in the form asked for, and has one meaning. Control flow is anything that a graph
//! can be: irreducible loops, self loops, branches with equal targets, blocks that nothing reaches.
//! Operands are drawn from what dominates the place, so that every value is defined before its use;
//! variables are all assigned in the entry block. All references are nil or structures of one kind,
//! so that loads are as safe as the checks before them. Every loop and every call takes from the
//! global `$fuel`, and the program traps (division by zero) when it is spent: so it ends.
//!
//! The script calls `@f1` and prints what it gives. A function calls later ones only.
//!
//! A seed and a [`Shape`] → [`Module`].

mod body;
mod idioms;
#[cfg(test)]
mod tests;

use self::body::Body;
use super::module::{ElemClass, Global, GlobalData, Module, Structure, StructureData};
use super::{ENTRY, Form, FuncRef, Function, Loc, Op, Signature, Terminator, Type};
use crate::entity::Entity;
use toyjit_runtime::{Rt, Slot};

/// A small source of random numbers (Steele, Lea and Flood's SplitMix).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The source with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of the items, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// What modules to make.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The form of all functions.
    pub form: Form,
    /// How many functions there are beside the script.
    pub functions: usize,
    /// The most blocks of a function.
    pub blocks: usize,
    /// The most instructions of a block; an idiom counts as one.
    pub insts: usize,
    /// What the program may spend.
    pub fuel: i64,
}

impl Default for Shape {
    fn default() -> Self {
        Self { form: Form::Ssa, functions: 3, blocks: 10, insts: 8, fuel: 200 }
    }
}

const TYPES: [Type; 4] = [Type::Int, Type::Float, Type::Bool, Type::Ref];
const NODE: Structure = Structure(0);
const FUEL: Global = Global(0);
/// The fields of the one structure and, beside the fuel, the globals.
const SLOTS: [(&str, Slot); 4] =
    [("i", Slot::Int), ("x", Slot::Float), ("b", Slot::Bool), ("next", Slot::Ref)];

/// A random module.
pub fn module(rng: &mut Rng, shape: &Shape) -> Module {
    let mut module = Module::default();
    let fields = SLOTS.map(|(name, slot)| (name.to_owned(), slot)).to_vec();
    module.structures.push(StructureData { name: "Node".into(), fields });
    module.globals.push(GlobalData::new("fuel", Slot::Int));
    for (name, slot) in SLOTS {
        module.globals.push(GlobalData::new(name, slot));
    }
    for slot in Slot::ALL {
        module.classes.push(slot);
    }
    module.strings.push(b"".as_slice().into());
    module.strings.push(b"some \xff text\n".as_slice().into());
    // Signatures first, since bodies call each other.
    for number in 0..=shape.functions {
        let id = FuncRef::new(number);
        let signature = match number {
            0 => Signature::default(),
            _ => signature(rng, number),
        };
        let captures = match signature.env {
            true => (0..rng.below(4)).map(|_| rng.pick(&SLOTS).1).collect(),
            false => Vec::new(),
        };
        let name = if number == 0 { "script".into() } else { format!("f{number}") };
        module.names.push((!signature.env).then(|| name.clone()));
        module.captures.push(captures);
        module.functions.push(Function::new(name, id, signature));
    }
    module.functions[FuncRef(0)] = script(rng, &module, shape);
    for number in 1..=shape.functions {
        let id = FuncRef::new(number);
        module.functions[id] = Body::new(rng, &module, id, shape.form).generate(shape);
    }
    module.script = Some(FuncRef(0));
    module
}

fn signature(rng: &mut Rng, number: usize) -> Signature {
    let params = (0..rng.below(5)).map(|_| rng.pick(&TYPES)).collect();
    let result = rng.percent(80).then(|| rng.pick(&TYPES));
    // The script calls the first by name.
    Signature { params, result, env: number > 1 && rng.percent(30) }
}

/// Fills the tank, calls the first function and prints its result.
fn script(rng: &mut Rng, module: &Module, shape: &Shape) -> Function {
    let mut body = Body::new(rng, module, FuncRef(0), Form::Ssa);
    let fuel = body.function.int(shape.fuel);
    body.function.append(ENTRY, Op::StoreGlobal, &[fuel], u64::from(FUEL.0), None, Loc(0));
    if shape.functions > 0
        && let Some(result) = body.call(ENTRY, FuncRef(1))
    {
        body.print(ENTRY, result);
    }
    let newline = Rt::PrintNewline as u64;
    body.function.append(ENTRY, Op::Rt, &[], newline, None, Loc(0));
    body.function.blocks[ENTRY].terminator = Terminator::Return(None);
    let mut function = body.function;
    function.form = shape.form;
    function
}

/// The element class of a slot.
fn class(slot: Slot) -> u64 {
    ElemClass::new(slot as usize).0.into()
}
