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
            self.type_not_known("`nil`", "str? = nil", span);
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

    fn type_not_known(&mut self, what: &str, example: &str, span: Span) {
        let message = format!("the type of {what} is not known here");
        let error = Diagnostic::error(codes::TYPE_NOT_KNOWN, span, message, "");
        let help = format!("put it into a variable with a type, as in `let x: {example};`");
        self.report(error.help(help));
    }

    /// The elements' type of an array literal that is wanted from outside.
    fn wanted_element(&self, wanted: Option<Ty>) -> Option<Ty> {
        match *self.types.kind(self.types.strip_optional(wanted?)) {
            TyKind::Array(element) => Some(element),
            TyKind::Error => Some(Ty::ERROR),
            _ => None,
        }
    }

    /// Reports an array literal whose elements' type nothing tells.
    fn no_element_type(&mut self, span: Span, wanted: Option<Ty>) {
        match wanted {
            Some(ty) => {
                let message = format!("expected `{}`, found an array", self.show(ty));
                self.error(codes::MISMATCH, span, message, "");
            }
            None => self.type_not_known("this array", "[int] = []", span),
        }
    }

    /// `[a, b, c]`
    pub(super) fn array(&mut self, elements: &[ast::Expr], span: Span, wanted: Option<Ty>) -> Expr {
        let mut source = None;
        let mut why: Why = None;
        let element = match self.wanted_element(wanted) {
            Some(element) => element,
            None => match elements.iter().position(|e| !self.needs_type(e)) {
                Some(index) => {
                    let value = self.value(&elements[index], None);
                    let ty = value.ty;
                    why = Some((value.span, "the elements' type comes from here"));
                    source = Some((index, value));
                    ty
                }
                None => {
                    self.no_element_type(span, wanted);
                    Ty::ERROR
                }
            },
        };
        let check = |(index, expr)| match source.take_if(|(at, _)| *at == index) {
            Some((_, value)) => value,
            None => self.check(expr, element, why),
        };
        let checked = elements.iter().enumerate().map(check).collect();
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
        let value = match self.wanted_element(wanted) {
            Some(element) => self.check(value, element, None),
            None if self.needs_type(value) => {
                self.no_element_type(span, wanted);
                self.check(value, Ty::ERROR, None)
            }
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
        Expr { kind: ExprKind::Struct { structure, fields: checked.into() }, ty, span }
    }

    fn missing_fields(
        &mut self,
        structure: StructId,
        name: ast::Name,
        given: &FxHashMap<u32, Span>,
    ) {
        let declared = &self.structs[structure];
        let missing = (0..).zip(&declared.fields).filter(|(n, _)| !given.contains_key(n));
        let missing = missing.map(|(_, &(field, _))| self.name(field));
        let shown: Vec<String> = missing.clone().take(4).map(|name| format!("`{name}`")).collect();
        let message = match (&shown[..], missing.count()) {
            ([], _) => return,
            ([one], _) => format!("the field {one} is missing"),
            (_, count) if count == shown.len() => {
                format!("the fields {} are missing", shown.join(", "))
            }
            (_, count) => format!(
                "the fields {} and {} more are missing",
                shown.join(", "),
                count - shown.len()
            ),
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
