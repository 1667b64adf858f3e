//! How long each stage took.

use std::time::{Duration, Instant};

/// Stages and their times in the order they were first seen.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    stages: Vec<(&'static str, Duration)>,
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
