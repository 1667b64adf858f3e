//! Texts that are mostly wrong: the front end must say so, and neither panic nor hang nor eat.
//!
//! From a corpus of good programs come mutations and splices; beside them soups of tokens, random
//! bytes, deep nesting, long chains and huge literals. Every fifth text is for the IR parser.

use crate::generate::{Random, Size, program};
use crate::verdict::Matter;
use std::path::Path;
use std::sync::OnceLock;
use toyjit::ir;
use toyjit::pipeline::{self, Options};
use toyjit::source::render::render;
use toyjit::source::{Sources, decode::decode};
use toyjit::timing::Timings;

/// The first line of a text that is for the IR parser.
const IR: &[u8] = b";;ir\n";
/// How many bytes a text has at most.
const LONGEST: usize = 1 << 14;

/// Takes a text as far as the front end goes.
pub fn take(text: &[u8]) {
    if let Some(text) = text.strip_prefix(IR) {
        if let Ok(text) = decode(text.to_vec())
            && let Ok(module) = ir::parse::module(&text)
            && ir::verify::verify_module(&module).is_ok()
        {
            let printed = ir::print::module(&module);
            assert!(
                ir::parse::module(&printed).is_ok_and(|again| ir::print::module(&again) == printed),
                "the text of a module does not come back"
            );
            compile(module);
        }
        return;
    }
    let Ok(text) = decode(text.to_vec()) else { return };
    let mut sources = Sources::new();
    if sources.add("t.toy", text).is_none() {
        return;
    }
    let (front, diagnostics) = pipeline::front(&sources, &mut Timings::new());
    // What is said must be sayable.
    let shown = render(&sources, &diagnostics[..diagnostics.len().min(20)], false);
    assert_eq!(shown.is_empty(), diagnostics.is_empty(), "diagnostics say nothing");
    if front.is_none() {
        assert!(!diagnostics.is_empty(), "a program was refused without a word");
    }
}

/// Takes a module that is well formed through the whole compiler; its code does not run.
fn compile(mut module: ir::Module) {
    let options = Options { verify: true, ..Options::default() };
    let timings = &mut Timings::new();
    pipeline::middle(&mut module, &options, timings, &mut ());
    if let Err(error) = pipeline::machine_code(&module, &options, timings) {
        panic!("a module that is well formed does not compile: {error}");
    }
}

/// Good texts to begin with, for `cover`.
pub fn seeds(matter: Matter) -> Vec<Vec<u8>> {
    if matter == Matter::Ir {
        let modules = (0..100).map(|seed| Matter::Ir.text(seed));
        return modules.map(|text| [IR, &text].concat()).collect();
    }
    let made = (0..100).map(text);
    made.chain(corpus().iter().cloned()).collect()
}

/// A text with something changed.
pub fn changed(random: &mut Random, text: &[u8], other: &[u8], matter: Matter) -> Vec<u8> {
    if matter == Matter::Ir {
        let bare = |text: &[u8]| text.strip_prefix(IR).unwrap_or(text).to_vec();
        return [IR, &mutated(random, &bare(text), &bare(other), IR_WORDS)].concat();
    }
    mutated(random, text, other, WORDS)
}

/// The text of a seed.
pub fn text(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    if random.chance(20) {
        let good = Matter::Ir.text(seed);
        let other = Matter::Ir.text(seed ^ 1);
        let mut text = mutated(&mut random, &good, &other, IR_WORDS);
        text.splice(0..0, IR.iter().copied());
        return text;
    }
    match random.below(20) {
        0 => (0..random.below(200)).map(|_| random.bits() as u8).collect(),
        1..4 => soup(&mut random),
        4 | 5 => nesting(&mut random),
        6 => literal(&mut random),
        _ => {
            let corpus = corpus();
            let good = match random.chance(50) || corpus.is_empty() {
                true => program(seed, Size { functions: 2, statements: 3, depth: 3 }).into_bytes(),
                false => random.pick(corpus).clone(),
            };
            let other = if corpus.is_empty() { good.clone() } else { random.pick(corpus).clone() };
            mutated(&mut random, &good, &other, WORDS)
        }
    }
}

/// The programs of the test suites, where they are at hand.
fn corpus() -> &'static [Vec<u8>] {
    static CORPUS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut paths: Vec<_> = ["conformance", "language", "pitfalls"]
            .iter()
            .filter_map(|folder| std::fs::read_dir(tests.join(folder)).ok())
            .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "toy"))
            .collect();
        paths.sort();
        let texts = paths.iter().filter_map(|path| std::fs::read(path).ok());
        texts.filter(|text| text.len() <= LONGEST).collect()
    })
}

const WORDS: &[&str] = &[
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
    "false",
    "nil",
    "int",
    "float",
    "bool",
    "byte",
    "str",
    "x",
    "main",
    "f",
    "S",
    "print",
    "len",
    "push",
    "pop",
    "slice",
    "args",
    "exit",
    "_",
    "0",
    "1",
    "9223372036854775808",
    "0xFFFFFFFFFFFFFFFF",
    "0x",
    "1e999",
    "1.5",
    "1__0",
    "'a'",
    "'\\xff'",
    "\"s\"",
    "\"\\u{D800}\"",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "\n",
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
    "=>",
    "->",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "&&",
    "|",
    "||",
    "^",
    "~",
    "!",
    "?",
    "<<",
    ">>",
    ">>>",
    "+=",
    ">>>=",
    "é",
    "\u{0}",
    "\u{feff}",
    "\r\n",
    "#",
    "@",
];

const IR_WORDS: &[&str] = &[
    "b0",
    "b1",
    "v0",
    "v1",
    "v99",
    "$fuel",
    "@f1",
    "@script",
    "int",
    "float",
    "bool",
    "ref",
    "jump",
    "br",
    "return",
    "unreachable",
    "add",
    "load",
    "(",
    ")",
    "{",
    "}",
    ":",
    ",",
    "=",
    "->",
    "0",
    "-1",
    "9223372036854775808",
    "nan",
    "inf",
    "\"",
    "\n",
    ";",
    "nil",
    "true",
    "call",
    "phi",
    "\u{0}",
    "é",
];

fn soup(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..random.below(120) {
        text.push_str(random.pick::<&str>(WORDS));
        if random.chance(80) {
            text.push(' ');
        }
    }
    text.into_bytes()
}

fn nesting(random: &mut Random) -> Vec<u8> {
    const SHAPES: &[(&str, &str, &str)] = &[
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("-", "1", ""),
        ("!", "x", ""),
        ("{", "", "}"),
        ("if x {", "", "}"),
        ("if x { } else ", "{ }", ""),
        ("while x {", "", "}"),
        ("fn() { return ", "1", "; }"),
        ("f(", "1", ")"),
        ("x", "", ".f"),
        ("x", "", "[0]"),
        ("x", "", "!"),
        ("x", "", "()"),
        ("1 + ", "1", ""),
        ("1 + (", "1", ")"),
        ("x && ", "x", ""),
        ("x < ", "x", ""),
        ("/*", "", "*/"),
        ("S { a: ", "1", " }"),
        ("match x { 1 => {", "", "} }"),
        ("let x: [", "int", "];"),
        ("fn(fn(", "", "))"),
        ("\"a\" + ", "\"b\"", ""),
        ("fn f() {", "", "}"),
    ];
    let (open, middle, close) = *random.pick(SHAPES);
    let depth = *random.pick(&[3, 50, 900, 999, 1000, 1001, 1100, 4000]);
    let depth = depth.min(LONGEST / (open.len() + close.len()));
    let closing = if random.chance(70) { depth } else { random.below(depth + 1) };
    let start = *random.pick(&["", "let x = ", "print(", "return ", "if ", "fn f(x: int) -> "]);
    let end = *random.pick(&["", ";", ");", " {}"]);
    [start, &open.repeat(depth), middle, &close.repeat(closing), end].concat().into_bytes()
}

fn literal(random: &mut Random) -> Vec<u8> {
    let count = 1 + random.below(LONGEST / 2);
    let digit = *random.pick(&["0", "9", "1", "f", "_", "\\xff", "\\u{1F600}", "a", "é", "e"]);
    let (open, close) = *random.pick(&[
        ("", ""),
        ("0x", ""),
        ("0b", ""),
        ("1.", ""),
        ("1e", ""),
        ("1e-", ""),
        ("-", ""),
        ("\"", "\""),
        ("'", "'"),
        ("x", ""),
        ("\"\\u{", "}\""),
    ]);
    format!("print({open}{}{close});", digit.repeat(count / digit.len())).into_bytes()
}

/// A good text with parts cut, doubled, swapped, replaced, and spliced with another.
fn mutated(random: &mut Random, good: &[u8], other: &[u8], words: &[&str]) -> Vec<u8> {
    let mut text = good.to_vec();
    for _ in 0..1 + random.below(6) {
        if text.is_empty() {
            break;
        }
        let at = random.below(text.len() + 1);
        let longest = if random.chance(70) { 12 } else { 400 };
        let to = (at + random.below(longest)).min(text.len());
        match random.below(8) {
            0 | 1 => drop(text.drain(at..to)),
            2 => {
                let part = text[at..to].to_vec();
                let into = random.below(text.len() + 1);
                text.splice(into..into, part);
            }
            3 => {
                let word = random.pick(words).as_bytes().to_vec();
                text.splice(at..to.min(at + 1), word);
            }
            4 | 5 => {
                let word = random.pick(words).as_bytes().to_vec();
                text.splice(at..at, word);
            }
            6 => {
                let from = random.below(other.len() + 1);
                let part = &other[from..(from + random.below(300)).min(other.len())];
                text.splice(at..to, part.iter().copied());
            }
            _ => {
                if at < text.len() {
                    text[at] = random.bits() as u8;
                }
            }
        }
    }
    text.truncate(LONGEST);
    text
}
