//! Whether the engines agree on a program, and what is said where one does not.
//!
//! A failure has a *kind*: what stays the same while the program is made smaller. It is a line of
//! text without numbers that change with the program: `prints something else`, `panic at FILE:LINE`,
//! `crash: signal 11`, `does not compile: …`.

use crate::engine::{Engine, How, engines};
use crate::front;
use crate::generate::{Size, bril, program};
use crate::subject::{Discard, Outcome, Subject};
use clap::ValueEnum;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use toyjit::ir;

/// What is made from a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Matter {
    /// Toy programs that are right.
    Programs,
    /// Modules of IR, their graphs arbitrary.
    Ir,
    /// Bril programs, their graphs arbitrary.
    Bril,
    /// Texts of which most are wrong, for the front end and the IR parser.
    Front,
}

impl Matter {
    /// The text of a seed.
    pub fn text(self, seed: u64) -> Vec<u8> {
        match self {
            Matter::Programs => program(seed, Size::of(seed)).into_bytes(),
            Matter::Ir => ir_text(seed).into_bytes(),
            Matter::Bril => bril(seed).into_bytes(),
            Matter::Front => front::text(seed),
        }
    }

    /// How files of it end.
    pub fn extension(self) -> &'static str {
        match self {
            Matter::Programs => "toy",
            Matter::Ir => "ir",
            Matter::Bril => "bril",
            Matter::Front => "txt",
        }
    }

    /// The matter of a file.
    pub fn of_file(path: &std::path::Path) -> Matter {
        match path.extension().and_then(|e| e.to_str()) {
            Some("ir") => Matter::Ir,
            Some("bril") => Matter::Bril,
            Some("txt") => Matter::Front,
            _ => Matter::Programs,
        }
    }

    /// The name, as `--matter` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Matter::Programs => "programs",
            Matter::Ir => "ir",
            Matter::Bril => "bril",
            Matter::Front => "front",
        }
    }
}

fn ir_text(seed: u64) -> String {
    let mut rng = ir::generate::Rng::new(seed);
    let blocks = if rng.percent(20) { 30 } else { 10 };
    let default = ir::generate::Shape::default();
    let shape = ir::generate::Shape {
        form: if rng.percent(70) { ir::Form::Variable } else { ir::Form::Ssa },
        functions: 1 + rng.below(4),
        blocks: 2 + rng.below(blocks),
        ..default
    };
    ir::print::module(&ir::generate::module(&mut rng, &shape))
}

/// What came of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is well.
    Agree {
        /// Whether the program ended in a trap.
        trapped: bool,
    },
    /// It was of no use.
    Discard,
    /// Something is wrong.
    Fail(Failure),
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The engine, as written; `front` for the front end.
    pub engine: String,
    /// The kind of failure.
    pub kind: String,
    /// For people: what was expected, what came.
    pub detail: String,
}

/// The engine's name of the front end.
pub const FRONT: &str = "front";

/// Judges one text by all engines.
pub fn judge(matter: Matter, text: &[u8], seed: u64) -> Verdict {
    judge_by(matter, text, &engines_for(matter, seed))
}

/// Every engine that takes this matter.
pub fn engines_for(matter: Matter, seed: u64) -> Vec<Engine> {
    let mut engines = engines(seed);
    if matter == Matter::Bril {
        engines.extend((0..=3).map(|level| Engine::new(How::Written, level)));
    }
    engines
}

/// Judges one text by these engines.
pub fn judge_by(matter: Matter, text: &[u8], engines: &[Engine]) -> Verdict {
    if matter == Matter::Front {
        return match caught(|| front::take(text)) {
            Ok(()) => Verdict::Agree { trapped: false },
            Err(panic) => fail(FRONT, panic.kind, panic.message),
        };
    }
    let text = String::from_utf8_lossy(text);
    let made = caught(|| match matter {
        Matter::Ir => Subject::ir(&text),
        Matter::Bril => Subject::bril(&text),
        _ => Subject::toy(&text),
    });
    let subject = match made {
        Ok(Ok(subject)) => subject,
        Ok(Err(Discard::Resources)) => return Verdict::Discard,
        Ok(Err(Discard::Errors(message))) => {
            return fail(FRONT, format!("does not compile: {}", plain(&message)), message);
        }
        Err(panic) => return fail(FRONT, panic.kind, panic.message),
    };
    let mut references: Vec<(Engine, Outcome)> = Vec::new();
    for (i, engine) in engines.iter().enumerate() {
        if engines[..i].iter().any(|earlier| earlier.is_same(engine)) {
            continue;
        }
        let reference = subject.reference(engine);
        if !references.iter().any(|(of, _)| *of == reference) {
            let outcome = match caught(|| subject.run(&reference)) {
                Ok(Ok(outcome)) if !outcome.end.starts_with("fault") => outcome,
                Ok(Ok(outcome)) => {
                    return fail(reference, plain(&outcome.end), outcome.to_string());
                }
                Ok(Err(_)) => return Verdict::Discard,
                Err(panic) => return fail(reference, panic.kind, panic.message),
            };
            references.push((reference.clone(), outcome));
        }
        let Some((_, expected)) = references.iter().find(|(of, _)| *of == reference) else {
            continue;
        };
        match caught(|| subject.run(engine)) {
            Ok(Ok(found)) if found == *expected => {}
            // A program that was written anew ends in another trap at another line.
            Ok(Ok(found))
                if engine.how == How::Written
                    && found.output == expected.output
                    && [&found, expected].iter().all(|o| o.end.starts_with("trap")) => {}
            Ok(Err(_)) => {}
            Ok(Ok(found)) => {
                let detail = format!("--- expected\n{expected}\n--- found\n{found}");
                return fail(engine, difference(expected, &found), detail);
            }
            Err(panic) => return fail(engine, panic.kind, panic.message),
        }
    }
    let trapped = references.first().is_some_and(|(_, outcome)| outcome.end.starts_with("trap"));
    Verdict::Agree { trapped }
}

fn fail(engine: impl ToString, kind: impl Into<String>, detail: impl Into<String>) -> Verdict {
    let (engine, kind, detail) = (engine.to_string(), kind.into(), detail.into());
    Verdict::Fail(Failure { engine, kind, detail })
}

/// The kind of a difference.
fn difference(expected: &Outcome, found: &Outcome) -> String {
    let class = |end: &str| end.split(' ').next().unwrap_or_default().to_owned();
    let (before, after) = (class(&expected.end), class(&found.end));
    match () {
        _ if before != after && matches!(after.as_str(), "exit" | "trap") => {
            format!("{after} instead of {before}")
        }
        _ if before != after => plain(&found.end),
        _ if expected.end != found.end => format!("another {before}"),
        _ => "prints something else".into(),
    }
}

/// The first line of a message, without numbers, and not too long.
fn plain(message: &str) -> String {
    let mut kind = String::new();
    let mut in_number = false;
    for c in message.lines().next().unwrap_or_default().chars().take(100) {
        let digit = c.is_ascii_digit();
        if !(digit && in_number) {
            kind.push(if digit { '#' } else { c });
        }
        in_number = digit;
    }
    kind
}

/// A panic that was caught.
struct Panicked {
    kind: String,
    message: String,
}

thread_local! {
    static LAST: RefCell<Option<Panicked>> = const { RefCell::new(None) };
}

/// Keeps what a panic says for [`caught`], instead of printing it.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or("a panic").to_owned();
        let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
        let kind = format!("panic at {}: {}", place.unwrap_or_default(), plain(&message));
        // A pass's panic goes through its runner; the first one tells.
        LAST.with_borrow_mut(|last| _ = last.get_or_insert(Panicked { kind, message }));
    }));
}

fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Panicked> {
    LAST.with_borrow_mut(Option::take);
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| {
        let unknown = || Panicked { kind: "panic".into(), message: String::new() };
        LAST.with_borrow_mut(Option::take).unwrap_or_else(unknown)
    })
}
