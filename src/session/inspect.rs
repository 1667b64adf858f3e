//! Looking at a session without changing it: types, definitions, the compiler's view of a function.

use super::unit::Draft;
use super::{Failure, Session};
use crate::inspect::View;
use crate::ir::{FuncRef, Module};
use crate::pipeline::has_errors;
use crate::sema::hir::{FuncId, StructId, Ty};
use crate::sema::{self, display_ty};
use crate::timing::Timings;

/// A global of a session.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type, as written.
    pub ty: String,
    /// Its value, as shown.
    pub value: String,
    /// Whether it can be assigned.
    pub mutable: bool,
}

impl Session {
    /// The type of an entry's last expression; none where it has no value.
    pub fn type_of(&mut self, text: &str) -> Result<Option<String>, Failure> {
        let (_, ast, said) = self.parse("<type>", text)?;
        let (entry, more) = sema::check_entry(&self.known, &self.free, &ast, &self.interner);
        let is_right = !has_errors(&said);
        let Some(entry) = entry.filter(|_| is_right) else {
            return Err(Failure::Diagnostics(said.into_iter().chain(more).collect()));
        };
        let program = &entry.known.program;
        Ok(entry.value.map(|id| {
            let ty = program.globals[id].ty;
            display_ty(&program.types, &program.structs, &self.interner, ty)
        }))
    }

    /// The globals that names mean, in the order of their names.
    pub fn variables(&self) -> Vec<Variable> {
        let mut variables: Vec<Variable> = Vec::new();
        for (id, global) in self.known.program.globals.iter() {
            let name = self.interner.name(global.name);
            if self.known.global(global.name) != Some(id) || name == "_" {
                continue;
            }
            let bytes =
                self.runtime.shown(crate::lower::slot_of(global.ty), self.runtime.global(id.0), 60);
            variables.push(Variable {
                name: name.to_owned(),
                ty: self.shown_type(global.ty),
                value: String::from_utf8_lossy(&bytes).into_owned(),
                mutable: global.mutable,
            });
        }
        variables.sort_by(|a, b| a.name.cmp(&b.name));
        variables
    }

    /// The heads of the functions and structs that names mean, in the order of their names.
    pub fn definitions(&self) -> Vec<String> {
        let program = &self.known.program;
        let functions = program.functions.keys().filter(|&id| self.is_named(id));
        let mut heads: Vec<String> = functions.map(|id| self.function_head(id)).collect();
        let structures = program.structs.iter();
        let current = structures.filter(|(id, s)| self.known.structure(s.name) == Some(*id));
        heads.extend(current.map(|(id, _)| self.struct_head(id)));
        heads.sort();
        heads
    }

    /// What a name of the session means, as one would declare it.
    pub fn describe(&self, name: &str) -> Option<String> {
        let symbol = self.interner.find(name)?;
        if let Some(id) = self.known.global(symbol) {
            let global = &self.known.program.globals[id];
            let keyword = if global.mutable { "var" } else { "let" };
            return Some(format!("{keyword} {name}: {}", self.shown_type(global.ty)));
        }
        if let Some(id) = self.known.function(symbol) {
            return Some(self.function_head(id));
        }
        self.known.structure(symbol).map(|id| self.struct_head(id))
    }

    /// All names that mean something in the session, and the names of fields.
    pub fn names(&self) -> Vec<String> {
        let program = &self.known.program;
        let globals = program.globals.values().map(|g| g.name);
        let functions = program.functions.values().filter_map(|f| f.name);
        let structs = program
            .structs
            .values()
            .flat_map(|s| std::iter::once(s.name).chain(s.fields.iter().map(|&(name, _)| name)));
        let symbols = globals.chain(functions).chain(structs);
        let mut names: Vec<String> = symbols.map(|s| self.interner.name(s).to_owned()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// A function of the session to be looked at, with what it was compiled with; or, where the text is
    /// no function's name, the statements that it is, which are not run.
    pub fn view(&mut self, text: &str) -> Result<View<'_>, Failure> {
        let (module, function) = match self.function(text) {
            Some(found) => found,
            None => {
                let (_, mut draft, _) = self.lowered("<entry>", text, &mut Timings::new())?;
                self.adapt(&mut draft);
                let function = draft.module.script.unwrap_or(FuncRef(0));
                (draft.module, function)
            }
        };
        Ok(View::one(&self.sources, &self.options, module, function))
    }

    /// The function of a name, and a module of what it was compiled with.
    fn function(&mut self, name: &str) -> Option<(Module, FuncRef)> {
        let id = self.interner.find(name).and_then(|symbol| self.known.function(symbol))?;
        let bodies = self.homes[id].and_then(|home| self.units.get(&home))?.bodies.clone();
        let (_, ast, _) = self.parse("<nothing>", "").ok()?;
        let (entry, _) = sema::check_entry(&self.known, &self.free, &ast, &self.interner);
        let mut entry = entry?;
        let first = self.known.program.functions.len();
        let (mut draft, _) = Draft::lower(&mut entry, bodies, first, &self.interner);
        self.adapt(&mut draft);
        let function = draft.named.iter().find(|&&(named, _)| named == id)?.1;
        Some((draft.module, function))
    }

    fn adapt(&self, draft: &mut Draft) {
        draft.module.known_types = self.struct_types.clone();
        draft.module.first_type = self.runtime.types.count();
    }

    fn is_named(&self, id: FuncId) -> bool {
        self.known.program.functions[id].name.is_some() && self.known.is_current(id)
    }

    fn function_head(&self, id: FuncId) -> String {
        let function = &self.known.program.functions[id];
        let name = function.name.map_or("", |name| self.interner.name(name));
        let params: Vec<String> = function
            .params
            .iter()
            .map(|&param| {
                let local = &function.locals[param];
                format!("{}: {}", self.interner.name(local.name), self.shown_type(local.ty))
            })
            .collect();
        let result = match function.result {
            Ty::UNIT => String::new(),
            ty => format!(" -> {}", self.shown_type(ty)),
        };
        format!("fn {name}({}){result}", params.join(", "))
    }

    fn struct_head(&self, id: StructId) -> String {
        let structure = &self.known.program.structs[id];
        let field = |&(name, ty): &(_, Ty)| {
            format!("{}: {}", self.interner.name(name), self.shown_type(ty))
        };
        let fields: Vec<String> = structure.fields.iter().map(field).collect();
        format!("struct {} {{ {} }}", self.interner.name(structure.name), fields.join(", "))
    }

    fn shown_type(&self, ty: Ty) -> String {
        let program = &self.known.program;
        display_ty(&program.types, &program.structs, &self.interner, ty)
    }
}
