//! `toyjit explore`: a page on which the compiler can be watched at work.

use super::exit::EXIT_USAGE;
use super::functions::chosen;
use super::run::CompileArgs;
use super::{print, source};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Make a page on which the whole compiler can be watched at work on a program.
#[derive(Args)]
#[command(after_help = "\
Examples:
  toyjit explore examples/sieve.toy                   makes sieve.html
  toyjit explore examples/sieve.toy --open            and shows it
  toyjit explore big.toy --function main -o main.html all players, of one function only
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

    /// Print the data as JSON instead.
    #[arg(long)]
    json: bool,
}

pub fn main(args: &ExploreArgs) -> i32 {
    let program = match source::check(&args.compile.engine(), &args.file) {
        Ok(program) => program,
        Err(code) => return code,
    };
    let record = match chosen(&program, args.function.as_deref()) {
        Ok(view) => view.explore(),
        Err(code) => return code,
    };
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
