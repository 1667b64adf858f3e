//! What the compiler says to the author of a program: errors and warnings.
//!
//! A diagnostic is data; `render` turns it into text by way of annotate-snippets (rustc's own
//! renderer, which handles tabs, wide characters, several labels and suggested edits).

use super::Span;

/// How grave it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program does not compile.
    Error,
    /// The program compiles, and is suspect.
    Warning,
}

/// One message with its places. The first label is the primary one: its start is the place that
/// the message names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How grave it is.
    pub severity: Severity,
    /// A stable code: `E0012`, `W0003`.
    pub code: &'static str,
    /// What is wrong, in one line, beginning in lower case, without a full stop.
    pub message: String,
    /// Places with what is to be said at each; the first is the primary one.
    pub labels: Vec<(Span, String)>,
    /// Remarks that belong to no place.
    pub notes: Vec<String>,
    /// The obvious mend in words.
    pub help: Option<String>,
    /// The obvious mend as an edit: replace this stretch by this text.
    pub suggestion: Option<(Span, String)>,
}

impl Diagnostic {
    /// An error at `span`; `label` is what is said under the source there (may be empty).
    pub fn error(
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        Self::at(Severity::Error, code, span, message.into(), label.into())
    }

    /// A warning at `span`.
    pub fn warning(
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        Self::at(Severity::Warning, code, span, message.into(), label.into())
    }

    fn at(
        severity: Severity,
        code: &'static str,
        span: Span,
        message: String,
        label: String,
    ) -> Self {
        Self {
            severity,
            code,
            message,
            labels: vec![(span, label)],
            notes: Vec::new(),
            help: None,
            suggestion: None,
        }
    }

    /// Adds a secondary label.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says the mend in words.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Says the mend as an edit too.
    #[must_use]
    pub fn suggest(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.suggestion = Some((span, replacement.into()));
        self
    }

    /// The primary place.
    pub fn span(&self) -> Span {
        self.labels[0].0
    }
}
