//! The text syntax, parsed: the reverse of [`print`](super::print).
//!
//! Declarations and the functions' names are read first, so that functions may refer to whatever
//! the text holds; then the bodies. The parser checks the syntax and that every name means
//! something; whether the result makes sense is the verifier's business, and most of what the
//! verifier refuses can be written down. Each instruction's location is its line in the text.
//!
//! Text → [`Module`], or the first [`ParseError`]. No text makes it panic or recurse.

mod body;
mod lexer;
mod operand;
#[cfg(test)]
mod tests;

use self::lexer::Token;
use super::module::{GlobalData, Module, StructureData};
use super::symbols::own_name;
use super::{Form, FuncRef, Function, Signature, StrRef, Type};
use crate::entity::Entity;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::fmt;
use toyjit_runtime::layout::Slot;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl ParseError {
    fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Self {
            line: before.bytes().filter(|&b| b == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// The module that a text describes.
pub fn module(text: &str) -> Result<Module, ParseError> {
    if u32::try_from(text.len()).is_err() {
        return Err(ParseError { line: 1, column: 1, message: "the text is too long".into() });
    }
    let tokens = lexer::tokens(text)?;
    let mut parser = Parser {
        text,
        tokens: &tokens,
        at: 0,
        module: Module::default(),
        names: Names::default(),
        strings: FxHashMap::default(),
    };
    let bodies = parser.declarations()?;
    for (index, body) in bodies.into_iter().enumerate() {
        parser.at = body;
        parser.body(FuncRef::new(index))?;
    }
    Ok(parser.module)
}

/// What the names of a module mean.
#[derive(Default)]
struct Names<'a> {
    functions: FxHashMap<&'a str, usize>,
    globals: FxHashMap<&'a str, usize>,
    structures: FxHashMap<&'a str, usize>,
    /// Fields by structure and name.
    fields: FxHashMap<(usize, &'a str), u32>,
}

struct Parser<'a, 't> {
    text: &'a str,
    tokens: &'t [(Token<'a>, Span)],
    at: usize,
    module: Module,
    names: Names<'a>,
    strings: FxHashMap<&'t [u8], StrRef>,
}

type Parsed<T> = Result<T, ParseError>;

impl<'a, 't> Parser<'a, 't> {
    fn peek(&self) -> &'t Token<'a> {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// Goes on behind the current token; the last one stays.
    fn next(&mut self) -> &'t Token<'a> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, token: &Token<'_>) -> bool {
        let found = self.peek() == token;
        if found {
            self.next();
        }
        found
    }

    fn eat_mark(&mut self, mark: &'static str) -> bool {
        self.eat(&Token::Mark(mark))
    }

    fn error_at<T>(&self, span: Span, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError::at(self.text, span.start as usize, message))
    }

    fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.error_at(self.span(), message)
    }

    /// Says what should stand here, and what does.
    fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = match self.peek() {
            Token::End => "the end of the text",
            Token::Newline => "the end of the line",
            _ => &self.text[self.span().start as usize..self.span().end as usize],
        };
        self.error(format!("expected {what}, found {found}"))
    }

    fn mark(&mut self, mark: &'static str) -> Parsed<()> {
        if self.eat_mark(mark) { Ok(()) } else { self.expected(mark) }
    }

    fn word(&mut self, what: &str) -> Parsed<&'a str> {
        match self.peek() {
            Token::Word(word) => {
                self.next();
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    fn end_of_line(&mut self) -> Parsed<()> {
        match self.peek() {
            Token::End => Ok(()),
            Token::Newline => {
                self.next();
                Ok(())
            }
            _ => self.expected("the end of the line"),
        }
    }

    fn ty(&mut self) -> Parsed<Type> {
        match self.peek() {
            Token::Word(word) if let Some(ty) = Type::from_name(word) => {
                self.next();
                Ok(ty)
            }
            _ => self.expected("a type (int, float, bool, ref)"),
        }
    }

    fn slot(&mut self) -> Parsed<Slot> {
        let slot = match self.peek() {
            Token::Word("int") => Slot::Int,
            Token::Word("float") => Slot::Float,
            Token::Word("bool") => Slot::Bool,
            Token::Word("byte") => Slot::Byte,
            Token::Word("ref") => Slot::Ref,
            _ => return self.expected("a slot (int, float, bool, byte, ref)"),
        };
        self.next();
        Ok(slot)
    }

    /// `( item, item )`
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.mark("(")?;
        let mut items = Vec::new();
        if self.eat_mark(")") {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat_mark(")") {
                return Ok(items);
            }
            if !self.eat_mark(",") {
                return self.expected(", or )");
            }
        }
    }

    /// Reads all but the bodies of functions; where each begins is the answer.
    fn declarations(&mut self) -> Parsed<Vec<usize>> {
        let mut bodies = Vec::new();
        let (mut script, mut main) = (None, None);
        loop {
            match self.peek() {
                Token::End => break,
                Token::Newline => _ = self.next(),
                Token::Word("struct") => self.structure()?,
                Token::Word("global") => self.global()?,
                Token::Word("script") => script = Some(self.script()?),
                Token::Word("main") => main = Some(self.main()?),
                Token::Word("ssa" | "fn") => bodies.push(self.header()?),
                Token::Word(word) if word.starts_with("class") => self.class()?,
                _ => return self.expected("a declaration (struct, global, script, main, ssa, fn)"),
            }
        }
        self.module.script = script.map(|at| self.named_function(at)).transpose()?;
        if let Some((at, takes_args, gives_code)) = main {
            self.module.main = Some((self.named_function(at)?, takes_args, gives_code));
        }
        Ok(bodies)
    }

    /// The function whose name is the token at this place.
    fn named_function(&mut self, at: usize) -> Parsed<FuncRef> {
        let (token, span) = &self.tokens[at];
        match token {
            Token::At(name) | Token::And(name) => match self.names.functions.get(name) {
                Some(&index) => Ok(FuncRef::new(index)),
                None => self.error_at(*span, format!("there is no function @{name}")),
            },
            _ => self.error_at(*span, "expected the name of a function"),
        }
    }

    fn structure(&mut self) -> Parsed<()> {
        self.next();
        let span = self.span();
        let name = self.word("the name of a struct")?;
        let number = self.module.structures.len();
        if self.names.structures.insert(name, number).is_some() {
            return self.error_at(span, format!("the struct {name} is declared twice"));
        }
        self.mark("{")?;
        let mut fields = Vec::new();
        while !self.eat_mark("}") {
            if self.eat(&Token::Newline) {
                continue;
            }
            let span = self.span();
            let field = self.word("the name of a field")?;
            if self.names.fields.insert((number, field), fields.len() as u32).is_some() {
                return self.error_at(span, format!("the field {field} is declared twice"));
            }
            self.mark(":")?;
            fields.push((own_name(field).to_owned(), self.slot()?));
            if !self.eat_mark(",") && *self.peek() != Token::Mark("}") {
                return self.expected(", or }");
            }
        }
        self.module.structures.push(StructureData { name: own_name(name).to_owned(), fields });
        self.end_of_line()
    }

    fn global(&mut self) -> Parsed<()> {
        self.next();
        let span = self.span();
        let &Token::Dollar(name) = self.peek() else {
            return self.expected("the name of a global ($name)");
        };
        self.next();
        if self.names.globals.insert(name, self.module.globals.len()).is_some() {
            return self.error_at(span, format!("the global ${name} is declared twice"));
        }
        self.mark(":")?;
        let slot = self.slot()?;
        self.module.globals.push(GlobalData::new(own_name(name), slot));
        self.end_of_line()
    }

    fn class(&mut self) -> Parsed<()> {
        let next = self.module.classes.next_key().to_string();
        if *self.peek() != Token::Word(&next) {
            return self.expected(&next);
        }
        self.next();
        self.mark(":")?;
        let slot = self.slot()?;
        self.module.classes.push(slot);
        self.end_of_line()
    }

    /// The place of the token that names a function.
    fn function_name(&mut self) -> Parsed<usize> {
        let Token::At(_) = self.peek() else {
            return self.expected("the name of a function (@name)");
        };
        self.next();
        Ok(self.at - 1)
    }

    fn script(&mut self) -> Parsed<usize> {
        self.next();
        self.mark("=")?;
        let at = self.function_name()?;
        self.end_of_line()?;
        Ok(at)
    }

    fn main(&mut self) -> Parsed<(usize, bool, bool)> {
        self.next();
        self.mark("=")?;
        let at = self.function_name()?;
        self.mark("(")?;
        let takes_args = self.eat(&Token::Word("args"));
        self.mark(")")?;
        let gives_code = self.eat_mark("->");
        if gives_code && !self.eat(&Token::Word("int")) {
            return self.expected("int");
        }
        self.end_of_line()?;
        Ok((at, takes_args, gives_code))
    }

    /// The line that a function begins with; goes on behind its body. Where the body begins is the
    /// answer.
    fn header(&mut self) -> Parsed<usize> {
        let form = if self.eat(&Token::Word("ssa")) { Form::Ssa } else { Form::Variable };
        if !self.eat(&Token::Word("fn")) {
            return self.expected("fn");
        }
        let span = self.span();
        let &Token::At(name) = self.peek() else {
            return self.expected("the name of a function (@name)");
        };
        self.next();
        let id = self.module.functions.next_key();
        if self.names.functions.insert(name, id.index()).is_some() {
            return self.error_at(span, format!("the function @{name} is declared twice"));
        }
        let params = self.list(Self::ty)?;
        let result = if self.eat_mark("->") { Some(self.ty()?) } else { None };
        let env = self.eat(&Token::Word("captures"));
        let captures = if env { self.list(Self::slot)? } else { Vec::new() };
        let own = own_name(name).to_owned();
        let mut shown = (!env).then(|| own.clone());
        if self.eat(&Token::Word("as")) {
            shown = match self.next() {
                Token::Quoted(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                Token::Word("nil") => None,
                _ => return self.error("expected a name in quotes, or nil"),
            };
        }
        let mut function = Function::new(own, id, Signature { params, result, env });
        function.form = form;
        self.module.functions.push(function);
        self.module.captures.push(captures);
        self.module.names.push(shown);
        self.mark("{")?;
        self.end_of_line()?;
        let body = self.at;
        while !self.eat_mark("}") {
            if *self.next() == Token::End {
                return self.error_at(span, format!("@{name} does not end: expected }}"));
            }
        }
        self.end_of_line()?;
        Ok(body)
    }
}
