//! What is said of a run that ended early: the trap, its place with an excerpt, the chain of calls.

use crate::ir::{FuncRef, Loc, Module};
use crate::source::render::render_trap;
use crate::source::trace::SHOWN_FRAMES;
use crate::source::{Sources, Trace, TraceFrame};
use std::fmt::Write;
use toyjit_runtime::{Backtrace, Frame, Stop, Trap};

/// The script in the chain of calls.
const TOP_LEVEL: &str = "top level";

/// The report of a stop of a Bril program.
pub fn bril_stop_report(sources: &Sources, stop: &Stop, trace: &Trace, color: bool) -> String {
    match stop {
        Stop::Trap(trap) => {
            // What calls `main` is not in the program.
            let mut trace = trace.clone();
            if trace.first.len() > 1 {
                trace.first.retain(|frame| frame.function != TOP_LEVEL);
                trace.last.retain(|frame| frame.function != TOP_LEVEL);
            }
            trap_report(sources, "error", trap, &trace, color)
        }
        stop => stop_report(sources, stop, trace, color),
    }
}

/// The report of a stop for standard error; empty where there is nothing to say.
pub fn stop_report(sources: &Sources, stop: &Stop, trace: &Trace, color: bool) -> String {
    match stop {
        Stop::Trap(trap) => trap_report(sources, "trap", trap, trace, color),
        Stop::Exit(_) | Stop::ClosedPipe => String::new(),
        Stop::Output(why) => format!("error: can't write the output: {why}\n"),
        Stop::Fault(what) => fault_report(what),
    }
}

/// What is said of a fault of the compiler itself.
pub fn fault_report(what: &str) -> String {
    format!(
        "fault: {what}\nThis is a fault of toyjit, not of your program. Please report it with the \
         program, the command line and the output of `toyjit --version`.\n"
    )
}

fn trap_report(sources: &Sources, name: &str, trap: &Trap, trace: &Trace, color: bool) -> String {
    let at = trace.first.first().map(|frame| frame.span);
    let mut text = render_trap(sources, name, &trap.to_string(), at, color);
    if trace.first.len() > 1 {
        for frame in &trace.first {
            call_line(&mut text, sources, frame);
        }
        if trace.left_out > 0 {
            let _ = writeln!(text, "  … {} calls more …", trace.left_out);
        }
        for frame in &trace.last {
            call_line(&mut text, sources, frame);
        }
    }
    text
}

fn call_line(text: &mut String, sources: &Sources, frame: &TraceFrame) {
    let place = sources.place(frame.span.start);
    let _ = writeln!(text, "  in {} at {place}", frame.function);
}

/// The function of a number of the code map, with its module.
pub type FindFunction<'a> = &'a dyn Fn(u32) -> Option<(&'a Module, FuncRef)>;

/// The chain of calls of a backtrace, inlined ones too.
pub fn trace(find: FindFunction<'_>, backtrace: &Backtrace) -> Trace {
    let expand = |frames: &[Frame]| -> Vec<TraceFrame> {
        frames.iter().flat_map(|frame| inlined_frames(find, *frame)).collect()
    };
    let mut first = expand(&backtrace.first);
    let mut last = expand(&backtrace.last);
    let mut left_out = backtrace.left_out;
    if left_out == 0 {
        first.append(&mut last);
        return Trace::from_chain(first.len(), |i| first[i].clone());
    }
    left_out += first.len().saturating_sub(SHOWN_FRAMES) as u64
        + last.len().saturating_sub(SHOWN_FRAMES) as u64;
    first.truncate(SHOWN_FRAMES);
    let from = last.len().saturating_sub(SHOWN_FRAMES);
    Trace { first, left_out, last: last.split_off(from) }
}

fn inlined_frames(find: FindFunction<'_>, frame: Frame) -> Vec<TraceFrame> {
    let Some((module, function)) = find(frame.function) else { return Vec::new() };
    let function = &module.functions[function];
    let mut frames = Vec::new();
    let mut at = Some(Loc(frame.loc));
    while let Some(loc) = at {
        let data = function.locs[loc];
        let function = name_in_trace(module, data.function);
        frames.push(TraceFrame { function, span: data.span });
        at = data.inlined_at;
    }
    frames
}

/// A function as the reader of a program knows it: what the source gives no name has one that no
/// name in a source has, `fn@` and a number.
fn name_in_trace(module: &Module, function: FuncRef) -> String {
    let name = &module.functions[function].name;
    if module.script == Some(function) {
        TOP_LEVEL.into()
    } else if name.starts_with("fn@") {
        "function expression".into()
    } else {
        name.clone()
    }
}
