//! The stages from the CFG on, as text.

use super::{Fault, Remark, View};
use crate::explore::target_name;
use crate::ir::{FuncRef, Global, Module, print};
use crate::mach::CompiledFunction;
use crate::opt::{Event, Observer, Stats};
use crate::pipeline::{self, Options};
use crate::source::{Sources, Span};
use crate::ssa::Folding;
use crate::timing::Timings;
use crate::x64;
use crate::x64::disasm::{Names, disassemble};

/// The stages that functions go through, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Three-address code over variables.
    Cfg,
    /// SSA form with block parameters.
    Ssa,
    /// SSA form after the passes of the level.
    Opt,
    /// Machine instructions over virtual registers.
    Vcode,
    /// The same with registers, spill slots and the allocator's moves.
    Regalloc,
    /// Machine code, with source lines between.
    Asm,
}

impl Stage {
    /// All stages.
    pub const ALL: [Self; 6] =
        [Self::Cfg, Self::Ssa, Self::Opt, Self::Vcode, Self::Regalloc, Self::Asm];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cfg => "cfg",
            Self::Ssa => "ssa",
            Self::Opt => "opt",
            Self::Vcode => "vcode",
            Self::Regalloc => "regalloc",
            Self::Asm => "asm",
        }
    }

    /// The stage of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.name() == name)
    }
}

impl View<'_> {
    /// The functions as a stage leaves them.
    pub fn emit(&self, stage: Stage) -> Result<String, Fault> {
        let module = self.brought_to(stage, &mut ());
        let target = pipeline::target(self.options);
        let mut texts = Vec::with_capacity(self.functions.len());
        for &id in &self.functions {
            if matches!(stage, Stage::Cfg | Stage::Ssa | Stage::Opt) {
                texts.push(print::function(&module, &module.functions[id]));
                continue;
            }
            let backed = pipeline::back(&target, &module, id, self.options, &mut Timings::new())?;
            texts.push(match stage {
                Stage::Vcode => x64::dump::vcode(&backed.code),
                Stage::Regalloc => x64::dump::allocated(&backed.code, &backed.allocation),
                _ => assembly(self.sources, &module, id, &backed.compiled),
            });
        }
        Ok(texts.join("\n"))
    }

    /// The functions after each run of one pass, with what it did.
    pub fn emit_after(&self, pass: &str) -> String {
        let mut after = After { pass, functions: &self.functions, text: String::new() };
        self.brought_to(Stage::Opt, &mut after);
        after.text
    }

    /// What the passes say of their work.
    pub fn remarks(&self) -> Vec<Remark> {
        let options = Options { remarks: true, ..self.options.clone() };
        let mut told = Told(Vec::new());
        let mut module = self.module.clone().into_owned();
        pipeline::middle(&mut module, &options, &mut Timings::new(), &mut told);
        told.0
    }

    /// The module in the form that a stage shows.
    pub(super) fn brought_to(&self, stage: Stage, observer: &mut dyn Observer) -> Module {
        let mut module = self.module.clone().into_owned();
        match stage {
            Stage::Cfg => {}
            Stage::Ssa => pipeline::construct(&mut module, self.options, Folding::Off),
            _ => pipeline::middle(&mut module, self.options, &mut Timings::new(), observer),
        }
        module
    }
}

/// Writes down the functions as a pass left them.
struct After<'a> {
    pass: &'a str,
    functions: &'a [FuncRef],
    text: String,
}

impl Observer for After<'_> {
    fn after(&mut self, event: &Event<'_>) {
        if self.pass == event.pass.name && self.functions.contains(&event.id) {
            let Stats { insts_before, insts_after, rewrites, .. } = event.stats;
            self.text += &format!(
                "; after {}: {rewrites} rewrites, {insts_before} instructions before, {insts_after} \
                 after\n{}\n",
                event.pass.name,
                print::function(event.module, event.function)
            );
        }
    }
}

/// Keeps remarks.
struct Told(Vec<Remark>);

impl Observer for Told {
    fn remarks(&mut self, remarks: Vec<Remark>) {
        self.0.extend(remarks);
    }
}

fn assembly(
    sources: &Sources,
    module: &Module,
    function: FuncRef,
    compiled: &CompiledFunction,
) -> String {
    let f = &module.functions[function];
    let names = Names {
        target: &|target| target_name(module, target),
        global: &|global| module.globals[Global(global)].name.clone(),
        line: &|loc| {
            let span = f.locs[loc].span;
            (span != Span::default()).then(|| {
                let (file, at) = sources.locate(span.start);
                let line = file.line_of(at);
                format!("{line}: {}", file.line(line).trim())
            })
        },
    };
    format!("{}:\n{}", f.name, disassemble(compiled, &names))
}
