use super::*;
use crate::ir::verify::verify;
use crate::ir::{Module, parse, print};

fn constructed(text: &str) -> Module {
    let mut module = parse::module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for id in module.functions.keys() {
        let empty = Function::new("", id, crate::ir::Signature::default());
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
        "",
    );
}
