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
use toyjit_runtime::{Arguments, Interrupter, Runtime, Stop, Stopped};
use unit::{Draft, Unit};

pub use inspect::{Explored, Variable};

/// The longest text of a value that is shown, in bytes.
const LONGEST_SHOWN: usize = 1 << 16;

/// So many units may be pinned before the heap is looked through for function values.
const CENSUS: usize = 64;

/// A session.
pub struct Session {
    /// How entries are compiled.
    pub options: Options,
    /// The texts of the entries that messages may speak of.
    pub sources: Sources,
    /// Where entries run.
    pub runtime: Runtime,
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

    /// Makes an entry that ran to its end a part of the session.
    fn commit(&mut self, mut entry: Entry, draft: Draft, unit: Unit, first: u32) -> Vec<String> {
        let notes = self.notes(&entry);
        self.add_structs(&entry, &draft.module);
        let replaced: Vec<FuncId> =
            draft.named.iter().map(|&(id, _)| id).filter(|&id| self.homes[id].is_some()).collect();
        let mut left: Vec<u32> = replaced.iter().filter_map(|&id| self.homes[id]).collect();
        for &(id, function) in &draft.named {
            let (code, value) = (unit.linked.entry(function), unit.closures[function]);
            for &earlier in &self.closures[id] {
                self.runtime.set_code(earlier, code);
            }
            if self.closures[id].is_empty()
                && let Some(slot) = entry.known.slots[id]
            {
                self.runtime.set_global(slot.0, value);
            }
            if self.closures[id].is_empty() || draft.is_value(function) {
                self.closures[id].push(value);
            }
            self.homes[id] = Some(first);
        }
        let renamed = self.renamed(&entry);
        let functions_before = self.known.program.functions.len();
        for id in entry.known.program.functions.keys() {
            let body = &mut entry.known.program.functions[id].body;
            body.statements = Vec::new();
        }
        let declares = entry.globals.iter().any(|&id| Some(id) != entry.value);
        self.free.retain(|id| !entry.globals.contains(id));
        self.known = entry.known;
        self.disposable = !declares && draft.named.is_empty() && !draft.makes_closures;
        if draft.named.is_empty() {
            self.known.forget_functions(functions_before);
        }
        self.retired.extend(renamed);
        self.retired.extend(entry.hidden.iter().filter_map(|&id| self.known.slots[id]));
        self.hidden.extend(&entry.hidden);
        self.keep(unit, &draft, first, draft.makes_closures);
        left.sort_unstable();
        left.dedup();
        for home in left {
            self.drop_unit_if_dead(home);
        }
        self.clear_globals();
        if !entry.hidden.is_empty() {
            self.census_if_due();
        }
        notes
    }

    /// Takes back an entry that ended early. Its function values may have got away: then their code
    /// and the globals that they use stay.
    fn abandon(&mut self, entry: Entry, draft: Draft, unit: Unit, first: u32) {
        if draft.makes_closures || draft.has_values() {
            self.add_structs(&entry, &draft.module);
            self.free.retain(|id| !entry.globals.contains(id));
            self.retired.extend(entry.globals.iter().copied());
            let Known { program, .. } = entry.known;
            self.known.program.types = program.types;
            self.known.program.structs = program.structs;
            self.known.program.globals = program.globals;
            self.disposable = false;
            self.keep(unit, &draft, first, true);
            self.clear_globals();
            return;
        }
        unit.linked.unlink(&mut self.runtime);
        for id in entry.globals {
            if (id.0 as usize) < self.runtime.globals() {
                self.runtime.set_global(id.0, 0);
            }
        }
    }

    fn add_structs(&mut self, entry: &Entry, module: &Module) {
        let known = self.struct_types.len() as u32;
        let count = entry.known.program.structs.len() as u32;
        self.struct_types
            .extend((known..count).map(|s| module.struct_type(crate::ir::Structure(s))));
    }

    /// Keeps a unit that something can call, and lets go of any other.
    fn keep(&mut self, mut unit: Unit, draft: &Draft, first: u32, pinned: bool) {
        unit.pinned = pinned;
        if draft.named.is_empty() && !pinned {
            unit.linked.unlink(&mut self.runtime);
            return;
        }
        for &global in &unit.globals {
            self.uses[global] += 1;
        }
        self.units.insert(first, unit);
        if pinned {
            self.census_if_due();
        }
    }

    /// Whether code can call a function of a unit by its name: a function that is hidden by one of
    /// other types can be called as long as something uses its slot.
    fn is_callable(&self, first: u32, unit: &Unit) -> bool {
        let mut named = unit.named.iter();
        named.any(|&(id, _)| self.homes[id] == Some(first) && self.known.slots[id].is_some())
    }

    /// The units that only function values lead to, if anything does.
    fn waiting(&self) -> usize {
        let is_waiting =
            |&(&first, unit): &(&u32, &Unit)| unit.pinned || !self.is_callable(first, unit);
        self.units.iter().filter(is_waiting).count()
    }

    fn census_if_due(&mut self) {
        if self.waiting() >= self.census_at {
            self.census();
        }
    }

    /// Lets go of the units whose function values nothing can reach any longer.
    fn census(&mut self) {
        let live = self.runtime.live_types();
        let is_dead = |first: u32, unit: &Unit| {
            !self.is_callable(first, unit) && unit.types.clone().all(|ty| !live[ty as usize])
        };
        let units = self.units.iter().filter(|&(&first, unit)| is_dead(first, unit));
        let dead: Vec<u32> = units.map(|(&first, _)| first).collect();
        for first in dead {
            self.drop_unit(first);
        }
        self.clear_globals();
        self.census_at = CENSUS + 2 * self.waiting();
    }

    fn drop_unit_if_dead(&mut self, home: u32) {
        let Some(unit) = self.units.get(&home) else { return };
        let is_home = |&(id, _): &(FuncId, FuncRef)| self.homes[id] == Some(home);
        if !unit.pinned && !unit.named.iter().any(is_home) {
            self.drop_unit(home);
        }
    }

    fn drop_unit(&mut self, home: u32) {
        if let Some(unit) = self.units.remove(&home) {
            unit.linked.unlink(&mut self.runtime);
            for &global in &unit.globals {
                self.uses[global] -= 1;
            }
            for (id, _) in unit.named {
                if self.homes[id] == Some(home) {
                    self.homes[id] = None;
                }
            }
        }
    }

    /// Globals that an entry takes the name from.
    fn renamed(&self, entry: &Entry) -> Vec<GlobalId> {
        let mut renamed = Vec::new();
        let mut symbols: Vec<_> = entry
            .globals
            .iter()
            .map(|&id| entry.known.program.globals[id].name)
            .chain(entry.functions.iter().filter_map(|&f| entry.known.program.functions[f].name))
            .collect();
        symbols.sort_unstable();
        symbols.dedup();
        for name in symbols {
            if let Some(before) = self.known.global(name)
                && entry.known.global(name) != Some(before)
            {
                renamed.push(before);
            }
        }
        let is_slot = |id: GlobalId| {
            let mut functions = entry.functions.iter();
            functions.any(|&function| entry.known.slots[function] == Some(id))
        };
        renamed.extend(entry.globals.iter().copied().filter(|&id| {
            let name = entry.known.program.globals[id].name;
            entry.known.global(name) != Some(id) && !is_slot(id)
        }));
        renamed
    }

    /// Clears the retired globals that no code uses.
    fn clear_globals(&mut self) {
        let (dead, used): (Vec<_>, Vec<_>) =
            self.retired.drain(..).partition(|&id| self.uses[id] == 0);
        self.retired = used;
        let slots = &mut self.known.slots;
        self.hidden.retain(|&function| {
            let stays = slots[function].is_some_and(|slot| !dead.contains(&slot));
            if !stays {
                slots[function] = None;
            }
            stays
        });
        for id in dead {
            self.runtime.set_global(id.0, 0);
            self.free.push(id);
        }
    }

    /// What is to be said of definitions that hide earlier ones.
    fn notes(&self, entry: &Entry) -> Vec<String> {
        let program = &self.known.program;
        let mut notes = Vec::new();
        for &hidden in &entry.hidden {
            let Some(name) = program.functions[hidden].name else { continue };
            let name = self.interner.name(name);
            let users = self.users(hidden);
            let users: Vec<String> = users
                .into_iter()
                .filter(|user| !entry.functions.contains(user))
                .filter_map(|user| program.functions[user].name)
                .map(|user| format!("`{}`", self.interner.name(user)))
                .collect();
            if !users.is_empty() {
                let verb = if users.len() == 1 { "keeps" } else { "keep" };
                notes.push(format!(
                    "`{name}` has other types now: {} {verb} calling the old one",
                    users.join(", ")
                ));
            }
        }
        for &hidden in &entry.hidden_structs {
            let name = self.interner.name(program.structs[hidden].name);
            notes.push(format!(
                "`{name}` is a new type now: what was made or defined before keeps the old one"
            ));
        }
        notes
    }

    /// The functions that call a function or use it as a value.
    fn users(&self, function: FuncId) -> Vec<FuncId> {
        let slot = self.known.slots[function];
        let mut users = Vec::new();
        for (&home, unit) in &self.units {
            for mention in &unit.mentions {
                let is_user = mention.functions.contains(&function)
                    || slot.is_some_and(|slot| mention.globals.contains(&slot));
                let user = mention.user;
                if is_user && user != function && self.homes[user] == Some(home) {
                    users.push(user);
                }
            }
        }
        users.sort_unstable();
        users.dedup();
        users
    }
}
