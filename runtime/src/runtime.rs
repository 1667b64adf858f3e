//! The runtime: everything that a running Toy program shares, in one value.
//!
//! Machine code reaches it through the context; the interpreters own it and call its methods.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use crate::codemap::CodeMap;
use crate::context::{Context, ContextMemory, GLOBALS, MAX_GLOBALS};
use crate::heap::Heap;
use crate::host::HostFunction;
use crate::input::Input;
use crate::interrupt::Interrupter;
use crate::layout::Slot;
use crate::output::Output;
use crate::raw::{load, store};
use crate::stack::{self, Arguments, Results, ToyStack};
use crate::statics::Statics;
use crate::trap::{Backtrace, Stop, Stopped, Trap};
use crate::types::{TypeInfo, TypeTable};

/// How a program shall run.
#[derive(Debug)]
pub struct Config {
    /// The most bytes that the heap may take; without a figure, a quarter of the machine's memory.
    pub max_heap: Option<u64>,
    /// Bytes of stack for machine code.
    pub stack_size: usize,
    /// How much fuel there is for code that burns some, each time that it is filled up; no limit where
    /// nothing is said.
    pub fuel: Option<u64>,
    /// Collect at every allocation, move what can move, poison what is freed.
    pub gc_stress: bool,
    /// Where the program prints to.
    pub output: Output,
    /// Where the program reads from.
    pub input: Input,
    /// The program's arguments.
    pub args: Vec<Vec<u8>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_heap: None,
            stack_size: 256 << 20,
            fuel: None,
            gc_stress: false,
            output: Output::stdout(),
            input: Input::stdin(),
            args: Vec::new(),
        }
    }
}

/// The state of a running program.
pub struct Runtime {
    pub(crate) context: Arc<ContextMemory>,
    pub(crate) interrupter: Interrupter,
    /// The object types.
    pub types: TypeTable,
    pub(crate) heap: Heap,
    pub(crate) statics: Statics,
    /// References that Rust code holds across allocations.
    pub roots: Roots,
    /// The machine code that may be on the stack.
    pub code: CodeMap,
    /// Where the program prints to.
    pub output: Output,
    /// Where the program reads from.
    pub input: Input,
    /// The program's arguments.
    pub args: Vec<Vec<u8>>,
    pub(crate) globals: Vec<Slot>,
    /// Regions that a Bril program has allocated and not freed.
    pub(crate) live_regions: u64,
    pub(crate) started: Instant,
    stack: Option<ToyStack>,
    stack_size: usize,
    full: u64,
    stopped: Option<Box<Stopped>>,
    /// The functions of the host, by their function values.
    pub(crate) hosts: HashMap<u64, HostFunction>,
}

impl Runtime {
    /// A runtime for one program; `Err` where the operating system gives no memory.
    pub fn new(config: Config) -> Result<Self, Stop> {
        let context = ContextMemory::new().ok_or(Trap::Memory)?;
        let interrupter = Interrupter::new(Arc::clone(&context));
        let mut output = config.output;
        output.interrupter = Some(interrupter.clone());
        let mut runtime = Self {
            interrupter,
            context,
            types: TypeTable::new(),
            heap: Heap::new(config.max_heap, config.gc_stress),
            statics: Statics::new(),
            roots: Roots::default(),
            code: CodeMap::new(),
            output,
            input: config.input,
            args: config.args,
            globals: Vec::new(),
            live_regions: 0,
            started: Instant::now(),
            stack: None,
            stack_size: config.stack_size,
            full: config.fuel.unwrap_or(u64::MAX),
            stopped: None,
            hosts: HashMap::new(),
        };
        runtime.refuel();
        Ok(runtime)
    }

    /// Uses up a unit of fuel; traps where there is none. To be called by interpreters where
    /// machine code would.
    #[inline]
    pub fn burn(&mut self) -> Result<(), Stop> {
        match self.fuel().checked_sub(1) {
            Some(left) => {
                self.set_fuel(left);
                Ok(())
            }
            None => Err(Trap::Fuel.into()),
        }
    }

    /// How many units of fuel are left.
    #[inline]
    pub fn fuel(&self) -> u64 {
        // SAFETY: the context is this runtime's own.
        unsafe { (*self.context()).fuel }
    }

    /// Sets how many units of fuel are left.
    #[inline]
    pub fn set_fuel(&mut self, units: u64) {
        // SAFETY: the context is this runtime's own.
        unsafe { (*self.context()).fuel = units };
    }

    /// Gives as much fuel again as the configuration says.
    pub fn refuel(&mut self) {
        self.set_fuel(self.full);
    }

    /// Adds an object type; its id is the answer.
    pub fn register_type(&mut self, info: TypeInfo) -> u32 {
        self.types.register(info)
    }

    /// Adds a global, 0 at first; its index is the answer.
    pub fn declare_global(&mut self, slot: Slot) -> Result<u32, Stop> {
        if self.globals.len() == MAX_GLOBALS {
            return Err(Trap::Memory.into());
        }
        self.globals.push(slot);
        Ok(self.globals.len() as u32 - 1)
    }

    /// How many globals were declared.
    #[inline]
    pub fn globals(&self) -> usize {
        self.globals.len()
    }

    /// Gives a global that nobody uses any longer to another variable, 0 at first.
    pub fn redeclare_global(&mut self, index: u32, slot: Slot) {
        self.globals[index as usize] = slot;
        self.set_global(index, 0);
    }

    /// The value of a global that was declared.
    #[inline]
    pub fn global(&self, index: u32) -> u64 {
        assert!((index as usize) < self.globals.len());
        // SAFETY: the global was declared, so that its word is in the context's memory.
        unsafe { load(self.global_address(index)) }
    }

    /// Sets a global that was declared.
    #[inline]
    pub fn set_global(&mut self, index: u32, value: u64) {
        assert!((index as usize) < self.globals.len());
        // SAFETY: the global was declared, so that its word is in the context's memory.
        unsafe { store(self.global_address(index), value) }
    }

    pub(crate) fn global_address(&self, index: u32) -> u64 {
        self.context.pointer() as u64 + GLOBALS + 8 * u64::from(index)
    }

    /// The address of the context, for `r15`.
    #[inline]
    pub fn context(&self) -> *mut Context {
        self.context.pointer()
    }

    /// Bytes of stack that a run gets.
    pub fn stack_size(&self) -> usize {
        self.stack_size
    }

    /// Sends what is printed from now on to another output.
    pub fn set_output(&mut self, output: Output) {
        self.output = output;
        self.output.interrupter = Some(self.interrupter.clone());
    }

    /// A handle to interrupt the run with.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Why the run shall end, if it shall. To be polled by interpreters.
    #[inline]
    pub fn interrupted(&self) -> Option<Trap> {
        self.interrupter.why()
    }

    /// Notes that the run ends, with the chain of calls of machine code on the stack.
    pub fn raise(&mut self, stop: Stop) {
        // SAFETY: the context is this runtime's own; machine code keeps `last_sp` up to date.
        let frames = unsafe { self.code.walk((*self.context()).last_sp) };
        let backtrace: Backtrace = frames.map(|frame| frame.frame()).collect();
        self.stopped = Some(Box::new(Stopped { stop, backtrace }));
    }

    /// Calls machine code and gives what it returned, or why it was left.
    ///
    /// # Safety
    /// `code` is the address of a Toy function that takes such arguments, follows the conventions of
    /// this crate, and is in the code map with everything that it calls.
    pub unsafe fn enter(
        &mut self,
        code: u64,
        arguments: &Arguments,
    ) -> Result<Results, Box<Stopped>> {
        if self.stack.is_none() {
            self.stack = ToyStack::new(self.stack_size);
        }
        let Some(stack) = &self.stack else {
            let backtrace = Backtrace::default();
            return Err(Box::new(Stopped { stop: Trap::Memory.into(), backtrace }));
        };
        let (top, limit) = (stack.top(), stack.limit());
        if let Err(trap) = self.interrupter.begin(limit) {
            let backtrace = Backtrace::default();
            return Err(Box::new(Stopped { stop: trap.into(), backtrace }));
        }
        let (context, roots) = (self.context(), self.roots.len());
        let mut results = Results::default();
        // SAFETY: the context is this runtime's own. While the code runs, the runtime is reached only
        // through the pointer stored here; this frame touches `self` again when the code has ended.
        let left = unsafe {
            (*context).last_sp = 0;
            (*context).runtime = self;
            let left = stack::enter(context, code, top, arguments, &mut results);
            (*context).last_sp = 0;
            left
        };
        if left == 0 {
            return Ok(results);
        }
        self.roots.truncate(roots);
        Err(self.stopped.take().unwrap_or_else(|| {
            let stop = Stop::Fault("the code was left without a reason".to_owned());
            Box::new(Stopped { stop, backtrace: Backtrace::default() })
        }))
    }
}

// SAFETY: all that the pointers inside lead to is owned by this value, but for the context's memory,
// which other threads see only through an atomic word.
unsafe impl Send for Runtime {}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("heap", &self.heap).finish_non_exhaustive()
    }
}

/// A stack of references that Rust code holds; collections update them.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    values: Vec<u64>,
}

impl Roots {
    /// Pushes a reference (or nil); its index is the answer.
    #[inline]
    pub fn push(&mut self, reference: u64) -> usize {
        self.values.push(reference);
        self.values.len() - 1
    }

    /// Takes the latest reference off.
    #[inline]
    pub fn pop(&mut self) -> u64 {
        self.values.pop().unwrap_or(0)
    }

    /// The reference at an index.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        self.values[index]
    }

    /// Replaces the reference at an index.
    #[inline]
    pub fn set(&mut self, index: usize, reference: u64) {
        self.values[index] = reference;
    }

    /// Keeps the first `len` references.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
    }

    /// How many references there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The references, to be changed in place; for interpreters that keep their frames here.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        &mut self.values
    }
}
