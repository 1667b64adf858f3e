//! What compiling cost: how long each stage took, what each pass did, copies before and after
//! coalescing.

use crate::mach::Copies;
use crate::opt::{Event, Observer, Pass, Stats};
use std::time::{Duration, Instant};

/// Stages and their times in the order they were first seen.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    stages: Vec<(&'static str, Duration)>,
    /// What the passes did.
    pub passes: PassTotals,
    /// The copies on edges of all functions.
    pub copies: Copies,
}

/// What each pass did, summed over all functions.
#[derive(Clone, Debug, Default)]
pub struct PassTotals {
    rows: Vec<(&'static Pass, Stats)>,
}

impl PassTotals {
    /// The rows of the table of passes that ran, in the order in which they did first.
    pub fn rows(&self) -> &[(&'static Pass, Stats)] {
        &self.rows
    }
}

impl Observer for PassTotals {
    fn after(&mut self, event: &Event<'_>) {
        match self.rows.iter_mut().find(|(pass, _)| std::ptr::eq(*pass, event.pass)) {
            Some((_, total)) => *total += event.stats,
            None => self.rows.push((event.pass, event.stats)),
        }
    }
}

impl Timings {
    /// No stages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `work` as (a part of) a stage.
    pub fn time<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(stage, start.elapsed());
        result
    }

    /// Adds to a stage's time.
    pub fn add(&mut self, stage: &'static str, time: Duration) {
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, total)) => *total += time,
            None => self.stages.push((stage, time)),
        }
    }

    /// The stages with their times.
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }

    /// The sum.
    pub fn total(&self) -> Duration {
        self.stages.iter().map(|(_, time)| time).sum()
    }
}
