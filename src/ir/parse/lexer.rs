//! Text → tokens. A newline is a token, since instructions end with their line; inside parentheses
//! it is not. A comment runs from `;` to the end of the line.

use super::ParseError;
use crate::ir::print::NAN;
use crate::ir::symbols::{is_name_char, is_word_char};
use crate::source::Span;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A name, an operator, a keyword, a value or a block.
    Word(&'a str),
    /// `@name`, without the sigil.
    At(&'a str),
    /// `&name`
    And(&'a str),
    /// `$name`
    Dollar(&'a str),
    /// An int.
    Int(i64),
    /// A number that is no `i64`, but a `u64`: only an `imm` may be so large.
    Large(u64),
    /// A float, by its bits.
    Float(u64),
    /// `"…"`
    Quoted(Vec<u8>),
    /// `@"…"`
    Literal(Vec<u8>),
    /// `( ) { } , : = ->`
    Mark(&'static str),
    /// The end of a line that is not empty.
    Newline,
    /// The end of the text.
    End,
}

const MARKS: [&str; 8] = ["->", "(", ")", "{", "}", ",", ":", "="];

/// The tokens of a text with their places, the last one `End`.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token<'_>, Span)>, ParseError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens: Vec<(Token<'_>, Span)> = Vec::new();
    let mut depth = 0usize;
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let token = lexer.token()?;
        match token {
            Token::Mark("(") => depth += 1,
            Token::Mark(")") => depth = depth.saturating_sub(1),
            Token::Newline if depth > 0 => continue,
            Token::Newline if matches!(tokens.last(), None | Some((Token::Newline, _))) => continue,
            _ => {}
        }
        let end = token == Token::End;
        tokens.push((token, Span::new(start as u32, lexer.at as u32)));
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error<T>(&self, at: usize, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError::at(self.text, at, message))
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with(';') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if blank == 0 {
                return;
            }
        }
    }

    fn take_while(&mut self, allowed: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !allowed(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn token(&mut self) -> Result<Token<'a>, ParseError> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        if let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            self.at += mark.len();
            return Ok(Token::Mark(mark));
        }
        let second = rest.as_bytes().get(1).copied().unwrap_or(0);
        match first {
            '\n' => {
                self.at += 1;
                Ok(Token::Newline)
            }
            '"' => Ok(Token::Quoted(self.quoted()?)),
            '@' if second == b'"' => {
                self.at += 1;
                Ok(Token::Literal(self.quoted()?))
            }
            '@' => Ok(Token::At(self.name()?)),
            '&' => Ok(Token::And(self.name()?)),
            '$' => Ok(Token::Dollar(self.name()?)),
            '-' if rest[1..].starts_with("inf") => self.number(),
            '0'..='9' | '-' => self.number(),
            c if c.is_ascii_alphabetic() || c == '_' || c == '#' || c == '%' => self.word(),
            c => self.error(self.at, format!("unexpected character {c:?}")),
        }
    }

    /// The name behind a sigil. A colon belongs to it only before a digit.
    fn name(&mut self) -> Result<&'a str, ParseError> {
        let sigil = self.at;
        self.at += 1;
        let start = self.at;
        loop {
            self.take_while(|c| is_name_char(c) && c != ':' || c == '#');
            let mut rest = self.rest().bytes();
            if rest.next() != Some(b':') || !rest.next().is_some_and(|b| b.is_ascii_digit()) {
                break;
            }
            self.at += 1;
        }
        match &self.text[start..self.at] {
            "" => self.error(sigil, "a name must follow here"),
            name => Ok(name),
        }
    }

    fn word(&mut self) -> Result<Token<'a>, ParseError> {
        let start = self.at;
        match self.take_while(|c| is_word_char(c) || c == '#') {
            "inf" => Ok(Token::Float(f64::INFINITY.to_bits())),
            "nan" if self.rest().starts_with(":0x") => {
                self.at += 3;
                let digits = self.take_while(|c| c.is_ascii_alphanumeric());
                match u64::from_str_radix(digits, 16) {
                    Ok(bits) if f64::from_bits(bits).is_nan() => Ok(Token::Float(bits)),
                    _ => self.error(start, "these are not the bits of a NaN"),
                }
            }
            "nan" => Ok(Token::Float(NAN)),
            word => Ok(Token::Word(word)),
        }
    }

    fn number(&mut self) -> Result<Token<'a>, ParseError> {
        let start = self.at;
        self.at += usize::from(self.rest().starts_with('-'));
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '.');
        if self.text[start..self.at].ends_with(['e', 'E']) && self.rest().starts_with(['-', '+']) {
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        let digits = &self.text[start..self.at];
        if digits == "-inf" {
            return Ok(Token::Float(f64::NEG_INFINITY.to_bits()));
        }
        if let Ok(int) = digits.parse() {
            return Ok(Token::Int(int));
        }
        if let Ok(large) = digits.parse() {
            return Ok(Token::Large(large));
        }
        let is_float = digits.contains(['.', 'e', 'E']);
        match digits.parse::<f64>() {
            Ok(float) if is_float && float.is_finite() => Ok(Token::Float(float.to_bits())),
            _ => self.error(start, format!("{digits} is no number that fits")),
        }
    }

    fn quoted(&mut self) -> Result<Vec<u8>, ParseError> {
        let opening = self.at;
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let plain = self.take_while(|c| !matches!(c, '"' | '\\' | '\n'));
            bytes.extend_from_slice(plain.as_bytes());
            let escape = self.at;
            let mut rest = self.rest().chars();
            match (rest.next(), rest.next()) {
                (Some('"'), _) => {
                    self.at += 1;
                    return Ok(bytes);
                }
                (Some('\\'), Some('x')) => {
                    let digits = self.rest().get(2..4).unwrap_or("");
                    match u8::from_str_radix(digits, 16) {
                        Ok(byte) if !digits.starts_with('+') => bytes.push(byte),
                        _ => return self.error(escape, "two hexadecimal digits must follow"),
                    }
                    self.at += 4;
                }
                (Some('\\'), Some(c)) => {
                    bytes.push(match c {
                        'n' => b'\n',
                        'r' => b'\r',
                        't' => b'\t',
                        '"' => b'"',
                        '\\' => b'\\',
                        _ => return self.error(escape, format!("unknown escape \\{c}")),
                    });
                    self.at += 2;
                }
                _ => return self.error(opening, "this string does not end on its line"),
            }
        }
    }
}
