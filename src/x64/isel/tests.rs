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
