//! The suite: the programs that toyjit is measured by. Each prints a checksum, takes a size as its
//! argument, and without one runs for a fraction of a second at -O2.

/// A program of the suite.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// A size at which it takes some milliseconds at -O2.
    pub small: &'static str,
}

macro_rules! suite {
    ($($name:literal $small:literal)*) => {
        &[$(Member {
            name: $name,
            text: include_str!(concat!("../../benches/toy/", $name, ".toy")),
            small: $small,
        }),*]
    };
}

/// All programs, by name.
pub const SUITE: &[Member] = suite! {
    "bintrees" "11"
    "collatz" "20000"
    "csvscan" "1000"
    "dijkstra" "70"
    "fannkuch" "8"
    "fib" "31"
    "hashmap" "100000"
    "json" "2"
    "levenshtein" "100"
    "lz" "40000"
    "mandelbrot" "240"
    "matmul" "64"
    "nbody" "50000"
    "nqueens" "10"
    "particles" "2000"
    "primes" "200000"
    "quicksort" "10000"
    "raytrace" "150"
    "regex" "30000"
    "sha256" "20"
    "sieve" "50000"
    "spectralnorm" "280"
    "strhash" "80000"
    "vm" "6000"
};
