use super::*;
use crate::syntax::ast::{Item, StmtKind};
use crate::syntax::dump_ast;
use std::fs;

/// A program and what was said about it.
pub(super) struct Parsed {
    pub sources: Sources,
    pub interner: Interner,
    pub program: Program,
    pub diagnostics: Vec<Diagnostic>,
}

pub(super) fn parse_text(text: &str) -> Parsed {
    let mut sources = Sources::new();
    let base = sources.add("t.toy", text).unwrap();
    let mut interner = Interner::new();
    let (program, diagnostics) = parse(&sources, base, &mut interner);
    Parsed { sources, interner, program, diagnostics }
}

impl Parsed {
    /// `CODE LINE:COLUMN` of each diagnostic.
    fn errors(&self) -> Vec<String> {
        let error = |d: &Diagnostic| {
            let place = self.sources.place(d.span().start);
            format!("{} {}:{}", d.code, place.line, place.column)
        };
        self.diagnostics.iter().map(error).collect()
    }

    pub fn functions(&self) -> Vec<&str> {
        self.program
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Function(f) => Some(self.interner.name(f.name.symbol)),
                _ => None,
            })
            .collect()
    }
}

#[track_caller]
fn errors(text: &str, expected: &[&str]) {
    let parsed = parse_text(text);
    assert_eq!(parsed.errors(), expected, "{text}\n{:#?}", parsed.diagnostics);
}

#[track_caller]
fn tree(text: &str, expected: &str) {
    let parsed = parse_text(text);
    assert_eq!(parsed.errors(), [""; 0], "{text}");
    let dump = dump_ast(&parsed.sources, &parsed.program, &parsed.interner);
    let plain = |text: &str| {
        let cut = |line: &str| line.split("  @").next().unwrap_or("").trim_end().to_string();
        text.lines().map(cut).filter(|l| !l.is_empty()).collect::<Vec<_>>()
    };
    let expected = plain(expected);
    let expected: Vec<_> =
        expected.iter().map(|line| line.strip_prefix("         ").unwrap_or(line)).collect();
    assert_eq!(plain(&dump), expected, "{dump}");
}

pub(super) fn conformance() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");
    let mut programs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toy"))
        .map(|path| (path.file_name().unwrap().to_str().unwrap().into(), fs::read(path).unwrap()))
        .collect();
    programs.sort();
    programs
}

#[test]
fn conformance_programs() {
    let programs = conformance();
    assert!(programs.len() > 100);
    for (name, bytes) in programs {
        let Ok(text) = crate::source::decode(bytes) else {
            assert_eq!(name, "error_lex_utf8.toy");
            continue;
        };
        let parsed = parse_text(&text);
        let lines: Vec<_> =
            parsed.diagnostics.iter().map(|d| parsed.sources.place(d.span().start).line).collect();
        let syntactic = ["error_lex_", "error_syntax_", "error_nesting"];
        if syntactic.iter().any(|prefix| name.starts_with(prefix)) {
            let header = text.lines().filter_map(|line| line.strip_prefix("// error: "));
            let expected: Vec<usize> = header.map(|line| line.parse().unwrap()).collect();
            assert_eq!(lines, expected, "{name}: {:#?}", parsed.diagnostics);
        } else {
            assert!(lines.is_empty(), "{name}: {:#?}", parsed.diagnostics);
        }
    }
}

#[test]
fn precedence_is_flat() {
    tree(
        "x = a + b * c - d == e && !f || g;",
        "assign =
           name x
           logic ||
             logic &&
               compare ==
                 chain
                   name a
                   +
                     chain
                       name b
                       *
                         name c
                   -
                     name d
                 name e
               unary !
                 name f
             name g",
    );
    tree(
        "1 | 2 ^ 3 & 4 << 5 + 6 * 7;",
        "expression
           chain
             int 1
             |
               chain
                 int 2
                 ^
                   chain
                     int 3
                     &
                       chain
                         int 4
                         <<
                           chain
                             int 5
                             +
                               chain
                                 int 6
                                 *
                                   int 7",
    );
    tree(
        "1 * 2 + 3;",
        "expression
           chain
             chain
               int 1
               *
                 int 2
             +
               int 3",
    );
}

#[test]
fn postfix_and_literals() {
    tree(
        "-a.b[1]!.f(2)(3);",
        "expression
           unary -
             call
               method .f
                 unwrap !
                   index
                     field .b
                       name a
                     int 1
                 int 2
               int 3",
    );
    tree(
        "let a = [[], [1,], [nil; 2], - 9223372036854775808, 0xFFFF_FFFF_FFFF_FFFF, 'a', 1e3];",
        "let a
           array
             array
             array
               int 1
             repeat
               nil
               int 2
             int -9223372036854775808
             int -1
             byte 97
             float 1000.0",
    );
    tree(
        "let s = \"a\\n\\x41\\u{e9}\";",
        "let s
           str \"a\\nA\\xc3\\xa9\"",
    );
    tree(
        "let f = fn(a: int,) -> (fn(int) -> str?)? { return nil; };",
        "let f
           lambda
             param a: int
             result (fn(int) -> str?)?
             body
               return
                 nil",
    );
}

#[test]
fn statements() {
    tree(
        "if a == (P { x: 1 }) { } else if b[P {} == c] { } else { }",
        "if
           compare ==
             name a
             struct P
               field x
                 int 1
           then
           index
             name b
             compare ==
               struct P
               name c
           then
           else",
    );
    tree(
        "for i in 0..=n { break; } for x in xs { continue; }",
        "for i in ..=
           int 0
           name n
           do
             break
         for x in
           name xs
           do
             continue",
    );
    tree(
        "match x { -1 | 2..=3 => { } 'a'..'b' => { } \"s\" | true | _ => { } }",
        "match
           name x
           arm
             int -1
             range ..=
               int 2
               int 3
             do
           arm
             range ..
               byte 97
               byte 98
             do
           arm
             str \"s\"
             true
             _
             do",
    );
    tree(
        "a.b >>>= 1; a[0] = 2; var x: [fn(A)]?; (fn() {})();",
        "assign >>>=
           field .b
             name a
           int 1
         assign =
           index
             name a
             int 0
           int 2
         var x: [fn(A)]?
         expression
           call
             lambda
               body",
    );
}

#[test]
fn one_mistake_one_error() {
    errors("let x = (1 + 2;\nlet y = 3;", &["E0112 1:9"]);
    errors("fn f(a: int -> int {\n return a;\n}\nfn g() {}", &["E0112 1:5"]);
    errors("fn f() {\n    if true {\n        g();\n}\nfn g() {}\nfn h() {}", &["E0112 2:13"]);
    errors("fn f() {\n    if true\n        g();\n    }\n    h();\n}\nfn g() {}", &["E0110 2:12"]);
    errors("fn f() -> int\n    return 1;\n}\nfn g() {}", &["E0110 1:14"]);
    errors("fn f() {\n    a();\n    }\n    b();\n}\nfn g() {}", &["E0113 3:5"]);
    errors("print(1));\nprint([1]]);", &["E0113 1:9", "E0110 2:10"]);
    errors("let a = [1, 2;\nlet b = 2;", &["E0112 1:9"]);
    errors("f(1 2);\nf(,);\nf(1,, 2);", &["E0110 1:5", "E0110 2:3", "E0110 3:5"]);
    errors("let x = 1\nlet y = 2", &["E0111 1:10", "E0111 2:10"]);
    errors("lett x = 5;\nfoo();", &["E0111 1:5"]);
    errors("let x = ;\nlet = 1;\nlet 5 = 1;", &["E0110 1:9", "E0110 2:5", "E0110 3:5"]);
    errors("if x = 1 { } else { }", &["E0122 1:6"]);
    errors("let x = y = 3;\nlet z = 1;", &["E0123 1:11"]);
    errors("a < b < c < d;", &["E0115 1:7"]);
    errors(
        "f() = 1; (a) = 2; -a = 3; (a.b) += 1;",
        &["E0116 1:1", "E0116 1:10", "E0116 1:19", "E0116 1:27"],
    );
    errors("let p; var q; let w: int;", &["E0121 1:1", "E0121 1:8", "E0121 1:15"]);
    errors("fn f(int x, y: int) { }\nstruct P { str s }", &["E0110 1:10", "E0110 2:16"]);
    errors("let if = 1;\nlet p = P { 1 };\nlet q = 2;", &["E0110 1:5", "E0110 2:13"]);
    errors("else { f(); }\nelse if x { }", &["E0120 1:1", "E0120 2:1"]);
    errors("struct A { x: int };\nstruct B { x: int; y: int }", &["E0124 1:20", "E0110 2:18"]);
    errors("f(x: int) -> int { return x; }\nfn g() {}", &["E0110 1:1"]);
    errors("fn() { };\nfn() { }", &["E0119 1:1", "E0119 2:1"]);
    errors("i++;\ni--;", &["E0125 1:2", "E0125 2:2"]);
    errors("fn f() { print(\"abc); }\nfn g() {}", &["E0103 1:16"]);
    errors("let a = b # c;\nlet d = 1;", &["E0101 1:11"]);
    errors("a.if; a.5; a.;", &["E0110 1:3", "E0110 1:9", "E0110 1:14"]);
    errors("for 3 in x { }\nfor i 0..3 { }", &["E0110 1:5", "E0110 2:7"]);
    errors("match x { 1 => { }, a => { } 2 => f(); }", &["E0124 1:19", "E0110 1:21", "E0110 1:35"]);
    errors("if p == P { x: 1 } { }", &["E0117 1:9"]);
    errors("let t: int?? = 1; let u: = 1;", &["E0126 1:12", "E0110 1:26"]);
    errors("return 9223372036854775808; x = -(9223372036854775808);", &["E0108 1:8", "E0108 1:35"]);
    errors("match x {\n 1 => {\n f(); \n 2 => { g(); }\n 3..4 => { }\n}\nf();", &["E0112 2:7"]);
    errors("fn f() { return 1; }\nf();\ng(a } );\nf();", &["E0112 3:2", "E0113 3:7"]);
    errors("let x = if a { 1 } else { 2 };\nlet y = 1;", &["E0128 1:9"]);
    errors("if (x = 1) { }\nfor (i = 0; i < 2; f()) { g(); }", &["E0123 1:7", "E0129 2:5"]);
    errors(
        "let f = fn g(x: int) { };\nstruct P { int x; int y; }",
        &["E0127 1:12", "E0110 2:16", "E0110 2:17"],
    );
    errors("foo bar\nlet x: int[] = 1\nbaz();", &["E0111 1:4", "E0110 2:8", "E0111 2:17"]);
    errors("let x: array<int> = y; let z: Map<str, array<int>> = y;", &["E0110 1:8", "E0110 1:31"]);
    errors("do { f(); } while (x);\nf(x y);", &["E0129 1:1", "E0110 2:5"]);
    errors("loop { f(); }\ntry { f(); } catch (e) { g(); }\nf();", &["E0129 1:1", "E0129 2:1"]);
    errors("for i in 0...3 { }\nfor i in 0...n { f(); }", &["E0125 1:11", "E0125 2:11"]);
    errors("}\nfn f() {}", &["E0113 1:1"]);
    errors("/* ", &["E0102 1:1"]);
    errors("fn f() { /* /* */", &["E0102 1:10"]);
}

#[test]
fn functions_inside_blocks_are_kept() {
    let parsed = parse_text("fn f() { if x { fn g() { } struct S { a: int } } } fn h() { }");
    assert_eq!(parsed.errors(), ["E0118 1:17", "E0118 1:28"]);
    assert_eq!(parsed.functions(), ["g", "f", "h"]);
    assert_eq!(parsed.program.items.len(), 4);
}

#[test]
fn nesting_has_a_limit() {
    let nested = |open: &str, middle: &str, close: &str, n: usize| {
        open.repeat(n) + middle + &close.repeat(n)
    };
    let forms: [(&str, &str, &str, &str, &str); 11] = [
        ("x = ", "(", "1", ")", ";"),
        ("x = ", "[", "", "]", ";"),
        ("x = ", "-", "1", "", ";"),
        ("", "if true {", "", "}", ""),
        ("", "{", "", "}", ""),
        ("x = a", "", "", "[0]", ";"),
        ("x = a", "", "", ".f", ";"),
        ("x = a", "", "", "()", ";"),
        ("x = a", "", "", "!", ";"),
        ("let x: ", "[", "int", "]", " = 1;"),
        ("let x: ", "fn() -> ", "int", "", " = 1;"),
    ];
    for (before, open, middle, close, after) in forms {
        let text = |n| format!("{before}{}{after}", nested(open, middle, close, n));
        assert_eq!(parse_text(&text(1_000)).errors(), [""; 0], "{open}{close}");
        let parsed = parse_text(&text(1_001));
        assert_eq!(parsed.diagnostics.len(), 1, "{open}{close}");
        assert_eq!(parsed.diagnostics[0].code, "E0114");
        assert_eq!(parse_text(&text(100_000)).diagnostics.len(), 1);
        let cut = format!("{before}{}", open.repeat(100_000));
        assert_eq!(parse_text(&cut).diagnostics.len(), 1, "{open}");
    }
    let open = "a(".repeat(500) + "1" + &(")".to_string() + &".f".repeat(900)).repeat(500) + ";";
    assert_eq!(parse_text(&open).diagnostics[0].code, "E0114");
    let mismatched = "( [ ) ]".repeat(20_000);
    assert!(!parse_text(&mismatched).diagnostics.is_empty());
}

#[test]
fn long_is_not_deep() {
    let n = 100_000;
    let texts = [
        format!("x = 1{};", " + 1".repeat(n)),
        format!("x = a{};", " && a || b".repeat(n)),
        format!("if a {{ }}{}", " else if a { }".repeat(n)),
        "f(-a.b[0]);".repeat(n),
        format!("x = [{}];", "[1], ".repeat(n)),
        format!("match x {{ {} => {{ }} }}", vec!["1"; n].join(" | ")),
        "{ }".repeat(n),
        "fn f() { }".repeat(n),
    ];
    for text in texts {
        let parsed = parse_text(&text);
        assert_eq!(parsed.errors(), [""; 0], "{}", &text[..40]);
        assert!(
            !matches!(&parsed.program.items[0], Item::Statement(s) if s.kind == StmtKind::Error)
        );
    }
}

#[test]
fn many_errors_take_linear_time() {
    for piece in [
        "f(a b; ",
        "f(a b\n",
        "( ",
        ") ",
        "} ",
        "{ ",
        "let ",
        "fn ",
        "fn f ",
        "a < b < c ",
        "# ",
        "match ",
        "[1; ",
        "P { a ",
        "else ",
        "if x ",
        "\"\n",
        "'",
        "fn f() { ",
        "fn f() } ",
        "a = ",
        "fn(a ",
        "struct S { ",
        "1 2 ",
        "let f = fn() { } } ",
        "x: ",
        ". ",
        "-> ",
        "? ",
        "=> {",
    ] {
        let parsed = parse_text(&piece.repeat(10_000));
        assert!(!parsed.diagnostics.is_empty(), "{piece}");
    }
}
