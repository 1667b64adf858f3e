//! Programs that passed the front end: to be looked at, or to be compiled.

use super::{CompileError, Diagnostics, Engine, Module};
use crate::analysis::facts::Facts;
use crate::bril;
use crate::inspect::{Language, UnknownFunction, View};
use crate::ir::verify::verify_module;
use crate::ir::{self, parse};
use crate::lower::Lowered;
use crate::pipeline;
use crate::sema::{self, hir};
use crate::source::{Interner, Sources};
use crate::timing::Timings;
use std::sync::Arc;

/// A program that passed the front end of an engine.
#[derive(Debug)]
pub struct Program {
    pub(super) engine: Engine,
    pub(super) sources: Arc<Sources>,
    pub(super) warnings: Diagnostics,
    pub(super) timings: Timings,
    pub(super) tree: Tree,
    pub(super) lowered: Lowered,
}

/// What came before the CFG.
#[derive(Debug)]
pub(super) enum Tree {
    /// The typed tree of a Toy program, and its names.
    Toy(hir::Program, Interner),
    /// A checked Bril program.
    Bril(bril::Program),
    /// Nothing: the IR was written down as it is.
    Ir,
}

impl Engine {
    /// Checks a Toy program, which can be looked at then.
    ///
    /// ```
    /// let engine = toyjit::Engine::new();
    /// let program = engine.check("demo.toy", "fn main() { let unused = 1; }")?;
    /// assert_eq!(program.warnings().as_slice()[0].code, "W0611");
    /// assert_eq!(program.compile()?.run()?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self, name: &str, source: impl Into<String>) -> Result<Program, CompileError> {
        self.check_as(Language::Toy, name, source)
    }

    /// Checks a program in one of the languages. What a Bril program imports is read beside the file
    /// that `name` names. Functions of the host and fuel are Toy's.
    pub fn check_as(
        &self,
        language: Language,
        name: &str,
        source: impl Into<String>,
    ) -> Result<Program, CompileError> {
        let mut sources = Sources::new();
        if sources.add(name, source).is_none() {
            return Err(CompileError::Fault("the source is larger than 4 GiB".to_owned()));
        }
        let mut timings = Timings::by(self.clock);
        let (checked, said) = match language {
            Language::Toy => {
                let hosts: Vec<_> = self.hosts.iter().map(|host| host.head.clone()).collect();
                let metered = self.fuel.is_some();
                let (front, said) = pipeline::front_with(&sources, &hosts, metered, &mut timings);
                let tree = |front: pipeline::Front| {
                    (Tree::Toy(front.program, front.interner), front.lowered)
                };
                (front.map(tree), said)
            }
            Language::Bril(form, checks) => {
                let load = &mut bril::load;
                let (front, said) = pipeline::bril(&mut sources, form, checks, load, &mut timings);
                (front.map(|front| (Tree::Bril(front.program), front.lowered)), said)
            }
            Language::Ir => {
                let module = read_ir(&sources).map_err(CompileError::Ir)?;
                (Some((Tree::Ir, Lowered { module, facts: Facts::default() })), Vec::new())
            }
        };
        let sources = Arc::new(sources);
        let warnings = Diagnostics::new(Arc::clone(&sources), said);
        match checked {
            Some((tree, lowered)) => {
                let mut engine = self.clone();
                if language != Language::Toy {
                    engine.hosts.clear();
                }
                Ok(Program { engine, sources, warnings, timings, tree, lowered })
            }
            None => Err(CompileError::Diagnostics(warnings)),
        }
    }
}

/// A module in the IR's own text; what is wrong with it.
fn read_ir(sources: &Sources) -> Result<ir::Module, Vec<String>> {
    let file = &sources.files()[0];
    let module =
        parse::module(&file.text).map_err(|error| vec![format!("{}:{error}", file.name)])?;
    match verify_module(&module) {
        Ok(()) => Ok(module),
        Err(errors) => Err(errors.iter().map(|error| format!("{}: {error}", file.name)).collect()),
    }
}

impl Program {
    /// The warnings that it got.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Its text.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Whether it has a function `main`.
    pub fn has_main(&self) -> bool {
        match &self.tree {
            Tree::Bril(program) => program.main.is_some(),
            _ => self.lowered.module.main.is_some(),
        }
    }

    /// The typed tree as text; only Toy has one.
    pub fn typed_tree(&self) -> Option<String> {
        match &self.tree {
            Tree::Toy(program, interner) => Some(sema::dump_hir(program, interner)),
            _ => None,
        }
    }

    /// All its functions, or those of a name, to be looked at as its engine compiles them.
    pub fn view(&self, function: Option<&str>) -> Result<View<'_>, UnknownFunction> {
        let origin = match &self.tree {
            Tree::Bril(program) => bril::Origin::Bril(program),
            _ => bril::Origin::Toy,
        };
        View::of(&self.sources, &self.engine.options, origin, &self.lowered.module, function)
    }

    /// Compiles it. Nothing of it runs yet.
    pub fn compile(self) -> Result<Module, CompileError> {
        Module::new(self)
    }
}
