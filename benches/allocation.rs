//! How fast objects are made, and collected: objects a second. `cargo bench --bench allocation`.

mod common;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use toyjit::Engine;

/// What makes objects: a name, and a program with a function `work(n)` that makes `n` of them.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "short_lived",
        "struct P { x: int, y: int }
        fn work(n: int) -> int {
            var s = 0;
            var p = P { x: 0, y: 0 };
            for i in 0..n { p = P { x: i, y: p.x }; s += p.y; }
            return s;
        }",
    ),
    (
        "list",
        "struct N { value: int, next: N? }
        fn work(n: int) -> int {
            var list: N? = nil;
            for i in 0..n {
                if i % 100 == 0 { list = nil; }
                list = N { value: i, next: list };
            }
            return list!.value;
        }",
    ),
    (
        "arrays",
        "fn work(n: int) -> int {
            var s = 0;
            for i in 0..n { s += len([i; 16]); }
            return s;
        }",
    ),
    (
        "strings",
        "fn work(n: int) -> int {
            var s = 0;
            for i in 0..n { s += len(str(i)); }
            return s;
        }",
    ),
];

const STEPS: i64 = 100_000;

fn allocation(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("allocation");
    for &(name, text) in PROGRAMS {
        let mut module = Engine::new().compile(name, text).expect("it compiles");
        module.run().expect("it runs");
        let work = module.function::<(i64,), i64>("work").expect("it is there");
        group.throughput(Throughput::Elements(STEPS as u64));
        group.bench_function(name, |b| {
            b.iter(|| work.call(&mut module, (STEPS,)).expect("it runs"));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = common::brief(20, 200, 1000);
    targets = allocation
}
criterion_main!(benches);
