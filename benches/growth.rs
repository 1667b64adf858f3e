//! How compile time and memory grow with the size of a program: for each shape, programs of 1,000
//! statements and doublings of it. Told are the least time of some compilations, IR instructions (of
//! SSA form, terminators too) a second from source to code and from SSA form to code, the growth per
//! doubling, how much the most memory of the process grew for each IR instruction of the largest
//! program so far, the share of the front end (all up to SSA form), and the dearest stages.
//! `cargo bench --bench growth -- --max 128000 live`. Nothing that runs is measured.
//! `--write FOLDER` writes programs of the size `--max` instead.

use clap::Parser;
use std::path::PathBuf;
use toyjit::bench::shapes::{SHAPES, Shape, named};
use toyjit::ir::Module;
use toyjit::opt;
use toyjit::pipeline::{self, Options};
use toyjit::source::Sources;
use toyjit::ssa::{self, Folding};
use toyjit::timing::{Clock, Timings};

/// How compile time grows with the size of a program.
#[derive(Parser)]
struct Growth {
    /// The largest size, in statements.
    #[arg(long, default_value_t = 8000)]
    max: usize,

    /// The optimisation level.
    #[arg(long, default_value_t = 2)]
    level: u8,

    /// How many compilations of each program, of which the fastest counts.
    #[arg(long, default_value_t = 3)]
    runs: u32,

    /// Write the programs of the largest size to this folder instead.
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,

    /// Shapes; all where none is named.
    #[arg(value_parser = shape)]
    shapes: Vec<Shape>,

    /// What `cargo bench` says; without it sizes are small, since it is a test then.
    #[arg(long, hide = true)]
    bench: bool,
}

fn shape(name: &str) -> Result<Shape, String> {
    let names = || SHAPES.iter().map(|shape| shape.name).collect::<Vec<_>>().join(", ");
    named(name).copied().ok_or_else(|| format!("shapes are {}", names()))
}

/// The stages and their times, by the processor's clock, and the number of IR instructions.
fn compile(sources: &Sources, level: u8) -> (Timings, usize) {
    let mut timings = Timings::by(Clock::Processor);
    let options = Options { level, verify: false, ..Options::default() };
    let (front, said) = pipeline::front(sources, &mut timings);
    let mut module = front.unwrap_or_else(|| panic!("{said:?}")).lowered.module;
    timings.time("ssa", || {
        for function in module.functions.values_mut() {
            ssa::construct(function, ssa::choose(function), Folding::On);
        }
    });
    let insts = count(&module);
    let passes = opt::Options { level, ..opt::Options::default() };
    timings.time("opt", || opt::run(&mut module, &passes, &mut ()));
    pipeline::machine_code_in_place_of(&mut module, &options, &mut timings).expect("it compiles");
    (timings, insts)
}

fn count(module: &Module) -> usize {
    let blocks = module.functions.values().flat_map(|function| function.blocks.values());
    blocks.map(|block| block.insts.len() + 1).sum()
}

/// The most memory that the process has had in use, in bytes; 0 where the system does not tell.
fn most_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn ms(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn grow(growth: &Growth, shape: Shape) {
    println!("{}, -O{}", shape.name, growth.level);
    let (mut last, memory_before) = (None, most_memory());
    for size in std::iter::successors(Some(1000), |size| Some(size * 2)) {
        if size > growth.max {
            break;
        }
        let mut sources = Sources::new();
        sources.add(shape.name, (shape.make)(size));
        let runs = (0..growth.runs.max(1)).map(|_| compile(&sources, growth.level));
        let Some((best, insts)) = runs.min_by_key(|(timings, _)| timings.total()) else { break };
        let total = ms(best.total());
        let is_front = |name: &str| ["parse", "check", "lower", "flow", "ssa"].contains(&name);
        let front: f64 = best
            .stages()
            .iter()
            .filter(|(name, _)| is_front(name))
            .map(|(_, time)| ms(*time))
            .sum();
        let factor = last.map_or_else(|| " ".repeat(8), |last| format!("  x {:4.2}", total / last));
        let mut stages = best.stages().to_vec();
        stages.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
        let dearest = stages.iter().take(3).map(|(name, time)| format!("{name} {:.1}", ms(*time)));
        let dearest = dearest.collect::<Vec<_>>().join(", ");
        let rate = |time: f64| insts as f64 / time / 1e3;
        let each = (most_memory() - memory_before) / insts;
        println!(
            "  {size:7} statements {insts:8} IR {total:9.2} ms{factor} {:6.2} M/s {:6.2} M/s from SSA \
             {each:5} B each  front {:2.0} %   {dearest}",
            rate(total),
            rate(total - front),
            100.0 * front / total,
        );
        last = Some(total);
    }
}

fn main() {
    let mut growth = Growth::parse();
    if !growth.bench {
        (growth.max, growth.runs) = (1000, 1);
    }
    let shapes = if growth.shapes.is_empty() { SHAPES } else { &growth.shapes };
    for &shape in shapes {
        match &growth.write {
            Some(folder) => {
                let file = folder.join(format!("{}{}.toy", shape.name, growth.max));
                std::fs::write(file, (shape.make)(growth.max)).expect("a folder to write to");
            }
            None => grow(&growth, shape),
        }
    }
}
