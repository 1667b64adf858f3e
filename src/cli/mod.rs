//! The command line: one file a verb.

mod analyze;
mod check;
mod emit;
mod figures;
mod functions;
mod limits;
mod passes;
mod run;
mod source;
mod ssa;

use crate::report::{EXIT_FAULT, fault_report};
use clap::{Parser, Subcommand};
use std::panic::{AssertUnwindSafe, catch_unwind};

const AFTER_HELP: &str = "\
Examples:
  toyjit run examples/squares.toy           compile at -O2 and run
  toyjit run -O0 --time program.toy a b     no optimisation; arguments; times of all stages
  toyjit check *.toy                        errors and warnings only
  toyjit emit asm program.toy -f main       the machine code of one function

Exit codes: the program's own; 1 it does not compile; 2 wrong usage or a file that can't be read;
70 a fault of toyjit itself; 101 a trap; 130 interrupted.";

/// A JIT compiler for Toy, a small statically typed imperative language.
#[derive(Parser)]
#[command(name = "toyjit", version, after_help = AFTER_HELP, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Run(run::RunArgs),
    Check(check::CheckArgs),
    Emit(emit::EmitArgs),
    Analyze(analyze::AnalyzeArgs),
    Ssa(ssa::SsaArgs),
}

/// Runs the command line of this process; the exit code.
pub fn main() -> i32 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help that can't be written has nobody who reads it.
            let _ = error.print();
            return error.exit_code();
        }
    };
    std::panic::set_hook(Box::new(|info| {
        anstream::eprint!("{}", fault_report(&info.to_string()));
    }));
    catch_unwind(AssertUnwindSafe(|| match cli.verb {
        Verb::Run(args) => run::main(&args),
        Verb::Check(args) => check::main(&args),
        Verb::Emit(args) => emit::main(&args),
        Verb::Analyze(args) => analyze::main(&args),
        Verb::Ssa(args) => ssa::main(&args),
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
            anstream::eprintln!("error: can't write the output: {error}");
            crate::report::EXIT_USAGE
        }
    }
}
