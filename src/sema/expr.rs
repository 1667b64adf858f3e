//! Expressions: the dispatch over their forms, names, fields, elements and `!`.

use super::coerce::error_expr;
use super::hir::{Expr, ExprKind, StructId, Ty, TyKind};
use super::names::Meaning;
use super::{Checker, codes};
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast::{self, ExprKind as Ast};

impl Checker<'_> {
    /// An expression of any type, `Ty::UNIT` for a call without a result. `wanted` tells what type
    /// is wanted where that is known; whether the result has it is for the caller to see.
    pub(super) fn expr(&mut self, expr: &ast::Expr, wanted: Option<Ty>) -> Expr {
        let span = expr.span;
        let (kind, ty) = match &expr.kind {
            Ast::Int(value) => (ExprKind::Int(*value), Ty::INT),
            Ast::Float(value) => (ExprKind::Float(*value), Ty::FLOAT),
            Ast::Byte(value) => (ExprKind::Byte(*value), Ty::BYTE),
            Ast::Bool(value) => (ExprKind::Bool(*value), Ty::BOOL),
            Ast::Str(value) => (ExprKind::Str(value.clone()), Ty::STR),
            Ast::Error => return error_expr(span),
            Ast::Nil => return self.nil(span, wanted),
            Ast::Name(name) => return self.named(*name, span),
            Ast::Unary { op, operand } => return self.unary(*op, operand, span),
            Ast::Chain(chain) => return self.chain(&chain.first, &chain.rest, span),
            Ast::Compare(compare) => {
                let ast::Compare { op, op_span, left, right } = &**compare;
                return self.compare(*op, *op_span, left, right, span);
            }
            Ast::Logic(logic) => {
                let name = if logic.and { "&&" } else { "||" };
                let operands = logic.operands.iter();
                let operands = operands.map(|e| self.logic_operand(name, e)).collect();
                (ExprKind::Logic { and: logic.and, operands }, Ty::BOOL)
            }
            Ast::Call(call) => return self.call(&call.callee, &call.args, span, wanted),
            Ast::Method(method) => {
                let ast::Method { receiver, name, args } = &**method;
                return self.method(receiver, *name, args, span, wanted);
            }
            Ast::Field(field) => return self.field(&field.object, field.name, span),
            Ast::Index { object, index } => return self.index(object, index, span),
            Ast::Unwrap(inner) => return self.unwrap(inner, span),
            Ast::Array(elements) => return self.array(elements, span, wanted),
            Ast::Repeat { value, count } => return self.repeat(value, count, span, wanted),
            Ast::Struct(literal) => {
                return self.struct_literal(literal.name, &literal.fields, span);
            }
            Ast::Lambda(lambda) => return self.lambda(lambda, span),
        };
        Expr { kind, ty, span }
    }

    fn named(&mut self, name: Symbol, span: Span) -> Expr {
        let (kind, ty) = match self.resolve(name, span) {
            Meaning::Local(id) => (ExprKind::Local(id), self.scopes.frame().locals[id].ty),
            Meaning::Global(id) => (ExprKind::Global(id), self.globals[id].ty),
            Meaning::Function(id) => (ExprKind::Function(id), self.functions[id].ty),
            Meaning::Unknown => return error_expr(span),
            Meaning::Conversion(_) | Meaning::Builtin(_) => {
                let text = self.name(name);
                let message = format!("the builtin `{text}` is no value");
                let error = Diagnostic::error(codes::BUILTIN_VALUE, span, message, "")
                    .help("call it, or write a function expression that calls it");
                self.report(error);
                return error_expr(span);
            }
        };
        Expr { kind, ty, span }
    }

    fn field(&mut self, object: &ast::Expr, name: ast::Name, span: Span) -> Expr {
        let object = self.value(object, None);
        if object.ty == Ty::ERROR {
            return error_expr(span);
        }
        match self.struct_of(object.ty) {
            Some(structure) => self.field_of(object, structure, name, span),
            None => {
                self.no_fields(object.ty, name);
                error_expr(span)
            }
        }
    }

    /// A field of an object of that struct.
    pub(super) fn field_of(
        &mut self,
        object: Expr,
        structure: StructId,
        name: ast::Name,
        span: Span,
    ) -> Expr {
        let Some(&field) = self.fields.get(&(structure, name.symbol)) else {
            self.unknown_field(structure, name);
            return error_expr(span);
        };
        let ty = self.structs[structure].fields[field as usize].1;
        Expr { kind: ExprKind::Field { object: Box::new(object), structure, field }, ty, span }
    }

    /// Reports a field that a struct does not have.
    pub(super) fn unknown_field(&mut self, structure: StructId, name: ast::Name) {
        let text = self.name(name.symbol);
        let declared = &self.structs[structure];
        let message = format!("`{}` has no field `{text}`", self.name(declared.name));
        let error = Diagnostic::error(codes::UNKNOWN_FIELD, name.span, message, "")
            .label(declared.span, "the struct is declared here");
        let error = self.meant_field(error, name.span, text, structure);
        self.report(error);
    }

    fn no_fields(&mut self, ty: Ty, name: ast::Name) {
        let text = self.name(name.symbol);
        let message = format!("`{}` has no fields", self.show(ty));
        let mut error = Diagnostic::error(codes::NO_FIELDS, name.span, message, "");
        if self.is_known(name.symbol) {
            error = error
                .help(format!("to call the function, write `{text}()`"))
                .suggest(name.span, format!("{text}()"));
        }
        self.report(error);
    }

    fn index(&mut self, object: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let object = self.value(object, None);
        let index = self.check(index, Ty::INT, None);
        let ty = match *self.types.kind(self.types.strip_optional(object.ty)) {
            TyKind::Array(element) => element,
            TyKind::Str => Ty::BYTE,
            TyKind::Error => return error_expr(span),
            _ => {
                let message = format!("`{}` has no elements", self.show(object.ty));
                self.error(codes::NOT_INDEXABLE, object.span, message, "can't be indexed");
                return error_expr(span);
            }
        };
        let kind = ExprKind::Index { object: Box::new(object), index: Box::new(index) };
        Expr { kind, ty, span }
    }

    fn unwrap(&mut self, inner: &ast::Expr, span: Span) -> Expr {
        let inner = self.value(inner, None);
        let ty = match *self.types.kind(inner.ty) {
            TyKind::Optional(ty) => ty,
            TyKind::Error => return error_expr(span),
            _ => {
                let message = format!("`!` on `{}`, which is never nil", self.show(inner.ty));
                let error = Diagnostic::error(codes::NEVER_NIL_UNWRAP, span, message, "");
                self.report(error.help("leave out the `!`"));
                return error_expr(span);
            }
        };
        Expr { kind: ExprKind::Unwrap(Box::new(inner)), ty, span }
    }
}
