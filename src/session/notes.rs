//! What is said of definitions that hide earlier ones.

use super::Session;
use crate::sema::Entry;
use crate::sema::hir::FuncId;

impl Session {
    /// What is to be said of definitions that hide earlier ones.
    pub(super) fn notes(&self, entry: &Entry) -> Vec<String> {
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
