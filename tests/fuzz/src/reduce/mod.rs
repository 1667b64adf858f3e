//! Makes what fails small, and keeps the kind of failure.
//!
//! The predicate runs in a worker process, so that crashes and hangs are reduced like all else: the
//! engine that failed must fail in the same way, and the program must be well formed and run cleanly
//! by the reference, so that the reducer can't drift into another fault or an endless program.

mod bril;
mod ir;
mod text;
pub mod toy;
mod visit;

use crate::verdict::{Failure, Matter, Verdict};
use crate::worker::{Worker, WorkerArgs};
use std::time::{Duration, Instant};

/// What takes longer hangs: what is judged well takes a small part of it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The smallest text found within the budget that fails in the same way.
pub fn reduce(
    matter: Matter,
    text: &[u8],
    seed: u64,
    failure: &Failure,
    budget: Duration,
) -> Vec<u8> {
    reduce_with(&mut Worker::new(WorkerArgs::of(matter)), matter, text, seed, failure, budget)
}

/// The same with a worker at hand.
pub fn reduce_with(
    worker: &mut Worker,
    matter: Matter,
    text: &[u8],
    seed: u64,
    failure: &Failure,
    budget: Duration,
) -> Vec<u8> {
    let start = Instant::now();
    let patience = std::mem::replace(&mut worker.patience, PATIENCE);
    // Nothing where the time is over.
    let mut takes = |text: &[u8]| {
        let over = start.elapsed() > budget;
        (!over).then(|| match worker.judge(matter, text, seed, &failure.engine) {
            Verdict::Fail(found) => found.kind == failure.kind,
            _ => false,
        })
    };
    let source = std::str::from_utf8(text);
    let small = match (matter, source) {
        (Matter::Programs, Ok(source)) => {
            toy::reduce(source, &mut |text| takes(text.as_bytes())).into_bytes()
        }
        (Matter::Ir, Ok(source)) => ir::reduce(source, &mut takes),
        (Matter::Bril, Ok(source)) => bril::reduce(source, &mut takes),
        _ => text::reduce_bytes(text, &mut takes),
    };
    worker.patience = patience;
    small
}
