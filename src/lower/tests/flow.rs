//! What is reported on the flow of control: `//~ CODE …` behind a line names what stands there.

use super::{deep, program};

fn expect(source: &str) {
    let mut expected: Vec<(usize, String)> = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let codes = line.split("//~").nth(1).unwrap_or_default();
        expected.extend(codes.split_whitespace().map(|code| (index + 1, code.to_owned())));
    }
    let found: Vec<(usize, String)> = deep(|| {
        let program = program(source).expect("a program without other errors");
        program.reports().iter().map(|d| (program.line(d), d.code.to_owned())).collect()
    });
    assert_eq!(found, expected, "{source}");
}

#[test]
fn variables_are_assigned_before_they_are_used() {
    expect(
        "fn f(c: bool, n: int) -> int {
            var a: int;
            var b: int;
            if c && n > 3 { a = 1; } else { a = 2; b = 3; }
            let g = fn() -> int { return a + b; }; //~ E0501
            while true { if n > a { b = g(); break; } }
            return b;
        }
        fn twice(c: bool) {
            var x: int;
            if c { print(x); } else { print(x, x); } //~ E0501 E0501
            print(x);
        }
        fn again(n: int) {
            for i in 0..n {
                var t: int;
                if i == 0 { t = 1; }
                print(t); //~ E0501
            }
        }
        fn ends(n: int) -> int {
            var x: int;
            match n { 0 => { x = 1; } 1 => { return 2; } _ => { while true { } } }
            return x;
        }
        fn short(c: bool) -> bool {
            var x: bool;
            x = c || x; //~ E0501
            return x;
        }",
    );
}

#[test]
fn functions_with_a_result_return() {
    expect(
        "fn a(b: bool) -> int { match b { true => { return 1; } false => { return 2; } } }
        fn b(b: byte) -> int { match b { '\\x00'..='\\xff' => { return 1; } } } //~ E0502
        fn c(n: int) -> int { //~ E0502
            match n { -9223372036854775808..=9223372036854775807 => { return 1; } }
        }
        fn d() -> int { panic(\"no\"); } //~ E0502
        fn e() -> int { if true { return 1; } } //~ E0502
        fn f() -> int { while (true) { } }
        fn g() -> int { while !false { } } //~ E0502
        fn h() -> int { while true { while true { break; } } }
        fn i() -> int { while true { for i in 0..3 { return i; } } }
        fn j(n: int) -> int { match n { _ => { return 1; } } }
        let k = fn(n: int) -> int { if n > 1 { return 1; } }; //~ E0502
        k(1);",
    );
}

#[test]
fn code_that_nothing_leads_to_is_told_once() {
    expect(
        "fn f(n: int) -> int {
            if n > 1 {
                return 1;
                print(1); //~ W0610
                { print(2); return 2; print(3); }
                if n > 2 { print(4); }
            } else {
                while true { continue; print(5); } //~ W0610
                print(6); //~ W0610
            }
            print(7); //~ W0610
            return 3;
        }
        fn g(n: byte, b: bool) {
            match n { 'a' => { print(1); } _ => { return; } 'b' => { print(2); print(3); } }
            match b { true => { return; } false => { return; } _ => { print(4); } }
            print(5); //~ W0610
        }
        if false { print(8); }
        exit(0);
        print(9);",
    );
}

#[test]
fn globals_are_reached_when_they_have_a_value() {
    expect(
        "fn outer() -> int { let f = middle; return f() + 1; }
        fn middle() -> int { return (fn() -> int { return total; })(); }
        fn even(n: int) -> bool { if n == 0 { return total > 0; } return odd(n - 1); }
        fn odd(n: int) -> bool { if n == 0 { return false; } return even(n - 1); }
        fn sets() { total = 3; }
        print(1);
        if len(args()) > 3 { //~ E0503
            print(outer());
        }
        print(odd(4)); sets(); //~ E0503 E0503
        var total = outer(); //~ E0503
        print(outer(), even(2));
        sets();
        var late: int;
        let f = fn() { print(late); }; //~ E0503
        var other: str?;
        f();
        fn both() { print(late, other); }
        fn quiet() { both(); }
        if total > 1 { late = 1; quiet(); } //~ E0503
        other = nil;
        print(late); //~ E0501
        late = 2;
        quiet();
        let g = quiet;
        g();",
    );
    expect(
        "var x: int;
        var y: int;
        fn main() { x = 1; print(y); } //~ E0503
        y = 1;",
    );
    expect(
        "var x: int;
        fn main() { print(x); }
        x = 1;
        fn unused() { print(z); }
        var z: int;",
    );
}

#[test]
fn values_that_nothing_reads_are_told() {
    expect(
        "fn f(n: int, unused: int) -> int {
            let a = n; //~ W0611
            var b: int; //~ W0611
            let _c = n;
            var d = 1; //~ W0612
            d = n;
            var e = 0;
            for i in 0..3 { e += 1; }
            var g = d;
            g += 1; //~ W0612
            g = 4; //~ W0612
            let h = 3;
            let k = fn() -> int { return h; };
            var l = n > 0 && n < 3; //~ W0612
            if d > 3 { l = true; } else { l = false; }
            while l { l = false; break; } //~ W0612
            return k();
        }
        {
            var m = 1; //~ W0611
            m = 2;
        }",
    );
}

/// Where sets of live variables would be wide, reads nearby are looked for first.
#[test]
fn values_are_told_in_large_functions() {
    let mut source = String::from("fn f(n: int) -> int {\nvar sum = 0;\nvar far = n;\n");
    for number in 0..1500 {
        source += &format!(
            "var a{number} = n; if n > {number} {{ a{number} -= 1; sum += a{number}; }}\n"
        );
        if number == 700 {
            source += "var lost = n; //~ W0612\n";
        }
    }
    source += "lost = far;\nfar = 3; //~ W0612\nreturn sum + lost;\n}";
    expect(&source);
}
