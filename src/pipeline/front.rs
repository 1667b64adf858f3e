//! The front ends: text to the CFG, and all that is to be said of it.

use crate::analysis;
use crate::analysis::facts::Facts;
use crate::bril;
use crate::lower::{self, Lowered};
use crate::sema::{self, Checked, HostHead, hir};
use crate::source::{Diagnostic, Interner, Severity, Sources};
use crate::syntax;
use crate::timing::Timings;

/// A program that has passed the front end.
#[derive(Debug)]
pub struct Front {
    /// The names.
    pub interner: Interner,
    /// The typed tree.
    pub program: hir::Program,
    /// The CFG, in the variable form.
    pub lowered: Lowered,
}

/// Parses and checks the files of `sources`: everything up to the CFG, and all that is to be said
/// of it. A program comes out only where nothing of that is an error.
pub fn front(sources: &Sources, timings: &mut Timings) -> (Option<Front>, Vec<Diagnostic>) {
    front_with(sources, &[], false, timings)
}

/// The same for a program that may call functions of the host, and whose code burns fuel where it is
/// `metered`.
pub fn front_with(
    sources: &Sources,
    hosts: &[HostHead],
    metered: bool,
    timings: &mut Timings,
) -> (Option<Front>, Vec<Diagnostic>) {
    stacker::maybe_grow(FRONT_RED_ZONE, FRONT_STACK, || {
        let mut interner = Interner::new();
        let (ast, mut diagnostics) =
            timings.time("parse", || syntax::parse(sources, 0, &mut interner));
        let (checked, said) =
            timings.time("check", || sema::check_with(hosts, &ast, &mut interner));
        drop(ast);
        let syntax_is_right = !has_errors(&diagnostics);
        diagnostics.extend(said);
        let mut program = match checked {
            Checked::Whole(program) if syntax_is_right => program,
            Checked::Partly(program) if syntax_is_right => {
                diagnostics.extend(errors_of_flow(&program, &interner));
                diagnostics.sort_by_key(|d| d.span().start);
                return (None, diagnostics);
            }
            _ => return (None, diagnostics),
        };
        program.metered = metered;
        let lowered = timings.time("lower", || lower::lower(&program, &interner));
        diagnostics
            .extend(timings.time("flow", || analysis::check_flow(&lowered.module, &lowered.facts)));
        let front = Front { interner, program, lowered };
        ((!has_errors(&diagnostics)).then_some(front), diagnostics)
    })
}

/// A Bril program that has passed the front end.
#[derive(Debug)]
pub struct BrilFront {
    /// The checked program.
    pub program: bril::Program,
    /// The CFG, in the variable form.
    pub lowered: Lowered,
}

/// Parses, checks and lowers a Bril program, whose main file is in `sources`; the files that it
/// imports are added.
pub fn bril(
    sources: &mut Sources,
    form: bril::Form,
    checks: bril::Checks,
    load: bril::Loader<'_>,
    timings: &mut Timings,
) -> (Option<BrilFront>, Vec<Diagnostic>) {
    let read = timings.time("check", || bril::read(sources, form, load));
    let front = read.program.map(|program| {
        let module = timings.time("lower", || bril::lower(&program, checks));
        BrilFront { program, lowered: Lowered { module, facts: Facts::default() } }
    });
    (front, read.diagnostics)
}

/// What of a program whose other functions have errors is wrong on some path.
fn errors_of_flow(program: &hir::Program, interner: &Interner) -> Vec<Diagnostic> {
    let lowered = lower::lower(program, interner);
    let mut said = analysis::check_flow(&lowered.module, &lowered.facts);
    said.retain(|d| d.severity == Severity::Error);
    said
}

/// The front end recurses on the nesting of the source (at most 1,000 levels).
pub(crate) const FRONT_STACK: usize = 256 << 20;
pub(crate) const FRONT_RED_ZONE: usize = 64 << 20;

pub(crate) fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn codes(text: &str) -> Vec<&'static str> {
        let mut sources = Sources::new();
        sources.add("test.toy", text);
        let (front, said) = front(&sources, &mut Timings::new());
        assert_eq!(front.is_none(), has_errors(&said));
        said.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect()
    }

    /// Programs with one or two words in the wrong place: whatever they mean, there is an answer, and
    /// what is handed on is well formed.
    #[test]
    fn broken_programs_have_answers() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let texts = paths.filter(|path| path.extension().is_some_and(|e| e == "toy"));
        let texts = texts.filter_map(|path| std::fs::read_to_string(path).ok());
        let mut texts: Vec<String> = texts.filter(|text| text.len() < 3_000).collect();
        texts.sort();
        arbtest::arbtest(|u| {
            let mut text = u.choose(&texts)?.clone();
            let tokens = syntax::lossless(&text);
            let words: Vec<_> = tokens.into_iter().filter(|(t, _)| t.is_operand()).collect();
            if words.is_empty() {
                return Ok(());
            }
            for _ in 0..u.int_in_range(1..=2)? {
                let (_, place) = u.choose(&words)?.clone();
                let by = text.get(u.choose(&words)?.1.clone()).unwrap_or("x").to_owned();
                if text.get(place.clone()).is_some() {
                    text.replace_range(place, &by);
                }
            }
            let mut sources = Sources::new();
            sources.add("broken.toy", text.as_str());
            let (front, said) = front(&sources, &mut Timings::new());
            assert_eq!(front.is_none(), has_errors(&said), "{text}");
            if let Some(front) = front {
                let verified = crate::ir::verify::verify_module(&front.lowered.module);
                assert!(verified.is_ok(), "{text}: {verified:?}");
            }
            Ok(())
        })
        .budget(Duration::from_secs(2));
    }

    #[test]
    fn functions_without_errors_are_checked_to_the_end() {
        let flow = "fn g(n: int) -> int { if n > 0 { return 1; } } ";
        let unassigned = "fn h() -> int { var x: int; return x; } ";
        let wrong = "fn f() -> int { let x: int = \"a\"; } ";
        assert_eq!(codes(&format!("{wrong}{flow}{unassigned}")), ["E0301", "E0502", "E0501"]);
        assert_eq!(codes(&format!("{flow}print(g(nothing));")), ["E0502", "E0201"]);
        // What is wrong in a function goes no further than that function.
        let lambda = "fn f() -> int { let g = fn() -> int { }; return 1 + true; } fn h() { f(); }";
        assert_eq!(codes(lambda), ["E0302"]);
        let early = "let a = f(); let b = 1; fn f() -> int { return b; } ";
        assert_eq!(codes(&format!("{early}fn g() {{ nothing(); }}")), ["E0503", "E0201"]);
        // Who uses a declaration without a type knows nothing of the mistake.
        assert_eq!(codes(&format!("let t = 1 + true; {flow}")), ["E0302"]);
        assert_eq!(codes(&format!("fn f(x: nothing) {{ }} {flow}")), ["E0202"]);
        assert_eq!(codes(&format!("{flow}fn f() {{")), ["E0112"]);
    }
}
