//! `toyjit run`: compile a program and run it in place.

use super::passes::PassSwitches;
use super::source::{self, Checked};
use crate::interp;
use crate::pipeline::{self, Executable};
use crate::report::{EXIT_FAULT, exit_code, fault_report, stop_report};
use crate::source::{Sources, Trace};
use crate::ssa::Construction;
use crate::timing::Timings;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use toyjit_runtime::{Config, Runtime, Stop};

/// Compile a program and run it.
#[derive(Args)]
#[command(override_usage = "toyjit run [OPTIONS] <FILE> [ARGS]...")]
#[command(after_help = "\
Examples:
  toyjit run examples/sieve.toy 1000         the program's arguments follow its name
  toyjit run -O0 program.toy                 compile fastest
  toyjit run --engine interp program.toy     interpret the typed tree instead
  echo 'print(6 * 7);' | toyjit run -        a program from standard input
  toyjit run --time=json --no-run big.toy    how long each stage of compilation takes")]
pub struct RunArgs {
    #[command(flatten)]
    compile: CompileArgs,

    /// What runs the program.
    #[arg(long, value_enum, default_value_t = Engine::Jit)]
    engine: Engine,

    /// Tell on standard error how long each stage took.
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true,
          default_missing_value = "text")]
    time: Option<TimeFormat>,

    /// Compile only.
    #[arg(long)]
    no_run: bool,

    /// Collect garbage at every allocation and move all that can move (a test of the compiler).
    #[arg(long)]
    gc_stress: bool,

    /// The program, or - for standard input; all that follows it is the program's.
    #[arg(value_names = ["FILE", "ARGS"], required = true, num_args = 1.., trailing_var_arg = true)]
    program: Vec<OsString>,
}

/// How a program is compiled.
#[derive(Args)]
pub struct CompileArgs {
    /// Optimisation level: 0 compiles fastest, 3 tries hardest.
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,

    /// Check the compiler's own work: the IR after each pass, each register allocation.
    #[arg(long)]
    verify: bool,

    /// How SSA form is constructed; chosen by the size of each function where nothing is said.
    #[arg(long, value_name = "CONSTRUCTION", value_parser = constructions())]
    ssa: Option<Construction>,

    #[command(flatten)]
    passes: PassSwitches,
}

fn constructions() -> impl TypedValueParser<Value = Construction> {
    PossibleValuesParser::new(Construction::ALL.map(Construction::name))
        .map(|name| Construction::from_name(&name).unwrap_or_default())
}

impl CompileArgs {
    /// The options of the pipeline.
    pub fn options(&self) -> pipeline::Options {
        pipeline::Options {
            level: self.level,
            verify: self.verify || cfg!(debug_assertions),
            construction: self.ssa,
            disabled: self.passes.off.clone(),
            ..Default::default()
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Machine code.
    Jit,
    /// The interpreter on the typed tree.
    Interp,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TimeFormat {
    Text,
    Json,
}

pub fn main(args: &RunArgs) -> i32 {
    let Checked { sources, front, mut timings } = match source::check(args.file()) {
        Ok(checked) => checked,
        Err(code) => return code,
    };
    let mut runtime = match Runtime::new(args.config()) {
        Ok(runtime) => runtime,
        Err(stop) => return stopped(&sources, &stop, &Trace::default()),
    };
    let code = match args.engine {
        Engine::Interp if args.no_run => 0,
        Engine::Interp => {
            let result =
                timings.time("run", || interp::run(&front.program, &front.interner, &mut runtime));
            match result {
                Ok(code) => finish(&sources, &mut runtime, code),
                Err(halt) => {
                    finish(&sources, &mut runtime, 0);
                    stopped(&sources, &halt.stop, &halt.trace)
                }
            }
        }
        Engine::Jit => {
            let options = args.compile.options();
            let executable = match pipeline::compile(front, &options, &mut runtime, &mut timings) {
                Ok(executable) => executable,
                Err(error) => {
                    anstream::eprint!("{}", fault_report(&error.to_string()));
                    return EXIT_FAULT;
                }
            };
            if args.no_run { 0 } else { execute(&sources, &executable, &mut runtime, &mut timings) }
        }
    };
    if let Some(format) = args.time {
        tell_times(&timings, format);
    }
    code
}

impl RunArgs {
    fn file(&self) -> &Path {
        Path::new(&self.program[0])
    }

    fn config(&self) -> Config {
        Config {
            gc_stress: self.gc_stress,
            args: self.program[1..].iter().map(|arg| arg.clone().into_vec()).collect(),
            ..Config::default()
        }
    }
}

fn execute(
    sources: &Sources,
    executable: &Executable,
    runtime: &mut Runtime,
    timings: &mut Timings,
) -> i32 {
    match timings.time("run", || executable.run(runtime)) {
        Ok(code) => finish(sources, runtime, code),
        Err(halt) => {
            finish(sources, runtime, 0);
            stopped(sources, &halt.stop, &halt.trace)
        }
    }
}

/// Writes out what was printed; the exit code.
fn finish(sources: &Sources, runtime: &mut Runtime, code: i32) -> i32 {
    match runtime.output.flush() {
        Ok(()) => code,
        Err(stop) => stopped(sources, &stop, &Trace::default()),
    }
}

fn stopped(sources: &Sources, stop: &Stop, trace: &Trace) -> i32 {
    anstream::eprint!("{}", stop_report(sources, stop, trace, source::color()));
    exit_code(stop)
}

fn tell_times(timings: &Timings, format: TimeFormat) {
    let ms = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
    match format {
        TimeFormat::Text => {
            for (stage, time) in timings.stages() {
                anstream::eprintln!("{stage:>12} {:10.3} ms", ms(*time));
            }
            anstream::eprintln!("{:>12} {:10.3} ms", "total", ms(timings.total()));
        }
        TimeFormat::Json => {
            let stages: Vec<_> = timings
                .stages()
                .iter()
                .map(|(stage, time)| serde_json::json!({ "stage": stage, "ms": ms(*time) }))
                .collect();
            let all = serde_json::json!({ "stages": stages, "total_ms": ms(timings.total()) });
            anstream::eprintln!("{all}");
        }
    }
}
