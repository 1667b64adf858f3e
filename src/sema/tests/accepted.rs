//! What is right, and what it means.

use super::{checked, deep, expect};

#[test]
fn wanted_types_flow_inward() {
    expect(
        r#"
struct N { next: N?, all: [N?], f: (fn(int) -> str?)? }
let a: [N?] = [nil; 8];
let b: [N?] = [nil, N { next: nil, all: [], f: nil }, a[0]];
let c = [[], [1]];
let d = [[1], [], [2, 3]];
let e: [[N?]] = [[], [nil], [b[1]!]];
let f = [nil, a[0]];
let g = [[[]], [[], [1.5]]];
let h: [int]? = [];
let i: [[int]?] = [nil, [], [1]];
let j: [[str?]] = [[nil]; 2];
"#,
    );
    expect(
        r#"
struct N { next: N? }
fn f(n: N?, xs: [N?], g: (fn() -> N?)?) -> [N?]? { return [n, nil]; }
f(nil, [], nil);
f(N { next: nil }, [nil], fn() -> N? { return nil; });
nil.f([], nil)[0] = nil;
let xs: [N?] = [];
xs.push(nil);
push(xs, N { next: nil });
xs[0] = N { next: nil };
var v: N? = nil;
v = nil;
v = N { next: v };
if nil == v || v != nil { }
if [] == xs { }
let h: fn(N?) -> N? = fn(n: N?) -> N? { if n == nil { return nil; } return n!; };
let s: str? = read_line();
print(s == "x", "x" == s);
let copied: [N?] = slice([nil; 3], 0, 1);
from_bytes([]);
"#,
    );
}

#[test]
fn names_and_scopes() {
    expect(
        r#"
let max = max(1, 2);
print(max);
fn len(x: int) -> str { return "mine"; }
let text: str = 1.len() + len(2);
fn total(xs: [int]) -> int { return xs[0]; }
let total = total([1]);
let n: int = total;
fn uses() -> int { return total + later; }
let later = 1;
fn shadows(x: int) -> str {
    let x = x + 1;
    let x = str(x);
    { let x = 1.5; x.floor(); }
    for x in 0..parse_int(x, 0) { print(x + 1); }
    return x;
}
"#,
    );
    expect(
        r#"
struct print { write: int }
let print = print { write: 1 };
let byte = fn(x: int) -> int { return x; };
let r: int = byte(print.write);
let int = 1;
let also: int = int;
fn f(str: str) -> str { return str + "x"; }
"#,
    );
}

#[test]
fn captures_go_through_every_function_between() {
    let checked = checked(
        "fn f(a: int) -> fn() -> fn() -> int {
            var b = 2;
            return fn() -> fn() -> int { return fn() -> int { return a + b + a; }; };
        }",
    );
    let program = checked.program.as_ref().expect("no errors");
    let captures: Vec<_> = program.functions.values().map(|f| f.captures.len()).collect();
    assert_eq!(captures, [0, 0, 2, 2]);
    for function in program.functions.values() {
        for capture in &function.captures {
            assert!(!function.locals[capture.inner].mutable);
            assert!(["a", "b"].contains(&checked.sources.text(capture.span)));
        }
    }
}

#[test]
fn globals_are_not_captured() {
    let checked = checked("var g = 1; let f = fn() -> int { g += 1; return g; };");
    let program = checked.program.expect("no errors");
    assert!(program.functions.values().all(|f| f.captures.is_empty() && f.locals.is_empty()));
}

#[test]
fn methods_call_fields_first() {
    let dump = checked(
        "struct B { click: fn(int) -> int, other: int }
         fn click(b: B, n: int) -> int { return n; }
         fn other(b: B) -> str { return \"\"; }
         fn f(b: B?, g: fn(B?) -> int) { b.click(1); click(b!, 1); b.g(); print(b.click); }",
    )
    .dump();
    for line in ["(b.0.click)(1): int", "click(b.0!, 1): int", "(g.1)(b.0): int"] {
        assert!(dump.contains(line), "{line} in\n{dump}");
    }
}

#[test]
fn dump_is_readable() {
    let source = r#"
struct Node { value: int, next: Node? }
var count = 0;
fn push_front(list: Node?, value: int) -> Node {
    count += 1;
    return Node { value: value, next: list };
}
fn each(list: Node?, act: fn(Node) -> float) -> float {
    var total = 0.0;
    var at = list;
    while at != nil { total = total + act(at!) * 2.0; at = at.next; }
    return total;
}
let k = 0.5;
{
    let scale = k;
    let sum = each(push_front(nil, 3), fn(n: Node) -> float { return float(n.value) * scale; });
    match int(sum) { 0..10 | 12 => { print("small"); } 5..5 => { } _ => { print([sum], nil == push_front(nil, 1).next); } }
}
"#;
    let expected = r#"struct Node { value: int, next: Node? }
global var @count: int
global let @k: float

script {
    global @count = 0
    global @k = 0.5
    {
        let scale.0: float = @k
        let sum.1: float = each(wrap(push_front((nil: Node?), 3)), closure fn3)
        match float:int(sum.1): int {
            0..=9 | 12 => {
                print("small"): nothing
            }
            never => {
            }
            _ => {
                print([sum.1]: [float], ((nil: Node?) == push_front((nil: Node?), 1).next on Node?)): nothing
            }
        }
    }
}

fn push_front(list.0: Node?, value.1: int) -> Node {
    @count: int += 1
    return Node { value: value.1, next: list.0 }: Node
}

fn each(list.0: Node?, act.1: fn(Node) -> float) -> float {
    var total.2: float = 0.0
    var at.3: Node? = list.0
    while (at.3 != (nil: Node?) on Node?) {
        total.2: float = (total.2 + ((act.1)(at.3!) * 2.0: float): float)
        at.3: Node? = at.3.next
    }
    return total.2: float
}

fn3(n.0: Node) -> float captures [scale.1: float = outer.0] {
    return (int:float(n.0.value) * scale.1: float): float
}
"#;
    assert_eq!(checked(source).dump(), expected);
}

#[test]
fn long_chains_take_linear_time() {
    deep(|| {
        let sum = vec!["1"; 100_000].join(" + ");
        let and = vec!["true"; 100_000].join(" && ");
        let ifs = vec!["if false { }"; 20_000].join(" else ");
        expect(&format!("let a = {sum};\nlet b = {and};\n{ifs}\n"));
        let wrong = vec!["missing"; 20_000].join(" + ");
        let checked = checked(&format!("print({wrong});"));
        assert_eq!(checked.diagnostics.len(), 1);
    });
}

#[test]
fn many_names_take_linear_time() {
    deep(|| {
        let mut source = String::from("fn f() {\n");
        for i in 0..20_000 {
            source += &format!("let name{i} = {i};\nprint(missing{i});\n");
        }
        source += "}\n";
        for i in 0..20_000 {
            source +=
                &format!("let name{i} = {i};\nfn function{i}() -> int {{ return name{i}; }}\n");
        }
        assert_eq!(checked(&source).diagnostics.len(), 20_000);
    });
}

#[test]
fn nesting_up_to_the_limit() {
    deep(|| {
        for (open, inner, close) in [
            ("(", "1", ")"),
            ("[", "1", "]"),
            ("[", "", "]"),
            ("-", "1", ""),
            ("1 + (2 * (", "3", "))"),
            ("f(", "1", ")"),
            ("fn() -> int { return ", "g", "(); }"),
            ("(1 == 1) == (", "true", ")"),
            ("fn() { let x = ", "1", "; }"),
        ] {
            let depth = if open.len() == 1 { 990 } else { 330 };
            let (open, close) = (open.repeat(depth), close.repeat(depth));
            let checked = checked(&format!("let x = {open}{inner}{close};"));
            assert!(!checked.broken, "{open}");
        }
        let depth = 990;
        let (open, close) = ("{ let x = 1; ".repeat(depth), "}".repeat(depth));
        expect(&format!("{open}{close}"));
        let (open, close) = ("if true { ".repeat(depth), "}".repeat(depth));
        expect(&format!("{open}{close}"));
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        expect(&format!("let x: {open}int{close} = [];"));
        let chain = ".max(2)".repeat(depth);
        expect(&format!("let x = 1{chain};"));
    });
}
