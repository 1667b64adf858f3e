//! A compiled program with its heap and globals.

use super::code::Code;
use super::program::{Program, Tree};
use super::values::sealed;
use super::watch::Watch;
use super::{Arguments, CompileError, Diagnostics, Function, FunctionError, Returned};
use super::{HeapStats, Stop, Stopped, Trap};
use crate::analysis::facts::Facts;
use crate::interp::Halt;
use crate::ir::FuncRef;
use crate::lower::Lowered;
use crate::profile::{Profile, program_hash};
use crate::sema::display_ty;
use crate::sema::hir::{self, FunctionKind, GlobalId, Ty, TyKind};
use crate::source::{Interner, Sources, Trace};
use crate::timing::Timings;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use toyjit_runtime::{Captured, Input, Interrupter, Output, Results, Runtime};

/// A compiled program, ready to be run and called.
#[derive(Debug)]
pub struct Module {
    pub(super) id: u64,
    pub(super) runtime: Runtime,
    code: Code,
    sources: Arc<Sources>,
    warnings: Diagnostics,
    functions: BTreeMap<String, Exported>,
    timings: Timings,
    /// Globals that are never nil and were declared without a value.
    late: Vec<(u32, String)>,
    state: State,
    timeout: Option<Duration>,
    metered: bool,
    level: u8,
}

/// Whether the top-level statements have run.
#[derive(Clone, Debug)]
enum State {
    Fresh,
    Ready,
    Failed(Stopped),
}

#[derive(Debug)]
struct Exported {
    function: FuncRef,
    /// That of all functions of its type.
    signature: Arc<Signature>,
}

#[derive(Debug)]
struct Signature {
    params: Vec<Ty>,
    result: Ty,
    shown: String,
}

static MODULES: AtomicU64 = AtomicU64::new(0);

impl Module {
    pub(super) fn new(program: Program) -> Result<Self, CompileError> {
        let Program { engine, sources, warnings, mut timings, tree, lowered } = program;
        let functions = if engine.options.once { BTreeMap::new() } else { exported(&tree) };
        let Lowered { module, facts } = lowered;
        let late = late(&tree, &facts);
        drop(facts);
        let mut runtime = Runtime::new(engine.config()).map_err(CompileError::Limit)?;
        let code = match tree {
            Tree::Ir => {
                let why = "a module of the IR can be looked at, but not run".to_owned();
                return Err(CompileError::Ir(vec![why]));
            }
            Tree::Toy(program, interner) if engine.interpreted => {
                Code::tree(&engine, program, interner, &mut runtime)?
            }
            Tree::Bril(program) if engine.interpreted => {
                Code::Bril(Box::new(program), AtomicU64::new(0))
            }
            tree => {
                drop(tree);
                Code::machine(&engine, module, &mut runtime, &mut timings)?
            }
        };
        Ok(Self {
            id: MODULES.fetch_add(1, Ordering::Relaxed),
            runtime,
            code,
            sources,
            warnings,
            functions,
            timings,
            late,
            state: State::Fresh,
            timeout: engine.timeout,
            metered: engine.fuel.is_some(),
            level: engine.options.level,
        })
    }

    /// The warnings that the program got.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// The program's text.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// How long each stage took: those of compilation, and `run` for all runs together.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// What was allocated, and what collecting it cost.
    pub fn heap_stats(&self) -> HeapStats {
        self.runtime.heap_stats()
    }

    /// How many bytes of machine code there are; none where the interpreter runs.
    pub fn code_bytes(&self) -> Option<usize> {
        match &self.code {
            Code::Machine(executable) => Some(executable.code_bytes()),
            _ => None,
        }
    }

    /// How often each block has run so far, where the engine lets programs count that.
    pub fn profile(&self) -> Option<Profile> {
        let Code::Machine(executable) = &self.code else { return None };
        let (code, functions) = executable.counts(&self.runtime)?;
        let program = program_hash(&self.sources);
        Some(Profile { level: self.level, program, code, functions })
    }

    /// How many instructions the last run of a Bril program took, where its interpreter ran it.
    pub fn steps(&self) -> Option<u64> {
        match &self.code {
            Code::Bril(_, executed) => Some(executed.load(Ordering::Relaxed)),
            _ => None,
        }
    }

    /// Sends what the program prints from now on to `output`.
    pub fn set_output(&mut self, output: Output) {
        self.runtime.set_output(output);
    }

    /// Keeps what the program prints from now on in memory, to be taken from the handle.
    pub fn capture(&mut self) -> Captured {
        let (output, captured) = Output::capture();
        self.runtime.set_output(output);
        captured
    }

    /// Lets the program read from `input`.
    pub fn set_input(&mut self, input: Input) {
        self.runtime.input = input;
    }

    /// A handle that ends a call from another thread.
    pub fn interrupter(&self) -> Interrupter {
        self.runtime.interrupter()
    }

    /// How much fuel the latest call from Rust left, where there is a limit.
    pub fn fuel_left(&self) -> Option<u64> {
        self.metered.then(|| self.runtime.fuel())
    }

    /// Runs the top-level statements, unless they have run. Where they ended early once, the module's
    /// globals have no values, and every call gives that answer again.
    pub fn start(&mut self) -> Result<(), Stopped> {
        match &self.state {
            State::Ready => return Ok(()),
            State::Failed(stopped) => return Err(stopped.clone()),
            State::Fresh => {}
        }
        self.runtime.refuel();
        let ran = self.watched(|code, runtime| code.run_script(runtime));
        let ran = ran.and_then(|()| match self.missing() {
            Some(name) => {
                let why = format!("the global `{name}` has got no value");
                let stop = Stop::Trap(Trap::Panic(why.into_bytes()));
                Err(self.stopped(Halt { stop, trace: Trace::default() }))
            }
            None => Ok(()),
        });
        self.state = match &ran {
            Ok(()) => State::Ready,
            Err(stopped) => State::Failed(stopped.clone()),
        };
        ran
    }

    /// Runs the top-level statements, unless they have run, and then `main`; the exit code.
    pub fn run(&mut self) -> Result<i32, Stopped> {
        self.runtime.refuel();
        match &self.state {
            State::Fresh => {
                let script = self.watched(|code, runtime| code.run_script(runtime));
                if let Err(stopped) = script {
                    self.state = State::Failed(stopped.clone());
                    return Err(stopped);
                }
                if self.missing().is_none() {
                    self.state = State::Ready;
                }
            }
            State::Ready => {}
            State::Failed(stopped) => return Err(stopped.clone()),
        }
        self.watched(|code, runtime| code.run_main(runtime))
    }

    /// The handle of a function, for arguments `A` (a tuple) and a result `R`.
    pub fn function<A: Arguments, R: Returned>(
        &self,
        name: &str,
    ) -> Result<Function<A, R>, FunctionError> {
        let Some(exported) = self.functions.get(name) else {
            return Err(FunctionError::Unknown { name: name.to_owned() });
        };
        let params = <A as sealed::Arguments>::types();
        let result = <R as sealed::Returned>::TYPE;
        let signature = &exported.signature;
        if params != signature.params || result != signature.result {
            let params: Vec<&str> = params.into_iter().map(basic_name).collect();
            let declared = signature.shown.clone();
            return Err(FunctionError::Signature {
                declared,
                wanted: shown(&params, basic_name(result)),
            });
        }
        Ok(Function { function: exported.function, module: self.id, types: PhantomData })
    }

    /// The names of the program's functions, with their signatures.
    pub fn functions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.functions.iter().map(|(name, Exported { signature, .. })| (&**name, &*signature.shown))
    }

    pub(super) fn passing<T>(
        &mut self,
        pass: impl FnOnce(&mut Runtime) -> Result<T, Stop>,
    ) -> Result<T, Stopped> {
        pass(&mut self.runtime).map_err(|stop| self.stopped(Halt { stop, trace: Trace::default() }))
    }

    pub(super) fn call(
        &mut self,
        function: FuncRef,
        arguments: &toyjit_runtime::Arguments,
    ) -> Result<Results, Stopped> {
        self.runtime.refuel();
        self.watched(|code, runtime| code.call(runtime, function, arguments))
    }

    /// Runs code under the time limit, and writes out what it printed.
    fn watched<T>(
        &mut self,
        run: impl FnOnce(&Code, &mut Runtime) -> Result<T, Halt>,
    ) -> Result<T, Stopped> {
        let interrupter = self.runtime.interrupter();
        let watch = self.timeout.map(|limit| Watch::over(interrupter.clone(), limit));
        let limited = watch.is_some();
        let Self { code, runtime, timings, .. } = self;
        let result = timings.time("run", || run(code, runtime));
        drop(watch);
        if limited || result.is_err() || interrupter.why().is_some() {
            interrupter.clear();
        }
        let flushed = self.runtime.output.flush();
        let result = result.and_then(|value| match flushed {
            Ok(()) => Ok(value),
            Err(stop) => Err(Halt { stop, trace: Trace::default() }),
        });
        result.map_err(|halt| self.stopped(halt))
    }

    fn stopped(&self, halt: Halt) -> Stopped {
        Stopped { stop: halt.stop, trace: halt.trace, sources: Arc::clone(&self.sources) }
    }

    /// A global without a value that is never nil.
    fn missing(&self) -> Option<&str> {
        let missing = self.late.iter().find(|(global, _)| self.runtime.global(*global) == 0);
        missing.map(|(_, name)| name.as_str())
    }
}

/// The globals of a program that may never get a value, although they must have one.
fn late(tree: &Tree, facts: &Facts) -> Vec<(u32, String)> {
    let Tree::Toy(program, interner) = tree else { return Vec::new() };
    let late = facts.globals.iter().filter(|(_, about)| about.late);
    late.filter_map(|(id, _)| {
        let global = program.globals.get(GlobalId(id.0))?;
        let never_nil = global.ty.is_ref() && program.types.strip_optional(global.ty) == global.ty;
        never_nil.then(|| (id.0, interner.name(global.name).to_owned()))
    })
    .collect()
}

/// The functions of a Toy program that have names, to make handles of.
fn exported(tree: &Tree) -> BTreeMap<String, Exported> {
    let Tree::Toy(program, interner) = tree else { return BTreeMap::new() };
    let own = program.functions.iter().skip(program.hosts);
    let named = own.filter(|(_, f)| f.kind == FunctionKind::Named);
    let mut signatures: FxHashMap<Ty, Arc<Signature>> = FxHashMap::default();
    named
        .filter_map(|(id, function)| {
            let name = interner.name(function.name?).to_owned();
            let signature = match signatures.get(&function.ty) {
                Some(known) => Arc::clone(known),
                None => {
                    let new = Arc::new(signature(program, interner, function.ty)?);
                    signatures.insert(function.ty, Arc::clone(&new));
                    new
                }
            };
            Some((name, Exported { function: FuncRef(id.0 - program.hosts as u32), signature }))
        })
        .collect()
}

fn signature(program: &hir::Program, interner: &Interner, ty: Ty) -> Option<Signature> {
    let TyKind::Function(params, result) = program.types.kind(ty) else { return None };
    let show = |ty: Ty| display_ty(&program.types, &program.structs, interner, ty);
    let names: Vec<String> = params.iter().map(|&ty| show(ty)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let result_name = if *result == Ty::UNIT { "()".to_owned() } else { show(*result) };
    let shown = shown(&names, &result_name);
    Some(Signature { params: params.to_vec(), result: *result, shown })
}

fn shown(params: &[&str], result: &str) -> String {
    match result {
        "()" => format!("fn({})", params.join(", ")),
        _ => format!("fn({}) -> {result}", params.join(", ")),
    }
}

fn basic_name(ty: Ty) -> &'static str {
    match ty {
        Ty::INT => "int",
        Ty::FLOAT => "float",
        Ty::BOOL => "bool",
        Ty::BYTE => "byte",
        Ty::STR => "str",
        _ => "()",
    }
}
