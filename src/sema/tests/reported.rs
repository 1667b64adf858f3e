//! Every kind of mistake, at its line, once.

use super::super::codes;
use super::expect;

const NAMES: &str = r#"
fn a() -> int { return missing; } //~ E0201
fn b() {
    print(missing);               //~ E0201
    missing();
    missing = 1;
    let x = missing + 1;
    print(x + 1, x.len(), x.y, x[0], x!, -x);
    x = "x";                      //~ E0401
}
fn c(p: Pt, q: [Pt?]) { let r: Pt = p; } //~ E0202 E0202
fn d() { print(Pt { x: 1 }.x); }  //~ E0202
struct Q { a: Missing, b: Missing? } //~ E0202
struct P { x: int, y: int, x: str } //~ E0207
struct int { a: float }           //~ E0210
fn e(p: P) { p.z; p.w = 1; P { x: 1, y: 2, q: 3 }; } //~ E0203 E0203 E0203 W0601
fn f(a: int, b: str, a: int) { }  //~ E0206
let g = fn(a: int, a: int) { };   //~ E0206
fn h() { }
fn h() { print(missing); }        //~ E0204 E0201
struct P { }                      //~ E0204
fn P() { }                        //~ E0204
let twice = 1;
var twice = "s";                  //~ E0205
print(later);                     //~ E0208
let early = fn() -> int { return later; }; //~ E0208
let itself = itself + 1;          //~ E0208
let later = 1;
fn sees() -> int { return later; }
let v = print;                    //~ E0209
let w = int;                      //~ E0209
print([len]);                     //~ E0209
{ let inside = 1; }
print(inside);                    //~ E0201
for i in 0..3 { }
print(i);                         //~ E0201
h.nothing();                      //~ E0201
"x".nothing(1);                   //~ E0201
bool(1);                          //~ E0201
Q(1);                             //~ E0201
"#;

const MISMATCHES: &str = r#"
struct Node { next: Node? }
fn node(n: Node?) -> Node { return n; }  //~ E0301
fn none() -> Node { return nil; }        //~ E0301
fn many(xs: [Node]) -> [Node?] { return xs; } //~ E0301
let a: float = 1;                        //~ E0301
let b: int = 1.0;                        //~ E0301
let c: str = 'c';                        //~ E0301
let d: [int] = [1, "2", 3.0];            //~ E0301 E0301
let e = [1, "2"];                        //~ E0301
let f: int = nil;                        //~ E0301
let g: int = [];                         //~ E0301
let h: int = [nil];                      //~ E0301
let i: fn(int) = fn(x: str) { };         //~ E0301
let j: fn() -> int = fn() { };           //~ E0301
var k = 1;
k = 1.5;                                 //~ E0301
k += "x";                                //~ E0301
k <<= 'x';                               //~ E0301
k += nil;                                //~ E0301
let l = [0; "n"];                        //~ E0301
let m = Node { next: 1 };                //~ E0301
m.next = m.next.next!;
m.next = 1;                              //~ E0301
fn two(a: int, b: str) { }
two("x", 1);                             //~ E0301 E0301
two(1);                                  //~ E0306
two(1, "x", nil);                        //~ E0306
1.two(2);                                //~ E0301
for i in 0..1.5 { }                      //~ E0301
for i in 'a'..'z' { }                    //~ E0301 E0301
[1].push("x");                           //~ E0301
[1].push(nil);                           //~ E0301
"abc"['a'].print();                      //~ E0301
fn unit() { return 1; }                  //~ E0319
fn value() -> int { return; }            //~ E0319
fn wrong() -> int { return "x"; }        //~ E0301
let n = [[1], ["x"]];                    //~ E0301
let o = [m, m.next];                     //~ E0301
let p = fn() -> str { return 1; };       //~ E0301
"#;

const OPERATORS: &str = r#"
fn f(i: int, x: float, b: bool, y: byte, s: str, a: [int], o: str?, g: fn()) {
    print(i + x);         //~ E0302
    print(i * y);         //~ E0302
    print(s + i, i + s);  //~ E0302 E0302
    print(s - s);         //~ E0302
    print(x & x, x << 1); //~ E0302 E0302
    print(y << y);        //~ E0302
    print(b + b);         //~ E0302
    print(a + a);         //~ E0302
    print(o + s, s + o);  //~ E0302 E0302
    print(b & b | b ^ b, y >> 1 << 2, y >>> 3, x % x, s + s + s);
    print(-s, ~x, ~b, !i, -b, !o);  //~ E0303 E0303 E0303 E0303 E0303 E0303
    print(-y, -x, ~y, !b);
    print(i && b, b || o);          //~ E0302 E0302
    print(i == x, y == i);          //~ E0304 E0304
    print(s < o, b < b, a < a, o < o); //~ E0304 E0304 E0304 E0304
    print(g == g, g != g);          //~ E0304 E0304
    print(s == nil, nil != i, g == nil);  //~ E0320 E0320 E0320
    print(nil == nil, [] == [], nil == []);  //~ E0304 E0304 E0304
    print(a == [], s == o, o == s, o == nil, nil == o, a == [1], s < s, y < y);
    if i { }              //~ E0305
    while o { }           //~ E0305
    if b { } else if s { } else if nil { }   //~ E0305 E0301
    var t = b;
    t &= b;
    t += b;               //~ E0302
    var u = s;
    u += s;
    u -= s;               //~ E0302
}
"#;

const FORMS: &str = r#"
struct P { x: int, y: int, f: fn(int) -> int, g: (fn())? }
fn none() { }
let a = nil;             //~ E0308
let b = [];              //~ E0308
let c = [[], []];        //~ E0308
let d = [nil; 3];        //~ E0308
print(nil);              //~ E0308
print([], [nil]);        //~ E0308 E0308
str(nil);                //~ E0308
[].push(1);              //~ E0308
len([]);                 //~ E0308
for x in [] { x; }       //~ E0308
nil;                     //~ E0308
nil.x;                   //~ E0308
let n = 1;
n.x;                     //~ E0309
n.len;                   //~ E0309
n[0];                    //~ E0310
n!;                      //~ E0311
n(1);                    //~ E0307
"s"();                   //~ E0307
[none][0](1);            //~ E0306
fn opt(a: int?, b: (str?)?, c: [bool?], d: (fn() -> int?)) { }  //~ E0312 E0312 E0312 E0312
let e = none();          //~ E0313
print(none());           //~ E0313
none() + 1;              //~ E0313
[none()];                //~ E0313
let e2: int = none();    //~ E0313
int("1"); float(true); byte(1.5); byte(true); float("1"); int([1]);  //~ E0314 E0314 E0314 E0314 E0314 E0314
int(1, 2);               //~ E0306
let maybe: [int]? = [1];
for x in maybe { }       //~ E0315
for x in 10 { }          //~ E0315
for x in none { }        //~ E0315
len(maybe);              //~ E0318
maybe.push(1);           //~ E0318
len(1);                  //~ E0318
push("s", 'c');          //~ E0318
min(1, 2.0);             //~ E0318
abs('a');                //~ E0318
max("a", "b");           //~ E0318
sqrt(1, 2);              //~ E0306
sqrt(1);                 //~ E0301
assert();                //~ E0306
assert(true, 1);         //~ E0301
panic(1);                //~ E0301
exit();                  //~ E0306
clock(1);                //~ E0306
parse_int("1");          //~ E0306
parse_float("1", 1);     //~ E0301
let s = "s";
s[0] = 'x';              //~ E0404
s = "t";                 //~ E0401
none = 1;                //~ E0405
print = 1;               //~ E0405
break;                   //~ E0406
continue;                //~ E0406
while true { let f = fn() { break; }; }  //~ E0406
return;                  //~ E0407
return 1;                //~ E0407
let g = P { x: 1 };      //~ E0408
let h = P { x: 1, x: 2, y: 3, f: fn(i: int) -> int { return i; }, g: nil };  //~ E0409
h.f(1, 2);               //~ E0306
h.g();
h.x();                   //~ E0307
h.f(1).f(1);             //~ E0201
fn loops(xs: [str]) {
    for x in xs { x = "y"; }          //~ E0402
    for i in 0..3 { i += 1; }         //~ E0402
    var v = 1;
    let f = fn() { v = 2; };          //~ E0403
    let f2 = fn() { (fn() { v += 2; })(); };  //~ E0403
    let g = fn(v: int) { v = 2; };
}
fn main(n: int) { }      //~ E0410
"#;

const MATCHES: &str = r#"
fn f(n: int, y: byte, b: bool, s: str, x: float, o: str?) {
    match n { "one" => { } 'a' => { } true => { } 1.5 => { } nil => { } }  //~ E0317 E0317 E0317 E0317 E0317
    match s { 'a' => { } "a".."b" => { } }  //~ E0317 E0317 E0317
    match y { 0..9 => { } 'a'..5 => { } }   //~ E0317 E0317
    match x { _ => { } }                    //~ E0316
    match o { "x" => { } }                  //~ E0316
    match n {
        0..10 => { }
        3 => { }                            //~ W0602
        5..=9 | 0 => { }                    //~ W0602
        10 | 3 => { }
        4..=10 => { }                       //~ W0602
        7..7 => { }                         //~ W0602
        9..=8 => { }                        //~ W0602
        -9223372036854775808..-9223372036854775808 => { } //~ W0602
        11..=9223372036854775807 => { }
        -9223372036854775808..0 => { }
        _ => { }                            //~ W0602
        5 => { }                            //~ W0602
    }
    match b { true => { } false => { } _ => { } }   //~ W0602
    match b { true => { } true => { } }             //~ W0602
    match s { "a" => { } "b" | "a" => { } "b" => { } _ => { } "c" => { } }  //~ W0602 W0602
    match y { '\0'..='\x7f' => { } '\x80'..='\xff' => { } _ => { } }   //~ W0602
    match y { '\0'..'\xff' => { } _ => { } }
}
1 + 2;       //~ W0601
"s";         //~ W0601
[f];         //~ W0601
f;           //~ W0601
(fn() { });  //~ W0601
int(1.5);
"#;

#[test]
fn names() {
    expect(NAMES);
}

#[test]
fn mismatches() {
    expect(MISMATCHES);
}

#[test]
fn operators() {
    expect(OPERATORS);
}

#[test]
fn forms() {
    expect(FORMS);
}

#[test]
fn matches() {
    expect(MATCHES);
}

#[test]
fn mains() {
    expect("fn main() { }");
    expect("fn main() -> int { return 1; }");
    expect("fn main(args: [str]) { }");
    expect("fn main(all: [str]) -> int { return 1; }");
    expect("fn main(a: [str], b: int) { } //~ E0410");
    expect("fn main() -> str { return \"\"; } //~ E0410");
    expect("fn main(args: [str?]) { } //~ E0410");
    expect("fn main(args: [Wrong]) { } //~ E0202");
    expect("let main = 1;");
}

#[test]
fn array_types_stay_shallow() {
    let mut source = String::from("let x0 = 1;\n");
    for i in 1..=1_500 {
        let mark = if i == 1_001 { "//~ E0321" } else { "" };
        source += &format!("let x{i} = [x{}];{mark}\n", i - 1);
    }
    expect(&source);
}

#[test]
fn every_code_is_tested() {
    let deep = "E0321";
    let programs = [NAMES, MISMATCHES, OPERATORS, FORMS, MATCHES].concat();
    let mut codes = codes::ALL.to_vec();
    codes.dedup();
    assert_eq!(codes.len(), codes::ALL.len());
    for code in codes {
        assert!(code == deep || programs.contains(code), "{code} is not tested");
    }
}

#[test]
fn what_did_not_parse_agrees_with_everything() {
    for source in [
        "let x = ; print(x + 1, x.y, x[0], x!, x(1), -x, !x); if x { } for i in x { }",
        "let x: = 1; let y: str = x; x.f(nil);",
        "fn f(a: ) -> int { return a; } f(1); f(\"x\"); let g: fn(int) = f;",
        "fn f(a: int) -> { return a; } let x: str = f(1);",
        "struct S { a: } let s = S { a: nil }; let n: int = s.a;",
        "match ; { 1 => { } \"a\" => { } }",
        "let x = [1, , 2]; let n: int = x[0];",
        "let f = fn(x: ) { }; f(1); let g: fn(str) = f;",
    ] {
        let checked = super::checked(source);
        assert!(checked.broken, "{source}");
        assert!(checked.diagnostics.is_empty(), "{source}\n{}", checked.messages());
    }
}
