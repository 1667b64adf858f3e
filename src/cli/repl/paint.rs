//! Source text in colours, by the tokens of the lexer; and whether it is all there.

use std::fmt::Write;
use toyjit::inspect::{Class, Token, lossless};

const RESET: &str = "\x1b[0m";
const MATCH: &str = "\x1b[1;4m";

/// The colour of a sort of token.
fn color(class: Class) -> Option<&'static str> {
    match class {
        Class::Keyword => Some("\x1b[1;34m"),
        Class::Number => Some("\x1b[36m"),
        Class::Text => Some("\x1b[32m"),
        Class::Comment => Some("\x1b[2m"),
        Class::Error => Some("\x1b[31m"),
        Class::Name | Class::Punctuation => None,
    }
}

/// A text in colours; where the cursor is at a bracket, that and its partner stand out.
pub fn paint(text: &str, cursor: Option<usize>) -> String {
    let tokens = lossless(text);
    let pair = cursor.and_then(|cursor| pair(&tokens, cursor));
    let mut out = String::with_capacity(2 * text.len());
    let mut end = 0;
    for (number, (token, range)) in tokens.iter().enumerate() {
        out.push_str(&text[end..range.start]);
        let piece = &text[range.clone()];
        let is_match = pair.is_some_and(|(a, b)| a == number || b == number);
        match color(token.class()) {
            _ if is_match => write!(out, "{MATCH}{piece}{RESET}").unwrap_or(()),
            Some(color) => write!(out, "{color}{piece}{RESET}").unwrap_or(()),
            None => out.push_str(piece),
        }
        end = range.end;
    }
    out.push_str(&text[end..]);
    out
}

/// The closing bracket of an opening one.
fn closing(token: Token) -> Option<Token> {
    match token {
        Token::LParen => Some(Token::RParen),
        Token::LBracket => Some(Token::RBracket),
        Token::LBrace => Some(Token::RBrace),
        _ => None,
    }
}

fn is_closing(token: Token) -> bool {
    matches!(token, Token::RParen | Token::RBracket | Token::RBrace)
}

type Placed = (Token, std::ops::Range<usize>);

/// The bracket at or before the cursor and its partner, by their numbers.
fn pair(tokens: &[Placed], cursor: usize) -> Option<(usize, usize)> {
    let is_bracket = |(token, _): &Placed| closing(*token).is_some() || is_closing(*token);
    let at =
        |place: usize| tokens.iter().position(|token| is_bracket(token) && token.1.start == place);
    let number = at(cursor).or_else(|| at(cursor.checked_sub(1)?))?;
    let mut open = Vec::new();
    for (other, (token, _)) in tokens.iter().enumerate() {
        if let Some(close) = closing(*token) {
            open.push((other, close));
        } else if is_closing(*token) {
            let (first, _) = open.pop().filter(|&(_, close)| close == *token)?;
            if first == number || other == number {
                return Some((first, other));
            }
        }
    }
    None
}

/// Whether more must follow: a bracket or a block comment is open.
pub fn is_incomplete(text: &str) -> bool {
    let tokens = lossless(text);
    let mut open: Vec<Token> = Vec::new();
    for (token, range) in &tokens {
        if let Some(close) = closing(*token) {
            open.push(close);
        } else if is_closing(*token) && open.pop() != Some(*token) {
            return false;
        }
        let piece = &text[range.clone()];
        if piece.starts_with("/*") && !is_closed_comment(piece) {
            return true;
        }
    }
    !open.is_empty()
}

/// Whether a block comment has all its ends.
fn is_closed_comment(text: &str) -> bool {
    let opened = text.matches("/*").count();
    text.len() >= 4 && text.matches("*/").count() >= opened
}

/// Machine code as `emit asm` shows it, in colours: source lines, labels, operators.
pub fn paint_assembly(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    for line in text.lines() {
        let body = line.trim_start();
        let margin = &line[..line.len() - body.len()];
        if body.starts_with(';') {
            let source = body.trim_start_matches(';');
            let _ = writeln!(out, "{margin}\x1b[2m;{RESET}{}", paint(source, None));
        } else if body.ends_with(':') {
            let _ = writeln!(out, "{margin}\x1b[33m{body}{RESET}");
        } else {
            let (offset, code) = body.split_once(":  ").unwrap_or(("", body));
            let (operator, rest) = code.split_once(' ').unwrap_or((code, ""));
            let line = format!("{margin}\x1b[2m{offset}:{RESET}  \x1b[36m{operator}{RESET} {rest}");
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_by_token() {
        assert_eq!(
            paint("let x = 1; // one", None),
            "\x1b[1;34mlet\x1b[0m x = \x1b[36m1\x1b[0m; \x1b[2m// one\x1b[0m"
        );
        assert_eq!(paint("f(a)", Some(4)), "f\x1b[1;4m(\x1b[0ma\x1b[1;4m)\x1b[0m");
        assert_eq!(paint("f(a", Some(1)), "f(a");
        assert_eq!(paint("é \"", None), "\x1b[31mé\x1b[0m \x1b[31m\"\x1b[0m");
    }

    #[test]
    fn assembly_has_colours() {
        assert_eq!(
            paint_assembly("f:\n      0:  mov eax, 8\n      6:  ret\n"),
            "\x1b[33mf:\x1b[0m\n      \x1b[2m0:\x1b[0m  \x1b[36mmov\x1b[0m eax, 8\n      \
             \x1b[2m6:\x1b[0m  \x1b[36mret\x1b[0m\n"
        );
    }

    #[test]
    fn brackets_and_comments_must_close() {
        for text in ["fn f() {", "print(", "[1, 2", "/* a", "/* a /* b */", "f(\"}\""] {
            assert!(is_incomplete(text), "{text}");
        }
        for text in ["", "1 + 1", "f() }", "// {", "\"{\"", "(]", "/* { */", "'{'", "\"open"] {
            assert!(!is_incomplete(text), "{text}");
        }
    }
}
