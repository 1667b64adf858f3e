//! File tests: each `tests/filetests/**.ir` holds a module in the text syntax and what is expected
//! of it, in comments:
//!
//! ```text
//! ; test: opt fold dce               what to do: a row of ACTIONS with its arguments, `run` (the
//!                                    program, interpreted) or `verify` (nothing more)
//! ; run: @f(2, 3) == 25              call a function in every engine …
//! ; run: @f(2, 0) traps division by zero
//! ; run: @f(0, 0) traps fault: …     … but a fault only in the first, the interpreter
//! ; check: iadd v1, 7                a line of the action's text, in this order
//! ; not: imul                        what it must not contain
//! v2: int = iadd v0, 1.5             ; error: operand 2 must be int
//! ```
//!
//! An action's text is compared with the section that ends the file (`; == print`, then the text as
//! comments), unless `check` or `not` say what matters. `BLESS=1` rewrites the sections;
//! `FILETEST=part-of-a-path` picks files. Every file that parses must print and parse back the same,
//! and must be well formed unless it expects errors.
//!
//! New stages plug in in `engines`.

mod engines;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use engines::{ACTIONS, ENGINES, reason};
use toyjit::ir::verify::{Place, VerifyError, verify_module};
use toyjit::ir::{FuncRef, Function, Loc, Module, Type, parse, print};
use toyjit::source::Sources;
use toyjit_runtime::Stopped;

/// One file.
struct Case {
    text: String,
    module: Module,
    sources: Sources,
}

impl Case {
    /// What the program prints, and how it ends.
    fn run(&self) -> Result<String, String> {
        let (printed, result) = engines::run_program(&self.module)?;
        let mut text = String::from_utf8_lossy(&printed).into_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let _ = match result {
            Ok(code) => writeln!(text, "exit {code}"),
            Err(stopped) => write!(text, "{}", self.report(&stopped)),
        };
        Ok(text)
    }

    fn report(&self, stopped: &Stopped) -> String {
        let mut text = format!("trap: {}\n", reason(&stopped.stop));
        for &call in &stopped.backtrace.first {
            let function = &self.module.functions[FuncRef(call.function)];
            let place = self.sources.place(function.locs[Loc(call.loc)].span.start);
            let _ = writeln!(text, "  in {} at {}:{}", function.name, place.line, place.column);
        }
        text
    }

    /// The line of the text where an error is.
    fn line_of(&self, error: &VerifyError) -> usize {
        let starts = |line: &str, what: String| {
            line.strip_prefix(&*what).is_some_and(|rest| rest.starts_with(['(', ':']))
        };
        let mut lines = self.text.lines().zip(1..);
        let header = format!("fn @{}(", error.function);
        match error.place {
            Place::Function | Place::Block(_) => {
                let function = lines.find(|(line, _)| line.contains(&header)).map_or(0, |l| l.1);
                let Place::Block(block) = error.place else { return function };
                lines.find(|(line, _)| starts(line, block.to_string())).map_or(function, |l| l.1)
            }
            _ => self.sources.place(error.span.start).line,
        }
    }
}

#[test]
fn filetests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let filter = env::var("FILETEST").unwrap_or_default();
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    files.retain(|file| file.to_string_lossy().contains(&filter));
    assert!(!files.is_empty(), "no file test matches {filter:?}");
    let failures: Vec<String> = files
        .iter()
        .filter_map(|file| check(file).err().map(|error| format!("{}: {error}", file.display())))
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} file tests fail\n\n{}",
        failures.len(),
        files.len(),
        failures.join("\n")
    );
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ext| ext == "ir") {
            files.push(path);
        }
    }
}

/// Where the golden sections begin.
const SECTION: &str = "; == ";

fn check(file: &Path) -> Result<(), String> {
    let whole = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let end = whole.find(&format!("\n{SECTION}")).map_or(whole.len(), |at| at + 1);
    let (text, golden) = whole.split_at(end);
    let directives = directives(text);
    let mut errors = Vec::new();
    let module = parse::module(text);
    let mut sources = Sources::new();
    sources.add(file.file_name().map_or_else(String::new, |n| n.to_string_lossy().into()), text);
    match module {
        Err(error) => errors.push((error.line, format!("{}: {}", error.column, error.message))),
        Ok(module) => {
            let case = Case { text: text.to_owned(), module, sources };
            round_trip(&case)?;
            match verify_module(&case.module) {
                Err(found) => {
                    errors.extend(found.iter().map(|e| (case.line_of(e), e.to_string())));
                }
                Ok(()) => {
                    let sections = actions(&case, &directives)?;
                    if sections != golden && env::var_os("BLESS").is_some() {
                        fs::write(file, format!("{text}{sections}")).map_err(|e| e.to_string())?;
                    } else if sections != golden {
                        return Err(difference(golden, &sections));
                    }
                    runs(&case, &directives)?;
                }
            }
        }
    }
    expect_errors(&directives, errors)
}

/// A comment that asks for something: its line, its word, what follows.
type Directive<'a> = (usize, &'a str, &'a str);

fn directives(text: &str) -> Vec<Directive<'_>> {
    let words = ["test", "run", "check", "not", "error"];
    let directive = |(line, number)| {
        let (_, comment) = str::split_once(line, "; ")?;
        let (word, rest) = comment.split_once(':')?;
        words.contains(&word).then(|| (number, word, rest.trim()))
    };
    text.lines().zip(1..).filter_map(directive).collect()
}

fn of<'a>(directives: &[Directive<'a>], word: &str) -> Vec<&'a str> {
    directives.iter().filter(|d| d.1 == word).map(|d| d.2).collect()
}

fn round_trip(case: &Case) -> Result<(), String> {
    let text = print::module(&case.module);
    let again = parse::module(&text).map_err(|error| format!("printed text: {error}\n{text}"))?;
    let again = print::module(&again);
    if again == text { Ok(()) } else { Err(format!("does not come back\n{text}\n{again}")) }
}

/// Does what the `test` lines say; the sections that the file should end with are the answer.
fn actions(case: &Case, directives: &[Directive<'_>]) -> Result<String, String> {
    let mut sections = String::new();
    let (checks, nots) = (of(directives, "check"), of(directives, "not"));
    for test in of(directives, "test") {
        let words: Vec<&str> = test.split_whitespace().collect();
        let [name, args @ ..] = &*words else { return Err("an empty test line".into()) };
        let text = match (*name, ACTIONS.iter().find(|row| row.0 == *name)) {
            ("verify", _) => continue,
            ("run", _) => case.run()?,
            (_, Some((_, action))) => action(&case.module, args)?,
            (_, None) => return Err(format!("there is no action {name}")),
        };
        if checks.is_empty() && nots.is_empty() {
            let _ = writeln!(sections, "{SECTION}{test}");
            for line in text.lines() {
                let _ = writeln!(sections, "{}", format!("; {line}").trim_end());
            }
            continue;
        }
        let mut rest = text.as_str();
        for check in &checks {
            let at =
                rest.find(check).ok_or_else(|| format!("check: {check}\nis not in\n{text}"))?;
            rest = &rest[at + check.len()..];
        }
        if let Some(not) = nots.iter().find(|not| text.contains(**not)) {
            return Err(format!("not: {not}\nis in\n{text}"));
        }
    }
    Ok(sections)
}

fn difference(golden: &str, found: &str) -> String {
    let mut text = String::from("the text differs (BLESS=1 accepts it)\n");
    let (golden, found): (Vec<_>, Vec<_>) = (golden.lines().collect(), found.lines().collect());
    let same = golden.iter().zip(&found).take_while(|(a, b)| a == b).count();
    for line in golden.iter().skip(same) {
        let _ = writeln!(text, "  expected {line}");
    }
    for line in found.iter().skip(same) {
        let _ = writeln!(text, "  found    {line}");
    }
    text
}

fn expect_errors(
    directives: &[Directive<'_>],
    mut errors: Vec<(usize, String)>,
) -> Result<(), String> {
    for &(line, _, wanted) in directives.iter().filter(|d| d.1 == "error") {
        match errors.iter().position(|(at, message)| *at == line && message.contains(wanted)) {
            Some(found) => _ = errors.remove(found),
            None => return Err(format!("line {line}: no error {wanted:?}; there are {errors:?}")),
        }
    }
    match errors.first() {
        None => Ok(()),
        Some((line, message)) => Err(format!("line {line}: unexpected error: {message}")),
    }
}

/// The `run` lines, in every engine.
fn runs(case: &Case, directives: &[Directive<'_>]) -> Result<(), String> {
    for run in of(directives, "run") {
        let (call, wanted) = match (run.split_once(" == "), run.split_once(" traps ")) {
            (Some((call, value)), _) => (call, Ok(value)),
            (None, Some((call, message))) => (call, Err(message)),
            (None, None) => return Err(format!("neither `==` nor `traps` in {run}")),
        };
        let (name, args) = call.split_once('(').ok_or("a run line names no call")?;
        let name = name.trim_start_matches('@');
        let named = |&(_, f): &(FuncRef, &Function)| f.name == name;
        let found = case.module.functions.iter().find(named);
        let (id, function) = found.ok_or_else(|| format!("there is no function {name}"))?;
        let args = args.trim_end_matches(')').split(',').map(str::trim).filter(|a| !a.is_empty());
        let args: Vec<u64> = args.map(|arg| word(arg).ok_or(arg)).collect::<Result<_, _>>()?;
        let is_fault = matches!(wanted, Err(message) if message.starts_with("fault:"));
        for (engine, call) in &ENGINES[..if is_fault { 1 } else { ENGINES.len() }] {
            let result = call(&case.module, id, &args);
            let agrees = match (&result, wanted) {
                (Ok(Some(found)), Ok(wanted)) => same(function.signature.result, *found, wanted),
                (Ok(None), Ok("nothing")) => true,
                (Err(found), Err(wanted)) => found == wanted,
                _ => false,
            };
            if !agrees {
                let shown = match (&result, function.signature.result) {
                    (Ok(Some(bits)), Some(Type::Float)) => format!("{:?}", f64::from_bits(*bits)),
                    (Ok(Some(bits)), _) => format!("{}", *bits as i64),
                    _ => format!("{result:?}"),
                };
                return Err(format!("{engine}: {run}\nfound {shown}"));
            }
        }
    }
    Ok(())
}

/// The word of a literal.
fn word(literal: &str) -> Option<u64> {
    match literal {
        "true" => Some(1),
        "false" | "nil" => Some(0),
        "nan" => Some(f64::NAN.to_bits()),
        "inf" => Some(f64::INFINITY.to_bits()),
        "-inf" => Some(f64::NEG_INFINITY.to_bits()),
        _ => match literal.parse::<i64>() {
            Ok(int) => Some(int as u64),
            Err(_) => literal.parse::<f64>().ok().map(f64::to_bits),
        },
    }
}

/// Whether a result is what a literal says: the same bits, but all NaN are one.
fn same(ty: Option<Type>, found: u64, wanted: &str) -> bool {
    let is_nan = ty == Some(Type::Float) && f64::from_bits(found).is_nan();
    word(wanted) == Some(found) || is_nan && wanted == "nan"
}
