//! The interpreter of the IR, in both forms.
//!
//! It is a judge, not an engine: it does exactly what the text says and complains where the text
//! makes no sense. The arguments of an edge become the target's parameters all at once. What was
//! never assigned is poison, and reading it ends the run with a fault; so does a load from nil, from
//! an object of another type, or past a buffer's end, all of which the checks should have kept out.
//!
//! Calls of Toy functions use a stack of frames of its own. A frame's references live in the
//! runtime's roots, where the collector finds and updates them; its other values live in one vector
//! of words.
//!
//! `Module` (verified), `Runtime`, arguments → the result, or why the run ended early and where. In
//! the chain of calls `function` is the [`FuncRef`] that ran and `loc` its location, which tells the
//! inlined calls.

mod layout;
mod objects;
mod steps;

pub use self::steps::Steps;

use self::layout::{Layout, Place};
use super::function::{Block, ENTRY, Edge, FuncRef, Function, Inst, Terminator, Value};
use super::load::Loaded;
use super::module::Module;
use super::op::Op;
use super::print::Printer;
use crate::entity::Entity;
use smallvec::SmallVec;
use toyjit_runtime::{Backtrace, Frame as Call, Runtime, Stop, Stopped, Trap};

/// How many calls may be open.
const MAX_FRAMES: usize = 1 << 17;
/// How many values the frames may hold together.
const MAX_SLOTS: usize = 1 << 26;

/// Runs a function of a module.
pub fn run(
    module: &Module,
    runtime: &mut Runtime,
    function: FuncRef,
    args: &[u64],
) -> Result<Option<u64>, Box<Stopped>> {
    Interpreter::new(module, runtime)?.run(function, args)
}

/// Runs a program: the script, then `main`. The exit code is the answer.
pub fn run_program(module: &Module, runtime: &mut Runtime) -> Result<i32, Box<Stopped>> {
    Interpreter::new(module, runtime)?.run_program()
}

/// An interpreter with a module that the runtime knows.
pub struct Interpreter<'a> {
    module: &'a Module,
    runtime: &'a mut Runtime,
    loaded: Loaded,
    layouts: Vec<Option<Layout>>,
    frames: Vec<Frame>,
    words: Vec<u64>,
    /// Whether a value of a frame was assigned; as long as `words`.
    assigned: Vec<bool>,
    steps: Steps,
}

/// An open call.
#[derive(Clone, Copy)]
struct Frame {
    function: FuncRef,
    block: Block,
    /// The place in the block of the instruction to come.
    next: u32,
    /// Where its words and its roots begin.
    words: u32,
    roots: u32,
}

type Operands = SmallVec<[u64; 4]>;

impl<'a> Interpreter<'a> {
    /// Loads a module into a runtime that it was made for.
    pub fn new(module: &'a Module, runtime: &'a mut Runtime) -> Result<Self, Box<Stopped>> {
        let loaded = module.load(runtime).map_err(nowhere)?;
        for (function, &value) in loaded.closures.iter().filter(|(_, value)| **value != 0) {
            runtime.set_code(value, u64::from(function.0));
        }
        Ok(Self {
            module,
            runtime,
            loaded,
            layouts: module.functions.keys().map(|_| None).collect(),
            frames: Vec::new(),
            words: Vec::new(),
            assigned: Vec::new(),
            steps: Steps::at_most(u64::MAX),
        })
    }

    /// Ends the run with the time trap after so many instructions.
    pub fn with_limit(self, steps: u64) -> Self {
        Self { steps: Steps::at_most(steps), ..self }
    }

    /// How many instructions have run.
    pub fn steps(&self) -> u64 {
        self.steps.taken()
    }

    /// Runs a function.
    pub fn run(&mut self, function: FuncRef, args: &[u64]) -> Result<Option<u64>, Box<Stopped>> {
        let roots = self.runtime.roots.len();
        let result = self.enter(function, args).and_then(|()| self.execute());
        let result = result.map_err(|stop| {
            let backtrace = self.frames.iter().rev().map(|frame| self.call_of(frame)).collect();
            Box::new(Stopped { stop, backtrace })
        });
        self.frames.clear();
        self.words.clear();
        self.assigned.clear();
        self.runtime.roots.truncate(roots);
        result
    }

    /// Runs the script, then `main`.
    pub fn run_program(&mut self) -> Result<i32, Box<Stopped>> {
        let result = self.run_parts();
        let flushed = self.runtime.output.flush();
        let code = match result {
            Err(stopped) if let Stop::Exit(code) = stopped.stop => code,
            result => result?,
        };
        flushed.map_err(nowhere)?;
        Ok(code)
    }

    fn run_parts(&mut self) -> Result<i32, Box<Stopped>> {
        if let Some(script) = self.module.script {
            self.run(script, &[])?;
        }
        let Some((main, takes_args, gives_code)) = self.module.main else { return Ok(0) };
        let mut args = Vec::new();
        if takes_args {
            let list = self.runtime.program_args();
            args.push(list.map_err(nowhere)?);
        }
        let code = self.run(main, &args)?;
        Ok(code.filter(|_| gives_code).map_or(0, |code| (code & 0xFF) as i32))
    }

    /// The place that an open call has come to.
    fn call_of(&self, frame: &Frame) -> Call {
        let function = &self.module.functions[frame.function];
        let block = &function.blocks[frame.block];
        let at = (frame.next as usize).checked_sub(1).and_then(|at| block.insts.get(at));
        let loc = at.map_or(block.loc, |&inst| function.insts[inst].loc);
        Call { function: frame.function.0, loc: loc.0 }
    }

    /// Opens a call.
    fn enter(&mut self, id: FuncRef, args: &[u64]) -> Result<(), Stop> {
        let Some(function) = self.module.functions.get(id) else {
            return fault(format!("there is no function {id}"));
        };
        let layout = self.layouts[id.index()].get_or_insert_with(|| Layout::new(function));
        let words = self.words.len();
        if self.frames.len() >= MAX_FRAMES || words + layout.words as usize > MAX_SLOTS {
            return Err(Trap::Stack.into());
        }
        let roots = self.runtime.roots.len();
        self.words.resize(words + layout.words as usize, 0);
        self.assigned.resize(words + layout.words as usize, false);
        (0..layout.roots).for_each(|_| _ = self.runtime.roots.push(0));
        let (words, roots) = (words as u32, roots as u32);
        self.frames.push(Frame { function: id, block: ENTRY, next: 0, words, roots });
        let params = &function.blocks[ENTRY].params;
        if params.len() != args.len() {
            let name = &function.name;
            return fault(format!("@{name} takes {} arguments, not {}", params.len(), args.len()));
        }
        params.iter().zip(args).for_each(|(&param, &arg)| self.assign(param, arg));
        Ok(())
    }

    /// Closes the innermost call.
    fn leave(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.words.truncate(frame.words as usize);
            self.assigned.truncate(frame.words as usize);
            self.runtime.roots.truncate(frame.roots as usize);
        }
    }

    fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn place(&self, value: Value) -> Place {
        match &self.layouts[self.frame().function.index()] {
            Some(layout) => layout.places[value],
            None => Place::Nowhere,
        }
    }

    fn read(&self, value: Value) -> Result<u64, Stop> {
        let frame = self.frame();
        let (word, root) = match self.place(value) {
            Place::Word(word) => (frame.words + word, None),
            Place::Root(word, root) => (frame.words + word, Some(frame.roots + root)),
            Place::Bits(bits) => return Ok(bits),
            Place::Str(string) => return Ok(self.loaded.strings[string]),
            Place::Func(function) => return Ok(self.loaded.closures[function]),
            Place::Nowhere => return fault(format!("{value} has no place")),
        };
        if !self.assigned[word as usize] {
            let function = &self.module.functions[frame.function];
            let name = Printer::new(self.module).value(function, value);
            return fault(format!("{name} is used, but was never assigned"));
        }
        Ok(root.map_or(self.words[word as usize], |root| self.runtime.roots.get(root as usize)))
    }

    fn read_all(&self, values: &[Value]) -> Result<Operands, Stop> {
        values.iter().map(|&value| self.read(value)).collect()
    }

    fn assign(&mut self, value: Value, bits: u64) {
        let frame = *self.frame();
        match self.place(value) {
            Place::Word(word) => {
                self.words[(frame.words + word) as usize] = bits;
                self.assigned[(frame.words + word) as usize] = true;
            }
            Place::Root(word, root) => {
                self.runtime.roots.set((frame.roots + root) as usize, bits);
                self.assigned[(frame.words + word) as usize] = true;
            }
            Place::Bits(_) | Place::Str(_) | Place::Func(_) | Place::Nowhere => {}
        }
    }

    /// Runs until the outermost call returns.
    fn execute(&mut self) -> Result<Option<u64>, Stop> {
        loop {
            self.steps.take(self.runtime)?;
            let frame = *self.frame();
            let function = &self.module.functions[frame.function];
            let block = &function.blocks[frame.block];
            self.frame_mut().next += 1;
            if let Some(&inst) = block.insts.get(frame.next as usize) {
                self.inst(function, inst)?;
            } else if let Some(result) = self.terminator(&block.terminator)? {
                return Ok(result);
            }
        }
    }

    /// Ends a block; the result, where the outermost call returns.
    fn terminator(&mut self, terminator: &Terminator) -> Result<Option<Option<u64>>, Stop> {
        match terminator {
            Terminator::Jump(edge) => self.follow(edge)?,
            Terminator::Branch { op, args, edges } => {
                let args = self.read_all(args)?;
                let holds = match op.info().eval {
                    Some(eval) => eval(&args),
                    None => objects::identity(*op, &args),
                };
                match holds {
                    Some(holds) => self.follow(&edges[usize::from(holds == 0)])?,
                    None => return fault(format!("{} is no comparison", op.info().name)),
                }
            }
            Terminator::Switch(switch) => {
                let value = self.read(switch.value)?;
                self.follow(&switch.edges[switch.edge_for(value as i64)])?;
            }
            Terminator::Return(value) => {
                let result = value.map(|value| self.read(value)).transpose()?;
                self.leave();
                let Some(frame) = self.frames.last() else { return Ok(Some(result)) };
                let function = &self.module.functions[frame.function];
                let call = function.blocks[frame.block].insts[frame.next as usize - 1];
                if let (Some(into), Some(result)) = (function.insts[call].result, result) {
                    self.assign(into, result);
                }
            }
            Terminator::Unreachable => return fault("control came to an unreachable place"),
        }
        Ok(None)
    }

    fn follow(&mut self, edge: &Edge) -> Result<(), Stop> {
        let args = self.read_all(&edge.args)?;
        let module = self.module;
        let function = &module.functions[self.frame().function];
        let frame = self.frame_mut();
        (frame.block, frame.next) = (edge.target, 0);
        let params = &function.blocks[edge.target].params;
        params.iter().zip(&args).for_each(|(&param, &arg)| self.assign(param, arg));
        Ok(())
    }

    fn inst(&mut self, function: &Function, inst: Inst) -> Result<(), Stop> {
        let data = &function.insts[inst];
        let args = self.read_all(function.args(inst))?;
        let result = match data.op.info().eval {
            Some(eval) => match eval(&args) {
                Some(word) => Some(word),
                None => return Err(failed_check(data.op, &args)),
            },
            None => self.object_op(data.op, data.imm, &args)?,
        };
        if let (Some(into), Some(word)) = (data.result, result) {
            self.assign(into, word);
        }
        Ok(())
    }
}

/// The trap of a check whose evaluation function gave none.
fn failed_check(op: Op, args: &[u64]) -> Stop {
    match (op, args) {
        (Op::CheckBounds, &[index, len]) => Trap::Index { index: index as i64, len }.into(),
        (Op::CheckDiv, _) => Trap::Division.into(),
        _ => Stop::Fault(format!("{} has no result for {args:?}", op.info().name)),
    }
}

/// A stop outside of any function.
fn nowhere(stop: Stop) -> Box<Stopped> {
    Box::new(Stopped { stop, backtrace: Backtrace::default() })
}

fn fault<T>(message: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Fault(message.into()))
}
