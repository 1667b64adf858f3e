//! The oracle: an interpreter on the typed tree.
//!
//! Written from the language reference alone, with every operation spelled out, and sharing no
//! folding or lowering with the compiler: what it prints is what a program means. It uses the
//! runtime's heap and object layout; a function value's code word is its `FuncId`.
//!
//! A value is a 64-bit word. Collections move objects, so that a reference never stays in a Rust
//! variable while something else is evaluated: it is *held* on the runtime's root stack. A frame
//! keeps its variables in two stretches, one of references (on the root stack) and one of others.

mod builtins;
mod expr;
mod frame;
mod operators;
mod stmt;

use crate::entity::Arena;
use crate::sema::hir::{FuncId, FunctionKind, Program, Ty, TyKind};
use crate::source::{Interner, Span, Trace, TraceFrame};
use frame::Layout;
use toyjit_runtime::types::FIRST_REGISTERED;
use toyjit_runtime::{Arguments, Results, Runtime, Slot, Stop, Trap, TypeInfo};

/// How many times as much stack as machine code a run gets; deeper recursion is the stack trap.
const FRAMES: usize = 4;
/// The most that it gets.
const LARGEST: usize = 4 << 30;
/// What is left of it for the runtime when the trap is raised.
const MARGIN: usize = 4 << 20;

/// A run that ended early: why and where.
#[derive(Clone, Debug)]
pub struct Halt {
    /// Why.
    pub stop: Stop,
    /// The chain of calls.
    pub trace: Trace,
}

/// The state of a run.
struct Interpreter<'a> {
    program: &'a Program,
    runtime: &'a mut Runtime,
    layouts: Arena<FuncId, Layout>,
    words: Vec<u64>,
    calls: Vec<Call>,
    /// Where the innermost trap is.
    at: Span,
    stack_limit: usize,
}

/// A call that is running.
#[derive(Clone, Copy, Debug)]
struct Call {
    function: FuncId,
    /// The place of the call it is making now.
    at: Span,
}

/// The answer of whatever may end the run.
type Run<T> = Result<T, Stop>;

/// Runs the top-level statements and then `main`; the exit code.
pub fn run(program: &Program, interner: &Interner, runtime: &mut Runtime) -> Result<i32, Halt> {
    declare(program, interner, runtime).map_err(|stop| Halt { stop, trace: Trace::default() })?;
    run_script(program, interner, runtime)?;
    run_main(program, interner, runtime)
}

/// Tells a runtime of the program's types and globals: before anything of it runs.
pub fn declare(program: &Program, interner: &Interner, runtime: &mut Runtime) -> Run<()> {
    for structure in program.structs.values() {
        let fields = structure
            .fields
            .iter()
            .map(|&(name, ty)| (interner.name(name).to_owned(), slot_of(ty)))
            .collect();
        let name = interner.name(structure.name).to_owned();
        runtime.register_type(TypeInfo::Struct { name, fields });
    }
    for (id, function) in program.functions.iter() {
        let captures =
            function.captures.iter().map(|c| slot_of(function.locals[c.inner].ty)).collect();
        let name = function.name.map(|name| interner.name(name).to_owned());
        runtime.register_type(TypeInfo::Closure { name, function: id.0, captures });
    }
    for global in program.globals.values() {
        runtime.declare_global(slot_of(global.ty))?;
    }
    Ok(())
}

/// Runs the top-level statements.
pub fn run_script(
    program: &Program,
    interner: &Interner,
    runtime: &mut Runtime,
) -> Result<(), Halt> {
    enter(program, interner, runtime, |run| run.call(program.script, &[], None)).map(drop)
}

/// Runs `main`, if there is one, the top-level statements being run; the exit code.
pub fn run_main(
    program: &Program,
    interner: &Interner,
    runtime: &mut Runtime,
) -> Result<i32, Halt> {
    let Some(main) = program.main else { return Ok(0) };
    let code = enter(program, interner, runtime, |run| {
        let args = match main.takes_args {
            true => vec![run.runtime.program_args()?],
            false => Vec::new(),
        };
        run.call(main.function, &args, None)
    })?;
    Ok(if main.returns_int { (code & 0xFF) as i32 } else { 0 })
}

/// Calls a named function with arguments of its types, as machine code passes them.
pub fn call(
    program: &Program,
    interner: &Interner,
    runtime: &mut Runtime,
    id: FuncId,
    arguments: &Arguments,
) -> Result<Results, Halt> {
    let function = &program.functions[id];
    let (mut words, mut floats) = (arguments.words.iter(), arguments.floats.iter());
    let args = function.params.iter().map(|&param| match function.locals[param].ty {
        Ty::FLOAT => floats.next().map_or(0, |float| float.to_bits()),
        _ => words.next().copied().unwrap_or(0),
    });
    let args: Vec<u64> = args.collect();
    let word = enter(program, interner, runtime, |run| run.call(id, &args, None))?;
    Ok(Results { word, float: f64::from_bits(word) })
}

/// Interprets something on a stack of its own.
fn enter(
    program: &Program,
    interner: &Interner,
    runtime: &mut Runtime,
    work: impl FnOnce(&mut Interpreter<'_>) -> Run<u64>,
) -> Result<u64, Halt> {
    let stack = runtime.stack_size().saturating_mul(FRAMES).min(LARGEST) + 2 * MARGIN;
    stacker::grow(stack, || {
        let here = std::hint::black_box(0u8);
        let top = std::ptr::from_ref(&here).addr();
        let mut interpreter = Interpreter {
            program,
            runtime,
            layouts: program.functions.values().map(Layout::of).collect(),
            words: Vec::new(),
            calls: Vec::new(),
            at: Span::default(),
            stack_limit: top - (stack - MARGIN),
        };
        let mark = interpreter.mark();
        let result = work(&mut interpreter);
        interpreter.release(mark);
        result.map_err(|stop| Halt { stop, trace: interpreter.trace(interner) })
    })
}

impl Interpreter<'_> {
    /// Calls a function. `args` are words; references among them need not be held by the caller.
    /// For a function expression, `closure` is the function value.
    fn call(&mut self, id: FuncId, args: &[u64], closure: Option<u64>) -> Run<u64> {
        let program = self.program;
        let function = &program.functions[id];
        if self.stack_is_low() {
            return Err(Trap::Stack.into());
        }
        if let Some(trap) = self.runtime.interrupted() {
            return Err(trap.into());
        }
        let frame = self.push_frame(id);
        for (&local, &word) in function.params.iter().zip(args) {
            self.set_local(&frame, local, word);
        }
        for (index, capture) in function.captures.iter().enumerate() {
            let word = self.runtime.capture(closure.unwrap_or(0), index as u32);
            self.set_local(&frame, capture.inner, word);
        }
        self.calls.push(Call { function: id, at: function.span });
        self.burn(function.span)?;
        let flow = self.block(&frame, &function.body)?;
        self.calls.pop();
        self.pop_frame(&frame);
        Ok(match flow {
            stmt::Flow::Return(word) => word,
            _ => 0,
        })
    }

    fn stack_is_low(&self) -> bool {
        let here = std::hint::black_box(0u8);
        std::ptr::from_ref(&here).addr() < self.stack_limit
    }

    /// Gives a stop that a trap at `span` makes.
    fn stop_at<T>(&mut self, span: Span, stop: impl Into<Stop>) -> Run<T> {
        self.at = span;
        Err(stop.into())
    }

    /// Passes a result on; where it is a stop, its place is `span`.
    fn at<T, E: Into<Stop>>(&mut self, span: Span, result: Result<T, E>) -> Run<T> {
        result.or_else(|stop| self.stop_at(span, stop))
    }

    fn trace(&self, interner: &Interner) -> Trace {
        let len = self.calls.len();
        Trace::from_chain(len, |depth| {
            let call = self.calls[len - 1 - depth];
            let span = if depth == 0 && self.at != Span::default() { self.at } else { call.at };
            TraceFrame { function: function_name(self.program, interner, call.function), span }
        })
    }

    fn struct_type(&self, structure: crate::sema::hir::StructId) -> u32 {
        FIRST_REGISTERED + structure.0
    }

    fn closure_type(&self, function: FuncId) -> u32 {
        FIRST_REGISTERED + self.program.structs.len() as u32 + function.0
    }

    fn kind(&self, ty: Ty) -> &TyKind {
        self.program.types.kind(ty)
    }
}

/// What a variable, field or element of a type holds.
fn slot_of(ty: Ty) -> Slot {
    match ty {
        Ty::FLOAT => Slot::Float,
        Ty::BOOL => Slot::Bool,
        Ty::BYTE => Slot::Byte,
        ty if ty.is_ref() => Slot::Ref,
        _ => Slot::Int,
    }
}

fn function_name(program: &Program, interner: &Interner, id: FuncId) -> String {
    let function = &program.functions[id];
    match (function.kind, function.name) {
        (FunctionKind::Script, _) => "top level".to_owned(),
        (_, Some(name)) => interner.name(name).to_owned(),
        (_, None) => "function expression".to_owned(),
    }
}
