//! Literals and block comments: the logos callbacks that judge them.
//!
//! Each takes the stretch that a pattern found and answers with the token it is. A malformed
//! literal is reported at the place at fault and stands for a value of its kind all the same, so
//! that the parser sees nothing amiss.

use super::lexer::Scan;
use super::token::Token;
use crate::source::{Diagnostic, Span};
use logos::Lexer;
use std::borrow::Cow;

type Lex<'s> = Lexer<'s, Token>;

fn here(lex: &Lex<'_>) -> Span {
    lex.extras.span(lex.span())
}

/// The rest of a block comment, which may hold others.
pub(super) fn block_comment(lex: &mut Lex<'_>) -> Token {
    let rest = lex.remainder().as_bytes();
    let (mut at, mut depth) = (0, 1);
    while depth > 0 {
        match rest.get(at..at + 2) {
            Some(b"/*") => (at, depth) = (at + 2, depth + 1),
            Some(b"*/") => (at, depth) = (at + 2, depth - 1),
            Some(_) => at += 1,
            None => {
                let open = here(lex);
                lex.bump(rest.len());
                lex.extras.diagnostics.push(Diagnostic::error(
                    "E0102",
                    open,
                    "this block comment never ends",
                    "opened here",
                ));
                return Token::Error;
            }
        }
    }
    lex.bump(at);
    Token::BlockComment
}

/// A decimal integer or a float.
pub(super) fn number(lex: &mut Lex<'_>) -> Token {
    let (text, span) = (lex.slice(), here(lex));
    let is_float = text.contains('.')
        || text.bytes().find(|b| b.is_ascii_alphabetic()).is_some_and(|b| b | 32 == b'e');
    let fault = |message: String, label: &str| Diagnostic::error("E0107", span, message, label);
    if let Some(error) = misplaced_underscore(text, 10, span.start) {
        lex.extras.diagnostics.push(error);
    } else if let Some(junk) = junk(text) {
        let at = Span::new(span.start + junk as u32, span.end);
        lex.extras.diagnostics.push(if matches!(&text[junk..], "e" | "E") {
            fault(format!("`{text}` is no number"), "no digits in the exponent")
        } else {
            Diagnostic::error("E0107", at, format!("`{text}` is no number"), "no part of a number")
        });
    } else if is_float {
        let value: f64 = plain(text).parse().unwrap_or(0.0);
        if value.is_finite() {
            return Token::Float(value);
        }
        lex.extras.diagnostics.push(Diagnostic::error(
            "E0108",
            span,
            format!("`{text}` is too large for a float"),
            "larger than any float",
        ));
    } else {
        match plain(text).parse::<u64>() {
            Ok(value) if value <= i64::MAX as u64 => return Token::Int(value as i64),
            Ok(value) if value == 1 << 63 => return Token::IntMin,
            _ => lex.extras.diagnostics.push(too_large(text, span)),
        }
    }
    if is_float { Token::Float(0.0) } else { Token::Int(0) }
}

/// What is said of an integer that does not fit.
pub(super) fn too_large(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0108",
        span,
        format!("`{text}` is too large for an int"),
        "larger than any int",
    )
    .note("the largest int is 9223372036854775807")
}

/// A hexadecimal or binary bit pattern.
pub(super) fn pattern(lex: &mut Lex<'_>) -> Token {
    let (text, span) = (lex.slice(), here(lex));
    let digits = &text[2..];
    let (radix, kind) =
        if text.as_bytes()[1] == b'x' { (16, "hexadecimal") } else { (2, "binary") };
    let error = if digits.is_empty() {
        Diagnostic::error("E0107", span, format!("`{text}` is no number"), "no digits")
    } else if let Some(bad) = digits.find(|c: char| c != '_' && !c.is_digit(radix)) {
        let at = span.start + 2 + bad as u32;
        Diagnostic::error(
            "E0107",
            Span::new(at, at + 1),
            format!("`{text}` is no number"),
            format!("no {kind} digit"),
        )
    } else if let Some(error) = misplaced_underscore(digits, radix, span.start + 2) {
        error
    } else {
        match u64::from_str_radix(&plain(digits), radix) {
            Ok(bits) => return Token::Int(bits as i64),
            Err(_) => Diagnostic::error(
                "E0108",
                span,
                format!("`{text}` is too large for an int"),
                "more than 64 bits",
            ),
        }
    };
    lex.extras.diagnostics.push(error);
    Token::Int(0)
}

fn plain(text: &str) -> Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}

/// `_` stands between digits only.
fn misplaced_underscore(digits: &str, radix: u32, at: u32) -> Option<Diagnostic> {
    let bytes = digits.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(|&b| (b as char).is_digit(radix));
    let stray =
        (0..bytes.len()).find(|&i| bytes[i] == b'_' && !(i > 0 && digit(i - 1) && digit(i + 1)))?;
    let span = Span::new(at + stray as u32, at + stray as u32 + 1);
    Some(Diagnostic::error("E0107", span, "misplaced `_` in a number", "not between two digits"))
}

/// Where what follows the digits, the point and the exponent begins.
fn junk(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |mut i: usize| {
        while bytes.get(i).is_some_and(|b| b.is_ascii_digit() || *b == b'_') {
            i += 1;
        }
        i
    };
    let mut at = digits(0);
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1);
    }
    if bytes.get(at).is_some_and(|b| b | 32 == b'e') {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits(at + 1 + sign);
        if end > at + 1 + sign {
            at = end;
        }
    }
    (at < bytes.len()).then_some(at)
}

/// A string literal.
pub(super) fn string(lex: &mut Lex<'_>) -> Token {
    let (text, span) = (lex.slice(), here(lex));
    let bytes = unescape(&text[1..text.len() - 1], span.start + 1, false, &mut lex.extras);
    lex.extras.strings.push(bytes.into());
    Token::Str(lex.extras.strings.len() as u32 - 1)
}

/// A string literal that its line's end cuts off.
pub(super) fn unterminated_string(lex: &mut Lex<'_>) -> Token {
    let span = here(lex);
    lex.extras.diagnostics.push(
        Diagnostic::error(
            "E0103",
            Span::new(span.start, span.start + 1),
            "this string never ends",
            "opened here",
        )
        .help("a string ends on the line on which it begins; `\\n` stands for a new line"),
    );
    Token::Error
}

/// A byte literal.
pub(super) fn byte(lex: &mut Lex<'_>) -> Token {
    let (text, span) = (lex.slice(), here(lex));
    let reported = lex.extras.diagnostics.len();
    let bytes = unescape(&text[1..text.len() - 1], span.start + 1, true, &mut lex.extras);
    if bytes.len() != 1 && lex.extras.diagnostics.len() == reported {
        let (message, label) = match bytes.len() {
            0 => ("a byte literal holds one byte, this one none".into(), "empty"),
            n => (format!("a byte literal holds one byte, this one {n}"), "too long"),
        };
        let mut error = Diagnostic::error("E0104", span, message, label);
        if bytes.len() > 1 {
            error = error.help("a string stands in double quotes");
        }
        lex.extras.diagnostics.push(error);
    }
    Token::Byte(bytes.first().copied().unwrap_or(0))
}

/// A byte literal without its closing quote.
pub(super) fn unterminated_byte(lex: &mut Lex<'_>) -> Token {
    let span = here(lex);
    lex.extras.diagnostics.push(Diagnostic::error(
        "E0105",
        Span::new(span.start, span.start + 1),
        "this byte literal never ends",
        "opened here",
    ));
    Token::Error
}

/// The bytes that the inside of a string or byte literal denotes; `at` is its global offset.
fn unescape(body: &str, at: u32, in_byte: bool, scan: &mut Scan) -> Vec<u8> {
    let bytes = body.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] != b'\\' {
            out.push(bytes[i]);
            i += 1;
            continue;
        }
        let (length, value) = escape(&body[i..], in_byte);
        match value {
            Ok(Escape::Byte(b)) => out.push(b),
            Ok(Escape::Char(c)) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Err((message, label)) => {
                let span = Span::new(at + i as u32, at + (i + length) as u32);
                scan.diagnostics.push(Diagnostic::error("E0106", span, message, label));
            }
        }
        i += length;
    }
    out
}

enum Escape {
    Byte(u8),
    Char(char),
}

/// The length and the value of the escape with which `text` begins.
fn escape(text: &str, in_byte: bool) -> (usize, Result<Escape, (String, String)>) {
    let Some(kind) = text[1..].chars().next() else {
        return (1, Err(("unfinished escape".into(), String::new())));
    };
    let hex = |from: usize, most: usize| {
        from + text.as_bytes()[from..]
            .iter()
            .take(most)
            .take_while(|b| b.is_ascii_hexdigit())
            .count()
    };
    let fault = |length: usize, message: &str, label: &str| {
        (length, Err((format!("{message} `{}`", &text[..length]), label.to_string())))
    };
    let byte = |b: u8| (2, Ok(Escape::Byte(b)));
    match kind {
        'n' => byte(b'\n'),
        'r' => byte(b'\r'),
        't' => byte(b'\t'),
        '0' => byte(0),
        '\\' | '"' | '\'' => byte(kind as u8),
        'x' => {
            let end = hex(2, 2);
            match u8::from_str_radix(&text[2..end], 16) {
                Ok(b) if end == 4 => (4, Ok(Escape::Byte(b))),
                _ => fault(end, "malformed escape", "`\\x` takes two hexadecimal digits"),
            }
        }
        'u' => {
            if !text[2..].starts_with('{') {
                return fault(
                    2,
                    "malformed escape",
                    "`\\u` takes a code point in braces: `\\u{e9}`",
                );
            }
            let end = hex(3, usize::MAX);
            if !text[end..].starts_with('}') || end == 3 {
                let end = end + usize::from(text[end..].starts_with('}'));
                return fault(
                    end,
                    "malformed escape",
                    "`\\u` takes a code point in braces: `\\u{e9}`",
                );
            }
            let digits = text[3..end].trim_start_matches('0');
            let value = match digits {
                "" => Some(0),
                _ => u32::from_str_radix(digits, 16).ok(),
            };
            if in_byte {
                return fault(end + 1, "no place for", "a byte literal can't hold a code point");
            }
            match (value.and_then(char::from_u32), value) {
                (Some(c), _) => (end + 1, Ok(Escape::Char(c))),
                (None, Some(0xD800..=0xDFFF)) => {
                    fault(end + 1, "no such code point", "a surrogate is no code point of its own")
                }
                _ => fault(end + 1, "no such code point", "the last code point is 10FFFF"),
            }
        }
        _ => fault(
            1 + kind.len_utf8(),
            "unknown escape",
            "escapes are \\n \\r \\t \\0 \\\\ \\\" \\' \\xNN \\u{H…}",
        ),
    }
}
