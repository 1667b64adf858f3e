//! Operators: what each takes, and comparisons.

use super::coerce::{converts, error_expr};
use super::hir::{BinaryOp, Chain, CompareOp, Expr, ExprKind, Ty, TyKind, UnaryOp};
use super::{Checker, codes};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;

/// Whether the right side is a count of bits.
pub(super) fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Shl | BinaryOp::Shr | BinaryOp::UShr)
}

/// Whether an operator takes a left side of this type.
pub(super) fn takes(op: BinaryOp, ty: Ty) -> bool {
    use BinaryOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Shl, Shr, Sub, UShr};
    match op {
        Mul | Div | Rem | Sub => [Ty::INT, Ty::FLOAT, Ty::BYTE].contains(&ty),
        Add => [Ty::INT, Ty::FLOAT, Ty::BYTE, Ty::STR].contains(&ty),
        Shl | Shr | UShr => [Ty::INT, Ty::BYTE].contains(&ty),
        BitAnd | BitXor | BitOr => [Ty::INT, Ty::BYTE, Ty::BOOL].contains(&ty),
    }
}

fn taken(op: BinaryOp) -> &'static str {
    use BinaryOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Shl, Shr, Sub, UShr};
    match op {
        Mul | Div | Rem | Sub => "two ints, floats or bytes",
        Add => "two ints, floats, bytes or strs",
        Shl | Shr | UShr => "an int or byte and an int",
        BitAnd | BitXor | BitOr => "two ints, bytes or bools",
    }
}

impl Checker<'_> {
    /// `op operand`
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &ast::Expr, span: Span) -> Expr {
        let operand = self.value(operand, None);
        let ty = operand.ty;
        let (fits, takes) = match op {
            UnaryOp::Neg => ([Ty::INT, Ty::FLOAT, Ty::BYTE].contains(&ty), "int, float or byte"),
            UnaryOp::BitNot => ([Ty::INT, Ty::BYTE].contains(&ty), "int or byte"),
            UnaryOp::Not => (ty == Ty::BOOL, "bool"),
        };
        if ty == Ty::ERROR {
            return error_expr(span);
        }
        if fits {
            return Expr { kind: ExprKind::Unary { op, operand: Box::new(operand) }, ty, span };
        }
        let found = self.show(ty);
        let message = format!("`{}` takes a value of type {takes}, not `{found}`", op.symbol());
        let mut error = Diagnostic::error(codes::UNARY_OPERAND, span, message, "");
        if op == UnaryOp::Not && matches!(self.types.kind(ty), TyKind::Optional(_)) {
            error = error.help("compare it: `== nil`");
        } else if op == UnaryOp::Not && ty == Ty::INT {
            error = error.help("`~` inverts the bits of an int");
        }
        self.report(error);
        error_expr(span)
    }

    /// `first op a op b …`
    pub(super) fn chain(
        &mut self,
        first: &ast::Expr,
        rest: &[(BinaryOp, Span, ast::Expr)],
        span: Span,
    ) -> Expr {
        let first = self.value(first, None);
        let mut ty = first.ty;
        let mut left = first.span;
        let mut checked = Vec::with_capacity(rest.len());
        for (op, op_span, right) in rest {
            let wanted = if is_shift(*op) { Ty::INT } else { ty };
            let right = self.value(right, Some(wanted));
            let fits = takes(*op, ty) && right.ty == wanted;
            if !fits && ty != Ty::ERROR {
                if right.ty != Ty::ERROR {
                    let known = checked.is_empty().then_some(&first);
                    self.chain_error(*op, *op_span, (left, ty, known), &right);
                } else if !takes(*op, ty) {
                    self.operand_error(*op, *op_span, (left, ty), None);
                }
                ty = Ty::ERROR;
            }
            left = left.to(right.span);
            checked.push((*op, *op_span, right));
        }
        if ty == Ty::ERROR {
            return error_expr(span);
        }
        let chain = Chain { first, rest: checked.into() };
        Expr { kind: ExprKind::Chain(Box::new(chain)), ty, span }
    }

    fn chain_error(
        &mut self,
        op: BinaryOp,
        op_span: Span,
        (left, ty, first): (Span, Ty, Option<&Expr>),
        right: &Expr,
    ) {
        let mut error = self.operands(op, op_span, (left, ty), Some((right.span, right.ty)));
        if is_shift(op) && takes(op, ty) {
            error = self.help_convert(error, right, Ty::INT);
        } else if takes(op, right.ty) && right.ty != Ty::BOOL {
            if takes(op, ty) || converts(ty, right.ty) {
                error = self.help_sides(error, first, ty, right);
            }
        } else if takes(op, ty) {
            error = self.help_convert(error, right, ty);
        } else if let TyKind::Optional(inner) = *self.types.kind(ty)
            && takes(op, inner)
        {
            error = self.help_unwrap(error, left);
        }
        self.report(error);
    }

    /// Reports operands that an operator does not take.
    pub(super) fn operand_error(
        &mut self,
        op: BinaryOp,
        op_span: Span,
        left: (Span, Ty),
        right: Option<(Span, Ty)>,
    ) {
        let error = self.operands(op, op_span, left, right);
        self.report(error);
    }

    fn operands(
        &self,
        op: BinaryOp,
        op_span: Span,
        (left, ty): (Span, Ty),
        right: Option<(Span, Ty)>,
    ) -> Diagnostic {
        let found = self.show(ty);
        let message = match right {
            Some((_, right)) => format!(
                "`{}` takes {}, not `{found}` and `{}`",
                op.symbol(),
                taken(op),
                self.show(right)
            ),
            None => format!("`{}` takes {}, not `{found}`", op.symbol(), taken(op)),
        };
        let mut error = Diagnostic::error(codes::BINARY_OPERANDS, op_span, message, "")
            .label(left, format!("this is `{found}`"));
        if let Some((span, ty)) = right {
            error = error.label(span, format!("this is `{}`", self.show(ty)));
        }
        error
    }

    /// An operand of `&&` or `||`.
    pub(super) fn logic_operand(&mut self, name: &str, operand: &ast::Expr) -> Expr {
        let checked = self.value(operand, Some(Ty::BOOL));
        if checked.ty == Ty::BOOL || checked.ty == Ty::ERROR {
            return checked;
        }
        let found = self.show(checked.ty);
        let message = format!("`{name}` takes bools, not `{found}`");
        let mut error = Diagnostic::error(codes::BINARY_OPERANDS, checked.span, message, "");
        if matches!(self.types.kind(checked.ty), TyKind::Optional(_)) {
            error = error.help("compare it: `!= nil`");
        }
        self.report(error);
        error_expr(checked.span)
    }

    /// `left op right`
    pub(super) fn compare(
        &mut self,
        op: CompareOp,
        op_span: Span,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Expr {
        let (needs_left, needs_right) = (self.needs_type(left), self.needs_type(right));
        if needs_left && needs_right {
            let message = "the types of both sides are not known";
            let error = Diagnostic::error(codes::COMPARISON, op_span, message, "")
                .label(left.span, "")
                .label(right.span, "");
            self.report(error);
            return error_expr(span);
        }
        let (left, right) = if needs_left {
            let right = self.value(right, None);
            (self.compared(left, &right), right)
        } else {
            let left = self.value(left, None);
            let right = self.compared(right, &left);
            (left, right)
        };
        if left.ty == Ty::ERROR || right.ty == Ty::ERROR {
            return error_expr(span);
        }
        let (left, right) = self.same_type(left, right);
        if left.ty == right.ty && self.comparable(op, &left, &right) {
            let kind = ExprKind::Compare { op, left: Box::new(left), right: Box::new(right) };
            return Expr { kind, ty: Ty::BOOL, span };
        }
        self.comparison_error(op, op_span, &left, &right);
        error_expr(span)
    }

    /// The side of a comparison that is looked at second.
    fn compared(&mut self, side: &ast::Expr, other: &Expr) -> Expr {
        let never_nil = !matches!(self.types.kind(other.ty), TyKind::Optional(_) | TyKind::Error);
        if !(never_nil && matches!(side.kind, ast::ExprKind::Nil)) {
            return self.value(side, Some(other.ty));
        }
        let message = format!("a value of type `{}` is never nil", self.show(other.ty));
        let error = Diagnostic::error(codes::NEVER_NIL_COMPARE, side.span, message, "")
            .label(other.span, "this always has a value");
        self.report(error);
        error_expr(side.span)
    }

    fn same_type(&mut self, left: Expr, right: Expr) -> (Expr, Expr) {
        if *self.types.kind(right.ty) == TyKind::Optional(left.ty) {
            let ty = right.ty;
            (self.coerce(left, ty, None), right)
        } else if *self.types.kind(left.ty) == TyKind::Optional(right.ty) {
            let ty = left.ty;
            (left, self.coerce(right, ty, None))
        } else {
            (left, right)
        }
    }

    fn comparable(&self, op: CompareOp, left: &Expr, right: &Expr) -> bool {
        let nil = matches!(left.kind, ExprKind::Nil) || matches!(right.kind, ExprKind::Nil);
        let function =
            matches!(self.types.kind(self.types.strip_optional(left.ty)), TyKind::Function(..));
        match op {
            CompareOp::Eq | CompareOp::Ne => nil || !function,
            _ => [Ty::INT, Ty::FLOAT, Ty::BYTE, Ty::STR].contains(&left.ty),
        }
    }

    fn comparison_error(&mut self, op: CompareOp, op_span: Span, left: &Expr, right: &Expr) {
        let (l, r) = (self.show(left.ty), self.show(right.ty));
        let sign = op.symbol();
        let message = match (left.ty == right.ty, op) {
            (false, _) => format!("`{l}` and `{r}` can't be compared"),
            (_, CompareOp::Eq | CompareOp::Ne) => {
                format!("function values can be compared with `nil` only, not by `{sign}`")
            }
            _ => format!("`{sign}` compares ints, floats, bytes and strs, not `{l}`"),
        };
        let mut error = Diagnostic::error(codes::COMPARISON, op_span, message, "")
            .label(left.span, format!("this is `{l}`"))
            .label(right.span, format!("this is `{r}`"));
        if left.ty != right.ty {
            error = self.help_sides(error, Some(left), left.ty, right);
        }
        self.report(error);
    }
}
