//! Error productions: what stands for a missing piece, says so, and finds the place to go on from.

use super::state::{REACH, State, at, peek, peek_nth, since, take};
use super::{Ref, foreign};
use crate::source::Diagnostic;
use crate::syntax::ast::Name;
use crate::syntax::token::Token;

/// A name; `None` (reported) where there is none.
pub(super) fn take_name(inp: &mut Ref<'_, '_>, what: &str) -> Option<Name> {
    let start = at(inp);
    if let Token::Ident(symbol) = peek(inp) {
        inp.skip();
        return Some(Name { symbol, span: since(inp, start) });
    }
    inp.state().expected(start, what);
    let follows = peek_nth(inp, 1);
    if peek(inp).is_keyword()
        && matches!(follows, Token::Eq | Token::Colon | Token::Comma | Token::RParen | Token::In)
    {
        inp.skip();
    }
    None
}

/// `token`, or a report that `what` is missing.
pub(super) fn expect(inp: &mut Ref<'_, '_>, token: Token, what: &str) -> bool {
    let found = take(inp, token);
    if !found {
        let here = at(inp);
        inp.state().expected(here, what);
    }
    found
}

/// `token`, or `instead` in its place, which is reported.
pub(super) fn expect_or(inp: &mut Ref<'_, '_>, token: Token, instead: Token, what: &str) {
    if !expect(inp, token, what) {
        take(inp, instead);
    }
}

/// Whether a function or struct begins `n` tokens on: where every construct stops.
pub(super) fn item_ahead(inp: &mut Ref<'_, '_>, n: usize) -> bool {
    matches!(peek_nth(inp, n), Token::Fn | Token::Struct) && peek_nth(inp, n + 1).is_name()
}

/// The end of what the bracket at token `open` began: `close`, or an error.
pub(super) fn close(inp: &mut Ref<'_, '_>, open: usize, close: Token) {
    if take(inp, close) {
        return;
    }
    let here = at(inp);
    let state = inp.state();
    match find_close(state, here, close) {
        Some(end) if state.token(here) == Token::Eq => {
            assigned(state, here);
            skip_to(inp, end + 1);
        }
        Some(end) => {
            let what = format!("`{}`", symbol(close));
            state.report(here, |s| {
                Diagnostic::error(
                    "E0110",
                    s.span(here),
                    format!("expected {what}, found {}", s.found(here)),
                    format!("expected {what}"),
                )
                .label(s.span(open), "to close this")
            });
            skip_to(inp, end + 1);
        }
        None => unclosed(state, open, here, close),
    }
}

/// Reports that the bracket at `open` is not closed, which is seen at `here`.
pub(super) fn unclosed(state: &mut State<'_>, open: usize, here: usize, close: Token) {
    state.report(here, |s| {
        let open = if close == Token::RBrace { suspect(s, open, here) } else { open };
        Diagnostic::error(
            "E0112",
            s.span(open),
            format!("unclosed `{}`", s.text(open)),
            format!("this `{}` is never closed", s.text(open)),
        )
        .label(s.after_previous(here), format!("`{}` is missing before here", symbol(close)))
    });
}

/// Of the braces between `open` and `end`, the first whose closing brace stands further left than
/// the line that opens it: where a person would look. `open` itself where there is none.
fn suspect(state: &State<'_>, open: usize, end: usize) -> usize {
    let mut stack = Vec::new();
    for i in open..end {
        match state.token(i) {
            Token::LBrace => stack.push(i),
            Token::RBrace => {
                if let Some(opening) = stack.pop()
                    && state.newline_before(i)
                    && state.indent(i) < state.indent(opening)
                {
                    return opening;
                }
            }
            _ => {}
        }
    }
    open
}

/// The token that closes the list in which `from` stands, if it comes before the statement ends.
pub(super) fn find_close(state: &State<'_>, from: usize, close: Token) -> Option<usize> {
    let mut depth = 0;
    if matches!(state.token(from), Token::RParen | Token::RBracket)
        && state.token(from + 1) == close
    {
        return Some(from + 1);
    }
    for i in from..from + REACH {
        match state.token(i) {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace if depth > 0 => depth -= 1,
            token @ (Token::RParen | Token::RBracket | Token::RBrace) => {
                return (token == close).then_some(i);
            }
            Token::Semi if depth == 0 && close != Token::RBrace => return None,
            token if depth == 0 && token.is_statement_keyword() => return None,
            Token::Fn | Token::Struct if state.token(i + 1).is_name() => return None,
            Token::Eof => return None,
            _ => {}
        }
    }
    None
}

/// The end of the `if`, `match` or loop that begins at `start`: behind its last block.
pub(super) fn statement_end(state: &State<'_>, start: usize) -> Option<usize> {
    let mut depth = 0;
    for i in start..start + REACH {
        match state.token(i) {
            Token::LBrace => depth += 1,
            Token::RBrace if depth == 1 && state.token(i + 1) != Token::Else => return Some(i + 1),
            Token::RBrace if depth == 0 => return None,
            Token::RBrace => depth -= 1,
            Token::Semi if depth == 0 => return None,
            Token::Fn | Token::Struct if state.token(i + 1).is_name() => return None,
            Token::Eof => return None,
            _ => {}
        }
    }
    None
}

/// The token that closes the parenthesis or square bracket at `open`, if all between is balanced.
fn matching(state: &State<'_>, open: usize) -> Option<usize> {
    let mut stack = Vec::new();
    for i in open..open + REACH {
        match state.token(i) {
            Token::LParen => stack.push(Token::RParen),
            Token::LBracket => stack.push(Token::RBracket),
            Token::LBrace => stack.push(Token::RBrace),
            token @ (Token::RParen | Token::RBracket | Token::RBrace) => {
                if stack.pop() != Some(token) {
                    return None;
                }
                if stack.is_empty() {
                    return Some(i);
                }
            }
            Token::Semi if stack.last() == Some(&Token::RParen) => return None,
            Token::Fn | Token::Struct if state.token(i + 1).is_name() => return None,
            Token::Eof => return None,
            _ => {}
        }
    }
    None
}

pub(super) fn skip_to(inp: &mut Ref<'_, '_>, end: usize) {
    while at(inp) < end && inp.next().is_some() {}
}

/// The `;` of a statement. The answer is whether the statement is whole; where it is not, what is
/// left of it is skipped.
pub(super) fn semicolon(inp: &mut Ref<'_, '_>) -> bool {
    if take(inp, Token::Semi) {
        return true;
    }
    let here = at(inp);
    let next = peek(inp);
    if inp.state().is_quiet(here) {
        skip_statement(inp);
        return false;
    }
    let ended = matches!(next, Token::RBrace | Token::Eof)
        || next.is_statement_keyword()
        || inp.state().newline_before(here) && next.starts_statement();
    match next {
        Token::RParen | Token::RBracket => {
            stray(inp);
            if take(inp, Token::Semi) {
                return true;
            }
        }
        Token::Eq => assigned(inp.state(), here),
        _ => inp.state().report(here, |s| {
            let place = s.after_previous(here);
            let error = Diagnostic::error(
                "E0111",
                place,
                format!("expected `;`, found {}", s.found(here)),
                "expected `;`",
            );
            if ended { error.suggest(place, ";") } else { foreign::help_statement(error, s, here) }
        }),
    }
    if ended {
        return true;
    }
    skip_statement(inp);
    false
}

/// Reports a `=` inside an expression.
fn assigned(state: &mut State<'_>, here: usize) {
    state.report(here, |s| {
        Diagnostic::error("E0123", s.span(here), "an assignment is no value", "not allowed here")
            .help("`=` assigns, and stands in a statement of its own; `==` compares")
    });
}

/// Reports and takes closing brackets that close nothing.
pub(super) fn stray(inp: &mut Ref<'_, '_>) {
    let here = at(inp);
    inp.state().report(here, |s| {
        Diagnostic::error(
            "E0113",
            s.span(here),
            format!("unexpected `{}`", s.text(here)),
            "this closes nothing",
        )
    });
    while matches!(peek(inp), Token::RParen | Token::RBracket) {
        inp.skip();
    }
}

/// Skips what is left of a broken statement: to behind its `;` or block, or to before what begins
/// another statement or ends the block.
pub(super) fn skip_statement(inp: &mut Ref<'_, '_>) {
    let start = at(inp);
    if inp.state().newline_before(start) && peek(inp).starts_statement() {
        return;
    }
    let mut depth = 0;
    loop {
        let next = peek(inp);
        match next {
            Token::Eof => return,
            Token::Semi if depth == 0 => {
                inp.skip();
                return;
            }
            Token::LBrace => depth += 1,
            Token::LParen | Token::LBracket => {
                let here = at(inp);
                if let Some(end) = matching(inp.state(), here) {
                    skip_to(inp, end);
                }
            }
            Token::RBrace if depth == 0 => return,
            Token::RBrace => {
                depth -= 1;
                let after = at(inp) + 1;
                if depth == 0 && inp.state().newline_before(after) {
                    inp.skip();
                    return;
                }
            }
            Token::Fn | Token::Struct if item_ahead(inp, 0) => return,
            next if depth == 0 && next.is_statement_keyword() => return,
            next if depth == 0 && next.is_operand() => {
                let here = at(inp);
                let state = inp.state();
                if here > start && ends_operand(state.token(here - 1)) && state.newline_before(here)
                {
                    return;
                }
            }
            _ => {}
        }
        inp.skip();
    }
}

/// Whether an expression may end with a token.
fn ends_operand(token: Token) -> bool {
    token.is_operand() || matches!(token, Token::RParen | Token::RBracket)
}

/// A closing bracket as it is written.
pub(super) fn symbol(token: Token) -> &'static str {
    match token {
        Token::RParen => ")",
        Token::RBracket => "]",
        _ => "}",
    }
}
