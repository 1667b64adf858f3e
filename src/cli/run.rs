//! `toyjit run`: compile a program and run it in place.

use super::figures::{self, TimeFormat};
use super::json::{self, MessageFormat};
use super::limits::LimitArgs;
use super::passes::PassSwitches;
use super::source::{self, Checked};
use crate::interp::{self, Halt};
use crate::pipeline;
use crate::report::{
    EXIT_FAULT, EXIT_INTERRUPTED, EXIT_TRAP, exit_code, fault_report, stop_report,
};
use crate::source::{Sources, Trace};
use crate::ssa::Construction;
use crate::timing::Timings;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use toyjit_runtime::{Config, ExitCodes, Runtime, Stop, Watch};

/// Compile a program and run it.
#[derive(Args)]
#[command(override_usage = "toyjit run [OPTIONS] <FILE> [ARGS]...")]
#[command(after_help = "\
Examples:
  toyjit run examples/sieve.toy 1000         the program's arguments follow its name
  toyjit run -O0 program.toy                 compile fastest
  toyjit run --engine interp program.toy     interpret the typed tree instead
  toyjit run --timeout 2 --max-heap 512M x.toy       end it when it takes more
  toyjit run --fuel 1000000 x.toy            end it always at the same place
  echo 'print(6 * 7);' | toyjit run -        a program from standard input
  toyjit run --time=json --no-run big.toy    how long each stage of compilation takes")]
pub struct RunArgs {
    #[command(flatten)]
    compile: CompileArgs,

    #[command(flatten)]
    limits: LimitArgs,

    /// What runs the program.
    #[arg(long, value_enum, default_value_t = Engine::Jit)]
    engine: Engine,

    /// Tell on standard error how long each stage took, and what the collector did.
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true,
          default_missing_value = "text")]
    time: Option<TimeFormat>,

    /// How messages are written.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    message_format: MessageFormat,

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

    /// Leave out what lets a run be ended while it is in a loop (to measure what it costs).
    #[arg(long, hide_short_help = true)]
    no_polls: bool,
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
            polls: !self.no_polls,
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

pub fn main(args: &RunArgs) -> i32 {
    let Checked { sources, front, mut timings } =
        match source::check_as(args.file(), args.message_format, args.limits.metered()) {
            Ok(checked) => checked,
            Err(code) => return code,
        };
    let mut runtime = match Runtime::new(args.config()) {
        Ok(runtime) => runtime,
        Err(stop) => return args.stopped(&sources, &stop, &Trace::default()),
    };
    let halted = match args.engine {
        Engine::Interp if args.no_run => Ok(0),
        Engine::Interp => args.watched(&mut runtime, &mut timings, |runtime| {
            interp::run(&front.program, &front.interner, runtime)
        }),
        Engine::Jit => {
            let options = args.compile.options();
            let executable = match pipeline::compile(front, &options, &mut runtime, &mut timings) {
                Ok(executable) => executable,
                Err(error) => {
                    anstream::eprint!("{}", fault_report(&error.to_string()));
                    return EXIT_FAULT;
                }
            };
            if args.no_run {
                Ok(0)
            } else {
                args.watched(&mut runtime, &mut timings, |runtime| executable.run(runtime))
            }
        }
    };
    let flushed = runtime.output.flush();
    let code = match (halted, flushed) {
        (Ok(code), Ok(())) => code,
        (Ok(_), Err(stop)) => args.stopped(&sources, &stop, &Trace::default()),
        (Err(halt), _) => args.stopped(&sources, &halt.stop, &halt.trace),
    };
    if let Some(format) = args.time {
        figures::tell(&timings, &runtime.heap_stats(), format);
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
            ..self.limits.config()
        }
    }

    /// Runs a program, which ends by Ctrl-C or when its time is over.
    fn watched(
        &self,
        runtime: &mut Runtime,
        timings: &mut Timings,
        run: impl FnOnce(&mut Runtime) -> Result<i32, Halt>,
    ) -> Result<i32, Halt> {
        let codes = ExitCodes { interrupted: EXIT_INTERRUPTED, out_of_time: EXIT_TRAP };
        let watch = Watch::start(runtime.interrupter(), self.limits.timeout(), codes);
        let _watch = watch.map_err(|error| {
            let stop = Stop::Fault(format!("no thread to watch over the run: {error}"));
            Halt { stop, trace: Trace::default() }
        })?;
        timings.time("run", || run(runtime))
    }

    /// Tells why a run ended early; the exit code.
    fn stopped(&self, sources: &Sources, stop: &Stop, trace: &Trace) -> i32 {
        match self.message_format {
            MessageFormat::Text => {
                anstream::eprint!("{}", stop_report(sources, stop, trace, source::color()));
            }
            MessageFormat::Json => {
                if let Some(told) = json::stop(sources, stop, trace) {
                    anstream::eprintln!("{told}");
                }
            }
        }
        exit_code(stop)
    }
}
