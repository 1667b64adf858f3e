//! `toyjit analyze`: a dataflow problem solved on a program, as one would draw it on a board.

use super::exit::EXIT_USAGE;
use super::functions::chosen;
use super::{print, source};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::fmt::Write as _;
use std::path::PathBuf;
use toyjit::Engine;
use toyjit::inspect::{PROBLEMS, Problem, problem};

/// Solve a dataflow problem on a program and show its facts at each block.
#[derive(Args)]
#[command(after_help = after_help())]
pub struct AnalyzeArgs {
    /// The problem.
    #[arg(value_name = "PROBLEM",
          value_parser = PossibleValuesParser::new(PROBLEMS.iter().map(|row| row.name)))]
    problem: String,

    /// The program, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Show this function only.
    #[arg(short, long, value_name = "NAME")]
    function: Option<String>,

    /// Show each round until nothing changes.
    #[arg(long)]
    trace: bool,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn after_help() -> String {
    let mut text = String::from("Problems:\n");
    for Problem { name, about, how, .. } in PROBLEMS {
        let _ = writeln!(text, "  {name:<11} {about} ({how})");
    }
    text + "\nExamples:\n  toyjit analyze reaching examples/sieve.toy -f main --trace\n  \
            toyjit analyze live program.toy --json"
}

pub fn main(args: &AnalyzeArgs) -> i32 {
    let program = match source::check(&Engine::new(), &args.file) {
        Ok(program) => program,
        Err(code) => return code,
    };
    let Some(problem) = problem(&args.problem) else { return EXIT_USAGE };
    let view = match chosen(&program, args.function.as_deref()) {
        Ok(view) => view,
        Err(code) => return code,
    };
    let analysis = view.analyze(problem);
    match args.json {
        true => print(&format!("{:#}\n", analysis.json(args.trace))),
        false => print(&analysis.text(args.trace)),
    }
}
