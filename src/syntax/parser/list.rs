//! What stands in brackets: one thing, or a list with commas.

use super::recover::{close, find_close, item_ahead, skip_to, symbol, unclosed};
use super::state::{at, nested, peek, peek_nth, take};
use super::{Ref, Rule};
use crate::syntax::token::Token;
use chumsky::Parser;
use chumsky::primitive::custom;

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
