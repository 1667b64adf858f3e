//! Types, interned: a table in which each stands once.

use super::{StructId, Ty};
use crate::entity::Arena;
use rustc_hash::FxHashMap;

/// What a type is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TyKind {
    /// No value: the "result" of a function without one.
    Unit,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `bool`
    Bool,
    /// `byte`
    Byte,
    /// `str`
    Str,
    /// `[T]`
    Array(Ty),
    /// A struct.
    Struct(StructId),
    /// `fn(A, B) -> R`; the result may be `Unit`.
    Function(Box<[Ty]>, Ty),
    /// `T?`
    Optional(Ty),
    /// The type of what was reported already; agrees with everything. Never in a checked program.
    Error,
}

impl Ty {
    /// `TyKind::Unit`
    pub const UNIT: Ty = Ty(0);
    /// `int`
    pub const INT: Ty = Ty(1);
    /// `float`
    pub const FLOAT: Ty = Ty(2);
    /// `bool`
    pub const BOOL: Ty = Ty(3);
    /// `byte`
    pub const BYTE: Ty = Ty(4);
    /// `str`
    pub const STR: Ty = Ty(5);
    /// `TyKind::Error`
    pub const ERROR: Ty = Ty(6);

    /// Whether values of this type are references (`nil` or a pointer to an object).
    pub fn is_ref(self) -> bool {
        self == Ty::STR || self > Ty::ERROR
    }
}

/// The interned types of a program.
#[derive(Clone, Debug)]
pub struct Types {
    kinds: Arena<Ty, TyKind>,
    map: FxHashMap<TyKind, Ty>,
}

impl Types {
    /// The table with the basic types in it.
    pub fn new() -> Self {
        let mut types = Self { kinds: Arena::new(), map: FxHashMap::default() };
        use TyKind::{Bool, Byte, Error, Float, Int, Str, Unit};
        for kind in [Unit, Int, Float, Bool, Byte, Str, Error] {
            types.intern(kind);
        }
        types
    }

    /// The type of this kind.
    pub fn intern(&mut self, kind: TyKind) -> Ty {
        if let Some(&ty) = self.map.get(&kind) {
            return ty;
        }
        let ty = self.kinds.push(kind.clone());
        self.map.insert(kind, ty);
        ty
    }

    /// What a type is.
    pub fn kind(&self, ty: Ty) -> &TyKind {
        &self.kinds[ty]
    }

    /// How many types there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Never: the basic types are always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// `T` of `T?`, `ty` itself otherwise.
    pub fn strip_optional(&self, ty: Ty) -> Ty {
        match *self.kind(ty) {
            TyKind::Optional(inner) => inner,
            _ => ty,
        }
    }
}

impl Default for Types {
    fn default() -> Self {
        Self::new()
    }
}
