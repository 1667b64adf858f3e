//! What the rules share: the tokens to look at, the errors so far, the nesting.

use super::balance::Balance;
use super::{In, NESTING, Ref, foreign};
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast::Item;
use crate::syntax::lexer::Lexed;
use crate::syntax::token::Token;
use chumsky::input::{Checkpoint, Cursor};
use chumsky::inspector::Inspector;

/// How many tokens are looked through after an error.
pub(super) const REACH: usize = 1_000;

/// The state of one parse.
pub(super) struct State<'s> {
    text: &'s str,
    base: u32,
    tokens: &'s [Token],
    spans: &'s [Span],
    pub strings: &'s [Box<[u8]>],
    /// The name `_`.
    pub underscore: Symbol,
    /// Whether `Name {` begins a struct literal here: not in the heads of statements.
    pub struct_literals: bool,
    /// Functions and structs found inside blocks, which stand at top level in the tree.
    pub hoisted: Vec<Item>,
    diagnostics: Vec<Diagnostic>,
    /// The token at which an error was reported last.
    quiet: Option<usize>,
    /// How many constructs are open around the current token.
    depth: u32,
    /// The height of the tallest tree finished inside the innermost open construct.
    height: u32,
    too_deep: bool,
    balance: Option<Balance>,
}

impl<'s> State<'s> {
    pub fn new(text: &'s str, base: u32, lexed: &'s Lexed, underscore: Symbol) -> Self {
        Self {
            text,
            base,
            tokens: &lexed.tokens,
            spans: &lexed.spans,
            strings: &lexed.strings,
            underscore,
            struct_literals: true,
            hoisted: Vec::new(),
            diagnostics: Vec::new(),
            quiet: None,
            depth: 0,
            height: 0,
            too_deep: false,
            balance: None,
        }
    }

    /// The errors, and whether the file was given up.
    pub fn finish(self) -> (Vec<Diagnostic>, bool) {
        (self.diagnostics, self.too_deep)
    }

    /// The token at an index; past the end it is `Eof`.
    pub fn token(&self, at: usize) -> Token {
        self.tokens.get(at).copied().unwrap_or(Token::Eof)
    }

    /// The place of a token; past the end the empty place at the end of the file.
    pub fn span(&self, at: usize) -> Span {
        let end = self.base + self.text.len() as u32;
        self.spans.get(at).copied().unwrap_or(Span::new(end, end))
    }

    /// The place of the tokens `from..to`; where there are none, the empty place before `from`.
    pub fn cover(&self, from: usize, to: usize) -> Span {
        let start = self.span(from).start;
        if from < to { Span::new(start, self.span(to - 1).end) } else { Span::new(start, start) }
    }

    /// The empty place right after the token before `at`.
    pub fn after_previous(&self, at: usize) -> Span {
        let end = if at == 0 { self.base } else { self.span(at - 1).end };
        Span::new(end, end)
    }

    /// Whether a line ends between the token before `at` and the token at `at`.
    pub fn newline_before(&self, at: usize) -> bool {
        let from = (self.after_previous(at).start - self.base) as usize;
        let to = (self.span(at).start - self.base) as usize;
        at == 0 || self.text[from..to].contains('\n')
    }

    /// Whether a token stands right behind the one before it.
    pub fn adjacent(&self, at: usize) -> bool {
        at > 0 && self.span(at - 1).end == self.span(at).start
    }

    /// The indentation in bytes of the line in which a token begins.
    pub fn indent(&self, at: usize) -> usize {
        let offset = (self.span(at).start - self.base) as usize;
        let line = self.text[..offset].rfind('\n').map_or(0, |i| i + 1);
        self.text[line..].bytes().take_while(|b| matches!(b, b' ' | b'\t')).count()
    }

    /// The source text of a token.
    pub fn text(&self, at: usize) -> &'s str {
        self.source(self.span(at))
    }

    /// The source text of a place in this file.
    pub fn source(&self, span: Span) -> &'s str {
        &self.text[(span.start - self.base) as usize..(span.end - self.base) as usize]
    }

    /// A token as messages name it.
    pub fn found(&self, at: usize) -> String {
        match self.token(at) {
            Token::Eof => "the end of the file".into(),
            Token::Str(_) => "a string".into(),
            token if token.is_keyword() => format!("keyword `{}`", self.text(at)),
            _ => match self.text(at) {
                text if text.len() > 40 => "a long word".into(),
                text => format!("`{text}`"),
            },
        }
    }

    /// How many errors were reported.
    pub fn reported(&self) -> usize {
        self.diagnostics.len()
    }

    /// Whether an error was reported here already, so that another would only be its echo.
    pub fn is_quiet(&self, at: usize) -> bool {
        self.too_deep
            || self.quiet == Some(at)
            || self.token(at) == Token::Error
            || at > 0 && self.token(at - 1) == Token::Error
    }

    /// Reports an error at the token `at`, but for echoes.
    pub fn report(&mut self, at: usize, error: impl FnOnce(&Self) -> Diagnostic) {
        if !self.is_quiet(at) {
            let error = error(self);
            self.diagnostics.push(error);
        }
        self.quiet = Some(at);
    }

    /// Reports an error that is surely no echo.
    pub fn insist(&mut self, error: Diagnostic) {
        if !self.too_deep {
            self.diagnostics.push(error);
        }
    }

    /// `expected WHAT, found …` at the token `at`; where that begins a line and looks like
    /// something else altogether, the place is behind the token before it.
    pub fn expected(&mut self, at: usize, what: &str) {
        self.report(at, |s| {
            let next = s.token(at);
            let unrelated = next.starts_statement() || matches!(next, Token::RBrace | Token::Eof);
            let behind = at > 0 && unrelated && s.newline_before(at);
            let error = Diagnostic::error(
                "E0110",
                if behind { s.after_previous(at) } else { s.span(at) },
                format!("expected {what}, found {}", s.found(at)),
                format!("expected {what}"),
            );
            if behind { error } else { foreign::help_operator(error, s, at) }
        });
    }

    /// Whether the block that the `}` at `at` would close is closed by a later one, too.
    pub fn closes_after(&self, at: usize) -> bool {
        let mut depth = 0;
        for i in at + 1..at + REACH {
            match self.token(i) {
                Token::LBrace => depth += 1,
                Token::RBrace if depth == 0 => return true,
                Token::RBrace => depth -= 1,
                Token::Fn | Token::Struct if self.token(i + 1).is_name() => return false,
                Token::Eof => return false,
                _ => {}
            }
        }
        false
    }

    /// The braces of the file.
    pub fn balance(&mut self) -> &mut Balance {
        self.balance.get_or_insert_with(|| Balance::of(self.tokens))
    }

    /// Goes one construct deeper; the answer is to be handed to [`State::leave`].
    fn enter(&mut self, levels: u32) -> u32 {
        self.depth += levels;
        std::mem::replace(&mut self.height, 0)
    }

    /// Comes out of `levels` constructs, inside which the finished tree lies.
    fn leave(&mut self, levels: u32, outer: u32) {
        self.depth -= levels;
        self.height = outer.max(self.height + levels);
    }
}

/// Where the parser stands.
pub(super) fn at(inp: &Ref<'_, '_>) -> usize {
    *inp.cursor().inner()
}

/// The next token.
pub(super) fn peek(inp: &mut Ref<'_, '_>) -> Token {
    inp.peek().unwrap_or(Token::Eof)
}

/// The token `n` after the next one.
pub(super) fn peek_nth(inp: &mut Ref<'_, '_>, n: usize) -> Token {
    let at = at(inp) + n;
    inp.state().token(at)
}

/// Takes the next token if it is `token`.
pub(super) fn take(inp: &mut Ref<'_, '_>, token: Token) -> bool {
    let is = peek(inp) == token;
    if is {
        inp.skip();
    }
    is
}

/// The place from the token `from` to where the parser stands.
pub(super) fn since(inp: &mut Ref<'_, '_>, from: usize) -> Span {
    let to = at(inp);
    inp.state().cover(from, to)
}

/// Runs `inner` as `levels` constructs inside the current one. Beyond the limit the rest of the
/// file is given up and `None` is the answer.
pub(super) fn nested<'s, 'p, O>(
    inp: &mut Ref<'s, 'p>,
    levels: u32,
    inner: impl FnOnce(&mut Ref<'s, 'p>) -> O,
) -> Option<O> {
    if inp.state().depth + levels > NESTING {
        give_up(inp);
        return None;
    }
    let outer = inp.state().enter(levels);
    let result = stacker::maybe_grow(256 << 10, 4 << 20, || inner(inp));
    inp.state().leave(levels, outer);
    Some(result)
}

/// Runs `inner` where the current construct is, and lets it [`wrap`] no other tree than its own.
pub(super) fn beside<'s, 'p, O>(
    inp: &mut Ref<'s, 'p>,
    inner: impl FnOnce(&mut Ref<'s, 'p>) -> O,
) -> O {
    let outer = inp.state().enter(0);
    let result = inner(inp);
    inp.state().leave(0, outer);
    result
}

/// Says that one more construct is to wrap the tree just finished; whether that may be. Where not,
/// the rest of the file is given up.
pub(super) fn wrap(inp: &mut Ref<'_, '_>) -> bool {
    let state = inp.state();
    state.height += 1;
    let good = state.depth + state.height <= NESTING;
    if !good {
        give_up(inp);
    }
    good
}

/// Reports that the nesting is too deep, once, and takes all that is left.
fn give_up(inp: &mut Ref<'_, '_>) {
    let here = at(inp);
    let state = inp.state();
    if !state.too_deep {
        let span = state.span(here);
        state.insist(
            Diagnostic::error("E0114", span, "this is nested too deeply", "deeper than 1,000")
                .note(
                    "brackets, blocks, types, unary and postfix operators nest at most 1,000 deep",
                ),
        );
        state.too_deep = true;
    }
    while inp.next().is_some() {}
}

impl<'s> Inspector<'s, In<'s>> for State<'s> {
    type Checkpoint = ();

    fn on_token(&mut self, _: &Token) {}

    fn on_save<'p>(&self, _: &Cursor<'s, 'p, In<'s>>) -> Self::Checkpoint {}

    fn on_rewind<'p>(&mut self, _: &Checkpoint<'s, 'p, In<'s>, Self::Checkpoint>) {}
}
