//! What a name means outside of local scopes, and what is said where it means nothing.
//!
//! A local hides a global, that hides a function, that hides a conversion or a builtin. A top-level
//! statement does not see a global whose declaration comes later.

use super::hir::{Builtin, FuncId, GlobalId, LocalId, StructId, Ty};
use super::types::BASIC;
use super::{Checker, codes};
use crate::entity::SideTable;
use crate::source::nearest;
use crate::source::{Diagnostic, Interner, Span, Symbol};

/// Functions and values as other languages call them.
const FOREIGN_VALUES: [(&[&str], &str); 5] = [
    (&["length", "size", "count"], "len"),
    (&["append", "add", "push_back"], "push"),
    (&["substr", "substring", "subslice"], "slice"),
    (&["println", "printf", "puts", "echo"], "print"),
    (&["null", "none", "None", "NULL"], "nil"),
];

/// Names of basic types in other languages.
const FOREIGN: &[(&str, &str)] = &[
    ("string", "str"),
    ("String", "str"),
    ("integer", "int"),
    ("i64", "int"),
    ("long", "int"),
    ("f64", "float"),
    ("double", "float"),
    ("boolean", "bool"),
    ("u8", "byte"),
    ("char", "byte"),
];

/// The meanings of a name at top level.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TopLevel {
    /// The struct of this name.
    pub structure: Option<StructId>,
    /// The function.
    pub function: Option<FuncId>,
    /// The global, once it is declared.
    pub global: Option<GlobalId>,
    /// Where the first global of this name is declared, sooner or later.
    pub global_span: Option<Span>,
    /// The type that a conversion of this name gives.
    pub conversion: Option<Ty>,
    /// The builtin.
    pub builtin: Option<Builtin>,
}

/// What kind of name is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Space {
    /// A variable or function.
    Value,
    /// A type.
    Type,
}

/// What a name means as a value or callee.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// A variable of the innermost function.
    Local(LocalId),
    /// A global.
    Global(GlobalId),
    /// A named function.
    Function(FuncId),
    /// A conversion to this type.
    Conversion(Ty),
    /// A builtin.
    Builtin(Builtin),
    /// Nothing; reported.
    Unknown,
}

/// The table with the names that are there before the program.
pub(super) fn builtin_names(interner: &Interner) -> SideTable<Symbol, TopLevel> {
    let mut names = SideTable::with_len(TopLevel::default(), interner.len());
    for &(name, builtin) in Builtin::ALL {
        if let Some(symbol) = interner.find(name) {
            names[symbol].builtin = Some(builtin);
        }
    }
    for &(name, ty) in BASIC.iter().filter(|&&(_, ty)| ty != Ty::BOOL) {
        if let Some(symbol) = interner.find(name) {
            names[symbol].conversion = Some(ty);
        }
    }
    names
}

impl Checker<'_> {
    /// What a name means here; where it means nothing, that is reported.
    pub(super) fn resolve(&mut self, name: Symbol, span: Span) -> Meaning {
        if let Some(local) = self.scopes.look_up(name, span) {
            return Meaning::Local(local);
        }
        let entry = self.names[name];
        if let Some(global) = entry.global {
            return Meaning::Global(global);
        }
        if let Some(function) = entry.function {
            return Meaning::Function(function);
        }
        if let Some(ty) = entry.conversion {
            return Meaning::Conversion(ty);
        }
        if let Some(builtin) = entry.builtin {
            return Meaning::Builtin(builtin);
        }
        if self.unknown.insert((Space::Value, name)) {
            match entry.global_span {
                Some(declared) if self.in_script => self.global_too_early(name, span, declared),
                _ => self.unknown_name(name, span),
            }
        }
        Meaning::Unknown
    }

    fn global_too_early(&mut self, name: Symbol, span: Span, declared: Span) {
        let message = format!("global `{}` is used before it is declared", self.name(name));
        let error = Diagnostic::error(codes::GLOBAL_TOO_EARLY, span, message, "used here")
            .label(declared, "declared here")
            .help("top-level statements run in order: move the declaration up");
        self.report(error);
    }

    fn unknown_name(&mut self, name: Symbol, span: Span) {
        let text = self.name(name);
        let mut error = Diagnostic::error(
            codes::UNKNOWN_NAME,
            span,
            format!("there is no variable or function `{text}`"),
            "not declared here",
        );
        if let Some(id) = self.names[name].structure {
            let declared = self.structs[id].span;
            error = error
                .label(declared, "a struct of this name is declared here")
                .help(format!("a value of it is written `{text} {{ … }}`"));
        } else if text == "bool" {
            error = error.help("there is no conversion to bool: write a comparison");
        } else {
            error = self.meant_value(error, span, text, None);
        }
        self.report(error);
    }

    /// Reports that there is neither a field nor a function for `x.name(…)`.
    pub(super) fn unknown_method(&mut self, name: Symbol, span: Span, receiver: Ty) {
        if !self.unknown.insert((Space::Value, name)) {
            return;
        }
        let text = self.name(name);
        let structure = self.struct_of(receiver);
        let message = match structure {
            Some(_) => {
                let shown = self.show(self.types.strip_optional(receiver));
                format!("`{shown}` has no field `{text}`, and there is no function `{text}`")
            }
            None => format!("there is no function `{text}`"),
        };
        let error = Diagnostic::error(codes::UNKNOWN_NAME, span, message, "");
        let error = self.meant_value(error, span, text, structure);
        self.report(error);
    }

    /// Whether a name means anything as a callee here.
    pub(super) fn is_known(&self, name: Symbol) -> bool {
        let entry = &self.names[name];
        self.scopes.is_bound(name)
            || entry.global.is_some()
            || entry.function.is_some()
            || entry.conversion.is_some()
            || entry.builtin.is_some()
            || (self.in_script && entry.global_span.is_some())
    }

    /// Adds the value's name that may have been meant.
    fn meant_value(
        &mut self,
        error: Diagnostic,
        span: Span,
        name: &str,
        structure: Option<StructId>,
    ) -> Diagnostic {
        if !self.may_compare(self.scopes.visible_len() + self.globals.len() + self.functions.len())
        {
            return error;
        }
        let fields = structure.into_iter().flat_map(|id| &self.structs[id].fields);
        let functions = self.functions.values().filter_map(|f| f.name);
        let symbols = fields
            .map(|&(field, _)| field)
            .chain(self.scopes.visible())
            .chain(self.globals.values().map(|g| g.name))
            .chain(functions);
        let candidates = symbols
            .map(|symbol| self.interner.name(symbol))
            .chain(Builtin::ALL.iter().map(|&(name, _)| name))
            .chain(["int", "float", "byte", "str", "nil", "true", "false"]);
        let foreign = || FOREIGN_VALUES.iter().find(|(theirs, _)| theirs.contains(&name));
        let meant = nearest(name, candidates).or_else(|| foreign().map(|&(_, ours)| ours));
        did_you_mean(error, span, meant)
    }

    /// Adds the type's name that may have been meant.
    pub(super) fn meant_type(&mut self, error: Diagnostic, span: Span, name: &str) -> Diagnostic {
        if let Some((_, ours)) = FOREIGN.iter().find(|(foreign, _)| *foreign == name) {
            return did_you_mean(error, span, Some(ours));
        }
        if !self.may_compare(self.structs.len()) {
            return error;
        }
        let structs = self.structs.values().map(|s| self.interner.name(s.name));
        let candidates = BASIC.iter().map(|&(name, _)| name).chain(structs);
        did_you_mean(error, span, nearest(name, candidates))
    }

    /// Adds the field's name that may have been meant.
    pub(super) fn meant_field(
        &mut self,
        error: Diagnostic,
        span: Span,
        name: &str,
        structure: StructId,
    ) -> Diagnostic {
        if !self.may_compare(self.structs[structure].fields.len()) {
            return error;
        }
        let fields = self.structs[structure].fields.iter();
        let candidates = fields.map(|&(field, _)| self.interner.name(field));
        did_you_mean(error, span, nearest(name, candidates))
    }

    /// Whether so many names may still be compared: a program full of mistakes is to be answered
    /// in time too.
    fn may_compare(&mut self, names: usize) -> bool {
        let enough = self.comparisons >= names;
        self.comparisons -= names.min(self.comparisons);
        enough
    }
}

fn did_you_mean(error: Diagnostic, span: Span, meant: Option<&str>) -> Diagnostic {
    match meant {
        Some(meant) => error.help(format!("did you mean `{meant}`?")).suggest(span, meant),
        None => error,
    }
}
