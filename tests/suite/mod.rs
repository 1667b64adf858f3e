//! Language tests: programs with what they must print, each run as a whole process.
//!
//! A test is `NAME.toy` with `NAME.out` (standard output; absent means empty) and `NAME.in`
//! (standard input). Comments at the head of the program say what else is expected:
//!
//! ```text
//! // args: a b c          the program's arguments
//! // exit: N              the exit code (0 otherwise)
//! // trap: MESSAGE        exit code 101, and the first line of standard error that begins with
//!                         `trap:` is `trap: MESSAGE`
//! // error: LINE [TEXT]   does not compile: exit code 1, nothing on standard output, standard
//!                         error names the line and has the text; LINE may be `?`
//! // warning: LINE        runs as usual, and standard error has a warning at the line
//! ```

use crate::every::each;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const TIME_LIMIT: Duration = Duration::from_secs(180);

/// What a test's header asks for.
#[derive(Default)]
struct Expected {
    args: Vec<String>,
    exit: i32,
    trap: Option<String>,
    errors: Vec<(Option<usize>, String)>,
    warnings: Vec<usize>,
    stdout: Vec<u8>,
    stdin: Vec<u8>,
}

impl Expected {
    fn of(path: &Path) -> Expected {
        let source = fs::read(path).expect("a test program");
        let source = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&source);
        let mut expected = Expected {
            stdout: fs::read(path.with_extension("out")).unwrap_or_default(),
            stdin: fs::read(path.with_extension("in")).unwrap_or_default(),
            ..Expected::default()
        };
        for line in source.split(|&b| b == b'\n') {
            let line = String::from_utf8_lossy(line);
            let Some((key, value)) =
                line.trim_end().strip_prefix("//").and_then(|l| l.trim_start().split_once(':'))
            else {
                break;
            };
            let value = value.trim();
            match key {
                "args" => expected.args = value.split_whitespace().map(str::to_owned).collect(),
                "exit" => expected.exit = value.parse().expect("an exit code"),
                "trap" => {
                    expected.trap = Some(value.to_owned());
                    expected.exit = 101;
                }
                "error" => {
                    let (line, text) = value.split_once(' ').unwrap_or((value, ""));
                    expected.errors.push((line.parse().ok(), text.to_owned()));
                    expected.exit = 1;
                }
                "warning" => expected.warnings.push(value.parse().expect("a line")),
                _ => break,
            }
        }
        expected
    }

    fn judge(&self, code: Option<i32>, stdout: &[u8], stderr: &str) -> Vec<String> {
        let mut why = Vec::new();
        if code != Some(self.exit) {
            why.push(format!("exit code {code:?}, expected {}", self.exit));
        }
        if stdout != self.stdout {
            why.push(format!(
                "standard output differs\n--- expected\n{}\n--- found\n{}",
                String::from_utf8_lossy(&self.stdout),
                String::from_utf8_lossy(stdout)
            ));
        }
        if let Some(trap) = &self.trap {
            let found = stderr.lines().find(|line| line.starts_with("trap:"));
            if found != Some(&format!("trap: {trap}")) {
                why.push(format!("the trap report begins {found:?}, expected {trap:?}"));
            }
        }
        if !self.errors.is_empty() && !stderr.contains("error") {
            why.push("no error reported".into());
        }
        for (line, text) in &self.errors {
            if line.is_some_and(|line| !stderr.contains(&format!(":{line}:"))) {
                why.push(format!("no error at line {}", line.unwrap()));
            }
            if !stderr.contains(text.as_str()) {
                why.push(format!("standard error has no {text:?}"));
            }
        }
        for line in &self.warnings {
            if !stderr.contains("warning") || !stderr.contains(&format!(":{line}:")) {
                why.push(format!("no warning at line {line}"));
            }
        }
        if !why.is_empty() && !stderr.is_empty() {
            why.push(format!("standard error:\n{stderr}"));
        }
        why
    }
}

/// Runs one program; the reasons why it fails, none if it passes.
fn run_one(path: &Path, options: &[&str]) -> Vec<String> {
    let expected = Expected::of(path);
    let mut child = Command::new(env!("CARGO_BIN_EXE_toyjit"))
        .arg("run")
        .args(options)
        .arg(path)
        .args(&expected.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program toyjit starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = expected.stdin.clone();
    let feeder = std::thread::spawn(move || {
        // A program that reads no input may have ended already.
        let _ = stdin.write_all(&input);
    });
    let id = child.id();
    let done = std::sync::Arc::new(Mutex::new(false));
    let watch = {
        let done = done.clone();
        std::thread::spawn(move || {
            let start = Instant::now();
            while !*done.lock().unwrap() {
                if start.elapsed() > TIME_LIMIT {
                    let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
                    return;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        })
    };
    let output = child.wait_with_output().expect("the program ends");
    *done.lock().unwrap() = true;
    watch.join().expect("the watch ends");
    feeder.join().expect("the feeder ends");
    expected.judge(output.status.code(), &output.stdout, &String::from_utf8_lossy(&output.stderr))
}

/// Runs every program of a folder of this package with these options, but those named; panics with
/// a list of those that fail.
pub fn run_folder(folder: &str, options: &[&str], without: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("a folder of tests")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toy"))
        .filter(|path| !without.iter().any(|name| path.file_stem().is_some_and(|f| f == *name)))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} has no tests", folder.display());
    let name = |path: &PathBuf| format!("{} {}", path.display(), options.join(" "));
    each(&paths, name, |path| run_one(path, options));
}
