//! Tests from source text: programs whose mistakes are marked `//~ CODE …` on their lines, the
//! conformance suite, dumps, and mutated programs.

mod accepted;
mod fuzz;
mod mends;
mod reported;
mod suite;
mod typed;

use super::{check, dump_hir, hir};
use crate::source::{Diagnostic, Interner, Sources, Span};

/// A source text after parsing and checking.
struct Checked {
    program: Option<hir::Program>,
    diagnostics: Vec<Diagnostic>,
    /// Whether the parser had something to report.
    broken: bool,
    interner: Interner,
    sources: Sources,
}

/// Runs a test on a stack that is large enough for the deepest nesting.
fn deep<R: Send>(test: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 20);
        thread.spawn_scoped(scope, test).expect("a thread").join().expect("no panic")
    })
}

fn checked(source: &str) -> Checked {
    let mut sources = Sources::new();
    let base = sources.add("test.toy", source).expect("a small file");
    let mut interner = Interner::new();
    let (program, errors) = crate::syntax::parse(&sources, base, &mut interner);
    let (checked, diagnostics) = check(&program, &interner);
    let program = checked.whole();
    if let Some(program) = program.as_ref().filter(|_| errors.is_empty()) {
        typed::verify(program);
    }
    Checked { program, diagnostics, broken: !errors.is_empty(), interner, sources }
}

impl Checked {
    fn line(&self, span: Span) -> usize {
        self.sources.place(span.start).line
    }

    /// Line and code of everything reported.
    fn found(&self) -> Vec<(usize, String)> {
        let mut found: Vec<_> =
            self.diagnostics.iter().map(|d| (self.line(d.span()), d.code.to_string())).collect();
        found.sort();
        found
    }

    fn messages(&self) -> String {
        let lines = self
            .diagnostics
            .iter()
            .map(|d| format!("{}: {} {} {:?}\n", self.line(d.span()), d.code, d.message, d.help));
        lines.collect()
    }

    fn dump(&self) -> String {
        dump_hir(self.program.as_ref().expect("a program without errors"), &self.interner)
    }
}

/// Checks that exactly what is marked in a program is reported.
fn expect(source: &str) {
    let mut marked = Vec::new();
    for (number, line) in (1..).zip(source.lines()) {
        if let Some((_, codes)) = line.split_once("//~") {
            marked.extend(codes.split_whitespace().map(|code| (number, code.to_string())));
        }
    }
    marked.sort();
    let checked = checked(source);
    assert!(!checked.broken, "does not parse:\n{source}");
    assert_eq!(checked.found(), marked, "in\n{source}\nreported:\n{}", checked.messages());
    let failed = marked.iter().any(|(_, code)| code.starts_with('E'));
    assert_eq!(checked.program.is_none(), failed);
}
