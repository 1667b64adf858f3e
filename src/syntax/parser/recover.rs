//! Error productions: what stands for a missing piece, says so, and finds the place to go on from.

use super::state::{REACH, State, at, nested, peek, peek_nth, since, take};
use super::{Ref, Rule};
use crate::source::Diagnostic;
use crate::syntax::ast::Name;
use crate::syntax::token::Token;
use chumsky::Parser;
use chumsky::primitive::custom;

/// A name; `None` (reported) where there is none.
pub(super) fn take_name(inp: &mut Ref<'_, '_>, what: &str) -> Option<Name> {
    let start = at(inp);
    if let Token::Ident(symbol) = peek(inp) {
        inp.skip();
        return Some(Name { symbol, span: since(inp, start) });
    }
    inp.state().expected(start, what);
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
            Token::Semi if depth == 0 => return None,
            token if depth == 0 && token.is_statement_keyword() => return None,
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

/// `open element, element, … close`, a comma after the last one allowed. The rule is to be asked
/// for only where `open` comes next. At most one error is reported of the list itself.
pub(super) fn list<'s, O: 's>(
    element: impl Fn(&mut Ref<'s, '_>) -> O + Clone + 's,
    starts: fn(Token) -> bool,
    closing: Token,
    what: &'static str,
) -> Rule<'s, Vec<O>> {
    let list = List { starts, closing, what };
    custom(move |inp| {
        let elements = inside(inp, |inp, open| {
            let mut elements = Vec::new();
            list.elements(inp, open, &element, &mut elements);
            elements
        });
        Ok(elements.unwrap_or_default())
    })
    .boxed()
}

/// Takes an opening bracket and runs `inner` one construct deeper, where struct literals are free.
/// `None` where that is too deep.
pub(super) fn inside<'s, 'p, O>(
    inp: &mut Ref<'s, 'p>,
    inner: impl FnOnce(&mut Ref<'s, 'p>, usize) -> O,
) -> Option<O> {
    nested(inp, 1, |inp| {
        let open = at(inp);
        inp.skip();
        let outer = std::mem::replace(&mut inp.state().struct_literals, true);
        let result = inner(inp, open);
        inp.state().struct_literals = outer;
        result
    })
}

/// An opening bracket, `inner` and the closing bracket.
pub(super) fn bracketed<'s, 'p, O>(
    inp: &mut Ref<'s, 'p>,
    closing: Token,
    inner: impl FnOnce(&mut Ref<'s, 'p>) -> O,
) -> Option<O> {
    inside(inp, |inp, open| {
        let result = inner(inp);
        close(inp, open, closing);
        result
    })
}

/// A form of list: what its elements begin with and what closes it.
#[derive(Clone, Copy)]
pub(super) struct List {
    /// Whether an element begins with a token.
    pub starts: fn(Token) -> bool,
    /// The bracket that closes it.
    pub closing: Token,
    /// What is expected where an element may begin.
    pub what: &'static str,
}

impl List {
    /// Elements up to and with the closing bracket of the list that the token `open` began; to be
    /// called where an element may begin.
    pub fn elements<'s, 'p, O>(
        &self,
        inp: &mut Ref<'s, 'p>,
        open: usize,
        element: &impl Fn(&mut Ref<'s, 'p>) -> O,
        out: &mut Vec<O>,
    ) {
        loop {
            if take(inp, self.closing) {
                return;
            }
            let next = peek(inp);
            if !(self.starts)(next) || item_ahead(inp, 0) {
                return self.end(inp, open, self.what);
            }
            out.push(element(inp));
            if !self.separated(inp, open) {
                return;
            }
        }
    }

    /// What follows an element: whether another may come, or the closing bracket. Otherwise the
    /// list is ended, with a report.
    pub fn separated(&self, inp: &mut Ref<'_, '_>, open: usize) -> bool {
        let next = peek(inp);
        if take(inp, Token::Comma) || next == self.closing {
            return true;
        }
        let here = at(inp);
        if next == Token::Semi
            && self.closing == Token::RBrace
            && (peek_nth(inp, 2) == Token::Colon || peek_nth(inp, 1) == Token::RBrace)
        {
            inp.state().expected(here, "`,`");
            inp.skip();
            return true;
        }
        self.end(inp, open, &format!("`,` or `{}`", symbol(self.closing)));
        false
    }

    /// Ends the list at a token that does not belong in it.
    fn end(&self, inp: &mut Ref<'_, '_>, open: usize, what: &str) {
        let here = at(inp);
        match find_close(inp.state(), here, self.closing) {
            Some(end) => {
                inp.state().expected(here, what);
                skip_to(inp, end + 1);
            }
            None => unclosed(inp.state(), open, here, self.closing),
        }
    }
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
        Token::Eq => inp.state().report(here, |s| {
            Diagnostic::error(
                "E0123",
                s.span(here),
                "an assignment is no value",
                "not allowed here",
            )
            .help("`=` assigns, and stands in a statement of its own; `==` compares")
        }),
        _ => inp.state().report(here, |s| {
            let place = s.after_previous(here);
            let error = Diagnostic::error(
                "E0111",
                place,
                format!("expected `;`, found {}", s.found(here)),
                "expected `;`",
            );
            if ended { error.suggest(place, ";") } else { error }
        }),
    }
    if ended {
        return true;
    }
    skip_statement(inp);
    false
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
            _ => {}
        }
        inp.skip();
    }
}

/// A closing bracket as it is written.
fn symbol(token: Token) -> &'static str {
    match token {
        Token::RParen => ")",
        Token::RBracket => "]",
        _ => "}",
    }
}
