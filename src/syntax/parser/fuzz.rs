//! Whatever the text, the parser answers; and a broken function does not harm the others.
//! `ARBTEST_BUDGET_MS` sets how long each test looks for a counterexample.

use super::tests::{conformance, parse_text};
use crate::syntax::{dump_ast, dump_tokens, lossless};
use arbtest::arbtest;
use std::time::Duration;

fn budget(milliseconds: u64) -> Duration {
    let set = std::env::var("ARBTEST_BUDGET_MS").ok().and_then(|ms| ms.parse().ok());
    Duration::from_millis(set.unwrap_or(milliseconds))
}

/// No panic and a sane tree, whatever the text.
fn robust(text: &str) {
    let parsed = parse_text(text);
    let end = parsed.sources.files()[0].text.len() as u32;
    for diagnostic in &parsed.diagnostics {
        for (span, _) in &diagnostic.labels {
            assert!(span.start <= span.end && span.end <= end, "{text:?}: {diagnostic:?}");
        }
    }
    dump_tokens(&parsed.sources, 0);
    dump_ast(&parsed.sources, &parsed.program, &parsed.interner);
    crate::source::render(&parsed.sources, &parsed.diagnostics, false);
}

#[test]
fn random_bytes() {
    arbtest(|u| {
        robust(&String::from_utf8_lossy(u.arbitrary::<&[u8]>()?));
        Ok(())
    })
    .budget(budget(1_000));
}

const SOUP: &[&str] = &[
    "fn",
    "let",
    "var",
    "struct",
    "if",
    "else",
    "while",
    "for",
    "in",
    "break",
    "continue",
    "return",
    "match",
    "true",
    "nil",
    "x",
    "P",
    "_",
    "int",
    "1",
    "9223372036854775808",
    "1.5",
    "'a'",
    "\"s\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    ".",
    "..",
    "..=",
    "->",
    "=>",
    "?",
    "+",
    "-",
    "*",
    "&",
    "|",
    "!",
    "~",
    "==",
    "<",
    "&&",
    "||",
    "=",
    "+=",
    "\n",
    "#",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "1.",
    "é",
];

#[test]
fn token_soup() {
    arbtest(|u| {
        let mut text = String::new();
        while !u.is_empty() && text.len() < 2_000 {
            text.push_str(u.choose(SOUP)?);
            if u.ratio(7, 8)? {
                text.push(' ');
            }
        }
        robust(&text);
        Ok(())
    })
    .budget(budget(1_000));
}

#[test]
fn mutated_programs() {
    let programs: Vec<String> =
        conformance().into_iter().filter_map(|(_, bytes)| String::from_utf8(bytes).ok()).collect();
    let short: Vec<&String> = programs.iter().filter(|p| p.len() < 4_000).collect();
    arbtest(|u| {
        let text = *u.choose(&short)?;
        let tokens = lossless(text);
        let mut out = text.clone();
        for _ in 0..u.int_in_range(1..=4)? {
            let range = u.choose(&tokens)?.1.clone();
            if out.get(range.clone()).is_none() {
                continue;
            }
            match u.int_in_range(0..=2)? {
                0 => out.replace_range(range, ""),
                1 => out.insert_str(range.start, u.choose(SOUP)?),
                _ => out.replace_range(range, u.choose(SOUP)?),
            }
        }
        robust(&out);
        Ok(())
    })
    .budget(budget(1_000));
}

const BODIES: &[&str] = &[
    "{ let a = [1, 2]; if a[0] == 1 { print(a); } else if b { c(); } else { d(); } return a.len(); }",
    "{\n    var x = P { x: 1, y: 2 };\n    while x.y > 0 && !done {\n        x.y -= 1;\n    }\n}",
    "{\n    for i in 0..10 {\n        match i {\n            1 | 2..=3 => { f(i); }\n            _ => { }\n        }\n    }\n}",
    "{\n    let g = fn(x: int) -> int { return x + k; };\n    return g(1) + (2 * 3);\n}",
];

/// One token more or less in one function leaves the other functions of the file as they are.
#[test]
fn other_functions_survive() {
    arbtest(|u| {
        let heads = ["a() -> int", "b(x: [int], y: fn(A) -> B?)", "c(p: P?)"];
        let broken = u.choose_index(3)?;
        let separator = *u.choose(&["\n\n", " "])?;
        let mut text = String::new();
        for (index, head) in heads.iter().enumerate() {
            let mut function = format!("fn {head} {}", u.choose(BODIES)?);
            if index == broken {
                let tokens = lossless(&function);
                let range = u.choose(&tokens)?.1.clone();
                if u.arbitrary()? {
                    function.replace_range(range, "");
                } else {
                    let token = u.choose(&SOUP[..52])?;
                    function.insert_str(range.start, &format!(" {token} "));
                }
            }
            text.push_str(&function);
            text.push_str(separator);
        }
        let parsed = parse_text(&text);
        let functions = parsed.functions();
        for (index, name) in ["a", "b", "c"].into_iter().enumerate() {
            assert!(index == broken || functions.contains(&name), "lost {name} in\n{text}");
        }
        Ok(())
    })
    .budget(budget(2_000));
}
