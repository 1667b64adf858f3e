//! From source text to IR and to what is reported on the flow: golden texts, the conformance suite,
//! and sizes.

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
    let lowered = lower(&program.filter(|_| !broken)?, &interner);
    Some(Program { lowered, sources })
}

impl Program {
    fn reports(&self) -> Vec<Diagnostic> {
        check_flow(&self.lowered.module, &self.lowered.facts)
    }

    /// Line and code of everything reported.
    fn found(&self) -> Vec<(usize, &'static str)> {
        let line = |d: &Diagnostic| self.sources.place(d.span().start).line;
        self.reports().iter().map(|d| (line(d), d.code)).collect()
    }
}

#[test]
fn show() {
    let path = std::env::var("TOY").unwrap();
    let source = std::fs::read_to_string(path).unwrap();
    let program = program(&source).unwrap();
    println!("{}", print::module(&program.lowered.module));
    println!("{}", crate::source::render::render(&program.sources, &program.reports(), false));
}

#[test]
fn conformance() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the suite").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "toy")) {
        let Ok(source) = std::fs::read_to_string(path) else { continue };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let found = deep(|| program(&source).map(|p| p.found()));
        let Some(found) = found else { println!("-- {name}"); continue };
        println!("{name}: {found:?}");
    }
}
