//! What file tests can do with a module: ACTIONS turn it into text, ENGINES call its functions.
//! A new stage of the compiler gets a row in one or both.

use std::env;

use toyjit::analysis::board::Ways;
use toyjit::analysis::graph::Graph;
use toyjit::analysis::problems;
use toyjit::ir::interp::Interpreter;
use toyjit::ir::verify::verify;
use toyjit::ir::{Cfg, FuncRef, Function, Module, Type, print};
use toyjit::jit;
use toyjit::opt::{self, Context, Fuel, PASSES, Pass};
use toyjit::pipeline::{self, Options};
use toyjit::ssa::{self, Construction, Folding};
use toyjit::timing::Timings;
use toyjit::x64::{Stub, X64};
use toyjit_runtime::{Arguments, Captured, Config, Input, Output, Runtime, Stop, Stopped};

/// Turns a module into the text that is compared. Arguments are the words behind its name.
pub type Action = fn(&Module, &[&str]) -> Result<String, String>;

/// What a `test` line may ask for, beside `verify`.
pub const ACTIONS: &[(&str, Action)] = &[
    ("print", |module, _| Ok(print::module(module))),
    ("ssa", |module, args| {
        let folding = if args.contains(&"fold") { Folding::On } else { Folding::Off };
        let construction = args.iter().find_map(|name| Construction::from_name(name));
        constructed(module, construction.unwrap_or_default(), folding)
            .map(|module| print::module(&module))
    }),
    ("analyze", |module, args| {
        let row = args.first().and_then(|name| problems::named(name)).ok_or("no such problem")?;
        let text = module.functions.values().map(|f| {
            let board = (row.draw)(module, f, &Cfg::compute(f), Ways::Rounds);
            board.text(module, f, row, args.contains(&"trace"))
        });
        Ok(text.collect())
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
    ("interpreter on every SSA form", |module, function, args| {
        let of = |construction: Construction| {
            interpret(&constructed(module, construction, Folding::On)?, function, args)
        };
        let result = of(Construction::default());
        match Construction::ALL.into_iter().find(|&construction| of(construction) != result) {
            Some(other) => Err(format!("{result:?}, but {:?} by {}", of(other), other.name())),
            None => result,
        }
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
    ("machine code -O0", |module, function, args| machine(0, false, module, function, args)),
    ("machine code -O1", |module, function, args| machine(1, false, module, function, args)),
    ("machine code -O2", |module, function, args| machine(2, false, module, function, args)),
    ("machine code -O3", |module, function, args| machine(3, false, module, function, args)),
    ("machine code, all spilled", |module, function, args| {
        machine(2, true, module, function, args)
    }),
];

/// Steps that an interpreter may take.
const STEPS: u64 = 10_000_000;

/// The module in SSA form, verified.
fn in_ssa(module: &Module, folding: Folding) -> Result<Module, String> {
    constructed(module, Construction::default(), folding)
}

/// The module in the SSA form that a construction makes, verified.
fn constructed(
    module: &Module,
    construction: Construction,
    folding: Folding,
) -> Result<Module, String> {
    let mut module = module.clone();
    for function in module.functions.values_mut() {
        ssa::construct(function, construction, folding);
    }
    check(&module, "SSA construction")?;
    opt::summaries::find(&mut module);
    Ok(module)
}

fn run_pass(module: &mut Module, pass: &Pass) -> Result<(), String> {
    let mut fuel = Fuel::new(None);
    for id in module.functions.keys() {
        let Function { name, signature, .. } = &module.functions[id];
        let empty = Function::new(name.clone(), id, signature.clone());
        let mut function = std::mem::replace(&mut module.functions[id], empty);
        let remarks = &mut opt::remark::Remarks::default();
        // As `opt::run` does: only the last pass knows of switches.
        toyjit::ir::switch::open(&mut function);
        (pass.run)(
            &mut function,
            &mut Context { module, id, fuel: &mut fuel, remarks, graph: &mut Graph::default() },
        );
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

fn machine(
    level: u8,
    spill_everything: bool,
    module: &Module,
    function: FuncRef,
    args: &[u64],
) -> Result<Option<u64>, String> {
    let (mut runtime, _) = runtime()?;
    let (mut module, mut timings) = (module.clone(), Timings::default());
    let options = Options { level, spill_everything, verify: true, ..Options::default() };
    pipeline::middle(&mut module, &options, &mut timings, &mut () as &mut dyn opt::Observer);
    let target = X64::native();
    let compile = |id| {
        let backed = pipeline::back(&target, &module, id, &options, &mut Timings::default());
        backed.map(|backed| backed.compiled).map_err(|error| error.to_string())
    };
    let functions = module.functions.keys().map(compile).collect::<Result<Vec<_>, _>>()?;
    let loaded = module.load(&mut runtime).map_err(|stop| reason(&stop))?;
    let stubs = Stub::ALL.map(Stub::code);
    let linked = jit::link(&module, &functions, &stubs, &loaded, &mut runtime)
        .map_err(|error| error.to_string())?;
    let signature = &module.functions[function].signature;
    let mut arguments = Arguments::default();
    let (mut words, mut floats) = (0, 0);
    for (&ty, &arg) in signature.params.iter().zip(args) {
        if ty == Type::Float {
            arguments.floats[floats] = f64::from_bits(arg);
            floats += 1;
        } else {
            arguments.words[words] = arg;
            words += 1;
        }
    }
    match linked.call(&mut runtime, function, &arguments) {
        Ok(results) => Ok(signature.result.map(|ty| match ty {
            Type::Float => results.float.to_bits(),
            _ => results.word,
        })),
        Err(stopped) => Err(reason(&stopped.stop)),
    }
}
