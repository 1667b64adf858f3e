//! Texts and JSON read and written, and whatever else comes as a file.

use super::{Form, Program, form_of, json, print, read, tree};
use crate::source::{Diagnostic, Sources};
use std::path::{Path, PathBuf};

fn corpus() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bril");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "bril"))
        .map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    files
}

fn sources(text: &str) -> Sources {
    let mut sources = Sources::new();
    sources.add("a file", text).unwrap();
    sources
}

fn checked(text: &str, form: Form) -> (Option<Program>, Vec<Diagnostic>) {
    let mut load = |_: &Path| Err("there are no other files".to_owned());
    let read = read(&mut sources(text), form, &mut load);
    (read.program, read.diagnostics)
}

#[test]
fn what_is_printed_reads_back() {
    for (path, text) in corpus() {
        let (names, parsed, said) = tree(&mut sources(&text), Form::Text);
        if !said.is_empty() {
            continue;
        }
        let printed = print::text(&parsed, &names);
        let (names, parsed, said) = tree(&mut sources(&printed), Form::Text);
        assert!(said.is_empty(), "{}: {said:?}\n{printed}", path.display());
        assert_eq!(print::text(&parsed, &names), printed, "{}", path.display());
        let written = json::write(&parsed, &names).to_string();
        let (names, parsed, said) = tree(&mut sources(&written), Form::Json);
        assert!(said.is_empty(), "{}: {said:?}\n{written}", path.display());
        assert_eq!(print::text(&parsed, &names), printed, "{}", path.display());
    }
}

#[test]
fn json_and_text_have_the_same_errors() {
    for (path, text) in corpus() {
        let (names, parsed, said) = tree(&mut sources(&text), Form::Text);
        if !said.is_empty() {
            continue;
        }
        let messages = |(_, said): (Option<Program>, Vec<Diagnostic>)| -> Vec<String> {
            said.into_iter().map(|d| d.message).collect()
        };
        let written = json::write(&parsed, &names).to_string();
        let (one, other) = (checked(&text, Form::Text), checked(&written, Form::Json));
        assert_eq!(messages(one), messages(other), "{}", path.display());
    }
}

#[test]
fn forms() {
    let of = |path: &str, text: &str| form_of(Path::new(path), text);
    assert_eq!(of("a.bril", ""), Some(Form::Text));
    assert_eq!(of("a.json", ""), Some(Form::Json));
    assert_eq!(of("a.toy", "@main {}"), None);
    assert_eq!(of("-", "# one\n@main {}"), Some(Form::Text));
    assert_eq!(of("-", " from \"a\" import @f;"), Some(Form::Text));
    assert_eq!(of("-", "\n{ \"functions\": [] }"), Some(Form::Json));
    assert_eq!(of("-", "{ print(1); }"), None);
}

#[test]
fn damaged_programs_never_panic() {
    let corpus = corpus();
    arbtest::arbtest(|u| {
        let (_, text) = u.choose(&corpus)?;
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n', ':', ';']).collect();
        for _ in 0..u.int_in_range(1..=6)? {
            let (from, to) = (u.choose_index(words.len())?, u.choose_index(words.len())?);
            match u.int_in_range(0..=3)? {
                0 => words.swap(from, to),
                1 => words[to] = words[from],
                2 => words.insert(to, words[from]),
                _ if words.len() > 1 => _ = words.remove(to),
                _ => {}
            }
        }
        let text = words.concat();
        if let (Some(program), _) = checked(&text, Form::Text) {
            let module = super::lower(&program, super::Checks::On);
            if let Err(errors) = crate::ir::verify::verify_module(&module) {
                panic!("{}\n{text}", errors[0]);
            }
        }
        let _ = checked(&text.replace('@', "{\"functions\":"), Form::Json);
        Ok(())
    });
}

#[test]
fn large_functions_take_time_as_their_size() {
    // Every variable lives through every block, and any may lack a value.
    let text = |n: usize| {
        let mut text = String::from("@main(c: bool) {\n");
        for i in 0..n {
            text +=
                &format!(".l{i}:\n  br c .a{i} .b{i};\n.a{i}:\n  v{i}: int = const 1;\n.b{i}:\n");
        }
        for i in 0..n {
            text += &format!("  print v{i};\n");
        }
        text + "}\n"
    };
    let (program, said) = checked(&text(3_000), Form::Text);
    assert!(said.is_empty());
    assert!(super::lower(&program.unwrap(), super::Checks::On).functions.len() == 2);
}
