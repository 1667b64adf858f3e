//! What is selected for small functions.

use super::select;
use crate::ir::{FuncRef, parse};
use crate::x64::{Features, dump};
use toyjit_runtime::types::FIRST_REGISTERED;

const ALL: Features = Features { sse41: true, popcnt: true, lzcnt: true, bmi1: true, bmi2: true };

fn selected(text: &str) -> String {
    let module = parse::module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    dump::vcode(&select(&module, FuncRef(0), ALL, FIRST_REGISTERED))
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let selected = selected(text);
    let lines = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(lines(&selected), lines(expected));
}

#[test]
fn probe() {
    for text in PROBES { println!("{text}---\n{}", selected(text)); }
}
const PROBES: &[&str] = &[
"ssa fn @f(ref, int, int) -> int {
b0(v0: ref, v1: int, v2: int):
  v3 = array_len class0, v0
  v4 = check_bounds v1, v3
  v5 = array_data class0, v0
  v6: int = load_elem class0, v5, v4
  v7 = iadd v6, 100
  store_elem class0, v5, v4, v7
  v8 = iadd v1, 1
  v9: int = load_elem class0, v5, v8
  v10 = iadd v2, v9
  ret v10
}
class0: int
",
"ssa fn @f(int, int) -> int {
b0(v0: int, v1: int):
  v2 = ilt v0, v1
  v3 = ixor v2, true
  br ine v3, false -> b1, b2
b1:
  v4 = shl v0, 3
  v5 = iadd v1, v4
  ret v5
b2:
  v6 = iand v0, 6
  v7 = ieq v6, 0
  v8 = select v7, v0, v1
  v9 = imul v8, 9
  ret v9
}
",
"struct S { a: int, b: ref }
ssa fn @f(ref, ref) -> ref {
b0(v0: ref, v1: ref):
  v2 = check_nil v0
  store_field S.b, v2, v1
  store_field S.b, v2, nil
  v3: int = load_field S.a, v2
  v4 = new_struct S(v3, v2)
  ret v4
}
",
"ssa fn @f(int, int) -> int {
b0(v0: int, v1: int):
  v2 = sdiv v0, 7
  v3 = srem v0, 8
  v4 = sdiv v0, v1
  v5 = shl v2, v3
  v6 = rotl v5, v4
  ret v6
}
",
];
