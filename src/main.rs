//! The program `toyjit`: a command line on the library.

mod cli;

fn main() {
    std::process::exit(cli::main());
}
