//! The engines that are compared, and what is compared of a run.

use std::fmt;
use toyjit::interp;
use toyjit::ir::interp as ir_interp;
use toyjit::pipeline::{self, Front, Options};
use toyjit::report;
use toyjit::source::{Severity, Sources, Trace};
use toyjit::timing::Timings;
use toyjit_runtime::{Captured, Config, Input, Output, Runtime, Stop, Trap};

/// A way to run a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The interpreter on the typed tree: what a program means.
    Oracle,
    /// The IR interpreter on the variable form.
    Variables,
    /// The IR interpreter after construction and the passes of a level, one of them left out.
    Ir {
        /// Optimisation level.
        level: u8,
        /// The pass left out.
        without: Option<String>,
    },
    /// Machine code.
    Native {
        /// Optimisation level.
        level: u8,
        /// The pass left out.
        without: Option<String>,
        /// Whether every value lives in its spill slot.
        spill: bool,
        /// Whether every allocation collects.
        gc_stress: bool,
    },
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let without = |without: &Option<String>| {
            without.as_ref().map(|pass| format!(" --no-{pass}")).unwrap_or_default()
        };
        match self {
            Engine::Oracle => f.write_str("the oracle"),
            Engine::Variables => f.write_str("the IR interpreter on the variable form"),
            Engine::Ir { level, without: pass } => {
                write!(f, "the IR interpreter at -O{level}{}", without(pass))
            }
            Engine::Native { level, without: pass, spill, gc_stress } => {
                write!(f, "machine code at -O{level}{}", without(pass))?;
                if *spill {
                    f.write_str(" with everything spilled")?;
                }
                if *gc_stress {
                    f.write_str(" with --gc-stress")?;
                }
                Ok(())
            }
        }
    }
}

/// What a run shows to the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was printed.
    pub output: Vec<u8>,
    /// How it ended: the exit code, or the trap with its line.
    pub end: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n[{}]", String::from_utf8_lossy(&self.output), self.end)
    }
}

/// Why a program is of no use as a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Discard {
    /// It does not compile.
    Errors(String),
    /// It needs more stack, memory or steps than it may have.
    Resources,
}

/// A program that passed the front end, to be run by each engine.
pub struct Subject {
    sources: Sources,
    text: String,
}

/// How many steps the IR interpreter may take.
const STEPS: u64 = 20_000_000;

impl Subject {
    /// The program with this text.
    pub fn new(text: &str) -> Result<Self, Discard> {
        let mut sources = Sources::new();
        sources.add("program.toy", text).ok_or(Discard::Resources)?;
        let subject = Self { sources, text: text.to_owned() };
        subject.front().map(|_| subject)
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn front(&self) -> Result<Front, Discard> {
        let (front, diagnostics) = pipeline::front(&self.sources, &mut Timings::new());
        front.ok_or_else(|| {
            let first = diagnostics.iter().find(|d| d.severity == Severity::Error);
            Discard::Errors(first.map(|d| d.message.clone()).unwrap_or_default())
        })
    }

    /// Runs it. A panic passes through.
    pub fn run(&self, engine: &Engine) -> Result<Outcome, Discard> {
        let front = self.front()?;
        let (mut runtime, captured) = runtime(engine);
        let end = match engine {
            Engine::Oracle => {
                let ended = interp::run(&front.program, &front.interner, &mut runtime);
                self.end(ended.map_err(|halt| (halt.stop, halt.trace)))
            }
            Engine::Variables => self.interpret(&front.lowered.module, &mut runtime),
            Engine::Ir { level, without } => {
                let mut module = front.lowered.module;
                pipeline::middle(
                    &mut module,
                    &options(*level, without),
                    &mut Timings::new(),
                    &mut (),
                );
                self.interpret(&module, &mut runtime)
            }
            Engine::Native { level, without, spill, .. } => {
                let mut options = options(*level, without);
                options.spill_everything = *spill;
                let timings = &mut Timings::new();
                match pipeline::compile(front, &options, &mut runtime, timings) {
                    Err(error) => Ok(format!("does not compile: {error}")),
                    Ok(executable) => {
                        let ended = executable.run(&mut runtime);
                        self.end(ended.map_err(|halt| (halt.stop, halt.trace)))
                    }
                }
            }
        };
        let flushed = runtime.output.flush();
        debug_assert!(flushed.is_ok(), "a captured output takes everything");
        Ok(Outcome { output: captured.take(), end: end? })
    }

    fn interpret(
        &self,
        module: &toyjit::ir::Module,
        runtime: &mut Runtime,
    ) -> Result<String, Discard> {
        let ended = ir_interp::Interpreter::new(module, runtime)
            .and_then(|interpreter| interpreter.with_limit(STEPS).run_program());
        self.end(ended.map_err(|stopped| {
            let trace = report::trace(module, &stopped.backtrace);
            (stopped.stop, trace)
        }))
    }

    fn end(&self, ended: Result<i32, (Stop, Trace)>) -> Result<String, Discard> {
        match ended {
            Ok(code) => Ok(format!("exit {code}")),
            Err((Stop::Exit(code), _)) => Ok(format!("exit {code}")),
            Err((Stop::Trap(Trap::Stack | Trap::Memory | Trap::Time), _)) => {
                Err(Discard::Resources)
            }
            Err((Stop::Trap(trap), trace)) => {
                let line = trace
                    .first
                    .first()
                    .map_or(0, |frame| self.sources.place(frame.span.start).line);
                Ok(format!("trap at line {line}: {trap}"))
            }
            Err((stop, _)) => Ok(format!("{stop:?}")),
        }
    }
}

fn options(level: u8, without: &Option<String>) -> Options {
    Options {
        level,
        verify: true,
        disabled: without.iter().cloned().collect(),
        ..Options::default()
    }
}

fn runtime(engine: &Engine) -> (Runtime, Captured) {
    let (output, captured) = Output::capture();
    let gc_stress = matches!(engine, Engine::Native { gc_stress: true, .. });
    let config = Config {
        max_heap: Some(256 << 20),
        stack_size: 64 << 20,
        gc_stress,
        output,
        input: Input::bytes(b"a line\nanother\n".to_vec()),
        args: Vec::new(),
    };
    match Runtime::new(config) {
        Ok(runtime) => (runtime, captured),
        Err(stop) => panic!("no memory for a runtime: {stop:?}"),
    }
}
