//! Expressions.

use super::list::{bracketed, list};
use super::precedence::{Levels, Operator};
use super::primary::primary;
use super::recover::{skip_to, statement_end, take_name};
use super::state::{at, beside, nested, peek, peek_nth, since, take, wrap};
use super::{Ref, Rule};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Call, Expr, ExprKind, Field, Lambda, Method, UnaryOp};
use crate::syntax::token::Token;
use chumsky::prelude::*;
use chumsky::primitive::custom;

/// How the rules inside an expression ask for an expression.
pub(super) trait Subexpression<'s>: Fn(&mut Ref<'s, '_>) -> Expr + Clone + 's {}

impl<'s, F: Fn(&mut Ref<'s, '_>) -> Expr + Clone + 's> Subexpression<'s> for F {}

/// `expr`: operands and operators. What is no expression is reported and stands as
/// `ExprKind::Error`. `lambda` is the rule for function expressions.
pub(super) fn expression<'s>(lambda: Rule<'s, Lambda>) -> Rule<'s, Expr> {
    recursive(|expr| {
        let inner = move |inp: &mut Ref<'s, '_>| inp.parse(&expr).unwrap_or_else(|_| missing(inp));
        let operand = operand(primary(inner.clone(), lambda), inner);
        custom(move |inp| {
            let mut right = operand(inp);
            if Operator::of(peek(inp)).is_none() {
                return Ok(right);
            }
            let mut levels = Levels::new();
            while let Some(operator) = Operator::of(peek(inp)) {
                let place = at(inp);
                inp.skip();
                levels.operator(operator, place, right, inp.state());
                right = operand(inp);
            }
            Ok(levels.finish(right, inp.state()))
        })
    })
    .boxed()
}

/// `Expr` missing at the next token.
pub(super) fn missing(inp: &mut Ref<'_, '_>) -> Expr {
    let here = at(inp);
    let next = peek(inp);
    let state = inp.state();
    let doubled = here > 1 && state.adjacent(here - 1);
    match (state.token(here.wrapping_sub(2)), state.token(here.wrapping_sub(1)), next) {
        (_, Token::Plus, Token::Plus) if state.adjacent(here) => step(inp, here - 1, "++"),
        (Token::Minus, Token::Minus, _) if doubled => step(inp, here - 2, "--"),
        (_, _, Token::Plus) => inp.state().report(here, |s| {
            Diagnostic::error(
                "E0125",
                s.span(here),
                "there is no unary `+`",
                "expected an expression",
            )
        }),
        (_, Token::DotDot, Token::Dot) if inp.state().adjacent(here) => {
            inp.state().report(here, |s| {
                let place = s.cover(here - 1, here + 1);
                Diagnostic::error("E0125", place, "there is no `...`", "")
                    .help("write `..` for a range without its end, `..=` for one with it")
            });
            inp.skip();
            if matches!(peek(inp), Token::Int(_) | Token::Ident(_)) {
                inp.skip();
            }
            return Expr { kind: ExprKind::Error, span: since(inp, here) };
        }
        (_, _, Token::Dot) if matches!(peek_nth(inp, 1), Token::Int(_)) => {
            inp.state().report(here, |s| {
                let text = format!("0.{}", s.text(here + 1));
                Diagnostic::error("E0107", s.span(here), "a float has digits before its point", "")
                    .suggest(s.cover(here, here + 2), text)
            });
            inp.skip();
            inp.skip();
            return Expr { kind: ExprKind::Float(0.0), span: since(inp, here) };
        }
        (_, _, Token::If | Token::Match | Token::While | Token::For)
            if !inp.state().newline_before(here) && !inp.state().is_quiet(here) =>
        {
            statement_for_value(inp);
            return Expr { kind: ExprKind::Error, span: since(inp, here) };
        }
        _ => inp.state().expected(here, "an expression"),
    }
    if next == Token::Error {
        inp.skip();
    }
    Expr { kind: ExprKind::Error, span: since(inp, here) }
}

/// Reports a statement where a value is wanted, and skips it if it can be told where it ends.
fn statement_for_value(inp: &mut Ref<'_, '_>) {
    let here = at(inp);
    inp.state().report(here, |s| {
        let message = format!("`{}` is a statement and has no value", s.text(here));
        Diagnostic::error("E0128", s.span(here), message, "expected an expression")
    });
    if let Some(end) = statement_end(inp.state(), here) {
        skip_to(inp, end);
    }
}

fn step(inp: &mut Ref<'_, '_>, first: usize, operator: &str) {
    let here = at(inp);
    inp.state().report(here, |s| {
        Diagnostic::error(
            "E0125",
            s.cover(first, first + 2),
            format!("there is no `{operator}`"),
            "expected an expression after this",
        )
        .help(format!("write `{}= 1`", &operator[..1]))
    });
    take(inp, Token::Plus);
}

/// `postfix`: a primary expression and what follows it.
fn postfix<'s>(
    primary: impl Subexpression<'s>,
    inner: impl Subexpression<'s>,
) -> impl Subexpression<'s> {
    let list = list(inner.clone(), Token::starts_expression, Token::RParen, "an argument or `)`");
    let args = move |inp: &mut Ref<'s, '_>| inp.parse(&list).unwrap_or_default();
    move |inp: &mut Ref<'s, '_>| {
        let start = at(inp);
        let mut expr = primary(inp);
        loop {
            let next = peek(inp);
            let follows =
                matches!(next, Token::LParen | Token::LBracket | Token::Dot | Token::Bang);
            if !follows || !wrap(inp) {
                return expr;
            }
            let kind = match next {
                Token::LParen => ExprKind::Call(Box::new(Call { callee: expr, args: args(inp) })),
                Token::LBracket => match bracketed(inp, Token::RBracket, &inner) {
                    Some(index) => {
                        ExprKind::Index { object: Box::new(expr), index: Box::new(index) }
                    }
                    None => ExprKind::Error,
                },
                Token::Dot => {
                    inp.skip();
                    match take_name(inp, "a field or a function after `.`") {
                        Some(name) if peek(inp) == Token::LParen => {
                            let method = Method { receiver: expr, name, args: args(inp) };
                            ExprKind::Method(Box::new(method))
                        }
                        Some(name) => ExprKind::Field(Box::new(Field { object: expr, name })),
                        None => {
                            not_a_field(inp);
                            ExprKind::Error
                        }
                    }
                }
                _ => {
                    inp.skip();
                    ExprKind::Unwrap(Box::new(expr))
                }
            };
            expr = Expr { kind, span: since(inp, start) };
        }
    }
}

/// Skips a number or keyword that was written for a field.
fn not_a_field(inp: &mut Ref<'_, '_>) {
    let here = at(inp);
    let next = peek(inp);
    if (matches!(next, Token::Int(_)) || next.is_keyword()) && inp.state().adjacent(here) {
        inp.skip();
    }
}

/// `unary`: prefix operators and a postfix expression.
fn operand<'s>(
    primary: impl Subexpression<'s>,
    inner: impl Subexpression<'s>,
) -> impl Subexpression<'s> {
    let postfix = postfix(primary, inner);
    move |inp: &mut Ref<'s, '_>| match unary(peek(inp)) {
        None => beside(inp, &postfix),
        Some(_) => prefixed(inp, &postfix),
    }
}

/// Prefix operators, of which one comes next, and a postfix expression.
fn prefixed<'s>(inp: &mut Ref<'s, '_>, postfix: &impl Subexpression<'s>) -> Expr {
    let start = at(inp);
    let mut ops = Vec::new();
    while let Some(op) = unary(peek(inp)) {
        ops.push((op, at(inp)));
        inp.skip();
    }
    let tree = nested(inp, ops.len() as u32, |inp| match least_int(inp, start) {
        Some(expr) => {
            ops.pop();
            expr
        }
        None => postfix(inp),
    });
    let Some(mut expr) = tree else { return missing(inp) };
    for (op, place) in ops.into_iter().rev() {
        let span = Span::new(inp.state().span(place).start, expr.span.end);
        expr = Expr { kind: ExprKind::Unary { op, operand: Box::new(expr) }, span };
    }
    expr
}

fn unary(token: Token) -> Option<UnaryOp> {
    match token {
        Token::Minus => Some(UnaryOp::Neg),
        Token::Bang => Some(UnaryOp::Not),
        Token::Tilde => Some(UnaryOp::BitNot),
        _ => None,
    }
}

/// `9223372036854775808` directly under the unary minus before it: not where a postfix operator
/// binds it first. `start` is the first prefix operator.
fn least_int(inp: &mut Ref<'_, '_>, start: usize) -> Option<Expr> {
    let here = at(inp);
    let under_minus = here > start && inp.state().token(here - 1) == Token::Minus;
    let bound =
        matches!(peek_nth(inp, 1), Token::LParen | Token::LBracket | Token::Dot | Token::Bang);
    (peek(inp) == Token::IntMin && under_minus && !bound).then(|| {
        inp.skip();
        Expr { kind: ExprKind::Int(i64::MIN), span: since(inp, here - 1) }
    })
}
