//! Tokens: one `Copy` enum that carries its value, with the logos rules that find it.
//!
//! Values that do not fit in 8 bytes (strings) stand in a table beside the tokens. Literals are
//! recognised by generous patterns and judged by the callbacks in `literal`, so
//! that a malformed number is one token with one message rather than a handful of pieces.

use super::lexer::Scan;
use super::literal;
use crate::source::Symbol;
use logos::Logos;

/// A token and its value.
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(extras = Scan)]
#[logos(skip r"[ \t\r\n]+")]
#[allow(missing_docs)]
pub enum Token {
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*", |lex| lex.extras.intern(lex.slice()))]
    Ident(Symbol),

    /// An integer: decimal up to the largest int, or a bit pattern.
    Int(i64),
    /// `9223372036854775808`, which is good only directly under unary minus.
    IntMin,
    Float(f64),
    Byte(u8),
    /// An index into the table of strings.
    Str(u32),

    #[token("fn")]
    Fn,
    #[token("let")]
    Let,
    #[token("var")]
    Var,
    #[token("struct")]
    Struct,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("while")]
    While,
    #[token("for")]
    For,
    #[token("in")]
    In,
    #[token("break")]
    Break,
    #[token("continue")]
    Continue,
    #[token("return")]
    Return,
    #[token("match")]
    Match,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("nil")]
    Nil,

    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semi,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token("..=")]
    DotDotEq,
    #[token("->")]
    Arrow,
    #[token("=>")]
    FatArrow,
    #[token("?")]
    Question,

    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("&")]
    And,
    #[token("|")]
    Or,
    #[token("^")]
    Caret,
    #[token("~")]
    Tilde,
    #[token("!")]
    Bang,
    #[token("<<")]
    Shl,
    #[token(">>")]
    Shr,
    #[token(">>>")]
    UShr,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("==")]
    EqEq,
    #[token("!=")]
    NotEq,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">")]
    Gt,
    #[token(">=")]
    Ge,

    #[token("=")]
    Eq,
    #[token("+=")]
    PlusEq,
    #[token("-=")]
    MinusEq,
    #[token("*=")]
    StarEq,
    #[token("/=")]
    SlashEq,
    #[token("%=")]
    PercentEq,
    #[token("&=")]
    AndEq,
    #[token("|=")]
    OrEq,
    #[token("^=")]
    CaretEq,
    #[token("<<=")]
    ShlEq,
    #[token(">>=")]
    ShrEq,
    #[token(">>>=")]
    UShrEq,

    /// `// …`
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment,
    /// `/* … */`
    #[token("/*", literal::block_comment)]
    BlockComment,

    /// What was reported already and stands for nothing; also the rule for all literals, whose
    /// callbacks say which token they are.
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9][0-9_]*)?[0-9A-Za-z_]*", literal::number)]
    #[regex(r"0[xb][0-9A-Za-z_]*", literal::pattern, priority = 100)]
    #[regex(r#""([^"\\\n]|\\[^\n])*""#, literal::string)]
    #[regex(r#""([^"\\\n]|\\[^\n])*\\?"#, literal::unterminated_string)]
    #[regex(r"'([^'\\\n]|\\[^\n])*'", literal::byte)]
    #[regex(r"'([^'\\\n]|\\[^\n])?", literal::unterminated_byte)]
    Error,
    /// The end of the file: what the parser sees after the last token.
    Eof,
}

/// What sort of thing a token is, for highlighting and dumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Class {
    Name,
    Keyword,
    Number,
    Text,
    Comment,
    Punctuation,
    Error,
}

impl Token {
    /// The sort of thing it is.
    pub fn class(self) -> Class {
        match self {
            Token::Ident(_) => Class::Name,
            Token::Int(_) | Token::IntMin | Token::Float(_) => Class::Number,
            Token::Byte(_) | Token::Str(_) => Class::Text,
            Token::LineComment | Token::BlockComment => Class::Comment,
            Token::Error | Token::Eof => Class::Error,
            _ if self.is_keyword() => Class::Keyword,
            _ => Class::Punctuation,
        }
    }

    /// Whether it is a literal.
    pub fn is_literal(self) -> bool {
        use Token::*;
        matches!(self, Int(_) | IntMin | Float(_) | Byte(_) | Str(_) | True | False | Nil)
    }

    /// Whether it is a word of the language.
    pub fn is_keyword(self) -> bool {
        use Token::*;
        matches!(
            self,
            Fn | Let
                | Var
                | Struct
                | If
                | Else
                | While
                | For
                | In
                | Break
                | Continue
                | Return
                | Match
                | True
                | False
                | Nil
        )
    }

    /// Whether a statement, and nothing else, begins with it.
    pub fn is_statement_keyword(self) -> bool {
        use Token::*;
        matches!(self, Let | Var | If | While | For | Match | Break | Continue | Return)
    }

    /// Whether it is an operand by itself: a literal or a name.
    pub fn is_operand(self) -> bool {
        use Token::*;
        matches!(
            self,
            Ident(_) | Int(_) | IntMin | Float(_) | Byte(_) | Str(_) | True | False | Nil | Error
        )
    }

    /// Whether an expression may begin with it.
    pub fn starts_expression(self) -> bool {
        use Token::*;
        self.is_operand() || matches!(self, LParen | LBracket | Fn | Minus | Bang | Tilde)
    }

    /// Whether a statement may begin with it.
    pub fn starts_statement(self) -> bool {
        self.starts_expression()
            || self.is_statement_keyword()
            || matches!(self, Token::LBrace | Token::Struct)
    }

    /// Whether a type may begin with it.
    pub fn starts_type(self) -> bool {
        matches!(self, Token::Ident(_) | Token::LBracket | Token::LParen | Token::Fn)
    }

    /// Whether a pattern may begin with it.
    pub fn starts_pattern(self) -> bool {
        self.is_operand() && self != Token::Error || self == Token::Minus
    }

    /// Whether it is a name.
    pub fn is_name(self) -> bool {
        matches!(self, Token::Ident(_))
    }
}
