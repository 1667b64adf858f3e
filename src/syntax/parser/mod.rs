//! Tokens to tree.
//!
//! A chumsky grammar over the token slice. Every rule is chosen by its first token (the language is
//! LL(1) but for a few places that look two further), and once chosen it never fails: what is
//! missing is reported by an *error production* (`name`, `close`, `semicolon` …) that stands for it
//! in the tree. So there is no backtracking, time is linear, and one mistake costs no more than the
//! tree around it. After an error the parser stays quiet until it has taken a token.
//!
//! - [`state`]: what the rules share: look-ahead, reporting, the nesting limit.
//! - [`recover`]: the error productions and where to go on after them.
//! - [`foreign`]: words of other languages, and what is written for them.
//! - [`balance`]: which braces are at fault, asked only after an error.
//! - [`types`], [`expression`], [`primary`], [`precedence`], [`pattern`], [`list`], [`statement`],
//!   [`block`], [`item`]: the grammar.
//!
//! Input: the tokens of one file. Output: the tree and what was wrong. Contract: the tree is at most
//! [`NESTING`] constructs deep; a file that goes deeper gives an empty program; chains of operators and of `else if` are flat lists.

mod balance;
mod block;
mod expression;
mod foreign;
mod item;
mod list;
mod pattern;
mod precedence;
mod primary;
mod recover;
mod state;
mod statement;
mod types;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

use super::ast::Program;
use super::lexer::lex;
use super::token::Token;
use crate::source::{Diagnostic, Interner, Sources};
use chumsky::error::EmptyErr;
use chumsky::input::InputRef;
use chumsky::{Boxed, Parser, extra};
use state::State;

/// How deep brackets, braces, types, unary operators and postfix operators may nest.
pub const NESTING: u32 = 1_000;

type In<'s> = &'s [Token];
type Extra<'s> = extra::Full<EmptyErr, State<'s>, ()>;
type Ref<'s, 'p> = InputRef<'s, 'p, In<'s>, Extra<'s>>;
type Rule<'s, O> = Boxed<'s, 's, In<'s>, O, Extra<'s>>;

/// Parses the file of `sources` whose text begins at `base` (what [`Sources::add`] answered).
/// The diagnostics are ordered by place.
pub fn parse(sources: &Sources, base: u32, interner: &mut Interner) -> (Program, Vec<Diagnostic>) {
    let text = sources.locate(base).0.text.as_str();
    let lexed = lex(text, base, interner);
    let mut state = State::new(text, base, &lexed, interner.intern("_"));
    let result = item::program().parse_with_state(lexed.tokens.as_slice(), &mut state);
    debug_assert!(result.has_output(), "no rule fails once it is chosen");
    let (mut diagnostics, given_up) = state.finish();
    let items = result.into_output().filter(|_| !given_up).unwrap_or_default();
    diagnostics.extend(lexed.diagnostics);
    diagnostics.sort_by_key(Diagnostic::span);
    (Program { items }, diagnostics)
}
