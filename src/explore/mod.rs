//! The compiler at work on a program, as data and as a page.
//!
//! Everything here is recorded: a program goes through the stages, and the passes say what they do
//! (`watch`). [`record`] makes JSON of that, as `docs/explore.md` describes it; [`Record::to_page`]
//! makes one HTML file of the JSON, which needs nothing else. The page draws; it computes nothing of
//! what the compiler does.
//!
//! A module of the IR in the variable form (or SSA form) with its text → JSON, HTML.

mod allocation;
mod code;
mod dataflow;
mod heat;
mod help;
mod layout;
mod machine;
mod page;
mod passes;
mod sccp;
mod ssa;
mod tables;

pub use machine::target_name;

use crate::ir::print::Printer;
use crate::ir::{Form, FuncRef, Module};
use crate::pipeline::{self, Options};
use crate::profile::{Mismatch, Profile, code_hash};
use crate::source::Sources;
use crate::ssa::Folding;
use crate::timing::Timings;
use code::{Union, blocks};
use heat::Heat;
use machine::{Machine, compile};
use passes::Passes;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The version of the data: raised where something that was there means something else or is gone.
pub const VERSION: u32 = 1;

/// A program larger than this, in instructions of the variable form, is shown without the players
/// and the other levels, unless one of its functions is asked for.
const LARGE: usize = 12_000;

/// A program to watch.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// The files.
    pub sources: &'a Sources,
    /// What a front end made of them.
    pub module: &'a Module,
    /// The functions to show.
    pub functions: &'a [FuncRef],
}

/// The data of a program: one object for all, and one for each function.
#[derive(Clone, Debug)]
pub struct Record {
    /// What is said of all of it.
    pub head: Map<String, Value>,
    /// The functions.
    pub functions: Vec<Value>,
}

impl Record {
    /// One HTML file that shows it.
    pub fn to_page(self) -> String {
        page::page(self)
    }

    /// All of it as one object.
    pub fn to_json(mut self) -> Value {
        self.head.insert("functions".to_owned(), Value::Array(self.functions));
        Value::Object(self.head)
    }
}

/// Compiles a program and records what happens; with a profile of a run also where it was hot.
pub fn record(
    program: &Program<'_>,
    options: &Options,
    profile: Option<&Profile>,
) -> Result<Record, Mismatch> {
    let Program { sources, module, functions } = *program;
    let target = pipeline::target(options);
    let size = |&id: &FuncRef| -> usize {
        module.functions[id].blocks.values().map(|data| data.insts.len() + 1).sum()
    };
    let is_large = functions.iter().map(size).sum::<usize>() > LARGE;
    let printer = Printer::new(module);

    let mut passes = Passes::new(sources, &printer, module, functions);
    let mut made = module.clone();
    for &id in functions {
        passes.begin(&module.functions[id]);
    }
    pipeline::construct(&mut made, options, Folding::On);
    for &id in functions {
        passes.constructed(&made.functions[id]);
    }
    pipeline::optimise(&mut made, options, &mut Timings::new(), &mut passes);

    let heat = match profile {
        Some(profile) => {
            profile.check(sources, options.level, code_hash(&made))?;
            Some(Heat::of(sources, &made, profile, |id| {
                compile(&target, &made, &made.functions[id], false)
            }))
        }
        None => None,
    };
    let others: Vec<(u8, Module)> = (0..=3)
        .filter(|&level| level != options.level && !is_large)
        .map(|level| {
            let mut other = module.clone();
            let options = Options { level, ..options.clone() };
            pipeline::middle(&mut other, &options, &mut Timings::new(), &mut ());
            (level, other)
        })
        .collect();

    let mut help = Help::default();
    let mut shown = Vec::new();
    for (&id, stages) in functions.iter().zip(passes.finish()) {
        let f = &module.functions[id];
        let passes::Stages { mut tables, stages, union, before_sccp } = stages;
        let machine = compile(&target, &made, &made.functions[id], !is_large);
        let mut data = Map::new();
        let mut put = |name: &str, value: Value| _ = data.insert(name.to_owned(), value);
        put("name", json!(f.name));
        put("file", json!(tables.file));
        put("lines", json!(tables.lines(f)));
        put("stages", Value::Array(stages));
        put("layout", union.layout());
        put("machine", machine.to_json(&mut tables, &made, &made.functions[id]));
        if let Some(heat) = &heat {
            put("heat", heat.function(id, &machine));
        }
        help.note(&machine, &made, id);
        let mut left_out = Vec::new();
        if is_large {
            left_out.push(
                "the players and the other levels: the program is large; \
                           `--function NAME` shows them for one function"
                    .to_owned(),
            );
        } else {
            put("allocation", json!(machine.recording(&target)));
            let of_level = before_sccp.is_some();
            let before = before_sccp.as_ref().map_or(&made.functions[id], |before| before);
            put("sccp", sccp::run(&mut tables, &printer, &made, id, before, of_level));
            if f.form == Form::Variable {
                let mut union = Union::new();
                blocks(&mut tables, &printer, f, &mut union);
                union.make_room();
                put("variableLayout", union.layout());
                let (problems, too_large) = dataflow::problems(module, f);
                put("dataflow", Value::Array(problems));
                if !too_large.is_empty() {
                    left_out.push(format!("too large to be shown: {}", too_large.join(", ")));
                }
                put("ssa", ssa::constructions(&mut tables, &printer, module, f));
            }
            let levels = others.iter().map(|(level, other)| {
                let g = &other.functions[id];
                let machine = compile(&target, other, g, false);
                help.note(&machine, other, id);
                json!({
                    "level": level,
                    "blocks": blocks(&mut tables, &printer, g, &mut Union::new()),
                    "asm": machine.text(other).into_iter().map(|line| tables.text(line))
                        .collect::<Vec<_>>(),
                })
            });
            let levels = levels.collect();
            put("levels", levels);
        }
        put("leftOut", json!(left_out));
        let (texts, places) = tables.to_json();
        put("texts", texts);
        put("places", places);
        shown.push(Value::Object(data));
    }
    for f in module.functions.values().chain(made.functions.values()) {
        help.note_operators(f);
    }
    let mut head = head(program, options, help);
    if let Some(heat) = &heat {
        head.insert("heat".to_owned(), heat.head());
    }
    Ok(Record { head, functions: shown })
}

fn head(program: &Program<'_>, options: &Options, help: Help) -> Map<String, Value> {
    let files = program.sources.files().iter();
    let files = files.map(|file| json!({ "name": file.name, "text": file.text }));
    let Value::Object(head) = json!({
        "version": VERSION,
        "level": options.level,
        "files": files.collect::<Vec<_>>(),
        "operators": help.operators,
        "mnemonics": help.mnemonics,
    }) else {
        return Map::new();
    };
    head
}

/// Operators and machine instructions that occur, each with what it does.
#[derive(Default)]
struct Help {
    operators: BTreeMap<&'static str, &'static str>,
    mnemonics: BTreeMap<String, String>,
}

impl Help {
    fn note(&mut self, machine: &Machine, module: &Module, id: FuncRef) {
        self.note_operators(&module.functions[id]);
        for name in machine.mnemonics() {
            if let Some(help) = help::mnemonic(&name) {
                self.mnemonics.entry(name).or_insert(help);
            }
        }
    }

    fn note_operators(&mut self, f: &crate::ir::Function) {
        for inst in f.insts.values() {
            let info = inst.op.info();
            self.operators.insert(info.name, info.doc);
        }
        for data in f.blocks.values() {
            if let crate::ir::Terminator::Branch { op, .. } = &data.terminator {
                let info = op.info();
                self.operators.insert(info.name, info.doc);
            }
        }
    }
}

#[cfg(test)]
mod tests;
