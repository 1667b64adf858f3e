//! Reading programs, and telling what is to be said of them and of their runs.

use super::json::{self, MessageFormat};
use crate::bril::{self, Checks};
use crate::engine::{CompileError, Diagnostics, Stopped};
use crate::lower::Lowered;
use crate::pipeline;
use crate::report::{
    EXIT_ERRORS, EXIT_FAULT, EXIT_USAGE, bril_exit_code, bril_stop_report, exit_code, fault_report,
    stop_report,
};
use crate::sema::hir;
use crate::source::render::render;
use crate::source::{Diagnostic, Interner, Severity, Sources, Trace, decode};
use crate::timing::Timings;
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;
use toyjit_runtime::Stop;

/// So many errors and warnings are told to a person.
const MOST_TOLD: usize = 200;

static FORMAT: OnceLock<MessageFormat> = OnceLock::new();

/// Says, once, how messages are written.
pub fn set_format(format: MessageFormat) {
    FORMAT.get_or_init(|| format);
}

fn is_json() -> bool {
    FORMAT.get() == Some(&MessageFormat::Json)
}

/// A program that was read, and checked without an error.
pub struct Checked {
    /// Its text.
    pub sources: Sources,
    /// What the front end made of it.
    pub tree: Tree,
    /// The CFG, in the variable form.
    pub lowered: Lowered,
}

/// A checked program, by its language.
pub enum Tree {
    /// A Toy program and its names.
    Toy(hir::Program, Interner),
    /// A Bril program.
    Bril(bril::Program),
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
    let text = decode(bytes).map_err(|problem| {
        complain(&format!("{name}:{}:{}: {problem}", problem.line, problem.column), None);
        EXIT_ERRORS
    })?;
    Ok((name, text))
}

/// Reads a file.
pub fn read(path: &Path) -> Result<Sources, i32> {
    let (name, text) = text(path)?;
    let mut sources = Sources::new();
    match sources.add(&name, text) {
        Some(_) => Ok(sources),
        None => {
            complain(&format!("{name} is larger than 4 GiB"), None);
            Err(EXIT_USAGE)
        }
    }
}

/// Reads and checks a file, and tells what is to be said of it; an exit code where there are
/// errors.
pub fn check(path: &Path) -> Result<Checked, i32> {
    let sources = read(path)?;
    if let Some(form) = bril::form_of(path, &sources.files()[0].text) {
        return check_bril(sources, form, Checks::On, &mut Timings::new());
    }
    let (front, diagnostics) = pipeline::front(&sources, &mut Timings::new());
    tell(&sources, &diagnostics);
    match front {
        Some(front) => {
            let tree = Tree::Toy(front.program, front.interner);
            Ok(Checked { sources, tree, lowered: front.lowered })
        }
        None => Err(EXIT_ERRORS),
    }
}

/// The same for a Bril program that was read; errors have the exit code of its interpreters.
pub fn check_bril(
    mut sources: Sources,
    form: bril::Form,
    checks: Checks,
    timings: &mut Timings,
) -> Result<Checked, i32> {
    let (front, diagnostics) = pipeline::bril(&mut sources, form, checks, &mut bril::load, timings);
    tell(&sources, &diagnostics);
    match front {
        Some(front) => {
            let tree = Tree::Bril(front.program);
            Ok(Checked { sources, tree, lowered: front.lowered })
        }
        None => Err(EXIT_USAGE),
    }
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

/// Tells why there is no module; the exit code.
pub fn refused(error: &CompileError) -> i32 {
    match error {
        CompileError::Diagnostics(said) => {
            tell_all(said);
            EXIT_ERRORS
        }
        CompileError::Limit(stop) => stop_code(&Sources::new(), stop, &Trace::default()),
        CompileError::Fault(what) => fault(what),
    }
}

/// Tells why a run ended early; the exit code.
pub fn stopped(stopped: &Stopped) -> i32 {
    stop_code(stopped.sources(), &stopped.stop, &stopped.trace)
}

/// The same for a Bril program.
pub fn bril_stop_code(sources: &Sources, stop: &Stop, trace: &Trace) -> i32 {
    if !is_json() {
        anstream::eprint!("{}", bril_stop_report(sources, stop, trace, color()));
        return bril_exit_code(stop);
    }
    stop_code(sources, stop, trace);
    bril_exit_code(stop)
}

/// The same.
pub fn stop_code(sources: &Sources, stop: &Stop, trace: &Trace) -> i32 {
    if !is_json() {
        anstream::eprint!("{}", stop_report(sources, stop, trace, color()));
    } else if let Some(told) = json::stop(sources, stop, trace) {
        anstream::eprintln!("{told}");
    }
    exit_code(stop)
}
