//! `toyjit explain`: more about a diagnostic code. The text is that of `docs/errors.md`.

use super::print;
use super::source::complain;
use crate::cli::exit::EXIT_USAGE;
use clap::Args;
use toyjit::source::nearest;

/// Tell more about a diagnostic code, with an example.
#[derive(Args)]
#[command(after_help = "\
Examples:
  toyjit explain E0301        what a mismatch of types is
  toyjit explain              all codes")]
pub struct ExplainArgs {
    /// The code, such as E0301; all codes are listed where none is given.
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

const PAGE: &str = include_str!("../../docs/errors.md");

/// A section of the page.
struct Section {
    code: &'static str,
    title: &'static str,
    text: &'static str,
}

fn sections() -> impl Iterator<Item = Section> {
    PAGE.split("\n## ").skip(1).filter_map(|section| {
        let (head, text) = section.split_once('\n')?;
        let (code, title) = head.split_once(": ")?;
        Some(Section { code, title, text: text.trim() })
    })
}

/// What is to be said of a code; none where there is no such code.
pub fn explanation(code: &str) -> Option<String> {
    let section = sections().find(|section| section.code.eq_ignore_ascii_case(code))?;
    let mut text = format!("{}: {}\n\n", section.code, section.title);
    let mut in_example = false;
    for line in section.text.lines() {
        if line.starts_with("```") {
            in_example = !in_example;
        } else if in_example {
            text += &format!("    {line}\n");
        } else {
            text += &format!("{}\n", line.replace('`', ""));
        }
    }
    Some(text)
}

/// The code that is most like one.
pub fn nearest_code(code: &str) -> Option<&'static str> {
    nearest(&code.to_uppercase(), sections().map(|section| section.code))
}

pub fn main(args: &ExplainArgs) -> i32 {
    let Some(code) = &args.code else {
        let list = sections().map(|section| format!("{}  {}\n", section.code, section.title));
        return print(&list.collect::<String>());
    };
    match explanation(code) {
        Some(text) => print(&text),
        None => {
            let message = format!("there is no code `{code}`; `toyjit explain` lists them all");
            complain(&message, nearest_code(code));
            EXIT_USAGE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;
    use toyjit::pipeline;
    use toyjit::source::Sources;
    use toyjit::timing::Timings;

    /// The codes that stand in the sources.
    fn used(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                used(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let strings = text.split('"').filter(|s| {
                s.len() == 5
                    && (s.starts_with("E0") || s.starts_with("W0"))
                    && s[1..].bytes().all(|b| b.is_ascii_digit())
            });
            found.extend(strings.map(str::to_owned));
        }
    }

    #[test]
    fn every_code_is_explained_and_every_explained_code_exists() {
        let mut found = BTreeSet::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for folder in ["syntax", "sema", "analysis", "lower", "bril"] {
            used(&root.join(folder), &mut found);
        }
        let explained: BTreeSet<String> = sections().map(|s| s.code.to_owned()).collect();
        assert_eq!(found, explained);
        assert_eq!(explained.len(), sections().count());
    }

    #[test]
    fn examples_get_their_codes() {
        for section in sections() {
            let Some(example) = section.text.split("```toy\n").nth(1) else { continue };
            let example = example.split("```").next().unwrap();
            let mut sources = Sources::new();
            sources.add("example.toy", example);
            let (_, said) = pipeline::front(&sources, &mut Timings::new());
            let codes: Vec<_> = said.iter().map(|d| d.code).collect();
            assert!(codes.contains(&section.code), "{}: {codes:?}", section.code);
        }
    }

    #[test]
    fn examples_of_bril_get_their_codes() {
        for section in sections() {
            let Some(example) = section.text.split("```bril\n").nth(1) else { continue };
            let example = example.split("```").next().unwrap();
            let mut sources = Sources::new();
            sources.add("example.bril", example);
            let mut load = |_: &Path| Err("no file".to_owned());
            let read = toyjit::bril::read(&mut sources, toyjit::bril::Form::Text, &mut load);
            let codes: Vec<_> = read.diagnostics.iter().map(|d| d.code).collect();
            assert!(codes.contains(&section.code), "{}: {codes:?}", section.code);
        }
    }

    #[test]
    fn explains() {
        let text = explanation("e0305").unwrap();
        assert!(text.starts_with("E0305: a condition that is no bool\n\n"), "{text}");
        assert!(text.contains("\n    if n {"), "{text}");
        assert!(explanation("E9999").is_none());
    }
}
