//! Reading programs, and telling what is to be said of them and of their runs.

use super::exit::{EXIT_ERRORS, EXIT_FAULT, EXIT_USAGE, bril_exit_code, exit_code};
use super::json::{self, MessageFormat};
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;
use toyjit::engine::Language;
use toyjit::report::{bril_stop_report, fault_report, stop_report};
use toyjit::source::render::render;
use toyjit::source::{Diagnostic, Severity, Sources, Trace, decode};
use toyjit::{CompileError, Diagnostics, Engine, Program, Stop, Stopped};

/// So many errors and warnings are told to a person.
const MOST_TOLD: usize = 200;

static FORMAT: OnceLock<MessageFormat> = OnceLock::new();

/// Says, once, how messages are written.
pub fn set_format(format: MessageFormat) {
    FORMAT.get_or_init(|| format);
}

/// Whether messages are for tools.
pub fn is_json() -> bool {
    FORMAT.get() == Some(&MessageFormat::Json)
}

/// The name and the text of a file (`-` is standard input); an exit code where it can't be read or
/// is not UTF-8.
pub fn text(path: &Path) -> Result<(String, String), i32> {
    let (name, bytes) = match path.to_str() {
        Some("-") => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            ("<stdin>".to_owned(), read.map(|_| bytes))
        }
        _ => (path.display().to_string(), std::fs::read(path)),
    };
    let bytes = bytes.map_err(|error| {
        complain(&format!("can't read {name}: {error}"), None);
        EXIT_USAGE
    })?;
    if u32::try_from(bytes.len()).is_err() {
        complain(&format!("{name} is larger than 4 GiB"), None);
        return Err(EXIT_USAGE);
    }
    let text = decode(bytes).map_err(|problem| {
        complain(&format!("{name}:{}:{}: {problem}", problem.line, problem.column), None);
        EXIT_ERRORS
    })?;
    Ok((name, text))
}

/// Reads and checks a file, and tells what is to be said of it; an exit code where there are
/// errors.
pub fn check(engine: &Engine, path: &Path) -> Result<Program, i32> {
    let (name, text) = text(path)?;
    check_text(engine, Language::of(path, &text), &name, text)
}

/// The same for a text.
pub fn check_text(
    engine: &Engine,
    language: Language,
    name: &str,
    text: String,
) -> Result<Program, i32> {
    let program = engine.check_as(language, name, text);
    let program = program.map_err(|error| refused(&error, language))?;
    tell_all(program.warnings());
    Ok(program)
}

/// Whether messages are coloured: standard error is a terminal, and nobody asked for none.
pub fn color() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// Tells what is wrong with a command line, a file, a command, and what was perhaps meant.
pub fn complain(message: &str, meant: Option<&str>) {
    let help = meant.map(|meant| format!("did you mean `{meant}`?"));
    if is_json() {
        anstream::eprintln!("{}", json::complaint("error", message, help.as_deref()));
        return;
    }
    match help {
        Some(help) => anstream::eprintln!("error: {message}; {help}"),
        None => anstream::eprintln!("error: {message}"),
    }
}

/// Tells what to beware of.
pub fn warn(message: &str) {
    match is_json() {
        true => anstream::eprintln!("{}", json::complaint("warning", message, None)),
        false => anstream::eprintln!("warning: {message}"),
    }
}

/// Tells what was done besides what was asked for.
pub fn note(message: &str) {
    match is_json() {
        true => anstream::eprintln!("{}", json::complaint("note", message, None)),
        false => anstream::eprintln!("note: {message}"),
    }
}

/// Tells of a fault of the compiler; the exit code.
pub fn fault(what: &str) -> i32 {
    match is_json() {
        true => anstream::eprintln!("{}", json::complaint("fault", what, None)),
        false => anstream::eprint!("{}", fault_report(what)),
    }
    EXIT_FAULT
}

/// Tells diagnostics on standard error, with a count of the errors.
pub fn tell(sources: &Sources, diagnostics: &[Diagnostic]) {
    if is_json() {
        for diagnostic in diagnostics {
            anstream::eprintln!("{}", json::diagnostic(sources, diagnostic));
        }
        return;
    }
    if diagnostics.is_empty() {
        return;
    }
    let mut shown: Vec<Diagnostic> = Vec::new();
    if diagnostics.len() > MOST_TOLD {
        // Errors matter more than warnings that come before them.
        let mut order: Vec<&Diagnostic> = diagnostics.iter().collect();
        order.sort_by_key(|d| (d.severity, d.span()));
        shown.extend(order.into_iter().take(MOST_TOLD).cloned());
    }
    let list = if shown.is_empty() { diagnostics } else { &shown };
    anstream::eprint!("{}", render(sources, list, color()));
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    if list.len() < diagnostics.len() {
        anstream::eprintln!(
            "{errors} errors and {} warnings, of which {MOST_TOLD} are shown; \
             `--message-format=json` tells all",
            diagnostics.len() - errors
        );
    } else if errors > 1 {
        anstream::eprintln!("{errors} errors");
    }
}

/// The same for a module's.
pub fn tell_all(said: &Diagnostics) {
    tell(said.sources(), said.as_slice());
}

/// Tells why a program can't be checked or compiled; the exit code.
pub fn refused(error: &CompileError, language: Language) -> i32 {
    match error {
        CompileError::Diagnostics(said) => {
            tell_all(said);
            // Errors have the exit code of Bril's interpreters.
            if matches!(language, Language::Bril(..)) { EXIT_USAGE } else { EXIT_ERRORS }
        }
        CompileError::Limit(stop) => stop_code(language, &Sources::new(), stop, &Trace::default()),
        CompileError::Ir(errors) => {
            errors.iter().for_each(|error| complain(error, None));
            EXIT_ERRORS
        }
        CompileError::Fault(what) => fault(what),
    }
}

/// Tells why a run ended early; the exit code.
pub fn stopped(language: Language, stopped: &Stopped) -> i32 {
    stop_code(language, stopped.sources(), &stopped.stop, &stopped.trace)
}

/// The same.
pub fn stop_code(language: Language, sources: &Sources, stop: &Stop, trace: &Trace) -> i32 {
    let is_bril = matches!(language, Language::Bril(..));
    if is_json() {
        if let Some(told) = json::stop(sources, stop, trace) {
            anstream::eprintln!("{told}");
        }
    } else {
        let report = if is_bril { bril_stop_report } else { stop_report };
        anstream::eprint!("{}", report(sources, stop, trace, color()));
    }
    if is_bril { bril_exit_code(stop) } else { exit_code(stop) }
}
