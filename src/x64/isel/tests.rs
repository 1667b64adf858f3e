//! What is selected for small functions.

use super::select;
use crate::ir::{FuncRef, parse};
use crate::x64::{Features, dump};
use toyjit_runtime::context::GLOBALS;

const ALL: Features = Features { sse41: true, popcnt: true, lzcnt: true, bmi1: true, bmi2: true };

fn selected(text: &str) -> String {
    let module = parse::module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    dump::vcode(&select(&module, FuncRef(0), ALL, false))
}

/// The same with registers numbered in the order of the text.
fn normal(text: &str) -> String {
    let mut seen: Vec<String> = Vec::new();
    let mut pieces = text.split('%');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_digit()).unwrap_or(piece.len());
        let (number, rest) = piece.split_at(end);
        let at = seen.iter().position(|n| n == number).unwrap_or_else(|| {
            seen.push(number.to_owned());
            seen.len() - 1
        });
        out.push_str(&format!("%{at}{rest}"));
    }
    out.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let selected = normal(&selected(text));
    assert_eq!(selected, normal(expected), "\n{selected}");
}

#[test]
fn loads_fuse_and_addresses_take_in_sums() {
    check(
        "class0: int
ssa fn @f(ref, int, int) -> int {
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
",
        "f:
bb0:
    %5@rdi, %2@rsi, %3@rdx = args
    check %2 < [%5 + 8]
    %1 = load word [%5 + 16]
    add [%1 + %2*8 + 16], 100
    %0 = add %3, [%1 + %2*8 + 24]
    return %0@rax",
    );
}

#[test]
fn masked_sums_are_sums_of_halves() {
    check(
        "ssa fn @f(int, int) -> int {
b0(v0: int, v1: int):
  v2 = iadd v0, v1
  v3: int = iand v2, 4294967295
  v4 = imul v3, 1099511628211
  v5: int = iand v4, 4294967295
  v6 = shr v5, 3
  v7: int = iand v6, 4294967295
  ret v7
}
",
        "f:
bb0:
    %3@rdi, %4@rsi = args
    %2 = half add %3, %4
    %1 = half mul %2, 435
    %5 = shr %1, 3
    %0 = low half %5
    return %0@rax",
    );
}

#[test]
fn loads_stay_before_stores() {
    check(
        "global $g: int
ssa fn @f(int) -> int {
b0(v0: int):
  v1: int = load_global $g
  store_global $g, v0
  v2 = iadd v0, v1
  ret v2
}
",
        &format!(
            "f:
bb0:
    %1@rdi = args
    %2 = load word [context + {GLOBALS}]
    store word [context + {GLOBALS}], %1
    %0 = add %1, %2
    return %0@rax"
        ),
    );
}

#[test]
fn what_nobody_demands_is_not_selected() {
    check(
        "class0: byte
ssa fn @f(ref, int) {
b0(v0: ref, v1: int):
  v2 = array_data class0, v0
  v3: int = load_elem class0, v2, v1
  v4 = imul v3, v3
  v5 = check_nil v0
  ret
}
",
        "f:
bb0:
    %0@rdi = args
    check %0 (nil)
    return",
    );
}

#[test]
fn branches_look_through_conditions() {
    check(
        "ssa fn @f(int, int) -> int {
b0(v0: int, v1: int):
  v2 = ilt v0, v1
  v3: bool = ixor v2, true
  br ine v3, false -> b1, b2
b1:
  v4 = shl v0, 3
  v5 = iadd v1, v4
  ret v5
b2:
  v6: int = iand v0, 6
  v7 = ieq v6, 0
  v8: int = select v7, v0, v1
  v9 = imul v8, 9
  ret v9
}
",
        "f:
bb0:
    %2@rdi, %3@rsi = args
    branch cmp.ge %2, %3 -> bb1, bb2
bb1:
    %4 = lea [%3 + %2*8]
    return %4@rax
bb2:
    %1 = select test.e %2, 6, %2, %3
    %0 = lea [%1 + %1*8]
    return %0@rax",
    );
}

#[test]
fn float_comparisons_are_right_for_nan() {
    check(
        "ssa fn @f(float) -> bool {
b0(v0: float):
  v1 = flt v0, 1.0
  v2 = feq v0, 1.0
  v3 = fgt v0, 1.0
  v4: bool = ixor v3, true
  v5: bool = ixor v1, v2
  v6: bool = select v4, v5, v2
  ret v6
}
",
        "f:
bb0:
    %3@xmm0 = args
    %4 = 1.0
    %2 = set fcmp.a %4, %3
    %0 = set fcmp.floate %3, 1.0
    %1 = xor %2, %0
    %5 = select fcmp.be %3, 1.0, %1, %0
    return %5@rax",
    );
}

#[test]
fn references_are_remembered() {
    check(
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
        "f:
bb0:
    %2@rdi, %4@rsi = args
    check %2 (nil)
    store word [%2 + 16], %4
    barrier %2
    store word [%2 + 16], 0
    %1 = load word [%2 + 8]
    %0 = alloc 24 bytes, type 11
    store word [%0 + 8], %1
    store word [%0 + 16], %2
    return %0@rax",
    );
}

#[test]
fn constants_divide_without_dividing() {
    check(
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
        "f:
bb0:
    %5@rdi, %6@rsi = args
    %12 = 5270498306774157605
    %13 = mulhigh %12, %5
    %14 = sar %13, 1
    %15 = shr %14, 63
    %3 = add %15, %14
    %8 = sar %5, 63
    %9 = shr %8, 61
    %10 = add %5, %9
    %11 = and %10, 7
    %4 = sub %11, %9
    %2 = div %5, %6
    %1 = shl %3, %4
    %0 = rol %1, %2
    return %0@rax",
    );
}

#[test]
fn what_is_not_negative_divides_by_a_shift() {
    check(
        "ssa fn @f(ref) -> int {
b0(v0: ref):
  v1 = str_len v0
  v2 = sdiv v1, 8
  v3 = srem v1, 8
  v4 = isub v2, v3
  ret v4
}
",
        "f:
bb0:
    %3@rdi = args
    %2 = load word [%3 + 8]
    %1 = sar %2, 3
    %4 = and %2, 7
    %0 = sub %1, %4
    return %0@rax",
    );
}

#[test]
fn wide_constants_are_no_immediates() {
    check(
        "ssa fn @f(int) -> int {
b0(v0: int):
  v1: int = iand v0, 9223372036854775807
  v2: int = ior v1, 2147483648
  v3 = iadd v2, -2147483648
  v4: int = iand v3, 4294967295
  v5: int = iand v4, 255
  ret v5
}
",
        "f:
bb0:
    %4@rdi = args
    %6 = 9223372036854775807
    %3 = and %4, %6
    %5 = 2147483648
    %2 = or %3, %5
    %1 = half add %2, -2147483648
    %0 = low byte %1
    return %0@rax",
    );
}

#[test]
fn arguments_go_where_the_convention_says() {
    check(
        "ssa fn @f(int, int, int, int, int, int, int, float) -> int {
b0(v0: int, v1: int, v2: int, v3: int, v4: int, v5: int, v6: int, v7: float):
  v8: int = call @f(v1, v2, v3, v4, v5, v6, 7, v7)
  rt print_float(v7)
  v9: float = rt sin(v7)
  ret v8
}
",
        "f:
bb0:
    %1@rsi, %2@rdx, %3@rcx, %4@r8, %5@r9, %7@xmm0 = args
    %6 = load word [incoming]
    store word [outgoing], 7
    %0@rax = call f0 %1@rdi, %2@rsi, %3@rdx, %4@rcx, %5@r8, %6@r9, %7@xmm0
    call rt.print_float %7@xmm0
    return %0@rax",
    );
}

#[test]
fn loops_stay_together_and_traps_come_last() {
    let text = selected(
        "ssa fn @f(int) -> int {
b0(v0: int):
  jump b1(0)
b1(v1: int):
  br ilt v1, v0 -> b2, b3
b2:
  br ieq v1, 7 -> b4, b5
b3:
  ret v1
b4:
  rt panic(nil)
  unreachable
b5:
  v2 = iadd v1, 1
  jump b1(v2)
}
",
    );
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("bb")).collect();
    assert_eq!(
        heads,
        ["bb0:", "bb1(%0): depth 1", "bb2: depth 1", "bb3: depth 1", "bb4:", "bb5: cold"]
    );
}

#[test]
fn bytes_are_compared_in_memory() {
    check(
        "class0: byte
ssa fn @f(ref, int) -> bool {
b0(v0: ref, v1: int):
  v2 = str_byte v0, v1
  br igt v2, 96 -> b1, b2
b1:
  v3 = array_data class0, v0
  v4: int = load_elem class0, v3, 5
  v5 = ile 300, v4
  ret v5
b2:
  ret false
}
",
        "f:
bb0:
    %0@rdi, %1@rsi = args
    branch cmpb.a [%0 + %1 + 16], 96 -> bb1, bb2
bb1:
    %2 = load word [%0 + 16]
    %3 = load byte [%2 + 21]
    %4 = set cmp.ge %3, 300
    return %4@rax
bb2:
    %5 = 0
    return %5@rax",
    );
}
