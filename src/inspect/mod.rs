//! Looking at programs: what each stage of the compiler makes of them.
//!
//! A [`View`] is some functions of a program (all, or those of a name), and shows them as text at any
//! [`Stage`], solves dataflow problems on them, compares the constructions of SSA form, writes them as
//! Bril, and records the compiler at work on them for a page.
//!
//! ```
//! use toyjit::inspect::Stage;
//! let program = toyjit::Engine::new().check("demo.toy", "fn half(x: int) -> int { return x / 2; }")?;
//! let view = program.view(Some("half"))?;
//! println!("{}", view.emit(Stage::Opt)?);
//! assert!(view.emit(Stage::Asm)?.contains("sar"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A module in the variable form with its text → text, JSON.

mod analysis;
mod as_bril;
mod stage;
mod text;

pub use crate::analysis::problems::{PROBLEMS, Row as Problem, named as problem};
pub use crate::explore::Record;
pub use crate::opt::remark::Remark;
pub use crate::opt::{PASSES, Pass};
pub use crate::pipeline::CompileError as Fault;
pub use crate::ssa::Construction;
pub use crate::ssa::figures::Figures;
pub use crate::syntax::lossless;
pub use crate::syntax::token::{Class, Token};
pub use analysis::Analysis;
pub use as_bril::AsBril;
pub use stage::Stage;
pub use text::{Language, tokens, tree};

use crate::analysis::taint;
use crate::bril::Origin;
use crate::explore;
use crate::ir::{Form, FuncRef, Module};
use crate::pipeline::Options;
use crate::profile::{Mismatch, Profile};
use crate::source::{Diagnostic, Sources, nearest};
use crate::ssa::{Folding, figures};
use std::borrow::Cow;
use std::fmt;

/// Functions of a program, to be looked at.
#[derive(Debug)]
pub struct View<'a> {
    sources: &'a Sources,
    options: &'a Options,
    origin: Origin<'a>,
    /// In the variable form, or (where the IR was written so) in SSA form.
    module: Cow<'a, Module>,
    functions: Vec<FuncRef>,
}

/// What each construction of SSA form makes of a function.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The function's name.
    pub function: String,
    /// Its figures, in the order of [`Construction::ALL`].
    pub figures: [Figures; Construction::ALL.len()],
}

impl<'a> View<'a> {
    /// All functions of a module, or those of a name.
    pub(crate) fn of(
        sources: &'a Sources,
        options: &'a Options,
        origin: Origin<'a>,
        module: &'a Module,
        name: Option<&str>,
    ) -> Result<Self, UnknownFunction> {
        let is_meant = |own: &str| name.is_none_or(|name| name == own);
        let functions = module.functions.iter().filter(|(_, f)| is_meant(&f.name));
        let functions: Vec<FuncRef> = functions.map(|(id, _)| id).collect();
        match name.filter(|_| functions.is_empty()) {
            Some(name) => Err(UnknownFunction::new(name, module)),
            None => Ok(Self { sources, options, origin, module: Cow::Borrowed(module), functions }),
        }
    }

    /// One function of a module that was made to be looked at.
    pub(crate) fn one(
        sources: &'a Sources,
        options: &'a Options,
        module: Module,
        function: FuncRef,
    ) -> Self {
        let module = Cow::Owned(module);
        Self { sources, options, origin: Origin::Toy, module, functions: vec![function] }
    }

    /// Compares what the constructions of SSA form make of each function, each run so many times. With
    /// `folding` they leave no copies and no operators on constants.
    pub fn constructions(&self, times: usize, folding: bool) -> Vec<Compared> {
        let folding = if folding { Folding::On } else { Folding::Off };
        let functions = self.functions.iter().map(|&id| &self.module.functions[id]);
        let compared = functions.filter(|f| f.form == Form::Variable).map(|f| Compared {
            function: f.name.clone(),
            figures: Construction::ALL.map(|by| figures::measure(f, by, folding, times)),
        });
        compared.collect()
    }

    /// Warnings of input that becomes an index, a length, a shift's count or an exit code unchecked.
    pub fn taint(&self) -> Vec<Diagnostic> {
        taint::check(&self.module)
    }

    /// Compiles the program and records what happens to these functions; with a profile of a run of it
    /// also where it was hot.
    pub fn explore(&self, profile: Option<&Profile>) -> Result<Record, Mismatch> {
        let Self { sources, functions, .. } = self;
        let program = explore::Program { sources, module: &self.module, functions };
        explore::record(&program, self.options, profile)
    }
}

/// A name that no function has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFunction {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<String>,
}

impl UnknownFunction {
    fn new(name: &str, module: &Module) -> Self {
        let known = module.functions.values().map(|f| f.name.clone()).collect();
        Self { name: name.to_owned(), known }
    }

    /// The name that was perhaps meant.
    pub fn meant(&self) -> Option<&str> {
        nearest(&self.name, self.known.iter().map(String::as_str))
    }
}

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no function `{}`; there are: {}", self.name, self.known.join(", "))
    }
}

impl std::error::Error for UnknownFunction {}
