//! Runs programs by engines in turn and takes their times.
//!
//! The outermost loop is over rounds: in each, every program runs once by every engine, so that the
//! runs of one program are spread over the whole time, and a machine that drifts or is disturbed for
//! a while spoils a little of each figure and not the whole of some. Every run is a whole one: text to
//! tree to code, in a new runtime. What it prints must be what the first run of the program printed.

use super::compare::Comparison;
use crate::engine::{CompileError, Engine, HeapStats, Input, Language, Module, Stop, Stopped};
use crate::timing::Clock;
use std::path::Path;
use std::time::Duration;

/// A program to be measured.
#[derive(Debug)]
pub struct Program {
    /// What it is called.
    pub name: String,
    /// The name of its file.
    pub file: String,
    /// Its text.
    pub text: String,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
}

/// An engine with its name.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub engine: Engine,
}

/// The interpreter takes part in so many rounds only: it is slower by two orders of magnitude, and
/// nobody needs to know by how much exactly.
const INTERPRETED: usize = 3;

/// What is to be measured, and how.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The programs.
    pub programs: &'a [Program],
    /// The engines.
    pub variants: &'a [Variant],
    /// How many rounds.
    pub rounds: usize,
    /// By which clock.
    pub clock: Clock,
}

/// One run.
struct Run {
    /// The exit code.
    code: i32,
    /// What it printed.
    output: Vec<u8>,
    /// The program, which has run.
    module: Module,
}

/// Why nothing was measured.
#[derive(Debug)]
pub enum Failure {
    /// A program could not be compiled.
    Compile(CompileError),
    /// A run ended early.
    Stopped(Stopped),
    /// By the second engine a program printed, or exited with, something else than by the first.
    Differs(String, String),
}

/// Compiles a program and runs it.
fn run(program: &Program, engine: &Engine, input: Input, clock: Clock) -> Result<Run, Failure> {
    let language = Language::of(Path::new(&program.file), &program.text);
    let engine = engine.clone().clock(clock).args(program.args.iter().cloned());
    let checked = engine.check_as(language, &program.file, program.text.as_str());
    let mut module = checked.and_then(|checked| checked.compile()).map_err(Failure::Compile)?;
    module.set_input(input);
    let captured = module.capture();
    let code = match module.run() {
        Ok(code) => code,
        Err(Stopped { stop: Stop::Exit(code), .. }) => code,
        Err(stopped) => return Err(Failure::Stopped(stopped)),
    };
    Ok(Run { code, output: captured.take(), module })
}

/// What was measured of a program by an engine.
#[derive(Debug, Default)]
pub struct Figures {
    /// Seconds that running took, by round.
    pub run: Vec<Option<f64>>,
    /// Seconds that compiling took, by round.
    pub compile: Vec<Option<f64>>,
    /// The stages of compiling, and their seconds in each round in which they took place.
    pub stages: Vec<(&'static str, Vec<f64>)>,
    /// Bytes of machine code.
    pub code_bytes: Option<usize>,
    /// What the heap did in the first round.
    pub heap: HeapStats,
}

/// What was measured.
#[derive(Debug, Default)]
pub struct Measured {
    /// Names of the programs.
    pub programs: Vec<String>,
    /// Names of the engines.
    pub engines: Vec<String>,
    /// By program, by engine.
    pub figures: Vec<Vec<Figures>>,
    /// What each program printed.
    pub outputs: Vec<Vec<u8>>,
}

impl Figures {
    fn add(&mut self, run: Option<&Run>) {
        let Some(run) = run else {
            self.run.push(None);
            self.compile.push(None);
            return;
        };
        if self.run.is_empty() {
            self.code_bytes = run.module.code_bytes();
            self.heap = run.module.heap_stats();
        }
        let timings = run.module.timings();
        let ran = timings.stage("run");
        self.run.push(Some(ran.as_secs_f64()));
        self.compile.push(Some(timings.total().saturating_sub(ran).as_secs_f64()));
        for &(stage, time) in timings.stages().iter().filter(|(stage, _)| *stage != "run") {
            self.add_stage(stage, time);
        }
    }

    fn add_stage(&mut self, stage: &'static str, time: Duration) {
        let time = time.as_secs_f64();
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, times)) => times.push(time),
            None => self.stages.push((stage, vec![time])),
        }
    }
}

impl Measured {
    /// The times of running.
    pub fn runs(&self) -> Comparison {
        self.comparison(|figures| figures.run.clone())
    }

    /// The times of compiling.
    pub fn compilations(&self) -> Comparison {
        self.comparison(|figures| figures.compile.clone())
    }

    fn comparison(&self, times: impl Fn(&Figures) -> Vec<Option<f64>>) -> Comparison {
        Comparison {
            engines: self.engines.clone(),
            programs: self.programs.clone(),
            times: self.figures.iter().map(|row| row.iter().map(&times).collect()).collect(),
        }
    }
}

/// Does what a plan says. `input` gives what a run reads from; `before` hears of each run before it
/// begins: the program, the engine, the round.
pub fn measure(
    plan: &Plan<'_>,
    mut input: impl FnMut() -> Input,
    mut before: impl FnMut(&Program, &Variant, usize),
) -> Result<Measured, (usize, Failure)> {
    let row = || plan.variants.iter().map(|_| Figures::default()).collect();
    let mut measured = Measured {
        programs: plan.programs.iter().map(|program| program.name.clone()).collect(),
        engines: plan.variants.iter().map(|variant| variant.name.clone()).collect(),
        figures: plan.programs.iter().map(|_| row()).collect(),
        outputs: Vec::new(),
    };
    let mut codes = Vec::new();
    for round in 0..plan.rounds {
        for (number, program) in plan.programs.iter().enumerate() {
            for (engine, variant) in plan.variants.iter().enumerate() {
                before(program, variant, round);
                let figures = &mut measured.figures[number][engine];
                if variant.engine.is_interpreted() && round >= INTERPRETED {
                    figures.add(None);
                    continue;
                }
                let run = run(program, &variant.engine, input(), plan.clock);
                let run = run.map_err(|failure| (number, failure))?;
                figures.add(Some(&run));
                if codes.len() == number {
                    codes.push(run.code);
                    measured.outputs.push(run.output);
                } else if (run.code, &run.output) != (codes[number], &measured.outputs[number]) {
                    let (first, other) = (plan.variants[0].name.clone(), variant.name.clone());
                    return Err((number, Failure::Differs(first, other)));
                }
            }
        }
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(text: &str) -> Program {
        let (name, file) = ("p".into(), "p.toy".into());
        Program { name, file, text: text.into(), args: vec![b"7".to_vec()] }
    }

    fn variants() -> Vec<Variant> {
        let interp = Engine::new().interpreted(true);
        vec![
            Variant { name: "O0".into(), engine: Engine::new().level(0) },
            Variant { name: "O2".into(), engine: Engine::new().level(2) },
            Variant { name: "interp".into(), engine: interp },
        ]
    }

    fn measured(text: &str, rounds: usize) -> Result<Measured, (usize, Failure)> {
        let plan = Plan {
            programs: &[program(text)],
            variants: &variants(),
            rounds,
            clock: Clock::default(),
        };
        measure(&plan, || Input::bytes(b"a line\n".to_vec()), |_, _, _| {})
    }

    #[test]
    fn runs_in_turn_and_tells_figures() {
        let text = "print(read_line(), args()[0], push_all([1, 2]));\n\
                    fn push_all(xs: [int]) -> int { push(xs, 3); return len(xs); }";
        let measured = measured(text, INTERPRETED + 1).expect("it runs");
        assert_eq!(measured.outputs, [b"a line 7 3\n"]);
        let [o0, o2, interp] = &measured.figures[0][..] else { panic!("three engines") };
        assert!(o0.code_bytes.is_some() && o2.code_bytes.is_some() && interp.code_bytes.is_none());
        assert!(o0.heap.allocated > 0 && interp.heap.allocated > 0);
        assert_eq!(o2.run.iter().flatten().count(), INTERPRETED + 1);
        assert_eq!(interp.run.iter().flatten().count(), INTERPRETED);
        assert_eq!(interp.run.len(), o2.run.len());
        let stages: Vec<&str> = o2.stages.iter().map(|stage| stage.0).collect();
        assert!(stages.contains(&"parse") && stages.contains(&"emit") && !stages.contains(&"run"));
    }

    #[test]
    fn engines_that_differ_are_found() {
        // The first run of all sees another input than the others.
        let mut first = true;
        let input =
            || Input::bytes(if std::mem::take(&mut first) { b"a\n" } else { b"b\n" }.to_vec());
        let plan = Plan {
            programs: &[program("print(read_line());")],
            variants: &variants(),
            rounds: 1,
            clock: Clock::default(),
        };
        match measure(&plan, input, |_, _, _| {}) {
            Err((0, Failure::Differs(a, b))) => assert_eq!((&*a, &*b), ("O0", "O2")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn failures_are_told() {
        assert!(matches!(measured("print(x);", 1), Err((0, Failure::Compile(_)))));
        let trap = measured("print([1][args()[0].len()]);", 1);
        assert!(matches!(trap, Err((0, Failure::Stopped(_)))), "{trap:?}");
        assert!(measured("exit(3);", 2).is_ok());
    }
}
