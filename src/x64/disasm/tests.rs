//! The disassembly of a small function.

use super::{Names, disassemble};
use crate::ir::{FuncRef, Module, parse};
use crate::mach::{CompiledFunction, Target};
use crate::x64::tests::spill;
use crate::x64::{Features, X64};

/// A module's first function as machine code.
fn emitted(text: &str) -> (Module, CompiledFunction) {
    let module = parse::module(text).unwrap();
    let target = X64::new(Features::BASELINE);
    let code = target.select(&module, FuncRef(0));
    let function = target.emit(&code, &spill::allocate(&code, 1));
    (module, function)
}

#[test]
fn shows_names() {
    let text = "global $g: int
ssa fn @f(int, float) -> float {
b0(v0: int, v1: float):
  v2 = check_div v0
  v9: int = load_global $g
  v3 = sdiv v9, v2
  v4 = itof v3
  br flt v4, v1 -> b1, b2
b1:
  v5 = fmul v4, 1.5
  v6 = fneg v5
  v7: float = call @f(v3, v6)
  ret v7
b2:
  rt print_float(v1)
  ret v1
}
";
    let (module, function) = emitted(text);
    let names = Names {
        target: &|target| format!("{target:?}"),
        global: &|g| module.globals.values().nth(g as usize).map(|g| g.name.clone()).unwrap(),
        line: &|loc| {
            let span = module.functions[FuncRef(0)].locs[loc].span;
            text.get(span.start as usize..span.end as usize).map(str::to_owned)
        },
    };
    let shown = disassemble(&function, &names);
    for part in [
        ":  cmp rsp, [r15+stack_limit]\n",
        ":  mov rcx, [r15+$g]\n",
        "  jbe short .L1\n",
        " [rip+1.5]\n",
        " [rip+sign_mask]\n",
        ":  call Function(f0)\n",
        ".L1:\n",
        ":  call qword ptr [r15+rt.print_float]\n",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
}

#[test]
fn shows_tables() {
    let text = "ssa fn @f(int) -> int {
b0(v0: int):
  switch v0, 0 -> b1, b2, b1 else b3
b1:
  ret 1
b2:
  ret 2
b3:
  ret 3
}
";
    let (_, function) = emitted(text);
    let names = Names {
        target: &|target| format!("{target:?}"),
        global: &|_| String::new(),
        line: &|_| None,
    };
    let shown = disassemble(&function, &names);
    assert!(shown.contains("[rip+table0]\n"), "{shown}");
    let line = shown.lines().find_map(|line| line.strip_prefix("table0: ")).unwrap();
    let ways: Vec<&str> = line.split(' ').collect();
    assert_eq!(ways.len(), 3, "{shown}");
    assert!(ways[0] == ways[2] && ways[0] != ways[1], "{shown}");
    assert!(ways.iter().all(|way| shown.contains(&format!("\n{way}:\n"))), "{shown}");
}
