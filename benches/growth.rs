//! How compile time grows with the size of a program: for each shape, programs of 1,000 statements and
//! doublings of it, the least time of some compilations, the growth per doubling, the dearest stages.
//! `cargo bench --bench growth -- --max 128000 live`. Nothing that runs is measured.

use clap::Parser;
use toyjit::bench::shapes::{SHAPES, Shape, named};
use toyjit::pipeline::{self, Options};
use toyjit::source::Sources;
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

/// The stages and their times, by the processor's clock.
fn compile(sources: &Sources, level: u8) -> Timings {
    let mut timings = Timings::by(Clock::Processor);
    let options = Options { level, ..Options::default() };
    let (front, said) = pipeline::front(sources, &mut timings);
    let mut module = front.unwrap_or_else(|| panic!("{said:?}")).lowered.module;
    pipeline::middle(&mut module, &options, &mut timings, &mut ());
    pipeline::machine_code(&module, &options, &mut timings).expect("it compiles");
    timings
}

fn ms(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn main() {
    let mut growth = Growth::parse();
    if !growth.bench {
        (growth.max, growth.runs) = (1000, 1);
    }
    let shapes = if growth.shapes.is_empty() { SHAPES } else { &growth.shapes };
    for shape in shapes {
        println!("{}, -O{}", shape.name, growth.level);
        let mut last = None;
        for size in std::iter::successors(Some(1000), |size| Some(size * 2)) {
            if size > growth.max {
                break;
            }
            let mut sources = Sources::new();
            sources.add(shape.name, (shape.make)(size));
            let runs = (0..growth.runs.max(1)).map(|_| compile(&sources, growth.level));
            let Some(best) = runs.min_by_key(Timings::total) else { break };
            let total = ms(best.total());
            let factor = last.map_or_else(String::new, |last| format!("  x {:.2}", total / last));
            let mut stages = best.stages().to_vec();
            stages.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
            let dearest =
                stages.iter().take(3).map(|(name, time)| format!("{name} {:.1}", ms(*time)));
            let dearest = dearest.collect::<Vec<_>>().join(", ");
            println!("  {size:7} statements  {total:9.2} ms{factor}   {dearest}");
            last = Some(total);
        }
    }
}
