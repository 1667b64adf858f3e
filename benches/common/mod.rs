//! How long the benches take.

use criterion::Criterion;
use std::time::Duration;

/// So many samples, in so many milliseconds after so many others.
pub fn brief(samples: usize, warm_up: u64, measuring: u64) -> Criterion {
    Criterion::default()
        .sample_size(samples)
        .warm_up_time(Duration::from_millis(warm_up))
        .measurement_time(Duration::from_millis(measuring))
}
