//! The figures as one HTML page that needs nothing beside it.

use super::format::{digits, factor_between, mebibytes, spread, time, time_of};
use super::machine::Machine;
use super::outcome::{Gain, Outcome};
use super::plot::{self, Axis, Mark, Point, Row, escape};
use toyjit::bench::{Comparison, Summary};
use toyjit::timing::Clock;

/// A page of sections.
pub fn page(title: &str, intro: &str, sections: &[String]) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n\
         <style>\n{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{intro}{2}{3}</body>\n</html>\n",
        escape(title),
        include_str!("style.css"),
        plot::SHAPES,
        sections.concat()
    )
}

/// A section.
pub fn section(title: &str, about: &str, body: &str) -> String {
    // The name of a level stays on one line.
    let about = escape(about).replace("-O", "&#8209;O");
    format!("<section>\n<h2>{}</h2>\n<p>{about}</p>\n{body}</section>\n", escape(title))
}

/// A table; cells are markup. The rows of `means` come last and stand out.
pub fn table(head: &[String], rows: &[Vec<String>], means: &[Vec<String>]) -> String {
    let line = |cells: &[String], tag: &str| {
        cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect::<String>()
    };
    let body = |rows: &[Vec<String>], open: &str| {
        rows.iter().map(|row| format!("{open}{}</tr>\n", line(row, "td"))).collect::<String>()
    };
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}{}</tbody>\n\
         </table></div>\n",
        line(head, "th"),
        body(rows, "<tr>"),
        body(means, "<tr class=\"mean\">")
    )
}

fn cells(first: &str, rest: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(escape(first)).chain(rest).collect()
}

/// A factor and, small, its interval.
pub fn factor_cell(summary: Option<&Summary>) -> String {
    summary.map_or_else(
        || "–".to_owned(),
        |s| format!("{:.2} <small>{:.2}–{:.2}</small>", s.median, s.low, s.high),
    )
}

/// A time and, small, how far its interval goes.
pub fn time_cell(summary: Option<&Summary>) -> String {
    summary.map_or_else(
        || "–".to_owned(),
        |s| format!("{}<small>{}</small>", time(s.median), spread(s)),
    )
}

/// A tick of an axis of factors.
pub fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn mark(series: usize, summary: &Summary, said: String) -> Mark {
    Mark { series, value: summary.median, low: summary.low, high: summary.high, said }
}

/// A row of times for each program, a mark for each engine.
pub fn times(about: &str, c: &Comparison, engines: &[usize]) -> String {
    let row = |program: usize| {
        let marks = engines.iter().enumerate().filter_map(|(series, &engine)| {
            let summary = c.time(program, engine)?;
            let said =
                format!("{}, {}: {}", c.programs[program], c.engines[engine], time_of(&summary));
            Some(mark(series, &summary, said))
        });
        Row { label: c.programs[program].clone(), marks: marks.collect(), dots: Vec::new() }
    };
    let rows: Vec<Row> = (0..c.programs.len()).map(row).collect();
    let names: Vec<String> = engines.iter().map(|&engine| c.engines[engine].clone()).collect();
    let along = axis_of("run time", &rows, time_tick);
    plot::legend(&names) + &plot::rows(about, &along, &rows, None)
}

/// A row for each program, a mark for the factor of each engine to a base.
pub fn factors(about: &str, label: &str, c: &Comparison, engines: &[usize], base: usize) -> String {
    let row = |program: usize| {
        let marks = engines.iter().enumerate().filter_map(|(series, &engine)| {
            let summary = c.ratio(program, engine, base)?;
            let said = format!(
                "{}, {}: {}",
                c.programs[program],
                c.engines[engine],
                factor_between(&summary)
            );
            Some(mark(series, &summary, said))
        });
        Row { label: c.programs[program].clone(), marks: marks.collect(), dots: Vec::new() }
    };
    let rows: Vec<Row> = (0..c.programs.len()).map(row).collect();
    let names: Vec<String> = engines.iter().map(|&engine| c.engines[engine].clone()).collect();
    let along = axis_of(label, &rows, plain);
    plot::legend(&names) + &plot::rows(about, &along, &rows, Some(1.0))
}

/// A row with a mean, and behind it the programs.
pub fn mean_row(name: &str, mean: &Summary, dots: Vec<(f64, String)>) -> Row {
    let marks = vec![mark(1, mean, format!("{name}: {}", factor_between(mean)))];
    Row { label: name.to_owned(), marks, dots }
}

/// Rows of factors around 1.
pub fn means(about: &str, label: &str, rows: &[Row]) -> String {
    plot::rows(about, &axis_of(label, rows, plain), rows, Some(1.0))
}

fn axis_of(label: &str, rows: &[Row], unit: fn(f64) -> String) -> Axis {
    let marks = rows.iter().flat_map(|row| &row.marks).flat_map(|mark| [mark.low, mark.high]);
    let dots = rows.iter().flat_map(|row| &row.dots).map(|dot| dot.0);
    Axis::over(label, marks.chain(dots), unit)
}

fn time_tick(seconds: f64) -> String {
    match seconds {
        s if s >= 0.9999 => format!("{} s", plain(s)),
        s if s >= 0.000_999_9 => format!("{} ms", plain(s * 1e3)),
        s => format!("{} µs", plain(s * 1e6)),
    }
}

/// What every page says of its figures.
pub fn method(clock: &str, rounds: usize) -> String {
    format!(
        "Times are {clock}. All engines run every program once in each of {rounds} rounds; a figure \
         is the median of its rounds, a ratio is made of two times of one round, and the intervals \
         are those between which the true median lies with 99 % confidence, if there are 8 rounds \
         or more. Scales are logarithmic."
    )
}

/// The page of `toyjit bench`.
pub fn outcome(o: &Outcome, title: &str) -> String {
    let clock = match o.clock {
        Clock::Processor => "processor time, user and system",
        Clock::Wall => "elapsed time",
    };
    let intro = intro(&o.machine, &method(clock, o.rounds));
    let mut sections = vec![run_times(o), compilation(o)];
    sections.extend(ablation(o));
    sections.push(noise(&o.noise()));
    page(title, &intro, &sections)
}

/// The lines below the title.
pub fn intro(machine: &Machine, method: &str) -> String {
    format!(
        "<p class=\"soft\">toyjit {}; {}</p>\n<p>{}</p>\n",
        env!("CARGO_PKG_VERSION"),
        escape(&machine.line()),
        escape(method)
    )
}

/// The section that tells of noise.
pub fn noise(said: &[String]) -> String {
    let lines = said.iter().map(|line| format!("<li>{}</li>\n", escape(line)));
    section(
        "Noise",
        "How far the figures can be trusted.",
        &format!("<ul>\n{}</ul>\n", lines.collect::<String>()),
    )
}

fn run_times(o: &Outcome) -> String {
    let engines: Vec<usize> = o.engines().collect();
    let base = o.base();
    let mut body =
        times("Run time of each program by each engine, with intervals", &o.runs, &engines);
    let mut head = vec!["program".to_owned()];
    let base_name = &o.runs.engines[base];
    for &engine in &engines {
        head.push(escape(&o.runs.engines[engine]));
        if engine != base {
            head.push(format!("as fast as {base_name}"));
        }
        if o.interpreter().is_some_and(|interpreter| interpreter != engine) {
            head.push("as interp".to_owned());
        }
    }
    let row =
        |name: &str, time: &dyn Fn(usize) -> String, ratio: &dyn Fn(usize, usize) -> String| {
            let figures = engines.iter().flat_map(|&engine| {
                let mut figures = vec![time(engine)];
                figures.extend((engine != base).then(|| ratio(engine, base)));
                let interpreter = o.interpreter().filter(|&interpreter| interpreter != engine);
                figures.extend(interpreter.map(|interpreter| ratio(engine, interpreter)));
                figures
            });
            cells(name, figures)
        };
    let rows: Vec<Vec<String>> = (0..o.runs.programs.len())
        .map(|program| {
            row(
                &o.runs.programs[program],
                &|engine| time_cell(o.runs.time(program, engine).as_ref()),
                &|engine, to| factor_cell(o.runs.ratio(program, to, engine).as_ref()),
            )
        })
        .collect();
    let mean = row("geometric mean", &|_| String::new(), &|engine, to| {
        factor_cell(o.speed_up(engine, to).as_ref())
    });
    body += &table(&head, &rows, &[mean]);
    section(
        "Run time",
        &format!(
            "Further left is faster. “As fast as” is the time of {base_name} over that of the column."
        ),
        &body,
    )
}

fn compilation(o: &Outcome) -> String {
    let engines: Vec<usize> = o.engines().filter(|&engine| o.compiles(engine)).collect();
    let base = o.base();
    let points: Vec<Point> = engines
        .iter()
        .enumerate()
        .filter_map(|(series, &engine)| {
            let speed = o.speed_up(engine, base)?;
            let compile = sum_of_rounds(&o.compilations, engine)?;
            let name = &o.runs.engines[engine];
            let said = format!("{name}: {}, {}", time_of(&compile), factor_between(&speed));
            Some(Point {
                label: name.clone(),
                across: mark(series, &compile, said.clone()),
                up: mark(series, &speed, said),
            })
        })
        .collect();
    let across = points.iter().flat_map(|p| [p.across.low, p.across.high]);
    let up = points.iter().flat_map(|p| [p.up.low, p.up.high]);
    let base_name = &o.runs.engines[base];
    let mut body = plot::plane(
        "Compile time against speed of the code",
        &Axis::over("compile time, all programs together", across, time_tick),
        &Axis::over(&format!("speed of the code, times that of {base_name}"), up, plain),
        &points,
    );
    let head = cells("stage, ms", engines.iter().map(|&e| escape(&o.runs.engines[e])));
    let row = |name: &str, figure: &dyn Fn(usize) -> String| {
        cells(name, engines.iter().map(|&engine| figure(engine)))
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
    body += &table(&head, &rows, &[]);
    body += &memory(o, &engines);
    section(
        "Compilation and memory",
        "Further up is faster code, further left is faster compilation. The tables tell the sum over \
         the programs of the median times of each stage, and what each program has of code and \
         allocates when it runs.",
        &body,
    )
}

/// The times of compiling all programs, round by round.
fn sum_of_rounds(c: &Comparison, engine: usize) -> Option<Summary> {
    let rounds = c.times.first()?.get(engine)?.len();
    let sums: Vec<f64> = (0..rounds)
        .filter_map(|round| c.times.iter().map(|row| row[engine][round]).sum::<Option<f64>>())
        .collect();
    Summary::of(&sums)
}

fn memory(o: &Outcome, engines: &[usize]) -> String {
    let names: Vec<String> = engines.iter().map(|&e| escape(&o.runs.engines[e])).collect();
    let mut head = vec!["program".to_owned()];
    for what in ["code, bytes", "allocated, MiB", "collections"] {
        head.extend(names.iter().map(|name| format!("{what}<br>{name}")));
    }
    let rows: Vec<Vec<String>> = o
        .measured
        .figures
        .iter()
        .zip(&o.runs.programs)
        .map(|(row, name)| {
            let figures = |of: &dyn Fn(usize) -> String| engines.iter().map(|&e| of(e)).collect();
            let code: Vec<String> = figures(&|e| row[e].code_bytes.unwrap_or(0).to_string());
            let bytes: Vec<String> = figures(&|e| digits(mebibytes(row[e].heap.allocated)));
            let collections: Vec<String> =
                figures(&|e| (row[e].heap.minor + row[e].heap.major).to_string());
            cells(name, code.into_iter().chain(bytes).chain(collections))
        })
        .collect();
    table(&head, &rows, &[])
}

fn ablation(o: &Outcome) -> Option<String> {
    let (level, gains) = o.ablation()?;
    let label = format!("time without it, times that of -O{level}");
    let dots = |gain: &Gain| {
        let programs = gain.programs.iter().zip(&o.runs.programs);
        programs.map(|(s, name)| (s.median, format!("{name}: {}", factor_between(s)))).collect()
    };
    let rows: Vec<Row> = gains.iter().map(|g| mean_row(g.pass, &g.mean, dots(g))).collect();
    let mut body = means("What each pass brings", &label, &rows);
    let head = ["left out", "mean", "takes longer", "is faster"].map(str::to_owned);
    let rows: Vec<Vec<String>> = gains
        .iter()
        .map(|gain| {
            let clear = |keep: &dyn Fn(&Summary) -> bool| {
                let programs = o.runs.programs.iter().zip(&gain.programs);
                let mut told: Vec<_> = programs.filter(|(_, s)| keep(s)).collect();
                told.sort_by(|a, b| b.1.median.ln().abs().total_cmp(&a.1.median.ln().abs()));
                let told = told
                    .iter()
                    .take(6)
                    .map(|(name, s)| format!("{} {:.2}", escape(name), s.median));
                told.collect::<Vec<_>>().join(", ")
            };
            vec![
                gain.pass.to_owned(),
                factor_cell(Some(&gain.mean)),
                clear(&|s| s.low > 1.0 && s.median > 1.03),
                clear(&|s| s.high < 1.0 && s.median < 0.97),
            ]
        })
        .collect();
    body += &table(&head, &rows, &[]).replacen("scroll", "scroll names", 1);
    Some(section(
        "What each pass brings",
        &format!(
            "Each pass left out of -O{level} in turn. The square is the geometric mean over the \
             programs, the dots are the programs; right of the dashed line the pass pays. The table \
             names programs whose whole interval is on one side, by more than 3 %."
        ),
        &body,
    ))
}
