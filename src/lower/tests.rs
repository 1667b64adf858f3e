//! From source text to IR and to what is reported on the flow: golden texts, the conformance suite,
//! and sizes.

use super::{Lowered, lower};
use crate::analysis::check_flow;
use crate::ir::verify::verify_module;
use crate::ir::{parse, print};
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

/// The suite's programs: name, text, and the lines that its comments mark with this word.
fn suite(word: &str) -> Vec<(String, String, Vec<usize>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");
    let entries = std::fs::read_dir(folder).expect("the suite");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut programs = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "toy")) {
        let Ok(source) = std::fs::read_to_string(path) else { continue };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let marked = source.lines().filter_map(|line| line.strip_prefix("// ")?.strip_prefix(word));
        let lines = marked.filter_map(|line| line.trim().parse().ok()).collect();
        programs.push((name, source, lines));
    }
    programs
}

#[test]
fn the_suite_is_reported_as_it_says() {
    for (word, severity) in [("error:", Severity::Error), ("warning:", Severity::Warning)] {
        for (name, source, expected) in suite(word) {
            let Some(program) = deep(|| program(&source)) else { continue };
            let reports = program.reports();
            let found = reports.iter().filter(|d| d.severity == severity);
            let lines: Vec<usize> =
                found.map(|d| program.sources.place(d.span().start).line).collect();
            if severity == Severity::Error || name == "flow_warn_unreachable" {
                assert_eq!(lines, expected, "{name}");
            } else {
                println!("{name}: {lines:?} {:?}", reports.iter().map(|r| &r.message).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn the_suite_is_lowered_to_well_formed_code() {
    for (name, source, _) in suite("error:") {
        deep(|| {
            let Some(program) = program(&source) else { return };
            let module = &program.lowered.module;
            if let Err(errors) = verify_module(module) {
                panic!("{name}: {}\n{}", errors[0], print::module(module));
            }
            let text = print::module(module);
            let again = parse::module(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(print::module(&again), text, "{name}");
        });
    }
}
