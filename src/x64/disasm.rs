//! Machine code → text for people: Intel syntax, with names for whatever has one.
//!
//! Offsets count from the function's beginning. Jump targets get labels; calls, the context's words
//! and the literal pool show what they are; a line of the source stands before the code that comes
//! from it, as far as the caller tells one.

use crate::ir::Loc;
use crate::mach::{CompiledFunction, RelocTarget};
use iced_x86::{
    Decoder, DecoderOptions, Formatter, FormatterOutput, FormatterTextKind, Instruction,
    IntelFormatter, OpKind, Register, SymbolResolver, SymbolResult,
};
use std::fmt::Write;
use toyjit_runtime::context::{
    ENTRY_TABLE, GLOBALS, HOST_SP, INTERRUPT, LAST_SP, NURSERY_END, NURSERY_NEXT, STACK_LIMIT,
};
use toyjit_runtime::{ENTRIES, Rt};

/// What the text shows beside the code.
pub struct Names<'a> {
    /// The name of what a relocation refers to.
    pub target: &'a dyn Fn(RelocTarget) -> String,
    /// The name of a global.
    pub global: &'a dyn Fn(u32) -> String,
    /// The line of the source that a place is in, as it shall be shown.
    pub line: &'a dyn Fn(Loc) -> Option<String>,
}

/// An instruction of a function's code.
#[derive(Clone, Debug)]
pub struct Line {
    /// Where it begins.
    pub offset: u32,
    /// Where it has ended.
    pub end: u32,
    /// The number of its label, if something jumps to it.
    pub label: Option<usize>,
    /// Where in the source it comes from.
    pub loc: Option<Loc>,
    /// Its text in pieces, each with what it is.
    pub pieces: Vec<(FormatterTextKind, String)>,
}

/// The text of a function's code.
pub fn disassemble(function: &CompiledFunction, names: &Names<'_>) -> String {
    let mut out = String::new();
    let mut shown = None;
    for Line { offset, label, loc, pieces, .. } in lines(function, names) {
        if let Some(label) = label {
            let _ = writeln!(out, ".L{label}:");
        }
        if let Some(line) = loc.and_then(names.line)
            && shown.as_ref() != Some(&line)
        {
            let _ = writeln!(out, "          ; {line}");
            shown = Some(line);
        }
        let text: String = pieces.iter().map(|(_, piece)| piece.as_str()).collect();
        let _ = writeln!(out, "  {offset:5x}:  {text}");
    }
    if !function.tables.is_empty() {
        write_tables(&mut out, function);
    }
    out
}

/// Where the tables of jumps lead, by labels.
fn write_tables(out: &mut String, function: &CompiledFunction) {
    let code = &function.bytes[..function.code_len as usize];
    let instructions: Vec<Instruction> =
        Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect();
    let labels = labels(function, &instructions);
    for (number, &table) in function.tables.iter().enumerate() {
        let _ = write!(out, "table{number}:");
        for target in function.targets(table) {
            let _ = match labels.binary_search(&target) {
                Ok(label) => write!(out, " .L{label}"),
                Err(_) => write!(out, " {target:#x}"),
            };
        }
        out.push('\n');
    }
}

struct Pieces(Vec<(FormatterTextKind, String)>);

impl FormatterOutput for Pieces {
    fn write(&mut self, text: &str, kind: FormatterTextKind) {
        match self.0.last_mut() {
            Some((last, piece)) if *last == kind => piece.push_str(text),
            _ => self.0.push((kind, text.to_owned())),
        }
    }
}

/// A function's code, instruction by instruction.
pub fn lines(function: &CompiledFunction, names: &Names<'_>) -> Vec<Line> {
    let code = &function.bytes[..function.code_len as usize];
    let instructions: Vec<Instruction> =
        Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect();
    let labels = labels(function, &instructions);
    let resolver = Resolver {
        bytes: function.bytes.clone(),
        labels: labels.clone(),
        tables: function.tables.iter().map(|table| table.offset).collect(),
        names: Copied::of(function, names),
    };
    let mut formatter = IntelFormatter::with_options(Some(Box::new(resolver)), None);
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_small_hex_numbers_in_decimal(true);
    options.set_space_after_operand_separator(true);
    options.set_branch_leading_zeros(false);
    options.set_signed_immediate_operands(true);
    options.set_rip_relative_addresses(true);

    let mut out = Vec::with_capacity(instructions.len());
    for instruction in &instructions {
        let offset = instruction.ip() as u32;
        let mut pieces = Pieces(Vec::new());
        formatter.format(instruction, &mut pieces);
        out.push(Line {
            offset,
            end: instruction.next_ip() as u32,
            label: labels.binary_search(&offset).ok(),
            loc: location(function, offset),
            pieces: pieces.0,
        });
    }
    out
}

/// Where each instruction begins, and where in the source it comes from.
pub fn places(function: &CompiledFunction) -> Vec<(u32, Option<Loc>)> {
    let code = &function.bytes[..function.code_len as usize];
    let instructions = Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter();
    let offsets = instructions.map(|instruction| instruction.ip() as u32);
    offsets.map(|offset| (offset, location(function, offset))).collect()
}

fn location(function: &CompiledFunction, offset: u32) -> Option<Loc> {
    let number = function.source_map.partition_point(|&(from, _)| from <= offset);
    Some(function.source_map[number.checked_sub(1)?].1)
}

/// The names of the instructions in a piece of code, each once, in order.
pub fn mnemonics(code: &[u8]) -> Vec<String> {
    let decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let mut names: Vec<String> =
        decoder.into_iter().map(|i| format!("{:?}", i.mnemonic()).to_lowercase()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Offsets that the function jumps to, in order.
fn labels(function: &CompiledFunction, instructions: &[Instruction]) -> Vec<u32> {
    let targets =
        instructions.iter().filter(|i| i.is_jcc_short_or_near() || i.is_jmp_short_or_near());
    let mut labels: Vec<u32> = targets.map(|i| i.near_branch_target() as u32).collect();
    labels.extend(function.tables.iter().flat_map(|&table| function.targets(table)));
    labels.retain(|&label| label < function.code_len);
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// The caller's names of what the function refers to.
struct Copied {
    /// Offset of the hole and name.
    targets: Vec<(u32, String)>,
    globals: Vec<(u32, String)>,
}

impl Copied {
    fn of(function: &CompiledFunction, names: &Names<'_>) -> Copied {
        let targets = function.relocations.iter().map(|r| (r.offset, (names.target)(r.target)));
        let code = &function.bytes[..function.code_len as usize];
        let mut globals: Vec<u32> = Decoder::with_ip(64, code, 0, DecoderOptions::NONE)
            .into_iter()
            .filter(|i| i.memory_base() == Register::R15)
            .filter_map(|i| i.memory_displacement64().checked_sub(GLOBALS))
            .map(|offset| (offset / 8) as u32)
            .collect();
        globals.sort_unstable();
        globals.dedup();
        Copied {
            targets: targets.collect(),
            globals: globals.into_iter().map(|g| (g, (names.global)(g))).collect(),
        }
    }
}

/// Owns all it tells, since the formatter keeps it.
struct Resolver {
    bytes: Vec<u8>,
    labels: Vec<u32>,
    tables: Vec<u32>,
    names: Copied,
}

impl Resolver {
    fn name(
        &self,
        instruction: &Instruction,
        operand: Option<u32>,
        address: u64,
    ) -> Option<String> {
        let from = instruction.ip() as u32;
        let to = instruction.next_ip() as u32;
        let is_memory = operand.is_some_and(|n| instruction.op_kind(n) == OpKind::Memory);
        if is_memory && instruction.memory_base() == Register::R15 {
            return self.context_word(address);
        }
        if let Some((_, name)) = self.names.targets.iter().find(|(at, _)| (from..to).contains(at)) {
            return Some(name.clone());
        }
        if instruction.is_ip_rel_memory_operand() && is_memory {
            return Some(match self.tables.binary_search(&(address as u32)) {
                Ok(number) => format!("table{number}"),
                Err(_) => self.literal(address as usize),
            });
        }
        let is_jump = instruction.is_jcc_short_or_near() || instruction.is_jmp_short_or_near();
        let label = is_jump.then(|| self.labels.binary_search(&(address as u32)).ok());
        label.flatten().map(|label| format!(".L{label}"))
    }

    fn context_word(&self, offset: u64) -> Option<String> {
        let fixed = [
            (NURSERY_NEXT, "nursery_next"),
            (NURSERY_END, "nursery_end"),
            (STACK_LIMIT, "stack_limit"),
            (LAST_SP, "last_sp"),
            (HOST_SP, "host_sp"),
            (INTERRUPT, "interrupt"),
        ];
        if let Some((_, name)) = fixed.iter().find(|(at, _)| *at == offset) {
            return Some((*name).to_owned());
        }
        if let Some(global) = offset.checked_sub(GLOBALS) {
            let names = &self.names.globals;
            let at = names.binary_search_by_key(&((global / 8) as u32), |(g, _)| *g).ok()?;
            return Some(format!("${}", names[at].1));
        }
        let row = Rt::ALL.get((offset.checked_sub(ENTRY_TABLE)? / 8) as usize)?;
        Some(format!("rt.{}", ENTRIES[*row as usize].name))
    }

    fn literal(&self, at: usize) -> String {
        match self.bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()) {
            Some(bytes) => match u64::from_le_bytes(bytes) {
                0x7FFF_FFFF_FFFF_FFFF => "abs_mask".into(),
                0x8000_0000_0000_0000 => "sign_mask".into(),
                bits => format!("{:?}", f64::from_bits(bits)),
            },
            None => format!("{at:#x}"),
        }
    }
}

impl SymbolResolver for Resolver {
    fn symbol(
        &mut self,
        instruction: &Instruction,
        _: u32,
        operand: Option<u32>,
        address: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        let name = self.name(instruction, operand, address)?;
        Some(SymbolResult::with_string(address, name))
    }
}

#[cfg(test)]
mod tests;
