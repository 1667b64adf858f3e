//! Text to tokens.
//!
//! logos finds the tokens; the callbacks in `literal` judge the literals. What is
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
/// For highlighting: what names and strings the tokens stand for is told by the text alone.
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

#[cfg(test)]
mod tests {
    use super::*;
    use Token::*;

    fn tokens(text: &str) -> (Vec<Token>, Vec<String>) {
        let lexed = lex(text, 0, &mut Interner::new());
        assert_eq!(lexed.tokens.len(), lexed.spans.len());
        let error = |d: &Diagnostic| format!("{} {}..{}", d.code, d.span().start, d.span().end);
        (lexed.tokens, lexed.diagnostics.iter().map(error).collect())
    }

    #[track_caller]
    fn good(text: &str, expected: &[Token]) {
        assert_eq!(tokens(text), (expected.to_vec(), vec![]), "{text}");
    }

    #[track_caller]
    fn bad(text: &str, expected: &[&str]) {
        assert_eq!(tokens(text).1, expected, "{text}");
    }

    fn string(text: &str) -> Vec<u8> {
        let lexed = lex(text, 0, &mut Interner::new());
        assert_eq!(lexed.diagnostics, [], "{text}");
        lexed.strings[0].to_vec()
    }

    #[test]
    fn punctuation_is_greedy() {
        good("a>>>=b", &[Ident(Symbol(0)), UShrEq, Ident(Symbol(1))]);
        good(
            ">>>>= >= > ..=.. . => -> - =",
            &[UShr, Ge, Ge, Gt, DotDotEq, DotDot, Dot, FatArrow, Arrow, Minus, Eq],
        );
        good("fn fnx _ nil1", &[Fn, Ident(Symbol(0)), Ident(Symbol(1)), Ident(Symbol(2))]);
    }

    #[test]
    fn numbers() {
        good("0 007 1_000 9223372036854775807", &[Int(0), Int(7), Int(1000), Int(i64::MAX)]);
        good("9223372036854775808", &[IntMin]);
        good(
            "0xff 0b1010 0xFFFF_FFFF_FFFF_FFFF 0xE+1",
            &[Int(255), Int(10), Int(-1), Int(14), Plus, Int(1)],
        );
        good(
            "1.0 2.5e-3 1e9 1_0.5 1E5 1e+5",
            &[Float(1.0), Float(0.0025), Float(1e9), Float(10.5), Float(1e5), Float(1e5)],
        );
        good(
            "1..5 1..=2 1.abs()",
            &[
                Int(1),
                DotDot,
                Int(5),
                Int(1),
                DotDotEq,
                Int(2),
                Int(1),
                Dot,
                Ident(Symbol(0)),
                LParen,
                RParen,
            ],
        );
        bad("1__0", &["E0107 1..2"]);
        bad("1_", &["E0107 1..2"]);
        bad("0x", &["E0107 0..2"]);
        bad("0b", &["E0107 0..2"]);
        bad("0b12", &["E0107 3..4"]);
        bad("0x_1", &["E0107 2..3"]);
        bad("1e999", &["E0108 0..5"]);
        bad("1_e5", &["E0107 1..2"]);
        bad("1e", &["E0107 0..2"]);
        bad("1abc 2.5x", &["E0107 1..4", "E0107 8..9"]);
        bad("1.", &["E0107 0..2"]);
        bad("1. + 2", &["E0107 0..2"]);
        bad("9223372036854775809", &["E0108 0..19"]);
        bad("0x1_0000_0000_0000_0000", &["E0108 0..23"]);
    }

    #[test]
    fn texts() {
        assert_eq!(
            string(r#""a\n\r\t\0\\\"\'\x41\xff\u{e9}\u{1F600}é""#),
            b"a\n\r\t\0\\\"'A\xff\xc3\xa9\xf0\x9f\x98\x80\xc3\xa9"
        );
        assert_eq!(string(r#""//""#), b"//");
        assert_eq!(string("\"a\0b\""), b"a\0b");
        good(r#"'a' '\n' '\'' '\x41' '\"'"#, &[Byte(b'a'), Byte(10), Byte(39), Byte(65), Byte(34)]);
        bad(r#""\q""#, &["E0106 1..3"]);
        bad(r#""\x4" "\xg1""#, &["E0106 1..4", "E0106 7..9"]);
        bad(
            r#""\u{} \u{D800} \u{110000} \u41""#,
            &["E0106 1..5", "E0106 6..14", "E0106 15..25", "E0106 26..28"],
        );
        bad("''", &["E0104 0..2"]);
        bad("'ab' 'é'", &["E0104 0..4", "E0104 5..9"]);
        bad(r"'\u{41}' '\u{}'", &["E0106 1..7", "E0106 10..14"]);
        bad("'a", &["E0105 0..1"]);
        bad("\"abc\nx", &["E0103 0..1"]);
        bad("\"abc\r\nx", &["E0103 0..1"]);
        bad("\"abc\\\nx", &["E0103 0..1"]);
        bad("\"abc\\\"", &["E0103 0..1"]);
    }

    #[test]
    fn white_space_and_comments() {
        good("\u{feff}1\r\n2 // 3 é\r\n/* 4 /* 5 */ \u{0} */6//", &[Int(1), Int(2), Int(6)]);
        good("", &[]);
        good("\u{feff}", &[]);
        bad("x /* /* */", &["E0102 2..4"]);
        bad("/*", &["E0102 0..2"]);
        bad("/*/", &["E0102 0..2"]);
        bad("1 \u{feff}", &["E0101 2..5"]);
        bad("# é@ \0", &["E0101 0..1", "E0101 2..5", "E0101 6..7"]);
        assert_eq!(lossless("a // b\n/* c */").len(), 3);
    }
}
