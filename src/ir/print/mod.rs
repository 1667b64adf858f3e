//! The text syntax, printed.
//!
//! ```text
//! struct Point { x: int, y: int }
//! global $total: int
//! script = @top
//!
//! ssa fn @sum(ref) -> int {
//! b0(v0: ref):
//!   v1 = check_nil v0
//!   v2: int = load_field Point.x, v1
//!   v3: int = call @half(v2)
//!   br ilt v3, 10 -> b1(v3), b2
//! b1(v4: int):
//!   ret v4
//! b2:
//!   unreachable
//! }
//! ```
//!
//! `ssa` tells the form; a function in the variable form declares its variables (`var n: int`) and
//! names them as operands and results (`n = iadd n, 1`). Constants stand where they are used: `7`,
//! `1.5`, `nan`, `true`, `nil`, `@"text"`, `&sum`. A result shows its type where the operator does
//! not tell it. What an `imm` refers to stands before the operands, by name, or by number where
//! nothing has that number. The parser gives back the same text; blocks and values keep their
//! numbers. A block that is empty, unreachable and not named by any edge is left out.
//!
//! `Module`, `Function` → text. Any function can be printed, malformed ones too.

mod text;

pub(super) use self::text::NAN;
use self::text::Text;
use super::symbols::Symbols;
use super::{Block, Function, Inst, Module, Value, Variable};
use crate::source::Sources;
use std::fmt::Write;
use toyjit_runtime::layout::Slot;

/// The text of a module.
pub fn module(module: &Module) -> String {
    Printer::new(module).module()
}

/// The text of a function, with names from the module it belongs to.
pub fn function(module: &Module, function: &Function) -> String {
    Printer::new(module).function(function)
}

/// Prints functions of one module.
#[derive(Debug)]
pub struct Printer<'a> {
    module: &'a Module,
    symbols: Symbols,
    sources: Option<&'a Sources>,
}

impl<'a> Printer<'a> {
    /// A printer that shows no source locations.
    pub fn new(module: &'a Module) -> Self {
        Self { module, symbols: Symbols::new(module), sources: None }
    }

    /// The same, showing each instruction's place in the source as a comment.
    pub fn with_locations(self, sources: &'a Sources) -> Self {
        Self { sources: Some(sources), ..self }
    }

    /// The text of the whole module.
    pub fn module(&self) -> String {
        let mut out = String::new();
        self.declarations(&mut out);
        for function in self.module.functions.values() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&self.function(function));
        }
        out
    }

    /// The text of a function.
    pub fn function(&self, function: &Function) -> String {
        let mut text = Text::new(self, function);
        // Writing to a string does not fail.
        let _ = text.function();
        text.out
    }

    /// What prints many parts of one function.
    pub fn of<'b>(&'b self, function: &'b Function) -> Parts<'b> {
        Parts { text: Text::new(self, function) }
    }

    /// The text of an instruction, without its place.
    pub fn inst(&self, function: &Function, inst: Inst) -> String {
        let mut text = Text::new(self, function);
        let _ = text.inst(inst);
        text.out
    }

    /// The text of a block's end.
    pub fn terminator(&self, function: &Function, block: Block) -> String {
        let mut text = Text::new(self, function);
        let _ = text.terminator(&function.blocks[block].terminator);
        text.out
    }

    /// A value as an operand.
    pub fn value(&self, function: &Function, value: Value) -> String {
        let mut text = Text::new(self, function);
        let _ = text.value(value);
        text.out
    }

    fn declarations(&self, out: &mut String) {
        let (module, symbols) = (self.module, &self.symbols);
        let slot = |slot: &Slot| slot_name(*slot);
        for (number, structure) in module.structures.iter() {
            let names = symbols.fields(number).iter();
            let fields: Vec<String> = names
                .zip(&structure.fields)
                .map(|(name, field)| format!("{name}: {}", slot(&field.1)))
                .collect();
            let name = symbols.structure(number).unwrap_or("?");
            let _ = match fields.is_empty() {
                true => writeln!(out, "struct {name} {{}}"),
                false => writeln!(out, "struct {name} {{ {} }}", fields.join(", ")),
            };
        }
        for (number, class) in module.classes.iter() {
            let _ = writeln!(out, "{number}: {}", slot(class));
        }
        for (number, global) in module.globals.iter() {
            let name = symbols.global(number).unwrap_or("?");
            let _ = writeln!(out, "global ${name}: {}", slot(&global.slot));
        }
        if let Some(name) = module.script.and_then(|f| symbols.function(f)) {
            let _ = writeln!(out, "script = @{name}");
        }
        if let Some((main, takes_args, gives_code)) = module.main
            && let Some(name) = symbols.function(main)
        {
            let args = if takes_args { "args" } else { "" };
            let code = if gives_code { " -> int" } else { "" };
            let _ = writeln!(out, "main = @{name}({args}){code}");
        }
    }
}

/// Prints parts of one function.
pub struct Parts<'a> {
    text: Text<'a>,
}

impl Parts<'_> {
    /// The text of an instruction, without its place.
    pub fn inst(&mut self, inst: Inst) -> String {
        let _ = self.text.inst(inst);
        std::mem::take(&mut self.text.out)
    }

    /// The text of a block's end.
    pub fn terminator(&mut self, block: Block) -> String {
        let _ = self.text.terminator(&self.text.function.blocks[block].terminator);
        std::mem::take(&mut self.text.out)
    }

    /// A value as an operand.
    pub fn value(&mut self, value: Value) -> String {
        let _ = self.text.value(value);
        std::mem::take(&mut self.text.out)
    }

    /// The name of a variable.
    pub fn variable(&mut self, variable: Variable) -> String {
        self.value(self.text.function.variables[variable].value)
    }
}

/// A slot as printed.
pub(super) fn slot_name(slot: Slot) -> &'static str {
    match slot {
        Slot::Int => "int",
        Slot::Float => "float",
        Slot::Bool => "bool",
        Slot::Byte => "byte",
        Slot::Ref => "ref",
    }
}
