//! Patterns of `match`.

use super::Ref;
use super::primary::literal;
use super::state::{at, peek, since, take};
use crate::source::Diagnostic;
use crate::syntax::ast::{Expr, ExprKind, Pattern, PatternKind};
use crate::syntax::token::Token;

/// `{ pattern "|" }`: one or more; what is no pattern is reported and left out.
pub(super) fn patterns(inp: &mut Ref<'_, '_>) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    loop {
        patterns.extend(pattern(inp));
        if !take(inp, Token::Or) {
            return patterns;
        }
    }
}

/// `literal`, `literal..literal`, `literal..=literal` or `_`.
fn pattern(inp: &mut Ref<'_, '_>) -> Option<Pattern> {
    let start = at(inp);
    if peek(inp) == Token::Ident(inp.state().underscore) {
        inp.skip();
        return Some(Pattern { kind: PatternKind::Any, span: since(inp, start) });
    }
    let from = bound(inp)?;
    let inclusive = match peek(inp) {
        Token::DotDot => false,
        Token::DotDotEq => true,
        _ => return Some(Pattern { span: from.span, kind: PatternKind::Literal(from) }),
    };
    inp.skip();
    let to = bound(inp)?;
    let kind = PatternKind::Range { from, to, inclusive };
    Some(Pattern { kind, span: since(inp, start) })
}

/// A literal, a `-` before a number folded into it.
fn bound(inp: &mut Ref<'_, '_>) -> Option<Expr> {
    let start = at(inp);
    let minus = take(inp, Token::Minus);
    let here = at(inp);
    let kind = match (minus, peek(inp)) {
        (true, Token::Int(value)) => ExprKind::Int(value.wrapping_neg()),
        (true, Token::IntMin) => ExprKind::Int(i64::MIN),
        (true, Token::Float(value)) => ExprKind::Float(-value),
        (true, _) => {
            inp.state().expected(here, "a number");
            return None;
        }
        (false, Token::Ident(_)) => {
            inp.state().report(here, |s| {
                Diagnostic::error(
                    "E0110",
                    s.span(here),
                    format!("expected a pattern, found {}", s.found(here)),
                    "no pattern",
                )
                .help("a pattern is a literal, a range of literals or `_`")
            });
            return None;
        }
        (false, _) => match literal(inp) {
            Some(kind) => return Some(Expr { kind, span: since(inp, start) }),
            None => {
                inp.state().expected(here, "a pattern");
                return None;
            }
        },
    };
    inp.skip();
    Some(Expr { kind, span: since(inp, start) })
}
