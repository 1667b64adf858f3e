//! `toyjit analyze`: a dataflow problem solved on a program, as one would draw it on a board.

use super::functions::chosen;
use super::{print, source};
use crate::analysis::board::{Board, Visit, Ways};
use crate::analysis::problems::{PROBLEMS, Row, named};
use crate::ir::{Cfg, Function};
use crate::report::EXIT_USAGE;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

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
    for Row { name, about, how, .. } in PROBLEMS {
        let _ = writeln!(text, "  {name:<11} {about} ({how})");
    }
    text + "\nExamples:\n  toyjit analyze reaching examples/sieve.toy -f main --trace\n  \
            toyjit analyze live program.toy --json"
}

pub fn main(args: &AnalyzeArgs) -> i32 {
    let checked = match source::check(&args.file) {
        Ok(checked) => checked,
        Err(code) => return code,
    };
    let module = &checked.lowered.module;
    let Some(row) = named(&args.problem) else { return EXIT_USAGE };
    let chosen = match chosen(module, args.function.as_deref()) {
        Ok(chosen) => chosen,
        Err(code) => return code,
    };
    let mut text = String::new();
    let mut all = Vec::new();
    for id in chosen {
        let f = &module.functions[id];
        let board = (row.draw)(module, f, &Cfg::compute(f), Ways::Rounds);
        match args.json {
            true => all.push(to_json(f, &board, args.trace)),
            false => text += &board.text(module, f, row, args.trace),
        }
    }
    if args.json {
        let whole = json!({ "problem": row.name, "how": row.how, "functions": all });
        text = format!("{whole:#}\n");
    }
    print(&text)
}

fn to_json(f: &Function, board: &Board, trace: bool) -> Value {
    let blocks: Vec<Value> = board
        .blocks
        .iter()
        .map(|drawn| {
            json!({
                "block": drawn.block.to_string(),
                "succs": f.succs(drawn.block).map(|succ| succ.to_string()).collect::<Vec<_>>(),
                "gen": drawn.added.as_ref().map(ToString::to_string),
                "kill": drawn.killed.as_ref().map(ToString::to_string),
                "in": drawn.input.to_string(),
                "out": drawn.output.to_string(),
            })
        })
        .collect();
    let mut whole = json!({
        "function": f.name,
        "facts": board.legend.iter().map(|(name, meaning)| json!({ "name": name, "is": meaning }))
            .collect::<Vec<_>>(),
        "blocks": blocks,
        "rounds": board.rounds.len(),
    });
    if trace {
        let visit = |visit: &Visit| {
            json!({
                "block": visit.block.to_string(),
                "in": visit.input.to_string(),
                "out": visit.output.to_string(),
                "changed": visit.changed,
            })
        };
        let rounds = board.rounds.iter().map(|round| round.iter().map(visit).collect::<Vec<_>>());
        whole["trace"] = json!(rounds.collect::<Vec<_>>());
    }
    whole
}
