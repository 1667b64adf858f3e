//! The verbs that show the compiler's parts at work: `ssa`, `analyze`, `check --taint`.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn toyjit(args: &[&str], program: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toyjit"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program toyjit starts");
    // A program that is refused may not be read.
    let _ = child.stdin.take().expect("piped").write_all(program.as_bytes());
    child.wait_with_output().expect("the program ends")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const PROGRAM: &str = "
fn collatz(n: int) -> int {
    var steps = 0;
    var at = n;
    while at != 1 {
        if at % 2 == 0 { at = at / 2; } else { at = 3 * at + 1; }
        steps += 1;
    }
    return steps;
}
print(collatz(27));
";

#[test]
fn constructions_are_compared() {
    let output = toyjit(&["ssa", "--times", "1", "--json", "-"], PROGRAM);
    let whole: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let total = whole["total"].as_array().expect("constructions");
    let names: Vec<&str> = total.iter().filter_map(|row| row["construction"].as_str()).collect();
    assert_eq!(names, ["braun", "minimal", "semi-pruned", "pruned", "braun+gvn"]);
    assert_eq!(total[0]["params"], total[3]["params"]);
    assert!(stdout(&toyjit(&["ssa", "-"], PROGRAM)).contains("collatz"));
}

#[test]
fn every_construction_runs_programs() {
    for construction in ["braun", "minimal", "semi-pruned", "pruned", "braun+gvn"] {
        for level in ["-O0", "-O2"] {
            let output = toyjit(&["run", level, "--verify", "--ssa", construction, "-"], PROGRAM);
            assert_eq!(stdout(&output), "111\n", "{construction} {level}");
        }
    }
    assert_eq!(toyjit(&["run", "--ssa", "none", "-"], PROGRAM).status.code(), Some(2));
}

#[test]
fn problems_are_shown() {
    for problem in ["reaching", "live", "available", "busy", "assigned", "dominators", "constants"]
    {
        let output = toyjit(&["analyze", problem, "-", "-f", "collatz", "--trace"], PROGRAM);
        assert!(stdout(&output).contains(": nothing changes"), "{problem}");
        let output = toyjit(&["analyze", problem, "-", "--json"], PROGRAM);
        let whole: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        assert_eq!(whole["problem"], problem);
    }
    let output = toyjit(&["analyze", "live", "-", "-f", "nothing"], PROGRAM);
    assert_eq!(output.status.code(), Some(2));
}

/// The lines at which `check --taint` warns.
fn tainted(program: &str) -> Vec<usize> {
    let output = toyjit(&["check", "--taint", "-"], program);
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let places = said.lines().filter_map(|line| line.split("<stdin>:").nth(1));
    places.filter_map(|place| place.split(':').next()?.parse().ok()).collect()
}

#[test]
fn input_is_followed() {
    let program = "fn main(args: [str]) {
        let xs = [1, 2, 3];
        let i = parse_int(args[0], 0);
        print(xs[i]);
        print(1 << i);
        let ys = [0; i + 1];
        if i >= 0 && i < len(xs) {
            print(xs[i], len(ys));
        }
        exit(parse_int(args[1], 0));
    }";
    assert_eq!(tainted(program), [4, 5, 6, 10]);
}

#[test]
fn what_overwrites_a_value_is_named() {
    let program = "fn f(n: int) -> int {
        var x = n;
        if n > 3 { x = 2; } else { x = 5; }
        return x;
    }
    print(f(1));";
    let output = toyjit(&["check", "-"], program);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("W0612") && said.contains("overwritten here"), "{said}");
}
