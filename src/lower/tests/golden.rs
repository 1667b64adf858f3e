//! What small functions become.

use super::{deep, program};

/// The text of the function `f` of a program.
fn function(source: &str) -> String {
    deep(|| program(source).expect("a correct program").function("f"))
}

macro_rules! golden {
    ($($name:ident: $source:literal => $expected:literal;)+) => {$(
        #[test]
        fn $name() {
            let found = function($source);
            assert_eq!(found.trim(), $expected.trim(), "\n{found}");
        }
    )+};
}

golden! {
    a_value_goes_straight_to_its_variable: r#"
fn f(x: int) -> int { let d = x * 2; var e = d; e += d; return e - 1; }
"# => r#"
fn @f(int) -> int {
  var x: int, d: int, e: int
b0(v3: int):
  x = copy v3
  d = imul x, 2
  e = copy d
  e = iadd e, d
  v6 = isub e, 1
  ret v6
}
"#;

    a_condition_becomes_branches: r#"
fn f(a: int, b: float, c: bool) -> bool {
    if a < 3 && !(b == 1.0 || c) { return true; }
    return a < 3 && c;
}
"# => r#"
fn @f(int, float, bool) -> bool {
  var a: int, b: float, c: bool, flag: bool
b0(v3: int, v4: float, v5: bool):
  a = copy v3
  b = copy v4
  c = copy v5
  br ilt a, 3 -> b1, b4
b1:
  br feq b, 1.0 -> b4, b2
b2:
  br ine c, false -> b4, b3
b3:
  ret true
b4:
  br ilt a, 3 -> b5, b7
b5:
  br ine c, false -> b6, b7
b6:
  flag = copy true
  jump b8
b7:
  flag = copy false
  jump b8
b8:
  ret flag
}
"#;

    a_range_counts_in_its_variable: r#"
fn f(n: int) -> int {
    var sum = 0;
    for i in 0..n { if i == 3 { continue; } sum += i; }
    return sum;
}
"# => r#"
fn @f(int) -> int {
  var n: int, sum: int, i: int
b0(v3: int):
  n = copy v3
  sum = copy 0
  i = copy 0
  v5: int = copy n
  jump b1
b1:
  br ilt i, v5 -> b2, b6
b2:
  br ieq i, 3 -> b3, b4
b3:
  jump b5
b4:
  sum = iadd sum, i
  jump b5
b5:
  i = iadd i, 1
  jump b1
b6:
  ret sum
}
"#;

    a_range_with_its_end_tests_behind_the_body: r#"
fn f(a: int, b: int) { for i in a..=b { print(i); } }
"# => r#"
fn @f(int, int) {
  var a: int, b: int, i: int
b0(v3: int, v4: int):
  a = copy v3
  b = copy v4
  i = copy a
  v5: int = copy b
  br ile i, v5 -> b1, b4
b1:
  rt print_int(i)
  rt print_newline()
  jump b2
b2:
  br ieq i, v5 -> b4, b3
b3:
  i = iadd i, 1
  jump b1
b4:
  ret
}
"#;

    an_array_is_walked_by_index: r#"
fn f(xs: [float], s: str) {
    for x in xs { print(x); }
    for b in s { print(b); }
}
"# => r#"
fn @f(ref, ref) {
  var xs: ref, s: ref, x: float, b: int, index: int, index.1: int
b0(v4: ref, v5: ref):
  xs = copy v4
  s = copy v5
  v6: ref = copy xs
  index = copy 0
  jump b1
b1:
  v9 = array_len class0, v6
  br ilt index, v9 -> b2, b4
b2:
  v10 = array_data class0, v6
  x = load_elem class0, v10, index
  rt print_float(x)
  rt print_newline()
  jump b3
b3:
  index = iadd index, 1
  jump b1
b4:
  v12: ref = copy s
  index.1 = copy 0
  jump b5
b5:
  v14 = str_len v12
  br ilt index.1, v14 -> b6, b8
b6:
  b = str_byte v12, index.1
  rt print_int(b)
  rt print_newline()
  jump b7
b7:
  index.1 = iadd index.1, 1
  jump b5
b8:
  ret
}
"#;

    checks_stand_behind_the_operands: r#"
struct N { v: byte, next: N? }
fn f(n: N?, xs: [int]?, i: int) {
    n.v = 'a';
    xs[i] = n.next.v.int();
}
"# => r#"
fn @f(ref, ref, int) {
  var n: ref, xs: ref, i: int
b0(v3: ref, v4: ref, v5: int):
  n = copy v3
  xs = copy v4
  i = copy v5
  v7 = check_nil n
  store_field N.v, v7, 97
  v8 = check_nil n
  v9: ref = load_field N.next, v8
  v10 = check_nil v9
  v11: int = load_field N.v, v10
  v12 = check_nil xs
  v13 = array_len class0, v12
  v14 = check_bounds i, v13
  v15 = array_data class0, v12
  store_elem class0, v15, v14, v11
  ret
}
"#;

    a_compound_assignment_checks_twice: r#"
fn g() -> int { return 1; }
fn f(xs: [int], bs: [byte]) { xs[0] /= g(); bs[1] += 'a'; }
"# => r#"
fn @f(ref, ref) {
  var xs: ref, bs: ref
b0(v2: ref, v3: ref):
  xs = copy v2
  bs = copy v3
  v5 = array_len class0, xs
  v6 = check_bounds 0, v5
  v7 = array_data class0, xs
  v8: int = load_elem class0, v7, v6
  v9: int = call @g()
  v10 = check_div v9
  v11 = sdiv v8, v10
  v12 = array_len class0, xs
  v13 = check_bounds 0, v12
  v14 = array_data class0, xs
  store_elem class0, v14, v13, v11
  v16 = array_len class1, bs
  v17 = check_bounds 1, v16
  v18 = array_data class1, bs
  v19: int = load_elem class1, v18, v17
  v21 = iadd v19, 97
  v23: int = iand v21, 255
  v24 = array_len class1, bs
  v25 = check_bounds 1, v24
  v26 = array_data class1, bs
  store_elem class1, v26, v25, v23
  ret
}
"#;

    bytes_stay_in_range: r#"
fn f(a: byte, b: byte, n: int) -> byte {
    return ((a + b) * (a - b) << n >>> 1) ^ (~a / -b);
}
"# => r#"
fn @f(int, int, int) -> int {
  var a: int, b: int, n: int
b0(v3: int, v4: int, v5: int):
  a = copy v3
  b = copy v4
  n = copy v5
  v6 = iadd a, b
  v8: int = iand v6, 255
  v9 = isub a, b
  v10: int = iand v9, 255
  v11 = imul v8, v10
  v12: int = iand v11, 255
  v14: int = iand n, 7
  v15 = shl v12, v14
  v16: int = iand v15, 255
  v18 = shr v16, 1
  v19: int = ixor a, 255
  v20 = ineg b
  v21: int = iand v20, 255
  v22 = check_div v21
  v23 = sdiv v19, v22
  v24: int = ixor v18, v23
  ret v24
}
"#;

    a_match_is_a_tree: r#"
fn f(n: int) -> int {
    match n { 1 | 3 => { return 1; } 2..10 => { return 2; } 100..=200 => { return 3; } _ => { } }
    return 0;
}
"# => r#"
fn @f(int) -> int {
  var n: int
b0(v1: int):
  n = copy v1
  br ilt n, 3 -> b1, b3
b1:
  br ilt n, 2 -> b2, b7
b2:
  br ieq n, 1 -> b4, b10
b3:
  br ilt n, 4 -> b4, b5
b4:
  ret 1
b5:
  br ilt n, 100 -> b6, b8
b6:
  br ile n, 9 -> b7, b10
b7:
  ret 2
b8:
  br ile n, 200 -> b9, b10
b9:
  ret 3
b10:
  jump b11
b11:
  ret 0
}
"#;

    a_match_on_strings: r#"
fn f(s: str) -> int { match s { "b" => { return 1; } "a" | "b" => { return 2; } } return 3; }
"# => r#"
fn @f(ref) -> int {
  var s: ref
b0(v1: ref):
  s = copy v1
  v3: bool = rt str_eq(s, @"a")
  br ine v3, false -> b1, b2
b1:
  ret 2
b2:
  v6: bool = rt str_eq(s, @"b")
  br ine v6, false -> b3, b4
b3:
  ret 1
b4:
  ret 3
}
"#;

    a_closure_takes_values: r#"
fn f(k: int, s: str) -> fn() { return fn() { print(k, s); }; }
"# => r#"
fn @f(int, ref) -> ref {
  var k: int, s: ref
b0(v2: int, v3: ref):
  k = copy v2
  s = copy v3
  v4 = new_closure @fn@39(k, s)
  ret v4
}
"#;

    a_call_of_a_value_checks_it_last: r#"
fn f(g: (fn(int) -> int)?, x: int) -> int { return g(x + 1); }
"# => r#"
fn @f(ref, int) -> int {
  var g: ref, x: int
b0(v2: ref, v3: int):
  g = copy v2
  x = copy v3
  v5 = iadd x, 1
  v6 = check_nil g
  v7: int = call_value v6(v5)
  ret v7
}
"#;

    literals_are_filled: r#"
struct P { x: int, y: bool }
fn f(y: bool) -> [P] { let ps = [P { y: y, x: 1 }, P { x: 2, y: false }]; return ps; }
"# => r#"
fn @f(bool) -> ref {
  var y: bool, ps: ref
b0(v2: bool):
  y = copy v2
  v5: ref = rt array_new(4, 2)
  v6 = array_data class0, v5
  v9 = new_struct P(1, y)
  store_elem class0, v6, 0, v9
  v12 = new_struct P(2, false)
  store_elem class0, v6, 1, v12
  ps = copy v5
  ret ps
}
"#;

    a_failed_assert_stands_aside: r#"
fn f(x: int) -> int { assert(x > 0); assert(x < 9, str(x)); return x; }
"# => r#"
fn @f(int) -> int {
  var x: int
b0(v1: int):
  x = copy v1
  br igt x, 0 -> b1, b4
b1:
  v5 = ilt x, 9
  v6: ref = rt str_of_int(x)
  br ine v5, false -> b2, b3
b2:
  ret x
b3:
  rt assert_fail(v6)
  unreachable
b4:
  rt assert_fail(nil)
  unreachable
}
"#;
}
