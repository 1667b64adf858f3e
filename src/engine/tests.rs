use super::*;
use std::time::Duration;

fn module(source: &str) -> Module {
    Engine::new().compile("test.toy", source).unwrap()
}

#[test]
fn values_go_in_and_out() {
    let source = "
        fn mix(a: int, b: float, c: bool, d: byte, e: str) -> str {
            return str(a) + str(b) + str(c) + str(d) + e;
        }
        fn next(b: byte) -> byte { return b + byte(1); }
        fn not(p: bool) -> bool { return !p; }
        fn half(x: float) -> float { return x / 2.0; }
        fn nothing() {}";
    let mut m = module(source);
    let mix = m.function::<(i64, f64, bool, u8, &str), String>("mix").unwrap();
    assert_eq!(mix.call(&mut m, (-1, 0.5, true, 7, "é")).unwrap(), "-10.5true7é");
    let next = m.function::<(u8,), u8>("next").unwrap();
    assert_eq!(next.call(&mut m, (255,)).unwrap(), 0);
    let not = m.function::<(bool,), bool>("not").unwrap();
    assert!(not.call(&mut m, (false,)).unwrap());
    let half = m.function::<(f64,), f64>("half").unwrap();
    assert_eq!(half.call(&mut m, (3.0,)).unwrap(), 1.5);
    m.function::<(), ()>("nothing").unwrap().call(&mut m, ()).unwrap();
}

#[test]
fn handles_are_checked() {
    let m = module("fn f(x: int) -> [int] { return [x]; }");
    let unknown = m.function::<(), ()>("g").unwrap_err();
    assert_eq!(unknown.to_string(), "there is no function `g`");
    let wrong = m.function::<(i64,), i64>("f").unwrap_err();
    assert_eq!(wrong.to_string(), "the function is `fn(int) -> [int]`, not `fn(int) -> int`");
}

#[test]
fn errors_and_traps_are_told() {
    let error = Engine::new().compile("bad.toy", "let x = y;").unwrap_err();
    assert!(error.to_string().starts_with("error[E0201]: "), "{error}");
    assert!(error.to_string().contains("--> bad.toy:1:9"), "{error}");

    let mut m = module("fn at(i: int) -> int {\n    return [1, 2][i];\n}");
    let at = m.function::<(i64,), i64>("at").unwrap();
    let stopped = at.call(&mut m, (2,)).unwrap_err();
    assert_eq!(stopped.trap(), Some(&Trap::Index { index: 2, len: 2 }));
    assert_eq!(stopped.place().as_deref(), Some("test.toy:2:12"));
    assert!(stopped.to_string().starts_with("trap: index 2 is out of bounds"), "{stopped}");
    assert_eq!(at.call(&mut m, (1,)).unwrap(), 2);
}

#[test]
fn the_top_level_runs_once_and_first() {
    let mut m = module("var n = 40; n += 1; print(n); fn get() -> int { n += 1; return n; }");
    let captured = m.capture();
    let get = m.function::<(), i64>("get").unwrap();
    assert_eq!(get.call(&mut m, ()).unwrap(), 42);
    assert_eq!(get.call(&mut m, ()).unwrap(), 43);
    assert_eq!(captured.take(), b"41\n");
}

#[test]
fn memory_is_as_a_trap_left_it() {
    let mut m = module(
        "var n = 0;
        fn count(a: [int]) { for i in 0..10 { n += 1; a[i] = n; } }
        fn start() { count([0; 3]); }
        fn get() -> int { return n; }",
    );
    let start = m.function::<(), ()>("start").unwrap();
    assert!(start.call(&mut m, ()).unwrap_err().trap().is_some());
    let get = m.function::<(), i64>("get").unwrap();
    assert_eq!(get.call(&mut m, ()).unwrap(), 4);
}

#[test]
fn a_failed_start_stays_one() {
    let mut m = module("let s = \"a\"; let t = [s][1]; fn get() -> str { return t; }");
    let get = m.function::<(), String>("get").unwrap();
    for _ in 0..2 {
        assert!(get.call(&mut m, ()).unwrap_err().trap().is_some());
    }
    let mut late = module("var s: str; fn get() -> str { return s; } fn main() {}");
    assert_eq!(late.run().unwrap(), 0);
    let get = late.function::<(), String>("get").unwrap();
    assert!(get.call(&mut late, ()).unwrap_err().to_string().contains("`s`"));
}

#[test]
fn limits_hold() {
    let engine =
        Engine::new().max_heap(4 << 20).stack_size(1 << 20).timeout(Duration::from_millis(30));
    let source = "
        fn spin() { while true {} }
        fn deep(n: int) -> int { return 1 + deep(n + 1); }
        fn large() -> int { return [0; 10000000].len(); }
        fn fine() -> int { return 1; }";
    let mut m = engine.compile("limits.toy", source).unwrap();
    let trap = |m: &mut Module, result: Result<(), Stopped>| {
        let fine = m.function::<(), i64>("fine").unwrap();
        assert_eq!(fine.call(m, ()).unwrap(), 1);
        result.unwrap_err().trap().cloned()
    };
    let spin = m.function::<(), ()>("spin").unwrap();
    let result = spin.call(&mut m, ());
    assert_eq!(trap(&mut m, result), Some(Trap::Time));
    let deep = m.function::<(i64,), i64>("deep").unwrap();
    let result = deep.call(&mut m, (0,)).map(drop);
    assert_eq!(trap(&mut m, result), Some(Trap::Stack));
    let large = m.function::<(), i64>("large").unwrap();
    let result = large.call(&mut m, ()).map(drop);
    assert_eq!(trap(&mut m, result), Some(Trap::Memory));
}

#[test]
fn input_args_and_exit() {
    let engine = Engine::new().args(["x"]).level(0);
    let mut m = engine.compile("io.toy", "print(read_line()!, args()); exit(3);").unwrap();
    m.set_input(Input::bytes(b"line\n".to_vec()));
    let captured = m.capture();
    let stopped = m.run().unwrap_err();
    assert_eq!(stopped.stop, Stop::Exit(3));
    assert_eq!(captured.take(), b"line [\"x\"]\n");
}

#[test]
fn programs_call_the_host() {
    let engine = Engine::new()
        .host("join", |a: String, b: i64, c: f64, d: bool, e: u8| format!("{a}{b}{c}{d}{e}"))
        .host("half", |x: f64| x / 2.0)
        .host("check", |x: i64| if x < 3 { Ok(x) } else { Err(format!("{x} is too much")) })
        .host("broken", || -> i64 { panic!("no") })
        .host("nothing", || {});
    let source = "
        let apply = half;
        fn text() -> str {
            let all: [str] = [];
            for i in 0..2000 { all.push(join(\"é\", i, 0.5, true, 'a')); }
            nothing();
            return all[0] + all[1999];
        }
        fn halves(x: float) -> float { return half(x) + apply(x); }
        fn up_to(n: int) -> int {
            var total = 0;
            for i in 0..n { total += check(i); }
            return total;
        }
        fn fail() -> int { return broken(); }";
    let mut m = engine.compile("host.toy", source).unwrap();
    let text = m.function::<(), String>("text").unwrap();
    assert_eq!(text.call(&mut m, ()).unwrap(), "é00.5true97é19990.5true97");
    let halves = m.function::<(f64,), f64>("halves").unwrap();
    assert_eq!(halves.call(&mut m, (5.0,)).unwrap(), 5.0);
    let up_to = m.function::<(i64,), i64>("up_to").unwrap();
    assert_eq!(up_to.call(&mut m, (3,)).unwrap(), 3);
    let stopped = up_to.call(&mut m, (5,)).unwrap_err();
    assert_eq!(stopped.trap(), Some(&Trap::Panic(b"3 is too much".to_vec())));
    assert_eq!(stopped.place().as_deref(), Some("host.toy:12:38"));
    let fail = m.function::<(), i64>("fail").unwrap();
    assert!(fail.call(&mut m, ()).unwrap_err().trap().is_some());
    assert_eq!(up_to.call(&mut m, (3,)).unwrap(), 3);
    assert!(m.function::<(f64,), f64>("half").is_err());

    let hidden = engine.compile(
        "own.toy",
        "fn half(x: int) -> int { return x / 2; } fn main() -> int { return half(9); }",
    );
    assert_eq!(hidden.unwrap().run().unwrap(), 4);
    let wrong = engine.compile("bad.toy", "print(half(1));").unwrap_err().to_string();
    assert!(wrong.contains("expected `float`") && !wrong.contains("declared here"), "{wrong}");
}
