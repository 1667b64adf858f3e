//! The comparison of all engines on one program, and the loop over seeds.

use crate::engines::{Discard, Engine, Outcome, Subject};
use crate::generate::{Random, Size, program};
use clap::Args;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toyjit::opt::PASSES;

/// How long and where to look.
#[derive(Args)]
pub struct RunArgs {
    /// Seconds to run.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The first seed; from the clock where it is absent.
    #[arg(long)]
    seed: Option<u64>,
    /// How many programs at most.
    #[arg(long)]
    programs: Option<u64>,
    /// Where findings go.
    #[arg(long, default_value = "fuzz-findings")]
    findings: PathBuf,
}

/// Two engines that disagree.
pub struct Finding {
    /// Which engine differs from the oracle.
    pub engine: Engine,
    /// What should have come out.
    pub expected: Outcome,
    /// What came out.
    pub found: String,
}

/// Every engine that a program is run by; which pass is left out follows from the seed.
fn engines(seed: u64) -> Vec<Engine> {
    let mut random = Random::new(seed ^ 0x5EED);
    let without = PASSES.get(random.below(PASSES.len() + 1)).map(|pass| pass.name.to_owned());
    let mut engines = vec![Engine::Variables];
    for level in 0..=3 {
        engines.push(Engine::Ir { level, without: None });
    }
    engines.push(Engine::Ir { level: 2, without: without.clone() });
    if std::env::var("NONATIVE").is_ok() {
        return engines;
    }
    for level in 0..=3 {
        engines.push(Engine::Native { level, without: None, spill: false, gc_stress: false });
    }
    engines.push(Engine::Native { level: 2, without, spill: false, gc_stress: false });
    engines.push(Engine::Native { level: 2, without: None, spill: true, gc_stress: false });
    engines.push(Engine::Native { level: 2, without: None, spill: false, gc_stress: true });
    engines
}

/// Compares all engines on a program.
pub fn compare(text: &str, seed: u64) -> Result<Option<Finding>, Discard> {
    let subject = Subject::new(text)?;
    let expected = subject.run(&Engine::Oracle)?;
    for engine in engines(seed) {
        let found = match catch_unwind(AssertUnwindSafe(|| subject.run(&engine))) {
            Ok(Ok(outcome)) if outcome == expected => continue,
            Ok(Ok(outcome)) => outcome.to_string(),
            Ok(Err(_)) => continue,
            Err(_) => "a panic".to_owned(),
        };
        return Ok(Some(Finding { engine, expected, found }));
    }
    Ok(None)
}

/// Compares the engines on a file.
pub fn check(file: &Path) -> i32 {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("error: can't read {}: {error}", file.display());
            return 2;
        }
    };
    match compare(&text, 0) {
        Ok(None) => {
            println!("all engines agree");
            0
        }
        Ok(Some(finding)) => {
            report(&finding);
            1
        }
        Err(discard) => {
            println!("discarded: {discard:?}");
            0
        }
    }
}

fn report(finding: &Finding) {
    println!("{} differs", finding.engine);
    println!("--- expected\n{}\n--- found\n{}", finding.expected, finding.found);
}

/// Compares on one seed after the other.
pub fn run(args: &RunArgs) -> i32 {
    let first = args.seed.unwrap_or_else(|| {
        std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_nanos() as u64 >> 10)
    });
    let start = Instant::now();
    let (mut programs, mut discarded, mut findings) = (0u64, 0u64, 0u64);
    println!("first seed {first}");
    while start.elapsed() < Duration::from_secs(args.seconds)
        && args.programs.is_none_or(|most| programs < most)
    {
        let seed = first + programs;
        programs += 1;
        let text = program(seed, Size::default());
        match compare(&text, seed) {
            Ok(None) => {}
            Ok(Some(finding)) => {
                findings += 1;
                println!("seed {seed}");
                report(&finding);
                let path = args.findings.join(format!("{seed}.toy"));
                let stored = std::fs::create_dir_all(&args.findings)
                    .and_then(|()| std::fs::write(&path, &text));
                if let Err(error) = stored {
                    eprintln!("error: can't store {}: {error}", path.display());
                }
            }
            Err(Discard::Errors(message)) => {
                findings += 1;
                println!("seed {seed} does not compile: {message}");
            }
            Err(Discard::Resources) => discarded += 1,
        }
    }
    println!(
        "{programs} programs in {:.0} s, {discarded} discarded, {findings} findings",
        start.elapsed().as_secs_f64()
    );
    i32::from(findings > 0)
}
