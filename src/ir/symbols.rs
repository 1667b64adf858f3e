//! The names under which the text syntax knows the things of a module and the variables of a
//! function.
//!
//! Printed names must parse back and mean one thing. So a name is spelled in plain characters, and
//! one that is taken already, reserved or empty gets `#` and the thing's number behind it. The part
//! before the `#` is the name that the parser gives back. Spelling a spelled name again changes
//! nothing.

use super::function::{FuncRef, Function, Variable};
use super::module::{ElemClass, Global, Module, Structure, imm_field};
use super::op::ImmKind;
use crate::entity::Entity;
use rustc_hash::FxHashSet;
use toyjit_runtime::entry;

/// Whether a character may stand in a name that follows `@`, `&` or `$`.
pub(super) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '@' | ':' | '%' | '$')
}

/// Whether a character may stand in a word: a variable, a structure, a field, an operator.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '%')
}

/// Whether the parser reads this word as something else than a variable.
pub(super) fn is_reserved(word: &str) -> bool {
    let entity = numbered(word, 'v').or(numbered(word, 'b')).is_some();
    entity || matches!(word, "true" | "false" | "nil") || is_float(word)
}

/// The digits of `v12` behind its prefix.
pub(super) fn numbered(word: &str, prefix: char) -> Option<&str> {
    word.strip_prefix(prefix).filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// The part of a spelled name that is the thing's own name.
pub(super) fn own_name(spelled: &str) -> &str {
    spelled.split('#').next().unwrap_or(spelled)
}

/// Spells the names of things, given in the order of their numbers.
fn spell<'a>(
    names: impl Iterator<Item = &'a str>,
    plain: fn(&str) -> String,
    reserved: fn(&str) -> bool,
) -> Vec<String> {
    let mut taken = FxHashSet::default();
    let mut spelled = Vec::new();
    for (number, name) in names.enumerate() {
        let plain = plain(name);
        let free = !reserved(&plain) && taken.insert(plain.clone());
        spelled.push(if free { plain } else { format!("{plain}#{number}") });
    }
    spelled
}

/// A name in the characters of names. A colon stays where a digit follows, as in `fn@12:8`.
fn plain_name(name: &str) -> String {
    let followers = name.chars().skip(1).map(Some).chain([None]);
    let plain = name.chars().zip(followers).map(|(c, next)| match (c, next) {
        (':', Some('0'..='9')) => c,
        (':', _) => '_',
        (c, _) if is_name_char(c) => c,
        _ => '_',
    });
    if name.is_empty() { "_".into() } else { plain.collect() }
}

/// A name in the characters of words.
fn plain_word(name: &str) -> String {
    let begins = name.starts_with(|c: char| !c.is_ascii_digit() && c != '.');
    let plain = name.chars().map(|c| if is_word_char(c) { c } else { '_' });
    (!begins).then_some('_').into_iter().chain(plain).collect()
}

/// The same without dots, since one stands between a structure and its field.
fn plain_field(name: &str) -> String {
    plain_word(name).replace('.', "_")
}

/// Whether the lexer reads a word as a float.
fn is_float(word: &str) -> bool {
    matches!(word, "inf" | "nan")
}

/// The spelled names of a module's things.
#[derive(Debug)]
pub(super) struct Symbols {
    functions: Vec<String>,
    globals: Vec<String>,
    structures: Vec<String>,
    /// For each structure: its fields.
    fields: Vec<Vec<String>>,
    classes: usize,
}

impl Symbols {
    /// The names of a module.
    pub(super) fn new(module: &Module) -> Self {
        let structures = module.structures.values();
        Self {
            functions: spell(module.functions.values().map(|f| &*f.name), plain_name, |_| false),
            globals: spell(module.globals.values().map(|g| &*g.name), plain_name, |_| false),
            structures: spell(structures.clone().map(|s| &*s.name), plain_field, is_float),
            fields: structures
                .map(|s| spell(s.fields.iter().map(|f| &*f.0), plain_field, is_float))
                .collect(),
            classes: module.classes.len(),
        }
    }

    /// A function of the module.
    pub(super) fn function(&self, function: FuncRef) -> Option<&str> {
        self.functions.get(function.index()).map(String::as_str)
    }

    /// A global.
    pub(super) fn global(&self, global: Global) -> Option<&str> {
        self.globals.get(global.index()).map(String::as_str)
    }

    /// A structure.
    pub(super) fn structure(&self, structure: Structure) -> Option<&str> {
        self.structures.get(structure.index()).map(String::as_str)
    }

    /// The fields of a structure.
    pub(super) fn fields(&self, structure: Structure) -> &[String] {
        self.fields.get(structure.index()).map_or(&[], Vec::as_slice)
    }

    /// What an instruction's `imm` refers to; the bare number where nothing has that number.
    pub(super) fn imm(&self, kind: ImmKind, imm: u64) -> String {
        let number = usize::try_from(imm).unwrap_or(usize::MAX);
        let name = match kind {
            ImmKind::None | ImmKind::Capture => None,
            ImmKind::Class => (number < self.classes).then(|| ElemClass::new(number).to_string()),
            ImmKind::Field => {
                let (structure, field) = imm_field(imm);
                let name = self.fields(structure).get(field as usize);
                name.zip(self.structure(structure)).map(|(field, of)| format!("{of}.{field}"))
            }
            ImmKind::Global => self.globals.get(number).map(|name| format!("${name}")),
            ImmKind::Structure => self.structures.get(number).cloned(),
            ImmKind::Function => self.functions.get(number).map(|name| format!("@{name}")),
            ImmKind::Row => entry::ENTRIES.get(number).map(|row| row.name.to_string()),
        };
        name.unwrap_or_else(|| imm.to_string())
    }
}

/// The spelled names of a function's variables.
pub(super) fn variables(function: &Function) -> Vec<String> {
    spell(function.variables.values().map(|v| &*v.name), plain_word, is_reserved)
}

/// The spelled name of one variable.
pub(super) fn variable(names: &[String], variable: Variable) -> &str {
    names.get(variable.index()).map_or("?", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_twice_changes_nothing() {
        let names = [
            "x", "x", "", "", "a b", "a_b", "1x", ".x", "v1", "nan", "fn@12:8", "a:", ":1", "é",
            "x#1",
        ];
        for (plain, reserved) in [
            (plain_name as fn(&str) -> String, (|_| false) as fn(&str) -> bool),
            (plain_word, is_reserved),
            (plain_field, is_float),
        ] {
            let spelled = spell(names.into_iter(), plain, reserved);
            let own = spelled.iter().map(|name| own_name(name));
            assert_eq!(spell(own, plain, reserved), spelled);
            let distinct: FxHashSet<&String> = spelled.iter().collect();
            assert_eq!(distinct.len(), names.len());
        }
        assert_eq!(spell(names.into_iter(), plain_name, |_| false)[10], "fn@12:8");
    }
}
