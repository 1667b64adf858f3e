//! The figures on a terminal.

use super::format::{factor, mebibytes, spread, time_of};
use super::outcome::Outcome;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use toyjit::bench::{Comparison, Summary};

/// A table without lines but one below its head; the first column to the left, figures to the right.
fn table(head: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    let below_head = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(below_head));
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head);
    table.add_rows(rows);
    for (number, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if number == 0 { 0 } else { 1 }, 1));
        if number > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

fn cell(summary: Option<Summary>, text: impl Fn(&Summary) -> String) -> String {
    summary.as_ref().map_or_else(|| "-".to_owned(), text)
}

/// Everything.
pub fn outcome(outcome: &Outcome) -> String {
    let mut text = run_times(outcome) + "\n" + &compilation(outcome);
    if let Some(ablation) = ablation(outcome) {
        text += &format!("\n{ablation}");
    }
    text + "\n" + &outcome.noise().join("\n") + "\n"
}

fn run_times(o: &Outcome) -> String {
    let (base, interpreter) = (o.base(), o.interpreter());
    let mut head = vec!["run time".to_owned()];
    for engine in o.engines() {
        head.push(o.runs.engines[engine].clone());
        if engine != base {
            head.push(format!("to {}", o.runs.engines[base]));
        }
        if interpreter.is_some_and(|interpreter| interpreter != engine) {
            head.push("to interp".to_owned());
        }
    }
    let row = |name: &str,
               time: &dyn Fn(usize) -> String,
               ratio: &dyn Fn(usize, usize) -> String| {
        let mut row = vec![name.to_owned()];
        for engine in o.engines() {
            row.push(time(engine));
            if engine != base {
                row.push(ratio(engine, base));
            }
            if let Some(interpreter) = interpreter.filter(|&interpreter| interpreter != engine) {
                row.push(ratio(engine, interpreter));
            }
        }
        row
    };
    let mut rows = Vec::new();
    for (program, name) in o.runs.programs.iter().enumerate() {
        rows.push(row(
            name,
            &|engine| cell(o.runs.time(program, engine), time_of),
            &|engine, to| cell(o.runs.ratio(program, to, engine), factor),
        ));
    }
    if o.runs.programs.len() > 1 {
        rows.push(row("geometric mean", &|_| String::new(), &|engine, to| {
            cell(o.speed_up(engine, to), factor)
        }));
    }
    table(head, rows)
}

fn compilation(o: &Outcome) -> String {
    let engines: Vec<usize> = o.engines().filter(|&engine| o.compiles(engine)).collect();
    let names = engines.iter().map(|&engine| o.runs.engines[engine].clone());
    let head = std::iter::once("compilation, ms".to_owned()).chain(names).collect();
    let row = |name: &str, figure: &dyn Fn(usize) -> String| {
        let figures = engines.iter().map(|&engine| figure(engine));
        std::iter::once(name.to_owned()).chain(figures).collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<String>> = o
        .stages()
        .iter()
        .map(|(stage, times)| row(stage, &|engine| format!("{:.3}", times[engine] * 1e3)))
        .collect();
    rows.push(row("all", &|engine| format!("{:.3}", o.compile_time(engine) * 1e3)));
    rows.push(row("code, bytes", &|engine| {
        o.total(engine, |f| f.code_bytes.unwrap_or(0) as u64).to_string()
    }));
    rows.push(row("allocated, MiB", &|engine| {
        format!("{:.1}", mebibytes(o.total(engine, |f| f.heap.allocated)))
    }));
    rows.push(row("collections", &|engine| {
        o.total(engine, |f| f.heap.minor + f.heap.major).to_string()
    }));
    table(head, rows)
}

fn ablation(o: &Outcome) -> Option<String> {
    let (level, gains) = o.ablation()?;
    let head = ["left out", "takes", "interval", "most", "least"].map(str::to_owned).to_vec();
    let name = |at: Option<(usize, &Summary)>| {
        at.map_or_else(String::new, |(program, s)| {
            format!("{} {}", o.runs.programs[program], factor(s))
        })
    };
    let rows = gains.iter().map(|gain| {
        let by_median =
            |a: &(usize, &Summary), b: &(usize, &Summary)| a.1.median.total_cmp(&b.1.median);
        let programs = || gain.programs.iter().enumerate();
        vec![
            gain.pass.to_owned(),
            factor(&gain.mean),
            format!("{:.2} to {:.2}", gain.mean.low, gain.mean.high),
            name(programs().max_by(by_median)),
            name(programs().min_by(by_median)),
        ]
    });
    let table = table(head, rows.collect());
    Some(format!("-O{level} without a pass: how many times as long\n{table}"))
}

/// A comparison with peers: ratios to a base.
pub fn peers(c: &Comparison, base: usize, means: &[(String, Vec<Option<Summary>>)]) -> String {
    let mut head = vec!["program".to_owned(), c.engines[base].clone()];
    let others: Vec<usize> = (0..c.engines.len()).filter(|&engine| engine != base).collect();
    head.extend(others.iter().map(|&engine| c.engines[engine].clone()));
    let short = |s: &Summary| format!("{:.2}{}", s.median, spread(s));
    let mut rows = Vec::new();
    for (program, name) in c.programs.iter().enumerate() {
        let mut row = vec![name.clone(), cell(c.time(program, base), time_of)];
        row.extend(others.iter().map(|&engine| cell(c.ratio(program, engine, base), short)));
        rows.push(row);
    }
    for (title, means) in means {
        let mut row = vec![title.clone(), String::new()];
        row.extend(others.iter().map(|&engine| cell(means[engine].clone(), short)));
        rows.push(row);
    }
    table(head, rows)
}

/// A line a level, for the REPL: what one entry takes.
pub fn levels(rows: &[(String, Option<Summary>, Option<Summary>)]) -> String {
    let head = ["level", "compile", "run"].map(str::to_owned).to_vec();
    let rows = rows.iter().map(|(name, compile, run)| {
        vec![name.clone(), cell(compile.clone(), time_of), cell(run.clone(), time_of)]
    });
    table(head, rows.collect())
}
