//! How fast each stage of compilation is, on generated programs of several sizes: bytes of source a
//! second. `cargo bench --bench stages`.

mod common;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use toyjit::bench::shapes::named;
use toyjit::mach::Target;
use toyjit::pipeline::Options;
use toyjit::source::{Interner, Sources};
use toyjit::x64::X64;
use toyjit::{lower, opt, regalloc, sema, ssa, syntax};

const SIZES: [usize; 3] = [100, 1000, 10_000];
const SHAPES: [&str; 3] = ["functions", "loops", "straight"];

fn stages(criterion: &mut Criterion) {
    for shape in SHAPES {
        for size in SIZES {
            let text = named(shape).map(|shape| (shape.make)(size)).unwrap_or_default();
            let mut sources = Sources::new();
            sources.add(shape, text.clone());
            one_program(criterion, shape, size, text.len() as u64, &sources);
        }
    }
}

fn one_program(criterion: &mut Criterion, shape: &str, size: usize, bytes: u64, sources: &Sources) {
    let mut group = criterion.benchmark_group(format!("stages/{shape}"));
    group.throughput(Throughput::Bytes(bytes));
    let batch = BatchSize::LargeInput;

    let mut interner = Interner::new();
    let (ast, _) = syntax::parse(sources, 0, &mut interner);
    let (program, _) = sema::check(&ast, &interner);
    let program = program.whole().expect("a program that is right");
    let lowered = lower::lower(&program, &interner).module;
    let options = Options::default();
    let in_ssa = |mut module: toyjit::ir::Module| {
        for function in module.functions.values_mut() {
            ssa::construct(function, ssa::choose(function), ssa::Folding::On);
        }
        module
    };
    let constructed = in_ssa(lowered.clone());
    let passes = opt::Options { level: options.level, verify: false, ..opt::Options::default() };
    let optimised = |mut module: toyjit::ir::Module| {
        opt::run(&mut module, &passes, &mut ());
        module
    };
    let module = optimised(constructed.clone());
    let target = X64::new(options.features);
    let select = || -> Vec<_> {
        module.functions.keys().map(|function| target.select(&module, function)).collect()
    };
    let code = select();
    let registers = target.registers();
    let how = regalloc::Options::default();
    let allocate = || -> Vec<_> {
        code.iter().map(|code| regalloc::allocate(code, registers, &how)).collect()
    };
    let allocations = allocate();

    let id = |stage: &str| BenchmarkId::new(stage, size);
    group.bench_function(id("parse"), |b| {
        b.iter(|| syntax::parse(black_box(sources), 0, &mut Interner::new()));
    });
    group.bench_function(id("check"), |b| b.iter(|| sema::check(black_box(&ast), &interner)));
    group.bench_function(id("lower"), |b| b.iter(|| lower::lower(black_box(&program), &interner)));
    group.bench_function(id("ssa"), |b| b.iter_batched(|| lowered.clone(), in_ssa, batch));
    group.bench_function(id("opt"), |b| b.iter_batched(|| constructed.clone(), optimised, batch));
    group.bench_function(id("select"), |b| b.iter(select));
    group.bench_function(id("regalloc"), |b| b.iter(allocate));
    group.bench_function(id("emit"), |b| {
        b.iter(|| -> Vec<_> {
            code.iter().zip(&allocations).map(|(code, a)| target.emit(code, a)).collect()
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = common::brief(10, 100, 400);
    targets = stages
}
criterion_main!(benches);
