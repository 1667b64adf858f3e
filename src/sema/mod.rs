//! Names and types: AST to HIR.
//!
//! Declarations come first (structs, functions, the names of globals), then the top-level
//! statements in order, which give the globals their types, then the bodies of the functions. Types
//! are found bottom up with a wanted type flowing down (bidirectional checking, after Pierce and
//! Turner), which is what gives `nil` and `[]` their types and says where a `T` becomes a `T?`.
//!
//! Input: a program as parsed, perhaps with `Error` nodes. Output: a well-typed HIR ([`Checked`]),
//! perhaps of a part only where there was an error; and everything that there is to say. What was reported has the type
//! `Ty::ERROR`, which agrees with everything, so that no mistake is told twice.
//!
//! Recursion follows the nesting of the source, never the length of anything in it.

mod assign;
mod builtins;
mod calls;
mod codes;
mod coerce;
mod declare;
mod dump;
mod entry;
mod expr;
pub mod hir;
mod literals;
mod names;
mod operators;
mod patterns;
mod scope;
mod stmt;
#[cfg(test)]
mod tests;
mod types;

pub use dump::dump_hir;
pub use entry::{Entry, Known, check_entry};
pub use types::display_ty;

use crate::entity::{Arena, SideTable};
use crate::source::{Diagnostic, Interner, Severity, Span, Symbol};
use crate::syntax::ast;
use hir::{FuncId, GlobalId, StructId, Ty, Types};
use rustc_hash::{FxHashMap, FxHashSet};

/// What came of a check.
#[derive(Debug)]
pub enum Checked {
    /// The program, in which there is no error.
    Whole(hir::Program),
    /// There are errors, but the declarations have none that others could see. Functions with errors
    /// (and those in them) have an endless loop for a body: the others can be looked at further.
    Partly(hir::Program),
    /// There is nothing to look at.
    Nothing,
}

impl Checked {
    /// The program where it has no error.
    pub fn whole(self) -> Option<hir::Program> {
        match self {
            Checked::Whole(program) => Some(program),
            Checked::Partly(_) | Checked::Nothing => None,
        }
    }
}

/// Checks a program: its HIR, and all errors and warnings in the order of their places.
pub fn check(program: &ast::Program, interner: &Interner) -> (Checked, Vec<Diagnostic>) {
    run(Checker::new(interner), program)
}

/// A function of the host that programs may call.
#[derive(Clone, Debug)]
pub struct HostHead {
    /// Its name.
    pub name: String,
    /// The types of its parameters, basic ones.
    pub params: Vec<Ty>,
    /// The type of its result.
    pub result: Ty,
}

/// Checks a program that may call functions of the host.
pub fn check_with(
    hosts: &[HostHead],
    program: &ast::Program,
    interner: &mut Interner,
) -> (Checked, Vec<Diagnostic>) {
    let names: Vec<Symbol> = hosts.iter().map(|host| interner.intern(&host.name)).collect();
    let mut checker = Checker::new(interner);
    for (host, name) in hosts.iter().zip(names) {
        checker.declare_host(host, name);
    }
    run(checker, program)
}

fn run(mut checker: Checker<'_>, program: &ast::Program) -> (Checked, Vec<Diagnostic>) {
    let declared = checker.declare(program);
    checker.noting(declared.script, |checker| checker.script(program, declared.script));
    checker.bodies(program, &declared.functions);
    checker.finish(declared.script)
}

/// The state of a check.
struct Checker<'a> {
    interner: &'a Interner,
    types: Types,
    /// How deep each type nests.
    depths: SideTable<Ty, u32>,
    structs: Arena<StructId, hir::Struct>,
    /// The number of each field.
    fields: FxHashMap<(StructId, Symbol), u32>,
    /// The places of the fields' names.
    field_spans: SideTable<StructId, Vec<Span>>,
    functions: Arena<FuncId, hir::Function>,
    signatures: Arena<FuncId, Signature>,
    globals: Arena<GlobalId, hir::Global>,
    /// The keywords of the globals' declarations.
    global_keywords: SideTable<GlobalId, Span>,
    names: SideTable<Symbol, names::TopLevel>,
    scopes: scope::Scopes,
    /// Whether top-level statements are being checked, which see only globals declared above.
    in_script: bool,
    /// What was reported as unknown in this function already.
    unknown: FxHashSet<(names::Space, Symbol)>,
    /// How many names may still be compared in search of one meant.
    comparisons: usize,
    diagnostics: Vec<Diagnostic>,
    /// Functions in whose bodies there are errors.
    wrong: Vec<FuncId>,
    /// So many functions at the beginning are the host's.
    hosts: usize,
    /// Notes of the entry that is checked, if it is one.
    entry: Option<Box<entry::Notes>>,
}

/// What a call of a function needs to know of it.
#[derive(Clone, Debug)]
struct Signature {
    params: Vec<(Symbol, Ty, Span)>,
    result: Ty,
    /// Where the result type is given.
    result_span: Option<Span>,
}

/// Why a type is wanted: a place, and what is to be said there.
type Why = Option<(Span, &'static str)>;

impl<'a> Checker<'a> {
    fn new(interner: &'a Interner) -> Self {
        Self {
            interner,
            types: Types::new(),
            depths: SideTable::new(0),
            structs: Arena::new(),
            fields: FxHashMap::default(),
            field_spans: SideTable::new(Vec::new()),
            functions: Arena::new(),
            signatures: Arena::new(),
            globals: Arena::new(),
            global_keywords: SideTable::new(Span::default()),
            names: names::builtin_names(interner),
            scopes: scope::Scopes::new(interner.len()),
            in_script: false,
            unknown: FxHashSet::default(),
            comparisons: 1 << 18,
            diagnostics: Vec::new(),
            wrong: Vec::new(),
            hosts: 0,
            entry: None,
        }
    }

    fn report(&mut self, mut diagnostic: Diagnostic) {
        if self.hosts > 0 {
            // The host's functions have no place.
            let mut number = 0;
            diagnostic.labels.retain(|&(span, _)| {
                number += 1;
                number == 1 || span != Span::default()
            });
        }
        self.diagnostics.push(diagnostic);
    }

    /// Reports an error without an addition.
    fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) {
        self.report(Diagnostic::error(code, span, message, label));
    }

    fn name(&self, symbol: Symbol) -> &'a str {
        self.interner.name(symbol)
    }

    fn show(&self, ty: Ty) -> String {
        display_ty(&self.types, &self.structs, self.interner, ty)
    }

    fn failed(&self) -> bool {
        has_errors(&self.diagnostics)
    }

    /// Checks a function's body, and notes whether errors were found in it.
    fn noting(&mut self, id: FuncId, check: impl FnOnce(&mut Self)) {
        let (said, functions) = (self.diagnostics.len(), self.functions.len());
        check(self);
        if has_errors(&self.diagnostics[said..]) {
            self.wrong.push(id);
            self.wrong.extend(self.functions.keys().skip(functions));
        }
    }

    fn finish(mut self, script: FuncId) -> (Checked, Vec<Diagnostic>) {
        let main = self.main_function();
        self.diagnostics.sort_by_key(|d| d.span().start);
        let failed = self.failed();
        let mut program = hir::Program {
            types: self.types,
            structs: self.structs,
            functions: self.functions,
            globals: self.globals,
            script,
            main,
            hosts: self.hosts,
            metered: false,
        };
        let checked = match (failed, declares_errors(&program)) {
            (false, _) => Checked::Whole(program),
            (true, true) => Checked::Nothing,
            (true, false) => {
                for id in self.wrong {
                    hollow(&mut program.functions[id]);
                }
                Checked::Partly(program)
            }
        };
        (checked, self.diagnostics)
    }
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// Whether something declared has a type that is no type: who uses it knows nothing of the mistake.
fn declares_errors(program: &hir::Program) -> bool {
    let mut fields = program.structs.values().flat_map(|s| s.fields.iter().map(|&(_, ty)| ty));
    let named = program.functions.values().filter(|f| f.kind == hir::FunctionKind::Named);
    let mut functions = named.map(|f| f.ty);
    let mut globals = program.globals.values().map(|g| g.ty);
    [&mut fields as &mut dyn Iterator<Item = Ty>, &mut functions, &mut globals]
        .into_iter()
        .flatten()
        .any(|ty| ty == Ty::ERROR)
}

/// Gives a function a body that never ends and uses nothing.
fn hollow(function: &mut hir::Function) {
    let span = function.body.span;
    let condition = hir::Expr { kind: hir::ExprKind::Bool(true), ty: Ty::BOOL, span };
    let kind = hir::StmtKind::While { condition, body: hir::Block::default() };
    function.body.statements = vec![hir::Stmt { kind, span }];
}
