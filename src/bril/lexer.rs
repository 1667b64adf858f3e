//! Bril text to tokens.
//!
//! A file's text → tokens and their places, and what was wrong. Comments and white space are left
//! out.

use crate::source::{Diagnostic, Interner, Span, Symbol};
use logos::Logos;

/// A token and its value.
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(extras = Scan)]
#[logos(skip r"[ \t\r\n\f\v]+")]
#[logos(skip(r"#[^\n]*", allow_greedy = true))]
#[allow(missing_docs)]
pub enum Token {
    #[regex(r"[A-Za-z_%][A-Za-z0-9_%.]*", |lex| lex.extras.interner.intern(lex.slice()))]
    Ident(Symbol),
    /// `@name`
    #[regex(r"@[A-Za-z_%][A-Za-z0-9_%.]*", |lex| lex.extras.interner.intern(&lex.slice()[1..]))]
    Func(Symbol),
    /// `.name`
    #[regex(r"\.[A-Za-z_%][A-Za-z0-9_%.]*", |lex| lex.extras.interner.intern(&lex.slice()[1..]))]
    Label(Symbol),
    #[regex(r"[+-]?[0-9]+", int)]
    Int(i64),
    #[regex(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", float)]
    #[regex(r"[+-]?[0-9]+[eE][+-]?[0-9]+", float)]
    Float(f64),
    #[regex(r"'[^\n]'", |lex| lex.slice().chars().nth(1))]
    #[regex(r"'\\[0abtnvfr]'", |lex| escape(lex.slice().as_bytes()[2]))]
    Char(char),
    /// The path of an import, with its quotes.
    #[regex(r#""[^"\n]*""#)]
    Str,
    #[token(":")]
    Colon,
    #[token("=")]
    Equals,
    #[token(";")]
    Semi,
    #[token(",")]
    Comma,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    /// What is no token.
    Error,
    /// Behind the last token.
    Eof,
}

/// What the rules write to.
#[derive(Default)]
pub struct Scan {
    base: u32,
    interner: Interner,
    diagnostics: Vec<Diagnostic>,
}

/// The tokens of a file.
pub(super) struct Lexed {
    pub tokens: Vec<Token>,
    pub spans: Vec<Span>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the tokens of a text that begins at the global offset `base`.
pub(super) fn lex(text: &str, base: u32, interner: &mut Interner) -> Lexed {
    let scan = Scan { base, interner: std::mem::take(interner), diagnostics: Vec::new() };
    let mut lexer = Token::lexer_with_extras(text, scan);
    if text.starts_with('\u{feff}') {
        lexer.bump('\u{feff}'.len_utf8());
    }
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut spans = Vec::with_capacity(text.len() / 4);
    while let Some(token) = lexer.next() {
        let range = lexer.span();
        let span = Span::new(base + range.start as u32, base + range.end as u32);
        if token.is_err() {
            let what = format!("`{}` is no part of Bril", lexer.slice().escape_debug());
            lexer.extras.diagnostics.push(Diagnostic::error("E0701", span, what, ""));
        }
        tokens.push(token.unwrap_or(Token::Error));
        spans.push(span);
    }
    let scan = lexer.extras;
    *interner = scan.interner;
    Lexed { tokens, spans, diagnostics: scan.diagnostics }
}

fn int(lex: &mut logos::Lexer<'_, Token>) -> i64 {
    lex.slice().parse().unwrap_or_else(|_| {
        let range = lex.span();
        let base = lex.extras.base;
        let span = Span::new(base + range.start as u32, base + range.end as u32);
        let message = "this number does not fit in an int of 64 bits";
        lex.extras.diagnostics.push(Diagnostic::error("E0711", span, message, ""));
        0
    })
}

fn float(lex: &mut logos::Lexer<'_, Token>) -> Option<f64> {
    lex.slice().parse().ok()
}

/// The character that `\` and a letter stand for.
pub fn escape(letter: u8) -> Option<char> {
    Some(match letter {
        b'0' => '\0',
        b'a' => '\x07',
        b'b' => '\x08',
        b't' => '\t',
        b'n' => '\n',
        b'v' => '\x0b',
        b'f' => '\x0c',
        b'r' => '\r',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        let mut interner = Interner::new();
        let text =
            "x.1: ptr<int> = const -5; # no\n.l@f 'a' '\\n' ''' '\\' .5 1e3 1. +.1E-2 \"p\" _%";
        let lexed = lex(text, 0, &mut interner);
        assert!(lexed.diagnostics.is_empty());
        let mut name = |text: &str| interner.intern(text);
        let (x, ptr, int, constant) = (name("x.1"), name("ptr"), name("int"), name("const"));
        let (l, f, u) = (name("l"), name("f"), name("_%"));
        use Token::*;
        assert_eq!(
            lexed.tokens,
            [
                Ident(x),
                Colon,
                Ident(ptr),
                Less,
                Ident(int),
                Greater,
                Equals,
                Ident(constant),
                Int(-5),
                Semi,
                Label(l),
                Func(f),
                Char('a'),
                Char('\n'),
                Char('\''),
                Char('\\'),
                Float(0.5),
                Float(1000.0),
                Float(1.0),
                Float(0.001),
                Str,
                Ident(u)
            ]
        );
    }

    #[test]
    fn what_is_no_token_is_told() {
        let lexed = lex("a ! 99999999999999999999 ~", 0, &mut Interner::new());
        assert_eq!(lexed.diagnostics.len(), 3);
        assert_eq!(lexed.tokens.len(), 4);
    }
}
