//! Tests of the runtime as a whole: the heap against a shadow model, the builtins, machine code.

mod builtins;
mod collections;
mod graph;
mod machine;

use crate::{Captured, Config, Input, Output, Runtime};

/// A runtime whose output is kept.
fn runtime(config: Config) -> (Runtime, Captured) {
    let (output, captured) = Output::capture();
    (Runtime::new(Config { output, ..config }).unwrap(), captured)
}

fn config(gc_stress: bool) -> Config {
    let input = Input::bytes(Vec::new());
    Config { gc_stress, input, stack_size: 1 << 20, ..Config::default() }
}
