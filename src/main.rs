//! The program `toyjit`.

fn main() {
    std::process::exit(toyjit::cli::main());
}
