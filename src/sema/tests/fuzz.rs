//! Mutated programs: nothing panics, and there is a program exactly where there is no error.

use super::{checked, deep, suite};
use crate::source::Severity;

/// Pieces of text where a program may be cut.
fn pieces(source: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let len = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (piece, after) = rest.split_at(len);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn is_word(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '"')
}

/// Another piece of the same kind.
fn other<'s>(
    u: &mut arbtest::arbitrary::Unstructured,
    piece: &str,
    from: &[&'s str],
) -> arbtest::arbitrary::Result<&'s str> {
    let same: Vec<&str> = from.iter().copied().filter(|p| is_word(p) == is_word(piece)).collect();
    u.choose(&same).copied()
}

#[test]
fn mutated_programs() {
    let programs: Vec<String> =
        suite::programs().into_iter().map(|(_, s)| s).filter(|s| s.len() < 6_000).collect();
    let test = |u: &mut arbtest::arbitrary::Unstructured| {
        let source = u.choose(&programs)?;
        let donor = u.choose(&programs)?;
        let mut words = pieces(source);
        let donors = pieces(donor);
        for _ in 0..u.int_in_range(1..=8)? {
            let at = u.choose_index(words.len())?;
            match u.int_in_range(0..=9)? {
                0 => drop(words.remove(at)),
                1 => words[at] = donors[u.choose_index(donors.len())?],
                2 | 3 => words[at] = other(u, words[at], &donors)?,
                _ => words[at] = other(u, words[at], &words)?,
            }
            if words.is_empty() {
                return Ok(());
            }
        }
        let checked = checked(&words.concat());
        let failed = checked.diagnostics.iter().any(|d| d.severity == Severity::Error);
        assert_eq!(failed, checked.program.is_none());
        if checked.program.is_some() && !checked.broken {
            checked.dump();
        }
        Ok(())
    };
    deep(|| arbtest::arbtest(test).budget_ms(2_000).run());
}
