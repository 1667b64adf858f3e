//! Where a frame keeps each value of a function.

use crate::entity::SideTable;
use crate::ir::{Const, FuncRef, Function, StrRef, Type, Value, ValueDef};

/// Where a value is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The frame's word of this number.
    Word(u32),
    /// The frame's root of the second number; the word of the first tells only that it was assigned.
    Root(u32, u32),
    /// A constant.
    Bits(u64),
    /// A string literal.
    Str(StrRef),
    /// A function value without captures.
    Func(FuncRef),
    /// Of no instruction that any block lists.
    Nowhere,
}

/// The places of all values that occur in a function.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) places: SideTable<Value, Place>,
    /// How many words and roots a frame has.
    pub(super) words: u32,
    pub(super) roots: u32,
}

impl Layout {
    pub(super) fn new(function: &Function) -> Self {
        let places = SideTable::with_len(Place::Nowhere, function.values.len());
        let mut layout = Self { places, words: 0, roots: 0 };
        for data in function.blocks.values() {
            data.params.iter().for_each(|&param| layout.add(function, param));
            for &inst in &data.insts {
                function.insts[inst].result.iter().for_each(|&v| layout.add(function, v));
                function.args(inst).iter().for_each(|&v| layout.add(function, v));
            }
            data.terminator.for_each_use(|v| layout.add(function, v));
        }
        layout
    }

    fn add(&mut self, function: &Function, value: Value) {
        if !matches!(self.places[value], Place::Nowhere) {
            return;
        }
        let data = function.values[value];
        self.places[value] = match data.def {
            ValueDef::Const(Const::Str(string)) => Place::Str(string),
            ValueDef::Const(Const::Func(function)) => Place::Func(function),
            ValueDef::Const(constant) => Place::Bits(constant.bits().unwrap_or(0)),
            ValueDef::Inst(_) | ValueDef::Param(..) | ValueDef::Variable(_) => {
                self.words += 1;
                if data.ty == Type::Ref {
                    self.roots += 1;
                    Place::Root(self.words - 1, self.roots - 1)
                } else {
                    Place::Word(self.words - 1)
                }
            }
        };
    }
}
