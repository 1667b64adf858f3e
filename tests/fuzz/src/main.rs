//! Differential fuzzing of toyjit.

mod generate;

fn main() {
    let seed = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    print!("{}", generate::program(seed, generate::Size::default()));
}
