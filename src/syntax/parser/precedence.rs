//! Operators between operands: a flat list becomes a tree by precedence.
//!
//! Floyd's operator precedence with one open level per precedence on a stack (at most nine), whose
//! operands are kept flat. Input: operands and the operators between them, as they are read. Output:
//! `Chain`, `Compare` and `Logic` nodes; comparisons that chain are reported. Linear.

use super::state::State;
use crate::buffer::Buffer;
use crate::pooled;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{BinaryOp, Chain, Compare, CompareOp, Expr, ExprKind, Logic};
use crate::syntax::token::Token;

/// What stands between two operands.
#[derive(Clone, Copy)]
pub(super) enum Operator {
    Binary(BinaryOp),
    Compare(CompareOp),
    And,
    Or,
}

impl Operator {
    /// The operator that a token is.
    pub fn of(token: Token) -> Option<Self> {
        use Operator::{Binary, Compare};
        Some(match token {
            Token::Star => Binary(BinaryOp::Mul),
            Token::Slash => Binary(BinaryOp::Div),
            Token::Percent => Binary(BinaryOp::Rem),
            Token::Plus => Binary(BinaryOp::Add),
            Token::Minus => Binary(BinaryOp::Sub),
            Token::Shl => Binary(BinaryOp::Shl),
            Token::Shr => Binary(BinaryOp::Shr),
            Token::UShr => Binary(BinaryOp::UShr),
            Token::And => Binary(BinaryOp::BitAnd),
            Token::Caret => Binary(BinaryOp::BitXor),
            Token::Or => Binary(BinaryOp::BitOr),
            Token::EqEq => Compare(CompareOp::Eq),
            Token::NotEq => Compare(CompareOp::Ne),
            Token::Lt => Compare(CompareOp::Lt),
            Token::Le => Compare(CompareOp::Le),
            Token::Gt => Compare(CompareOp::Gt),
            Token::Ge => Compare(CompareOp::Ge),
            Token::AndAnd => Operator::And,
            Token::OrOr => Operator::Or,
            _ => return None,
        })
    }

    /// How tightly it binds.
    fn level(self) -> u8 {
        use BinaryOp::*;
        match self {
            Operator::Or => 0,
            Operator::And => 1,
            Operator::Compare(_) => 2,
            Operator::Binary(BitOr) => 3,
            Operator::Binary(BitXor) => 4,
            Operator::Binary(BitAnd) => 5,
            Operator::Binary(Shl | Shr | UShr) => 6,
            Operator::Binary(Add | Sub) => 7,
            Operator::Binary(Mul | Div | Rem) => 8,
        }
    }
}

/// Operands of one level that wait for the one to the right.
struct Open {
    level: u8,
    first: Expr,
    /// Operators with the operands right of them.
    rest: Vec<(Operator, Span, Expr)>,
    /// The operator whose right operand is being built.
    last: (Operator, Span),
}

pooled! { Open }

/// What is open of `operand op operand …`, the loosest level first.
pub(super) struct Levels(Buffer<Open>);

impl Levels {
    pub fn new() -> Self {
        Self(Buffer::new())
    }

    /// Takes the operator at the token `at` and the operand to its left.
    pub fn operator(&mut self, operator: Operator, at: usize, left: Expr, state: &mut State<'_>) {
        let level = operator.level();
        let mut left = left;
        while let Some(open) = self.0.pop_if(|open| open.level > level) {
            left = open.finish(left, state);
        }
        let next = (operator, state.span(at));
        match self.0.last_mut() {
            Some(open) if open.level == level => {
                let (op, span) = std::mem::replace(&mut open.last, next);
                open.rest.push((op, span, left));
            }
            _ => self.0.push(Open { level, first: left, rest: Vec::new(), last: next }),
        }
    }

    /// The tree, whose last operand is `right`.
    pub fn finish(mut self, mut right: Expr, state: &mut State<'_>) -> Expr {
        while let Some(open) = self.0.pop() {
            right = open.finish(right, state);
        }
        right
    }
}

impl Open {
    fn finish(self, right: Expr, state: &mut State<'_>) -> Expr {
        let span = self.first.span.to(right.span);
        let (operator, op_span) = self.last;
        let first = self.first;
        let kind = match operator {
            Operator::Compare(op) => match self.rest.first() {
                None => ExprKind::Compare(Box::new(Compare { op, op_span, left: first, right })),
                Some(earlier) => {
                    let second = self.rest.get(1).map_or(op_span, |later| later.1);
                    let broken = |e: &Expr| matches!(e.kind, ExprKind::Error);
                    if !broken(&first) && !broken(&right) && !self.rest.iter().any(|r| broken(&r.2))
                    {
                        state.insist(chained(earlier.1, second));
                    }
                    ExprKind::Error
                }
            },
            Operator::And | Operator::Or => {
                let mut operands = vec![first];
                operands.extend(self.rest.into_iter().map(|(_, _, operand)| operand));
                operands.push(right);
                let and = matches!(operator, Operator::And);
                ExprKind::Logic(Box::new(Logic { and, operands }))
            }
            Operator::Binary(_) => {
                // Most chains have two operands, and the tree keeps this memory.
                let mut rest = Vec::with_capacity(self.rest.len() + 1);
                let last = std::iter::once((operator, op_span, right));
                for (operator, span, operand) in self.rest.into_iter().chain(last) {
                    if let Operator::Binary(op) = operator {
                        rest.push((op, span, operand));
                    }
                }
                ExprKind::Chain(Box::new(Chain { first, rest }))
            }
        };
        Expr { kind, span }
    }
}

fn chained(first: Span, second: Span) -> Diagnostic {
    Diagnostic::error("E0115", second, "comparisons can't be chained", "the second comparison")
        .label(first, "the first one")
        .help("join two comparisons with `&&`, or put one in parentheses")
}
