//! What the heap has done: bytes, collections, pauses.
//!
//! Pauses are counted in classes, an eighth of a power of two wide, so that any percentile is known
//! to 12 % however many there were.

use std::time::Duration;

/// What the heap has done so far.
#[derive(Clone, Debug, Default)]
pub struct HeapStats {
    /// Bytes allocated since the start.
    pub allocated: u64,
    /// Collections of the nursery alone.
    pub minor: u64,
    /// Collections of everything.
    pub major: u64,
    /// Bytes that were in the nursery when it was collected.
    pub collected: u64,
    /// Bytes of those that survived.
    pub survived: u64,
    /// Bytes that lived after the latest collection of everything.
    pub live: u64,
    /// Bytes that the heap takes from the machine.
    pub taken: u64,
    /// How long the collections took.
    pub pauses: Pauses,
}

impl HeapStats {
    /// The part of the nursery that survived, between 0 and 1.
    pub fn survival(&self) -> f64 {
        self.survived as f64 / self.collected.max(1) as f64
    }
}

/// Classes of a power of two.
const PER_POWER: u64 = 8;
const CLASSES: usize = 34 * PER_POWER as usize;

/// How long pauses were.
#[derive(Clone, Debug)]
pub struct Pauses {
    /// How many there were.
    pub count: u64,
    /// All together.
    pub total: Duration,
    /// The longest.
    pub longest: Duration,
    classes: Box<[u32; CLASSES]>,
}

impl Default for Pauses {
    fn default() -> Self {
        let (total, longest) = (Duration::ZERO, Duration::ZERO);
        Self { count: 0, total, longest, classes: Box::new([0; CLASSES]) }
    }
}

impl Pauses {
    pub(crate) fn add(&mut self, pause: Duration) {
        self.count += 1;
        self.total += pause;
        self.longest = self.longest.max(pause);
        self.classes[class(pause)] += 1;
    }

    /// What this part of the pauses (between 0 and 1) did not pass; the upper end of its class.
    pub fn percentile(&self, part: f64) -> Duration {
        let wanted = (self.count as f64 * part).ceil() as u64;
        let mut seen = 0;
        for (i, &count) in self.classes.iter().enumerate() {
            seen += u64::from(count);
            if seen >= wanted && seen > 0 {
                return upper_end(i as u64).min(self.longest);
            }
        }
        self.longest
    }
}

/// The class of a pause: of the microseconds `8 * 2^p + s * 2^p` and up, number `8 p + s + 8`; below
/// 8 the microseconds themselves.
fn class(pause: Duration) -> usize {
    let micros = u64::try_from(pause.as_micros()).unwrap_or(u64::MAX);
    if micros < PER_POWER {
        return micros as usize;
    }
    let power = u64::from(micros.ilog2()) - u64::from(PER_POWER.ilog2());
    let step = (micros >> power) - PER_POWER;
    ((power + 1) * PER_POWER + step).min(CLASSES as u64 - 1) as usize
}

fn upper_end(class: u64) -> Duration {
    let micros = match class.checked_sub(PER_POWER) {
        None => class + 1,
        Some(rest) => (PER_POWER + rest % PER_POWER + 1) << (rest / PER_POWER),
    };
    Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_their_pauses() {
        for micros in (0..5000).chain([1 << 20, (1 << 30) + 12345]) {
            let pause = Duration::from_micros(micros);
            let end = upper_end(class(pause) as u64);
            assert!(end > pause && end.as_micros() as u64 <= micros + micros / 8 + 1, "{micros}");
        }
        assert_eq!(class(Duration::MAX), CLASSES - 1);
    }

    #[test]
    fn percentiles() {
        let mut pauses = Pauses::default();
        assert_eq!(pauses.percentile(0.5), Duration::ZERO);
        for ms in 1..=100 {
            pauses.add(Duration::from_millis(ms));
        }
        let near = |part, ms: f64| {
            let found = pauses.percentile(part).as_secs_f64() * 1000.0;
            assert!((ms..ms * 1.13).contains(&found), "{found} for {ms}");
        };
        near(0.5, 50.0);
        near(0.99, 99.0);
        assert_eq!(pauses.percentile(1.0), Duration::from_millis(100));
    }
}
