//! Random modules through SSA construction and the optimiser: what a program prints, and how it
//! ends, must stay the same, after each pass alone and after all of them. `SEEDS=from..to` picks
//! the modules.

use std::env;

use toyjit::ir::generate::{self, Rng, Shape};
use toyjit::ir::interp::Interpreter;
use toyjit::ir::verify::verify_module;
use toyjit::ir::{Form, Module, print};
use toyjit::opt::{self, PASSES};
use toyjit::ssa::{self, Construction, Folding};
use toyjit_runtime::{Config, Input, Output, Runtime, Stop};

/// What a program prints, and how it ends.
fn outcome(module: &Module) -> (String, Result<i32, Stop>) {
    let (output, captured) = Output::capture();
    let config = Config { output, input: Input::bytes(Vec::new()), ..Config::default() };
    let mut runtime = Runtime::new(config).unwrap();
    let result = Interpreter::new(module, &mut runtime)
        .and_then(|interpreter| interpreter.with_limit(1 << 20).run_program());
    let printed = String::from_utf8_lossy(&captured.take()).into_owned();
    (printed, result.map_err(|stopped| stopped.stop))
}

/// The module after SSA construction and a choice of passes.
fn compiled(module: &Module, folding: Folding, level: u8, only: Option<&str>) -> Module {
    let mut module = module.clone();
    for function in module.functions.values_mut() {
        ssa::construct(function, Construction::default(), folding);
    }
    let others = PASSES.iter().filter(|pass| only.is_some_and(|only| only != pass.name));
    let disabled = others.map(|pass| pass.name.to_owned()).collect();
    let options = opt::Options { disabled, verify: true, ..opt::Options::at_level(level) };
    opt::run(&mut module, &options, &mut ());
    module
}

#[test]
fn meaning_is_kept() {
    let seeds = env::var("SEEDS").unwrap_or_else(|_| "0..60".into());
    let (from, to) = seeds.split_once("..").expect("SEEDS=from..to");
    for seed in from.parse::<u64>().unwrap()..to.parse().unwrap() {
        for form in [Form::Variable, Form::Ssa] {
            let shape = Shape { form, ..Shape::default() };
            let module = generate::module(&mut Rng::new(seed), &shape);
            let expected = outcome(&module);
            let check = |what: &str, compiled: &Module| {
                if let Err(errors) = verify_module(compiled) {
                    panic!("seed {seed} {form:?}, {what}: {}", errors[0]);
                }
                let found = outcome(compiled);
                assert!(
                    found == expected,
                    "seed {seed} {form:?}, {what}:\nexpected {expected:?}\nfound {found:?}\n{}",
                    print::module(&module)
                );
            };
            check("ssa", &compiled(&module, Folding::Off, 0, None));
            check("ssa with folding", &compiled(&module, Folding::On, 0, None));
            for pass in PASSES {
                let level = pass.level;
                check(pass.name, &compiled(&module, Folding::Off, level, Some(pass.name)));
            }
            check("everything", &compiled(&module, Folding::On, 3, None));
        }
    }
}
