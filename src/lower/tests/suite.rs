//! The conformance suite.

use super::{deep, program};
use crate::ir::interp::Interpreter;
use crate::ir::verify::verify_module;
use crate::ir::{parse, print};
use crate::source::Severity;
use toyjit_runtime::{Config, Input, Output, Runtime, Stop};

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

/// Programs that take longer than this are left to faster engines.
const STEPS: u64 = 400_000;

/// What a program prints, and how it ends; none where it takes too long.
pub(super) fn run(name: &str, source: &str) -> Option<(String, String)> {
    let program = program(source)?;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");
    let input = std::fs::read(format!("{folder}/{name}.in")).unwrap_or_default();
    let args = source.lines().find_map(|line| line.strip_prefix("// args:")).unwrap_or_default();
    let (output, captured) = Output::capture();
    let mut runtime = Runtime::new(Config {
        max_heap: Some(1 << 30),
        output,
        input: Input::bytes(input),
        args: args.split_whitespace().map(|arg| arg.as_bytes().to_vec()).collect(),
        ..Config::default()
    })
    .expect("a runtime");
    let module = &program.lowered.module;
    let mut interpreter = Interpreter::new(module, &mut runtime).expect("room").with_limit(STEPS);
    let end = match interpreter.run_program() {
        Ok(code) => format!("exit: {code}"),
        Err(stopped) => match stopped.stop {
            Stop::Trap(trap) => format!("trap: {trap}"),
            other => format!("{other:?}"),
        },
    };
    let too_long = interpreter.steps() >= STEPS;
    (!too_long).then(|| (String::from_utf8_lossy(&captured.take()).into_owned(), end))
}

#[test]
fn the_code_does_what_the_suite_says() {
    let mut ran = 0;
    for (name, source, _) in suite("error:") {
        if name.starts_with("error") || name == "trap_memory" || name == "trap_stack" {
            continue;
        }
        let Some((found, end)) = deep(|| run(&name, &source)) else { continue };
        let text = source.trim_start_matches('\u{feff}');
        let mark = |mark: &str| text.lines().find(|line| line.starts_with(mark));
        let expected = mark("// trap:").or(mark("// exit:")).unwrap_or("// exit: 0");
        assert_eq!(format!("// {end}"), expected, "{name}");
        let path = format!("{}/tests/conformance/{name}.out", env!("CARGO_MANIFEST_DIR"));
        let out = std::fs::read(path).unwrap_or_default();
        assert_eq!(found, String::from_utf8_lossy(&out), "{name}");
        ran += 1;
    }
    assert!(ran > 90, "{ran}");
}
