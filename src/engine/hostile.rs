//! Safe code must not be able to crash the host, whatever it does.

use super::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

fn is_send<T: Send>(_: &T) {}

#[test]
fn what_is_shared_may_go_to_other_threads() {
    let engine = Engine::new().host("one", || 1_i64);
    is_send(&engine);
    let mut module = engine.compile("m.toy", "fn two() -> int { return one() + 1; }").unwrap();
    drop(engine);
    let two = module.function::<(), i64>("two").unwrap();
    is_send(&module.interrupter());
    let small = std::thread::Builder::new().stack_size(64 << 10);
    let thread = small.spawn(move || (two.call(&mut module, ()).unwrap(), module)).unwrap();
    let (first, mut module) = thread.join().unwrap();
    assert_eq!((first, two.call(&mut module, ()).unwrap()), (2, 2));
}

#[test]
fn small_threads_compile_deep_programs() {
    let text = format!("fn f() -> int {{ return {}1{}; }}", "(".repeat(900), ")".repeat(900));
    let small = std::thread::Builder::new().stack_size(64 << 10);
    let thread = small.spawn(move || {
        let mut module = Engine::new().compile("deep.toy", text).unwrap();
        module.function::<(), i64>("f").unwrap().call(&mut module, ()).unwrap()
    });
    assert_eq!(thread.unwrap().join().unwrap(), 1);
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("again");
    }
}

#[test]
fn panics_of_the_host_are_traps() {
    let armed = AtomicBool::new(true);
    let engine = Engine::new().host("bomb", || -> i64 { std::panic::panic_any(Bomb) }).host(
        "first",
        move || -> Result<i64, String> {
            match armed.swap(false, Ordering::Relaxed) {
                true => panic!("the first time"),
                false => Err("not again".to_owned()),
            }
        },
    );
    let source = "
        fn deep(n: int) -> int { if n == 0 { return bomb(); } return deep(n - 1) + 1; }
        fn start() -> int { return first(); }";
    let mut module = engine.compile("panics.toy", source).unwrap();
    let deep = module.function::<(i64,), i64>("deep").unwrap();
    for n in [0, 1, 1000] {
        let stopped = deep.call(&mut module, (n,)).unwrap_err();
        assert_eq!(stopped.trap(), Some(&Trap::Panic(b"a function of the host panicked".to_vec())));
    }
    let start = module.function::<(), i64>("start").unwrap();
    assert!(start.call(&mut module, ()).is_err());
    let stopped = start.call(&mut module, ()).unwrap_err();
    assert_eq!(stopped.trap(), Some(&Trap::Panic(b"not again".to_vec())));
}

#[test]
fn a_writer_may_fail_and_panic() {
    struct Writer(bool);
    impl std::io::Write for Writer {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            assert!(!self.0, "it panics");
            Err(std::io::Error::other("it fails"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let source = "fn many() { for i in 0..100000 { print(i); } } fn one() -> int { return 1; }";
    let mut module = Engine::new().compile("w.toy", source).unwrap();
    let many = module.function::<(), ()>("many").unwrap();
    module.set_output(Output::to(Box::new(Writer(false))));
    assert!(matches!(many.call(&mut module, ()).unwrap_err().stop, Stop::Output(_)));
    module.set_output(Output::to(Box::new(Writer(true))));
    assert!(matches!(many.call(&mut module, ()).unwrap_err().stop, Stop::Output(_)));
    let captured = module.capture();
    assert_eq!(module.function::<(), i64>("one").unwrap().call(&mut module, ()).unwrap(), 1);
    many.call(&mut module, ()).unwrap();
    assert_eq!(captured.take().len(), 588_890);
}

#[test]
fn a_host_function_may_run_other_programs() {
    let inner = Engine::new().host("up", |x: i64| x + 1);
    let inner = inner.compile("inner.toy", "fn f(x: int) -> int { return 100 / up(x); }").unwrap();
    let f = inner.function::<(i64,), i64>("f").unwrap();
    let inner = Mutex::new(inner);
    let engine = Engine::new().host("inner", move |x: i64| {
        let mut inner = inner.lock().map_err(|_| "poisoned".to_owned())?;
        f.call(&mut inner, (x,)).map_err(|stopped| stopped.to_string())
    });
    let mut outer =
        engine.compile("outer.toy", "fn g(x: int) -> int { return inner(x) + inner(x); }").unwrap();
    let g = outer.function::<(i64,), i64>("g").unwrap();
    assert_eq!(g.call(&mut outer, (4,)).unwrap(), 40);
    let stopped = g.call(&mut outer, (-1,)).unwrap_err();
    assert!(stopped.to_string().contains("division by zero"), "{stopped}");
    assert_eq!(g.call(&mut outer, (9,)).unwrap(), 20);
}

#[test]
fn names_of_host_functions_may_be_anything() {
    let mut engine = Engine::new();
    for name in ["", "1x", "while", "a b", "print", "len", "main", "int", "_", "é", "x"] {
        engine = engine.host(name, || 7_i64);
    }
    for (source, code) in [
        ("fn main() -> int { return x(); }", 7),
        ("let x = 3; fn main() -> int { return x; }", 3),
        ("struct x { a: int } fn main() -> int { return x { a: 5 }.a; }", 5),
        ("fn len(x: int) -> int { return x; } fn main() -> int { return len(2); }", 2),
        ("", 0),
    ] {
        let compiled = engine.compile("names.toy", source);
        let mut module = compiled.unwrap_or_else(|error| panic!("{source}: {error}"));
        module.capture();
        assert_eq!(module.run().unwrap(), code, "{source}");
        assert!(module.function::<(), i64>("").is_err());
        assert!(module.function::<(), i64>("script").is_err());
    }
    let _ = engine.compile("names.toy", "print(1x, while, _, main());").unwrap_err().to_string();
}

#[test]
fn extreme_limits_are_errors_or_traps() {
    let source = "
        fn f(s: str) -> int { return s.len(); }
        fn r(n: int) -> int { if n == 0 { return 0; } return r(n - 1) + 1; }";
    let run = |engine: Engine| {
        let Ok(mut module) = engine.compile("limits.toy", source) else { return };
        let f = module.function::<(&str,), i64>("f").unwrap();
        let r = module.function::<(i64,), i64>("r").unwrap();
        let _ = f.call(&mut module, ("text",));
        let _ = r.call(&mut module, (1_000_000,));
        let _ = r.call(&mut module, (3,));
    };
    for stack in [0, 1, 4096, 65536, 1 << 20, 1 << 46, usize::MAX / 2, usize::MAX] {
        run(Engine::new().stack_size(stack));
        run(Engine::new().stack_size(stack).interpreted(true));
    }
    for heap in [0, 1, 4096, 1 << 20, u64::MAX] {
        run(Engine::new().max_heap(heap));
    }
    run(Engine::new().level(255).timeout(Duration::ZERO));
    run(Engine::new().timeout(Duration::MAX));
    let mut module = Engine::new().max_heap(1 << 20).compile("large.toy", source).unwrap();
    let f = module.function::<(&str,), i64>("f").unwrap();
    let large = "x".repeat(64 << 20);
    assert_eq!(f.call(&mut module, (&large,)).unwrap_err().trap(), Some(&Trap::Memory));
    assert_eq!(f.call(&mut module, ("small",)).unwrap(), 5);
}

#[test]
fn an_interrupt_that_comes_early_ends_one_call_only() {
    let mut module = Engine::new().compile("i.toy", "fn f() -> int { return 1; }").unwrap();
    let f = module.function::<(), i64>("f").unwrap();
    module.start().unwrap();
    module.interrupter().interrupt(Interrupt::Interrupted);
    let _ = f.call(&mut module, ());
    assert_eq!(f.call(&mut module, ()).unwrap(), 1);
}

#[test]
fn the_interpreter_stands_under_the_same_handles() {
    let source = "
        var n = 0;
        fn mix(a: float, s: str, b: int, c: float) -> str { n += 1; return str(a) + s + str(b) + str(c); }
        fn half(x: float) -> float { return x / 2.0; }
        fn div(x: int) -> int { return 1 / x; }
        fn count() -> int { return n; }
        print(\"once\");";
    for interpreted in [false, true] {
        let engine = Engine::new().interpreted(interpreted).gc_stress(true);
        let mut m = engine.compile("i.toy", source).unwrap();
        let printed = m.capture();
        let mix = m.function::<(f64, &str, i64, f64), String>("mix").unwrap();
        assert_eq!(mix.call(&mut m, (0.5, "é", -1, 2.0)).unwrap(), "0.5é-12.0");
        assert_eq!(m.function::<(f64,), f64>("half").unwrap().call(&mut m, (5.0,)).unwrap(), 2.5);
        let div = m.function::<(i64,), i64>("div").unwrap();
        let stopped = div.call(&mut m, (0,)).unwrap_err();
        assert_eq!(
            (stopped.trap(), stopped.place().as_deref()),
            (Some(&Trap::Division), Some("i.toy:5:42"))
        );
        assert_eq!(div.call(&mut m, (1,)).unwrap(), 1);
        assert_eq!(m.function::<(), i64>("count").unwrap().call(&mut m, ()).unwrap(), 1);
        assert_eq!(m.run().unwrap(), 0);
        assert_eq!(printed.take(), b"once\n");
        assert!(m.timings().stages().iter().any(|(stage, _)| *stage == "run"));
    }
}
