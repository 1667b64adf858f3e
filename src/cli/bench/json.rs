//! The figures for tools; `docs/bench.md` describes them. `version` grows when a field changes its
//! meaning or goes.

use super::outcome::{Kind, Outcome};
use serde_json::{Map, Value, json};
use toyjit::bench::{Comparison, Figures, Summary};
use toyjit::source::fnv1a;
use toyjit::timing::Clock;

/// The version of both forms.
pub const VERSION: u32 = 1;

/// The name of a clock.
pub fn clock(clock: Clock) -> &'static str {
    match clock {
        Clock::Wall => "wall",
        Clock::Processor => "processor",
    }
}

/// A summary.
pub fn summary(summary: &Summary) -> Value {
    json!({
        "median": summary.median,
        "low": summary.low,
        "high": summary.high,
        "confidence": summary.confidence,
        "outliers": summary.outliers,
        "count": summary.count,
    })
}

fn maybe(of: Option<Summary>) -> Value {
    of.as_ref().map_or(Value::Null, summary)
}

/// What `--json` writes.
pub fn outcome(o: &Outcome) -> Value {
    let engines: Vec<Value> = o.kinds.iter().map(engine).collect();
    let programs: Vec<Value> = (0..o.runs.programs.len()).map(|p| program(o, p)).collect();
    json!({
        "schema": "toyjit-bench",
        "version": VERSION,
        "toyjit": env!("CARGO_PKG_VERSION"),
        "date": o.machine.date,
        "machine": o.machine.json(),
        "clock": clock(o.clock),
        "rounds": o.rounds,
        "base": o.runs.engines[o.base()],
        "engines": engines,
        "programs": programs,
        "speed_up": by_engine(o, |e| json!({
            "to_base": maybe(o.speed_up(e, o.base())),
            "to_interp": o.interpreter().map_or(Value::Null, |to| maybe(o.speed_up(e, to))),
        })),
        "ablation": ablation(o),
        "noise": { "drift": o.runs.drift(), "said": o.noise() },
    })
}

fn engine(kind: &Kind) -> Value {
    let (level, without) = match kind {
        Kind::Interp => (None, None),
        Kind::Level(level) => (Some(level), None),
        Kind::Without { level, pass } => (Some(level), Some(pass)),
    };
    json!({ "name": kind.name(), "level": level, "without": without })
}

fn by_engine(o: &Outcome, figure: impl Fn(usize) -> Value) -> Value {
    let rows = o.runs.engines.iter().enumerate().map(|(e, name)| (name.clone(), figure(e)));
    Value::Object(rows.collect::<Map<_, _>>())
}

fn program(o: &Outcome, program: usize) -> Value {
    let output = &o.measured.outputs[program];
    json!({
        "name": o.runs.programs[program],
        "output": { "bytes": output.len(), "fnv1a": format!("{:016x}", fnv1a(output)) },
        "engines": by_engine(o, |engine| {
            let f = &o.measured.figures[program][engine];
            json!({
                "run": times(&o.runs, program, engine),
                "compile": times(&o.compilations, program, engine),
                "stages": stages(f),
                "code_bytes": f.code_bytes,
                "heap": {
                    "allocated_bytes": f.heap.allocated,
                    "survived_bytes": f.heap.survived,
                    "minor_collections": f.heap.minor,
                    "major_collections": f.heap.major,
                    "pauses_s": f.heap.pauses.total.as_secs_f64(),
                    "longest_pause_s": f.heap.pauses.longest.as_secs_f64(),
                },
                "speed_up": {
                    "to_base": maybe(o.runs.ratio(program, o.base(), engine)),
                    "to_interp": o.interpreter()
                        .map_or(Value::Null, |to| maybe(o.runs.ratio(program, to, engine))),
                },
            })
        }),
    })
}

/// A summary with the seconds of each round.
fn times(c: &Comparison, program: usize, engine: usize) -> Value {
    let mut told = maybe(c.time(program, engine));
    told["rounds"] = json!(c.times[program][engine]);
    told
}

fn stages(figures: &Figures) -> Value {
    let rows = figures.stages.iter().map(|(stage, times)| {
        json!({ "stage": stage, "seconds": Summary::of(times).as_ref().map(summary) })
    });
    rows.collect()
}

fn ablation(o: &Outcome) -> Value {
    let Some((level, gains)) = o.ablation() else { return Value::Null };
    let passes: Vec<Value> = gains
        .iter()
        .map(|gain| {
            let programs = o.runs.programs.iter().zip(&gain.programs);
            let programs: Map<_, _> = programs.map(|(p, s)| (p.clone(), summary(s))).collect();
            json!({ "pass": gain.pass, "mean": summary(&gain.mean), "programs": programs })
        })
        .collect();
    json!({ "level": level, "passes": passes })
}
