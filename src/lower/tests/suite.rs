//! The conformance suite.

use super::{deep, program};
use crate::ir::verify::verify_module;
use crate::ir::{parse, print};
use crate::source::Severity;

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
fn errors_stand_where_the_suite_says() {
    for (name, source, expected) in suite("error:") {
        let Some(program) = deep(|| program(&source)) else { continue };
        let reports = program.reports();
        let errors = reports.iter().filter(|d| d.severity == Severity::Error);
        let lines: Vec<usize> = errors.map(|d| program.line(d)).collect();
        assert_eq!(lines, expected, "{name}");
    }
}

#[test]
fn warnings_stand_where_the_suite_says() {
    for (name, source, expected) in suite("warning:") {
        let Some(program) = deep(|| program(&source)) else { continue };
        let reports = program.reports();
        let warnings = reports.iter().filter(|d| d.severity == Severity::Warning);
        let lines: Vec<usize> = warnings.map(|d| program.line(d)).collect();
        match name.as_str() {
            "flow_warn_unreachable" => assert_eq!(lines, expected),
            "trap_unused_division" => assert_eq!(lines, [4]),
            _ => assert!(lines.is_empty(), "{name}: {lines:?}"),
        }
    }
}

#[test]
fn the_code_is_well_formed_and_parses_back() {
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
