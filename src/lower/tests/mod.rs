//! From source text to IR and to what is reported on the flow of control.

mod flow;
mod golden;
mod matching;
mod sizes;
mod suite;

use super::{Lowered, lower};
use crate::analysis::check_flow;
use crate::ir::print;
use crate::source::{Diagnostic, Interner, Severity, Sources};

/// Runs on a stack that is large enough for the deepest nesting.
fn deep<R: Send>(test: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 20);
        thread.spawn_scoped(scope, test).expect("a thread").join().expect("no panic")
    })
}

/// A program after lowering.
struct Program {
    lowered: Lowered,
    sources: Sources,
}

/// Lowers a program; none where it has errors of the kinds found before.
fn program(source: &str) -> Option<Program> {
    let mut sources = Sources::new();
    let base = sources.add("test.toy", source)?;
    let mut interner = Interner::new();
    let (tree, errors) = crate::syntax::parse(&sources, base, &mut interner);
    let (program, _) = crate::sema::check(&tree, &interner);
    let broken = errors.iter().any(|d| d.severity == Severity::Error);
    let lowered = lower(&program.whole().filter(|_| !broken)?, &interner);
    Some(Program { lowered, sources })
}

impl Program {
    fn reports(&self) -> Vec<Diagnostic> {
        check_flow(&self.lowered.module, &self.lowered.facts)
    }

    /// The line of a diagnostic's place.
    fn line(&self, diagnostic: &Diagnostic) -> usize {
        self.sources.place(diagnostic.span().start).line
    }

    /// The text of the function with this name.
    fn function(&self, name: &str) -> String {
        let module = &self.lowered.module;
        let found = module.functions.values().find(|f| f.name == name);
        found.map_or_else(String::new, |f| print::function(module, f))
    }
}
