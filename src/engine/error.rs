//! What can go wrong: a program that does not compile, a handle that does not fit, a run that ended
//! early.

use crate::pipeline;
use crate::report::{fault_report, stop_report};
use crate::source::{Diagnostic, Severity, Sources, Trace, render};
use std::fmt;
use std::sync::Arc;
use toyjit_runtime::{Stop, Trap};

/// What was said of a program, with the text that it speaks of. `Display` shows it as the command
/// line does.
#[derive(Clone)]
pub struct Diagnostics {
    sources: Arc<Sources>,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    pub(super) fn new(sources: Arc<Sources>, list: Vec<Diagnostic>) -> Self {
        Self { sources, list }
    }

    /// The errors and warnings.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The text that they speak of.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// All as the command line shows it, perhaps with colours.
    pub fn render(&self, color: bool) -> String {
        render(&self.sources, &self.list, color)
    }

    /// The errors and warnings.
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.list
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many errors there are.
    pub fn errors(&self) -> usize {
        self.list.iter().filter(|d| d.severity == Severity::Error).count()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why there is no module.
#[derive(Clone)]
pub enum CompileError {
    /// The program has errors.
    Diagnostics(Diagnostics),
    /// The machine, or a limit, has no room for it.
    Limit(Stop),
    /// A text of the IR is wrong, or it was to be run.
    Ir(Vec<String>),
    /// A fault of the compiler.
    Fault(String),
}

impl From<pipeline::CompileError> for CompileError {
    fn from(error: pipeline::CompileError) -> Self {
        match error {
            pipeline::CompileError::Load(stop) => CompileError::Limit(stop),
            error => CompileError::Fault(error.to_string()),
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Diagnostics(diagnostics) => fmt::Display::fmt(diagnostics, f),
            CompileError::Limit(stop) => {
                f.write_str(&stop_report(&Sources::new(), stop, &Trace::default(), false))
            }
            CompileError::Ir(errors) => {
                errors.iter().try_for_each(|error| writeln!(f, "error: {error}"))
            }
            CompileError::Fault(what) => f.write_str(&fault_report(what)),
        }
    }
}

impl fmt::Debug for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CompileError {}

/// Why there is no handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionError {
    /// The program has no function of this name.
    Unknown {
        /// The name.
        name: String,
    },
    /// The function has another signature.
    Signature {
        /// What the program declares: `fn (int) -> float`.
        declared: String,
        /// What was asked for.
        wanted: String,
    },
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FunctionError::Unknown { name } => write!(f, "there is no function `{name}`"),
            FunctionError::Signature { declared, wanted } => {
                write!(f, "the function is `{declared}`, not `{wanted}`")
            }
        }
    }
}

impl std::error::Error for FunctionError {}

/// A run that ended before its end. `Display` gives the report that the command line gives.
#[derive(Clone)]
pub struct Stopped {
    /// Why it ended.
    pub stop: Stop,
    /// Where: the chain of calls, innermost first.
    pub trace: Trace,
    pub(super) sources: Arc<Sources>,
}

impl Stopped {
    /// The trap, if that is what ended the run.
    pub fn trap(&self) -> Option<&Trap> {
        match &self.stop {
            Stop::Trap(trap) => Some(trap),
            _ => None,
        }
    }

    /// The text that the trace speaks of.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Where it ended: `FILE:LINE:COLUMN`.
    pub fn place(&self) -> Option<String> {
        let frame = self.trace.first.first()?;
        Some(self.sources.place(frame.span.start).to_string())
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.stop {
            Stop::Exit(code) => write!(f, "the program ended with exit code {code}"),
            Stop::ClosedPipe => f.write_str("nobody reads the output any longer"),
            stop => f.write_str(&stop_report(&self.sources, stop, &self.trace, false)),
        }
    }
}

impl fmt::Debug for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Stopped {}
