//! How long one entry of a session takes from text to value. `cargo bench --bench entries`.

mod common;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use toyjit::Engine;
use toyjit::session::Session;
use toyjit::timing::Timings;

const DEFINITIONS: &str = "var total = 0;
fn square(x: int) -> int { return x * x; }
fn sum(n: int) -> int { var s = 0; for i in 0..n { s += square(i); } return s; }";

const ENTRIES: &[(&str, &str)] = &[
    ("expression", "1 + 1"),
    ("call", "sum(10)"),
    ("assignment", "total += sum(3);"),
    ("function", "fn twice(x: int) -> int { return 2 * x; }"),
];

fn entries(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("entries");
    for (name, entry) in ENTRIES {
        for level in [0, 2] {
            let mut session = Session::new(&Engine::new().level(level)).expect("memory");
            session.enter(DEFINITIONS, &mut Timings::new()).expect("definitions");
            group.bench_function(BenchmarkId::new(*name, format!("O{level}")), |b| {
                b.iter(|| session.enter(entry, &mut Timings::new()).expect("it runs"));
            });
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = common::brief(20, 200, 1000);
    targets = entries
}
criterion_main!(benches);
