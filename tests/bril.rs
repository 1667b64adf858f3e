//! Bril programs with what they must print, at every level and in the interpreter, and written as
//! Bril again.
//!
//! A test is `NAME.bril` or `NAME.json` in `tests/bril` with `NAME.out` (standard output; absent
//! means empty). Comments at the head of the program, or in `NAME.expect` for JSON, say what else is
//! expected:
//!
//! ```text
//! # args: a b c       the arguments of main
//! # exit: N           the exit code (0 otherwise)
//! # error: TEXT       standard error has an error, and this text
//! ```

mod every;

use every::by_every_engine;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Test {
    path: PathBuf,
    args: Vec<String>,
    exit: i32,
    errors: Vec<String>,
    stdout: Vec<u8>,
}

impl Test {
    fn of(path: PathBuf) -> Test {
        let expect = path.with_extension("expect");
        let head = fs::read_to_string(if expect.exists() { &expect } else { &path });
        let stdout = fs::read(path.with_extension("out")).unwrap_or_default();
        let mut test = Test { path, args: Vec::new(), exit: 0, errors: Vec::new(), stdout };
        for line in head.expect("a test program").lines() {
            let Some((key, value)) = line.strip_prefix("# ").and_then(|l| l.split_once(": "))
            else {
                continue;
            };
            match key {
                "args" => test.args = value.split_whitespace().map(str::to_owned).collect(),
                "exit" => test.exit = value.parse().expect("an exit code"),
                "error" => test.errors.push(value.to_owned()),
                _ => {}
            }
        }
        test
    }

    fn judge(&self, output: &Output) -> Vec<String> {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let mut why = Vec::new();
        if output.status.code() != Some(self.exit) {
            why.push(format!("exit code {:?}, expected {}", output.status.code(), self.exit));
        }
        if output.stdout != self.stdout {
            let found = String::from_utf8_lossy(&output.stdout);
            why.push(format!("standard output is\n{found}"));
        }
        if !self.errors.is_empty() && !stderr.starts_with("error") {
            why.push("no error reported".into());
        }
        for text in self.errors.iter().filter(|text| !stderr.contains(text.as_str())) {
            why.push(format!("standard error has no {text:?}"));
        }
        if !why.is_empty() {
            why.push(format!("standard error is\n{stderr}"));
        }
        why
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bril")
}

fn tests() -> Vec<Test> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .expect("a folder of tests")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "bril" || e == "json"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 60);
    paths.into_iter().map(Test::of).collect()
}

fn toyjit(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toyjit")).args(args).output().expect("toyjit starts")
}

/// Runs a program with options before it.
fn run(options: &[&str], path: &Path, args: &[String]) -> Output {
    let mut all = vec!["run"];
    all.extend(options);
    all.push(path.to_str().expect("a path of UTF-8"));
    all.extend(args.iter().map(String::as_str));
    toyjit(&all)
}

fn each(judge: impl Fn(&Test) -> Vec<String> + Sync) {
    every::each(&tests(), |test| test.path.display().to_string(), judge);
}

fn run_all(options: &[&str]) {
    each(|test| test.judge(&run(options, &test.path, &test.args)));
}

by_every_engine!(run_all);

#[test]
fn level_2_stressed() {
    run_all(&["-O2", "--gc-stress"]);
}

/// What is right needs no checks.
#[test]
fn unchecked() {
    each(|test| match test.exit {
        0 => test.judge(&run(&["-O2", "--unchecked"], &test.path, &test.args)),
        _ => Vec::new(),
    });
}

/// Every stage can be written as Bril, which does the same, as text and as JSON.
#[test]
fn written_again() {
    let folder = std::env::temp_dir().join(format!("toyjit-bril-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let ways: [&[&str]; 5] = [
        &["--from", "cfg"],
        &["--from", "ssa", "--json"],
        &["--from", "opt", "-O1"],
        // Loops that are entered by a branch: edges from branches to joins.
        &["--from", "opt", "-O2", "--no-invert"],
        &["--from", "opt", "-O3", "--json"],
    ];
    each(|test| {
        if test.exit != 0 {
            return Vec::new();
        }
        let mut why = Vec::new();
        for (number, way) in ways.iter().enumerate() {
            let mut args = vec!["emit", "bril"];
            args.extend(*way);
            args.push(test.path.to_str().unwrap());
            let written = toyjit(&args);
            let stem = test.path.file_stem().unwrap().to_str().unwrap();
            let extension = if way.contains(&"--json") { "json" } else { "bril" };
            let again = folder.join(format!("{stem}.{number}.{extension}"));
            fs::write(&again, &written.stdout).unwrap();
            if !written.status.success() {
                why.push(format!("{way:?}: {}", String::from_utf8_lossy(&written.stderr)));
                continue;
            }
            for options in [&["--engine", "interp"][..], &["-O2"]] {
                let said = test.judge(&run(options, &again, &test.args));
                if !said.is_empty() {
                    why.push(format!("{way:?} {options:?}: {}", said.join("\n")));
                }
            }
        }
        why
    });
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn instructions_are_counted() {
    let output = run(&["-p"], &folder().join("loop_sum.bril"), &["10".into()]);
    // Three before the loop, its head twelve times two, its body eleven times three, and a print.
    assert_eq!(String::from_utf8_lossy(&output.stderr), "total_dyn_inst: 61\n");
    assert_eq!(output.stdout, b"55\n");
}

#[test]
fn a_program_from_standard_input() {
    use std::io::Write;
    use std::process::Stdio;
    for text in ["@main(n: int) {\n  print n;\n}\n", JSON] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_toyjit"))
            .args(["run", "-", "-7"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"-7\n"[..]));
    }
}

const JSON: &str = r#"{ "functions": [{ "name": "main",
    "args": [{ "name": "n", "type": "int" }],
    "instrs": [{ "op": "print", "args": ["n"] }] }] }"#;

/// Toy programs, as far as Bril can express them.
#[test]
fn toy_as_bril() {
    let folder = std::env::temp_dir().join(format!("toyjit-toy-bril-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let toy = folder.join("a.toy");
    fs::write(
        &toy,
        "fn gcd(a: int, b: int) -> int { return if b == 0 { a } else { gcd(b, a % b) }; }\n"
            .replace(
                "return if b == 0 { a } else { gcd(b, a % b) };",
                "if b == 0 { return a; } return gcd(b, a % b);",
            )
            + "fn main() { for i in 1..=3 { print(gcd(i * 12, 18), i == 2); } }\n",
    )
    .unwrap();
    for from in ["cfg", "ssa", "opt"] {
        let written = toyjit(&["emit", "bril", "--from", from, toy.to_str().unwrap()]);
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
        let bril = folder.join("a.bril");
        fs::write(&bril, &written.stdout).unwrap();
        let output = run(&["-O2"], &bril, &[]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "6 false\n6 true\n18 false\n");
    }
    fs::remove_dir_all(&folder).unwrap();
}
