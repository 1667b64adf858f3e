//! The line editor's helper: highlighting, completion, and whether an entry is complete.
//!
//! The editor is rustyline: it is kept well, has history, undo, kill ring, bracketed paste and
//! multi-line editing, and asks the program for nothing but this trait.

use super::builtins::BUILTINS;
use super::commands::COMMANDS;
use super::paint::{is_incomplete, paint};
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use std::borrow::Cow;
use std::path::Path;
use toyjit::inspect::{PROBLEMS, Stage};

const KEYWORDS: &[&str] = &[
    "fn", "let", "var", "struct", "if", "else", "while", "for", "in", "break", "continue",
    "return", "match", "true", "false", "nil", "int", "float", "bool", "byte", "str",
];

/// What the editor asks.
#[derive(Default)]
pub struct Assistant {
    /// The names of the session.
    pub names: Vec<String>,
    /// Whether there are colours.
    pub color: bool,
}

impl Helper for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        Ok(match !text.starts_with(':') && is_incomplete(text) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, cursor: usize) -> Cow<'l, str> {
        match self.color {
            true => Cow::Owned(paint(line, Some(cursor))),
            false => Cow::Borrowed(line),
        }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        match self.color {
            true => Cow::Owned(format!("\x1b[1;32m{prompt}\x1b[0m")),
            false => Cow::Borrowed(prompt),
        }
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.color
    }
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, found) = self.candidates(&line[..cursor]);
        let pair = |text: String| Pair { display: text.clone(), replacement: text };
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

impl Assistant {
    /// Where the word before the cursor begins, and what it may become.
    pub fn candidates(&self, before: &str) -> (usize, Vec<String>) {
        if before.starts_with(':') && !before.contains(' ') {
            let names = COMMANDS.iter().map(|command| format!(":{}", command.name));
            return (0, names.filter(|name| name.starts_with(before)).collect());
        }
        for command in [":load ", ":save "] {
            if let Some(path) = before.strip_prefix(command) {
                return (command.len(), files(path));
            }
        }
        let problems = PROBLEMS.iter().map(|row| row.name);
        let words: [(&str, Vec<&str>); 2] =
            [(":emit ", Stage::ALL.map(Stage::name).to_vec()), (":analyze ", problems.collect())];
        for (command, words) in words {
            if let Some(word) = before.strip_prefix(command).filter(|word| !word.contains(' ')) {
                let fitting = words.into_iter().filter(|known| known.starts_with(word));
                return (command.len(), fitting.map(str::to_owned).collect());
            }
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let start = before.trim_end_matches(is_part).len();
        let word = &before[start..];
        if word.is_empty() && !before.ends_with('.') {
            return (start, Vec::new());
        }
        let known = KEYWORDS.iter().copied().chain(BUILTINS.iter().map(|row| row.0));
        let mut found: Vec<String> = known
            .chain(self.names.iter().map(String::as_str))
            .filter(|name| name.starts_with(word))
            .map(str::to_owned)
            .collect();
        found.sort();
        found.dedup();
        (start, found)
    }
}

/// The files whose path begins so.
fn files(path: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let shown = path.strip_suffix(name).unwrap_or("");
    let place = match (folder, path.starts_with('/')) {
        ("", true) => Path::new("/"),
        ("", false) => Path::new("."),
        (folder, _) => Path::new(folder),
    };
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let mut found: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let is_folder = entry.path().is_dir();
            let hidden = file.starts_with('.') && !name.starts_with('.');
            (file.starts_with(name) && !hidden)
                .then(|| format!("{shown}{file}{}", if is_folder { "/" } else { "" }))
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completes() {
        let assistant = Assistant { names: vec!["total".into(), "tot".into()], color: false };
        let of = |text: &str| assistant.candidates(text);
        assert_eq!(of(":he"), (0, vec![":help".to_owned()]));
        assert_eq!(of("print(tot"), (6, vec!["tot".to_owned(), "total".to_owned()]));
        assert_eq!(of("xs.pu"), (3, vec!["push".to_owned()]));
        assert_eq!(of("wh"), (0, vec!["while".to_owned()]));
        assert_eq!(of("1 + "), (4, vec![]));
        assert_eq!(of(":emit re"), (6, vec!["regalloc".to_owned()]));
        assert_eq!(of(":analyze domi"), (9, vec!["dominators".to_owned()]));
        assert_eq!(of(":load Cargo.to"), (6, vec!["Cargo.toml".to_owned()]));
        assert_eq!(of(":load src/cl"), (6, vec!["src/cli/".to_owned()]));
    }
}
