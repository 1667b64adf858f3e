//! The intermediate representation: operators, types, functions in their two forms.

pub mod cfg;
pub mod chains;
pub mod dominators;
pub mod function;
pub mod generate;
pub mod interp;
pub mod load;
pub mod module;
pub mod op;
pub mod parse;
pub mod print;
pub mod switch;
mod symbols;
pub mod verify;

pub use cfg::{Cfg, PredEdge};
pub use chains::{DefUse, Use};
pub use dominators::Dominators;
pub use function::{
    Block, BlockData, Const, ENTRY, Edge, Form, FuncRef, Function, Inst, InstData, Loc, LocData,
    Signature, StrRef, Terminator, Value, ValueData, ValueDef, Variable, VariableData,
};
pub use module::{
    ElemClass, Global, Module, Structure, Summary, Writes, field_imm, imm_field, slot_type,
};
pub use op::{Effects, ImmKind, Kind, Op, ResultKind, Space};
pub use switch::Switch;

/// The types of values. A Toy `byte` is an `Int` from 0 to 255; every string, array, struct,
/// function value and optional is a `Ref`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// 64-bit integer.
    Int,
    /// Binary64.
    Float,
    /// 0 or 1.
    Bool,
    /// Nil (0) or the address of an object.
    Ref,
}

impl Type {
    /// As printed.
    pub fn name(self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Float => "float",
            Type::Bool => "bool",
            Type::Ref => "ref",
        }
    }

    /// The type of this name.
    pub fn from_name(name: &str) -> Option<Type> {
        [Type::Int, Type::Float, Type::Bool, Type::Ref].into_iter().find(|t| t.name() == name)
    }
}
