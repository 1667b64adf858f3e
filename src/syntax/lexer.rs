//! Text to tokens.
//!
//! logos finds the tokens; the callbacks in [`literal`](super::literal) judge the literals. What is
//! wrong becomes a diagnostic and a token that the parser can go on with.
//!
//! Input: a file's text (UTF-8; a byte-order mark at its start is skipped). Output: tokens and their
//! places without comments ([`lex`]), or with them ([`lossless`]).

use super::token::Token;
use crate::source::{Diagnostic, Interner, Span, Symbol};
use logos::Logos;
use std::ops::Range;

/// The tokens of a file, each with its place, and what was wrong with them.
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    /// The tokens without comments.
    pub tokens: Vec<Token>,
    /// The place of each token.
    pub spans: Vec<Span>,
    /// The texts of string literals, escapes resolved.
    pub strings: Vec<Box<[u8]>>,
    /// Lexical errors, in order.
    pub diagnostics: Vec<Diagnostic>,
}

/// What the callbacks write to while a file is read.
#[derive(Default)]
pub struct Scan {
    base: u32,
    interner: Interner,
    pub(super) strings: Vec<Box<[u8]>>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Scan {
    pub(super) fn intern(&mut self, name: &str) -> Symbol {
        self.interner.intern(name)
    }

    /// The global place of a stretch of the file.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.base + range.start as u32, self.base + range.end as u32)
    }
}

/// Reads the tokens of the file whose text begins at the global offset `base`.
pub fn lex(text: &str, base: u32, interner: &mut Interner) -> Lexed {
    let scan = Scan { base, interner: std::mem::take(interner), ..Scan::default() };
    let mut lexer = Token::lexer_with_extras(text, scan);
    lexer.bump(bom(text));
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut spans = Vec::with_capacity(text.len() / 4);
    while let Some(token) = lexer.next() {
        let range = lexer.span();
        let token = match token {
            Ok(Token::LineComment | Token::BlockComment) => continue,
            Ok(Token::Dot) if mend_float(&mut lexer, tokens.last_mut(), spans.last_mut()) => {
                continue;
            }
            Ok(token) => token,
            Err(()) => {
                unknown(&mut lexer, range.clone());
                Token::Error
            }
        };
        tokens.push(token);
        spans.push(lexer.extras.span(range));
    }
    let scan = lexer.extras;
    *interner = scan.interner;
    Lexed { tokens, spans, strings: scan.strings, diagnostics: scan.diagnostics }
}

/// All tokens with comments, each with its stretch of the text; white space is the gaps between.
pub fn lossless(text: &str) -> Vec<(Token, Range<usize>)> {
    let mut lexer = Token::lexer_with_extras(text, Scan::default());
    lexer.bump(bom(text));
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push((token.unwrap_or(Token::Error), lexer.span()));
    }
    tokens
}

/// The length of the byte-order mark at the start of a text.
fn bom(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// `1.` is no float: at a point that follows a decimal integer and leads to neither digits, a
/// name nor a range, says so and makes the integer a float.
fn mend_float(
    lexer: &mut logos::Lexer<'_, Token>,
    last: Option<&mut Token>,
    place: Option<&mut Span>,
) -> bool {
    let (Some(last), Some(place)) = (last, place) else { return false };
    let Token::Int(value) = *last else { return false };
    let dot = lexer.extras.span(lexer.span());
    let start = (place.start - lexer.extras.base) as usize;
    let digits = &lexer.source()[start..lexer.span().start];
    let next = lexer.remainder().bytes().next();
    if place.end != dot.start
        || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'_')
        || next.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
    {
        return false;
    }
    place.end = dot.end;
    let error = Diagnostic::error(
        "E0107",
        *place,
        format!("`{digits}.` is no number"),
        "no digits after the point",
    )
    .help("a float has digits on both sides of its point")
    .suggest(*place, format!("{digits}.0"));
    lexer.extras.diagnostics.push(error);
    *last = Token::Float(value as f64);
    true
}

/// Reports bytes that begin no token; a run of them is one error.
fn unknown(lexer: &mut logos::Lexer<'_, Token>, range: Range<usize>) {
    let span = lexer.extras.span(range.clone());
    if let Some(last) = lexer.extras.diagnostics.last_mut()
        && last.code == "E0101"
        && last.span().end == span.start
    {
        last.labels[0].0.end = span.end;
        last.message = "unexpected characters".into();
        return;
    }
    let text = &lexer.source()[range];
    let shown = match text.chars().next() {
        Some('\u{feff}') => "a byte-order mark inside the file".into(),
        Some(c) if c.is_control() || c.is_whitespace() => format!("character U+{:04X}", c as u32),
        _ => format!("character `{text}`"),
    };
    let error = Diagnostic::error(
        "E0101",
        span,
        format!("unexpected {shown}"),
        "no token begins like this",
    );
    lexer.extras.diagnostics.push(error);
}
