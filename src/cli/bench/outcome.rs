//! What was measured, and what the columns mean: the ground of table, JSON and page.

use super::machine::Machine;
use toyjit::bench::stats::{CONFIDENCE, median};
use toyjit::bench::{Comparison, Figures, Measured, Summary};
use toyjit::timing::Clock;

/// What an engine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The interpreter.
    Interp,
    /// An optimisation level.
    Level(u8),
    /// A level without a pass.
    Without {
        /// The level.
        level: u8,
        /// The pass.
        pass: &'static str,
    },
}

impl Kind {
    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Kind::Interp => "interp".to_owned(),
            Kind::Level(level) => format!("-O{level}"),
            Kind::Without { level, pass } => format!("-O{level} --no-{pass}"),
        }
    }
}

/// Figures with all that is to be known of them.
#[derive(Debug)]
pub struct Outcome {
    /// Where and when.
    pub machine: Machine,
    /// The clock of all times.
    pub clock: Clock,
    /// How many rounds there were.
    pub rounds: usize,
    /// What the engines are.
    pub kinds: Vec<Kind>,
    /// The figures.
    pub measured: Measured,
    /// Times of running.
    pub runs: Comparison,
    /// Times of compiling.
    pub compilations: Comparison,
}

/// What a pass brings: how many times as long programs take without it.
#[derive(Debug)]
pub struct Gain {
    /// The pass.
    pub pass: &'static str,
    /// The geometric mean over the programs.
    pub mean: Summary,
    /// By program.
    pub programs: Vec<Summary>,
}

impl Outcome {
    /// The engines that are no ablations.
    pub fn engines(&self) -> impl Iterator<Item = usize> + '_ {
        let plain = |&engine: &usize| !matches!(self.kinds[engine], Kind::Without { .. });
        (0..self.kinds.len()).filter(plain)
    }

    /// The engine that speed-ups refer to: the lowest level.
    pub fn base(&self) -> usize {
        let level = |&engine: &usize| match self.kinds[engine] {
            Kind::Level(level) => level,
            _ => u8::MAX,
        };
        self.engines().min_by_key(level).unwrap_or(0)
    }

    /// The interpreter, if it took part.
    pub fn interpreter(&self) -> Option<usize> {
        self.kinds.iter().position(|kind| *kind == Kind::Interp)
    }

    /// How many times as fast an engine is as another, over all programs.
    pub fn speed_up(&self, engine: usize, base: usize) -> Option<Summary> {
        self.runs.mean(base, engine, |_| true)
    }

    /// The level whose passes were left out, and what each brings, the greatest gain first.
    pub fn ablation(&self) -> Option<(u8, Vec<Gain>)> {
        let mut of_level = None;
        let mut gains = Vec::new();
        for (engine, kind) in self.kinds.iter().enumerate() {
            let &Kind::Without { level, pass } = kind else { continue };
            let Some(whole) = self.kinds.iter().position(|k| *k == Kind::Level(level)) else {
                continue;
            };
            let Some(mean) = self.runs.mean(engine, whole, |_| true) else { continue };
            let programs = 0..self.measured.programs.len();
            let ratios = programs.filter_map(|p| self.runs.ratio(p, engine, whole));
            gains.push(Gain { pass, mean, programs: ratios.collect() });
            of_level = Some(level);
        }
        gains.sort_by(|a, b| b.mean.median.total_cmp(&a.mean.median));
        Some((of_level?, gains))
    }

    /// The stages of compilation in their order, each with the seconds that it takes by engine: the
    /// sum over the programs of the medians.
    pub fn stages(&self) -> Vec<(&'static str, Vec<f64>)> {
        let mut stages: Vec<(&'static str, Vec<f64>)> = Vec::new();
        for row in &self.measured.figures {
            for (engine, figures) in row.iter().enumerate() {
                for (stage, times) in &figures.stages {
                    let known = stages.iter().position(|(name, _)| name == stage);
                    let at = known.unwrap_or_else(|| {
                        stages.push((stage, vec![0.0; row.len()]));
                        stages.len() - 1
                    });
                    stages[at].1[engine] += median(times);
                }
            }
        }
        stages
    }

    /// The sum over the programs of the median times of compiling.
    pub fn compile_time(&self, engine: usize) -> f64 {
        let programs = 0..self.measured.programs.len();
        programs.filter_map(|p| Some(self.compilations.time(p, engine)?.median)).sum()
    }

    /// A figure of an engine, summed up over the programs.
    pub fn total(&self, engine: usize, of: impl Fn(&Figures) -> u64) -> u64 {
        self.measured.figures.iter().map(|row| of(&row[engine])).sum()
    }

    /// Whether machine code runs in it.
    pub fn compiles(&self, engine: usize) -> bool {
        self.kinds[engine] != Kind::Interp
    }

    /// What is to be said of noise, a sentence a line.
    pub fn noise(&self) -> Vec<String> {
        noise(&self.runs, self.rounds)
    }
}

/// An interval that goes further from its median than this is wide.
const WIDE: f64 = 0.05;
/// A machine that gets slower or faster by more than this drifts.
const DRIFT: f64 = 0.05;

/// What is to be said of the noise of a comparison, a sentence a line.
pub fn noise(runs: &Comparison, rounds: usize) -> Vec<String> {
    let mut said = Vec::new();
    let (mut all, mut wide, mut outliers, mut values) = (0, 0, 0, 0);
    let mut widest: Option<(f64, usize, usize)> = None;
    let mut confidence: f64 = 0.0;
    for program in 0..runs.programs.len() {
        for engine in 0..runs.engines.len() {
            let Some(summary) = runs.time(program, engine) else { continue };
            let spread = summary.spread();
            all += 1;
            wide += usize::from(spread > WIDE);
            outliers += summary.outliers;
            values += summary.count;
            confidence = confidence.max(summary.confidence);
            if widest.is_none_or(|(most, ..)| spread > most) {
                widest = Some((spread, program, engine));
            }
        }
    }
    let level = CONFIDENCE;
    let sure = (confidence * 1000.0).floor() / 10.0;
    let rounds = if rounds == 1 { "1 round".to_owned() } else { format!("{rounds} rounds") };
    said.push(match confidence < level {
        true => format!(
            "{rounds}: an interval holds with a confidence of {sure} % only; --runs 8 gives \
             {:.0} %.",
            level * 100.0
        ),
        false => format!("{rounds}; an interval holds with a confidence of {sure} %."),
    });
    if let Some((spread, program, engine)) = widest.filter(|_| values > all) {
        said.push(format!(
            "{wide} of {all} intervals of times go further than ±{:.0} % from their medians; the \
             widest is that of {} by {}, ±{}.",
            WIDE * 100.0,
            runs.programs[program],
            runs.engines[engine],
            super::format::percent(spread)
        ));
    }
    said.push(format!("{outliers} of {values} runs are outliers (they count all the same)."));
    let drift = runs.drift();
    if drift.abs() > DRIFT {
        let how = if drift > 0.0 { "slower" } else { "faster" };
        said.push(format!(
            "The machine drifted: the last third of the rounds was {} {how} than the first. Ratios \
             are made within a round and suffer little of it; times do.",
            super::format::percent(drift.abs())
        ));
    }
    said
}
