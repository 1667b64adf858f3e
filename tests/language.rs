//! The language tests at every level and in both engines.

mod suite;

use suite::run_folder;

const FOLDERS: [&str; 4] = ["tests/conformance", "tests/language", "tests/pitfalls", "examples"];

fn run_all(options: &[&str]) {
    for folder in FOLDERS {
        run_folder(folder, options);
    }
}

#[test]
fn interpreted() {
    run_all(&["--engine", "interp"]);
}

#[test]
fn level_0() {
    run_all(&["-O0", "--verify"]);
}

#[test]
fn level_1() {
    run_all(&["-O1", "--verify"]);
}

#[test]
fn level_2() {
    run_all(&["-O2", "--verify"]);
}

#[test]
fn level_3() {
    run_all(&["-O3", "--verify"]);
}

#[test]
fn level_0_stressed() {
    run_all(&["-O0", "--gc-stress"]);
}

#[test]
fn level_2_stressed() {
    run_all(&["-O2", "--gc-stress"]);
}
