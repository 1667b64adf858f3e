//! Programs of a size at which anything quadratic or recursive would show.

use super::{deep, program};
use crate::ir::verify::verify_module;
use std::fmt::Write;

fn lowers(source: &str) {
    deep(|| {
        let program = program(source).expect("a correct program");
        assert!(verify_module(&program.lowered.module).is_ok());
        assert_eq!(program.reports(), []);
    });
}

/// `make(0)`, `make(1)` … one after the other.
fn repeat(count: usize, mut make: impl FnMut(usize, &mut String)) -> String {
    let mut text = String::new();
    (0..count).for_each(|number| make(number, &mut text));
    text
}

#[test]
fn a_long_chain_of_operators() {
    lowers(&format!("print(1{});", repeat(100_000, |_, text| text.push_str(" + 1"))));
}

#[test]
fn a_long_condition() {
    let operands = repeat(100_000, |_, text| text.push_str(" && c"));
    lowers(&format!("fn f(c: bool) {{ if c{operands} {{ print(1); }} }}"));
}

#[test]
fn a_long_chain_of_else_if() {
    let arms = repeat(30_000, |n, text| {
        let _ = write!(text, "else if n == {n} {{ return {n}; }} ");
    });
    lowers(&format!(
        "fn f(n: int) -> int {{ if n < 0 {{ return 1; }} {arms} else {{ return 2; }} }}"
    ));
}

#[test]
fn a_match_of_many_arms() {
    let arms = repeat(20_000, |n, text| {
        let _ = write!(text, "{n} => {{ return {n}; }} ");
    });
    lowers(&format!("fn f(n: int) -> int {{ match n {{ {arms} _ => {{ return 0; }} }} }}"));
}

#[test]
fn a_match_of_many_overlapping_ranges() {
    let arms = repeat(10_000, |n, text| {
        let _ = write!(text, "{}..={} => {{ return {n}; }} ", 10_000 - n, 10_000 + n);
    });
    lowers(&format!("fn f(n: int) -> int {{ match n {{ {arms} _ => {{ return 0; }} }} }}"));
}

#[test]
fn a_match_of_many_strings() {
    let arms = repeat(10_000, |n, text| {
        let _ = write!(text, "\"{n}\" => {{ return {n}; }} ");
    });
    lowers(&format!("fn f(s: str) -> int {{ match s {{ {arms} _ => {{ return 0; }} }} }}"));
}

#[test]
fn many_variables_without_a_value() {
    let body = repeat(3_000, |n, text| {
        let _ = writeln!(text, "var x{n}: int; if c {{ x{n} = 1; }} else {{ x{n} = 2; }}");
        let _ = writeln!(text, "print(x{n});");
    });
    lowers(&format!("fn f(c: bool) {{ {body} }}"));
}

#[test]
fn many_globals_and_functions() {
    let text = repeat(10_000, |n, text| {
        let _ = writeln!(text, "fn f{n}() -> int {{ g{n} += 1; return f{}() + g{n}; }}", n + 1);
        let _ = writeln!(text, "var g{n}: int; g{n} = {n};");
    });
    lowers(&format!("{text} fn f10000() -> int {{ return 1; }} print(f0());"));
}

#[test]
fn deep_nesting() {
    lowers(&format!("print({}1{});", "(1 + ".repeat(900), ")".repeat(900)));
    let blocks = ["if c { ", "while c { ", "match c { true => { "];
    for block in blocks {
        let close = if block.contains("=>") { "} } " } else { "} " };
        let (open, close) = (block.repeat(400), close.repeat(400));
        lowers(&format!("fn f(c: bool) {{ {open} print(1); {close} }}"));
    }
}
