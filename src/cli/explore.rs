//! `toyjit explore`: a page on which the compiler can be watched at work.

use super::exit::EXIT_USAGE;
use super::functions::chosen;
use super::run::CompileArgs;
use super::{print, source};
use clap::Args;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use toyjit::engine::Profile;
use toyjit::inspect::Record;

/// Make a page on which the whole compiler can be watched at work on a program.
#[derive(Args)]
#[command(after_help = "\
Examples:
  toyjit explore examples/sieve.toy                   makes sieve.html
  toyjit explore examples/sieve.toy --open            and shows it
  toyjit explore big.toy --function main -o main.html all players, of one function only
  toyjit run --profile sieve.json examples/sieve.toy  counts a run of it
  toyjit explore examples/sieve.toy --profile sieve.json    and shows where it was hot
  toyjit explore docs/gallery/reaching.ir            of the IR's own text
  toyjit explore examples/sieve.toy --json            the data, for pages of your own

The page needs nothing but a browser: no network, no other file. Its data is described in
docs/explore.md.")]
pub struct ExploreArgs {
    #[command(flatten)]
    compile: CompileArgs,

    /// The program, or - for standard input; a file .ir has the IR's own text.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Show this function only.
    #[arg(short, long, value_name = "NAME")]
    function: Option<String>,

    /// The page; by default the program's name with .html, here.
    #[arg(short, long, value_name = "PAGE")]
    output: Option<PathBuf>,

    /// Show the page in a browser.
    #[arg(long)]
    open: bool,

    /// Show where a run was hot: what `toyjit run --profile` wrote of this program at this level.
    #[arg(long, value_name = "PROFILE")]
    profile: Option<PathBuf>,

    /// Print the data as JSON instead.
    #[arg(long)]
    json: bool,
}

pub fn main(args: &ExploreArgs) -> i32 {
    match recorded(args) {
        Ok(record) => shown(args, record),
        Err(code) => code,
    }
}

/// The compiler at work on the program, with the heat of a profile.
fn recorded(args: &ExploreArgs) -> Result<Record, i32> {
    let complain = |path: &Path, problem: &dyn Display| {
        source::complain(&format!("{}: {problem}", path.display()), None);
        EXIT_USAGE
    };
    let profile = match &args.profile {
        Some(path) => {
            let (_, text) = source::text(path)?;
            Some(Profile::from_json(&text).map_err(|problem| complain(path, &problem))?)
        }
        None => None,
    };
    let program = source::check(&args.compile.engine(), &args.file)?;
    let view = chosen(&program, args.function.as_deref())?;
    view.explore(profile.as_ref())
        .map_err(|mismatch| complain(args.profile.as_deref().unwrap_or(&args.file), &mismatch))
}

/// Prints a record, or writes its page.
fn shown(args: &ExploreArgs, record: Record) -> i32 {
    if args.json {
        return print(&format!("{}\n", record.to_json()));
    }
    let output = args.output.clone().unwrap_or_else(|| {
        let name = args.file.file_stem().filter(|_| args.file != Path::new("-"));
        Path::new(name.unwrap_or("program".as_ref())).with_extension("html")
    });
    if let Err(error) = std::fs::write(&output, record.to_page()) {
        source::complain(&format!("can't write {}: {error}", output.display()), None);
        return EXIT_USAGE;
    }
    if args.open { open(&output) } else { 0 }
}

/// Shows a page in the browser that the desktop prefers.
fn open(page: &Path) -> i32 {
    let mut command = Command::new("xdg-open");
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(_) => 0,
        Err(error) => {
            let message = format!("can't open {}: xdg-open: {error}", page.display());
            source::complain(&message, None);
            EXIT_USAGE
        }
    }
}
