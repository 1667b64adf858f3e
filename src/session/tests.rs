use super::*;
use crate::engine::Engine;
use toyjit_runtime::{Captured, Output};

struct Driven {
    session: Session,
    output: Captured,
}

impl Driven {
    fn new() -> Self {
        let (output, captured) = Output::capture();
        let mut session = Session::new(&Engine::new()).unwrap();
        session.runtime.set_output(output);
        Self { session, output: captured }
    }

    /// What an entry prints, its value and notes.
    #[track_caller]
    fn says(&mut self, text: &str, expected: &str) {
        let outcome = self.session.enter(text, &mut Timings::new());
        let mut said = String::from_utf8(self.output.take()).unwrap();
        match outcome {
            Ok(outcome) => {
                for note in outcome.notes {
                    said += &format!("note: {note}\n");
                }
                if let Some((value, ty)) = outcome.value {
                    said += &format!("= {value} : {ty}\n");
                }
            }
            Err(Failure::Diagnostics(list)) => {
                let errors = list.iter().filter(|d| d.code.starts_with('E'));
                said += &errors.map(|d| format!("{}\n", d.code)).collect::<String>();
            }
            Err(Failure::Stopped(halt)) => said += &format!("{:?}\n", halt.stop),
            Err(Failure::Fault(what)) => said += &format!("fault {what}\n"),
        }
        assert_eq!(said.trim_end(), expected, "{text}");
    }
}

#[test]
fn values_are_shown() {
    let mut d = Driven::new();
    d.says("1 + 1", "= 2 : int");
    d.says("_ * 2.0", "E0302");
    d.says("_ * 21", "= 42 : int");
    d.says("\"a\\n\"", "= \"a\\n\" : str");
    d.says("[1.0]", "= [1.0] : [float]");
    d.says("print(1)", "1");
    d.says("let x: str? = nil", "");
    d.says("x", "= nil : str?");
    d.says("let x = 1; x + 1;", "= 2 : int");
    d.says("1 +", "E0110");
    d.says("", "");
}

#[test]
fn definitions_stay() {
    let mut d = Driven::new();
    d.says("fn fib(n: int) -> int { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }", "");
    d.says("fib(20)", "= 6765 : int");
    d.says("struct P { x: int, y: int? }", "E0312");
    d.says("struct P { x: int, next: P? }", "");
    d.says("let p = P { x: 1, next: nil }", "");
    d.says("fn far(p: P) -> int { return p.x + fib(10); }", "");
    d.says("far(p)", "= 56 : int");
    d.says("struct P { x: int, next: P? } far(p)", "= 56 : int");
    d.says("let f = far; f(p)", "= 56 : int");
    d.says("let k = 3; let g = fn(x: int) -> int { return x + k; };", "");
    d.says("g(4)", "= 7 : int");
    d.says("var n = 1", "");
    d.says("fn count() -> int { n += 1; return n; }", "");
    d.says("count() + count()", "= 5 : int");
    d.says("var n = \"new\"", "");
    d.says("count()", "= 4 : int");
    d.says("n", "= \"new\" : str");
}

#[test]
fn functions_are_redefined() {
    let mut d = Driven::new();
    d.says("fn a() -> int { return b() + 1; } fn b() -> int { return 1; }", "");
    d.says("fn c() -> int { return a() * 10; }", "");
    d.says("let f = b; c()", "= 20 : int");
    d.says("fn b() -> int { return 2; } a()", "= 3 : int");
    d.says("c()", "= 30 : int");
    d.says("f()", "= 2 : int");
    d.says("fn b() -> int { return 5; } let z = 1 / 0;", "Trap(Division)");
    d.says("c()", "= 30 : int");
    d.says(
        "fn b(x: int) -> int { return x; }",
        "note: `b` has other types now: `a` keeps calling the old one",
    );
    d.says("c() + b(1)", "= 31 : int");
    d.says("fn a() -> int { return b(7); }", "");
    d.says("c()", "= 70 : int");
}

#[test]
fn failures_leave_everything() {
    let mut d = Driven::new();
    d.says("var x = 1", "");
    d.says("x = 2; let y = 1 / (x - 2); let x = \"no\";", "Trap(Division)");
    d.says("x", "= 2 : int");
    d.says("y", "E0201");
    d.says("var hs: [fn() -> str] = []", "");
    d.says("let s = \"s\"; hs.push(fn() -> str { return s; }); let z = 1 / 0;", "Trap(Division)");
    d.says("let q = 77; let r = 78;", "");
    d.says("hs[0]()", "= \"s\" : str");
    d.says("var late: str;", "E0501");
    d.says("var late: str; late = \"ok\"; late", "= \"ok\" : str");
    d.says("exit(3)", "Exit(3)");
}

#[test]
fn memory_of_dead_entries_is_returned() {
    let mut d = Driven::new();
    d.says("fn f(x: int) -> int { return x; }", "");
    for _ in 0..200 {
        d.says("f(1) + 1", "= 2 : int");
        d.says("let big = [0; 1000]; big.len()", "= 1000 : int");
        d.says("fn f(x: int) -> int { return x; }", "");
    }
    assert_eq!(d.session.units.len(), 1);
    d.says("let keep = [fn() -> int { return 1; }]", "");
    for _ in 0..200 {
        d.says("let add = fn(x: int) -> int { return x + 1; }; add(1)", "= 2 : int");
    }
    assert!(d.session.units.len() < 2 * CENSUS);
    d.says("keep[0]() + add(1)", "= 3 : int");
    d.says("fn make(k: int) -> fn() -> int { return fn() -> int { return k; }; }", "");
    d.says("let made = make(9)", "");
    d.says("fn make(k: int) -> fn() -> int { return fn() -> int { return 0; }; }", "");
    d.session.census();
    d.says("made() + make(1)()", "= 9 : int");
    assert!(d.session.known.program.globals.len() < 12);
    assert!(d.session.runtime.globals() < 12);
}

#[test]
fn hidden_functions_go_when_nothing_uses_them() {
    let mut d = Driven::new();
    for _ in 0..150 {
        d.says("fn f(x: int) -> int { return x; }", "");
        d.says("fn f(x: float) -> float { return x; }", "");
    }
    assert!(d.session.units.len() <= 2 * CENSUS, "{}", d.session.units.len());
    assert!(d.session.runtime.globals() < 20);
    // What a function, or a value, leads to stays.
    d.says("fn g(x: int) -> int { return x + 1; }", "");
    d.says("fn user(x: int) -> int { return g(x); }", "");
    d.says("fn h(x: int) -> int { return x + 2; }", "");
    d.says("let hs = [h]", "");
    d.says("fn g() {}", "note: `g` has other types now: `user` keeps calling the old one");
    d.says("fn h() {}", "");
    d.session.census();
    d.says("let noise = [1, 2, 3]; fn more(x: int) -> int { return noise[x]; }", "");
    d.says("user(1) + hs[0](1) + more(0)", "= 6 : int");
    d.says("fn user(x: int) -> int { return x; }", "");
    d.says("hs[0] = fn(x: int) -> int { return 7; };", "");
    let units = d.session.units.len();
    d.session.census();
    assert_eq!(d.session.units.len(), units - 2);
    d.says("user(1) + hs[0](1)", "= 8 : int");
}
