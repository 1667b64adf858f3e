//! Coverage-guided search: texts for the front end, and texts of IR, are changed again and again,
//! and what reaches code that nothing reached before is kept and changed further.
//!
//! The program must be built with counters in it; how is told in `docs/testing.md`.

mod counters;
mod explorer;

pub use explorer::Explorer;

use crate::run::{Finding, Store};
use crate::verdict::{FRONT, Failure, Matter};
use crate::worker::{Died, Worker, WorkerArgs};
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What is searched.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// The front end.
    Front,
    /// The IR parser, the verifier, and what compiles the modules that are well formed.
    Ir,
}

impl What {
    fn matter(self) -> Matter {
        match self {
            What::Front => Matter::Front,
            What::Ir => Matter::Ir,
        }
    }
}

/// What to search, how long and where.
#[derive(Args)]
pub struct CoverArgs {
    /// What to search.
    what: What,
    /// Seconds to run.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Where texts are kept that reached something; a folder below has those of each kind.
    #[arg(long, default_value = "fuzz-corpus")]
    corpus: PathBuf,
    /// The first seed; from the clock where it is absent.
    #[arg(long)]
    seed: Option<u64>,
    /// How many workers; one a core where it is absent.
    #[arg(long)]
    jobs: Option<usize>,
    /// Where findings go.
    #[arg(long, default_value = "fuzz-findings")]
    findings: PathBuf,
    /// Seconds to spend on making each finding small; 0 leaves them as they are.
    #[arg(long, default_value_t = 60)]
    reduce: u64,
}

/// Inputs that a worker is given at a time.
const BATCH: u64 = 1_000;

/// A search in progress.
struct Search<'a> {
    args: &'a CoverArgs,
    folder: PathBuf,
    start: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    inputs: u64,
    corpus: u64,
    edges: u64,
    /// The first finding of each kind.
    findings: BTreeMap<String, Vec<u8>>,
}

/// Searches; the exit code is 1 where something fails.
pub fn run(args: &CoverArgs) -> i32 {
    if counters::len() == 0 {
        eprintln!("error: built without counters; docs/testing.md tells how to build with them");
        return 2;
    }
    let folder = args.corpus.join(args.what.matter().name());
    if let Err(error) = std::fs::create_dir_all(&folder) {
        eprintln!("error: can't make {}: {error}", folder.display());
        return 2;
    }
    let first = args.seed.unwrap_or_else(crate::run::seed_of_the_clock);
    let jobs = crate::run::jobs(args.jobs);
    println!("first seed {first}, {jobs} workers, {} edges", counters::len());
    let (start, state) = (Instant::now(), Mutex::new(State::default()));
    let search = Search { args, folder, start, state };
    std::thread::scope(|scope| {
        for job in 0..jobs as u64 {
            let search = &search;
            scope.spawn(move || search.work(job, first.wrapping_add(job)));
        }
    });
    let state = search.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    println!("{}", line(&state, start));
    i32::from(!state.findings.is_empty())
}

fn line(state: &State, start: Instant) -> String {
    let seconds = start.elapsed().as_secs_f64();
    format!(
        "{} inputs in {seconds:.0} s ({:.0} a second), {} kept, {} edges reached, {} findings",
        state.inputs,
        state.inputs as f64 / seconds.max(0.001),
        state.corpus,
        state.edges,
        state.findings.len()
    )
}

impl Search<'_> {
    fn work(&self, job: u64, seed: u64) {
        let mut worker = Worker::new(WorkerArgs::of(Matter::Front));
        let current = self.folder.join(format!(".current-{job}"));
        let matter = self.args.what.matter();
        let mut told = Instant::now();
        // A worker that starts anew must not go the same way again.
        for round in 0.. {
            if self.start.elapsed() >= Duration::from_secs(self.args.seconds) {
                break;
            }
            let seed = seed.wrapping_add(round << 32);
            let mut found = Vec::new();
            let each = |text, failure| found.push((text, failure));
            match worker.cover(matter, (seed, BATCH), &current, each) {
                Ok((corpus, edges)) => {
                    let Ok(mut state) = self.state.lock() else { return };
                    state.inputs += BATCH;
                    state.corpus = state.corpus.max(corpus);
                    state.edges = state.edges.max(edges);
                    if job == 0 && told.elapsed() >= Duration::from_secs(30) {
                        println!("{}", line(&state, self.start));
                        told = Instant::now();
                    }
                }
                Err(Died(kind)) => {
                    let text = std::fs::read(&current).unwrap_or_default();
                    let (engine, detail) = (FRONT.to_owned(), String::new());
                    found.push((text, Failure { engine, kind, detail }));
                }
            }
            for (text, failure) in found {
                self.keep(text, failure);
            }
        }
        let _ = std::fs::remove_file(&current);
    }

    /// Stores the first finding of each kind.
    fn keep(&self, text: Vec<u8>, failure: Failure) {
        {
            let Ok(mut state) = self.state.lock() else { return };
            if state.findings.contains_key(&failure.kind) {
                return;
            }
            state.findings.insert(failure.kind.clone(), text.clone());
        }
        println!("{}: {}", failure.engine, failure.kind);
        let store = Store { folder: &self.args.findings, seconds: self.args.reduce };
        let name = format!("cover-{}", explorer::fingerprint(&text));
        store.put(Matter::Front, &name, &text, &Finding { seed: 0, failure }, true);
    }
}
