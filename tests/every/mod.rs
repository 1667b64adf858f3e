//! Programs that are judged one by one, on all processors, at every level.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Judges every test; panics with a list of those that fail, each with the reasons why.
pub fn each<T: Sync>(
    tests: &[T],
    name: impl Fn(&T) -> String + Sync,
    judge: impl Fn(&T) -> Vec<String> + Sync,
) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let why = judge(test);
                    if !why.is_empty() {
                        let text = format!("FAIL {}\n  {}", name(test), why.join("\n  "));
                        failures.lock().unwrap().push(text);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(failures.is_empty(), "{} failed\n{}", failures.len(), failures.join("\n"));
}

/// A test for each engine: the interpreter, and machine code at each level.
macro_rules! by_every_engine {
    ($run:ident) => {
        by_every_engine! {
            $run
            interpreted ["--engine", "interp"]
            level_0 ["-O0", "--verify"]
            level_1 ["-O1", "--verify"]
            level_2 ["-O2", "--verify"]
            level_3 ["-O3", "--verify"]
        }
    };
    ($run:ident $($name:ident [$($option:literal),*])*) => {
        $(#[test]
        fn $name() {
            $run(&[$($option),*]);
        })*
    };
}

pub(crate) use by_every_engine;
