//! `toyjit ssa`: what each construction of SSA form makes of a program, in numbers.

use super::functions::chosen;
use super::{print, source};
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use toyjit::Engine;
use toyjit::inspect::{Compared, Construction, Figures};

/// Compare the constructions of SSA form: block parameters, dead ones, instructions, time.
#[derive(Args)]
#[command(after_help = "\
Examples:
  toyjit ssa examples/sieve.toy              each function, and all together
  toyjit ssa --times 51 --json program.toy   the median of more runs, as JSON")]
pub struct SsaArgs {
    /// The program, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// How often each construction runs; its time is the median.
    #[arg(long, value_name = "N", default_value_t = 9)]
    times: usize,

    /// Keep copies and operators on constants.
    #[arg(long)]
    no_folding: bool,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

type Row = [Figures; Construction::ALL.len()];

pub fn main(args: &SsaArgs) -> i32 {
    let program = match source::check(&Engine::new(), &args.file) {
        Ok(program) => program,
        Err(code) => return code,
    };
    let compared = match chosen(&program, None) {
        Ok(view) => view.constructions(args.times, !args.no_folding),
        Err(code) => return code,
    };
    let mut total = Row::default();
    for Compared { figures, .. } in &compared {
        total.iter_mut().zip(figures).for_each(|(total, figures)| total.add(figures));
    }
    if args.json {
        let functions = compared.iter().map(|Compared { function, figures }| {
            json!({ "function": function, "constructions": to_json(figures) })
        });
        let whole = json!({
            "functions": functions.collect::<Vec<_>>(),
            "total": to_json(&total),
        });
        return print(&format!("{whole:#}\n"));
    }
    let mut text = String::new();
    for Compared { function, figures } in &compared {
        table(&mut text, function, figures);
    }
    table(&mut text, "total", &total);
    print(&text)
}

fn table(text: &mut String, name: &str, row: &Row) {
    let _ = writeln!(text, "{name}");
    let _ =
        writeln!(text, "  {:<12} {:>7} {:>7} {:>7} {:>10}", "", "params", "dead", "insts", "us");
    for (construction, figures) in Construction::ALL.into_iter().zip(row) {
        let Figures { params, dead, insts, time } = figures;
        let (name, us) = (construction.name(), time.as_secs_f64() * 1e6);
        let _ = writeln!(text, "  {name:<12} {params:>7} {dead:>7} {insts:>7} {us:>10.1}");
    }
}

fn to_json(row: &Row) -> Value {
    let all = Construction::ALL.into_iter().zip(row).map(|(construction, figures)| {
        json!({
            "construction": construction.name(),
            "params": figures.params,
            "dead": figures.dead,
            "insts": figures.insts,
            "us": figures.time.as_secs_f64() * 1e6,
        })
    });
    all.collect()
}
