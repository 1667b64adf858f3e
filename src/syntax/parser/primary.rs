//! Primary expressions: literals, names and what stands in brackets.

use super::expression::{Subexpression, missing};
use super::list::{List, bracketed, inside, list};
use super::recover::{close, expect_or, item_ahead, take_name};
use super::state::{at, peek, peek_nth, since, take};
use super::{Ref, Rule};
use crate::source::Diagnostic;
use crate::syntax::ast::{Expr, ExprKind, Lambda, Name, StructLiteral};
use crate::syntax::literal::too_large;
use crate::syntax::token::Token;
use chumsky::Parser;
use chumsky::primitive::custom;

/// `primary`; what is none is reported.
pub(super) fn primary<'s>(
    inner: impl Subexpression<'s>,
    lambda: Rule<'s, Lambda>,
) -> impl Subexpression<'s> {
    let value = inner.clone();
    let field = move |inp: &mut Ref<'s, '_>| -> Option<(Name, Expr)> {
        let name = take_name(inp, "a field");
        expect_or(inp, Token::Colon, Token::Eq, "`:`");
        let value = value(inp);
        Some((name?, value))
    };
    let fields = list(field, Token::is_name, Token::RBrace, "a field or `}`");
    let array = array(inner.clone());
    move |inp: &mut Ref<'s, '_>| {
        let start = at(inp);
        let next = peek(inp);
        let kind = match next {
            Token::LParen => {
                bracketed(inp, Token::RParen, &inner).map_or(ExprKind::Error, |expr| expr.kind)
            }
            Token::LBracket => inp.parse(&array).unwrap_or(ExprKind::Error),
            Token::Fn if !named_function_ahead(inp) => match inp.parse(&lambda) {
                Ok(lambda) => ExprKind::Lambda(Box::new(lambda)),
                Err(_) => ExprKind::Error,
            },
            Token::Ident(symbol) => {
                inp.skip();
                match struct_ahead(inp) {
                    false => ExprKind::Name(symbol),
                    true => {
                        let name = Name { symbol, span: since(inp, start) };
                        let reported = inp.state().reported();
                        let fields = inp.parse(&fields).unwrap_or_default();
                        let fields = fields.into_iter().flatten().collect();
                        let whole = inp.state().reported() == reported;
                        if !inp.state().struct_literals {
                            in_head(inp, start);
                        }
                        match whole {
                            true => ExprKind::Struct(Box::new(StructLiteral { name, fields })),
                            false => ExprKind::Error,
                        }
                    }
                }
            }
            _ => match literal(inp) {
                Some(kind) => kind,
                None => return missing(inp),
            },
        };
        Expr { kind, span: since(inp, start) }
    }
}

/// A literal, if one comes next.
pub(super) fn literal(inp: &mut Ref<'_, '_>) -> Option<ExprKind> {
    let here = at(inp);
    let kind = match peek(inp) {
        Token::Int(value) => ExprKind::Int(value),
        Token::IntMin => {
            let state = inp.state();
            let error = too_large(state.text(here), state.span(here))
                .note("9223372036854775808 is allowed only directly under a unary minus");
            state.insist(error);
            ExprKind::Int(i64::MAX)
        }
        Token::Float(value) => ExprKind::Float(value),
        Token::Byte(value) => ExprKind::Byte(value),
        Token::Str(index) => ExprKind::Str(inp.state().strings[index as usize].clone()),
        Token::True => ExprKind::Bool(true),
        Token::False => ExprKind::Bool(false),
        Token::Nil => ExprKind::Nil,
        _ => return None,
    };
    inp.skip();
    Some(kind)
}

/// `[a, b]` or `[e; n]`.
fn array<'s>(inner: impl Subexpression<'s>) -> Rule<'s, ExprKind> {
    let list = List {
        starts: Token::starts_expression,
        closing: Token::RBracket,
        what: "an element or `]`",
    };
    custom(move |inp| {
        let array = inside(inp, |inp, open| {
            let mut items = Vec::new();
            if !peek(inp).starts_expression() || item_ahead(inp, 0) {
                list.elements(inp, open, &inner, &mut items);
                return ExprKind::Array(items);
            }
            let first = inner(inp);
            if take(inp, Token::Semi) {
                let (value, count) = (Box::new(first), Box::new(inner(inp)));
                close(inp, open, Token::RBracket);
                return ExprKind::Repeat { value, count };
            }
            items.push(first);
            if list.separated(inp, open) {
                list.elements(inp, open, &inner, &mut items);
            }
            ExprKind::Array(items)
        });
        Ok(array.unwrap_or(ExprKind::Error))
    })
    .boxed()
}

/// Whether `fn NAME` that begins a line comes next: a function that follows something unfinished.
fn named_function_ahead(inp: &mut Ref<'_, '_>) -> bool {
    let here = at(inp);
    item_ahead(inp, 0) && inp.state().newline_before(here)
}

/// Whether the name just taken begins a struct literal. In heads, where none may stand, only what
/// can be nothing else is taken for one.
fn struct_ahead(inp: &mut Ref<'_, '_>) -> bool {
    if peek(inp) != Token::LBrace {
        return false;
    }
    let (second, third) = (peek_nth(inp, 1), peek_nth(inp, 2));
    match inp.state().struct_literals {
        true => {
            second == Token::RBrace
                || second.is_literal() && matches!(third, Token::Comma | Token::RBrace)
                || second.is_name()
                    && matches!(third, Token::Colon | Token::Comma | Token::RBrace | Token::Eq)
        }
        false => second.is_name() && third == Token::Colon,
    }
}

/// Reports a struct literal in the head of a statement.
fn in_head(inp: &mut Ref<'_, '_>, start: usize) {
    let end = at(inp);
    let state = inp.state();
    let span = state.cover(start, end);
    let text = state.source(span);
    let error = Diagnostic::error(
        "E0117",
        span,
        "a struct literal here must stand in parentheses",
        "its `{` would begin the block",
    )
    .suggest(span, format!("({text})"));
    state.insist(error);
}
