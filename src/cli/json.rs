//! Messages for tools: a JSON object a line, on standard error.

use serde_json::{Value, json};
use toyjit::engine::Stop;
use toyjit::inspect::Remark;
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

/// Whether a command line that is wrong asks for JSON.
pub fn is_wanted(args: impl Iterator<Item = String>) -> bool {
    let args: Vec<String> = args.collect();
    let apart = args.windows(2).any(|two| two == ["--message-format", "json"]);
    apart || args.iter().any(|arg| arg == "--message-format=json")
}

/// A command line that is wrong: what is said of it to a person, without how it is used.
pub fn misuse(told: &str) -> Value {
    let message = told.split("\n\n").next().unwrap_or(told);
    let message = message.trim_start_matches("error: ").split_whitespace();
    let help = told.lines().find_map(|line| line.trim_start().strip_prefix("tip: "));
    complaint("error", &message.collect::<Vec<_>>().join(" "), help)
}

/// What the optimiser says of its work.
pub fn remark(sources: &Sources, remark: &Remark) -> Value {
    json!({
        "kind": "remark",
        "message": remark.text,
        "pass": remark.pass,
        "at": place(sources, remark.span),
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
