//! Shows that the net holds: each seeded fault is given to a compiler, and the fuzzer looks for it.

use crate::fault::Fault;
use crate::reduce::reduce_with;
use crate::run::{died_by, jobs};
use crate::verdict::{FRONT, Failure, Matter, Verdict};
use crate::worker::{Worker, WorkerArgs};
use clap::Args;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Which faults, and how long to look for each.
#[derive(Args)]
pub struct FaultArgs {
    /// These only; all where none is named.
    faults: Vec<Fault>,
    /// Seconds to look for each.
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// Programs to look at for each.
    #[arg(long, default_value_t = 5_000)]
    programs: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seconds to make each finding small, to see how far that goes.
    #[arg(long, default_value_t = 0)]
    reduce: u64,
    /// How many workers; one a core where it is absent.
    #[arg(long)]
    jobs: Option<usize>,
}

/// How a fault was found.
struct Found {
    matter: Matter,
    seed: u64,
    programs: u64,
    time: Duration,
    failure: Failure,
    /// Lines of the reduced program, if it was asked for.
    lines: Option<usize>,
}

/// Of every so many programs one is a module of IR, and one is Bril.
const IR_SHARE: u64 = 4;

/// Prints the table; the exit code is 1 if fewer than 95 in 100 were found.
pub fn run(args: &FaultArgs) -> i32 {
    if !cfg!(feature = "seeded-faults") {
        eprintln!("error: built without faults; add `--features seeded-faults`");
        return 2;
    }
    let all: Vec<Fault> = Fault::all().collect();
    let faults = if args.faults.is_empty() { &all } else { &args.faults };
    let jobs = jobs(args.jobs);
    let next = Mutex::new(faults.iter());
    let results = Mutex::new(BTreeMap::new());
    println!("| fault | found by | as | programs | seconds | lines |\n|---|---|---|---|---|---|");
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let fault = next.lock().ok().and_then(|mut faults| faults.next().copied());
                    let Some(fault) = fault else { return };
                    let found = hunt(fault, args);
                    println!("{}", row(fault, found.as_ref()));
                    if let Ok(mut results) = results.lock() {
                        results
                            .insert(fault.name(), found.map(|found| (found.programs, found.lines)));
                    }
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_default();
    let found: Vec<_> = results.values().flatten().collect();
    println!("\n{} of {} faults found", found.len(), results.len());
    let programs = median(found.iter().map(|(programs, _)| *programs));
    println!("half of them within {programs} programs");
    if args.reduce > 0 {
        let lines = median(found.iter().filter_map(|(_, lines)| *lines));
        println!("half of what is reduced has at most {lines} lines");
    }
    i32::from(found.len() * 100 < results.len() * 95)
}

/// The one in the middle; of none the least there is.
fn median<T: Ord + Default + Copy>(of: impl Iterator<Item = T>) -> T {
    let mut all: Vec<T> = of.collect();
    all.sort_unstable();
    all.get(all.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

fn row(fault: Fault, found: Option<&Found>) -> String {
    match found {
        None => format!("| {} | nothing | | | | |", fault.name()),
        Some(Found { matter, seed, programs, time, failure, lines }) => format!(
            "| {} | {} | {} ({} {seed}) | {programs} | {:.1} | {} |",
            fault.name(),
            failure.engine,
            failure.kind.replace('|', "/"),
            matter.name(),
            time.as_secs_f64(),
            lines.map(|lines| lines.to_string()).unwrap_or_default()
        ),
    }
}

fn hunt(fault: Fault, args: &FaultArgs) -> Option<Found> {
    let start = Instant::now();
    let mut worker = Worker::new(WorkerArgs::of(Matter::Programs).with_fault(fault));
    for (programs, seed) in (1..).zip(args.seed..) {
        if programs > args.programs || start.elapsed() > Duration::from_secs(args.seconds) {
            break;
        }
        let matter = match seed % IR_SHARE {
            0 => Matter::Ir,
            1 => Matter::Bril,
            _ => Matter::Programs,
        };
        let mut verdict = Verdict::Discard;
        if let Err((at, died)) = worker.seeds(matter, seed, 1, |_, found| verdict = found) {
            verdict = died_by(&mut worker, matter, at, died);
        }
        // What no front end takes is no fault of the compiler.
        let failure = match verdict {
            Verdict::Fail(failure) if !failure.kind.starts_with("does not compile") => {
                Some(failure)
            }
            Verdict::Fail(failure) if failure.engine != FRONT => Some(failure),
            _ => None,
        };
        if let Some(failure) = failure {
            let time = start.elapsed();
            let lines = (args.reduce > 0).then(|| {
                let (text, budget) = (matter.text(seed), Duration::from_secs(args.reduce));
                let small = reduce_with(&mut worker, matter, &text, seed, &failure, budget);
                small.iter().filter(|&&byte| byte == b'\n').count()
            });
            return Some(Found { matter, seed, programs, time, failure, lines });
        }
    }
    None
}
