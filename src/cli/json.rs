//! Messages for tools: a JSON object a line, on standard error.

use serde_json::{Value, json};
use toyjit::engine::Stop;
use toyjit::source::{Diagnostic, Severity, Sources, Span, Trace, TraceFrame};

/// How messages are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum MessageFormat {
    /// For people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}

fn place(sources: &Sources, span: Span) -> Value {
    let (start, end) = (sources.place(span.start), sources.place(span.end));
    let (_, from) = sources.locate(span.start);
    json!({
        "file": start.file,
        "start": { "line": start.line, "column": start.column, "byte": from },
        "end": { "line": end.line, "column": end.column, "byte": from + (span.end - span.start) as usize },
    })
}

/// What has no place in a program.
pub fn complaint(kind: &str, message: &str, help: Option<&str>) -> Value {
    json!({ "kind": kind, "message": message, "help": help })
}

/// A diagnostic.
pub fn diagnostic(sources: &Sources, diagnostic: &Diagnostic) -> Value {
    let labels: Vec<Value> = diagnostic
        .labels
        .iter()
        .map(|(span, text)| json!({ "at": place(sources, *span), "text": text }))
        .collect();
    let suggestion = diagnostic.suggestion.as_ref().map(
        |(span, replacement)| json!({ "at": place(sources, *span), "replacement": replacement }),
    );
    json!({
        "kind": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "code": diagnostic.code,
        "message": diagnostic.message,
        "labels": labels,
        "notes": diagnostic.notes,
        "help": diagnostic.help,
        "suggestion": suggestion,
    })
}

/// A run that ended early; none where there is nothing to say.
pub fn stop(sources: &Sources, stop: &Stop, trace: &Trace) -> Option<Value> {
    let (kind, message) = match stop {
        Stop::Trap(trap) => ("trap", trap.to_string()),
        Stop::Output(why) => ("error", format!("can't write the output: {why}")),
        Stop::Fault(what) => ("fault", what.clone()),
        Stop::Exit(_) | Stop::ClosedPipe => return None,
    };
    let frames = |frames: &[TraceFrame]| -> Vec<Value> {
        let frame = |frame: &TraceFrame| json!({ "function": frame.function, "at": place(sources, frame.span) });
        frames.iter().map(frame).collect()
    };
    Some(json!({
        "kind": kind,
        "message": message,
        "calls": frames(&trace.first),
        "left_out": trace.left_out,
        "last_calls": frames(&trace.last),
    }))
}
