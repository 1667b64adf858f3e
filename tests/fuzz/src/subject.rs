//! A program under test, and what a run of it shows.

use crate::engine::{Engine, How};
use crate::work::{self, Work};
use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;
use toyjit::bril;
use toyjit::interp;
use toyjit::ir::{self, FuncRef, Module, interp as ir_interp};
use toyjit::mach::CompiledFunction;
use toyjit::pipeline::{self, BrilFront, CompileError, Executable, Front, Options};
use toyjit::report;
use toyjit::source::{Interner, Severity, Sources, Trace};
use toyjit::timing::Timings;
use toyjit_runtime::{Captured, Config, Input, Output, Runtime, Stop, Trap};

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
        write!(f, "{}[{}]", String::from_utf8_lossy(&self.output), self.end)
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

/// Machine code, and what it was made by.
type Compiled = (Passes, BackEnd, Rc<[CompiledFunction]>);

/// A program that is well formed, to be run by each engine.
pub struct Subject {
    sources: Sources,
    program: Program,
    /// The same, burning fuel.
    metered: OnceCell<Program>,
    /// Modules after the passes, by what the passes were told.
    optimised: RefCell<Vec<(Passes, Optimised)>>,
    /// Machine code that is not in place yet, by the passes and by what the back end was told.
    compiled: RefCell<Vec<Compiled>>,
}

/// Rows of the table of passes, rewrites, whether the code burns fuel.
type Passes = (u128, Option<u64>, bool);
/// Spills everything, few registers, no extensions of the processor.
type BackEnd = (bool, bool, bool);

/// What the passes made, or what is said where they made too much of it.
type Optimised = Result<Rc<Module>, String>;

enum Program {
    Toy(Box<Front>),
    Bril(Box<BrilFront>),
    Ir(Box<Module>),
}

/// How many steps the IR interpreter may take.
const STEPS: u64 = 3_000_000;

impl Subject {
    /// The Toy program with this text.
    pub fn toy(text: &str) -> Result<Self, Discard> {
        let mut sources = Sources::new();
        sources.add("program.toy", text).ok_or(Discard::Resources)?;
        let program = toy(&sources, false)?;
        Ok(Self::new(sources, program))
    }

    /// The Bril program with this text.
    pub fn bril(text: &str) -> Result<Self, Discard> {
        let mut sources = Sources::new();
        sources.add("program.bril", text).ok_or(Discard::Resources)?;
        let mut load = |_: &std::path::Path| Err("there are no other files".to_owned());
        let (front, diagnostics) = pipeline::bril(
            &mut sources,
            bril::Form::Text,
            bril::Checks::On,
            &mut load,
            &mut Timings::new(),
        );
        let front = front.ok_or_else(|| {
            Discard::Errors(diagnostics.first().map(|d| d.message.clone()).unwrap_or_default())
        })?;
        Ok(Self::new(sources, Program::Bril(Box::new(front))))
    }

    /// The module with this text.
    pub fn ir(text: &str) -> Result<Self, Discard> {
        let module = ir::parse::module(text).map_err(|error| Discard::Errors(error.to_string()))?;
        ir::verify::verify_module(&module)
            .map_err(|errors| Discard::Errors(errors[0].to_string()))?;
        Ok(Self::new(Sources::new(), Program::Ir(Box::new(module))))
    }

    fn new(sources: Sources, program: Program) -> Self {
        let (metered, optimised, compiled) = Default::default();
        Self { sources, program, metered, optimised, compiled }
    }

    /// Its module, in the form in which it comes to the optimiser.
    pub fn module(&self) -> &Module {
        module(&self.program)
    }

    fn program(&self, engine: &Engine) -> &Program {
        match engine.units {
            Some(_) if matches!(self.program, Program::Toy(_)) => self.metered.get_or_init(|| {
                toy(&self.sources, true).unwrap_or_else(|_| panic!("burning fuel, it has errors"))
            }),
            _ => &self.program,
        }
    }

    /// What tells its meaning to an engine: the oracle, or the interpreter where there is no Toy program.
    pub fn reference(&self, engine: &Engine) -> Engine {
        let how = if self.has_source() { How::Oracle } else { How::Variables };
        Engine { units: engine.units, ..Engine::new(how, 0) }
    }

    /// Whether it is a program, and not a module.
    pub fn has_source(&self) -> bool {
        !matches!(self.program, Program::Ir(_))
    }

    /// Runs it. A panic passes through.
    pub fn run(&self, engine: &Engine) -> Result<Outcome, Discard> {
        let (mut runtime, captured) = runtime(engine);
        let program = self.program(engine);
        let made = match engine.how {
            How::Oracle | How::Variables => None,
            How::Ir | How::Native | How::Written => match self.optimised(engine) {
                Ok(module) => Some(module),
                Err(end) => return Ok(Outcome { output: Vec::new(), end }),
            },
        };
        let module = made.as_deref().unwrap_or_else(|| module(program));
        let end = match (engine.how, program) {
            (How::Oracle, Program::Toy(front)) => {
                let ended = interp::run(&front.program, &front.interner, &mut runtime);
                self.end(ended.map_err(|halt| (halt.stop, halt.trace)))
            }
            (How::Oracle, Program::Bril(front)) => {
                self.interpret_bril(&front.program, &mut runtime)
            }
            (How::Written, Program::Bril(front)) => {
                let again = written(module, engine, &front.program)?;
                let Program::Bril(front) = &again.program else { return Err(Discard::Resources) };
                again.interpret_bril(&front.program, &mut runtime)
            }
            (How::Written, _) => return Err(Discard::Resources),
            (How::Oracle | How::Variables | How::Ir, _) => self.interpret(module, &mut runtime),
            (How::Native, _) => match self.compile(module, engine, &mut runtime) {
                Err(why) => Ok(why),
                Ok(executable) => {
                    let ended = executable.run(&mut runtime);
                    self.end(ended.map_err(|halt| (halt.stop, halt.trace)))
                }
            },
        }?;
        if let Err(stop) = runtime.output.flush() {
            return Ok(Outcome { output: captured.take(), end: format!("fault: {stop:?}") });
        }
        Ok(Outcome { output: captured.take(), end })
    }

    fn interpret_bril(
        &self,
        program: &bril::Program,
        runtime: &mut Runtime,
    ) -> Result<String, Discard> {
        let (_, ended) = bril::interp::run(program, runtime, STEPS);
        self.end(ended.map_err(|halt| (halt.stop, halt.trace)))
    }

    /// Machine code of a module in place; engines share it as far as the runtime has no part in it.
    fn compile(
        &self,
        module: &Module,
        engine: &Engine,
        runtime: &mut Runtime,
    ) -> Result<Executable, String> {
        let (of, by) = (passes(engine), (engine.spill, engine.few, engine.baseline));
        let timings = &mut Timings::new();
        let known = self.compiled.borrow().iter().find(|(o, b, _)| (*o, *b) == (of, by)).cloned();
        let functions = match known {
            Some((.., functions)) => functions,
            None => {
                let functions = pipeline::machine_code(module, &engine.options(), timings)
                    .map_err(does_not_compile)?;
                work::judge_code(module, &functions)?;
                let functions: Rc<[CompiledFunction]> = functions.into();
                self.compiled.borrow_mut().push((of, by, Rc::clone(&functions)));
                functions
            }
        };
        pipeline::link(module.clone(), &functions, runtime, timings).map_err(does_not_compile)
    }

    /// The module after the passes of an engine. What the passes do does not depend on anything
    /// else, so that engines share it.
    fn optimised(&self, engine: &Engine) -> Optimised {
        let key = passes(engine);
        let known = self.optimised.borrow().iter().find(|(of, _)| *of == key).cloned();
        if let Some((_, made)) = known {
            return made;
        }
        let mut module = module(self.program(engine)).clone();
        let mut work = Work::of(&module);
        let options = Options { verify: engine.verifies_passes(), ..engine.options() };
        pipeline::middle(&mut module, &options, &mut Timings::new(), &mut work);
        if let Err(errors) = ir::verify::verify_module(&module) {
            panic!("the passes left a malformed function: {}", errors[0]);
        }
        let made = work.judge().map(|()| Rc::new(module));
        self.optimised.borrow_mut().push((key, made.clone()));
        made
    }

    fn interpret(&self, module: &Module, runtime: &mut Runtime) -> Result<String, Discard> {
        let ended = ir_interp::Interpreter::new(module, runtime)
            .and_then(|interpreter| interpreter.with_limit(STEPS).run_program());
        self.end(ended.map_err(|stopped| {
            let find = |function| Some((module, FuncRef(function)));
            let trace = report::trace(&find, &stopped.backtrace);
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
            Err((Stop::Trap(trap), trace)) if self.has_source() => {
                let first = trace.first.first();
                let line = first.map_or(0, |frame| self.sources.place(frame.span.start).line);
                Ok(format!("trap at line {line}: {trap}"))
            }
            Err((Stop::Trap(trap), _)) => Ok(format!("trap: {trap}")),
            Err((Stop::Fault(what), _)) => Ok(format!("fault: {what}")),
            Err((stop, _)) => Ok(format!("fault: {stop:?}")),
        }
    }
}

fn module(program: &Program) -> &Module {
    match program {
        Program::Toy(front) => &front.lowered.module,
        Program::Bril(front) => &front.lowered.module,
        Program::Ir(module) => module,
    }
}

fn does_not_compile(error: CompileError) -> String {
    format!("does not compile: {error}")
}

/// What the passes are told.
fn passes(engine: &Engine) -> Passes {
    (engine.passes(), engine.fuel, engine.units.is_some())
}

/// What the passes of an engine make of a Bril program, as a program again.
fn written(module: &Module, engine: &Engine, program: &bril::Program) -> Result<Subject, Discard> {
    let chosen: Vec<FuncRef> = module.functions.keys().collect();
    let mut interner = Interner::new();
    let origin = bril::Origin::Bril(program);
    let mut exported = bril::export(module, &chosen, origin, &mut interner);
    // In SSA form at every other level.
    if engine.level.is_multiple_of(2) {
        for function in &mut exported.program.functions {
            bril::coalesce(function, &mut interner);
        }
    }
    if !exported.refused.is_empty() {
        return Err(Discard::Resources);
    }
    let text = bril::print::text(&exported.program, &interner);
    match Subject::bril(&text) {
        Err(Discard::Errors(why)) => panic!("what was written is no Bril: {why}\n{text}"),
        subject => subject,
    }
}

fn toy(sources: &Sources, metered: bool) -> Result<Program, Discard> {
    let (front, diagnostics) = pipeline::front_with(sources, &[], metered, &mut Timings::new());
    let front = front.ok_or_else(|| {
        let first = diagnostics.iter().find(|d| d.severity == Severity::Error);
        Discard::Errors(first.map(|d| d.message.clone()).unwrap_or_default())
    })?;
    Ok(Program::Toy(Box::new(front)))
}

fn runtime(engine: &Engine) -> (Runtime, Captured) {
    let (output, captured) = Output::capture();
    let config = Config {
        max_heap: Some(256 << 20),
        stack_size: 64 << 20,
        fuel: engine.units,
        gc_stress: engine.gc_stress,
        output,
        input: Input::bytes(b"a line\nanother\n".to_vec()),
        args: Vec::new(),
    };
    match Runtime::new(config) {
        Ok(runtime) => (runtime, captured),
        Err(stop) => panic!("no memory for a runtime: {stop:?}"),
    }
}
