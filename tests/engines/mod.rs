//! What file tests can do with a module: ACTIONS turn it into text, ENGINES call its functions.
//! A new stage of the compiler gets a row in one or both.

use std::env;

use toyjit::ir::interp::Interpreter;
use toyjit::ir::verify::verify;
use toyjit::ir::{FuncRef, Function, Module, print};
use toyjit::opt::{Context, Fuel, PASSES, Pass};
use toyjit::ssa::{self, Construction, Folding};
use toyjit_runtime::{Captured, Config, Input, Output, Runtime, Stop, Stopped};

/// Turns a module into the text that is compared. Arguments are the words behind its name.
pub type Action = fn(&Module, &[&str]) -> Result<String, String>;

/// What a `test` line may ask for, beside `verify`.
pub const ACTIONS: &[(&str, Action)] = &[
    ("print", |module, _| Ok(print::module(module))),
    ("ssa", |module, args| {
        let folding = if args.contains(&"fold") { Folding::On } else { Folding::Off };
        in_ssa(module, folding).map(|module| print::module(&module))
    }),
    ("opt", |module, passes| {
        let mut module = in_ssa(module, Folding::Off)?;
        for name in passes {
            let pass = PASSES.iter().find(|pass| pass.name == *name);
            run_pass(&mut module, pass.ok_or_else(|| format!("there is no pass {name}"))?)?;
        }
        Ok(print::module(&module))
    }),
];

/// Calls a function. The result's word, the message of a trap, or `fault: …`.
pub type Engine = fn(&Module, FuncRef, &[u64]) -> Result<Option<u64>, String>;

/// What a `run` line is tried with.
pub const ENGINES: &[(&str, Engine)] = &[
    ("interpreter", interpret),
    ("interpreter on SSA form", |module, function, args| {
        interpret(&in_ssa(module, Folding::Off)?, function, args)
    }),
    ("interpreter after each pass", |module, function, args| {
        let mut module = in_ssa(module, Folding::On)?;
        let mut result = interpret(&module, function, args);
        for pass in PASSES {
            run_pass(&mut module, pass)?;
            let next = interpret(&module, function, args);
            if next != result {
                return Err(format!("{} changes {result:?} to {next:?}", pass.name));
            }
            result = next;
        }
        result
    }),
];

/// Steps that an interpreter may take.
const STEPS: u64 = 10_000_000;

/// The module in SSA form, verified.
fn in_ssa(module: &Module, folding: Folding) -> Result<Module, String> {
    let mut module = module.clone();
    for function in module.functions.values_mut() {
        ssa::construct(function, Construction::default(), folding);
    }
    check(&module, "SSA construction")?;
    Ok(module)
}

fn run_pass(module: &mut Module, pass: &Pass) -> Result<(), String> {
    let mut fuel = Fuel::new(None);
    for id in module.functions.keys() {
        let Function { name, signature, .. } = &module.functions[id];
        let empty = Function::new(name.clone(), id, signature.clone());
        let mut function = std::mem::replace(&mut module.functions[id], empty);
        (pass.run)(&mut function, &mut Context { module, id, fuel: &mut fuel });
        module.functions[id] = function;
    }
    check(module, pass.name)
}

fn check(module: &Module, stage: &str) -> Result<(), String> {
    for function in module.functions.values() {
        if let Err(errors) = verify(module, function) {
            return Err(format!("{stage}: {}\n{}", errors[0], print::module(module)));
        }
    }
    Ok(())
}

/// A runtime whose output can be taken.
pub fn runtime() -> Result<(Runtime, Captured), String> {
    let (output, captured) = Output::capture();
    let gc_stress = env::var_os("GC_STRESS").is_some();
    let config = Config { output, input: Input::bytes(Vec::new()), gc_stress, ..Config::default() };
    Runtime::new(config).map(|runtime| (runtime, captured)).map_err(|stop| reason(&stop))
}

/// Why a run ended, in a few words.
pub fn reason(stop: &Stop) -> String {
    match stop {
        Stop::Trap(trap) => trap.to_string(),
        Stop::Fault(message) => format!("fault: {message}"),
        stop => format!("{stop:?}"),
    }
}

fn interpret(module: &Module, function: FuncRef, args: &[u64]) -> Result<Option<u64>, String> {
    let (mut runtime, _) = runtime()?;
    Interpreter::new(module, &mut runtime)
        .and_then(|interpreter| interpreter.with_limit(STEPS).run(function, args))
        .map_err(|stopped| reason(&stopped.stop))
}

/// How a program ended.
pub type Ended = Result<i32, Box<Stopped>>;

/// Runs the script and main; what was printed, and how it ended.
pub fn run_program(module: &Module) -> Result<(Vec<u8>, Ended), String> {
    let (mut runtime, captured) = runtime()?;
    let result = Interpreter::new(module, &mut runtime)
        .and_then(|interpreter| interpreter.with_limit(STEPS).run_program());
    Ok((captured.take(), result))
}
