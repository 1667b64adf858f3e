//! Fields, elements, lengths, globals: what is read, and places that are assigned.

use super::builder::{Builder, Dest};
use super::operator::Spans;
use super::tables::type_of;
use crate::analysis::facts::{Mentioned, WriteKind};
use crate::ir::{Global, Op, Structure, Type, Value, field_imm};
use crate::sema::hir::{BinaryOp, Expr, GlobalId, Place, PlaceKind, StructId, Ty, TyKind};
use crate::source::Span;
use toyjit_runtime::fault::{self, Fault};

impl Builder<'_> {
    /// `place = value;`
    pub fn assign(&mut self, place: &Place, value: &Expr) {
        match &place.kind {
            PlaceKind::Local(local) => {
                let variable = self.local(*local);
                self.value(value, Some(variable));
                self.wrote(*local, place.span, WriteKind::Assignment);
            }
            PlaceKind::Global(global) => {
                let value = self.value(value, None);
                self.mention(Mentioned::Store(Global(global.0)), place.span);
                self.store_global(*global, value, place.span);
            }
            PlaceKind::Field { object, structure, field } => {
                let early = fault::is(Fault::LowerAssignOrder).then(|| self.value(value, None));
                let base = self.value(object, None);
                let value = early.unwrap_or_else(|| self.value(value, None));
                let base = self.not_nil(base, object.ty, place.span);
                self.store_field(base, *structure, *field, value, place.span);
            }
            PlaceKind::Index { object, index } => {
                let base = self.value(object, None);
                let index = self.value(index, None);
                let value = self.value(value, None);
                let base = self.not_nil(base, object.ty, place.span);
                self.store_element(base, object.ty, index, value, place.span);
            }
        }
    }

    /// `place op= value;`. What a local, global or field holds is read before the right side is
    /// evaluated; an array may become shorter by it, so that the bound is checked again.
    pub fn compound(&mut self, place: &Place, op: BinaryOp, operator: Span, value: &Expr) {
        let spans = Spans { whole: place.span.to(value.span), operator };
        let (ty, span) = (place.ty, place.span);
        match &place.kind {
            PlaceKind::Local(local) => {
                let old = self.read_local(*local, span);
                let right = self.value(value, None);
                let variable = self.local(*local);
                self.binary(op, ty, [old, right], spans, Some(variable));
                self.wrote(*local, span, WriteKind::Assignment);
            }
            PlaceKind::Global(global) => {
                let old = self.load_global(*global, ty, span, None);
                let right = self.value(value, None);
                let new = self.binary(op, ty, [old, right], spans, None);
                self.store_global(*global, new, span);
            }
            PlaceKind::Field { object, structure, field } => {
                let base = self.value(object, None);
                let base = self.not_nil(base, object.ty, span);
                let imm = field_imm(Structure(structure.0), *field);
                let old = self.load(Op::LoadField, &[base], imm, type_of(ty), span, None);
                let right = self.value(value, None);
                let new = self.binary(op, ty, [old, right], spans, None);
                self.store_field(base, *structure, *field, new, span);
            }
            PlaceKind::Index { object, index } => {
                let base = self.value(object, None);
                let index = self.value(index, None);
                let base = self.not_nil(base, object.ty, span);
                let checked = self.in_bounds(base, object.ty, index, span);
                let old = self.load_element(base, object.ty, checked, span, None);
                let right = self.value(value, None);
                let new = self.binary(op, ty, [old, right], spans, None);
                self.store_element(base, object.ty, index, new, span);
            }
        }
    }

    /// `object.name`
    pub fn field(
        &mut self,
        object: &Expr,
        structure: StructId,
        field: u32,
        whole: &Expr,
        dest: Dest,
    ) -> Value {
        let base = self.value(object, None);
        let base = self.not_nil(base, object.ty, whole.span);
        let imm = field_imm(Structure(structure.0), field);
        self.load(Op::LoadField, &[base], imm, type_of(whole.ty), whole.span, dest)
    }

    /// `object[index]`
    pub fn index(&mut self, object: &Expr, index: &Expr, span: Span, dest: Dest) -> Value {
        let base = self.value(object, None);
        let index = self.value(index, None);
        let base = self.not_nil(base, object.ty, span);
        let checked = self.in_bounds(base, object.ty, index, span);
        match self.element_type(object.ty) {
            None => self.op(Op::StrByte, &[base, checked], span, dest),
            Some(_) => self.load_element(base, object.ty, checked, span, dest),
        }
    }

    /// The length of an array or string.
    pub fn length(&mut self, base: Value, ty: Ty, span: Span, dest: Dest) -> Value {
        match self.element_type(ty) {
            None => self.op(Op::StrLen, &[base], span, dest),
            Some(_) => {
                self.load(Op::ArrayLen, &[base], self.array_class(ty), Type::Int, span, dest)
            }
        }
    }

    /// An element of an array at an index known to be good.
    pub fn load_element(
        &mut self,
        base: Value,
        array: Ty,
        index: Value,
        span: Span,
        dest: Dest,
    ) -> Value {
        let element = type_of(self.element_type(array).unwrap_or(Ty::UNIT));
        let data = self.array_data(base, array, span);
        self.load(Op::LoadElem, &[data, index], self.array_class(array), element, span, dest)
    }

    /// The buffer of an array's elements.
    pub fn array_data(&mut self, base: Value, array: Ty, span: Span) -> Value {
        self.load(Op::ArrayData, &[base], self.array_class(array), Type::Ref, span, None)
    }

    /// The value of a reference that is used as an object: checked where its type is optional.
    pub fn not_nil(&mut self, value: Value, ty: Ty, span: Span) -> Value {
        match self.program.types.kind(ty) {
            TyKind::Optional(_) if !fault::is(Fault::LowerNil) => {
                self.op(Op::CheckNil, &[value], span, None)
            }
            _ => value,
        }
    }

    /// The value of a global.
    pub fn load_global(&mut self, global: GlobalId, ty: Ty, span: Span, dest: Dest) -> Value {
        self.mention(Mentioned::Global(Global(global.0)), span);
        self.load(Op::LoadGlobal, &[], u64::from(global.0), type_of(ty), span, dest)
    }

    /// Sets a global.
    pub fn store_global(&mut self, global: GlobalId, value: Value, span: Span) {
        self.inst(Op::StoreGlobal, &[value], u64::from(global.0), None, span, None);
    }

    /// The element type of an array or an optional one; none for a string.
    pub fn element_type(&self, ty: Ty) -> Option<Ty> {
        let types = &self.program.types;
        match *types.kind(types.strip_optional(ty)) {
            TyKind::Array(element) => Some(element),
            _ => None,
        }
    }

    /// The class of an array's elements, as the `imm` of what touches it.
    pub fn array_class(&self, array: Ty) -> u64 {
        u64::from(self.tables.class(self.element_type(array).unwrap_or(Ty::UNIT)).0)
    }

    fn in_bounds(&mut self, base: Value, ty: Ty, index: Value, span: Span) -> Value {
        let len = self.length(base, ty, span, None);
        self.op(Op::CheckBounds, &[index, len], span, None)
    }

    fn store_field(
        &mut self,
        base: Value,
        structure: StructId,
        field: u32,
        value: Value,
        span: Span,
    ) {
        let imm = field_imm(Structure(structure.0), field);
        self.inst(Op::StoreField, &[base, value], imm, None, span, None);
    }

    fn store_element(&mut self, base: Value, array: Ty, index: Value, value: Value, span: Span) {
        let checked = self.in_bounds(base, array, index, span);
        let data = self.array_data(base, array, span);
        let class = self.array_class(array);
        self.inst(Op::StoreElem, &[data, checked, value], class, None, span, None);
    }
}
