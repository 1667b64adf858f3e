//! Checking entry after entry: each sees what the earlier ones declared.
//!
//! [`Known`] is what a session has declared so far; it is never changed, so that an entry that
//! fails leaves no trace. A global may be declared again: it is another one then, and what was checked
//! before keeps the earlier one. A function declared again with the same types takes the number of
//! the earlier one, so that its callers call the new one; with other types it is another function. A
//! struct declared again with the same fields is the earlier struct.
//!
//! All entries' top-level statements are the same function, which is made anew each time.
//!
//! Each named function has a slot, a global that holds its value: what is compiled later calls it by
//! way of the slot. The value of an entry's last expression is kept in a global called `_`.

use super::hir::{self, FuncId, GlobalId, Program, StructId, Ty};
use super::{Checker, Signature, names, scope};
use crate::entity::{Arena, SideTable};
use crate::source::{Diagnostic, Interner, Span, Symbol};
use crate::syntax::ast::{self, Item};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a session has declared. The functions in it have no bodies.
#[derive(Clone, Debug)]
pub struct Known {
    /// Types, structs, functions and globals.
    pub program: Program,
    /// The slot of each named function.
    pub slots: SideTable<FuncId, Option<GlobalId>>,
    depths: SideTable<Ty, u32>,
    fields: FxHashMap<(StructId, Symbol), u32>,
    field_spans: SideTable<StructId, Vec<Span>>,
    signatures: Arena<FuncId, Signature>,
    global_keywords: SideTable<GlobalId, Span>,
    names: SideTable<Symbol, names::TopLevel>,
}

/// A checked entry.
#[derive(Debug)]
pub struct Entry {
    /// The session as it will be when the entry has run, with the bodies of the entry's functions.
    pub known: Known,
    /// The entry's named functions.
    pub functions: Vec<FuncId>,
    /// Those of them that take the place of an earlier function of the same types.
    pub replaced: Vec<FuncId>,
    /// Earlier functions that are hidden by one of other types.
    pub hidden: Vec<FuncId>,
    /// Structs that are hidden by one of other fields.
    pub hidden_structs: Vec<StructId>,
    /// The globals that the entry declares.
    pub globals: Vec<GlobalId>,
    /// The global that holds the value of the last expression.
    pub value: Option<GlobalId>,
}

/// What a checker notes of an entry.
#[derive(Default)]
pub(super) struct Notes {
    known_functions: usize,
    known_structs: usize,
    functions: Vec<FuncId>,
    replaced: Vec<FuncId>,
    hidden: Vec<FuncId>,
    hidden_structs: Vec<StructId>,
    declared: FxHashSet<Symbol>,
    globals: Vec<GlobalId>,
    free: Vec<GlobalId>,
    slots: Slots,
    value: Option<GlobalId>,
}

/// The slots of functions.
#[derive(Clone)]
struct Slots(SideTable<FuncId, Option<GlobalId>>);

impl Default for Slots {
    fn default() -> Self {
        Self(SideTable::new(None))
    }
}

impl Known {
    /// A session without entries; the names of the builtins get their symbols here.
    pub fn new(interner: &mut Interner) -> Self {
        for &(name, _) in hir::Builtin::ALL {
            interner.intern(name);
        }
        for name in ["int", "float", "byte", "str", "bool", "_"] {
            interner.intern(name);
        }
        let mut checker = Checker::new(interner);
        let script = checker.add_function(None, hir::FunctionKind::Script, Span::default());
        Self {
            program: Program {
                types: checker.types,
                structs: Arena::new(),
                functions: checker.functions,
                globals: Arena::new(),
                script,
                main: None,
                hosts: 0,
                metered: false,
            },
            slots: SideTable::new(None),
            depths: checker.depths,
            fields: checker.fields,
            field_spans: checker.field_spans,
            signatures: checker.signatures,
            global_keywords: checker.global_keywords,
            names: checker.names,
        }
    }

    /// The global that a name means.
    pub fn global(&self, name: Symbol) -> Option<GlobalId> {
        self.names[name].global
    }

    /// The function that a name means, where no global hides it.
    pub fn function(&self, name: Symbol) -> Option<FuncId> {
        self.names[name].function
    }

    /// The struct that a name means.
    pub fn structure(&self, name: Symbol) -> Option<StructId> {
        self.names[name].structure
    }

    /// Whether a function is what its name means.
    pub fn is_current(&self, function: FuncId) -> bool {
        let name = self.program.functions[function].name;
        name.is_some_and(|name| self.names[name].function == Some(function))
    }

    /// Forgets the functions from a number on.
    pub fn forget_functions(&mut self, from: usize) {
        self.program.functions.truncate(from);
        self.signatures.truncate(from);
    }
}

/// Checks an entry. Globals of the numbers `free` are used by nobody and may be declared anew.
pub fn check_entry(
    known: &Known,
    free: &[GlobalId],
    entry: &ast::Program,
    interner: &Interner,
) -> (Option<Entry>, Vec<Diagnostic>) {
    let known = known.clone();
    let mut checker = Checker::new(interner);
    let notes = Notes {
        known_functions: known.program.functions.len(),
        known_structs: known.program.structs.len(),
        free: free.to_vec(),
        slots: Slots(known.slots),
        ..Notes::default()
    };
    checker.types = known.program.types;
    checker.structs = known.program.structs;
    checker.functions = known.program.functions;
    checker.globals = known.program.globals;
    checker.depths = known.depths;
    checker.fields = known.fields;
    checker.field_spans = known.field_spans;
    checker.signatures = known.signatures;
    checker.global_keywords = known.global_keywords;
    checker.names = known.names;
    checker.scopes = scope::Scopes::new(interner.len());
    checker.entry = Some(Box::new(notes));
    let declared = checker.declare(entry);
    checker.script(entry, declared.script);
    checker.bodies(entry, &declared.functions);
    checker.finish_entry(declared.script)
}

impl Checker<'_> {
    fn finish_entry(mut self, script: FuncId) -> (Option<Entry>, Vec<Diagnostic>) {
        self.diagnostics.sort_by_key(|d| d.span().start);
        let notes = *self.entry.take().unwrap_or_default();
        let entry = (!self.failed()).then_some(Entry {
            known: Known {
                program: Program {
                    types: self.types,
                    structs: self.structs,
                    functions: self.functions,
                    globals: self.globals,
                    script,
                    main: None,
                    hosts: 0,
                    metered: false,
                },
                slots: notes.slots.0,
                depths: self.depths,
                fields: self.fields,
                field_spans: self.field_spans,
                signatures: self.signatures,
                global_keywords: self.global_keywords,
                names: self.names,
            },
            functions: notes.functions,
            replaced: notes.replaced,
            hidden: notes.hidden,
            hidden_structs: notes.hidden_structs,
            globals: notes.globals,
            value: notes.value,
        });
        (entry, self.diagnostics)
    }

    /// The function of the entry's top-level statements, without any yet.
    pub(super) fn entry_script(&mut self, span: Span) -> FuncId {
        let script = FuncId(0);
        let function = &mut self.functions[script];
        function.locals = Arena::new();
        function.span = span;
        script
    }

    /// Adds a global.
    pub(super) fn new_global(&mut self, global: hir::Global) -> GlobalId {
        let Some(notes) = &mut self.entry else { return self.globals.push(global) };
        let id = match notes.free.pop() {
            Some(id) => {
                self.globals[id] = global;
                id
            }
            None => self.globals.push(global),
        };
        notes.globals.push(id);
        id
    }

    /// Keeps the value of an entry's last expression, which stands at `statement`.
    pub(super) fn entry_value(
        &mut self,
        statement: &ast::Stmt,
        is_last: bool,
    ) -> Option<hir::StmtKind> {
        let ast::StmtKind::Expr(expr) = &statement.kind else { return None };
        let name = self.interner.find("_").filter(|_| is_last && self.entry.is_some())?;
        let value = self.expr(expr, None);
        if value.ty == Ty::UNIT || value.ty == Ty::ERROR {
            return Some(hir::StmtKind::Expr(value));
        }
        let global = hir::Global { name, ty: value.ty, mutable: false, span: expr.span };
        let global = self.new_global(global);
        self.names[name].global = Some(global);
        if let Some(notes) = &mut self.entry {
            notes.value = Some(global);
        }
        Some(hir::StmtKind::Global { global, value: Some(value) })
    }

    /// Forgets what a struct, function or global of this name was before the entry.
    fn unname(&mut self, name: Symbol, keep: impl Fn(&mut names::TopLevel)) {
        let before = self.names[name];
        let mut emptied = names::TopLevel {
            structure: None,
            function: None,
            global: None,
            global_span: None,
            ..before
        };
        keep(&mut emptied);
        self.names[name] = emptied;
    }

    /// Lets an entry declare what earlier entries declared: structs that have not changed stay.
    pub(super) fn prepare_entry(&mut self, program: &ast::Program) {
        let Some(notes) = &self.entry else { return };
        let known = notes.known_structs;
        let items: Vec<&ast::Struct> = program
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Struct(item) => Some(item),
                _ => None,
            })
            .collect();
        if known == 0 || items.is_empty() {
            return;
        }
        let is_known = |id: &StructId| (id.0 as usize) < known;
        let again = items
            .iter()
            .filter(|item| self.names[item.name.symbol].structure.as_ref().is_some_and(is_known));
        let mut same: Vec<&ast::Struct> = again.copied().collect();
        let mut changed = FxHashSet::default();
        loop {
            let before = same.len();
            same.retain(|item| {
                let stays = self.is_same_struct(item, &changed);
                if !stays {
                    changed.insert(item.name.symbol);
                }
                stays
            });
            if same.len() == before {
                break;
            }
        }
        for name in changed {
            if let (Some(notes), Some(id)) = (&mut self.entry, self.names[name].structure) {
                notes.hidden_structs.push(id);
            }
            self.names[name].structure = None;
        }
        if let Some(notes) = &mut self.entry {
            notes.hidden_structs.sort_unstable();
        }
    }

    /// Whether a struct has the fields of the known one of its name, none of them of a changed type.
    fn is_same_struct(&mut self, item: &ast::Struct, changed: &FxHashSet<Symbol>) -> bool {
        let Some(id) = self.names[item.name.symbol].structure else { return false };
        if item.fields.len() != self.structs[id].fields.len()
            || item.fields.iter().any(|field| mentions(&field.ty, changed))
        {
            return false;
        }
        let said = self.diagnostics.len();
        let fields: Vec<_> =
            item.fields.iter().map(|f| (f.name.symbol, self.written(&f.ty))).collect();
        self.diagnostics.truncate(said);
        self.unknown.clear();
        fields == self.structs[id].fields
    }

    /// The known struct that an entry declares once more; its fields stay.
    pub(super) fn kept_struct(&mut self, name: Symbol) -> Option<StructId> {
        let id = self.names[name].structure?;
        let notes = self.entry.as_mut()?;
        let is_known = (id.0 as usize) < notes.known_structs;
        (is_known && notes.declared.insert(name)).then_some(id)
    }

    /// Settles what the names of an entry's new struct and function mean; whether they are free.
    pub(super) fn entry_struct(&mut self, name: Symbol) {
        if let Some(notes) = &self.entry {
            let known = notes.known_functions;
            let function = self.names[name].function.filter(|f| f.0 as usize >= known);
            self.unname(name, |entry| entry.function = function);
        }
    }

    /// A function of an entry, whose head was added as the last one: its number in the end. None where
    /// no entry is checked, or the entry has declared the name already.
    pub(super) fn entry_function(&mut self, id: FuncId, name: Symbol) -> Option<FuncId> {
        let notes = self.entry.as_mut()?;
        if !notes.declared.insert(name) {
            return None;
        }
        let earlier = self.names[name].function;
        let id = match earlier {
            Some(earlier) if self.functions[earlier].ty == self.functions[id].ty => {
                let last = self.functions.len() - 1;
                self.functions[earlier] = self.functions[id].clone();
                self.signatures[earlier] = self.signatures[id].clone();
                self.functions.truncate(last);
                self.signatures.truncate(last);
                notes.replaced.push(earlier);
                earlier
            }
            _ => {
                notes.hidden.extend(earlier);
                id
            }
        };
        notes.functions.push(id);
        if self.entry.as_ref().is_some_and(|notes| notes.slots.0[id].is_none()) {
            let hir::Function { ty, span, .. } = self.functions[id];
            let slot = self.new_global(hir::Global { name, ty, mutable: false, span });
            if let Some(notes) = &mut self.entry {
                notes.slots.0[id] = Some(slot);
            }
        }
        let structure = self.names[name].structure.filter(|&structure| {
            self.entry.as_ref().is_some_and(|notes| structure.0 as usize >= notes.known_structs)
        });
        self.unname(name, |entry| {
            entry.structure = structure;
            entry.function = Some(id);
        });
        Some(id)
    }
}

fn mentions(ty: &ast::Type, names: &FxHashSet<Symbol>) -> bool {
    match &ty.kind {
        ast::TypeKind::Name(name) => names.contains(name),
        ast::TypeKind::Array(inner) | ast::TypeKind::Optional(inner) => mentions(inner, names),
        ast::TypeKind::Function(params, result) => {
            params.iter().any(|param| mentions(param, names))
                || result.as_ref().is_some_and(|result| mentions(result, names))
        }
        ast::TypeKind::Error => false,
    }
}
