//! The constructions against each other, on random programs and on the examples of the papers.

use super::figures::{Figures, measure};
use super::*;
use crate::analysis::tests::large::large;
use crate::ir::generate::{self, Rng, Shape};
use crate::ir::interp::Interpreter;
use crate::ir::verify::verify_module;
use crate::ir::{Form, FuncRef, Module, parse, print};
use toyjit_runtime::{Config, Input, Output, Runtime, Stop};

fn constructed(module: &Module, construction: Construction, folding: Folding) -> Module {
    let mut module = module.clone();
    for function in module.functions.values_mut() {
        construct(function, construction, folding);
    }
    if let Err(errors) = verify_module(&module) {
        panic!("{}: {}\n{}", construction.name(), errors[0], print::module(&module));
    }
    module
}

fn outcome(module: &Module) -> (Vec<u8>, Result<i32, Stop>) {
    let (output, captured) = Output::capture();
    let config = Config { output, input: Input::bytes(Vec::new()), ..Config::default() };
    let mut runtime = Runtime::new(config).expect("a runtime");
    let interpreter = Interpreter::new(module, &mut runtime).expect("a program that fits");
    let result = interpreter.with_limit(1 << 20).run_program();
    (captured.take(), result.map_err(|stopped| stopped.stop))
}

/// Any graph: irreducible loops, blocks that nothing reaches, equal targets. `SSA_SEEDS` makes the
/// search longer.
fn each_module(mut check: impl FnMut(u64, &Module)) {
    let seeds = std::env::var("SSA_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    for seed in 0..seeds.unwrap_or(150) {
        let blocks = if seed % 3 == 0 { 40 } else { 12 };
        let shape = Shape { form: Form::Variable, blocks, ..Shape::default() };
        check(seed, &generate::module(&mut Rng::new(seed), &shape));
    }
}

#[test]
fn all_constructions_mean_the_same() {
    each_module(|seed, module| {
        let expected = outcome(module);
        for construction in Construction::ALL {
            for folding in [Folding::Off, Folding::On] {
                let found = constructed(module, construction, folding);
                let name = construction.name();
                assert_eq!(outcome(&found), expected, "seed {seed}, {name}, {folding:?}");
            }
        }
    });
}

#[test]
fn counts_agree_where_theory_says_they_must() {
    each_module(|seed, module| {
        let [braun, minimal, semi_pruned, pruned, numbered] =
            Construction::ALL.map(|construction| constructed(module, construction, Folding::Off));
        for id in module.functions.keys() {
            let of = |module: &Module| Figures::of(&module.functions[id]);
            let (braun, pruned) = (of(&braun), of(&pruned));
            let (minimal, semi_pruned, numbered) = (of(&minimal), of(&semi_pruned), of(&numbered));
            // Braun's is pruned and minimal.
            assert_eq!(braun.params, pruned.params, "seed {seed}, {id}");
            assert_eq!((braun.dead, pruned.dead), (0, 0), "seed {seed}, {id}");
            // The others differ in dead parameters only.
            assert!(semi_pruned.params <= minimal.params);
            assert_eq!(minimal.params - minimal.dead, pruned.params, "seed {seed}, {id}");
            assert_eq!(semi_pruned.params - semi_pruned.dead, pruned.params, "seed {seed}, {id}");
            assert_eq!(minimal.insts, braun.insts);
            assert!(numbered.insts <= braun.insts);
        }
    });
}

fn figures(text: &str, construction: Construction, folding: Folding) -> Figures {
    let module = parse::module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Figures::of(&constructed(&module, construction, folding).functions[FuncRef(0)])
}

/// `t` is used in one block only; `u` is assigned in both arms and read in neither.
const PRUNED_AWAY: &str = "fn @f(int) -> int {
  var t: int, u: int, x: int
b0(v0: int):
  u = copy 0
  br ilt v0, 10 -> b1, b2
b1:
  t = iadd v0, 1
  x = imul t, t
  u = iadd u, 1
  jump b3
b2:
  t = iadd v0, 2
  x = imul t, 3
  u = iadd u, 2
  jump b3
b3:
  ret x
}";

#[test]
fn prunings_leave_out_what_they_should() {
    let placed = |construction| figures(PRUNED_AWAY, construction, Folding::Off).params;
    // φs of t, u and x; u crosses an edge, t does not.
    assert_eq!(Construction::ALL.map(placed), [1, 3, 2, 1, 1]);
}

#[test]
fn numbering_finds_what_a_dominating_block_computed() {
    let text = "fn @f(int, int) -> int {
  var x: int, y: int
b0(v0: int, v1: int):
  x = imul v0, v1
  br ilt v0, v1 -> b1, b2
b1:
  y = imul v0, v1
  jump b3
b2:
  y = iadd v0, v1
  jump b3
b3:
  v9: int = iadd v0, v1
  x = iadd x, y
  x = iadd x, v9
  ret x
}";
    assert_eq!(figures(text, Construction::Braun, Folding::On).insts, 6);
    // `v0 + v1` in b2 does not dominate b3.
    assert_eq!(figures(text, Construction::BraunGvn, Folding::On).insts, 5);
}

/// What the constructions place grows as the function does.
#[test]
fn parameters_grow_as_the_function_does() {
    for construction in Construction::ALL {
        let placed = [5_000, 10_000, 20_000].map(|blocks| {
            let mut f = large(blocks, 64);
            construct(&mut f, construction, Folding::Off);
            Figures::of(&f).params
        });
        for pair in placed.windows(2) {
            let ratio = pair[1] as f64 / pair[0] as f64;
            assert!(ratio <= 2.6, "{}: {placed:?}", construction.name());
        }
    }
}

/// Times the constructions on large functions. Run with `--ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn measure_large_functions() {
    for near in [64, usize::MAX] {
        for construction in Construction::ALL {
            let times = [25_000, 50_000, 100_000].map(|blocks| {
                let f = large(blocks, near.min(blocks));
                measure(&f, construction, Folding::On, 3).time.as_secs_f64() * 1e3
            });
            println!("{near:>20} {:<12} {times:8.1?} ms", construction.name());
        }
    }
}
