//! What compiling cost: how long each stage took, what each pass did, copies before and after
//! coalescing.

use crate::mach::Copies;
use crate::opt::remark::Remark;
use crate::opt::{Event, Observer, Pass, Stats};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// What a time is told by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The clock on the wall.
    #[default]
    Wall,
    /// The processor time of this thread, user and system: it stands still while others run.
    Processor,
}

/// A moment on a clock.
#[derive(Clone, Copy, Debug)]
enum Moment {
    Wall(Instant),
    Processor(Duration),
}

impl Clock {
    fn now(self) -> Moment {
        match self {
            Clock::Wall => Moment::Wall(Instant::now()),
            Clock::Processor => Moment::Processor(processor_time()),
        }
    }
}

impl Moment {
    fn elapsed(self) -> Duration {
        match self {
            Moment::Wall(start) => start.elapsed(),
            Moment::Processor(start) => processor_time().saturating_sub(start),
        }
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Stages and their times in the order they were first seen.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    clock: Clock,
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
    /// Where the row of the next pass is, if they run as they did before.
    next: usize,
    remarks: Vec<Remark>,
}

impl PassTotals {
    /// The rows of the table of passes that ran, in the order in which they did first.
    pub fn rows(&self) -> &[(&'static Pass, Stats)] {
        &self.rows
    }

    /// What the passes said of their work, where that was asked for.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }
}

impl Observer for PassTotals {
    fn remarks(&mut self, remarks: Vec<Remark>) {
        self.remarks.extend(remarks);
    }

    fn after(&mut self, event: &Event<'_>) {
        let is_row = |&(pass, _): &(&'static Pass, Stats)| std::ptr::eq(pass, event.pass);
        let at = match self.rows.get(self.next) {
            Some(row) if is_row(row) => Some(self.next),
            _ => self.rows.iter().position(is_row),
        };
        match at {
            Some(at) => self.rows[at].1 += event.stats,
            None => self.rows.push((event.pass, event.stats)),
        }
        self.next = at.unwrap_or(self.rows.len() - 1) + 1;
    }
}

impl Timings {
    /// No stages, by the clock on the wall.
    pub fn new() -> Self {
        Self::default()
    }

    /// No stages, by a clock.
    pub fn by(clock: Clock) -> Self {
        Self { clock, ..Self::default() }
    }

    /// Runs `work` as (a part of) a stage.
    pub fn time<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let start = self.clock.now();
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

    /// Timings without stages by the same clock, for a part of the work that another thread does.
    pub fn apart(&self) -> Self {
        Self::by(self.clock)
    }

    /// Adds what a part of the work took.
    pub fn join(&mut self, part: &Self) {
        for &(stage, time) in &part.stages {
            self.add(stage, time);
        }
        self.copies += part.copies;
    }

    /// The stages with their times.
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }

    /// The time of a stage; none where it did not take place.
    pub fn stage(&self, stage: &str) -> Duration {
        self.stages.iter().find(|(name, _)| *name == stage).map_or(Duration::ZERO, |s| s.1)
    }

    /// The sum.
    pub fn total(&self) -> Duration {
        self.stages.iter().map(|(_, time)| time).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up() {
        let mut timings = Timings::by(Clock::Processor);
        assert_eq!(timings.time("run", || 7), 7);
        timings.add("parse", Duration::from_millis(2));
        timings.add("parse", Duration::from_millis(3));
        assert_eq!(timings.stage("parse"), Duration::from_millis(5));
        assert_eq!(timings.stage("link"), Duration::ZERO);
        assert_eq!(timings.total(), timings.stage("run") + Duration::from_millis(5));
    }
}
