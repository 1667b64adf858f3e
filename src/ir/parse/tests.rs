use crate::ir::{FuncRef, Inst, Loc, LocData, parse, print};
use crate::source::Sources;

fn same(text: &str) {
    match parse::module(text) {
        Ok(module) => assert_eq!(print::module(&module), text),
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn error(text: &str) -> String {
    parse::module(text).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn both_forms_come_back() {
    same(
        r#"struct Point { x: int, y: float }
struct Empty {}
class0: byte
global $total: int
script = @top
main = @main(args) -> int

fn @fib(int) -> int {
  var n: int, v: int, v#2: float
b0(v0: int):
  n = copy v0
  br ilt n, 2 -> b1, b4
b1:
  ret n
b4:
  v3 = isub n, 1
  v = call @fib(v3)
  v#2 = fadd 1.5, nan:0xfff8000000000001
  jump b1
}

ssa fn @top() {
b0:
  v9: ref = rt 60000(-9223372036854775808, @"a\"\x00\n\xffé", &fn@12:8)
  v2 = check_nil v9
  v3: float = load_field Point.y, v2
  v12: int = load_global $total
  store_global $total, v12
  v4 = new_struct Point(v12, v3)
  v5 = new_closure @fn@12:8(v4)
  v6: int = call_value v5(7)
  v7: ref = copy nil
  v8: int = load_field 77, v7
  v10: float = copy -inf
  v11 = array_data class0, v9
  call @main(v9)
  br rne v9, nil -> b7(v7, v6), b2
b2:
  unreachable
b7(v20: ref, v21: int):
  ret
}

fn @main(ref) -> int {
b0(v0: ref):
  ret 0
}

ssa fn @fn@12:8(int) -> int captures(ref, byte) as "add" {
b0(v0: ref, v1: int):
  v2: int = load_capture 1, v0
  ret v2
}
"#,
    );
}

#[test]
fn errors_name_their_place() {
    let body = |line: &str| {
        error(&format!("fn @f(int) {{\n  var n: int\nb0(v0: int):\n  {line}\n  ret\n}}\n"))
    };
    assert_eq!(body("n = iadd n 1"), "4:14: expected the end of the line, found 1");
    assert_eq!(body("m = iadd n, 1"), "4:3: m is not a variable of this function");
    assert_eq!(body("v1 = iadd n, v7"), "4:16: v7 is not defined");
    assert_eq!(body("v1 = copy n"), "4:3: the type of v1 must be told: v1: int = …");
    assert_eq!(body("v1 = plus n, n"), "4:8: there is no operator plus");
    assert_eq!(body("jump b3"), "5:3: expected a block: no instruction stands outside of one");
    assert_eq!(body("call @g(n)"), "4:8: there is no function @g");
    assert_eq!(body("n = iadd 1, \"x"), "4:15: this string does not end on its line");
    assert_eq!(body("v99999999 = iadd n, 1"), "4:3: this number is too large for so short a text");
    assert_eq!(error("fn @f() {\nb0:\n  jump b2\n}"), "3:8: there is no block b2");
    assert_eq!(error("fn @f() {\nb0:\n  ret"), "1:4: @f does not end: expected }");
}

#[test]
fn no_text_makes_it_panic() {
    const PIECES: &[&str] = &[
        "fn",
        "ssa",
        "@f",
        "&f",
        "$g",
        "(",
        ")",
        "{",
        "}",
        ",",
        ":",
        "=",
        "->",
        "\n",
        "b0",
        "b1",
        "v0",
        "v1",
        "int",
        "ref",
        "var",
        "n",
        "iadd",
        "call",
        "rt",
        "load_field",
        "S.x",
        "struct",
        "global",
        "script",
        "main",
        "class0",
        "jump",
        "br",
        "ilt",
        "ret",
        "unreachable",
        "7",
        "1.5",
        "-",
        "@\"",
        "\\x",
        "\"",
        "nan",
        "nan:0x",
        "inf",
        "-inf",
        ";",
        "#",
        "é",
        "captures",
        "as",
        "call_value",
        "nil",
        "18446744073709551615",
        "v4294967295",
        "b99999999999",
        "1e",
        "@x#2",
    ];
    arbtest::arbtest(|u| {
        let mut text =
            String::from(if u.arbitrary()? { "fn @f(int) {\nb0(v0: int):\n" } else { "" });
        while !u.is_empty() {
            text.push_str(u.choose(PIECES)?);
            text.push_str(if u.ratio(3, 4)? { " " } else { "" });
        }
        if let Ok(module) = parse::module(&text) {
            same(&print::module(&module));
        }
        Ok(())
    });
}

#[test]
fn locations_are_comments() {
    let text = "fn @f(int) {\nb0(v0: int):\n  v1 = iadd v0, 1\n  ret\n}\n";
    let mut module = parse::module(text).unwrap();
    let function = &mut module.functions[FuncRef(0)];
    let inlined = LocData { inlined_at: Some(Loc(2)), ..function.locs[Loc(1)] };
    let loc = function.locs.push(inlined);
    function.insts[Inst(0)].loc = loc;
    let mut sources = Sources::new();
    sources.add("f.ir", text);
    let shown = print::Printer::new(&module).with_locations(&sources).module();
    assert!(shown.contains("  v1 = iadd v0, 1  ; 3:3 in 4:3\n  ret  ; 4:3\n"), "{shown}");
    assert_eq!(print::module(&parse::module(&shown).unwrap()), text);
}
