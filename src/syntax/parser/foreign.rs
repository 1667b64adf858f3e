//! Words of other languages: what is written for them in Toy.

use super::state::State;
use crate::source::Diagnostic;

type Words = [(&'static [&'static str], &'static str)];

/// What to write in place of operators that are words.
const OPERATORS: &Words =
    &[(&["and"], "write `&&`"), (&["or"], "write `||`"), (&["not"], "write `!`")];

/// What to write in place of a word that begins a statement.
const HEADS: &Words = &[
    (&["func", "function", "fun", "def", "sub"], "a function begins with `fn`"),
    (&["const", "auto", "val"], "a variable is declared with `let` or `var`"),
    (&["int", "float", "bool", "byte", "str"], "a variable is declared so: `var name: type = …;`"),
    (
        &["class", "interface", "record", "impl"],
        "there are structs and functions: `struct Name { … }`",
    ),
    (&["switch", "case", "when"], "write `match x { 1 => { … } _ => { … } }`"),
    (&["elif", "elsif", "elseif"], "write `else if`"),
    (&["import", "use", "include", "using", "require"], "a program is one file"),
    (&["print", "println", "printf", "echo", "puts"], "a call has parentheses: `print(x);`"),
    (&["new"], "a struct's value is written `Name { … }`"),
];

/// Adds what to write where the token at `at`, or the one before it, is the head of a statement.
pub(super) fn help_statement(error: Diagnostic, state: &State<'_>, at: usize) -> Diagnostic {
    help(HEADS, error, state, at)
}

/// Adds what to write where the token at `at`, or the one before it, is an operator.
pub(super) fn help_operator(error: Diagnostic, state: &State<'_>, at: usize) -> Diagnostic {
    help(OPERATORS, error, state, at)
}

fn help(words: &Words, error: Diagnostic, state: &State<'_>, at: usize) -> Diagnostic {
    let word = |at: usize| {
        let text = state.token(at).is_name().then(|| state.text(at))?;
        words.iter().find(|(theirs, _)| theirs.contains(&text)).map(|&(_, help)| help)
    };
    match word(at).or_else(|| word(at.checked_sub(1)?)) {
        Some(help) => error.help(help),
        None => error,
    }
}
