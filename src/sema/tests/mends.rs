//! Helps and suggested edits: applied, an edit mends the program.

use super::checked;

/// Applies the only suggestion there is; the result must be without mistakes.
fn mend(source: &str) -> String {
    let before = checked(source);
    let suggestions: Vec<_> =
        before.diagnostics.iter().filter_map(|d| d.suggestion.clone()).collect();
    let [(span, text)] = &suggestions[..] else {
        panic!("{suggestions:?} for {source}\n{}", before.messages());
    };
    let mut mended = source.to_string();
    mended.replace_range(span.start as usize..span.end as usize, text);
    let after = checked(&mended);
    assert!(after.diagnostics.is_empty(), "{mended}\n{}", after.messages());
    mended
}

#[test]
fn suggestions_mend() {
    for (wrong, right) in [
        ("fn f() { let x = 1; x = 2; }", "fn f() { var x = 1; x = 2; }"),
        ("let x = 1; x += 2;", "var x = 1; x += 2;"),
        ("let x: float = 1;", "let x: float = 1.0;"),
        ("let x: float = -1;", "let x: float = -1.0;"),
        ("let x = 2 * 1.5;", "let x = 2.0 * 1.5;"),
        ("let x = 1.5 * 2;", "let x = 1.5 * 2.0;"),
        ("let x = 1.5 < 2;", "let x = 1.5 < 2.0;"),
        ("let x = 1 < 2.5;", "let x = 1.0 < 2.5;"),
        ("fn f(n: int) { print(n + \"\"); }", "fn f(n: int) { print(str(n) + \"\"); }"),
        ("fn f(n: int) { print(n < 2.5); }", "fn f(n: int) { print(float(n) < 2.5); }"),
        ("fn f(n: int, b: byte) { print(b + n); }", "fn f(n: int, b: byte) { print(int(b) + n); }"),
        ("fn f(s: str?) { print(\"\" + s); }", "fn f(s: str?) { print(\"\" + s!); }"),
        (
            "fn f(n: int, b: byte) { print(n << b); }",
            "fn f(n: int, b: byte) { print(n << int(b)); }",
        ),
        ("let n: int = 3.0;", "let n: int = 3;"),
        ("let x = min(0, 2.5);", "let x = min(0.0, 2.5);"),
        ("let x = sqrt(2);", "let x = sqrt(2.0);"),
        ("fn f(n: int) -> float { return n; }", "fn f(n: int) -> float { return float(n); }"),
        ("fn f(n: float) -> int { return n; }", "fn f(n: float) -> int { return int(n); }"),
        ("fn f(n: int) { print(\"n: \" + n); }", "fn f(n: int) { print(\"n: \" + str(n)); }"),
        ("fn f(s: str?) -> str { return s; }", "fn f(s: str?) -> str { return s!; }"),
        ("fn f(s: str?) -> int { return s.len(); }", "fn f(s: str?) -> int { return s!.len(); }"),
        ("fn f(s: str?) { print(s + \"\"); }", "fn f(s: str?) { print(s! + \"\"); }"),
        ("fn f(s: [int]?) { for x in s { } }", "fn f(s: [int]?) { for x in s! { } }"),
        ("fn f(s: str?) { match s { \"\" => { } } }", "fn f(s: str?) { match s! { \"\" => { } } }"),
        ("let total = 1; print(totl);", "let total = 1; print(total);"),
        ("fn length() { } lenght();", "fn length() { } length();"),
        ("pritn(1);", "print(1);"),
        (
            "struct P { value: int } fn f(p: P) -> int { return p.vlaue; }",
            "struct P { value: int } fn f(p: P) -> int { return p.value; }",
        ),
        (
            "struct P { value: int } print(P { valu: 1 });",
            "struct P { value: int } print(P { value: 1 });",
        ),
        ("let s: string = \"\";", "let s: str = \"\";"),
        ("struct Point { } fn f(p: Piont) { }", "struct Point { } fn f(p: Point) { }"),
        (
            "fn f(xs: [int]) -> int { return xs.len; }",
            "fn f(xs: [int]) -> int { return xs.len(); }",
        ),
        ("fn f(xs: [int]) { xs.psuh(1); }", "fn f(xs: [int]) { xs.push(1); }"),
        (
            "fn g() -> int { return 1; } let x: int = g;",
            "fn g() -> int { return 1; } let x: int = g();",
        ),
    ] {
        assert_eq!(mend(wrong), right);
    }
}

fn help(source: &str) -> String {
    let checked = checked(source);
    let helps: Vec<_> = checked.diagnostics.iter().filter_map(|d| d.help.clone()).collect();
    helps.join("\n")
}

#[test]
fn helps() {
    assert_eq!(help("let x = nil;"), "give it a type, as in `let x: str? = nil;`");
    assert_eq!(help("let xs = [];"), "give it a type, as in `let xs: [int] = [];`");
    assert_eq!(help("fn f(s: str?) { if s { } }"), "compare it: `s != nil`");
    assert!(help("fn f(s: str?) { print(!s); }").contains("== nil"));
    assert!(help("let x = int(\"1\");").contains("parse_int"));
    assert!(help("struct P { } let p = P();").contains("P { … }"));
}

#[test]
fn types_are_shown_as_written() {
    for ty in [
        "[str?]",
        "fn(int) -> str?",
        "(fn(int))?",
        "fn()",
        "fn(fn(int, [byte]) -> bool) -> fn() -> [S]?",
        "[(fn(S?) -> S)?]",
    ] {
        let checked = checked(&format!("struct S {{ }} fn f(x: {ty}) -> int {{ return x; }}"));
        let message = &checked.diagnostics[0].message;
        assert_eq!(*message, format!("expected `int`, found `{ty}`"));
    }
}
