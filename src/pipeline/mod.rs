//! The whole flow, from text to machine code that runs.
//!
//! ```text
//! source ─ syntax::parse ─ AST ─ sema::check ─ HIR ─ lower ─ CFG over variables
//!  ─ analysis::check_flow ─ ssa::construct ─ opt::run ─ SSA
//!  ─ Target::select ─ VCode ─ regalloc ─ Target::emit ─ bytes ─ jit::link ─ run in place
//! ```

mod executable;
mod front;
mod machine;

pub use executable::Executable;
pub use front::{BrilFront, Front, bril, front, front_with};
pub(crate) use front::{FRONT_RED_ZONE, FRONT_STACK, has_errors};
pub use machine::{machine_code, machine_code_in_place_of};

use crate::ir::{FuncRef, Module};
use crate::jit::{self, LinkError};
use crate::mach::{Allocation, CompiledFunction, Copies, Target, VCode};
use crate::opt::{self, Observer};
use crate::profile;
use crate::regalloc;
use crate::ssa::{self, Construction, Folding};
use crate::timing::Timings;
use crate::x64::{Features, Stub, X64};
use std::fmt;
use toyjit_runtime::{Runtime, Stop};

/// How a program is compiled.
#[derive(Clone, Debug)]
pub struct Options {
    /// Optimisation level, 0 to 3.
    pub level: u8,
    /// Whether the IR is verified after each pass and each allocation is checked.
    pub verify: bool,
    /// Names of passes to leave out.
    pub disabled: Vec<String>,
    /// How SSA form is constructed; by size where nothing is said.
    pub construction: Option<Construction>,
    /// Whether every value is kept in its spill slot (a test of the compiler).
    pub spill_everything: bool,
    /// How many rewrites the passes may make in all, to find the first wrong one by bisection.
    pub fuel: Option<u64>,
    /// Whether the observer is told what the passes say of their work.
    pub remarks: bool,
    /// Whether values have few registers only (a test of the compiler).
    pub few_registers: bool,
    /// Whether a run can be ended from outside while it is in a loop.
    pub polls: bool,
    /// Whether calls and rounds of loops burn fuel.
    pub metered: bool,
    /// Whether a program runs once, from its beginning: nobody sees after a trap what memory holds, and
    /// nobody calls its functions by their names.
    pub once: bool,
    /// Whether functions that nobody is left to call lose their code.
    pub drop_unused: bool,
    /// Whether programs count how often each of their blocks runs.
    pub counted: bool,
    /// What of the processor may be used.
    pub features: Features,
    /// How many threads may make machine code at once; where nothing is said, one for each processor.
    pub threads: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            level: 2,
            verify: cfg!(debug_assertions),
            disabled: Vec::new(),
            construction: None,
            spill_everything: false,
            fuel: None,
            remarks: false,
            few_registers: false,
            polls: true,
            metered: false,
            once: false,
            drop_unused: false,
            counted: false,
            features: Features::detect(),
            threads: None,
        }
    }
}

/// Variable form to optimised SSA form.
pub fn middle(
    module: &mut Module,
    options: &Options,
    timings: &mut Timings,
    observer: &mut dyn Observer,
) {
    timings.time("ssa", || construct(module, options, Folding::On));
    optimise(module, options, timings, observer);
}

/// Variable form to SSA form.
pub fn construct(module: &mut Module, options: &Options, folding: Folding) {
    for function in module.functions.values_mut() {
        let construction = options.construction.unwrap_or_else(|| ssa::choose(function));
        ssa::construct(function, construction, folding);
    }
}

/// SSA form to optimised SSA form.
pub fn optimise(
    module: &mut Module,
    options: &Options,
    timings: &mut Timings,
    observer: &mut dyn Observer,
) {
    let passes = opt::Options {
        level: options.level,
        disabled: options.disabled.clone(),
        verify: options.verify,
        fuel: options.fuel,
        remarks: options.remarks,
        drop_unused: options.drop_unused,
    };
    timings.time("opt", || opt::run(module, &passes, observer));
}

/// A function on its way through the back end.
#[derive(Debug)]
pub struct Backed<I> {
    /// Instructions over virtual registers.
    pub code: VCode<I>,
    /// Their registers.
    pub allocation: Allocation,
    /// The machine code.
    pub compiled: CompiledFunction,
}

/// Optimised SSA form of one function to machine code.
pub fn back<T: Target>(
    target: &T,
    module: &Module,
    function: FuncRef,
    options: &Options,
    timings: &mut Timings,
) -> Result<Backed<T::Inst>, CompileError> {
    let code = timings.time("select", || target.select(module, function));
    selected(target, code, options, timings)
}

/// Instructions over virtual registers to machine code.
fn selected<T: Target>(
    target: &T,
    code: VCode<T::Inst>,
    options: &Options,
    timings: &mut Timings,
) -> Result<Backed<T::Inst>, CompileError> {
    let how = regalloc::Options { spill_everything: options.spill_everything };
    let registers = target.registers();
    let allocation = timings.time("regalloc", || regalloc::allocate(&code, registers, &how));
    timings.copies += Copies::count(&code, &allocation);
    if options.verify {
        timings
            .time("verify", || regalloc::checker::check(&code, &allocation, registers))
            .map_err(|error| CompileError::Allocation(code.name.clone(), error.to_string()))?;
    }
    let compiled = timings.time("emit", || target.emit(&code, &allocation));
    Ok(Backed { code, allocation, compiled })
}

/// Why a checked program could not be compiled: a fault of the compiler or of the machine.
#[derive(Debug)]
pub enum CompileError {
    /// The allocation of a function is wrong.
    Allocation(String, String),
    /// The code could not be linked.
    Link(LinkError),
    /// The runtime can't hold the program.
    Load(Stop),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Allocation(name, what) => {
                write!(f, "wrong register allocation in `{name}`: {what}")
            }
            CompileError::Link(error) => write!(f, "{error}"),
            CompileError::Load(stop) => write!(f, "the program does not fit: {stop:?}"),
        }
    }
}

impl std::error::Error for CompileError {}

/// Compiles a program that passed the front end, for one runtime.
pub fn compile(
    front: Front,
    options: &Options,
    runtime: &mut Runtime,
    timings: &mut Timings,
) -> Result<Executable, CompileError> {
    let Front { interner, program, lowered } = front;
    drop((interner, program, lowered.facts));
    compile_module(lowered.module, options, runtime, timings)
}

/// Compiles a module in variable form, for one runtime.
pub fn compile_module(
    mut module: Module,
    options: &Options,
    runtime: &mut Runtime,
    timings: &mut Timings,
) -> Result<Executable, CompileError> {
    let mut passes = std::mem::take(&mut timings.passes);
    middle(&mut module, options, timings, &mut passes);
    timings.passes = passes;
    generate(module, options, runtime, timings)
}

/// Optimised SSA form to machine code, for one runtime.
pub fn generate(
    mut module: Module,
    options: &Options,
    runtime: &mut Runtime,
    timings: &mut Timings,
) -> Result<Executable, CompileError> {
    let counters = options.counted.then(|| profile::count(&mut module));
    let functions = machine_code_in_place_of(&mut module, options, timings)?;
    let linked = linked(&module, &functions, runtime, timings)?;
    Ok(Executable::new(module, linked, counters))
}

/// A module's machine code put in place, for one runtime.
pub fn link(
    module: Module,
    functions: &[CompiledFunction],
    runtime: &mut Runtime,
    timings: &mut Timings,
) -> Result<Executable, CompileError> {
    let linked = linked(&module, functions, runtime, timings)?;
    Ok(Executable::new(module, linked, None))
}

fn linked(
    module: &Module,
    functions: &[CompiledFunction],
    runtime: &mut Runtime,
    timings: &mut Timings,
) -> Result<jit::Linked, CompileError> {
    timings.time("link", || {
        let loaded = module.load(runtime).map_err(CompileError::Load)?;
        jit::link(module, functions, &Stub::ALL.map(Stub::code), &loaded, runtime)
            .map_err(CompileError::Link)
    })
}

/// The machine that options compile for.
pub fn target(options: &Options) -> X64 {
    let mut target = X64::new(options.features);
    target.polls = options.polls;
    if options.few_registers {
        target = target.with_few_registers();
    }
    target
}
