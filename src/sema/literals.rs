//! Literals of composite values: `nil`, arrays, structs and function expressions.
//!
//! `nil` and `[]` have no type of their own. They take it from where they stand, elements of an
//! array also from the first sibling that has one.

use super::coerce::error_expr;
use super::hir::{Expr, ExprKind, FunctionKind, StructId, Ty, TyKind};
use super::{Checker, Why, codes};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{self, ExprKind as Ast};
use rustc_hash::FxHashMap;

impl Checker<'_> {
    /// Whether an expression has a type only where one is wanted.
    pub(super) fn needs_type(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            Ast::Nil => true,
            Ast::Array(elements) => elements.iter().all(|e| self.needs_type(e)),
            Ast::Repeat { value, .. } => self.needs_type(value),
            _ => false,
        }
    }

    /// `nil`
    pub(super) fn nil(&mut self, span: Span, wanted: Option<Ty>) -> Expr {
        let Some(wanted) = wanted else {
            self.type_not_known("nil", span);
            return error_expr(span);
        };
        match self.types.kind(wanted) {
            TyKind::Optional(_) => return Expr { kind: ExprKind::Nil, ty: wanted, span },
            TyKind::Error => return error_expr(span),
            _ => {}
        }
        let shown = self.show(wanted);
        let message = format!("expected `{shown}`, found `nil`");
        let mut error = Diagnostic::error(codes::MISMATCH, span, message, "");
        error = match self.types.kind(wanted) {
            TyKind::Function(..) => error.help(format!("only a `({shown})?` can be nil")),
            _ if wanted.is_ref() => error.help(format!("only a `{shown}?` can be nil")),
            _ => error,
        };
        self.report(error);
        error_expr(span)
    }

    fn type_not_known(&mut self, what: &str, span: Span) {
        let message = format!("the type of `{what}` is not known here");
        let error = Diagnostic::error(codes::TYPE_NOT_KNOWN, span, message, "");
        let help = "give it one: put it into a variable with a type, as in `let x: [int] = [];`";
        self.report(error.help(help));
    }

    /// The type of the elements that is wanted from outside; reports an array where none is wanted
    /// and that has no type of its own.
    fn wanted_element(
        &mut self,
        needs_type: bool,
        span: Span,
        wanted: Option<Ty>,
    ) -> Option<Ty> {
        match wanted.map(|ty| (ty, self.types.kind(self.types.strip_optional(ty)))) {
            Some((_, &TyKind::Array(element))) => Some(element),
            Some((_, TyKind::Error)) => Some(Ty::ERROR),
            Some((ty, _)) if needs_type => {
                let message = format!("expected `{}`, found an array", self.show(ty));
                self.error(codes::MISMATCH, span, message, "");
                Some(Ty::ERROR)
            }
            None if needs_type => {
                self.type_not_known("[]", span);
                Some(Ty::ERROR)
            }
            _ => None,
        }
    }

    /// `[a, b, c]`
    pub(super) fn array(
        &mut self,
        elements: &[ast::Expr],
        span: Span,
        wanted: Option<Ty>,
    ) -> Expr {
        let outside = match wanted {
            Some(ty) if self.is_array(self.types.strip_optional(ty)) => wanted,
            _ => None,
        };
        let source = match outside {
            Some(_) => None,
            None => elements.iter().position(|e| !self.needs_type(e)),
        };
        let needs_type = outside.is_none() && source.is_none();
        let element = self.wanted_element(needs_type, span, wanted);
        let (element, found, why) = match (element, source) {
            (None, Some(index)) => {
                let first = self.value(&elements[index], None);
                let why: Why = Some((first.span, "the elements' type comes from here"));
                (first.ty, Some((index, first)), why)
            }
            (element, _) => (element.unwrap_or(Ty::ERROR), None, None),
        };
        let mut checked = Vec::with_capacity(elements.len());
        let (at, mut found) = found.map_or((usize::MAX, None), |(i, first)| (i, Some(first)));
        for (index, expr) in elements.iter().enumerate() {
            checked.push(match found.take_if(|_| index == at) {
                Some(first) => first,
                None => self.check(expr, element, why),
            });
        }
        let ty = self.array_of(element, span);
        Expr { kind: ExprKind::Array(checked), ty, span }
    }

    /// `[value; count]`
    pub(super) fn repeat(
        &mut self,
        value: &ast::Expr,
        count: &ast::Expr,
        span: Span,
        wanted: Option<Ty>,
    ) -> Expr {
        let needs_type = self.needs_type(value);
        let value = match self.wanted_element(needs_type, span, wanted) {
            Some(element) => self.check(value, element, None),
            None => self.value(value, None),
        };
        let count = self.check(count, Ty::INT, None);
        let ty = self.array_of(value.ty, span);
        let kind = ExprKind::Repeat { value: Box::new(value), count: Box::new(count) };
        Expr { kind, ty, span }
    }

    /// `Name { field: value, … }`
    pub(super) fn struct_literal(
        &mut self,
        name: ast::Name,
        fields: &[(ast::Name, ast::Expr)],
        span: Span,
    ) -> Expr {
        let Some(structure) = self.names[name.symbol].structure else {
            self.unknown_type(name.symbol, name.span, "struct");
            for (_, value) in fields {
                self.check(value, Ty::ERROR, None);
            }
            return error_expr(span);
        };
        let mut given: FxHashMap<u32, Span> = FxHashMap::default();
        let mut checked = Vec::with_capacity(fields.len());
        let mut complete = true;
        for (field, value) in fields {
            let Some(&number) = self.fields.get(&(structure, field.symbol)) else {
                self.unknown_field(structure, *field);
                self.check(value, Ty::ERROR, None);
                complete = false;
                continue;
            };
            if let Some(&first) = given.get(&number) {
                let message = format!("the field `{}` is given twice", self.name(field.symbol));
                let error = Diagnostic::error(codes::REPEATED_FIELD, field.span, message, "")
                    .label(first, "first given here");
                self.report(error);
            }
            given.entry(number).or_insert(field.span);
            let ty = self.structs[structure].fields[number as usize].1;
            let declared = self.field_spans[structure][number as usize];
            let why = Some((declared, "the field is declared here"));
            checked.push((number, self.check(value, ty, why)));
        }
        if complete {
            self.missing_fields(structure, name, &given);
        }
        let ty = self.types.intern(TyKind::Struct(structure));
        Expr { kind: ExprKind::Struct { structure, fields: checked }, ty, span }
    }

    fn missing_fields(
        &mut self,
        structure: StructId,
        name: ast::Name,
        given: &FxHashMap<u32, Span>,
    ) {
        let declared = &self.structs[structure];
        let missing: Vec<String> = (0..)
            .zip(&declared.fields)
            .filter(|(number, _)| !given.contains_key(number))
            .map(|(_, &(field, _))| format!("`{}`", self.name(field)))
            .collect();
        let message = match &missing[..] {
            [] => return,
            [one] => format!("the field {one} is missing"),
            many => format!("the fields {} are missing", many.join(", ")),
        };
        let error = Diagnostic::error(codes::MISSING_FIELDS, name.span, message, "")
            .label(declared.span, "the struct is declared here");
        self.report(error);
    }

    /// `fn(…) { … }`
    pub(super) fn lambda(&mut self, lambda: &ast::Lambda, span: Span) -> Expr {
        let id = self.add_function(None, FunctionKind::Lambda, lambda.head);
        self.signature(id, lambda);
        self.function_body(id, lambda);
        Expr { kind: ExprKind::Closure(id), ty: self.functions[id].ty, span }
    }
}
