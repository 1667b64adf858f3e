//! A module: the functions of one compilation and what their instructions refer to by number.

use super::Type;
use super::function::{Const, FuncRef, Function, StrRef};
use super::op::{Effects, Space};
use crate::entity::Arena;
use toyjit_runtime::layout::Slot;
use toyjit_runtime::types::FIRST_REGISTERED;

crate::entity! {
    /// A structure: the field types of a struct.
    Structure = "struct";
    /// A global variable.
    Global = "g";
    /// An exact element type of arrays: arrays of different classes are never the same object.
    ElemClass = "class";
}

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    /// The functions.
    pub functions: Arena<FuncRef, Function>,
    /// The structures.
    pub structures: Arena<Structure, StructureData>,
    /// The globals.
    pub globals: Arena<Global, GlobalData>,
    /// The element classes.
    pub classes: Arena<ElemClass, Slot>,
    /// The string literals.
    pub strings: Arena<StrRef, Box<[u8]>>,
    /// For each function: the captures of its closures (empty for named functions).
    pub captures: Arena<FuncRef, Vec<Slot>>,
    /// For each function: the name that `print` shows.
    pub names: Arena<FuncRef, Option<String>>,
    /// The top-level statements.
    pub script: Option<FuncRef>,
    /// The user's `main`: function, whether it takes `args`, whether it gives the exit code.
    pub main: Option<(FuncRef, bool, bool)>,
    /// The object types of the first structures, which a runtime knows already (see `ir::load`).
    pub known_types: Vec<u32>,
    /// The number of the first object type that belongs to this module (see `ir::load`).
    pub first_type: u32,
    /// Whether it is a whole program that runs once: nobody but the script and `main` calls its functions,
    /// and nobody sees after a trap what is in memory.
    pub is_whole: bool,
    /// For each function: what a call of it may do, where the optimiser has found that.
    pub summaries: Vec<Summary>,
}

impl Default for Module {
    fn default() -> Self {
        Self {
            functions: Arena::new(),
            structures: Arena::new(),
            globals: Arena::new(),
            classes: Arena::new(),
            strings: Arena::new(),
            captures: Arena::new(),
            names: Arena::new(),
            script: None,
            main: None,
            known_types: Vec::new(),
            first_type: FIRST_REGISTERED,
            is_whole: true,
            summaries: Vec::new(),
        }
    }
}

/// What a call of a function may do, with all that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What it does besides computing its result. That it may not come back counts as a trap.
    pub effects: Effects,
    /// What it writes.
    pub writes: Writes,
    /// How many calls of it there were, before any was inlined.
    pub calls: usize,
}

/// A set of memory locations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// Any location.
    pub everything: bool,
    /// Lengths, buffers and elements of any array.
    pub arrays: bool,
    /// These: a space and the `imm` in it, sorted.
    pub locations: Vec<(Space, u64)>,
}

impl Writes {
    /// Adds another set.
    pub fn add_all(&mut self, other: &Writes) {
        self.everything |= other.everything;
        self.arrays |= other.arrays;
        self.locations.extend(&other.locations);
    }

    /// Brings the locations in order after additions.
    pub fn sort(&mut self) {
        self.locations.sort_unstable();
        self.locations.dedup();
    }

    /// Whether any element of an array is in the set.
    pub fn has_elements(&self) -> bool {
        self.everything || self.arrays || self.locations.iter().any(|l| l.0 == Space::Elements)
    }

    /// Whether a location is in the set.
    pub fn has(&self, space: Space, imm: u64) -> bool {
        let is_array = matches!(space, Space::Header | Space::Elements);
        self.everything
            || self.arrays && is_array
            || self.locations.binary_search(&(space, imm)).is_ok()
    }
}

/// A structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructureData {
    /// Its name.
    pub name: String,
    /// Field names and what they hold.
    pub fields: Vec<(String, Slot)>,
}

/// A global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalData {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub slot: Slot,
    /// Whether it can be assigned again after its declaration.
    pub mutable: bool,
    /// What it always is, where the optimiser has found that.
    pub constant: Option<Const>,
}

impl GlobalData {
    /// A global that can be assigned.
    pub fn new(name: impl Into<String>, slot: Slot) -> Self {
        Self { name: name.into(), slot, mutable: true, constant: None }
    }
}

/// The `imm` of `load_field` and `store_field`.
pub fn field_imm(structure: Structure, field: u32) -> u64 {
    u64::from(structure.0) << 32 | u64::from(field)
}

/// Structure and field of such an `imm`.
pub fn imm_field(imm: u64) -> (Structure, u32) {
    (Structure((imm >> 32) as u32), imm as u32)
}

/// The IR type of what a slot holds: bytes are ints from 0 to 255.
pub fn slot_type(slot: Slot) -> Type {
    match slot {
        Slot::Int | Slot::Byte => Type::Int,
        Slot::Float => Type::Float,
        Slot::Bool => Type::Bool,
        Slot::Ref => Type::Ref,
    }
}
