//! Each program of the suite at each level, at its small size; what is measured is the run, without
//! compilation. `cargo bench --bench programs -- sieve`.

mod common;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use toyjit::Engine;
use toyjit::bench::suite::SUITE;

fn programs(criterion: &mut Criterion) {
    for member in SUITE {
        let mut group = criterion.benchmark_group(format!("programs/{}", member.name));
        for level in 0..=3 {
            let engine = Engine::new().level(level).args([member.small]);
            let load = || {
                let mut module = engine.compile(member.name, member.text).expect("it compiles");
                let _captured = module.capture();
                module
            };
            group.bench_function(format!("O{level}"), |b| {
                let run = |mut module: toyjit::Module| {
                    module.run().expect("it runs");
                    module
                };
                b.iter_batched(load, run, BatchSize::PerIteration);
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = common::brief(10, 50, 300);
    targets = programs
}
criterion_main!(benches);
