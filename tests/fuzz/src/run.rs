//! The loop over seeds: workers on every core, findings in groups, each made small at the end.

use crate::bisect;
use crate::engine::{Engine, How};
use crate::reduce;
use crate::verdict::{Failure, Matter, Verdict, engines_for};
use crate::worker::{Died, HANG, Worker, WorkerArgs};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long and where to look.
#[derive(Args, Clone)]
pub struct RunArgs {
    /// Seconds to run at most; a minute where nothing else limits the run.
    #[arg(long)]
    pub seconds: Option<u64>,
    /// How many programs (inputs, modules) at most.
    #[arg(long, visible_aliases = ["inputs", "modules"])]
    pub programs: Option<u64>,
    /// The first seed; from the clock where it is absent.
    #[arg(long)]
    pub seed: Option<u64>,
    /// How many workers; one a core where it is absent.
    #[arg(long)]
    pub jobs: Option<usize>,
    /// Where findings go.
    #[arg(long, default_value = "fuzz-findings")]
    pub findings: PathBuf,
    /// Seconds to spend on making each finding small; 0 leaves them as they are.
    #[arg(long, default_value_t = 60)]
    pub reduce: u64,
}

/// A program that fails.
pub struct Finding {
    /// Its seed.
    pub seed: u64,
    /// What is wrong.
    pub failure: Failure,
}

/// Findings of one group that are kept.
const KEPT: usize = 5;
/// Seeds that a worker is given at a time.
const BATCH: u64 = 32;
/// Discards in a hundred at which the generator is no good.
const DISCARDS: u64 = 2;

#[derive(Default)]
struct Totals {
    programs: AtomicU64,
    trapped: AtomicU64,
    discarded: AtomicU64,
    findings: AtomicU64,
}

type Groups = BTreeMap<(String, String), Vec<Finding>>;

/// A run in progress.
struct Run<'a> {
    args: &'a RunArgs,
    matter: Matter,
    first: u64,
    start: Instant,
    next: AtomicU64,
    stop: AtomicBool,
    totals: Totals,
    groups: Mutex<Groups>,
    bar: ProgressBar,
}

/// A seed that no run had before.
pub fn seed_of_the_clock() -> u64 {
    std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_nanos() as u64 >> 10)
}

/// How many workers: as many as wanted, or one a core.
pub fn jobs(wanted: Option<usize>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(2, usize::from);
    wanted.unwrap_or_else(cores).max(1)
}

/// Looks for findings; the exit code is 1 if there are any, or too many discards.
pub fn run(matter: Matter, args: &RunArgs) -> i32 {
    let first = args.seed.unwrap_or_else(seed_of_the_clock);
    let jobs = jobs(args.jobs);
    println!("first seed {first}, {jobs} workers");
    let run = Run {
        args,
        matter,
        first,
        start: Instant::now(),
        next: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        totals: Totals::default(),
        groups: Mutex::new(Groups::new()),
        bar: if io::stderr().is_terminal() {
            ProgressBar::new_spinner()
        } else {
            ProgressBar::hidden()
        },
    };
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
        run.bar.set_style(style);
    }
    std::thread::scope(|scope| {
        scope.spawn(|| run.tell());
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(|| run.work())).collect();
        for worker in workers {
            let _ = worker.join();
        }
        run.stop.store(true, Ordering::Relaxed);
    });
    run.bar.finish_and_clear();
    let line = run.line();
    let groups = run.groups.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    write_up(matter, args, &groups, jobs);
    println!("{line}");
    let count = |total: &AtomicU64| total.load(Ordering::Relaxed);
    let discarded =
        count(&run.totals.discarded) * 100 >= DISCARDS * count(&run.totals.programs).max(100);
    if discarded {
        println!("too many programs were discarded");
    }
    i32::from(discarded || count(&run.totals.findings) > 0)
}

impl Run<'_> {
    fn over(&self) -> bool {
        let most = if self.args.programs.is_some() { u64::MAX } else { 60 };
        self.start.elapsed() >= Duration::from_secs(self.args.seconds.unwrap_or(most))
    }

    /// One worker's share.
    fn work(&self) {
        let mut worker = Worker::new(WorkerArgs::of(self.matter));
        let most = self.args.programs.unwrap_or(u64::MAX);
        while !self.over() {
            let from = self.next.fetch_add(BATCH, Ordering::Relaxed);
            if from >= most {
                return;
            }
            let to = most.min(from + BATCH);
            let (mut seed, end) = (self.first + from, self.first + to);
            while seed < end && !self.over() {
                let outcome = worker.seeds(self.matter, seed, end - seed, |seed, verdict| {
                    self.count(seed, verdict);
                });
                match outcome {
                    Ok(()) => break,
                    Err((at, died)) => {
                        self.count(at, died_by(&mut worker, self.matter, at, died));
                        seed = at + 1;
                    }
                }
            }
        }
    }

    fn count(&self, seed: u64, verdict: Verdict) {
        let add = |total: &AtomicU64| total.fetch_add(1, Ordering::Relaxed);
        add(&self.totals.programs);
        match verdict {
            Verdict::Agree { trapped: false } => {}
            Verdict::Agree { trapped: true } => _ = add(&self.totals.trapped),
            Verdict::Discard => _ = add(&self.totals.discarded),
            Verdict::Fail(failure) => {
                add(&self.totals.findings);
                let key = (failure.engine.clone(), failure.kind.clone());
                let Ok(mut groups) = self.groups.lock() else { return };
                let group = groups.entry(key).or_default();
                if group.is_empty() {
                    let (engine, kind) = (&failure.engine, &failure.kind);
                    self.bar.suspend(|| println!("seed {seed}: {engine}: {kind}"));
                }
                if group.len() < KEPT {
                    let finding = Finding { seed, failure };
                    // At once: a run that is ended loses none.
                    put_by(self.matter, self.args, &finding, false);
                    group.push(finding);
                }
            }
        }
    }

    /// Tells how it goes, until it is over.
    fn tell(&self) {
        let mut told = Instant::now();
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(200));
            self.bar.set_message(self.line());
            self.bar.tick();
            if self.bar.is_hidden() && told.elapsed() >= Duration::from_secs(30) {
                println!("{}", self.line());
                told = Instant::now();
            }
        }
    }

    fn line(&self) -> String {
        let count = |total: &AtomicU64| total.load(Ordering::Relaxed);
        let (programs, seconds) =
            (count(&self.totals.programs), self.start.elapsed().as_secs_f64());
        let share = |part: u64| 100.0 * part as f64 / programs.max(1) as f64;
        let (trapped, discarded) = (count(&self.totals.trapped), count(&self.totals.discarded));
        format!(
            "{programs} {} in {seconds:.0} s ({:.0} a second), {:.1} % trapped, \
             {discarded} discarded ({:.2} %), {} findings",
            self.matter.name(),
            programs as f64 / seconds.max(0.001),
            share(trapped),
            share(discarded),
            count(&self.totals.findings),
        )
    }
}

/// Which engine a worker died by; a program whose meaning takes too long is of no use.
pub fn died_by(worker: &mut Worker, matter: Matter, seed: u64, died: Died) -> Verdict {
    let mut engine = String::from(crate::verdict::FRONT);
    if matter != Matter::Front {
        let text = matter.text(seed);
        let how = if matter == Matter::Ir { How::Variables } else { How::Oracle };
        match worker.judge(matter, &text, seed, &Engine::new(how, 0).to_string()) {
            Verdict::Fail(failure) if failure.kind == HANG => return Verdict::Discard,
            Verdict::Fail(failure) => return Verdict::Fail(failure),
            _ => {}
        }
        for candidate in engines_for(matter, seed).iter().map(Engine::to_string) {
            if let Verdict::Fail(failure) = worker.judge(matter, &text, seed, &candidate) {
                return Verdict::Fail(Failure { engine: candidate, ..failure });
            }
        }
        engine = String::new();
    }
    Verdict::Fail(Failure { engine, kind: died.0, detail: String::new() })
}

/// Makes the first finding of each group small.
fn write_up(matter: Matter, args: &RunArgs, groups: &Groups, jobs: usize) {
    let next = Mutex::new(groups.iter());
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(groups.len()) {
            scope.spawn(|| {
                loop {
                    let group = next.lock().ok().and_then(|mut groups| groups.next());
                    let Some((_, group)) = group else { return };
                    group.iter().take(1).for_each(|finding| put_by(matter, args, finding, true));
                }
            });
        }
    });
}

fn put_by(matter: Matter, args: &RunArgs, finding: &Finding, reduced: bool) {
    let store = Store { folder: &args.findings, seconds: args.reduce };
    let name = format!("{}-{}", matter.name(), finding.seed);
    store.put(matter, &name, &matter.text(finding.seed), finding, reduced);
}

/// Where findings are kept.
pub struct Store<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// Seconds to spend on making each small; 0 leaves them as they are.
    pub seconds: u64,
}

impl Store<'_> {
    /// Writes a finding and its report, and makes it small where it shall be.
    pub fn put(&self, matter: Matter, name: &str, text: &[u8], finding: &Finding, reduced: bool) {
        if let Err(error) = self.write(matter, name, text, finding, reduced) {
            eprintln!("error: can't store a finding: {error}");
        }
    }

    fn write(
        &self,
        matter: Matter,
        name: &str,
        text: &[u8],
        finding: &Finding,
        reduced: bool,
    ) -> io::Result<()> {
        std::fs::create_dir_all(self.folder)?;
        let Finding { seed, failure } = finding;
        let path = |suffix: &str| self.folder.join(format!("{name}{suffix}"));
        let whole = path(&format!(".{}", matter.extension()));
        std::fs::write(&whole, text)?;
        let mut report = format!(
            "{}: {}\n\n{}\n\nreplay: toyjit-fuzz check --engine '{}' {}\n",
            failure.engine,
            failure.kind,
            failure.detail,
            failure.engine,
            whole.display()
        );
        if reduced && self.seconds > 0 {
            let budget = Duration::from_secs(self.seconds);
            let start = Instant::now();
            let small = reduce::reduce(matter, text, *seed, failure, budget);
            let file = path(&format!(".reduced.{}", matter.extension()));
            std::fs::write(&file, &small)?;
            let lines = String::from_utf8_lossy(&small).lines().count();
            let seconds = start.elapsed().as_secs_f64();
            println!("{}: {lines} lines after {seconds:.1} s", file.display());
            let _ = writeln!(report, "\nreduced: {lines} lines in {seconds:.1} s\n");
            if matter != Matter::Front {
                report.push_str(&bisect::explain(matter, &small, failure));
            }
        }
        std::fs::write(path(".report"), report)
    }
}
