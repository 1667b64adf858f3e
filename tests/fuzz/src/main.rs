//! Differential fuzzing of toyjit: programs made at random, every engine compared.
//!
//! ```text
//! run, ir, front ── seeds ──▶ worker processes ── verdicts ──▶ groups of findings
//!                                                   ─▶ reduce ─▶ bisect ─▶ fuzz-findings/
//! ```

mod bisect;
mod cover;
mod engine;
mod fault;
mod faults;
mod front;
mod generate;
mod reduce;
mod run;
mod subject;
#[cfg(test)]
mod tests;
mod verdict;
mod work;
mod worker;

use clap::{Parser, Subcommand};
use engine::Engine;
use fault::Fault;
use std::path::{Path, PathBuf};
use verdict::{Failure, Matter, Verdict};
use worker::{Worker, WorkerArgs};

/// Compare every engine of toyjit on random programs.
#[derive(Parser)]
#[command(name = "toyjit-fuzz", version)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Compare the engines on random Toy programs.
    Run(run::RunArgs),
    /// Compare the engines on random control flow graphs.
    Ir(run::RunArgs),
    /// Compare the engines on random Bril programs.
    Bril(run::RunArgs),
    /// Feed the front end and the IR parser texts that are mostly wrong.
    Front(run::RunArgs),
    /// Search texts for the front end, or texts of IR, for what reaches code that none reached before.
    Cover(cover::CoverArgs),
    /// Print the text of a seed.
    Show {
        /// The seed.
        seed: u64,
        /// What is made of it.
        #[arg(long, value_enum, default_value = "programs")]
        matter: Matter,
    },
    /// Compare the engines on a program (or a module, FILE.ir, or any text, FILE.txt).
    Check {
        /// The program.
        file: PathBuf,
        /// This engine only.
        #[arg(long)]
        engine: Option<Engine>,
        /// With this fault in the compiler.
        #[arg(long)]
        fault: Option<Fault>,
    },
    /// Make a failing program small.
    Reduce {
        /// The program.
        file: PathBuf,
        /// Where the small one goes; standard output where it is absent.
        #[arg(long)]
        out: Option<PathBuf>,
        /// The engine that fails; the first that does where it is absent.
        #[arg(long)]
        engine: Option<Engine>,
        /// Seconds to spend.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// With this fault in the compiler.
        #[arg(long)]
        fault: Option<Fault>,
    },
    /// Find the pass and the rewrite that a program fails by.
    Bisect {
        /// The program.
        file: PathBuf,
        /// The engine that fails; the first that does where it is absent.
        #[arg(long)]
        engine: Option<Engine>,
    },
    /// Give the compiler each seeded fault and see how it is found.
    Faults(faults::FaultArgs),
    /// Judge what the parent process asks for.
    #[command(hide = true)]
    Worker(WorkerArgs),
}

fn main() {
    let code = match Cli::parse().verb {
        Verb::Run(args) => run::run(Matter::Programs, &args),
        Verb::Ir(args) => run::run(Matter::Ir, &args),
        Verb::Bril(args) => run::run(Matter::Bril, &args),
        Verb::Front(args) => run::run(Matter::Front, &args),
        Verb::Cover(args) => cover::run(&args),
        Verb::Show { seed, matter } => {
            print!("{}", String::from_utf8_lossy(&matter.text(seed)));
            0
        }
        Verb::Check { file, engine, fault } => {
            with_failure(&file, engine, fault, |_, _, _, Failure { engine, kind, detail }| {
                println!("{engine}: {kind}\n{detail}");
            })
        }
        Verb::Reduce { file, out, engine, seconds, fault } => {
            with_failure(&file, engine, fault, |worker, matter, text, failure| {
                let budget = std::time::Duration::from_secs(seconds);
                let small = reduce::reduce_with(worker, matter, text, 0, failure, budget);
                let written = match &out {
                    Some(path) => std::fs::write(path, &small),
                    None => std::io::Write::write_all(&mut std::io::stdout(), &small),
                };
                if let Err(error) = written {
                    eprintln!("error: can't write: {error}");
                }
            })
        }
        Verb::Bisect { file, engine } => {
            with_failure(&file, engine, None, |_, matter, text, failure| {
                println!("{}: {}", failure.engine, failure.kind);
                print!("{}", bisect::explain(matter, text, failure));
            })
        }
        Verb::Faults(args) => faults::run(&args),
        Verb::Worker(args) => worker::serve(&args),
    };
    std::process::exit(code);
}

/// Judges a file, and does something with what fails; the exit code.
fn with_failure(
    file: &Path,
    engine: Option<Engine>,
    fault: Option<Fault>,
    act: impl FnOnce(&mut Worker, Matter, &[u8], &Failure),
) -> i32 {
    let text = match std::fs::read(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("error: can't read {}: {error}", file.display());
            return 2;
        }
    };
    let matter = Matter::of_file(file);
    let mut worker = Worker::new(WorkerArgs::of(matter).with_fault(fault));
    let named = engine.map(|engine| engine.to_string()).unwrap_or_default();
    match worker.judge(matter, &text, 0, &named) {
        Verdict::Agree { .. } => {
            println!("all engines agree");
            0
        }
        Verdict::Discard => {
            println!("discarded");
            0
        }
        Verdict::Fail(mut failure) => {
            if failure.engine.is_empty() && matter != Matter::Front {
                // The worker died: by which engine?
                for engine in verdict::engines_for(matter, 0) {
                    let engine = engine.to_string();
                    if let Verdict::Fail(found) = worker.judge(matter, &text, 0, &engine) {
                        failure = Failure { engine, ..found };
                        break;
                    }
                }
            }
            act(&mut worker, matter, &text, &failure);
            1
        }
    }
}
