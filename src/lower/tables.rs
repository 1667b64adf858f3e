//! What all functions of a module share while it is lowered: element classes and string literals.

use crate::entity::{Arena, SideTable};
use crate::ir::{ElemClass, FuncRef, StrRef, Type};
use crate::sema::hir::{FuncId, GlobalId, Program, Ty, TyKind};
use rustc_hash::FxHashMap;
use toyjit_runtime::layout::Slot;

/// Where a function is to be found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// In this module.
    Here(FuncRef),
    /// Compiled before: a global holds its value.
    Slot(GlobalId),
}

/// The shared tables.
pub(super) struct Tables {
    classes: SideTable<Ty, ElemClass>,
    /// What the elements of each class are.
    pub class_slots: Arena<ElemClass, Slot>,
    /// The string literals, each once.
    pub strings: Arena<StrRef, Box<[u8]>>,
    string_numbers: FxHashMap<Box<[u8]>, StrRef>,
    /// Where functions are that do not have the number in the module that they have in the program.
    pub moved: Option<SideTable<FuncId, Option<Place>>>,
    /// Whether this is a part of a session, whose globals are read later.
    pub is_unit: bool,
    /// Whether functions and rounds of loops burn fuel.
    pub metered: bool,
}

impl Tables {
    /// Gives each type that is some array's element type a class of its own.
    pub fn new(program: &Program) -> Self {
        let mut classes = SideTable::new(ElemClass(u32::MAX));
        let mut class_slots = Arena::new();
        for number in 0..program.types.len() {
            if let TyKind::Array(element) = *program.types.kind(Ty(number as u32)) {
                classes[element] = class_slots.push(slot_of(element));
            }
        }
        let string_numbers = FxHashMap::default();
        Self {
            classes,
            class_slots,
            strings: Arena::new(),
            string_numbers,
            moved: None,
            is_unit: false,
            metered: program.metered,
        }
    }

    /// Where a function is to be found.
    pub fn place(&self, function: FuncId) -> Place {
        let moved = self.moved.as_ref().and_then(|moved| moved[function]);
        moved.unwrap_or(Place::Here(FuncRef(function.0)))
    }

    /// The number of a function of this module.
    pub fn here(&self, function: FuncId) -> FuncRef {
        match self.place(function) {
            Place::Here(function) => function,
            Place::Slot(_) => FuncRef(function.0),
        }
    }

    /// The class of arrays of this element type.
    pub fn class(&self, element: Ty) -> ElemClass {
        self.classes[element]
    }

    /// The literal with these bytes.
    pub fn string(&mut self, bytes: &[u8]) -> StrRef {
        if let Some(&number) = self.string_numbers.get(bytes) {
            return number;
        }
        let number = self.strings.push(bytes.into());
        self.string_numbers.insert(bytes.into(), number);
        number
    }
}

/// What holds a value of this type.
pub fn slot_of(ty: Ty) -> Slot {
    match ty {
        Ty::INT => Slot::Int,
        Ty::FLOAT => Slot::Float,
        Ty::BOOL => Slot::Bool,
        Ty::BYTE => Slot::Byte,
        _ => Slot::Ref,
    }
}

/// The IR type of a function's result; none for `Unit`.
pub(super) fn result_type(ty: Ty) -> Option<Type> {
    (ty != Ty::UNIT).then(|| crate::ir::slot_type(slot_of(ty)))
}

/// The IR type of a value's type.
pub(super) fn type_of(ty: Ty) -> Type {
    crate::ir::slot_type(slot_of(ty))
}
