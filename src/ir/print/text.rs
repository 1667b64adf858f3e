//! The text of one function.

use super::{Printer, slot_name};
use crate::entity::{Entity, EntitySet};
use crate::ir::op::ResultKind;
use crate::ir::symbols;
use crate::ir::{
    Block, Const, ENTRY, Edge, Form, Function, Inst, Loc, Signature, Terminator, Value, ValueDef,
};
use std::fmt::{self, Write};

/// Lines of variables are broken where they would pass this column.
const WIDTH: usize = 100;

/// The text of one function, as it grows.
pub(super) struct Text<'a> {
    printer: &'a Printer<'a>,
    pub(super) function: &'a Function,
    variables: Vec<String>,
    pub(super) out: String,
}

impl<'a> Text<'a> {
    pub(super) fn new(printer: &'a Printer<'a>, function: &'a Function) -> Self {
        Self { printer, function, variables: symbols::variables(function), out: String::new() }
    }

    pub(super) fn function(&mut self) -> fmt::Result {
        self.header()?;
        self.variables()?;
        for block in mentioned_blocks(self.function).iter() {
            self.block(block)?;
        }
        self.out.push_str("}\n");
        Ok(())
    }

    fn header(&mut self) -> fmt::Result {
        let (function, module) = (self.function, self.printer.module);
        let Signature { params, result, env } = &function.signature;
        let id = function.id();
        if function.form == Form::Ssa {
            self.out.push_str("ssa ");
        }
        let in_module = module.functions.get(id).is_some_and(|f| f.name == function.name);
        let name = self.printer.symbols.function(id).filter(|_| in_module);
        let params: Vec<&str> = params.iter().map(|ty| ty.name()).collect();
        write!(self.out, "fn @{}({})", name.unwrap_or(&function.name), params.join(", "))?;
        if let Some(result) = result {
            write!(self.out, " -> {}", result.name())?;
        }
        if *env {
            let slots = module.captures.get(id).map_or(&[][..], Vec::as_slice);
            let slots: Vec<&str> = slots.iter().map(|&slot| slot_name(slot)).collect();
            write!(self.out, " captures({})", slots.join(", "))?;
        }
        let usual = (!env).then_some(&function.name);
        match module.names.get(id) {
            Some(name) if name.as_ref() == usual => {}
            None => {}
            Some(None) => self.out.push_str(" as nil"),
            Some(Some(name)) => {
                self.out.push_str(" as ");
                quote(&mut self.out, name.as_bytes())?;
            }
        }
        self.out.push_str(" {\n");
        Ok(())
    }

    /// Declares the variables; in the SSA form only those that wrongly occur.
    fn variables(&mut self) -> fmt::Result {
        let function = self.function;
        let used = (function.form == Form::Ssa).then(|| used_variables(function));
        let mut column = 0;
        for (variable, data) in function.variables.iter() {
            if used.as_ref().is_some_and(|used| !used.contains(data.value)) {
                continue;
            }
            let name = symbols::variable(&self.variables, variable);
            let declared = format!("{name}: {}", data.ty.name());
            if column > 0 && column + 2 + declared.len() <= WIDTH {
                write!(self.out, ", {declared}")?;
                column += 2 + declared.len();
            } else {
                write!(self.out, "{}  var {declared}", if column > 0 { "\n" } else { "" })?;
                column = 6 + declared.len();
            }
        }
        if column > 0 {
            self.out.push('\n');
        }
        Ok(())
    }

    fn block(&mut self, block: Block) -> fmt::Result {
        let Some(data) = self.function.blocks.get(block) else { return Ok(()) };
        write!(self.out, "{block}")?;
        for (i, &param) in data.params.iter().enumerate() {
            self.out.push_str(if i == 0 { "(" } else { ", " });
            self.value(param)?;
            write!(self.out, ": {}", self.type_name(param))?;
        }
        self.out.push_str(if data.params.is_empty() { ":\n" } else { "):\n" });
        for &inst in &data.insts {
            self.out.push_str("  ");
            self.inst(inst)?;
            self.location(self.function.insts.get(inst).map_or(Loc(0), |data| data.loc))?;
        }
        self.out.push_str("  ");
        self.terminator(&data.terminator)?;
        self.location(data.loc)
    }

    fn location(&mut self, loc: Loc) -> fmt::Result {
        if let Some(sources) = self.printer.sources
            && let Some(data) = self.function.locs.get(loc)
        {
            let place = sources.place(data.span.start);
            write!(self.out, "  ; {}:{}", place.line, place.column)?;
            let mut at = data.inlined_at;
            while let Some(data) = at.and_then(|loc| self.function.locs.get(loc)) {
                let place = sources.place(data.span.start);
                write!(self.out, " in {}:{}", place.line, place.column)?;
                at = data.inlined_at;
            }
        }
        self.out.push('\n');
        Ok(())
    }

    pub(super) fn inst(&mut self, inst: Inst) -> fmt::Result {
        let Some(data) = self.function.insts.get(inst) else { return write!(self.out, "{inst}") };
        let info = data.op.info();
        if let Some(result) = data.result {
            self.value(result)?;
            let value = self.function.values.get(result);
            let is_variable = value.is_some_and(|v| matches!(v.def, ValueDef::Variable(_)));
            let is_told = value.is_some_and(|v| info.result == ResultKind::Is(v.ty));
            if !is_variable && !is_told {
                write!(self.out, ": {}", self.type_name(result))?;
            }
            self.out.push_str(" = ");
        }
        self.out.push_str(info.name);
        let args = self.function.args(inst);
        let imm = info.imm.then(|| self.printer.symbols.imm(info.imm_kind, data.imm));
        if info.params.is_some() {
            if let Some(imm) = &imm {
                write!(self.out, " {imm}{}", if args.is_empty() { "" } else { "," })?;
            }
            if !args.is_empty() {
                self.out.push(' ');
            }
            return self.values(args);
        }
        self.out.push(' ');
        let args = match (&imm, args) {
            (Some(imm), _) => {
                self.out.push_str(imm);
                args
            }
            (None, [callee, rest @ ..]) => {
                self.value(*callee)?;
                rest
            }
            (None, []) => args,
        };
        self.out.push('(');
        self.values(args)?;
        self.out.push(')');
        Ok(())
    }

    pub(super) fn terminator(&mut self, terminator: &Terminator) -> fmt::Result {
        match terminator {
            Terminator::Jump(edge) => {
                self.out.push_str("jump ");
                self.edge(edge)
            }
            Terminator::Branch { op, args, edges } => {
                write!(self.out, "br {} ", op.info().name)?;
                self.values(args)?;
                self.out.push_str(" -> ");
                self.edge(&edges[0])?;
                self.out.push_str(", ");
                self.edge(&edges[1])
            }
            Terminator::Switch(switch) => {
                self.out.push_str("switch ");
                self.value(switch.value)?;
                write!(self.out, ", {} -> ", switch.base)?;
                for (place, &edge) in switch.table.iter().enumerate() {
                    if place > 0 {
                        self.out.push_str(", ");
                    }
                    match switch.edges.get(usize::from(edge)) {
                        Some(edge) => self.edge(edge)?,
                        None => write!(self.out, "#{edge}?")?,
                    }
                }
                self.out.push_str(" else ");
                match switch.edges.first() {
                    Some(edge) => self.edge(edge),
                    None => self.out.write_str("?"),
                }
            }
            Terminator::Return(None) => self.out.write_str("ret"),
            Terminator::Return(Some(value)) => {
                self.out.push_str("ret ");
                self.value(*value)
            }
            Terminator::Unreachable => self.out.write_str("unreachable"),
        }
    }

    fn edge(&mut self, edge: &Edge) -> fmt::Result {
        write!(self.out, "{}", edge.target)?;
        if !edge.args.is_empty() {
            self.out.push('(');
            self.values(&edge.args)?;
            self.out.push(')');
        }
        Ok(())
    }

    fn values(&mut self, values: &[Value]) -> fmt::Result {
        for (i, &value) in values.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.value(value)?;
        }
        Ok(())
    }

    fn type_name(&self, value: Value) -> &'static str {
        self.function.values.get(value).map_or("?", |data| data.ty.name())
    }

    pub(super) fn value(&mut self, value: Value) -> fmt::Result {
        match self.function.values.get(value).map(|data| data.def) {
            Some(ValueDef::Const(constant)) => self.constant(constant),
            Some(ValueDef::Variable(x)) => {
                self.out.write_str(symbols::variable(&self.variables, x))
            }
            Some(ValueDef::Inst(_) | ValueDef::Param(..)) | None => write!(self.out, "{value}"),
        }
    }

    fn constant(&mut self, constant: Const) -> fmt::Result {
        match constant {
            Const::Int(i) => write!(self.out, "{i}"),
            Const::Float(bits) => float(&mut self.out, bits),
            Const::Bool(b) => write!(self.out, "{b}"),
            Const::Nil => self.out.write_str("nil"),
            Const::Str(string) => match self.printer.module.strings.get(string) {
                Some(bytes) => {
                    self.out.push('@');
                    quote(&mut self.out, bytes)
                }
                None => write!(self.out, "@{string}?"),
            },
            Const::Func(function) => match self.printer.symbols.function(function) {
                Some(name) => write!(self.out, "&{name}"),
                None => write!(self.out, "&{function}?"),
            },
        }
    }
}

/// The blocks worth showing: all but empty ones that no edge names.
fn mentioned_blocks(function: &Function) -> EntitySet<Block> {
    let mut mentioned = EntitySet::with_len(function.blocks.len());
    mentioned.insert(ENTRY);
    for (block, data) in function.blocks.iter() {
        let is_empty = data.insts.is_empty() && data.params.is_empty();
        if !is_empty || data.terminator != Terminator::Unreachable {
            mentioned.insert(block);
        }
        for edge in data.terminator.edges() {
            if edge.target.index() < function.blocks.len() {
                mentioned.insert(edge.target);
            }
        }
    }
    mentioned
}

fn used_variables(function: &Function) -> EntitySet<Value> {
    let mut used = EntitySet::new();
    let mut note = |value: Value| {
        let def = function.values.get(value).map(|data| data.def);
        if matches!(def, Some(ValueDef::Variable(_))) {
            used.insert(value);
        }
    };
    for data in function.blocks.values() {
        for &inst in data.insts.iter().filter(|inst| function.insts.get(**inst).is_some()) {
            function.args(inst).iter().copied().for_each(&mut note);
            function.insts[inst].result.into_iter().for_each(&mut note);
        }
        data.terminator.for_each_use(&mut note);
    }
    used
}

/// The bits of the NaN that is printed as `nan` alone.
pub(in crate::ir) const NAN: u64 = 0x7ff8_0000_0000_0000;

fn float(out: &mut String, bits: u64) -> fmt::Result {
    let value = f64::from_bits(bits);
    match bits {
        NAN => out.write_str("nan"),
        _ if value.is_nan() => write!(out, "nan:{bits:#x}"),
        _ => write!(out, "{value:?}"),
    }
}

/// A string in quotes: UTF-8 as it is, all else escaped.
fn quote(out: &mut String, bytes: &[u8]) -> fmt::Result {
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c.is_ascii_control() => write!(out, "\\x{:02x}", c as u32)?,
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}")?;
        }
    }
    out.push('"');
    Ok(())
}
