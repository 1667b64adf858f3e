//! `toyjit run`: compile a program and run it in place.

use super::exit::{EXIT_INTERRUPTED, EXIT_TRAP, EXIT_USAGE};
use super::figures::{self, TimeFormat};
use super::limits::LimitArgs;
use super::passes::PassSwitches;
use super::remarks;
use super::source;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use toyjit::engine::{Checks, Construction, ExitCodes, Language, Options, Watch};
use toyjit::{Engine, Module};

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
  toyjit run --remarks --no-run program.toy  what the optimiser did, line by line
  toyjit run --profile x.json program.toy    how often each block ran, for `toyjit explore`")]
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
    #[arg(short = 'p', long)]
    count: bool,

    /// Count how often each block of the code runs, and write that to a file, for `toyjit explore`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["engine", "count", "no_run"])]
    profile: Option<PathBuf>,

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
    pub remarks: bool,

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
    /// An engine that compiles so.
    pub fn engine(&self) -> Engine {
        Engine::new().options(Options {
            level: self.level,
            verify: self.verify || cfg!(debug_assertions),
            construction: self.ssa,
            disabled: self.passes.off.clone(),
            remarks: self.remarks,
            polls: !self.no_polls,
            once: true,
            ..Options::default()
        })
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
    args.compile_and_run().unwrap_or_else(|code| code)
}

impl RunArgs {
    fn file(&self) -> &Path {
        Path::new(&self.program[0])
    }

    fn engine(&self) -> Engine {
        self.limits
            .apply(self.compile.engine())
            .interpreted(self.engine == Runner::Interp || self.count)
            .gc_stress(self.gc_stress)
            .counted(self.profile.is_some())
            .args(self.program[1..].iter().map(|arg| arg.clone().into_vec()))
    }

    fn compile_and_run(&self) -> Result<i32, i32> {
        let (name, text) = source::text(self.file())?;
        let mut language = Language::of(self.file(), &text);
        match &mut language {
            Language::Bril(_, checks) if self.unchecked => *checks = Checks::Off,
            Language::Bril(..) => {}
            _ if self.unchecked || self.count => {
                source::complain("`--unchecked` and `-p` are for Bril programs", None);
                return Err(EXIT_USAGE);
            }
            _ => {}
        }
        let program = source::check_text(&self.engine(), language, &name, text)?;
        let is_bril = matches!(language, Language::Bril(..));
        if is_bril && !program.has_main() && !self.no_run {
            source::warn("there is no function `@main`, so nothing is run");
            return Ok(0);
        }
        let mut module = program.compile().map_err(|error| source::refused(&error, language))?;
        remarks::tell(module.sources(), module.timings().passes.remarks());
        let code = if self.no_run { 0 } else { self.run(language, &mut module) };
        if let Some(steps) = module.steps().filter(|_| self.count) {
            anstream::eprintln!("total_dyn_inst: {steps}");
        }
        if let (Some(path), Some(profile)) = (&self.profile, module.profile())
            && let Err(error) = std::fs::write(path, profile.to_json())
        {
            source::complain(&format!("can't write {}: {error}", path.display()), None);
            return Err(EXIT_USAGE);
        }
        if let Some(format) = self.time {
            figures::tell(module.timings(), &module.heap_stats(), format);
        }
        Ok(code)
    }

    /// Runs a program, which ends by Ctrl-C or when its time is over; the exit code.
    fn run(&self, language: Language, module: &mut Module) -> i32 {
        let is_bril = matches!(language, Language::Bril(..));
        let out_of_time = if is_bril { EXIT_USAGE } else { EXIT_TRAP };
        let codes = ExitCodes { interrupted: EXIT_INTERRUPTED, out_of_time };
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
            Err(stopped) => source::stopped(language, &stopped),
        }
    }
}
