//! `toyjit bench` as one calls it: tiny programs, few rounds. No time is asserted.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("toyjit-bench-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn bench(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toyjit"))
        .arg("bench")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("toyjit runs");
    // A program that reads nothing may have ended before.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("toyjit ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Standard output of a call that goes well and says nothing beside.
fn told(args: &[&str], input: &str) -> String {
    let output = bench(args, input);
    let errors = text(&output.stderr);
    assert!(
        output.status.success() && errors.is_empty(),
        "{args:?}: {:?}\n{errors}",
        output.status
    );
    text(&output.stdout)
}

fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

const PROGRAM: &str = "fn main(args: [str]) {
    var sum = 0;
    for i in 0..parse_int(args[0], 0) { sum += [i, len(read_line()!)][i % 2]; }
    print(sum);
}";

#[test]
fn levels_and_the_interpreter_compared() {
    let folder = Folder::new("levels");
    let file = folder.file("sum.toy", PROGRAM);
    let (json, html) = (folder.0.join("out.json"), folder.0.join("out.html"));
    let args = [
        path(&file),
        "--levels",
        "0,2",
        "--engine",
        "interp",
        "--runs",
        "4",
        "--ablate=1",
        "--json",
        path(&json),
        "--html",
        path(&html),
        "--",
        "3",
    ];
    let table = told(&args, "a\nbc\ndef\n");
    for word in ["run time", "sum", "-O0", "-O2", "interp", "to interp", "parse", "code, bytes"] {
        assert!(table.contains(word), "no {word} in\n{table}");
    }
    assert!(table.contains("--runs 8"), "few rounds are told:\n{table}");

    let json: Value =
        serde_json::from_str(&fs::read_to_string(&json).expect("JSON")).expect("JSON");
    assert_eq!((&json["schema"], &json["version"]), (&"toyjit-bench".into(), &1.into()));
    assert_eq!(json["base"], "-O0");
    let program = &json["programs"][0];
    assert_eq!(program["output"]["bytes"], 2);
    for (engine, count) in [("-O0", 4), ("-O1", 4), ("-O2", 4), ("interp", 3), ("-O1 --no-fold", 4)]
    {
        let figures = &program["engines"][engine];
        assert_eq!(figures["run"]["count"], count, "{engine}: {figures}");
        assert_eq!(figures["run"]["rounds"].as_array().map(Vec::len), Some(4));
        assert!(figures["speed_up"]["to_interp"]["median"].is_f64());
        assert_eq!(figures["code_bytes"].is_null(), engine == "interp");
        assert!(figures["heap"]["allocated_bytes"].as_u64().is_some_and(|bytes| bytes > 0));
        assert_eq!(figures["stages"][0]["stage"], "parse");
    }
    assert_eq!(json["ablation"]["level"], 1);
    assert!(json["ablation"]["passes"].as_array().is_some_and(|passes| passes.len() > 3));

    let html = fs::read_to_string(&html).expect("a page");
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
    for part in ["Run time", "Compilation and memory", "What each pass brings", "Noise"] {
        assert!(html.contains(part), "no {part}");
    }
    for part in ["http:", "https:", "<script", "@import", "url("] {
        assert!(!html.contains(part), "the page needs nothing beside it, but has {part}");
    }
}

#[test]
fn the_suite_agrees_at_every_level() {
    let json = told(&["--suite", "--small", "--runs", "1", "--json", "-"], "");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let programs = json["programs"].as_array().expect("programs");
    assert!(programs.len() >= 20);
    for program in programs {
        assert_ne!(program["output"]["bytes"], 0, "{program} prints a checksum");
    }
}

#[test]
fn a_program_from_standard_input() {
    assert!(told(&["-", "--runs", "1", "--levels", "1"], "print(1);").contains("<stdin>"));
}

#[test]
fn differing_engines_are_an_error() {
    let folder = Folder::new("differ");
    let file = folder.file("time.toy", "print(clock());");
    let output = bench(&[path(&file), "--runs", "2"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("prints or returns something else"));
    assert!(output.stdout.is_empty());
}

#[test]
fn failures_have_their_exit_codes() {
    let folder = Folder::new("failures");
    let wrong = folder.file("wrong.toy", "print(x);");
    let trap = folder.file("trap.toy", "let zero = len(args());\nprint(1 / zero);");
    let fine = folder.file("fine.toy", "print(1);");
    for (args, code, said) in [
        (&[path(&wrong)][..], 1, "E0201"),
        (&[path(&trap)], 101, "trap.toy:2"),
        (&["none.toy"], 2, "can't read none.toy"),
        (&[], 2, "required"),
        (&[path(&fine), "--runs", "0"], 2, "--runs"),
        (&[path(&fine), "--levels", "4"], 2, "--levels"),
        (&[path(&fine), "--json", "/nowhere/x"], 2, "can't write /nowhere/x"),
        (&["--peers-json", path(&fine)], 2, "fine.toy"),
    ] {
        let output = bench(args, "");
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {errors}");
        assert!(errors.contains(said), "{args:?}: {errors}");
    }
}

#[test]
fn peers_are_told_the_same_way() {
    let folder = Folder::new("peers");
    let times = folder.file(
        "times.json",
        r#"{"schema": "toyjit-peers", "version": 1, "date": "2026-01-01", "clock": "processor",
            "machine": {"processor": "a", "processors": 2, "load": 1.5},
            "base": "gcc", "engines": ["gcc", "toyjit"],
            "programs": [{"name": "p", "engines": {
                "gcc": {"rounds": [1, 2]}, "toyjit": {"rounds": [3, 6]}}}],
            "means": [{"title": "geometric mean", "without": []}],
            "panels": [{"title": "All", "engines": ["toyjit"]}],
            "left_out": [{"engine": "tcc", "why": "tcc is not installed"}]}"#,
    );
    let html = folder.0.join("out.html");
    let table = told(&["--peers-json", path(&times), "--html", path(&html)], "");
    assert!(table.contains("3.00 ±0.0 %") && table.contains("tcc is not installed"), "{table}");
    assert!(fs::read_to_string(&html).expect("a page").contains("geometric mean"));
}
