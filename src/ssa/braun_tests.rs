//! Braun's construction on small examples, and its work on large ones.

use super::shapes::{self, SHAPES, Shape};
use super::*;
use crate::ir::verify::verify;
use crate::ir::{FuncRef, Module, Signature, parse, print};

fn constructed(text: &str) -> Module {
    let mut module = parse::module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for id in module.functions.keys() {
        let empty = Function::new("", id, Signature::default());
        let mut f = std::mem::replace(&mut module.functions[id], empty);
        construct(&mut f, Construction::Braun, Folding::On);
        if let Err(errors) = verify(&module, &f) {
            panic!("{errors:#?}\n{}", print::function(&module, &f));
        }
        module.functions[id] = f;
    }
    module
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(print::module(&constructed(text)).trim(), expected.trim());
}

#[test]
fn a_loop_gets_parameters_for_what_it_assigns() {
    check(
        "fn @f(int) -> int {
  var n: int, i: int, s: int
b0(v3: int):
  n = copy v3
  i = copy 0
  s = copy 0
  jump b1
b1:
  br ilt i, n -> b2, b3
b2:
  s = iadd s, i
  i = iadd i, 1
  jump b1
b3:
  ret s
}",
        "ssa fn @f(int) -> int {
b0(v3: int):
  jump b1(0, 0)
b1(v6: int, v8: int):
  br ilt v6, v3 -> b2, b3
b2:
  v9 = iadd v8, v6
  v10 = iadd v6, 1
  jump b1(v10, v9)
b3:
  ret v8
}",
    );
}

#[test]
fn values_change_places_all_at_once() {
    check(
        "fn @f(int) -> int {
  var a: int, b: int, t: int, i: int
b0(v4: int):
  a = copy 1
  b = copy 2
  i = copy v4
  jump b1
b1:
  br igt i, 0 -> b2, b3
b2:
  t = copy a
  a = copy b
  b = copy t
  i = isub i, 1
  jump b1
b3:
  v5 = isub a, b
  ret v5
}",
        "ssa fn @f(int) -> int {
b0(v4: int):
  jump b1(v4, 1, 2)
b1(v9: int, v10: int, v11: int):
  br igt v9, 0 -> b2, b3
b2:
  v12 = isub v9, 1
  jump b1(v12, v11, v10)
b3:
  v5 = isub v10, v11
  ret v5
}",
    );
}

#[test]
fn an_irreducible_loop_that_assigns_nothing_gets_no_parameters() {
    check(
        "fn @f(int, int) -> int {
  var x: int
b0(v1: int, v2: int):
  x = copy v1
  br ieq v2, 0 -> b1, b2
b1:
  br ilt v2, 5 -> b2, b3
b2:
  br igt v2, 7 -> b1, b3
b3:
  ret x
}",
        "ssa fn @f(int, int) -> int {
b0(v1: int, v2: int):
  br ieq v2, 0 -> b1, b2
b1:
  br ilt v2, 5 -> b2, b3
b2:
  br igt v2, 7 -> b1, b3
b3:
  ret v1
}",
    );
}

#[test]
fn what_was_never_assigned_is_zero() {
    check(
        "fn @f(bool) -> float {
  var x: float
b0(v1: bool):
  br ine v1, false -> b1, b2
b1:
  x = copy 1.5
  jump b2
b2:
  ret x
}",
        "ssa fn @f(bool) -> float {
b0(v1: bool):
  br ine v1, false -> b1, b2(0.0)
b1:
  jump b2(1.5)
b2(v5: float):
  ret v5
}",
    );
}

fn work(shape: Shape, n: usize) -> usize {
    let mut f = Function::new("f", FuncRef(0), Signature::default());
    shape(&mut f, n);
    let work = braun::build(&mut f, Folding::On, false, &mut ());
    assert!(verify(&Module::default(), &f).is_ok());
    work
}

#[test]
fn the_work_is_linear() {
    for (name, shape) in SHAPES {
        let (once, twice) = (work(shape, 10_000), work(shape, 20_000));
        assert!(twice * 10 <= once * 21, "{name}: {once} steps, then {twice}");
        assert!(twice < 20_000 * 60, "{name}: {twice} steps");
    }
}

#[test]
fn a_hundred_thousand_blocks_are_no_problem() {
    work(shapes::chain, 100_000);
    work(shapes::ladder, 50_000);
}
