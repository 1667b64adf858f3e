//! The language tests at every level and in both engines, also with a collection at every allocation.
//! A debug build leaves a few out of the latter that allocate much; all at every level are run by
//! `cargo test --profile fuzz --test language -- --ignored`.

mod every;
mod suite;

use every::by_every_engine;
use suite::run_folder;

const FOLDERS: [&str; 4] = ["tests/conformance", "tests/language", "tests/pitfalls", "examples"];

fn run_all(options: &[&str]) {
    for folder in FOLDERS {
        run_folder(folder, options, &[]);
    }
}

/// Programs that allocate much.
const LARGE: [&str; 9] = [
    "gc_arrays",
    "gc_lists",
    "gc_long_list",
    "gc_strings",
    "gc_trees",
    "memory_list",
    "rb77_merged_roots",
    "shown_deep",
    "struct_print_deep",
];

fn run_stressed(level: &str) {
    for folder in FOLDERS {
        run_folder(folder, &[level, "--gc-stress"], &LARGE);
    }
}

by_every_engine!(run_all);

#[test]
fn level_0_stressed() {
    run_stressed("-O0");
}

#[test]
fn level_2_stressed() {
    run_stressed("-O2");
}

#[test]
#[ignore = "long"]
fn everything_stressed() {
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        run_all(&[level, "--gc-stress"]);
    }
    run_all(&["--engine", "interp", "--gc-stress"]);
}
