//! Reading programs and telling their diagnostics.

use super::json::{self, MessageFormat};
use crate::pipeline::{self, Front};
use crate::report::{EXIT_ERRORS, EXIT_USAGE};
use crate::source::render::render;
use crate::source::{Diagnostic, Severity, Sources, decode};
use crate::timing::Timings;
use std::io::Read;
use std::path::Path;

/// A program that was read, and checked without an error.
pub struct Checked {
    /// Its text.
    pub sources: Sources,
    /// What the front end made of it.
    pub front: Front,
    /// Times so far.
    pub timings: Timings,
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
    check_as(path, MessageFormat::Text, false)
}

/// The same, with the messages in a format, for code that burns fuel where it is `metered`.
pub fn check_as(path: &Path, format: MessageFormat, metered: bool) -> Result<Checked, i32> {
    let sources = read(path)?;
    let mut timings = Timings::new();
    let (front, diagnostics) = pipeline::front_with(&sources, &[], metered, &mut timings);
    tell_as(&sources, &diagnostics, format);
    match front {
        Some(front) => Ok(Checked { sources, front, timings }),
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
