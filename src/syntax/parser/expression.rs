//! Expressions.

use super::precedence::{Operator, assemble};
use super::recover::{List, close, expect_or, item_ahead, list, take_name};
use super::state::{State, at, nested, peek, peek_nth, since, take, wrap};
use super::{Ref, Rule};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Expr, ExprKind, Lambda, Name, UnaryOp};
use crate::syntax::literal::too_large;
use crate::syntax::token::Token;
use chumsky::prelude::*;
use chumsky::primitive::custom;

/// `expr`: operands and operators. What is no expression is reported and stands as
/// `ExprKind::Error`. `lambda` is the rule for function expressions.
pub(super) fn expression<'s>(lambda: Rule<'s, Lambda>) -> Rule<'s, Expr> {
    recursive(|expr| {
        let inner = move |inp: &mut Ref<'s, '_>| {
            nested(inp, 1, |inp| inp.parse(&expr).ok()).flatten().unwrap_or_else(|| missing(inp))
        };
        let args =
            list(inner.clone(), Token::starts_expression, Token::RParen, "an argument or `)`");
        let operand = operand(primary(inner.clone(), lambda), args, inner).boxed();
        let operator = any().filter(|&token| Operator::of(token).is_some()).map_with(|token, e| {
            let (place, state): (SimpleSpan, _) = (e.span(), e.state());
            let state: &mut State<'s> = state;
            (Operator::of(token), state.span(place.start))
        });
        let rest = operator
            .then(operand.clone())
            .map(|((op, span), operand)| op.map(|op| (op, span, operand)))
            .repeated()
            .collect::<Vec<_>>();
        operand.then(rest).map_with(|(first, rest), e| match rest.is_empty() {
            true => first,
            false => assemble(first, rest.into_iter().flatten().collect(), e.state()),
        })
    })
    .boxed()
}

/// `Expr` missing at the next token.
pub(super) fn missing(inp: &mut Ref<'_, '_>) -> Expr {
    let here = at(inp);
    let next = peek(inp);
    let state = inp.state();
    let doubled = here > 0 && state.adjacent(here - 1) && here > 1;
    match (state.token(here.wrapping_sub(2)), state.token(here.wrapping_sub(1)), next) {
        (_, Token::Plus, Token::Plus) if state.adjacent(here) => step(inp, here, "++"),
        (Token::Minus, Token::Minus, _) if doubled => step(inp, here - 1, "--"),
        (_, _, Token::Plus) => inp.state().report(here, |s| {
            Diagnostic::error(
                "E0110",
                s.span(here),
                "there is no unary `+`",
                "expected an expression",
            )
        }),
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
        _ => inp.state().expected(here, "an expression"),
    }
    if next == Token::Error {
        inp.skip();
    }
    Expr { kind: ExprKind::Error, span: since(inp, here) }
}

fn step(inp: &mut Ref<'_, '_>, first: usize, operator: &str) {
    let here = at(inp);
    inp.state().report(here, |s| {
        Diagnostic::error(
            "E0110",
            s.cover(first.min(here - 1), first.max(here - 1) + 1),
            format!("there is no `{operator}`"),
            "expected an expression after this",
        )
        .help(format!("write `{}= 1`", &operator[..1]))
    });
    take(inp, Token::Plus);
}

/// `unary`: prefix operators, a primary expression and what follows it.
fn operand<'s>(
    primary: Rule<'s, Expr>,
    args: Rule<'s, Vec<Expr>>,
    inner: impl Fn(&mut Ref<'s, '_>) -> Expr + Clone + 's,
) -> Rule<'s, Expr> {
    let postfix = move |inp: &mut Ref<'s, '_>| -> Option<Expr> {
        let start = at(inp);
        let mut expr = inp.parse(&primary).ok()?;
        loop {
            let open = at(inp);
            let object = match peek(inp) {
                Token::LParen | Token::LBracket | Token::Dot | Token::Bang => Box::new(expr),
                _ => return Some(expr),
            };
            let kind = match peek(inp) {
                Token::LParen => ExprKind::Call { callee: object, args: inp.parse(&args).ok()? },
                Token::LBracket => {
                    inp.skip();
                    let free = std::mem::replace(&mut inp.state().struct_literals, true);
                    let index = Box::new(inner(inp));
                    close(inp, open, Token::RBracket);
                    inp.state().struct_literals = free;
                    ExprKind::Index { object, index }
                }
                Token::Dot => {
                    inp.skip();
                    match take_name(inp, "a field or a function after `.`") {
                        Some(name) if peek(inp) == Token::LParen => {
                            let args = inp.parse(&args).ok()?;
                            ExprKind::Method { receiver: object, name, args }
                        }
                        Some(name) => ExprKind::Field { object, name },
                        None => {
                            let junk = matches!(peek(inp), Token::Int(_)) || peek(inp).is_keyword();
                            if junk && inp.state().adjacent(open + 1) {
                                inp.skip();
                            }
                            ExprKind::Error
                        }
                    }
                }
                _ => {
                    inp.skip();
                    ExprKind::Unwrap(object)
                }
            };
            expr = Expr { kind, span: since(inp, start) };
            if wrap(inp) {
                return Some(expr);
            }
        }
    };
    custom(move |inp| {
        let start = at(inp);
        let mut ops = Vec::new();
        while let Some(op) = unary(peek(inp)) {
            ops.push((op, at(inp)));
            inp.skip();
        }
        let tree = nested(inp, ops.len() as u32, |inp| match least_int(inp, start) {
            Some(expr) => {
                ops.pop();
                Some(expr)
            }
            None => postfix(inp),
        });
        let Some(mut expr) = tree.flatten() else { return Ok(missing(inp)) };
        for (op, place) in ops.into_iter().rev() {
            let span = Span::new(inp.state().span(place).start, expr.span.end);
            expr = Expr { kind: ExprKind::Unary { op, operand: Box::new(expr) }, span };
        }
        Ok(expr)
    })
    .boxed()
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

/// `primary`.
fn primary<'s>(
    inner: impl Fn(&mut Ref<'s, '_>) -> Expr + Clone + 's,
    lambda: Rule<'s, Lambda>,
) -> Rule<'s, Expr> {
    let value = inner.clone();
    let field = move |inp: &mut Ref<'s, '_>| -> Option<(Name, Expr)> {
        let name = take_name(inp, "a field");
        expect_or(inp, Token::Colon, Token::Eq, "`:`");
        let value = value(inp);
        Some((name?, value))
    };
    let fields = list(field, Token::is_name, Token::RBrace, "a field or `}`");
    let array = array(inner.clone());
    custom(move |inp| {
        let start = at(inp);
        let next = peek(inp);
        let kind = match next {
            Token::LParen => {
                inp.skip();
                let free = std::mem::replace(&mut inp.state().struct_literals, true);
                let expr = inner(inp);
                close(inp, start, Token::RParen);
                inp.state().struct_literals = free;
                expr.kind
            }
            Token::LBracket => inp.parse(&array)?,
            Token::Fn if !named_function_ahead(inp) => {
                ExprKind::Lambda(Box::new(inp.parse(&lambda)?))
            }
            Token::Ident(symbol) => {
                inp.skip();
                match struct_ahead(inp) {
                    false => ExprKind::Name(symbol),
                    true => {
                        let name = Name { symbol, span: since(inp, start) };
                        let fields = inp.parse(&fields)?.into_iter().flatten().collect();
                        if !inp.state().struct_literals {
                            in_head(inp, start);
                        }
                        ExprKind::Struct { name, fields }
                    }
                }
            }
            _ => match literal(inp) {
                Some(kind) => kind,
                None => return Ok(missing(inp)),
            },
        };
        Ok(Expr { kind, span: since(inp, start) })
    })
    .boxed()
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
fn array<'s>(inner: impl Fn(&mut Ref<'s, '_>) -> Expr + Clone + 's) -> Rule<'s, ExprKind> {
    custom(move |inp| {
        let open = at(inp);
        inp.skip();
        let free = std::mem::replace(&mut inp.state().struct_literals, true);
        let mut items = Vec::new();
        let list = List {
            open,
            starts: Token::starts_expression,
            closing: Token::RBracket,
            what: "an element or `]`",
        };
        let mut more = true;
        let mut count = None;
        if peek(inp).starts_expression() && !item_ahead(inp, 0) {
            items.push(inner(inp));
            match take(inp, Token::Semi) {
                true => count = Some(inner(inp)),
                false => more = list.separated(inp),
            }
        }
        match count {
            Some(_) => close(inp, open, Token::RBracket),
            None if more => list.elements(inp, &inner, &mut items),
            None => {}
        }
        inp.state().struct_literals = free;
        Ok(match (count, items.pop()) {
            (Some(count), Some(value)) => {
                ExprKind::Repeat { value: Box::new(value), count: Box::new(count) }
            }
            (_, last) => {
                items.extend(last);
                ExprKind::Array(items)
            }
        })
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
