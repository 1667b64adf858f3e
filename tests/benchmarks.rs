//! The benchmark programs at small sizes: interpreter and machine code of all levels must print
//! the same checksum.

use std::fs;
use std::process::Command;

/// A size for each program at which the interpreter takes a moment.
const SIZES: &[(&str, &str)] = &[
    ("bintrees", "4"),
    ("collatz", "300"),
    ("csvscan", "10"),
    ("dijkstra", "12"),
    ("fannkuch", "6"),
    ("fib", "14"),
    ("hashmap", "300"),
    ("json", "1"),
    ("levenshtein", "3"),
    ("lz", "300"),
    ("mandelbrot", "12"),
    ("matmul", "8"),
    ("nbody", "50"),
    ("nqueens", "5"),
    ("particles", "2"),
    ("primes", "500"),
    ("quicksort", "200"),
    ("raytrace", "4"),
    ("regex", "100"),
    ("sha256", "1"),
    ("sieve", "400"),
    ("spectralnorm", "6"),
    ("strhash", "30"),
    ("vm", "30"),
];

fn printed(program: &str, size: &str, options: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_toyjit"))
        .arg("run")
        .args(options)
        .arg(format!("benches/toy/{program}.toy"))
        .arg(size)
        .output()
        .expect("toyjit runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {options:?}: {:?}\n{errors}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn all_engines_agree() {
    for (program, size) in SIZES {
        let expected = printed(program, size, &["--engine", "interp"]);
        assert!(expected.starts_with(program), "{program} prints {expected:?}");
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let got = printed(program, size, &[level, "--verify"]);
            assert_eq!(got, expected, "{program} at {level}");
        }
    }
}

#[test]
fn every_program_has_a_size_and_a_twin_in_c() {
    let mut names: Vec<String> = fs::read_dir("benches/toy")
        .expect("benches/toy")
        .filter_map(|entry| {
            Some(entry.ok()?.file_name().to_str()?.strip_suffix(".toy")?.to_owned())
        })
        .collect();
    names.sort();
    let sizes: Vec<&str> = SIZES.iter().map(|&(name, _)| name).collect();
    assert_eq!(names, sizes);
    for name in names {
        let twin = format!("benches/peers/c/{name}.c");
        assert!(fs::exists(&twin).is_ok_and(|there| there), "{twin} is missing");
    }
}
