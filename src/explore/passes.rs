//! What each pass leaves of each function.

use super::code::{Union, blocks};
use super::tables::{Tables, number};
use crate::entity::SideTable;
use crate::ir::print::Printer;
use crate::ir::{Form, FuncRef, Function, Module};
use crate::opt::{Event, Observer};
use crate::source::Sources;
use serde_json::{Value, json};

/// What was recorded of a function.
pub struct Stages<'a> {
    /// Its texts and places.
    pub tables: Tables<'a>,
    /// The stages from the CFG on.
    pub stages: Vec<Value>,
    /// The union of their graphs.
    pub union: Union,
    /// The function as it came to sparse conditional constant propagation.
    pub before_sccp: Option<Function>,
}

/// Writes down the chosen functions after each pass.
pub struct Passes<'a> {
    printer: &'a Printer<'a>,
    functions: Vec<Stages<'a>>,
    /// The place of a function among them.
    places: SideTable<FuncRef, Option<usize>>,
    /// For each, the function as the pass before left it, as long as it may be wanted.
    last: Vec<Option<Function>>,
    blocks: Vec<Value>,
}

impl<'a> Passes<'a> {
    /// To watch these functions.
    pub fn new(
        sources: &'a Sources,
        printer: &'a Printer<'a>,
        module: &Module,
        functions: &[FuncRef],
    ) -> Self {
        let mut places = SideTable::new(None);
        functions.iter().enumerate().for_each(|(place, &id)| places[id] = Some(place));
        let stages = |&id: &FuncRef| Stages {
            tables: Tables::new(sources, &module.functions[id]),
            stages: Vec::new(),
            union: Union::new(),
            before_sccp: None,
        };
        Self {
            printer,
            functions: functions.iter().map(stages).collect(),
            places,
            last: vec![None; functions.len()],
            blocks: vec![Value::Null; functions.len()],
        }
    }

    /// A function as it comes.
    pub fn begin(&mut self, f: &Function) {
        let form = if f.form == Form::Variable { "cfg" } else { "ssa" };
        self.stage(f, form, 0);
    }

    /// A function in SSA form.
    pub fn constructed(&mut self, f: &Function) {
        let Some(place) = self.places[f.id()] else { return };
        if self.functions[place].stages[0]["name"] == "cfg" {
            self.stage(f, "ssa", 0);
        }
        self.last[place] = Some(f.clone());
    }

    /// All that was recorded, in the order of the functions.
    pub fn finish(self) -> Vec<Stages<'a>> {
        self.functions
    }

    /// Adds a stage; where nothing has changed it has no blocks of its own.
    fn stage(&mut self, f: &Function, name: &str, rewrites: u64) {
        let Some(place) = self.places[f.id()] else { return };
        let Stages { tables, stages, union, .. } = &mut self.functions[place];
        let blocks = blocks(tables, self.printer, f, union);
        let insts: usize = f.blocks.values().map(|data| data.insts.len()).sum();
        let changed = blocks != self.blocks[place];
        stages.push(json!({
            "name": name,
            "insts": insts,
            "rewrites": rewrites,
            "blocks": changed.then(|| blocks.clone()),
        }));
        if changed {
            self.blocks[place] = blocks;
        }
    }
}

impl Observer for Passes<'_> {
    fn after(&mut self, event: &Event<'_>) {
        let Some(place) = self.places[event.id] else { return };
        debug_assert_eq!(number(event.function.id()), number(event.id));
        self.stage(event.function, event.pass.name, event.stats.rewrites);
        if event.pass.name == "sccp" {
            self.functions[place].before_sccp = self.last[place].take();
        } else if let Some(last) = &mut self.last[place] {
            last.clone_from(event.function);
        }
    }
}
