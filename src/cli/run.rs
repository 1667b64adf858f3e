//! `toyjit run`: compile a program and run it in place.

use super::figures::{self, TimeFormat};
use super::limits::LimitArgs;
use super::passes::PassSwitches;
use super::remarks;
use super::source::{self, Checked, Tree};
use crate::bril::{self, Checks};
use crate::engine::{Engine, Module};
use crate::interp::Halt;
use crate::pipeline;
use crate::report::{EXIT_INTERRUPTED, EXIT_TRAP, EXIT_USAGE};
use crate::source::{Sources, Trace};
use crate::ssa::Construction;
use crate::timing::Timings;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use toyjit_runtime::{ExitCodes, Runtime, Stop, Watch};

/// Compile a program and run it.
#[derive(Args)]
#[command(override_usage = "toyjit run [OPTIONS] <FILE> [ARGS]...")]
#[command(after_help = "\
Examples:
  toyjit run examples/sieve.toy 1000         the program's arguments follow its name
  toyjit run -O0 program.toy                 compile fastest
  toyjit run --engine interp program.toy     interpret the typed tree instead
  toyjit run -p prog.bril 10                 interpret a Bril program and count its instructions
  toyjit run --timeout 2 --max-heap 512M x.toy       end it when it takes more
  toyjit run --fuel 1000000 x.toy            end it always at the same place
  echo 'print(6 * 7);' | toyjit run -        a program from standard input
  toyjit run --time=json --no-run big.toy    how long each stage of compilation takes
  toyjit run --remarks --no-run program.toy  what the optimiser did, line by line")]
pub struct RunArgs {
    #[command(flatten)]
    compile: CompileArgs,

    #[command(flatten)]
    limits: LimitArgs,

    /// What runs the program.
    #[arg(long, value_enum, default_value_t = Runner::Jit)]
    engine: Runner,

    /// Tell on standard error how long each stage took, and what the collector did.
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true,
          default_missing_value = "text")]
    time: Option<TimeFormat>,

    /// Of a Bril program: leave out all checks of memory.
    #[arg(long)]
    unchecked: bool,

    /// Of a Bril program: interpret it and tell how many instructions ran.
    #[arg(short, long)]
    profile: bool,

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
    #[arg(short = 'O', long, value_name = "LEVEL", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,

    /// Check the compiler's own work: the IR after each pass, each register allocation.
    #[arg(long)]
    verify: bool,

    /// How SSA form is constructed; chosen by the size of each function where nothing is said.
    #[arg(long, value_name = "CONSTRUCTION", value_parser = constructions())]
    ssa: Option<Construction>,

    /// Tell on standard error what was inlined, moved, left out or not, and why.
    #[arg(long)]
    remarks: bool,

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
            remarks: self.remarks,
            polls: !self.no_polls,
            once: true,
            ..Default::default()
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Runner {
    /// Machine code.
    Jit,
    /// The interpreter on the typed tree.
    Interp,
}

pub fn main(args: &RunArgs) -> i32 {
    let (name, text) = match source::text(args.file()) {
        Ok(read) => read,
        Err(code) => return code,
    };
    if let Some(form) = bril::form_of(args.file(), &text) {
        let mut sources = Sources::new();
        return match sources.add(name, text) {
            Some(_) => args.run_bril(sources, form),
            None => source::fault("the program is larger than 4 GiB"),
        };
    }
    if args.unchecked || args.profile {
        source::complain("`--unchecked` and `-p` are for Bril programs", None);
        return EXIT_USAGE;
    }
    let mut module = match args.engine().compile(&name, text) {
        Ok(module) => module,
        Err(error) => return source::refused(&error),
    };
    source::tell_all(module.warnings());
    remarks::tell(module.sources(), module.timings().passes.remarks());
    let code = if args.no_run { 0 } else { args.run(&mut module) };
    if let Some(format) = args.time {
        figures::tell(module.timings(), &module.heap_stats(), format);
    }
    code
}

impl RunArgs {
    fn file(&self) -> &Path {
        Path::new(&self.program[0])
    }

    fn engine(&self) -> Engine {
        self.limits
            .apply(Engine::new().options(self.compile.options()))
            .interpreted(self.engine == Runner::Interp)
            .gc_stress(self.gc_stress)
            .args(self.program[1..].iter().map(|arg| arg.clone().into_vec()))
    }

    /// Compiles, or interprets, and runs a Bril program; the exit code.
    fn run_bril(&self, sources: Sources, form: bril::Form) -> i32 {
        let checks = if self.unchecked { Checks::Off } else { Checks::On };
        let mut timings = Timings::new();
        let checked = source::check_bril(sources, form, checks, &mut timings);
        let (sources, program, module) = match checked {
            Ok(Checked { sources, tree: Tree::Bril(program), lowered }) => {
                (sources, program, lowered.module)
            }
            Ok(_) => return source::fault("a Bril program was taken for another"),
            Err(code) => return code,
        };
        if program.main.is_none() && !self.no_run {
            anstream::eprintln!("warning: there is no function `@main`, so nothing is run");
            return 0;
        }
        let engine = self.engine();
        let mut runtime = match Runtime::new(engine.config()) {
            Ok(runtime) => runtime,
            Err(stop) => return source::bril_stop_code(&sources, &stop, &Trace::default()),
        };
        let mut executed = 0;
        let ended = if self.profile || self.engine == Runner::Interp {
            self.watched(&mut runtime, &mut timings, |runtime| {
                let (steps, result) = bril::interp::run(&program, runtime, u64::MAX);
                executed = steps;
                result
            })
        } else {
            let options = self.compile.options();
            match pipeline::compile_module(module, &options, &mut runtime, &mut timings) {
                Ok(code) => self.watched(&mut runtime, &mut timings, |runtime| code.run(runtime)),
                Err(error) => return source::fault(&error.to_string()),
            }
        };
        let code = match (ended, runtime.output.flush()) {
            (Ok(code), Ok(())) => code,
            (Ok(_), Err(stop)) => source::bril_stop_code(&sources, &stop, &Trace::default()),
            (Err(halt), _) => source::bril_stop_code(&sources, &halt.stop, &halt.trace),
        };
        if self.profile {
            anstream::eprintln!("total_dyn_inst: {executed}");
        }
        if let Some(format) = self.time {
            figures::tell(&timings, &runtime.heap_stats(), format);
        }
        code
    }

    /// Runs a Bril program, which ends by Ctrl-C or when its time is over.
    fn watched(
        &self,
        runtime: &mut Runtime,
        timings: &mut Timings,
        run: impl FnOnce(&mut Runtime) -> Result<i32, Halt>,
    ) -> Result<i32, Halt> {
        if self.no_run {
            return Ok(0);
        }
        let codes = ExitCodes { interrupted: EXIT_INTERRUPTED, out_of_time: EXIT_USAGE };
        let watch = Watch::start(runtime.interrupter(), self.limits.timeout(), codes);
        let _watch = watch.map_err(|error| {
            let stop = Stop::Fault(format!("no thread to watch over the run: {error}"));
            Halt { stop, trace: Trace::default() }
        })?;
        timings.time("run", || run(runtime))
    }

    /// Runs a program, which ends by Ctrl-C or when its time is over; the exit code.
    fn run(&self, module: &mut Module) -> i32 {
        let codes = ExitCodes { interrupted: EXIT_INTERRUPTED, out_of_time: EXIT_TRAP };
        let watch = match Watch::start(module.interrupter(), self.limits.timeout(), codes) {
            Ok(watch) => watch,
            Err(error) => {
                return source::fault(&format!("no thread to watch over the run: {error}"));
            }
        };
        let ran = module.run();
        drop(watch);
        match ran {
            Ok(code) => code,
            Err(stopped) => source::stopped(&stopped),
        }
    }
}
