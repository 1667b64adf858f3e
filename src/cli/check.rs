//! `toyjit check`: errors and warnings, nothing is run.

use super::source;
use clap::Args;
use std::path::PathBuf;

/// Look for errors and warnings without running anything.
#[derive(Args)]
#[command(after_help = "Example:\n  toyjit check examples/*.toy")]
pub struct CheckArgs {
    /// Programs, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub fn main(args: &CheckArgs) -> i32 {
    args.files.iter().map(|file| source::check(file).err().unwrap_or(0)).max().unwrap_or(0)
}
