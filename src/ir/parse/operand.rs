//! Operands, edges, and what an `imm` refers to.

use super::body::{Body, CONSTANT, VARIABLE};
use super::lexer::Token;
use super::{Parsed, Parser};
use crate::entity::Entity;
use crate::ir::module::field_imm;
use crate::ir::op::ImmKind;
use crate::ir::symbols::numbered;
use crate::ir::{Const, Edge, Value};
use toyjit_runtime::entry;

impl<'a> Parser<'a, '_> {
    pub(super) fn operand(&mut self, body: &mut Body<'a>) -> Parsed<Value> {
        let constant = match self.peek() {
            Token::Int(i) => Const::Int(*i),
            Token::Float(bits) => Const::Float(*bits),
            Token::Word("true") => Const::Bool(true),
            Token::Word("false") => Const::Bool(false),
            Token::Word("nil") => Const::Nil,
            Token::Literal(bytes) => {
                let strings = &mut self.module.strings;
                let string = self.strings.entry(bytes);
                Const::Str(
                    *string.or_insert_with(|| strings.push(bytes.clone().into_boxed_slice())),
                )
            }
            Token::And(_) => Const::Func(self.named_function(self.at)?),
            Token::Word(word) if numbered(word, 'v').is_some() => {
                let span = self.span();
                let value = self.temporary()?;
                body.used.push((value, span));
                return Ok(value);
            }
            Token::Word(word) => match body.variables.get(word) {
                Some(number) => {
                    self.next();
                    return Ok(Value(VARIABLE | number));
                }
                None => return self.error(format!("{word} is not a variable of this function")),
            },
            _ => return self.expected("an operand"),
        };
        self.next();
        let constants = &mut body.constants;
        let number = *body.constant_numbers.entry(constant).or_insert_with(|| {
            constants.push(constant);
            constants.len() as u32 - 1
        });
        Ok(Value(CONSTANT | number))
    }

    /// Operands with commas between, to the end of the line.
    pub(super) fn operands(&mut self, body: &mut Body<'a>) -> Parsed<Vec<Value>> {
        let mut operands = vec![self.operand(body)?];
        while self.eat_mark(",") {
            operands.push(self.operand(body)?);
        }
        Ok(operands)
    }

    pub(super) fn edge(&mut self, body: &mut Body<'a>) -> Parsed<Edge> {
        let span = self.span();
        let target = self.block_name()?;
        body.targets.push((target, span));
        let mut edge = Edge::to(target);
        if *self.peek() == Token::Mark("(") {
            edge.args = self.list(|parser| parser.operand(body))?.into();
        }
        Ok(edge)
    }

    pub(super) fn imm(&mut self, kind: ImmKind) -> Parsed<u64> {
        let what = match kind {
            ImmKind::None | ImmKind::Capture => "a number",
            ImmKind::Class => "an element class (class0)",
            ImmKind::Field => "a field (Struct.field)",
            ImmKind::Global => "a global ($name)",
            ImmKind::Structure => "a struct",
            ImmKind::Function => "a function (@name)",
            ImmKind::Row => "a function of the runtime",
        };
        let names = &self.names;
        let found = match (kind, self.peek()) {
            (_, Token::Int(number)) if *number >= 0 => Some(*number as u64),
            (_, Token::Large(number)) => Some(*number),
            (ImmKind::Class, Token::Word(word)) => {
                let number = word.strip_prefix("class").and_then(|n| n.parse().ok());
                number.filter(|&n| n < self.module.classes.len() as u64)
            }
            (ImmKind::Field, Token::Word(word)) => word.rsplit_once('.').and_then(|(of, field)| {
                let of = *names.structures.get(of)?;
                let field = *names.fields.get(&(of, field))?;
                Some(field_imm(Entity::new(of), field))
            }),
            (ImmKind::Global, Token::Dollar(name)) => names.globals.get(name).map(|&n| n as u64),
            (ImmKind::Structure, Token::Word(word)) => {
                names.structures.get(word).map(|&n| n as u64)
            }
            (ImmKind::Function, Token::At(_)) => Some(self.named_function(self.at)?.index() as u64),
            (ImmKind::Row, Token::Word(word)) => {
                entry::ENTRIES.iter().position(|row| row.name == *word).map(|n| n as u64)
            }
            _ => return self.expected(what),
        };
        match found {
            Some(imm) => {
                self.next();
                Ok(imm)
            }
            None => self.error(format!("there is no such thing: expected {what}")),
        }
    }
}
