//! Random modules: machine code against the IR interpreter, with traps and their places.

use super::machine::{Allocator, Machine};
use super::spill;
use crate::ir::generate::{self, Rng, Shape};
use crate::ir::interp::Interpreter;
use crate::ir::{Module, print};
use crate::x64::Features;
use toyjit_runtime::{Config, Input, Output, Runtime, Stop, Trap};

fn interpreted(module: &Module) -> (Vec<u8>, Result<(), Stop>) {
    let (output, captured) = Output::capture();
    let config = Config { output, input: Input::bytes(Vec::new()), ..Config::default() };
    let mut runtime = Runtime::new(config).expect("memory");
    let mut interpreter = Interpreter::new(module, &mut runtime).expect("a sound module");
    let result = interpreter.run_program().map(|_| ()).map_err(|stopped| stopped.stop);
    (captured.take(), result)
}

fn compare(seeds: std::ops::Range<u64>, shape: &Shape, features: Features, gc_stress: bool) {
    for seed in seeds {
        let module = generate::module(&mut Rng::new(seed), shape);
        let expected = interpreted(&module);
        if matches!(expected.1, Err(Stop::Trap(Trap::Stack))) {
            continue;
        }
        let allocator: Allocator<'_> = &|_, code| spill::allocate(code, seed);
        let machine = Machine::new(&module, features, allocator, gc_stress);
        let (printed, result) = machine.run_script(&module);
        let result = result.map_err(|stopped| stopped.stop);
        assert!(
            (&printed, &result) == (&expected.0, &expected.1),
            "seed {seed}: {} {result:?} instead of {} {:?}\n{}",
            String::from_utf8_lossy(&printed),
            String::from_utf8_lossy(&expected.0),
            expected.1,
            print::module(&module)
        );
    }
}

#[test]
fn modules_run_as_interpreted() {
    compare(0..300, &Shape::default(), Features::detect(), false);
}

#[test]
fn modules_run_on_every_processor() {
    compare(300..500, &Shape::default(), Features::BASELINE, false);
}

#[test]
fn modules_run_while_everything_moves() {
    compare(500..700, &Shape::default(), Features::detect(), true);
}

#[test]
fn large_functions_run() {
    let shape = Shape { functions: 2, blocks: 60, insts: 20, fuel: 2000, ..Shape::default() };
    compare(700..740, &shape, Features::detect(), false);
}
