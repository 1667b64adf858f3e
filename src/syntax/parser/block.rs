//! Blocks, and what is done about braces that are missing or too many.
//!
//! A function or struct inside a block is reported and kept as an item of the program; where the
//! braces say that the block before it was never closed, it ends the block instead. So no function
//! is lost to a broken one before it.

use super::recover::{item_ahead, skip_to, unclosed};
use super::state::{at, nested, peek, peek_nth, since, take};
use super::{Extra, In, Ref, Rule};
use crate::source::Diagnostic;
use crate::syntax::ast::{Block, Item, Stmt};
use crate::syntax::token::Token;
use chumsky::Parser;
use chumsky::primitive::custom;

/// What a block belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockOf {
    /// A named function.
    Function,
    /// A function expression.
    Lambda,
    /// An arm of a `match`.
    Arm,
    /// Another statement.
    Statement,
}

/// Whether an arm of a `match` begins here, as no statement does.
fn arm_ahead(inp: &mut Ref<'_, '_>) -> bool {
    peek(inp).starts_pattern()
        && match peek_nth(inp, 1) {
            Token::FatArrow => true,
            Token::DotDot | Token::DotDotEq => peek_nth(inp, 3) == Token::FatArrow,
            _ => false,
        }
}

/// `block`. Where the `{` is missing, something sensible is taken for the block.
pub(super) fn block<'s>(
    item: impl Parser<'s, In<'s>, Item, Extra<'s>> + Clone + 's,
    of: BlockOf,
) -> Rule<'s, Block> {
    custom(move |inp| {
        let start = at(inp);
        if peek(inp) != Token::LBrace && !find_block(inp) {
            return Ok(missing_block(inp, &item, of));
        }
        let open = at(inp);
        let statements = statements(inp, &item, Some(open), of);
        let span = match statements.is_some() {
            true => since(inp, open),
            false => since(inp, start),
        };
        Ok(Block { statements: statements.unwrap_or_default(), span })
    })
    .boxed()
}

/// Reports that no `{` comes next; whether one comes later in the same head, to which all is
/// skipped.
fn find_block(inp: &mut Ref<'_, '_>) -> bool {
    let here = at(inp);
    inp.state().expected(here, "`{`");
    let mut ahead = 0;
    loop {
        match peek_nth(inp, ahead) {
            Token::LBrace => {
                skip_to(inp, here + ahead);
                return true;
            }
            Token::Semi | Token::RBrace | Token::Eof | Token::Fn | Token::Struct | Token::Else => {
                return false;
            }
            token if token.is_statement_keyword() => return false,
            _ => {}
        }
        ahead += 1;
        if inp.state().newline_before(here + ahead) {
            return false;
        }
    }
}

/// What stands for a block whose `{` is missing.
fn missing_block<'s>(
    inp: &mut Ref<'s, '_>,
    item: &impl Parser<'s, In<'s>, Item, Extra<'s>>,
    of: BlockOf,
) -> Block {
    let start = at(inp);
    let mut statements_found = Vec::new();
    if inp.state().balance().lacks_opening(start) {
        inp.state().balance().mend(start);
        statements_found = statements(inp, item, None, of).unwrap_or_default();
    } else if matches!(of, BlockOf::Function | BlockOf::Lambda) {
        take(inp, Token::Semi);
    } else if peek(inp).starts_statement() && !item_ahead(inp, 0) {
        if let Some(Ok(Item::Statement(statement))) = nested(inp, 1, |inp| inp.parse(item)) {
            statements_found.push(statement);
        }
    } else {
        take(inp, Token::Semi);
    }
    Block { statements: statements_found, span: since(inp, start) }
}

/// Statements up to and with the `}`; `open` is the token of the `{`, which comes next.
fn statements<'s>(
    inp: &mut Ref<'s, '_>,
    item: &impl Parser<'s, In<'s>, Item, Extra<'s>>,
    open: Option<usize>,
    of: BlockOf,
) -> Option<Vec<Stmt>> {
    let free = std::mem::replace(&mut inp.state().struct_literals, true);
    let result = nested(inp, 1, |inp| {
        if open.is_some() {
            inp.skip();
        }
        let mut statements = Vec::new();
        loop {
            let here = at(inp);
            match peek(inp) {
                Token::RBrace if of == BlockOf::Function && closes_early(inp, open) => {
                    inp.state().balance().mend(here);
                    stray_brace(inp);
                }
                Token::RBrace => {
                    inp.skip();
                    break;
                }
                Token::Eof => {
                    unclosed_block(inp, open);
                    break;
                }
                Token::Fn | Token::Struct if item_ahead(inp, 0) => {
                    if !inp.state().balance().is_enclosed(here) {
                        unclosed_block(inp, open);
                        break;
                    }
                    not_here(inp);
                    if let Ok(item) = inp.parse(item) {
                        inp.state().hoisted.push(item);
                    }
                }
                _ if of == BlockOf::Arm && arm_ahead(inp) => {
                    unclosed_block(inp, open);
                    break;
                }
                _ => match inp.parse(item) {
                    Ok(Item::Statement(statement)) => statements.push(statement),
                    Ok(item) => inp.state().hoisted.push(item),
                    Err(_) => break,
                },
            }
        }
        statements
    });
    inp.state().struct_literals = free;
    result
}

fn unclosed_block(inp: &mut Ref<'_, '_>, open: Option<usize>) {
    let here = at(inp);
    if let Some(open) = open {
        unclosed(inp.state(), open, here, Token::RBrace);
    }
}

/// Whether the `}` that comes next ends a function too early: the function's piece of the file
/// closes too many braces, this one does not stand where a function's last brace stands, and
/// another is still to come.
fn closes_early(inp: &mut Ref<'_, '_>, open: Option<usize>) -> bool {
    let here = at(inp);
    let state = inp.state();
    let Some(open) = open else { return false };
    let misplaced = match state.newline_before(here) {
        true => state.indent(here) > state.indent(open),
        false => !state.newline_before(here + 1),
    };
    if !misplaced {
        return false;
    }
    if matches!(state.token(here + 1), Token::RBrace | Token::Eof | Token::Fn | Token::Struct) {
        return false;
    }
    state.balance().lacks_opening(here) && state.closes_after(here)
}

pub(super) fn stray_brace(inp: &mut Ref<'_, '_>) {
    let here = at(inp);
    inp.state().report(here, |s| {
        Diagnostic::error("E0113", s.span(here), "unexpected `}`", "this closes nothing")
    });
    inp.skip();
}

/// Reports an item inside a block.
fn not_here(inp: &mut Ref<'_, '_>) {
    let here = at(inp);
    let span = inp.state().cover(here, here + 2);
    let (what, help) = match peek(inp) {
        Token::Fn => ("function", "a function expression can stand here: `let f = fn(…) { … };`"),
        _ => ("struct", "declare it outside the function"),
    };
    inp.state().insist(
        Diagnostic::error(
            "E0118",
            span,
            format!("a {what} can be declared at top level only"),
            "inside a block",
        )
        .help(help),
    );
}
