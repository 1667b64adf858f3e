//! What stays of an entry, and what goes: names, code, globals.
//!
//! A unit stays as long as a name leads to one of its functions, or a function value may. A census of
//! the heap finds the units that no value leads to any longer.

use super::unit::{Draft, Unit};
use super::{CENSUS, Session};
use crate::ir::{FuncRef, Module};
use crate::sema::hir::{FuncId, GlobalId};
use crate::sema::{Entry, Known};

impl Session {
    /// Makes an entry that ran to its end a part of the session.
    pub(super) fn commit(
        &mut self,
        mut entry: Entry,
        draft: Draft,
        unit: Unit,
        first: u32,
    ) -> Vec<String> {
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
    pub(super) fn abandon(&mut self, entry: Entry, draft: Draft, unit: Unit, first: u32) {
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
    pub(super) fn census(&mut self) {
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
}
