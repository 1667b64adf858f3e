//! Random modules: machine code against the IR interpreter, with traps and their places.

use super::machine::{Allocator, Machine};
use super::spill;
use crate::ir::generate::{self, Rng, Shape};
use crate::ir::interp::Interpreter;
use crate::ir::{Module, parse, print};
use crate::mach::{Allocation, Target, VCode};
use crate::regalloc::{Options, allocate, checker};
use crate::x64::{Features, Inst, X64, dump};
use std::ops::Range;
use toyjit_runtime::{Backtrace, Config, Input, Output, Runtime, Stop, Stopped, Trap};

/// What a program printed, and how it ended with which calls open.
type Outcome = (Vec<u8>, Result<(), (Stop, Backtrace)>);

pub(super) fn end(result: Result<(), Box<Stopped>>) -> Result<(), (Stop, Backtrace)> {
    result.map_err(|stopped| (stopped.stop, stopped.backtrace))
}

fn interpreted(module: &Module) -> Outcome {
    let (output, captured) = Output::capture();
    let config = Config { output, input: Input::bytes(Vec::new()), ..Config::default() };
    let mut runtime = Runtime::new(config).expect("memory");
    let mut interpreter = Interpreter::new(module, &mut runtime).expect("a sound module");
    let result = end(interpreter.run_program().map(|_| ()));
    (captured.take(), result)
}

fn compare(
    seeds: Range<u64>,
    shape: &Shape,
    features: Features,
    gc_stress: bool,
    allocator: &dyn Fn(u64, &X64, &VCode<Inst>) -> Allocation,
) {
    for seed in seeds {
        // Through text, so that each instruction has a place in a source.
        let module = print::module(&generate::module(&mut Rng::new(seed), shape));
        let module = parse::module(&module).expect("what is printed can be parsed");
        compare_module(&module, features, gc_stress, &|target, code| allocator(seed, target, code));
    }
}

/// Runs a module both ways.
pub(super) fn compare_module(
    module: &Module,
    features: Features,
    gc_stress: bool,
    allocator: Allocator<'_>,
) {
    let expected = interpreted(module);
    if matches!(expected.1, Err((Stop::Trap(Trap::Stack), _))) {
        return;
    }
    let (printed, result) = Machine::new(module, features, allocator, gc_stress).run_script(module);
    let result = end(result);
    assert!(
        (&printed, &result) == (&expected.0, &expected.1),
        "{} {result:?} instead of {} {:?}\n{}",
        String::from_utf8_lossy(&printed),
        String::from_utf8_lossy(&expected.0),
        expected.1,
        print::module(module)
    );
}

fn spilled(seed: u64, _: &X64, code: &VCode<Inst>) -> Allocation {
    spill::allocate(code, seed)
}

fn scanned(_: u64, target: &X64, code: &VCode<Inst>) -> Allocation {
    checked(target, code, Options::default())
}

pub(super) fn checked(target: &X64, code: &VCode<Inst>, options: Options) -> Allocation {
    let allocation = allocate(code, target.registers(), &options);
    if let Err(error) = checker::check(code, &allocation, target.registers()) {
        panic!("{error}\n{}{}", dump::vcode(code), dump::allocated(code, &allocation));
    }
    allocation
}

#[test]
fn modules_run_as_interpreted() {
    compare(0..60, &Shape::default(), Features::detect(), false, &spilled);
    compare(1000..1100, &Shape::default(), Features::detect(), false, &scanned);
}

#[test]
fn modules_run_on_every_processor() {
    compare(300..330, &Shape::default(), Features::BASELINE, false, &spilled);
    compare(1300..1350, &Shape::default(), Features::BASELINE, false, &scanned);
}

#[test]
fn modules_run_while_everything_moves() {
    compare(500..530, &Shape::default(), Features::detect(), true, &spilled);
    compare(1500..1550, &Shape::default(), Features::detect(), true, &scanned);
}

#[test]
fn modules_run_spilled() {
    let spilled = |_, target: &X64, code: &VCode<Inst>| {
        checked(target, code, Options { spill_everything: true })
    };
    compare(600..650, &Shape::default(), Features::detect(), true, &spilled);
}

#[test]
fn large_functions_run() {
    let shape = Shape { functions: 2, blocks: 60, insts: 20, fuel: 2000, ..Shape::default() };
    compare(700..705, &shape, Features::detect(), false, &spilled);
    compare(710..725, &shape, Features::detect(), false, &scanned);
}
