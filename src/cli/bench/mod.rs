//! `toyjit bench`: what the optimisation levels do to programs, measured.
//!
//! `outcome` is what was measured, `table`, `json` and `page` tell it, `plot` draws; `peers` tells
//! what `benches/peers/compare` measured.

mod format;
mod input;
mod json;
mod machine;
mod outcome;
mod page;
mod peers;
mod plot;
pub mod table;

use super::exit::{EXIT_ERRORS, EXIT_USAGE};
use super::source;
use super::{passes, print};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use input::Kept;
use machine::Machine;
use outcome::{Kind, Outcome};
use peers::Peers;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use toyjit::Engine;
use toyjit::bench::suite::SUITE;
use toyjit::bench::{Failure, Plan, Program, Variant, measure};
use toyjit::engine::{Language, Options};
use toyjit::inspect::PASSES;
use toyjit::timing::Clock;

/// Measure what the optimisation levels do to programs.
#[derive(Args)]
#[command(override_usage = "toyjit bench [OPTIONS] [FILE]... [-- ARGS]...")]
#[command(after_help = "\
Examples:
  toyjit bench program.toy                         all levels compared
  toyjit bench program.toy --engine interp -- 100  the interpreter too; the program gets 100
  toyjit bench --suite --html report.html          24 programs, with plots; takes ten minutes
  toyjit bench --suite --small --ablate            smaller sizes; what each pass brings
  toyjit bench --suite --json -                    figures for tools (docs/bench.md)

Every program runs once by every engine in each round; all must print the same.")]
pub struct BenchArgs {
    /// Programs, or - for one from standard input.
    #[arg(value_name = "FILE", required_unless_present_any = ["suite", "peers_json"])]
    files: Vec<PathBuf>,

    /// The programs that toyjit is measured by: it has them with it.
    #[arg(long)]
    suite: bool,

    /// The suite at sizes that take some milliseconds.
    #[arg(long, requires = "suite")]
    small: bool,

    /// The optimisation levels.
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', default_value = "0,1,2,3",
          value_parser = clap::value_parser!(u8).range(0..=3))]
    levels: Vec<u8>,

    /// Measure the interpreter too, in the first three rounds.
    #[arg(long, value_enum, value_name = "ENGINE")]
    engine: Option<Other>,

    /// How many rounds.
    #[arg(long, value_name = "N", default_value_t = 9,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: u16,

    /// Leave each pass out in turn, of level 2 or of the one that is named.
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true,
          default_missing_value = "2", value_parser = clap::value_parser!(u8).range(1..=3))]
    ablate: Option<u8>,

    /// Take elapsed time in place of the processor's.
    #[arg(long)]
    wall: bool,

    /// Write the figures for tools to a file; - is standard output, in place of the table.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write one page with plots to a file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Tell what `benches/peers/compare` measured, in place of measuring.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "suite", "ablate"])]
    peers_json: Option<PathBuf>,

    /// Arguments of the programs.
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Other {
    /// The interpreter on the typed tree.
    Interp,
}

pub fn main(args: &BenchArgs) -> i32 {
    let told = match &args.peers_json {
        Some(file) => compare_peers(args, file),
        None => levels(args),
    };
    told.map_or_else(|code| code, |()| 0)
}

fn levels(args: &BenchArgs) -> Result<(), i32> {
    let programs = args.programs()?;
    let kinds = args.kinds();
    let variants: Vec<Variant> =
        kinds.iter().map(|kind| Variant { name: kind.name(), engine: engine(kind) }).collect();
    let clock = if args.wall { Clock::Wall } else { Clock::Processor };
    let rounds = usize::from(args.runs);
    let plan = Plan { programs: &programs, variants: &variants, rounds, clock };
    let machine = Machine::here();
    let bar = progress((rounds * programs.len() * variants.len()) as u64);
    let from_stdin = args.files.iter().any(|file| file == Path::new("-"));
    let kept = if from_stdin { Kept::nothing() } else { Kept::default() };
    let measured = measure(
        &plan,
        || kept.input(),
        |program, variant, round| {
            bar.set_message(format!("round {}: {} {}", round + 1, program.name, variant.name));
            bar.inc(1);
        },
    );
    bar.finish_and_clear();
    let measured =
        measured.map_err(|(number, failure)| tell_failure(&programs[number], &failure))?;
    let (runs, compilations) = (measured.runs(), measured.compilations());
    let outcome = Outcome { machine, clock, rounds, kinds, measured, runs, compilations };
    write(
        args,
        || table::outcome(&outcome),
        || json::outcome(&outcome),
        || page::outcome(&outcome, &args.title()),
    )
}

fn compare_peers(args: &BenchArgs, file: &Path) -> Result<(), i32> {
    let bytes = std::fs::read(file).map_err(|error| {
        source::complain(&format!("can't read {}: {error}", file.display()), None);
        EXIT_USAGE
    })?;
    let peers = Peers::parse(&bytes).map_err(|problem| {
        source::complain(&format!("{}: {problem}", file.display()), None);
        EXIT_USAGE
    })?;
    write(args, || peers.text(), || peers.json(), || peers.page())
}

/// Writes figures as the arguments want them.
fn write(
    args: &BenchArgs,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> serde_json::Value,
    page: impl FnOnce() -> String,
) -> Result<(), i32> {
    let to_file = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|error| {
            source::complain(&format!("can't write {}: {error}", path.display()), None);
            EXIT_USAGE
        })
    };
    if let Some(path) = &args.html {
        to_file(path, &page())?;
    }
    let printed = match &args.json {
        Some(path) if path == Path::new("-") => format!("{:#}\n", json()),
        Some(path) => {
            to_file(path, &format!("{:#}\n", json()))?;
            text()
        }
        None => text(),
    };
    match print(&printed) {
        0 => Ok(()),
        code => Err(code),
    }
}

impl BenchArgs {
    fn programs(&self) -> Result<Vec<Program>, i32> {
        let given: Vec<Vec<u8>> = self.args.iter().map(|arg| arg.clone().into_vec()).collect();
        let mut programs = Vec::new();
        for file in &self.files {
            let name = match file.file_stem() {
                Some(stem) if stem != "-" => stem.to_string_lossy(),
                _ => "<stdin>".into(),
            };
            let is_taken = programs.iter().any(|program: &Program| program.name == *name);
            let name = if is_taken { file.display().to_string() } else { name.into_owned() };
            let (file, text) = source::text(file)?;
            programs.push(Program { name, file, text, args: given.clone() });
        }
        for member in SUITE.iter().filter(|_| self.suite) {
            let args = match (given.is_empty(), self.small) {
                (true, true) => vec![member.small.into()],
                _ => given.clone(),
            };
            programs.push(Program {
                name: member.name.to_owned(),
                file: format!("{}.toy", member.name),
                text: member.text.to_owned(),
                args,
            });
        }
        Ok(programs)
    }

    /// The engines: levels first, so that what differs is told of what stands further right.
    fn kinds(&self) -> Vec<Kind> {
        let mut levels = self.levels.clone();
        levels.extend(self.ablate);
        levels.sort_unstable();
        levels.dedup();
        let mut kinds: Vec<Kind> = levels.into_iter().map(Kind::Level).collect();
        kinds.extend(self.engine.map(|Other::Interp| Kind::Interp));
        if let Some(level) = self.ablate {
            let runs = |name: &str| PASSES.iter().any(|p| p.name == name && p.level <= level);
            let passes = passes::names().into_iter().filter(|name| runs(name));
            kinds.extend(passes.map(|pass| Kind::Without { level, pass }));
        }
        kinds
    }

    fn title(&self) -> String {
        match (&self.files[..], self.suite) {
            ([file], false) => format!("toyjit bench {}", file.display()),
            _ => "toyjit bench".to_owned(),
        }
    }
}

fn engine(kind: &Kind) -> Engine {
    let jit =
        |level, disabled| Engine::new().options(Options { level, disabled, ..Options::default() });
    match *kind {
        Kind::Interp => Engine::new().interpreted(true),
        Kind::Level(level) => jit(level, Vec::new()),
        Kind::Without { level, pass } => jit(level, vec![pass.to_owned()]),
    }
}

/// Progress on standard error, if that is a terminal.
fn progress(runs: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}, {eta} left, {msg}");
    ProgressBar::new(runs).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Tells why nothing was measured; the exit code.
fn tell_failure(program: &Program, failure: &Failure) -> i32 {
    let language = Language::of(Path::new(&program.file), &program.text);
    match failure {
        Failure::Compile(error) => source::refused(error, language),
        Failure::Stopped(stopped) => source::stopped(language, stopped),
        Failure::Differs(first, other) => {
            let message = format!(
                "{} prints or returns something else by {other} than by {first}: where that does \
                 not depend on the time, it is a fault of toyjit",
                program.name
            );
            source::complain(&message, None);
            EXIT_ERRORS
        }
    }
}
