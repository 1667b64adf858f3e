//! Faults that other compilers had and that need programs too large, or inputs too odd, to be kept
//! as files: each is made here and run as a whole process.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs a program from standard input.
fn toyjit(options: &[&str], source: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toyjit"))
        .args(options)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program toyjit starts");
    // It may refuse the input before it has read all of it.
    let _ = child.stdin.take().expect("piped").write_all(source);
    child.wait_with_output().expect("the program ends")
}

fn prints(source: &str, expected: &str) {
    for level in ["-O0", "-O2"] {
        let output = toyjit(&["run", level], source.as_bytes());
        let (found, said) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        assert_eq!(
            (found.trim_end(), output.status.code()),
            (expected, Some(0)),
            "{level}: {said}"
        );
    }
}

/// What standard error says of a program that does not compile.
fn refuses(source: &[u8]) -> String {
    let output = toyjit(&["check"], source);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let head = String::from_utf8_lossy(&source[..source.len().min(40)]).into_owned();
    assert_eq!(output.status.code(), Some(1), "{head}: {said}");
    assert!(said.contains("error") && said.contains("<stdin>:"), "{head}: {said}");
    said
}

#[test]
fn rb56_jumps_over_long_code() {
    let body = |n: u64| -> (String, i64) {
        let mut x = 1u64;
        for _ in 0..3 {
            for k in 1..=n {
                x = x.wrapping_mul(3).wrapping_add(k);
            }
        }
        let lines: String = (1..=n).map(|k| format!("x = x * 3 + {k}; ")).collect();
        (format!("var x = args().len() + 1; for i in 0..3 {{ {lines} }}"), x as i64)
    };
    let (short, long) = (body(40), body(4000));
    assert_eq!((short.1, long.1), (-5122661211000913939, -6789122508385200079));
    let source = format!(
        "fn f() -> int {{ {} return x; }}\nfn g() -> int {{ {} return x; }}\nprint(f(), g());",
        short.0, long.0
    );
    prints(&source, &format!("{} {}", short.1, long.1));
}

#[test]
fn rb79_nesting_is_limited() {
    for (open, inner, close) in
        [("(", "1", ")"), ("-", "1", ""), ("if true {", "", "}"), ("a[", "1", "]"), ("[", "1", "]")]
    {
        let deep = format!("{}{inner}{};", open.repeat(100_000), close.repeat(100_000));
        let said = refuses(deep.as_bytes());
        assert!(said.contains("nest"), "{open}: {said}");
    }
    let fine = format!("print({}7{});", "(".repeat(256), ")".repeat(256));
    prints(&fine, "7");
}

#[test]
fn rb75_every_loop_burns_fuel() {
    let loops = "fn f() { while true { while true { if args().len() == 0 { break; } } } } f();";
    let calls = "fn g() { h(); } fn h() { g(); } g();";
    for source in [loops, calls] {
        let run = |engine| {
            let output = toyjit(&["run", "--fuel", "1000", engine], source.as_bytes());
            assert_eq!(output.status.code(), Some(101), "{engine}");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            said.split('…').next().unwrap_or_default().to_owned()
        };
        let expected = run("--engine=interp");
        assert!(expected.starts_with("trap: out of fuel\n --> <stdin>:1:"), "{expected}");
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            assert_eq!(run(level), expected, "{level}");
        }
    }
}

#[test]
fn rb79_long_chains_are_no_nesting() {
    let terms = format!("print({});", vec!["1"; 10_001].join(" + "));
    prints(&terms, "10001");
    let arms: String = (0..10_000).map(|i| format!("else if x == {i} {{ r = {i}; }} ")).collect();
    prints(
        &format!("let x = 9999 + args().len(); var r = 0; if x < 0 {{ }} {arms} print(r);"),
        "9999",
    );
}

#[test]
fn rb82_a_chain_of_blocks() {
    let blocks = "{ x = x + 1; } ".repeat(15_000);
    prints(
        &format!(
            "fn f(p: int) -> int {{ var x = p; {blocks} return x; }}\nprint(f(args().len()));"
        ),
        "15000",
    );
}

#[test]
fn rb84_unfinished_pieces() {
    let pieces: [&[u8]; 12] = [
        b"/*",
        b"/**",
        b"/*/",
        b"\"abc",
        b"\"abc\\",
        b"\"\\u{",
        "'é".as_bytes(),
        b"\xff\xfe",
        b"\0",
        b"'",
        b"'\\",
        b"print(\"\\x4",
    ];
    for piece in pieces {
        refuses(piece);
    }
    for empty in [&b""[..], b"\xef\xbb\xbf", b"\n\n", b"// only this"] {
        let output = toyjit(&["run"], empty);
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b""[..]));
    }
}

#[test]
fn rb90_tables_of_many_sizes() {
    for cases in [1, 2, 255, 257, 2000] {
        let arms: String = (0..cases).map(|i| format!("{i} => {{ return {}; }} ", i * 3)).collect();
        let source = format!(
            "fn f(k: int) -> int {{ match k {{ {arms} _ => {{ return -1; }} }} }}\n\
             print(f(args().len()), f({}), f({cases}), f(-1));",
            cases - 1
        );
        prints(&source, &format!("0 {} -1 -1", (cases - 1) * 3));
    }
}
