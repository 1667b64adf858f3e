//! The oracle for Bril: an interpreter of checked programs, written from Bril's documentation.
//!
//! Every operation is spelled out here; of the runtime it uses the output, the arguments and the
//! limits alone. A frame is a stretch of one stack of values: variables, then the shadows that
//! `get` reads, then one place for each `phi`, which takes its value as control enters its block.
//! Calls do not recurse. Memory is a table of regions whose numbers are never used twice.
//!
//! Program, `Runtime` → how many instructions ran, and how it ended.

mod memory;
mod operators;

use self::operators::{argument, binary, unary};
use crate::bril::program::{Base, Constant, Func, Function, Inst, Kind, Label, Program, Var};
use crate::entity::{Arena, Entity};
use crate::interp::Halt;
use crate::ir::interp::Steps;
use crate::source::{Trace, TraceFrame};
use toyjit_runtime::{Runtime, Stop, Trap};

/// A value, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Nothing,
    Undef,
    Int(i64),
    Bool(bool),
    Float(f64),
    Char(char),
    Pointer(u32, i64),
}

/// An open call.
#[derive(Clone, Copy)]
struct Frame {
    function: Func,
    /// The instruction to come.
    next: u32,
    /// Where its values begin.
    base: u32,
    /// Where the caller wants the result.
    dest: Option<Var>,
    /// The label that was passed last.
    label: Option<Label>,
}

/// What the interpreter wants to know of a function beforehand.
struct Layout {
    /// Values of a frame.
    size: u32,
    /// For each phi, by its instruction: its place, and the first instruction of its block.
    phis: Vec<(u32, u32)>,
    /// The labels in the order of their places, where there are phis.
    labels: Vec<(u32, Label)>,
}

/// Stack that a frame is taken to need, for the limit of the depth.
const FRAME: usize = 128;

type Run<T> = Result<T, Stop>;

struct Interpreter<'a> {
    program: &'a Program,
    layouts: Arena<Func, Layout>,
    runtime: &'a mut Runtime,
    frames: Vec<Frame>,
    values: Vec<Value>,
    memory: Vec<Option<Box<[Value]>>>,
    live: u64,
    steps: Steps,
}

/// Runs a program; the number of instructions that ran, and why it ended early. After `limit`
/// instructions it is out of time.
pub fn run(program: &Program, runtime: &mut Runtime, limit: u64) -> (u64, Result<i32, Halt>) {
    let mut interpreter = Interpreter {
        program,
        layouts: program.functions.values().map(Layout::of).collect(),
        runtime,
        frames: Vec::new(),
        values: Vec::new(),
        memory: Vec::new(),
        live: 0,
        steps: Steps::at_most(limit),
    };
    let result = interpreter.main();
    let result = result.map(|()| 0).map_err(|stop| Halt { stop, trace: interpreter.trace() });
    (interpreter.steps.taken(), result)
}

impl Layout {
    fn of(f: &Function) -> Layout {
        let has_get = f.code.iter().any(|inst| matches!(inst.kind, Kind::Get(_)));
        let mut size = f.vars.len() as u32 * if has_get { 2 } else { 1 };
        let mut starts: Vec<u32> = f.labels.values().map(|label| label.at).collect();
        starts.extend(
            (0..f.code.len()).filter(|&at| f.code[at].kind.ends_block()).map(|at| at as u32 + 1),
        );
        starts.sort_unstable();
        let mut phis = Vec::new();
        for (at, inst) in f.code.iter().enumerate() {
            if matches!(inst.kind, Kind::Phi(..)) {
                let before = starts.partition_point(|&start| start <= at as u32);
                let start = before.checked_sub(1).map_or(0, |i| starts[i]);
                phis.push((at as u32, start));
                size += 1;
            }
        }
        let mut labels = Vec::new();
        if !phis.is_empty() {
            labels.extend(f.labels.iter().map(|(label, data)| (data.at, label)));
        }
        Layout { size, phis, labels }
    }

    /// The place of a phi behind the other values.
    fn phi(&self, at: u32) -> u32 {
        let number = self.phis.partition_point(|&(phi, _)| phi < at) as u32;
        self.size - self.phis.len() as u32 + number
    }
}

fn error<T>(message: impl Into<String>) -> Run<T> {
    Err(Trap::Panic(message.into().into_bytes()).into())
}

impl Interpreter<'_> {
    fn main(&mut self) -> Run<()> {
        let program = self.program;
        let Some(main) = program.main else { return Ok(()) };
        let params = &program.functions[main].params;
        let given = self.runtime.args.clone();
        if given.len() != params.len() {
            let (wanted, given) = (params.len(), given.len());
            let s = if wanted == 1 { "" } else { "s" };
            return error(format!("@main takes {wanted} argument{s}, {given} given"));
        }
        let mut args = Vec::new();
        for (number, (&param, text)) in params.iter().zip(&given).enumerate() {
            let base = program.functions[main].vars[param].ty.base;
            let text = String::from_utf8_lossy(text);
            match argument(&text, base) {
                Some(value) => args.push(value),
                None => {
                    let wanted = match base {
                        Base::Int => "an int",
                        Base::Bool => "true or false",
                        Base::Float => "a float",
                        Base::Char => "one character",
                    };
                    let number = number + 1;
                    return error(format!("argument {number} of @main is `{text}`, not {wanted}"));
                }
            }
        }
        self.enter(main, &args, None)?;
        while !self.frames.is_empty() {
            self.step()?;
        }
        match self.live {
            0 => Ok(()),
            1 => error("memory that was allocated has not been freed at the end"),
            n => error(format!("memory of {n} allocations has not been freed at the end")),
        }
    }

    fn trace(&self) -> Trace {
        let len = self.frames.len();
        if len == 0 {
            // Before or after `main`.
            let main = self.program.main.map(|main| self.program.functions[main].span);
            let span = main.unwrap_or_default();
            return Trace::from_chain(1, |_| TraceFrame { function: "top level".into(), span });
        }
        Trace::from_chain(len, |depth| {
            let frame = self.frames[len - 1 - depth];
            let f = &self.program.functions[frame.function];
            let at = (frame.next as usize).checked_sub(1);
            let span = at.and_then(|at| f.code.get(at)).map_or(f.end, |inst| inst.span);
            TraceFrame { function: f.name.clone(), span }
        })
    }

    fn enter(&mut self, function: Func, args: &[Value], dest: Option<Var>) -> Run<()> {
        if self.frames.len() >= self.runtime.stack_size() / FRAME {
            return Err(Trap::Stack.into());
        }
        let base = self.values.len();
        let size = self.layouts[function].size as usize;
        self.values.resize(base + size, Value::Nothing);
        let frame = Frame { function, next: 0, base: base as u32, dest, label: None };
        self.frames.push(frame);
        for (&param, &arg) in self.program.functions[function].params.iter().zip(args) {
            self.values[base + param.index()] = arg;
        }
        self.arrive(None)
    }

    fn frame(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Passes the labels at the instruction to come, from one of them on where it was jumped to,
    /// and gives the phis of the block their values.
    fn arrive(&mut self, target: Option<Label>) -> Run<()> {
        let program = self.program;
        let frame = *self.frame();
        let layout = &self.layouts[frame.function];
        if layout.phis.is_empty() {
            return Ok(());
        }
        let at = frame.next;
        let first = layout.labels.partition_point(|&(place, _)| place < at);
        let here = layout.labels[first..].iter().take_while(|&&(place, _)| place == at);
        let mut way = frame.label;
        let mut label = frame.label;
        for &(_, passed) in here.filter(|&&(_, l)| target.is_none_or(|target| l >= target)) {
            (way, label) = (label, Some(passed));
        }
        let first = layout.phis.partition_point(|&(_, start)| start < at);
        let count = layout.phis[first..].iter().take_while(|&&(_, start)| start == at).count();
        let code = &program.functions[frame.function].code;
        for number in first..first + count {
            let layout = &self.layouts[frame.function];
            let phi = layout.phis[number].0;
            let place = layout.phi(phi);
            let Kind::Phi(_, ways) = &code[phi as usize].kind else { continue };
            let found = ways.iter().find(|&&(label, _)| Some(label) == way);
            let value = match found {
                Some(&(_, var)) => self.values[frame.base as usize + var.index()],
                None => Value::Nothing,
            };
            self.values[(frame.base + place) as usize] = value;
        }
        self.frame().label = label;
        Ok(())
    }

    /// Does one instruction, or leaves a function at its end.
    fn step(&mut self) -> Run<()> {
        let program = self.program;
        let frame = *self.frame();
        let f = &program.functions[frame.function];
        let Some(inst) = f.code.get(frame.next as usize) else {
            if f.result.is_some() {
                self.frame().next += 1;
                return error(format!("@{} ends without a value to give back", f.name));
            }
            return self.leave(None);
        };
        self.steps.take(self.runtime)?;
        self.frame().next += 1;
        self.inst(frame, f, inst)
    }

    fn leave(&mut self, result: Option<Value>) -> Run<()> {
        let Some(left) = self.frames.pop() else { return Ok(()) };
        self.values.truncate(left.base as usize);
        if let (Some(dest), Some(value), Some(frame)) = (left.dest, result, self.frames.last()) {
            self.values[frame.base as usize + dest.index()] = value;
        }
        match self.frames.is_empty() {
            true => Ok(()),
            false => self.arrive(None),
        }
    }

    fn jump(&mut self, f: &Function, label: Label) -> Run<()> {
        self.frame().next = f.labels[label].at;
        self.arrive(Some(label))
    }

    /// A variable that must have a value.
    fn get(&self, frame: Frame, f: &Function, var: Var) -> Run<Value> {
        match self.values[frame.base as usize + var.index()] {
            Value::Nothing => error(format!("undefined variable `{}`", f.vars[var].name)),
            Value::Undef => error(format!("`{}` is undef, which has no value", f.vars[var].name)),
            value => Ok(value),
        }
    }

    /// A variable that may be `undef`.
    fn copy(&self, frame: Frame, f: &Function, var: Var) -> Run<Value> {
        match self.values[frame.base as usize + var.index()] {
            Value::Nothing => error(format!("undefined variable `{}`", f.vars[var].name)),
            value => Ok(value),
        }
    }

    fn int(&self, frame: Frame, f: &Function, var: Var) -> Run<i64> {
        match self.get(frame, f, var)? {
            Value::Int(value) => Ok(value),
            value => wrong(value),
        }
    }

    fn pointer(&self, frame: Frame, f: &Function, var: Var) -> Run<(u32, i64)> {
        match self.get(frame, f, var)? {
            Value::Pointer(region, index) => Ok((region, index)),
            value => wrong(value),
        }
    }

    fn inst(&mut self, frame: Frame, f: &Function, inst: &Inst) -> Run<()> {
        let at = frame.next;
        let (dest, value) = match &inst.kind {
            &Kind::Const(dest, constant) => (
                dest,
                match constant {
                    Constant::Int(value) => Value::Int(value),
                    Constant::Bool(value) => Value::Bool(value),
                    Constant::Float(value) => Value::Float(value),
                    Constant::Char(value) => Value::Char(value),
                },
            ),
            &Kind::Unary(op, dest, arg) => (dest, unary(op, self.get(frame, f, arg)?)?),
            &Kind::Binary(op, dest, [a, b]) => {
                let (a, b) = (self.get(frame, f, a)?, self.get(frame, f, b)?);
                (dest, binary(op, a, b)?)
            }
            &Kind::Id(dest, arg) => (dest, self.copy(frame, f, arg)?),
            &Kind::Bitcast(dest, arg) => {
                let to = f.vars[dest].ty;
                (
                    dest,
                    match (self.get(frame, f, arg)?, to.base) {
                        (Value::Int(bits), Base::Float) if !to.is_pointer() => {
                            Value::Float(f64::from_bits(bits as u64))
                        }
                        (Value::Float(value), Base::Int) if !to.is_pointer() => {
                            Value::Int(value.to_bits() as i64)
                        }
                        (value, _) => value,
                    },
                )
            }
            &Kind::Jmp(label) => return self.jump(f, label),
            &Kind::Br(arg, [yes, no]) => {
                return match self.get(frame, f, arg)? {
                    Value::Bool(true) => self.jump(f, yes),
                    Value::Bool(false) => self.jump(f, no),
                    value => wrong(value),
                };
            }
            Kind::Ret(None) => return self.leave(None),
            &Kind::Ret(Some(arg)) => {
                let value = self.get(frame, f, arg)?;
                return self.leave(Some(value));
            }
            Kind::Call(dest, callee, args) => {
                let values: Run<Vec<Value>> =
                    args.iter().map(|&arg| self.get(frame, f, arg)).collect();
                return self.enter(*callee, &values?, *dest);
            }
            Kind::Print(args) => {
                self.print(frame, f, args)?;
                return self.arrive(None);
            }
            Kind::Nop => return self.arrive(None),
            &Kind::Alloc(dest, count) => {
                let count = self.int(frame, f, count)?;
                if count <= 0 {
                    return error(format!("cannot allocate {count} elements"));
                }
                (dest, self.alloc(count)?)
            }
            &Kind::Free(pointer) => {
                let (region, index) = self.pointer(frame, f, pointer)?;
                self.free(region, index)?;
                return self.arrive(None);
            }
            &Kind::Store(pointer, value) => {
                let (region, index) = self.pointer(frame, f, pointer)?;
                let value = self.get(frame, f, value)?;
                *self.element(region, index)? = value;
                return self.arrive(None);
            }
            &Kind::Load(dest, pointer) => {
                let (region, index) = self.pointer(frame, f, pointer)?;
                match *self.element(region, index)? {
                    Value::Nothing => {
                        return error(format!("element {index} is loaded, but was never stored"));
                    }
                    value => (dest, value),
                }
            }
            &Kind::PtrAdd(dest, pointer, by) => {
                let (region, index) = self.pointer(frame, f, pointer)?;
                let by = self.int(frame, f, by)?;
                (dest, Value::Pointer(region, index.wrapping_add(by)))
            }
            &Kind::Phi(dest, _) => {
                let place = frame.base + self.layouts[frame.function].phi(at);
                match self.values[place as usize] {
                    Value::Nothing => {
                        let name = &f.vars[dest].name;
                        return error(format!(
                            "the `phi` of `{name}` has no value for the way here"
                        ));
                    }
                    value => (dest, value),
                }
            }
            &Kind::Set(shadow, arg) => {
                let value = self.copy(frame, f, arg)?;
                if let Some(shadow) = shadow {
                    self.values[frame.base as usize + f.vars.len() + shadow.index()] = value;
                }
                return self.arrive(None);
            }
            &Kind::Get(dest) => {
                match self.values[frame.base as usize + f.vars.len() + dest.index()] {
                    Value::Nothing => {
                        let name = &f.vars[dest].name;
                        return error(format!("`get` of `{name}` without a `set` before"));
                    }
                    value => (dest, value),
                }
            }
            &Kind::Undef(dest) => (dest, Value::Undef),
        };
        self.values[frame.base as usize + dest.index()] = value;
        self.arrive(None)
    }

    fn print(&mut self, frame: Frame, f: &Function, args: &[Var]) -> Run<()> {
        let values: Run<Vec<Value>> = args.iter().map(|&arg| self.get(frame, f, arg)).collect();
        for (number, value) in values?.into_iter().enumerate() {
            if number > 0 {
                self.runtime.output.put(b" ")?;
            }
            match value {
                Value::Int(value) => self.runtime.output.put(value.to_string().as_bytes())?,
                Value::Bool(value) => self.runtime.output.put(value.to_string().as_bytes())?,
                Value::Float(value) => self.runtime.print_bril_float(value)?,
                Value::Char(value) => self.runtime.output.put(value.to_string().as_bytes())?,
                Value::Pointer(_, index) => {
                    self.runtime.output.put(format!("[{index}]").as_bytes())?;
                }
                Value::Nothing | Value::Undef => {}
            }
        }
        self.runtime.output.put(b"\n")
    }
}

/// What a checked program can't come to.
fn wrong<T>(value: Value) -> Run<T> {
    Err(Stop::Fault(format!("a value of the wrong type: {value:?}")))
}
