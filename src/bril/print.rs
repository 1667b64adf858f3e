//! Bril trees as text.
//!
//! A tree → its text; with `placed` the tree gets the places in that text, so that messages about
//! a program that came as JSON can show the instruction they speak of.

use super::ast::{Code, Function, Inst, Literal, Name, Program, Type};
use crate::source::{Interner, Span};
use std::fmt::Write;

/// The text of a program.
pub fn text(program: &Program, interner: &Interner) -> String {
    placed(&mut program.clone(), interner, 0)
}

/// The text of a program, whose places in it are set as those of a file that begins at `base`.
pub(super) fn placed(program: &mut Program, interner: &Interner, base: u32) -> String {
    let mut printer = Printer { interner, base, out: String::new() };
    for import in &mut program.imports {
        printer.out += "from ";
        let start = printer.here();
        let _ = write!(printer.out, "\"{}\"", import.path);
        import.span = printer.since(start);
        printer.out += " import ";
        for (number, (name, alias)) in import.functions.iter_mut().enumerate() {
            printer.out += if number > 0 { ", " } else { "" };
            printer.name("@", name);
            if let Some(alias) = alias {
                printer.out += " as ";
                printer.name("@", alias);
            }
        }
        printer.out += ";\n";
    }
    for (number, function) in program.functions.iter_mut().enumerate() {
        if number > 0 || !printer.out.is_empty() {
            printer.out.push('\n');
        }
        printer.function(function);
    }
    printer.out
}

struct Printer<'a> {
    interner: &'a Interner,
    base: u32,
    out: String,
}

impl Printer<'_> {
    fn here(&self) -> u32 {
        self.base + self.out.len() as u32
    }

    fn since(&self, start: u32) -> Span {
        Span::new(start, self.here())
    }

    fn name(&mut self, sigil: &str, name: &mut Name) {
        let start = self.here();
        self.out += sigil;
        self.out += self.interner.name(name.symbol);
        name.span = self.since(start);
    }

    fn ty(&mut self, ty: &mut Type) {
        let start = self.here();
        for (number, &word) in ty.words.iter().enumerate() {
            self.out += if number > 0 { "<" } else { "" };
            self.out += self.interner.name(word);
        }
        self.out.extend(std::iter::repeat_n('>', ty.words.len().saturating_sub(1)));
        ty.span = self.since(start);
    }

    fn function(&mut self, function: &mut Function) {
        self.name("@", &mut function.name);
        if !function.params.is_empty() {
            self.out.push('(');
            for (number, (name, ty)) in function.params.iter_mut().enumerate() {
                self.out += if number > 0 { ", " } else { "" };
                self.name("", name);
                self.out += ": ";
                self.ty(ty);
            }
            self.out.push(')');
        }
        if let Some(result) = &mut function.result {
            self.out += ": ";
            self.ty(result);
        }
        self.out += " {\n";
        for code in &mut function.body {
            match code {
                Code::Label(name) => {
                    self.name(".", name);
                    self.out += ":\n";
                }
                Code::Inst(inst) => {
                    self.out += "  ";
                    self.inst(inst);
                    self.out.push('\n');
                }
            }
        }
        let start = self.here();
        self.out.push('}');
        function.end = self.since(start);
        self.out.push('\n');
    }

    fn inst(&mut self, inst: &mut Inst) {
        let start = self.here();
        if let Some(dest) = &mut inst.dest {
            self.name("", dest);
            if let Some(ty) = &mut inst.ty {
                self.out += ": ";
                self.ty(ty);
            }
            self.out += " = ";
        }
        self.name("", &mut inst.op);
        if let Some((literal, span)) = &mut inst.value {
            self.out.push(' ');
            let start = self.here();
            self.literal(*literal);
            *span = self.since(start);
        }
        for func in &mut inst.funcs {
            self.out.push(' ');
            self.name("@", func);
        }
        for arg in &mut inst.args {
            self.out.push(' ');
            self.name("", arg);
        }
        for label in &mut inst.labels {
            self.out.push(' ');
            self.name(".", label);
        }
        self.out.push(';');
        inst.span = self.since(start);
    }

    fn literal(&mut self, literal: Literal) {
        let _ = match literal {
            Literal::Int(value) => write!(self.out, "{value}"),
            Literal::Bool(value) => write!(self.out, "{value}"),
            Literal::Float(value) => write!(self.out, "{value:?}"),
            Literal::Char(value) => match escaped(value) {
                Some(letter) => write!(self.out, "'\\{letter}'"),
                None => write!(self.out, "'{value}'"),
            },
        };
    }
}

/// The letter behind `\` that stands for a character.
fn escaped(value: char) -> Option<char> {
    (b'a'..=b'z')
        .chain([b'0'])
        .find(|&letter| super::lexer::escape(letter) == Some(value))
        .map(char::from)
}
