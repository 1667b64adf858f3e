//! The command line as a whole process: what is mistyped, colours, messages for tools, the pages made
//! of its table.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Standard output, standard error, exit code.
fn toyjit(args: &[&str], input: &str) -> (String, String, i32) {
    with(args, input, &[])
}

fn with(args: &[&str], input: &str, env: &[(&str, &str)]) -> (String, String, i32) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toyjit"))
        .args(args)
        .envs(env.iter().copied())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("toyjit starts");
    // It may end before it has read all.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("toyjit ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code().unwrap_or(-1))
}

#[test]
fn mistyped_words_get_suggestions() {
    for (args, meant) in [
        (&["rnu", "x.toy"][..], "'run'"),
        (&["run", "--levle", "1", "x.toy"], "'--level'"),
        (&["examples/hello.toy"], "'toyjit run examples/hello.toy'"),
        (&["emit", "ams", "x.toy"], "'asm'"),
        (&["emit", "asm", "examples/sieve.toy", "-f", "mian"], "did you mean `main`?"),
        (&["explain", "E301"], "did you mean `E0301`?"),
        (&["man", "rnu"], "did you mean `run`?"),
    ] {
        let (_, told, code) = toyjit(args, "");
        assert!(told.contains(meant) && code == 2, "{args:?}: {told}");
    }
}

#[test]
fn messages_for_tools() {
    let source = "fn f() -> int { let unused = 1; return 1 / (args().len() - 1); }\nprint(f());\n";
    let lines = |args: &[&str], input: &str| -> (Vec<Value>, i32) {
        let (_, told, code) = toyjit(args, input);
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        (told.lines().map(parse).collect(), code)
    };
    let (said, code) = lines(&["run", "--message-format=json", "-", "x"], source);
    assert_eq!((said.len(), code), (2, 101));
    assert_eq!((&said[0]["kind"], &said[0]["code"]), (&"warning".into(), &"W0611".into()));
    assert_eq!(
        (&said[1]["kind"], &said[1]["message"]),
        (&"trap".into(), &"division by zero".into())
    );
    assert_eq!(said[1]["calls"][0]["at"]["start"]["line"], 1);
    assert_eq!(said[1]["calls"][1]["function"], "top level");
    for verb in [&["check"][..], &["run"], &["emit", "asm"], &["analyze", "live"], &["ssa"]] {
        let args = [&["--message-format", "json"], verb, &["-"]].concat();
        let (said, code) = lines(&args, "print(1 + true);");
        assert_eq!((said.len(), code), (1, 1), "{verb:?}");
        assert_eq!(said[0]["code"], "E0302", "{verb:?}");
        assert_eq!(said[0]["labels"][0]["at"]["start"]["column"], 9, "{verb:?}");
    }
    let (said, code) = lines(&["rnu", "--message-format=json", "x.toy"], "");
    assert_eq!((said.len(), code), (1, 2));
    assert_eq!(said[0]["message"], "unrecognized subcommand 'rnu'");
    assert_eq!(said[0]["help"], "a similar subcommand exists: 'run'");
    let remarks = ["run", "--message-format=json", "--no-run", "--remarks", "examples/sieve.toy"];
    let (said, code) = lines(&remarks, "");
    assert!(!said.is_empty() && said.iter().all(|remark| remark["kind"] == "remark"));
    assert_eq!((&said[0]["at"]["file"], code), (&"examples/sieve.toy".into(), 0));
    let (said, code) = lines(&["bench", "--message-format=json", "-"], "print(1 / 0);");
    assert_eq!((&said[0]["kind"], said.len(), code), (&"trap".into(), 1, 101));
    let (said, code) = lines(&["run", "--message-format=json", "there/is/none.toy"], "");
    assert_eq!((&said[0]["kind"], code), (&"error".into(), 2));
    let (said, code) = lines(&["repl", "--message-format=json"], "x\n[1][1]\n:nothing\n");
    assert_eq!((&said[0]["code"], &said[1]["kind"], code), (&"E0201".into(), &"trap".into(), 1));
    assert_eq!(said[2]["kind"], "error");
}

#[test]
fn remarks_say_what_was_done_where() {
    let program = "var hits = 0;
struct Pair { a: int, b: int }
fn twice(p: Pair) -> int { return p.a * 2; }
fn count(a: [int], n: int) {
    for i in 0..n {
        a[i] = n / 3 + i;
        hits += 1;
    }
}
fn main() {
    let a = [0; 100];
    count(a, 100);
    let p = Pair { a: 1, b: 2 };
    print(twice(p));
    for k in 0..3 { print(a[k]); p.b += k; }
    print(hits, p.b);
}
";
    let (printed, said, code) = toyjit(&["run", "--no-run", "--remarks", "-"], program);
    assert_eq!((printed.as_str(), code), ("", 0));
    for remark in [
        "6:9: remark: `check_bounds` left out of the main part of the loop [split]",
        "6:16: remark: `sdiv` moved before the loop [licm]",
        "7:9: remark: `load_global` in a register while the loop runs [promote]",
        "12:5: remark: `count` inlined [inline]",
        "13:13: remark: object left out: its fields are values [scalar]",
        "15:14: remark: loop unrolled: 3 rounds [unroll]",
    ] {
        assert!(said.contains(&format!("<stdin>:{remark}\n")), "{remark}\n{said}");
    }
    let without = ["run", "--no-run", "--remarks", "--no-promote", "--no-unroll", "-"];
    let (_, said, _) = toyjit(&without, program);
    assert!(!said.contains("[promote]") && !said.contains("[unroll]"), "{said}");
}

#[test]
fn colours_are_for_terminals_and_who_asks() {
    let told = |args: &[&str], env: &[(&str, &str)]| with(args, "print(x);", env).1;
    assert!(!told(&["check", "-"], &[]).contains('\x1b'));
    assert!(told(&["check", "--color=always", "-"], &[]).contains('\x1b'));
    assert!(told(&["check", "-"], &[("CLICOLOR_FORCE", "1")]).contains('\x1b'));
    let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    assert!(!told(&["check", "-"], &both).contains('\x1b'));
    assert!(!told(&["check", "--color=never", "-"], &[("CLICOLOR_FORCE", "1")]).contains('\x1b'));
}

#[test]
fn pages_and_scripts_come_from_the_table() {
    let (version, _, _) = toyjit(&["--version"], "");
    assert!(version.contains("extensions in use: "), "{version}");
    let (help, _, _) = toyjit(&["help"], "");
    for verb in ["run", "check", "emit", "analyze", "ssa", "repl", "explain", "completions", "man"]
    {
        assert!(help.contains(&format!("\n  {verb} ")), "{verb}: {help}");
        let (told, _, code) = toyjit(&[verb, "--help"], "");
        assert!(told.contains("Examples:\n  ") && code == 0, "{told}");
        let (page, _, code) = toyjit(&["man", verb], "");
        assert!(page.contains(&format!("toyjit\\-{verb}")) && code == 0, "{page}");
        let head = page.lines().find(|line| line.starts_with(".TH")).expect("a head");
        assert!(head.ends_with(&format!("{}\" ", env!("CARGO_PKG_VERSION"))), "{head}");
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (script, _, code) = toyjit(&["completions", shell], "");
        assert!(script.contains("analyze") && script.contains("max-heap") && code == 0, "{shell}");
    }
}

#[test]
fn many_errors_on_one_line_take_no_time() {
    let start = Instant::now();
    let (_, told, code) = toyjit(&["check", "-"], &"print(y); ".repeat(20_000));
    assert_eq!(code, 1);
    assert!(told.len() < 4 << 20 && told.contains("20000 errors"), "{} bytes", told.len());
    assert!(start.elapsed() < Duration::from_secs(60));
}
