//! The rows that the tables of terminal and page have in common.

use super::format::mebibytes;
use super::outcome::Outcome;
use toyjit::bench::{Figures, Summary};

/// How a table of run times is written.
pub struct Words<'a> {
    /// What stands before the name of the engine that speed-ups refer to.
    pub to_base: &'a str,
    /// What stands before the interpreter's.
    pub to_interp: &'a str,
    /// A time.
    pub time: &'a dyn Fn(Option<&Summary>) -> String,
    /// How many times as fast.
    pub factor: &'a dyn Fn(Option<&Summary>) -> String,
}

fn row(first: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(cells).collect()
}

/// Run times: the heads of the figures, a row for each program, the row of the means.
pub fn run_times(o: &Outcome, words: &Words<'_>) -> (Vec<String>, Vec<Vec<String>>, Vec<String>) {
    let base = o.base();
    // For each column the engine, and the other that it is compared with.
    let columns = o.engines().flat_map(|engine| {
        let interpreter = o.interpreter().filter(|&interpreter| interpreter != engine);
        let to_base = (engine != base).then_some((base, words.to_base));
        let others = [to_base, interpreter.map(|interpreter| (interpreter, words.to_interp))];
        let compared = others.into_iter().flatten().map(Some);
        std::iter::once(None).chain(compared).map(move |to| (engine, to))
    });
    let columns: Vec<(usize, Option<(usize, &str)>)> = columns.collect();
    let row = |name: &str, cell: &dyn Fn(usize, Option<usize>) -> String| {
        row(name, columns.iter().map(|&(engine, to)| cell(engine, to.map(|to| to.0))))
    };
    let head = columns.iter().map(|&(engine, to)| match to {
        None => o.runs.engines[engine].clone(),
        Some((other, word)) => format!("{word} {}", o.runs.engines[other]),
    });
    let programs = o.runs.programs.iter().enumerate().map(|(program, name)| {
        row(name, &|engine, to| match to {
            None => (words.time)(o.runs.time(program, engine).as_ref()),
            Some(to) => (words.factor)(o.runs.ratio(program, to, engine).as_ref()),
        })
    });
    let means = row("geometric mean", &|engine, to| {
        to.map_or_else(String::new, |to| (words.factor)(o.speed_up(engine, to).as_ref()))
    });
    (head.collect(), programs.collect(), means)
}

/// What compiling all programs took, in milliseconds by stage, and the size of the code.
pub fn compilation(o: &Outcome, engines: &[usize]) -> Vec<Vec<String>> {
    let row = |name: &str, figure: &dyn Fn(usize) -> String| {
        row(name, engines.iter().map(|&engine| figure(engine)))
    };
    let stages = o.stages();
    let mut rows: Vec<Vec<String>> = stages
        .iter()
        .map(|(stage, times)| row(stage, &|engine| format!("{:.3}", times[engine] * 1e3)))
        .collect();
    rows.push(row("all", &|engine| format!("{:.3}", o.compile_time(engine) * 1e3)));
    let bytes = |f: &Figures| f.code_bytes.unwrap_or(0) as u64;
    rows.push(row("code, bytes", &|engine| o.total(engine, bytes).to_string()));
    rows
}

/// What all programs allocated, and how often that was collected.
pub fn memory(o: &Outcome, engines: &[usize]) -> Vec<Vec<String>> {
    let row = |name: &str, figure: &dyn Fn(usize) -> String| {
        row(name, engines.iter().map(|&engine| figure(engine)))
    };
    vec![
        row("allocated, MiB", &|engine| {
            format!("{:.1}", mebibytes(o.total(engine, |f| f.heap.allocated)))
        }),
        row("collections", &|engine| o.total(engine, |f| f.heap.minor + f.heap.major).to_string()),
    ]
}
