//! What a mistyped command line meant: clap compares whole words by their likeness, and misses
//! swapped letters; what it knows nothing for is compared by the names' own measure.

use super::Cli;
use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory, Error};
use std::path::Path;
use toyjit::source::nearest;

/// Adds to an error what was meant, where that can be told. `args` are those of the process.
pub fn add(mut error: Error, args: impl Iterator<Item = String>) -> Error {
    let mut command = Cli::command();
    command.build();
    let wrong = |kind| match error.get(kind) {
        Some(ContextValue::String(wrong)) => Some(wrong.clone()),
        _ => None,
    };
    if let Some(verb) = wrong(ContextKind::InvalidSubcommand) {
        let verbs = command.get_subcommands().map(Command::get_name);
        let known = error.get(ContextKind::SuggestedSubcommand).is_some();
        if verb.ends_with(".toy") || Path::new(&verb).is_file() {
            let tip = format!("to run a program: 'toyjit run {verb}'").into();
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
        } else if let Some(meant) = nearest(&verb, verbs).filter(|_| !known) {
            let meant = ContextValue::Strings(vec![meant.to_owned()]);
            error.insert(ContextKind::SuggestedSubcommand, meant);
        }
    } else if let Some(flag) = wrong(ContextKind::InvalidArg).filter(|flag| flag.starts_with("--"))
        && error.get(ContextKind::SuggestedArg).is_none()
        && error.kind() == clap::error::ErrorKind::UnknownArgument
    {
        let verb = args.into_iter().find_map(|word| command.find_subcommand(word));
        let flags = verb.unwrap_or(&command).get_arguments().filter_map(clap::Arg::get_long);
        if let Some(meant) = nearest(flag.trim_start_matches('-'), flags) {
            let meant = ContextValue::String(format!("--{meant}"));
            error.insert(ContextKind::SuggestedArg, meant);
        }
    } else if let Some(value) = wrong(ContextKind::InvalidValue)
        && error.get(ContextKind::SuggestedValue).is_none()
        && let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue)
        && let Some(meant) = nearest(&value, valid.iter().map(String::as_str))
    {
        let meant = ContextValue::String(meant.to_owned());
        error.insert(ContextKind::SuggestedValue, meant);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn told(line: &str) -> String {
        let words = || line.split(' ').map(str::to_owned);
        let Err(error) = Cli::try_parse_from(std::iter::once("toyjit".to_owned()).chain(words()))
        else {
            panic!("{line} is right")
        };
        add(error, words()).to_string()
    }

    #[test]
    fn mistyped_words_get_suggestions() {
        for (line, meant) in [
            ("rnu x.toy", "'run'"),
            ("chekc x.toy", "'check'"),
            ("explian E0301", "'explain'"),
            ("run --levle 1 x.toy", "'--level'"),
            ("run --tiem x.toy", "'--time'"),
            ("run --mxa-heap 3M x.toy", "'--max-heap'"),
            ("run --no-gnv x.toy", "'--no-gvn'"),
            ("--colour never", "'--color'"),
            ("emit ams x.toy", "'asm'"),
            ("analyze lvie x.toy", "'live'"),
            ("run --engine itnerp x.toy", "'interp'"),
            ("squares.toy", "'toyjit run squares.toy'"),
        ] {
            let told = told(line);
            assert!(told.contains("tip: ") && told.contains(meant), "{line}: {told}");
        }
        assert!(!told("frobnicate").contains("tip: "));
    }
}
