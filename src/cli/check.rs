//! `toyjit check`: errors and warnings, nothing is run.

use super::source;
use clap::Args;
use std::path::{Path, PathBuf};
use toyjit::Engine;

/// Look for errors and warnings without running anything.
#[derive(Args)]
#[command(after_help = "\
Examples:
  toyjit check examples/*.toy
  toyjit check --message-format json program.toy     for editors and scripts")]
pub struct CheckArgs {
    /// Programs, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Warn of input that becomes an index, a length, a shift's count or an exit code unchecked.
    #[arg(long)]
    taint: bool,
}

pub fn main(args: &CheckArgs) -> i32 {
    args.files.iter().map(|file| one(file, args)).max().unwrap_or(0)
}

fn one(file: &Path, args: &CheckArgs) -> i32 {
    let program = match source::check(&Engine::new(), file) {
        Ok(program) => program,
        Err(code) => return code,
    };
    if args.taint
        && let Ok(view) = program.view(None)
    {
        source::tell(program.sources(), &view.taint());
    }
    0
}
