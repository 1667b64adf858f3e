use super::*;
use crate::ir::generate::{self, Rng, Shape};
use crate::ir::interp::Interpreter;
use crate::ir::verify::verify_module;
use crate::ir::{Form, parse};
use crate::ssa::{Construction, Folding, construct};
use toyjit_runtime::{Config, Input, Output, Runtime, Stop, Trap};

type Outcome = (Vec<u8>, Result<i32, Stop>);

/// What a program prints, and how it ends.
fn outcome(module: &Module) -> Outcome {
    let (output, captured) = Output::capture();
    let input = Input::bytes(Vec::new());
    let config = Config { output, input, ..Config::default() };
    let mut runtime = Runtime::new(config).unwrap();
    let result = Interpreter::new(module, &mut runtime).unwrap().with_limit(1 << 20).run_program();
    (captured.take(), result.map_err(|stopped| stopped.stop))
}

#[track_caller]
fn expect(expected: &Outcome, before: &str, module: &Module, what: &str) {
    if let Err(errors) = verify_module(module) {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!(
            "{what}:\n{}\nbefore:\n{before}\nafter:\n{}",
            errors.join("\n"),
            print::module(module)
        );
    }
    let actual = outcome(module);
    if actual != *expected {
        let shown = |(printed, result): &Outcome| {
            format!("{result:?} {}", String::from_utf8_lossy(printed))
        };
        panic!(
            "{what}: {} became {}\nbefore:\n{before}\nafter:\n{}",
            shown(expected),
            shown(&actual),
            print::module(module)
        );
    }
}

/// Applies `change` to each function of a module.
fn each_function(module: &mut Module, mut change: impl FnMut(&Module, FuncRef, &mut Function)) {
    for id in module.functions.keys() {
        let empty = Function::new("", id, Signature::default());
        let mut function = std::mem::replace(&mut module.functions[id], empty);
        change(module, id, &mut function);
        module.functions[id] = function;
    }
}

/// Constructs SSA form, then runs passes in a random order; after each step the program must be
/// well formed and mean what it meant.
fn random_program(seed: u64, shape: &Shape) {
    let mut rng = Rng::new(seed);
    let form = if rng.percent(70) { Form::Variable } else { Form::Ssa };
    let mut module = generate::module(&mut rng, &Shape { form, ..*shape });
    let expected = outcome(&module);
    if matches!(expected.1, Err(Stop::Trap(Trap::Time))) {
        return;
    }
    let folding = if rng.percent(50) { Folding::On } else { Folding::Off };
    let before = print::module(&module);
    each_function(&mut module, |_, _, f| construct(f, Construction::Braun, folding));
    expect(&expected, &before, &module, &format!("seed {seed}: ssa"));
    let mut fuel = Fuel::default();
    let in_order = rng.percent(50);
    for step in 0..PASSES.len() {
        let pass = if in_order { &PASSES[step] } else { &PASSES[rng.below(PASSES.len())] };
        let before = print::module(&module);
        each_function(&mut module, |module, id, f| {
            (pass.run)(f, &mut Context { module, id, fuel: &mut fuel });
        });
        expect(&expected, &before, &module, &format!("seed {seed}: {}", pass.name));
    }
}

#[test]
fn random_programs_keep_their_meaning() {
    let from = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let count = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(300);
    for seed in from..from + count {
        random_program(seed, &Shape::default());
    }
}
