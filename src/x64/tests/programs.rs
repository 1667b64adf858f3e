//! Small programs that the random ones do not resemble: arrays, strings, deep recursion, many
//! arguments, long functions.

use super::machine::Machine;
use super::random::{checked, compare_module, end};
use crate::ir::{Module, parse};
use crate::mach::Allocation;
use crate::regalloc::Options;
use crate::x64::{Features, X64};
use toyjit_runtime::{Stop, Trap};

fn module(text: &str) -> Module {
    parse::module(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a program under all kinds of allocation, with and without moving everything.
fn run(text: &str) {
    let module = module(text);
    for spill_everything in [false, true] {
        for gc_stress in [false, true] {
            let options = Options { spill_everything };
            compare_module(&module, Features::detect(), gc_stress, &|target, code| {
                checked(target, code, options)
            });
        }
    }
}

fn scanned(target: &X64, code: &crate::mach::VCode<crate::x64::Inst>) -> Allocation {
    checked(target, code, Options::default())
}

fn arrays(slot: &str, new: &str, push: &str, pop: &str, print: &str, value: &str) -> String {
    format!(
        "class0: {slot}
script = @top

ssa fn @top() {{
b0:
  v0: ref = rt array_new({new}, 0)
  jump b1(0)
b1(v1: int):
  br ilt v1, 100 -> b2, b3
b2:
  {value}
  rt {push}(v0, v2)
  v3 = iadd v1, 1
  jump b1(v3)
b3:
  rt print_ref(v0)
  jump b4(0)
b4(v4: int):
  br ilt v4, 70 -> b5, b6
b5:
  v5: {slot} = rt {pop}(v0)
  rt {print}(v5)
  v6 = iadd v4, 1
  jump b4(v6)
b6:
  v7 = array_len class0, v0
  rt print_int(v7)
  rt print_ref(v0)
  jump b7
b7:
  v8: {slot} = rt {pop}(v0)
  jump b7
}}
"
    )
}

#[test]
fn arrays_grow_and_shrink() {
    let int = "v2 = imul v1, v1";
    run(&arrays("int", "0", "array_push_int", "array_pop_int", "print_int", int));
    let float = "v2 = itof v1";
    run(&arrays("float", "1", "array_push_float", "array_pop_float", "print_float", float));
    let string = "v2: ref = rt str_of_int(v1)";
    run(&arrays("ref", "4", "array_push_ref", "array_pop_ref", "print_ref", string));
    let bytes = arrays(
        "byte",
        "3",
        "array_push_int",
        "array_pop_int",
        "print_int",
        "v2: int = iand v1, 255",
    );
    run(&bytes.replace("v5: byte", "v5: int").replace("v8: byte", "v8: int"));
}

#[test]
fn many_arguments_go_over_the_stack() {
    // RB-04, RB-70: rotated arguments, more of each class than there are registers.
    run("script = @top
ssa fn @g(int, float, int, float, int, float, int, float, int, float, int, float, int, float, int, float, int, float, int, float) -> float {
b0(v0: int, v1: float, v2: int, v3: float, v4: int, v5: float, v6: int, v7: float, v8: int, v9: float, v10: int, v11: float, v12: int, v13: float, v14: int, v15: float, v16: int, v17: float, v18: int, v19: float):
  v20 = imul v0, 3
  v21 = iadd v20, v2
  v22 = imul v21, 3
  v23 = iadd v22, v12
  v24 = imul v23, 3
  v25 = iadd v24, v14
  v26 = imul v25, 3
  v27 = iadd v26, v16
  v28 = imul v27, 3
  v29 = iadd v28, v18
  rt print_int(v29)
  v30 = fsub v1, v3
  v31 = fmul v30, v15
  v32 = fsub v31, v17
  v33 = fmul v32, v19
  ret v33
}

ssa fn @h(int, int, int, int, int, int, int, int) -> int {
b0(v0: int, v1: int, v2: int, v3: int, v4: int, v5: int, v6: int, v7: int):
  br ieq v0, 0 -> b1, b2
b1:
  v8 = isub v1, v7
  ret v8
b2:
  v9 = isub v0, 1
  v10: int = call @h(v9, v7, v1, v2, v3, v4, v5, v6)
  ret v10
}

ssa fn @top() {
b0:
  v0: float = call @g(1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5)
  rt print_float(v0)
  v1: int = call @h(10, 1, 2, 3, 4, 5, 6, 70)
  rt print_int(v1)
  ret
}
");
}

#[test]
fn recursion_ends_in_a_trap_again_and_again() {
    // RB-73
    let module = module(
        "script = @f
ssa fn @f() {
b0:
  call @f()
  ret
}

ssa fn @down(int) -> int {
b0(v0: int):
  br ieq v0, 0 -> b1, b2
b1:
  ret 0
b2:
  v1 = isub v0, 1
  v2: int = call @down(v1)
  v3 = iadd v2, 1
  ret v3
}
",
    );
    let mut machine = Machine::new(&module, Features::detect(), &scanned, false);
    let down = crate::ir::FuncRef(1);
    for _ in 0..100 {
        let stopped = machine.call(&module, down, &[100_000_000]).unwrap_err();
        assert_eq!(stopped.stop, Stop::Trap(Trap::Stack));
        assert!(stopped.backtrace.left_out > 1000);
        assert_eq!(machine.call(&module, down, &[1000]).unwrap(), 1000);
    }
    let (_, result) = machine.run_script(&module);
    assert_eq!(end(result).unwrap_err().0, Stop::Trap(Trap::Stack));
}

#[test]
fn large_frames_are_checked_before_they_are_used() {
    // So many values live over the call that the frame is larger than a page.
    let mut text = String::from("ssa fn @f(int) -> int {\nb0(v0: int):\n");
    let count = 1500;
    for i in 1..=count {
        text += &format!("  v{i} = imul v{}, {i}\n", i - 1);
    }
    text += &format!("  v{}: int = call @f(v{count})\n", count + 1);
    for i in 1..=count {
        text += &format!("  v{} = ixor v{}, v{i}\n", count + 1 + i, count + i);
    }
    text = text.replace("= ixor", ": int = ixor").replace(" :", ":");
    text += &format!("  ret v{}\n}}\n", 2 * count + 1);
    let module = module(&text);
    let mut machine = Machine::new(&module, Features::detect(), &scanned, false);
    let stopped = machine.call(&module, crate::ir::FuncRef(0), &[1]).unwrap_err();
    assert_eq!(stopped.stop, Stop::Trap(Trap::Stack));
}

#[test]
fn long_bodies_need_long_jumps() {
    // RB-56: loops over 40 and over 4000 statements.
    for (statements, expected) in [(40, -5122661211000913939i64), (4000, -6789122508385200079)] {
        let mut text = String::from(
            "ssa fn @f() -> int {\nb0:\n  jump b1(0, 1)\nb1(v0: int, v1: int):\n  br ilt v0, 3 -> b2, b3\nb2:\n",
        );
        let mut last = 1;
        for i in 1..=statements {
            text += &format!("  v{} = imul v{last}, 3\n  v{} = iadd v{0}, {i}\n", 2 * i, 2 * i + 1);
            last = 2 * i + 1;
        }
        text += &format!(
            "  v{} = iadd v0, 1\n  jump b1(v{0}, v{last})\nb3:\n  ret v1\n}}\n",
            2 * statements + 2
        );
        let module = module(&text);
        let mut machine = Machine::new(&module, Features::detect(), &scanned, false);
        let result = machine.call(&module, crate::ir::FuncRef(0), &[]).unwrap();
        assert_eq!(result as i64, expected);
    }
}

#[test]
fn parameters_rotate_along_the_back_edge() {
    // RB-01
    let module = module(
        "ssa fn @f(int) -> int {
b0(v0: int):
  jump b1(1, 2, 0)
b1(v1: int, v2: int, v3: int):
  br ilt v3, v0 -> b2, b3
b2:
  v4 = iadd v3, 1
  jump b1(v2, v1, v4)
b3:
  v5 = imul v1, 10
  v6 = iadd v5, v2
  ret v6
}
",
    );
    let mut machine = Machine::new(&module, Features::detect(), &scanned, false);
    for (n, expected) in [(5, 21), (4, 12), (0, 12)] {
        assert_eq!(machine.call(&module, crate::ir::FuncRef(0), &[n]).unwrap(), expected);
    }
}

#[test]
fn what_returns_at_once_has_no_frame() {
    // Parameters of both classes live over the calls; the way out reads them before they are moved.
    run("script = @top
ssa fn @p(float, int, ref) -> float {
b0(v0: float, v1: int, v2: ref):
  v3 = iadd v1, 1
  br ile v3, 1 -> b1, b2
b1:
  v4 = fmul v0, v0
  ret v4
b2:
  v5 = fmul v0, 0.5
  v6 = isub v1, 1
  v7: float = call @p(v5, v6, v2)
  v8 = fadd v7, v0
  v9 = itof v3
  v10 = fadd v8, v9
  rt print_ref(v2)
  ret v10
}

ssa fn @swap(int, int, int) -> int {
b0(v0: int, v1: int, v2: int):
  br ieq v2, 0 -> b2, b1
b1:
  v3 = isub v2, 1
  v4: int = call @swap(v1, v0, v3)
  v5 = imul v4, 3
  v6 = iadd v5, v0
  v7 = iadd v6, v1
  ret v7
b2:
  v8 = isub v1, v0
  v9 = imul v8, v1
  ret v9
}

ssa fn @top() {
b0:
  v9: ref = rt str_of_int(77)
  v0: float = call @p(1.5, 7, v9)
  rt print_float(v0)
  v1: float = call @p(1.5, 0, v9)
  rt print_float(v1)
  v2: int = call @swap(3, 10, 5)
  rt print_int(v2)
  v3: int = call @swap(3, 10, 0)
  rt print_int(v3)
  ret
}
");
}
