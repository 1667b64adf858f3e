//! Sessions of the REPL: each `tests/repl/NAME.in` is entered through a pipe, and `NAME.out` is what
//! standard output and standard error, on one pipe, must show. The lines of `docs/repl.md` are entered
//! too. `BLESS=1` writes the outputs anew.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What a session says, and its exit code.
fn session(input: &str) -> (String, i32) {
    let mut child = Command::new("sh")
        .args(["-c", "exec \"$0\" repl 2>&1", env!("CARGO_BIN_EXE_toyjit")])
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // A session that leaves early does not read the rest.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().expect("an end");
    writer.join().expect("the writer");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}

fn compare(file: &Path, said: &str) -> Option<String> {
    if std::env::var_os("BLESS").is_some() {
        fs::write(file, said).expect("a file that can be written");
        return None;
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    (expected != said)
        .then(|| format!("{}:\n--- expected\n{expected}--- said\n{said}", file.display()))
}

#[test]
fn sessions_through_a_pipe() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(root().join("tests/repl")).expect("the sessions") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "in") {
            count += 1;
            let (said, code) = session(&fs::read_to_string(&path).expect("a session"));
            wrong
                .extend(compare(&path.with_extension("out"), &format!("{said}exit code {code}\n")));
        }
    }
    assert!(count > 3 && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The page shows sessions in blocks: lines after `toy> ` (and `  ... `) are entered, the others
/// are what comes. A line `…` stands for any number of lines, and at a line's end for what follows.
#[test]
fn every_line_of_the_page_is_true() {
    let page = fs::read_to_string(root().join("docs/repl.md")).expect("the page");
    let mut input = String::new();
    let mut expected = Vec::new();
    let sessions = blocks(&page, "text");
    for line in sessions.lines() {
        match line.strip_prefix("toy> ").or_else(|| line.strip_prefix("...  ")) {
            Some(entered) => input += &format!("{entered}\n"),
            None => expected.push(line),
        }
    }
    let (said, code) = session(&input);
    let said: Vec<&str> = said.lines().collect();
    assert!(fits(&expected, &said), "{}\n--- said\n{}", expected.join("\n"), said.join("\n"));
    assert_ne!(code, 70);
}

/// Lines after `$ ` are commands of a shell.
#[test]
fn the_commands_of_the_page_are_true() {
    let page = fs::read_to_string(root().join("docs/repl.md")).expect("the page");
    let block = blocks(&page, "sh");
    let script: Vec<&str> = block.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    let expected: Vec<&str> = block.lines().filter(|line| !line.starts_with("$ ")).collect();
    let program = Path::new(env!("CARGO_BIN_EXE_toyjit"));
    let output = Command::new("sh")
        .args(["-c", &script.join("\n")])
        .env("PATH", format!("{}:/usr/bin:/bin", program.parent().expect("a folder").display()))
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
    assert!(script.len() > 1);
}

/// The lines of all blocks of a language.
fn blocks(page: &str, language: &str) -> String {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

fn fits(expected: &[&str], said: &[&str]) -> bool {
    let Some((&first, rest)) = expected.split_first() else { return said.is_empty() };
    match first.strip_suffix('…') {
        Some("") => (0..=said.len()).any(|skip| fits(rest, &said[skip..])),
        begins => said.first().is_some_and(|line| {
            let is_same = match begins {
                Some(begins) => line.starts_with(begins.trim_end()),
                None => line.trim_end() == first.trim_end(),
            };
            is_same && fits(rest, &said[1..])
        }),
    }
}

#[test]
fn entries_and_the_program_share_their_input() {
    let (said, _) = session("let line = read_line()\nhello\nline\n");
    assert_eq!(said, "= \"hello\" : str?\n");
}
