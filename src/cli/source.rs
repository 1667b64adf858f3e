//! Reading programs and telling their diagnostics.

use super::json::{self, MessageFormat};
use crate::bril::{self, Checks};
use crate::lower::Lowered;
use crate::pipeline;
use crate::report::{EXIT_ERRORS, EXIT_USAGE};
use crate::sema::hir;
use crate::source::render::render;
use crate::source::{Diagnostic, Interner, Severity, Sources, decode};
use crate::timing::Timings;
use std::io::Read;
use std::path::Path;

/// A program that was read, and checked without an error.
pub struct Checked {
    /// Its text.
    pub sources: Sources,
    /// What the front end made of it.
    pub tree: Tree,
    /// The CFG, in the variable form.
    pub lowered: Lowered,
    /// Times so far.
    pub timings: Timings,
}

/// A checked program, by its language.
pub enum Tree {
    /// A Toy program and its names.
    Toy(hir::Program, Interner),
    /// A Bril program.
    Bril(bril::Program),
}

/// Reads a file (`-` is standard input); an exit code where it can't be read or is not UTF-8.
pub fn read(path: &Path) -> Result<Sources, i32> {
    let (name, bytes) = match path.to_str() {
        Some("-") => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            ("<stdin>".to_owned(), read.map(|_| bytes))
        }
        _ => (path.display().to_string(), std::fs::read(path)),
    };
    let bytes = bytes.map_err(|error| {
        anstream::eprintln!("error: can't read {name}: {error}");
        EXIT_USAGE
    })?;
    let text = decode(bytes).map_err(|problem| {
        anstream::eprintln!("error: {name}:{}:{}: {problem}", problem.line, problem.column);
        EXIT_ERRORS
    })?;
    let mut sources = Sources::new();
    match sources.add(&name, text) {
        Some(_) => Ok(sources),
        None => {
            anstream::eprintln!("error: {name} is larger than 4 GiB");
            Err(EXIT_USAGE)
        }
    }
}

/// Reads and checks a file, and tells what is to be said of it; an exit code where there are
/// errors.
pub fn check(path: &Path) -> Result<Checked, i32> {
    check_as(path, MessageFormat::Text)
}

/// The same, with the messages in a format.
pub fn check_as(path: &Path, format: MessageFormat) -> Result<Checked, i32> {
    check_with(path, format, Checks::On)
}

/// The same, where a Bril program is lowered with such checks.
pub fn check_with(path: &Path, format: MessageFormat, checks: Checks) -> Result<Checked, i32> {
    let mut sources = read(path)?;
    let mut timings = Timings::new();
    if let Some(form) = bril::form_of(path, &sources.files()[0].text) {
        let mut load = |path: &Path| {
            let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
            decode(bytes).map_err(|problem| problem.to_string())
        };
        let (front, diagnostics) =
            pipeline::bril(&mut sources, form, checks, &mut load, &mut timings);
        tell_as(&sources, &diagnostics, format);
        return match front {
            Some(front) => {
                let tree = Tree::Bril(front.program);
                Ok(Checked { sources, tree, lowered: front.lowered, timings })
            }
            None => Err(EXIT_USAGE),
        };
    }
    let (front, diagnostics) = pipeline::front(&sources, &mut timings);
    tell_as(&sources, &diagnostics, format);
    match front {
        Some(front) => {
            let tree = Tree::Toy(front.program, front.interner);
            Ok(Checked { sources, tree, lowered: front.lowered, timings })
        }
        None => Err(EXIT_ERRORS),
    }
}

/// Whether messages are coloured: standard error is a terminal, and nobody asked for none.
pub fn color() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// Tells diagnostics on standard error, in a format.
pub fn tell_as(sources: &Sources, diagnostics: &[Diagnostic], format: MessageFormat) {
    match format {
        MessageFormat::Text => tell(sources, diagnostics),
        MessageFormat::Json => {
            for diagnostic in diagnostics {
                anstream::eprintln!("{}", json::diagnostic(sources, diagnostic));
            }
        }
    }
}

/// Tells diagnostics on standard error, with a count of the errors.
pub fn tell(sources: &Sources, diagnostics: &[Diagnostic]) {
    if diagnostics.is_empty() {
        return;
    }
    anstream::eprint!("{}", render(sources, diagnostics, color()));
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    if errors > 1 {
        anstream::eprintln!("{errors} errors");
    }
}
