//! Values where a type is wanted: the one conversion there is (`T` to `T?`), and what is said, with
//! the mend if there is an obvious one, where the types do not agree.

use super::hir::{Expr, ExprKind, StructId, Ty, TyKind, UnaryOp};
use super::{Checker, Why, codes};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;

/// What stands for an expression that was reported.
pub(super) fn error_expr(span: Span) -> Expr {
    Expr { kind: ExprKind::Error, ty: Ty::ERROR, span }
}

impl Checker<'_> {
    /// An expression that must have a value; `wanted` helps to find its type and is not enforced.
    pub(super) fn value(&mut self, expr: &ast::Expr, wanted: Option<Ty>) -> Expr {
        let checked = self.expr(expr, wanted);
        if checked.ty != Ty::UNIT {
            return checked;
        }
        let message = "this call has no result, and a value is wanted";
        self.error(codes::NO_VALUE, expr.span, message, "");
        error_expr(expr.span)
    }

    /// An expression of exactly the type wanted.
    pub(super) fn check(&mut self, expr: &ast::Expr, wanted: Ty, why: Why) -> Expr {
        let checked = self.value(expr, Some(wanted));
        self.coerce(checked, wanted, why)
    }

    /// Makes an expression one of the type wanted, or reports that it can't be.
    pub(super) fn coerce(&mut self, expr: Expr, wanted: Ty, why: Why) -> Expr {
        if expr.ty == wanted {
            return expr;
        }
        let span = expr.span;
        if expr.ty == Ty::ERROR || wanted == Ty::ERROR {
            return error_expr(span);
        }
        if *self.types.kind(wanted) == TyKind::Optional(expr.ty) {
            return Expr { kind: ExprKind::Wrap(Box::new(expr)), ty: wanted, span };
        }
        self.mismatch(&expr, wanted, why);
        error_expr(span)
    }

    /// Reports an expression of another type than is wanted.
    pub(super) fn mismatch(&mut self, expr: &Expr, wanted: Ty, why: Why) {
        let (want, found) = (self.show(wanted), self.show(expr.ty));
        let message = format!("expected `{want}`, found `{found}`");
        let mut error = Diagnostic::error(codes::MISMATCH, expr.span, message, "");
        if let Some((place, text)) = why {
            error = error.label(place, text);
        }
        let error = self.help_convert(error, expr, wanted);
        self.report(error);
    }

    /// Adds how a value could be made one of the type wanted.
    pub(super) fn help_convert(&self, error: Diagnostic, expr: &Expr, wanted: Ty) -> Diagnostic {
        let wanted = self.types.strip_optional(wanted);
        if wanted == Ty::FLOAT
            && let Some(value) = int_literal(expr)
        {
            let text = format!("{value}.0");
            return error.help(format!("write `{text}`")).suggest(expr.span, text);
        }
        if wanted == Ty::INT
            && let ExprKind::Float(value) = expr.kind
            && value.fract() == 0.0
            && value.abs() < 1e15
        {
            let text = format!("{value:.0}");
            return error.help(format!("write `{text}`")).suggest(expr.span, text);
        }
        if *self.types.kind(expr.ty) == TyKind::Optional(wanted) {
            return self.help_unwrap(error, expr.span);
        }
        if converts(expr.ty, wanted) {
            let name = self.show(wanted);
            return match self.text_of(expr) {
                Some(text) => {
                    let text = format!("{name}({text})");
                    error.help(format!("write `{text}`")).suggest(expr.span, text)
                }
                None => error.help(format!("convert it: `{name}(…)`")),
            };
        }
        match (self.types.kind(expr.ty), self.types.kind(wanted)) {
            (TyKind::Str, _) if matches!(expr.kind, ExprKind::Str(_)) => error,
            (TyKind::Str, TyKind::Int) => error.help("`parse_int(s, or)` reads an int"),
            (TyKind::Str, TyKind::Float) => error.help("`parse_float(s, or)` reads a float"),
            (&TyKind::Array(found), &TyKind::Array(element))
                if *self.types.kind(element) == TyKind::Optional(found) =>
            {
                error.note("an array is shared, so its elements' type must be the same")
            }
            (TyKind::Function(params, result), _) if params.is_empty() && *result == wanted => {
                error.help("call it: `()`").suggest(after(expr.span), "()")
            }
            _ => error,
        }
    }

    /// Adds how the sides of an operator could be made of one type; `left` is absent where it is
    /// not one expression.
    pub(super) fn help_sides(
        &self,
        error: Diagnostic,
        left: Option<&Expr>,
        left_ty: Ty,
        right: &Expr,
    ) -> Diagnostic {
        let widens = matches!(
            (left_ty, right.ty),
            (Ty::INT | Ty::BYTE, Ty::FLOAT) | (Ty::BYTE, Ty::INT) | (_, Ty::STR)
        );
        if !widens || !converts(left_ty, right.ty) {
            return self.help_convert(error, right, left_ty);
        }
        match left {
            Some(left) => self.help_convert(error, left, right.ty),
            None => error.help(format!("convert the left side: `{}(…)`", self.show(right.ty))),
        }
    }

    /// Adds how the value of a `T?` is had.
    pub(super) fn help_unwrap(&self, error: Diagnostic, span: Span) -> Diagnostic {
        error
            .help("it may be nil: compare it with `nil` first, and use `!` to have its value")
            .suggest(after(span), "!")
    }

    /// The text of an expression, where it is short enough to be known.
    pub(super) fn text_of(&self, expr: &Expr) -> Option<String> {
        match expr.kind {
            ExprKind::Local(id) => Some(self.name(self.scopes.frame().locals[id].name).into()),
            ExprKind::Global(id) => Some(self.name(self.globals[id].name).into()),
            ExprKind::Int(value) => Some(value.to_string()),
            ExprKind::Float(value) => Some(format!("{value:?}")),
            _ => None,
        }
    }

    /// The struct of a `S` or `S?`.
    pub(super) fn struct_of(&self, ty: Ty) -> Option<StructId> {
        match *self.types.kind(self.types.strip_optional(ty)) {
            TyKind::Struct(id) => Some(id),
            _ => None,
        }
    }

    /// Whether it is `[T]`.
    pub(super) fn is_array(&self, ty: Ty) -> bool {
        matches!(self.types.kind(ty), TyKind::Array(_))
    }
}

/// The place just behind.
pub(super) fn after(span: Span) -> Span {
    Span::new(span.end, span.end)
}

/// The value of an int literal, negated or not.
fn int_literal(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int(value) => Some(*value),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => match operand.kind {
            ExprKind::Int(value) => Some(value.wrapping_neg()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether there is a conversion from one type to another one.
pub(super) fn converts(from: Ty, to: Ty) -> bool {
    match to {
        Ty::INT => [Ty::FLOAT, Ty::BYTE, Ty::BOOL].contains(&from),
        Ty::FLOAT => [Ty::INT, Ty::BYTE].contains(&from),
        Ty::BYTE => from == Ty::INT,
        Ty::STR => from != Ty::STR && from != Ty::UNIT,
        _ => false,
    }
}
