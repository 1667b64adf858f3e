//! The command line: one file a verb.

mod analyze;
mod bench;
mod check;
mod complete;
mod emit;
mod exit;
mod explain;
mod explore;
mod figures;
mod functions;
mod json;
mod limits;
mod meant;
mod passes;
mod remarks;
mod repl;
mod run;
mod source;
mod ssa;

use clap::{Parser, Subcommand, ValueEnum};
use exit::EXIT_FAULT;
use json::MessageFormat;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use toyjit::engine::Features;

const AFTER_HELP: &str = "\
Examples:
  toyjit                                    enter code line by line
  toyjit run examples/squares.toy           compile at -O2 and run
  toyjit run -O0 --time program.toy a b     no optimisation; arguments; times of all stages
  toyjit run prog.bril 10                   a Bril program, also as JSON
  toyjit check *.toy                        errors and warnings only
  toyjit emit asm program.toy -f main       the machine code of one function
  toyjit bench program.toy                  all optimisation levels compared
  toyjit explore examples/sieve.toy --open  the whole compiler at work, on one page
  toyjit explain E0301                      more about a message

Exit codes: the program's own; 1 it does not compile; 2 wrong usage, a file that can't be read,
or an error of a Bril program; 70 a fault of toyjit itself; 101 a trap; 130 interrupted.";

/// A JIT compiler for Toy, a small statically typed imperative language.
#[derive(Parser)]
#[command(name = "toyjit", after_help = AFTER_HELP)]
#[command(version = env!("CARGO_PKG_VERSION"), long_version = VERSION.as_str())]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,

    /// When messages have colours. NO_COLOR in the environment is respected too.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,

    /// How messages are written.
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value_t)]
    message_format: MessageFormat,
}

/// When messages have colours.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    /// On terminals.
    Auto,
    Always,
    Never,
}

impl Color {
    fn apply(self) {
        match self {
            Color::Auto => {}
            Color::Always => anstream::ColorChoice::Always.write_global(),
            Color::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
}

/// The version, with what of the processor is used.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let features = Features::detect().names().join(" ");
    let features = if features.is_empty() { "none" } else { features.as_str() };
    format!("{}\nx86-64, extensions in use: {features}", env!("CARGO_PKG_VERSION"))
});

#[derive(Subcommand)]
enum Verb {
    Repl(repl::ReplArgs),
    Run(run::RunArgs),
    Check(check::CheckArgs),
    Emit(emit::EmitArgs),
    Analyze(analyze::AnalyzeArgs),
    Ssa(ssa::SsaArgs),
    Bench(bench::BenchArgs),
    Explore(explore::ExploreArgs),
    Explain(explain::ExplainArgs),
    Completions(complete::CompletionsArgs),
    Man(complete::ManArgs),
}

/// Runs the command line of this process; the exit code.
pub fn main() -> i32 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let error = meant::add(error, std::env::args().skip(1));
            if error.use_stderr() && json::is_wanted(std::env::args().skip(1)) {
                anstream::eprintln!("{}", json::misuse(&error.to_string()));
            } else {
                // Help that can't be written has nobody who reads it.
                let _ = error.print();
            }
            return error.exit_code();
        }
    };
    std::panic::set_hook(Box::new(|info| {
        source::fault(&info.to_string());
    }));
    cli.color.apply();
    source::set_format(cli.message_format);
    let Some(verb) = cli.verb.or_else(|| Cli::parse_from(["toyjit", "repl"]).verb) else {
        return EXIT_FAULT;
    };
    catch_unwind(AssertUnwindSafe(|| match verb {
        Verb::Repl(args) => repl::main(&args),
        Verb::Run(args) => run::main(&args),
        Verb::Check(args) => check::main(&args),
        Verb::Emit(args) => emit::main(&args),
        Verb::Analyze(args) => analyze::main(&args),
        Verb::Ssa(args) => ssa::main(&args),
        Verb::Bench(args) => bench::main(&args),
        Verb::Explore(args) => explore::main(&args),
        Verb::Explain(args) => explain::main(&args),
        Verb::Completions(args) => complete::completions(&args),
        Verb::Man(args) => complete::man(&args),
    }))
    .unwrap_or(EXIT_FAULT)
}

/// Writes to standard output; a closed pipe ends quietly.
fn print(text: &str) -> i32 {
    use std::io::Write;
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => 0,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            source::complain(&format!("can't write the output: {error}"), None);
            exit::EXIT_USAGE
        }
    }
}
