//! The whole flow, from text to machine code that runs.
//!
//! ```text
//! source ─ syntax::parse ─ AST ─ sema::check ─ HIR ─ lower ─ CFG over variables
//!  ─ analysis::check_flow ─ ssa::construct ─ opt::run ─ SSA
//!  ─ Target::select ─ VCode ─ regalloc ─ Target::emit ─ bytes ─ jit::link ─ run in place
//! ```

use crate::analysis;
use crate::analysis::facts::Facts;
use crate::bril;
use crate::interp::Halt;
use crate::ir::{FuncRef, Module};
use crate::jit::{self, LinkError, Linked};
use crate::lower::{self, Lowered};
use crate::mach::{Allocation, CompiledFunction, Copies, Target, VCode};
use crate::opt::{self, Observer};
use crate::regalloc;
use crate::report::trace;
use crate::sema::{self, Checked, HostHead, hir};
use crate::source::{Diagnostic, Interner, Severity, Sources, Trace};
use crate::ssa::{self, Construction, Folding};
use crate::syntax;
use crate::timing::Timings;
use crate::x64::{Features, Stub, X64};
use std::fmt;
use toyjit_runtime::{Arguments, Results, Runtime, Stop, Stopped};

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
    /// Whether a program runs once: nobody sees after a trap what memory holds.
    pub once: bool,
    /// What of the processor may be used.
    pub features: Features,
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
            features: Features::detect(),
        }
    }
}

/// A program that has passed the front end.
#[derive(Debug)]
pub struct Front {
    /// The names.
    pub interner: Interner,
    /// The typed tree.
    pub program: hir::Program,
    /// The CFG, in the variable form.
    pub lowered: Lowered,
}

/// Parses and checks the files of `sources`: everything up to the CFG, and all that is to be said
/// of it. A program comes out only where nothing of that is an error.
pub fn front(sources: &Sources, timings: &mut Timings) -> (Option<Front>, Vec<Diagnostic>) {
    front_with(sources, &[], false, timings)
}

/// The same for a program that may call functions of the host, and whose code burns fuel where it is
/// `metered`.
pub fn front_with(
    sources: &Sources,
    hosts: &[HostHead],
    metered: bool,
    timings: &mut Timings,
) -> (Option<Front>, Vec<Diagnostic>) {
    stacker::maybe_grow(FRONT_RED_ZONE, FRONT_STACK, || {
        let mut interner = Interner::new();
        let (ast, mut diagnostics) =
            timings.time("parse", || syntax::parse(sources, 0, &mut interner));
        let (checked, said) =
            timings.time("check", || sema::check_with(hosts, &ast, &mut interner));
        drop(ast);
        let syntax_is_right = !has_errors(&diagnostics);
        diagnostics.extend(said);
        let mut program = match checked {
            Checked::Whole(program) if syntax_is_right => program,
            Checked::Partly(program) if syntax_is_right => {
                diagnostics.extend(errors_of_flow(&program, &interner));
                diagnostics.sort_by_key(|d| d.span().start);
                return (None, diagnostics);
            }
            _ => return (None, diagnostics),
        };
        program.metered = metered;
        let lowered = timings.time("lower", || lower::lower(&program, &interner));
        diagnostics
            .extend(timings.time("flow", || analysis::check_flow(&lowered.module, &lowered.facts)));
        let front = Front { interner, program, lowered };
        ((!has_errors(&diagnostics)).then_some(front), diagnostics)
    })
}

/// A Bril program that has passed the front end.
#[derive(Debug)]
pub struct BrilFront {
    /// The checked program.
    pub program: bril::Program,
    /// The CFG, in the variable form.
    pub lowered: Lowered,
}

/// Parses, checks and lowers a Bril program, whose main file is in `sources`; the files that it
/// imports are added.
pub fn bril(
    sources: &mut Sources,
    form: bril::Form,
    checks: bril::Checks,
    load: bril::Loader<'_>,
    timings: &mut Timings,
) -> (Option<BrilFront>, Vec<Diagnostic>) {
    let read = timings.time("check", || bril::read(sources, form, load));
    let front = read.program.map(|program| {
        let module = timings.time("lower", || bril::lower(&program, checks));
        BrilFront { program, lowered: Lowered { module, facts: Facts::default() } }
    });
    (front, read.diagnostics)
}

/// What of a program whose other functions have errors is wrong on some path.
fn errors_of_flow(program: &hir::Program, interner: &Interner) -> Vec<Diagnostic> {
    let lowered = lower::lower(program, interner);
    let mut said = analysis::check_flow(&lowered.module, &lowered.facts);
    said.retain(|d| d.severity == Severity::Error);
    said
}

/// The front end recurses on the nesting of the source (at most 1,000 levels).
pub(crate) const FRONT_STACK: usize = 256 << 20;
pub(crate) const FRONT_RED_ZONE: usize = 64 << 20;

pub(crate) fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// Variable form to optimised SSA form.
pub fn middle(
    module: &mut Module,
    options: &Options,
    timings: &mut Timings,
    observer: &mut dyn Observer,
) {
    timings.time("ssa", || construct(module, options));
    optimise(module, options, timings, observer);
}

/// Variable form to SSA form.
pub fn construct(module: &mut Module, options: &Options) {
    for function in module.functions.values_mut() {
        let construction = options.construction.unwrap_or_else(|| ssa::choose(function));
        ssa::construct(function, construction, Folding::On);
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

/// A program in executable memory.
#[derive(Debug)]
pub struct Executable {
    module: Module,
    linked: Linked,
}

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
    module: Module,
    options: &Options,
    runtime: &mut Runtime,
    timings: &mut Timings,
) -> Result<Executable, CompileError> {
    let functions = machine_code(&module, options, timings)?;
    let linked = timings.time("link", || {
        let loaded = module.load(runtime).map_err(CompileError::Load)?;
        jit::link(&module, &functions, &Stub::ALL.map(Stub::code), &loaded, runtime)
            .map_err(CompileError::Link)
    })?;
    Ok(Executable { module, linked })
}

/// Optimised SSA form to machine code that is not in place yet.
pub fn machine_code(
    module: &Module,
    options: &Options,
    timings: &mut Timings,
) -> Result<Vec<CompiledFunction>, CompileError> {
    let mut target = X64::new(options.features);
    target.polls = options.polls;
    if options.few_registers {
        target = target.with_few_registers();
    }
    let mut functions = Vec::with_capacity(module.functions.len());
    for function in module.functions.keys() {
        functions.push(back(&target, module, function, options, timings)?.compiled);
    }
    Ok(functions)
}

impl Executable {
    /// Runs the top-level statements and then `main`; the exit code.
    pub fn run(&self, runtime: &mut Runtime) -> Result<i32, Halt> {
        self.run_script(runtime)?;
        self.run_main(runtime)
    }

    /// Runs the top-level statements.
    pub fn run_script(&self, runtime: &mut Runtime) -> Result<(), Halt> {
        if let Some(script) = self.module.script {
            self.call(runtime, script, &Arguments::default())?;
        }
        Ok(())
    }

    /// Runs `main`, if there is one, its top-level statements being run; the exit code.
    pub fn run_main(&self, runtime: &mut Runtime) -> Result<i32, Halt> {
        let Some((main, takes_args, returns_int)) = self.module.main else { return Ok(0) };
        let mut arguments = Arguments::default();
        if takes_args {
            let args = runtime.program_args();
            arguments.words[0] = args.map_err(|stop| Halt { stop, trace: Trace::default() })?;
        }
        let code = self.call(runtime, main, &arguments)?.word;
        Ok(if returns_int { (code & 0xFF) as i32 } else { 0 })
    }

    /// How many bytes of code memory it takes.
    pub fn code_bytes(&self) -> usize {
        self.linked.len()
    }

    /// Calls a function of the module with arguments of its types; what it uses must be there.
    pub(crate) fn call(
        &self,
        runtime: &mut Runtime,
        function: FuncRef,
        arguments: &Arguments,
    ) -> Result<Results, Halt> {
        let called = self.linked.call(runtime, function, arguments);
        called.map_err(|stopped| self.halt(*stopped))
    }

    fn halt(&self, stopped: Stopped) -> Halt {
        let function = |number| Some((&self.module, FuncRef(number)));
        Halt { stop: stopped.stop, trace: trace(&function, &stopped.backtrace) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn codes(text: &str) -> Vec<&'static str> {
        let mut sources = Sources::new();
        sources.add("test.toy", text);
        let (front, said) = front(&sources, &mut Timings::new());
        assert_eq!(front.is_none(), has_errors(&said));
        said.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect()
    }

    /// Programs with one or two words in the wrong place: whatever they mean, there is an answer, and
    /// what is handed on is well formed.
    #[test]
    fn broken_programs_have_answers() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let texts = paths.filter(|path| path.extension().is_some_and(|e| e == "toy"));
        let texts = texts.filter_map(|path| std::fs::read_to_string(path).ok());
        let mut texts: Vec<String> = texts.filter(|text| text.len() < 3_000).collect();
        texts.sort();
        arbtest::arbtest(|u| {
            let mut text = u.choose(&texts)?.clone();
            let tokens = syntax::lossless(&text);
            let words: Vec<_> = tokens.into_iter().filter(|(t, _)| t.is_operand()).collect();
            if words.is_empty() {
                return Ok(());
            }
            for _ in 0..u.int_in_range(1..=2)? {
                let (_, place) = u.choose(&words)?.clone();
                let by = text.get(u.choose(&words)?.1.clone()).unwrap_or("x").to_owned();
                if text.get(place.clone()).is_some() {
                    text.replace_range(place, &by);
                }
            }
            let mut sources = Sources::new();
            sources.add("broken.toy", text.as_str());
            let (front, said) = front(&sources, &mut Timings::new());
            assert_eq!(front.is_none(), has_errors(&said), "{text}");
            if let Some(front) = front {
                let verified = crate::ir::verify::verify_module(&front.lowered.module);
                assert!(verified.is_ok(), "{text}: {verified:?}");
            }
            Ok(())
        })
        .budget(Duration::from_secs(2));
    }

    #[test]
    fn functions_without_errors_are_checked_to_the_end() {
        let flow = "fn g(n: int) -> int { if n > 0 { return 1; } } ";
        let unassigned = "fn h() -> int { var x: int; return x; } ";
        let wrong = "fn f() -> int { let x: int = \"a\"; } ";
        assert_eq!(codes(&format!("{wrong}{flow}{unassigned}")), ["E0301", "E0502", "E0501"]);
        assert_eq!(codes(&format!("{flow}print(g(nothing));")), ["E0502", "E0201"]);
        // What is wrong in a function goes no further than that function.
        let lambda = "fn f() -> int { let g = fn() -> int { }; return 1 + true; } fn h() { f(); }";
        assert_eq!(codes(lambda), ["E0302"]);
        let early = "let a = f(); let b = 1; fn f() -> int { return b; } ";
        assert_eq!(codes(&format!("{early}fn g() {{ nothing(); }}")), ["E0503", "E0201"]);
        // Who uses a declaration without a type knows nothing of the mistake.
        assert_eq!(codes(&format!("let t = 1 + true; {flow}")), ["E0302"]);
        assert_eq!(codes(&format!("fn f(x: nothing) {{ }} {flow}")), ["E0202"]);
        assert_eq!(codes(&format!("{flow}fn f() {{")), ["E0112"]);
    }
}
