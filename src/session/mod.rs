//! A session: entries that are compiled and run one after the other, each seeing what the earlier
//! ones declared. The REPL is its face.
//!
//! Each entry is compiled as a unit of its own (`unit`), at the session's level, with direct calls
//! inside of it. A function of an earlier unit is called by way of its slot, a global that holds its
//! value, a static object whose code word is rewritten when the function is defined again. Functions
//! that were compiled together with one that is defined again are compiled again, since they call
//! it directly.
//!
//! Nothing of the session changes before the entry has run to its end: an entry that fails leaves
//! everything as it was, but for effects that had happened. Code lives as long as something can call
//! it: a unit that leaves no function behind and made no function value goes at once. Globals that
//! nothing names and no code uses are cleared and used again.

mod inspect;
mod keep;
mod notes;
#[cfg(test)]
mod tests;
mod unit;

use crate::engine::Engine;
use crate::entity::SideTable;
use crate::interp::Halt;
use crate::ir::{FuncRef, Module};
use crate::lower::slot_of;
use crate::pipeline::{FRONT_RED_ZONE, FRONT_STACK, Options, has_errors};
use crate::report::trace;
use crate::sema::hir::{FuncId, GlobalId};
use crate::sema::{self, Entry, Known, display_ty};
use crate::source::{Diagnostic, Interner, Sources};
use crate::syntax::{self, ast};
use crate::timing::Timings;
use std::collections::BTreeMap;
use std::io::sink;
use toyjit_runtime::{Arguments, Input, Interrupter, Output, Runtime, Stop, Stopped};
use unit::{Draft, Unit};

pub use inspect::Variable;

/// The longest text of a value that is shown, in bytes.
const LONGEST_SHOWN: usize = 1 << 16;

/// So many units may be pinned before the heap is looked through for function values.
const CENSUS: usize = 64;

/// A session.
pub struct Session {
    options: Options,
    /// The texts of the entries that messages may speak of.
    sources: Sources,
    /// Where entries run.
    runtime: Runtime,
    interner: Interner,
    known: Known,
    /// The code that can be called, by the number of its first function.
    units: BTreeMap<u32, Unit>,
    /// The unit of each function that can be called.
    homes: SideTable<FuncId, Option<u32>>,
    /// The static function values of each named function; the first is in its slot.
    closures: SideTable<FuncId, Vec<u64>>,
    struct_types: Vec<u32>,
    /// How many units use a global.
    uses: SideTable<GlobalId, u32>,
    /// Globals that no name means, but code may use.
    retired: Vec<GlobalId>,
    /// Functions that no name means, but code may use.
    hidden: Vec<FuncId>,
    /// Globals that nobody uses.
    free: Vec<GlobalId>,
    next_function: u32,
    /// With so many units that are pinned it is time for a census.
    census_at: usize,
    entries: usize,
    /// Whether the last text of the sources is of no use any longer.
    disposable: bool,
}

/// What came of an entry that ran to its end.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What is to be said of it.
    pub warnings: Vec<Diagnostic>,
    /// The value of its last expression, and the type.
    pub value: Option<(String, String)>,
    /// What was defined anew, and who keeps the old definition.
    pub notes: Vec<String>,
}

/// Why an entry left everything as it was.
#[derive(Debug)]
pub enum Failure {
    /// It has errors.
    Diagnostics(Vec<Diagnostic>),
    /// It ended early.
    Stopped(Halt),
    /// A fault of the compiler.
    Fault(String),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Failure::Fault(format!("{stop:?}"))
    }
}

impl Session {
    /// A session without entries, compiled and run as an engine's programs are; its time limit and its
    /// host functions are not for sessions.
    pub fn new(engine: &Engine) -> Result<Self, Stop> {
        let mut interner = Interner::new();
        Ok(Self {
            options: engine.pipeline_options().clone(),
            sources: Sources::new(),
            runtime: Runtime::new(engine.config())?,
            known: Known::new(&mut interner),
            interner,
            units: BTreeMap::new(),
            homes: SideTable::new(None),
            closures: SideTable::new(Vec::new()),
            struct_types: Vec::new(),
            uses: SideTable::new(0),
            retired: Vec::new(),
            hidden: Vec::new(),
            free: Vec::new(),
            next_function: 0,
            census_at: CENSUS,
            entries: 0,
            disposable: false,
        })
    }

    /// The texts that messages speak of.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The optimisation level.
    pub fn level(&self) -> u8 {
        self.options.level
    }

    /// Compiles what is entered from now on at another level.
    pub fn set_level(&mut self, level: u8) {
        self.options.level = level.min(3);
    }

    /// Lets entries read from `input` from now on.
    pub fn set_input(&mut self, input: Input) {
        self.runtime.input = input;
    }

    /// Sends what entries print from now on to `output`; where it went before is the answer.
    pub fn set_output(&mut self, output: Output) -> Output {
        let before = std::mem::replace(&mut self.runtime.output, Output::to(Box::new(sink())));
        self.runtime.set_output(output);
        before
    }

    /// A handle that ends the entry that runs.
    pub fn interrupter(&self) -> Interrupter {
        self.runtime.interrupter()
    }

    /// Compiles and runs an entry. Its last `;` may be missing.
    pub fn enter(&mut self, text: &str, timings: &mut Timings) -> Result<Outcome, Failure> {
        let name = format!("<{}>", self.entries + 1);
        let outcome = self.enter_as(&name, text, timings);
        self.entries += 1;
        outcome
    }

    /// The same, with the name that messages give the text.
    pub fn enter_as(
        &mut self,
        name: &str,
        text: &str,
        timings: &mut Timings,
    ) -> Result<Outcome, Failure> {
        let (entry, draft, warnings) = self.draft(name, text, timings)?;
        let unit = timings.time("link", || {
            self.prepare_globals(&entry);
            Unit::link(&draft, self.next_function, &mut self.runtime)
        })?;
        let first = self.next_function;
        self.next_function += draft.module.functions.len() as u32;
        let ran = timings.time("run", || self.run(&unit, &draft, first));
        match ran {
            Ok(()) => {
                let value = self.value(&entry);
                let notes = self.commit(entry, draft, unit, first);
                Ok(Outcome { warnings, value, notes })
            }
            Err(halt) => {
                self.abandon(entry, draft, unit, first);
                Err(Failure::Stopped(halt))
            }
        }
    }

    /// Parses, checks and compiles an entry. Nothing of the session changes.
    fn draft(
        &mut self,
        name: &str,
        text: &str,
        timings: &mut Timings,
    ) -> Result<(Entry, Draft, Vec<Diagnostic>), Failure> {
        let (entry, draft, said) = self.lowered(name, text, timings)?;
        let draft = draft
            .compile(&self.struct_types, &self.runtime, &self.options, timings)
            .map_err(|error| Failure::Fault(error.to_string()))?;
        Ok((entry, draft, said))
    }

    /// Parses, checks and lowers an entry.
    fn lowered(
        &mut self,
        name: &str,
        text: &str,
        timings: &mut Timings,
    ) -> Result<(Entry, Draft, Vec<Diagnostic>), Failure> {
        stacker::maybe_grow(FRONT_RED_ZONE, FRONT_STACK, || {
            let (base, ast, mut said) = timings.time("parse", || self.parse(name, text))?;
            let (entry, more) = timings
                .time("check", || sema::check_entry(&self.known, &self.free, &ast, &self.interner));
            let is_right = !has_errors(&said);
            said.extend(more);
            let Some(mut entry) = entry.filter(|_| is_right) else {
                return Err(Failure::Diagnostics(said));
            };
            entry.known.program.metered = self.options.metered;
            let moved = self.moved(&entry);
            let (draft, more) = timings.time("lower", || {
                Draft::lower(&mut entry, moved, self.known.program.functions.len(), &self.interner)
            });
            said.extend(more.into_iter().filter(|d| d.span().start >= base));
            if has_errors(&said) {
                return Err(Failure::Diagnostics(said));
            }
            Ok((entry, draft, said))
        })
    }

    /// Parses an entry, with a `;` at its end where that leaves fewer errors.
    fn parse(
        &mut self,
        name: &str,
        text: &str,
    ) -> Result<(u32, ast::Program, Vec<Diagnostic>), Failure> {
        if std::mem::take(&mut self.disposable) {
            self.sources.remove_last();
        }
        let too_large = || Failure::Fault("the texts of the session pass 4 GiB".to_owned());
        let base = self.sources.add(name, text).ok_or_else(too_large)?;
        self.disposable = true;
        let first = syntax::parse(&self.sources, base, &mut self.interner);
        if !has_errors(&first.1) {
            return Ok((base, first.0, first.1));
        }
        self.sources.remove_last();
        let ended = format!("{};", text.trim_end());
        let base = self.sources.add(name, ended).ok_or_else(too_large)?;
        let second = syntax::parse(&self.sources, base, &mut self.interner);
        self.sources.remove_last();
        if second.1.len() < first.1.len() {
            // Messages show what was entered.
            let shown = format!("{} ", text.trim_end());
            let base = self.sources.add(name, shown).ok_or_else(too_large)?;
            return Ok((base, second.0, second.1));
        }
        let base = self.sources.add(name, text).ok_or_else(too_large)?;
        Ok((base, first.0, first.1))
    }

    /// The units of the functions that an entry defines again, taken apart: what must be compiled
    /// again.
    fn moved(&self, entry: &Entry) -> Vec<unit::Body> {
        let mut homes: Vec<u32> = entry.replaced.iter().filter_map(|&f| self.homes[f]).collect();
        homes.sort_unstable();
        homes.dedup();
        let units = homes.iter().filter_map(|home| self.units.get(home).map(|unit| (*home, unit)));
        units
            .flat_map(|(home, unit)| unit.bodies.iter().map(move |body| (home, body)))
            .filter(|(home, (id, body))| {
                let is_named = body.name.is_some();
                !is_named || (self.homes[*id] == Some(*home) && !entry.functions.contains(id))
            })
            .map(|(_, body)| body.clone())
            .collect()
    }

    /// Globals that are used again get the kind of their new content.
    fn prepare_globals(&mut self, entry: &Entry) {
        for &id in &entry.globals {
            if (id.0 as usize) < self.runtime.globals() {
                let slot = slot_of(entry.known.program.globals[id].ty);
                self.runtime.redeclare_global(id.0, slot);
            }
        }
    }

    fn run(&mut self, unit: &Unit, draft: &Draft, first: u32) -> Result<(), Halt> {
        let script = draft.module.script.unwrap_or(FuncRef(0));
        self.runtime.refuel();
        let ran = unit.linked.call(&mut self.runtime, script, &Arguments::default());
        self.runtime.interrupter().clear();
        let flushed = self.runtime.output.flush();
        match (ran, flushed) {
            (Ok(_), Ok(())) => Ok(()),
            (Ok(_), Err(stop)) => Err(Halt { stop, trace: Default::default() }),
            (Err(stopped), _) => Err(self.halt(*stopped, &draft.module, first)),
        }
    }

    fn halt(&self, stopped: Stopped, module: &Module, first: u32) -> Halt {
        let find = |number: u32| {
            if number >= first {
                return Some((module, FuncRef(number - first)));
            }
            let (&home, unit) = self.units.range(..=number).next_back()?;
            Some((&unit.module, FuncRef(number - home)))
        };
        Halt { stop: stopped.stop, trace: trace(&find, &stopped.backtrace) }
    }

    fn value(&self, entry: &Entry) -> Option<(String, String)> {
        let id = entry.value?;
        let program = &entry.known.program;
        let ty = program.globals[id].ty;
        let bytes = self.runtime.shown(slot_of(ty), self.runtime.global(id.0), LONGEST_SHOWN);
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        Some((shown, display_ty(&program.types, &program.structs, &self.interner, ty)))
    }
}
