//! A function as machine code: as selected, as allocated, as bytes.

use super::allocation::Recording;
use super::help::kind;
use super::tables::Tables;
use crate::ir::{Function, Global, Loc, Module};
use crate::mach::{Allocation, CompiledFunction, RelocTarget, Target, VCode};
use crate::regalloc;
use crate::x64::disasm::{self, Names};
use crate::x64::dump::{self, What};
use crate::x64::{Inst, Stub, X64};
use serde_json::{Value, json};

/// A function that went through the back end.
pub struct Machine {
    /// As selected.
    pub code: VCode<Inst>,
    /// Its registers.
    pub allocation: Allocation,
    /// As bytes.
    pub compiled: CompiledFunction,
    /// What happened in the allocation.
    pub events: Vec<regalloc::event::Event>,
}

/// Makes machine code of a function in optimised SSA form.
pub fn compile(target: &X64, module: &Module, f: &Function, watched: bool) -> Machine {
    let code = target.select(module, f.id());
    let options = regalloc::Options::default();
    let mut events = Vec::new();
    let allocation = match watched {
        true => regalloc::allocate_watched(&code, target.registers(), &options, &mut events),
        false => regalloc::allocate(&code, target.registers(), &options),
    };
    let compiled = target.emit(&code, &allocation);
    Machine { code, allocation, compiled, events }
}

impl Machine {
    /// All that is shown of it but the allocation's events.
    pub fn to_json(&self, tables: &mut Tables<'_>, module: &Module, f: &Function) -> Value {
        json!({
            "vcode": self.lines(tables, f, None),
            "allocated": self.lines(tables, f, Some(&self.allocation)),
            "asm": self.assembly(tables, module, f),
            "frame": self.compiled.frame_size,
        })
    }

    /// Lines: text, place, what they show (`f`unction, `b`lock, `i`nstruction, `e`dit, `m`ap, on an
    /// edge `o`), the number of the instruction or block.
    fn lines(
        &self,
        tables: &mut Tables<'_>,
        f: &Function,
        allocation: Option<&Allocation>,
    ) -> Value {
        let lines = dump::lines(&self.code, allocation);
        let shown = lines.into_iter().map(|line| {
            let (kind, of, loc) = match line.what {
                What::Function => ("f", 0, None),
                What::Block(block) => ("b", block.0, None),
                What::Inst(inst) => ("i", inst, Some(inst)),
                What::Edit(inst) => ("e", inst, Some(inst)),
                What::Map(inst) => ("m", inst, Some(inst)),
                What::Edge(block, _) => ("o", block.0, None),
            };
            let loc = loc.map_or(Loc(0), |inst| self.code.locs[inst as usize]);
            let place = tables.place(f, loc);
            json!([tables.text(line.text), place, kind, of])
        });
        shown.collect()
    }

    /// Instructions: offset, bytes in hexadecimal, place, label, and pieces of text, each behind what
    /// it is.
    fn assembly(&self, tables: &mut Tables<'_>, module: &Module, f: &Function) -> Value {
        let shown = disassembled(&self.compiled, module).into_iter().map(|line| {
            let bytes = &self.compiled.bytes[line.offset as usize..line.end as usize];
            let bytes: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let place = line.loc.map_or(0, |loc| tables.place(f, loc));
            let pieces = line.pieces.into_iter().flat_map(|(of, text)| [kind(of).into(), text]);
            let pieces: Vec<String> = pieces.collect();
            json!([line.offset, bytes, place, line.label, pieces])
        });
        shown.collect()
    }

    /// The assembly as plain lines.
    pub fn text(&self, module: &Module) -> Vec<String> {
        let of = |line: disasm::Line| line.pieces.into_iter().map(|(_, piece)| piece).collect();
        disassembled(&self.compiled, module).into_iter().map(of).collect()
    }

    /// The names of its instructions.
    pub fn mnemonics(&self) -> impl Iterator<Item = String> {
        let code = &self.compiled.bytes[..self.compiled.code_len as usize];
        disasm::mnemonics(code).into_iter()
    }

    /// What happened in the allocation, if that is not too much to be shown.
    pub fn recording(&self, target: &X64) -> Option<Value> {
        Recording { code: &self.code, allocation: &self.allocation, registers: target.registers() }
            .to_json(&self.events)
    }
}

/// What machine code refers to, by its name.
pub fn target_name(module: &Module, target: RelocTarget) -> String {
    match target {
        RelocTarget::Function(f) => module.functions[f].name.clone(),
        RelocTarget::Closure(f) => format!("&{}", module.functions[f].name),
        RelocTarget::Str(s) => format!("{:?}", String::from_utf8_lossy(&module.strings[s])),
        RelocTarget::Stub(n) => Stub::ALL[n as usize].name().to_owned(),
    }
}

/// The instructions, with names for whatever has one.
fn disassembled(compiled: &CompiledFunction, module: &Module) -> Vec<disasm::Line> {
    let names = Names {
        target: &|target| target_name(module, target),
        global: &|global| module.globals[Global(global)].name.clone(),
        line: &|_| None,
    };
    disasm::lines(compiled, &names)
}
