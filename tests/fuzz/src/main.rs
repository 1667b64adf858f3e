//! Differential fuzzing of toyjit: programs made at random, every engine compared.

mod compare;
mod engines;
mod generate;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Compare every engine of toyjit on random programs.
#[derive(Parser)]
#[command(name = "toyjit-fuzz", version)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run for a time.
    Run(compare::RunArgs),
    /// Print the program of a seed.
    Show {
        /// The seed.
        seed: u64,
    },
    /// Compare the engines on a program.
    Check {
        /// The program.
        file: PathBuf,
    },
}

fn main() {
    let code = match Cli::parse().verb {
        Verb::Run(args) => compare::run(&args),
        Verb::Show { seed } => {
            print!("{}", generate::program(seed, generate::Size::default()));
            0
        }
        Verb::Check { file } => compare::check(&file),
    };
    std::process::exit(code);
}
