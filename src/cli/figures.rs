//! What `--time` tells: how long each stage took, what each pass did, how many copies leaving SSA
//! form left, what was allocated and what collecting it cost.

use clap::ValueEnum;
use std::time::Duration;
use toyjit::engine::HeapStats;
use toyjit::timing::Timings;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TimeFormat {
    Text,
    Json,
}

/// Tells on standard error.
pub fn tell(timings: &Timings, heap: &HeapStats, format: TimeFormat) {
    match format {
        TimeFormat::Text => anstream::eprint!("{}", text(timings, heap)),
        TimeFormat::Json => anstream::eprintln!("{}", json(timings, heap)),
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn text(timings: &Timings, heap: &HeapStats) -> String {
    let mut lines = Vec::new();
    for (stage, time) in timings.stages() {
        lines.push(format!("{stage:>12} {:10.3} ms", ms(*time)));
    }
    lines.push(format!("{:>12} {:10.3} ms", "total", ms(timings.total())));
    for (pass, stats) in timings.passes.rows() {
        lines.push(format!(
            "{:>12} {:10.3} ms, {} to {} instructions, {} rewrites",
            pass.name,
            ms(stats.time),
            stats.insts_before,
            stats.insts_after,
            stats.rewrites
        ));
    }
    let copies = timings.copies;
    lines.push(format!(
        "{:>12} {:6} on edges before coalescing, {} after; {} critical edges split",
        "copies", copies.before, copies.after, copies.split_edges
    ));
    let pauses = &heap.pauses;
    lines.push(format!(
        "{:>12} {:10.3} MiB, {:.3} MiB in use at the end",
        "allocated",
        mib(heap.allocated),
        mib(heap.taken)
    ));
    lines.push(format!(
        "{:>12} {:6} of the nursery, {} of everything, {:.1} % of the nursery survived",
        "collections",
        heap.minor,
        heap.major,
        100.0 * heap.survival()
    ));
    lines.push(format!(
        "{:>12} {:10.3} ms in all, median {:.3}, 99 % below {:.3}, worst {:.3}",
        "pauses",
        ms(pauses.total),
        ms(pauses.percentile(0.5)),
        ms(pauses.percentile(0.99)),
        ms(pauses.longest)
    ));
    lines.join("\n") + "\n"
}

fn json(timings: &Timings, heap: &HeapStats) -> serde_json::Value {
    let stages: Vec<_> = timings
        .stages()
        .iter()
        .map(|(stage, time)| serde_json::json!({ "stage": stage, "ms": ms(*time) }))
        .collect();
    let passes: Vec<_> = timings
        .passes
        .rows()
        .iter()
        .map(|(pass, stats)| {
            serde_json::json!({
                "pass": pass.name,
                "ms": ms(stats.time),
                "insts_before": stats.insts_before,
                "insts_after": stats.insts_after,
                "rewrites": stats.rewrites,
            })
        })
        .collect();
    let (copies, pauses) = (timings.copies, &heap.pauses);
    serde_json::json!({
        "stages": stages,
        "total_ms": ms(timings.total()),
        "passes": passes,
        "copies": {
            "before": copies.before,
            "after": copies.after,
            "split_edges": copies.split_edges,
        },
        "heap": {
            "allocated_bytes": heap.allocated,
            "survived_bytes": heap.survived,
            "survival": heap.survival(),
            "live_bytes": heap.live,
            "taken_bytes": heap.taken,
            "minor_collections": heap.minor,
            "major_collections": heap.major,
            "pauses": {
                "count": pauses.count,
                "total_ms": ms(pauses.total),
                "median_ms": ms(pauses.percentile(0.5)),
                "p99_ms": ms(pauses.percentile(0.99)),
                "worst_ms": ms(pauses.longest),
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_of_nothing() {
        let (timings, heap) = (Timings::new(), HeapStats::default());
        assert!(text(&timings, &heap).contains("0 of the nursery, 0 of everything"));
        assert_eq!(json(&timings, &heap)["heap"]["pauses"]["worst_ms"], 0.0);
    }
}
