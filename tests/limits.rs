//! What a run may take, and that all is whole after it took too much.

use std::fmt::Write;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};
use toyjit::interp::{self, Halt};
use toyjit::pipeline::{self, Executable, Options};
use toyjit::source::Sources;
use toyjit::timing::Timings;
use toyjit_runtime::{
    Captured, Config, Input, Interrupt, Interrupter, Output, Runtime, Stop, Trap,
};

/// Tests that measure the process run alone.
static ALONE: RwLock<()> = RwLock::new(());

fn together() -> RwLockReadGuard<'static, ()> {
    ALONE.read().unwrap_or_else(PoisonError::into_inner)
}

const HEAP: u64 = 6 << 20;

/// A runtime with little of everything, and what is printed.
fn runtime() -> (Runtime, Captured) {
    let (output, captured) = Output::capture();
    let input = Input::bytes(Vec::new());
    let config =
        Config { max_heap: Some(HEAP), stack_size: 256 << 10, output, input, ..Config::default() };
    (Runtime::new(config).expect("a runtime"), captured)
}

fn front(text: &str) -> pipeline::Front {
    checked(text, false)
}

/// The same for a program that burns fuel.
fn metered(text: &str) -> pipeline::Front {
    checked(text, true)
}

fn checked(text: &str, metered: bool) -> pipeline::Front {
    let mut sources = Sources::default();
    sources.add("test.toy", text).expect("it is not too long");
    let (front, said) = pipeline::front_with(&sources, &[], metered, &mut Timings::new());
    front.unwrap_or_else(|| panic!("{text}\n{said:?}"))
}

fn compile(text: &str, level: u8, runtime: &mut Runtime) -> Executable {
    let options = Options { level, ..Options::default() };
    pipeline::compile(front(text), &options, runtime, &mut Timings::new()).expect("it compiles")
}

fn compile_metered(text: &str, runtime: &mut Runtime) -> Executable {
    let compiled =
        pipeline::compile(metered(text), &Options::default(), runtime, &mut Timings::new());
    compiled.expect("it compiles")
}

/// A program with a runtime of its own, in either engine.
enum Program {
    Machine(Box<Executable>),
    Tree(Box<pipeline::Front>),
}

/// The engines: machine code at some levels, and the tree interpreter.
const ENGINES: [Option<u8>; 3] = [Some(0), Some(2), None];

impl Program {
    fn new(text: &str, engine: Option<u8>, runtime: &mut Runtime) -> Self {
        match engine {
            Some(level) => Program::Machine(Box::new(compile(text, level, runtime))),
            None => Program::Tree(Box::new(front(text))),
        }
    }

    fn run(&self, runtime: &mut Runtime) -> Result<i32, Halt> {
        match self {
            Program::Machine(executable) => executable.run(runtime),
            Program::Tree(front) => interp::run(&front.program, &front.interner, runtime),
        }
    }
}

/// How a program ends in each engine.
fn stops(text: &str, expected: &Trap) {
    for engine in ENGINES {
        let (mut runtime, _) = runtime();
        let result = Program::new(text, engine, &mut runtime).run(&mut runtime);
        let halt = result.expect_err("the program traps");
        assert_eq!(halt.stop, Stop::Trap(expected.clone()), "{engine:?}: {text}");
        assert!(!halt.trace.first.is_empty(), "{engine:?}: {text}");
    }
}

/// Interrupts after a while; answers when it did.
fn interrupt_soon(interrupter: Interrupter, why: Interrupt) -> std::thread::JoinHandle<Instant> {
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        let now = Instant::now();
        interrupter.interrupt(why);
        now
    })
}

/// What a run may take to end, on a machine that does much else.
const SOON: Duration = Duration::from_secs(2);

#[test]
fn endless_loops_end() {
    let _others = together();
    let programs = [
        "while true {}",
        "fn f() -> int { var n = 0; while true { n += 1; } }  print(f());",
        "var n = 0; while n < 1 { for i in 0..1000000 { for j in 0..1000000 { n -= 1; } } }",
        "let xs = [1.5; 100]; var s = 0.0; while true { for x in xs { s += x; } }",
        "var x = 0.0; while true { x = sin(x); }",
        "var c = 0; fn f(n: int) -> int { c += 1; if n == 0 { return 1; } return f(n - 1) + f(n - 1); } print(f(90));",
        "while true { print(1, 2.5, \"x\"); }",
        "struct N { next: N? } var n: N? = nil; while true { n = N { next: nil }; }",
        "let xs = [1; 100000]; while true { slice(xs, 1, 99999); }",
        "struct N { a: N?, b: N? } var n: N? = nil; for i in 0..60 { n = N { a: n, b: n }; } print(n);",
        "let f = fn(x: int) -> int { return x; }; while true { f(1); }",
        "var s = \"\"; while true { if s == \"a\" { s = \"b\"; } else { s = \"a\"; } }",
    ];
    let mut placed = 0;
    for text in programs {
        for (engine, why) in ENGINES.into_iter().zip([
            Interrupt::Interrupted,
            Interrupt::Time,
            Interrupt::Interrupted,
        ]) {
            let (mut runtime, _) = runtime();
            let program = Program::new(text, engine, &mut runtime);
            let thread = interrupt_soon(runtime.interrupter(), why);
            let halt = program.run(&mut runtime).expect_err("it is interrupted");
            let took = thread.join().expect("the thread ends").elapsed();
            let trap = if why == Interrupt::Time { Trap::Time } else { Trap::Interrupted };
            assert_eq!(halt.stop, Stop::Trap(trap), "{engine:?}: {text}");
            assert!(took < SOON, "{took:?} {engine:?}: {text}");
            // There is no place where the request came before the run.
            placed += usize::from(!halt.trace.first.is_empty());
        }
    }
    assert!(placed > programs.len(), "{placed}");
}

#[test]
fn requests_wait_and_can_be_taken_back() {
    let _others = together();
    let (mut runtime, captured) = runtime();
    let program = compile("var n = 0; for i in 0..1000 { n += i; } print(n);", 2, &mut runtime);
    let interrupter = runtime.interrupter();
    interrupter.interrupt(Interrupt::Interrupted);
    let halt = program.run(&mut runtime).expect_err("it is interrupted");
    assert_eq!(halt.stop, Stop::Trap(Trap::Interrupted));
    // Code that comes while a request stands obeys it, and goes on with the others.
    let late = compile("var m = 0; while m < 10 { m += 1; } print(m);", 2, &mut runtime);
    assert!(late.run(&mut runtime).is_err());
    interrupter.clear();
    for program in [&late, &program] {
        assert_eq!(program.run(&mut runtime).map_err(|halt| halt.stop), Ok(0));
    }
    runtime.output.flush().expect("it is kept in memory");
    assert_eq!(captured.take(), b"10\n499500\n");
    drop(program);
    interrupter.interrupt(Interrupt::Time);
    drop((late, runtime));
    interrupter.clear();
}

#[test]
fn nothing_overflows() {
    let _others = together();
    let memory = [
        "let xs = [0; 1 << 60]; print(len(xs));",
        "let xs = [false; 9223372036854775807]; print(len(xs));",
        "let xs = [\"a\"; 2305843009213693951]; print(len(xs));",
        "let xs = [1.5; 2305843009213693952]; print(len(xs));",
        "var s = \"ab\"; while true { s = s + s; }",
        "var xs = [1]; while true { xs.push(2); }",
        "let xs = [\"a\"]; while true { xs.push(\"b\"); }",
        "let xs: [byte] = []; while true { xs.push('a'); }",
        "var xs: [[int]] = []; while true { xs.push([1, 2, 3]); }",
        "struct N { next: N? } var n: N? = nil; while true { n = N { next: n }; }",
        "var f = fn() -> int { return 1; }; while true { let g = f; f = fn() -> int { return g(); }; }",
        "struct N { a: N?, b: N? } var n: N? = nil; for i in 0..60 { n = N { a: n, b: n }; } str(n);",
        "let s = from_bytes([65; 1 << 12].to_text()); fn to_text(xs: [int]) -> [byte] \
         { let b: [byte] = []; for x in xs { b.push(byte(x)); } return b; } \
         var t = s; while true { t = t + s; }",
        "let xs = [1; 1 << 16]; let all: [[int]] = []; while true { all.push(slice(xs, 0, 1 << 16)); }",
    ];
    for text in memory {
        stops(text, &Trap::Memory);
    }
    stops("let xs = [0; -1];", &Trap::Length(-1));
    stops("let xs = [0; 1 << 63];", &Trap::Length(i64::MIN));
    let slice = Trap::Slice { from: 0, to: i64::MAX, len: 2 };
    stops("slice(\"ab\", 0, 9223372036854775807);", &slice);
}

#[test]
fn runtime_calls_trap_over_many_frames() {
    let _others = together();
    let memory = "fn f(n: int, s: str) -> int { if n == 0 { return [0; 1 << 50].len(); } \
         let t = s + \"x\"; return f(n - 1, t) + t.len(); } print(f(200, \"a\"));";
    stops(memory, &Trap::Memory);
    let pop = "fn f(n: int, xs: [int]) -> int { if n == 0 { return xs.pop(); } \
         let ys = [n; 10]; return f(n - 1, xs) + ys[3]; } print(f(200, []));";
    stops(pop, &Trap::Pop);
    let deep = "fn f(n: int, s: str) -> int { let t = str(n); return f(n + 1, t) + t.len(); } \
         print(f(0, \"a\"));";
    stops(deep, &Trap::Stack);
}

/// How a program ends that has so much fuel: what it printed, why it ended and where, what was left.
type Burnt = (Vec<u8>, Result<i32, (Stop, Vec<(String, u32)>)>, u64);

fn burnt(text: &str, engine: Option<u8>, fuel: u64) -> Burnt {
    burnt_by(metered(text), engine, fuel)
}

fn burnt_by(front: pipeline::Front, engine: Option<u8>, fuel: u64) -> Burnt {
    let (output, captured) = Output::capture();
    let input = Input::bytes(Vec::new());
    let config = Config { fuel: Some(fuel), output, input, ..Config::default() };
    let mut runtime = Runtime::new(config).expect("a runtime");
    let result = match engine {
        None => interp::run(&front.program, &front.interner, &mut runtime),
        Some(level) => {
            let options = Options { level, ..Options::default() };
            let compiled = pipeline::compile(front, &options, &mut runtime, &mut Timings::new());
            compiled.expect("it compiles").run(&mut runtime)
        }
    };
    runtime.output.flush().expect("it is kept in memory");
    let result = result.map_err(|halt| {
        let chain = halt.trace.first.iter().chain(&halt.trace.last);
        (halt.stop, chain.map(|frame| (frame.function.clone(), frame.span.start)).collect())
    });
    (captured.take(), result, runtime.fuel())
}

#[test]
fn fuel_ends_at_the_same_place_everywhere() {
    let _others = together();
    let programs = [
        "while true {}",
        "fn f() { while true { while true { break; } } } f();",
        "fn f(n: int) { while true { while n > 0 { if n == 1 { break; } continue; } } } f(2);",
        "fn g() { h(); } fn h() { g(); } g();",
        "fn small(n: int) -> int { return n + 1; } var n = 0; for i in 0..50 { n = small(small(n)); print(n); }",
        "let xs = [1, 2, 3]; var s = 0; for x in xs { for i in 0..=x { s += i; } print(s); } print(s);",
        "fn fib(n: int) -> int { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); } print(fib(10));",
        "let fs = [fn(x: int) -> int { return x * 2; }]; var s = 0; for i in 0..9 { s += fs[0](i); print(s); }",
        "fn main() -> int { var n = 27; while n != 1 { if n % 2 == 0 { n /= 2; } else { n = 3 * n + 1; } } return n; }",
        "let xs = [0; 4]; var i = 0; while i < 9 { print(i); xs[i] = i; i += 1; }",
        "for c in \"text\" { print(c); } for i in 5..5 {} for i in 3..=2 {} while false {} print(1 / (len(args()) - len(args())));",
    ];
    for text in programs {
        for fuel in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 1000] {
            let expected = burnt(text, None, fuel);
            if let Err((stop, chain)) = &expected.1 {
                assert!(!chain.is_empty(), "{fuel}: {text}");
                assert!(*stop != Stop::Trap(Trap::Fuel) || expected.2 == 0, "{fuel}: {text}");
            }
            for level in 0..=3 {
                assert_eq!(burnt(text, Some(level), fuel), expected, "-O{level}, {fuel}: {text}");
            }
        }
    }
}

/// The programs of the language tests, each with some fuel.
#[test]
fn fuel_ends_the_language_tests_at_the_same_place() {
    let _others = together();
    let mut paths: Vec<_> = ["tests/conformance", "tests/language", "tests/pitfalls", "examples"]
        .iter()
        .flat_map(|folder| {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            std::fs::read_dir(folder).expect("a folder of tests")
        })
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toy"))
        .collect();
    paths.sort();
    let mut ended = 0;
    for (path, fuel) in paths.iter().zip([4, 30, 300, 3000].into_iter().cycle()) {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let front = || {
            let mut sources = Sources::default();
            sources.add("test.toy", text.as_str())?;
            pipeline::front_with(&sources, &[], true, &mut Timings::new()).0
        };
        let Some(first) = front() else { continue };
        let expected = burnt_by(first, None, fuel);
        ended += usize::from(matches!(&expected.1, Err((Stop::Trap(Trap::Fuel), _))));
        for level in 0..=3 {
            let found = front().map(|front| burnt_by(front, Some(level), fuel));
            assert_eq!(found.as_ref(), Some(&expected), "-O{level}, {fuel}: {}", path.display());
        }
    }
    assert!(ended > 50, "{ended}");
}

#[test]
fn a_unit_is_a_call_or_a_round() {
    let _others = together();
    for (text, units) in [
        ("print(1);", 1),
        ("for i in 0..10 {}", 11),
        ("for i in 0..=10 {}", 12),
        ("fn f() {} f(); f(); fn main() { f(); }", 5),
        ("for x in [1, 2, 3] { while true { break; } }", 7),
        ("let f = fn() {}; for c in \"ab\" { f(); }", 5),
    ] {
        for engine in ENGINES {
            let (_, result, left) = burnt(text, engine, 1000);
            assert_eq!((result.ok(), 1000 - left), (Some(0), units), "{engine:?}: {text}");
            assert_eq!(burnt(text, engine, units).2, 0, "{engine:?}: {text}");
            let (_, result, _) = burnt(text, engine, units - 1);
            let stop = result.expect_err("that is too little").0;
            assert_eq!(stop, Stop::Trap(Trap::Fuel), "{engine:?}: {text}");
        }
    }
}

#[test]
fn a_stack_overflow_has_a_place() {
    let _others = together();
    let text = "print(1); fn deep(n: int) -> int { return 1 + deep(n + 1); } print(deep(0));";
    let (function, call) = (text.find("fn deep"), text.find("deep(n + 1)"));
    for engine in ENGINES {
        let (mut runtime, _) = runtime();
        let halt = Program::new(text, engine, &mut runtime).run(&mut runtime);
        let halt = halt.expect_err("the program traps");
        assert_eq!(halt.stop, Stop::Trap(Trap::Stack));
        let frame = &halt.trace.first[0];
        let at = Some(frame.span.start as usize);
        assert_eq!(frame.function, "deep", "{engine:?}");
        assert!(
            at == call || at >= function && at < function.map(|at| at + 8),
            "{engine:?}: {at:?}"
        );
    }
}

/// Kilobytes of this process that are in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("a number")
}

/// Traps of each kind and results in turn.
fn trapping() -> String {
    let mut text = "fn deep(n: int, s: str) -> int { return deep(n + 1, str(n)) + s.len(); }
        fn fill() { let all: [[int]] = []; while true { all.push([1; 500]); } }
        fn main(args: [str]) -> int {
            let xs = [\"a\"; 100];
            match args[0] {\n"
        .to_owned();
    for (kind, body) in [
        ("stack", "deep(0, \"a\");"),
        ("memory", "fill();"),
        ("index", "print(xs[len(args) + 200]);"),
        ("interrupt", "while true {}"),
        ("fuel", "while true {}"),
        ("large", "print([1; 1 << 40]);"),
        ("print", "print(xs);"),
    ] {
        writeln!(text, "\"{kind}\" => {{ {body} }}").expect("a string");
    }
    text + "} return len(xs); }"
}

const ROUNDS: usize = 1000;
const WARM: usize = 60;

/// `rounds` of all kinds in turn. Growth is measured after `warm` of them, while no other test runs.
fn rounds(rounds: usize, warm: usize, mut round: impl FnMut(&str)) {
    let _alone = ALONE.write().unwrap_or_else(PoisonError::into_inner);
    const KINDS: [&str; 7] = ["stack", "memory", "index", "interrupt", "fuel", "large", "print"];
    let mut before = 0;
    for i in 0..warm + rounds {
        if i == warm {
            before = resident();
        }
        round(KINDS[i % KINDS.len()]);
    }
    let growth = resident().saturating_sub(before);
    assert!(growth < 1024, "{growth} KiB more");
}

fn check(kind: &str, result: Result<i32, Halt>) {
    let trap = match (kind, result) {
        ("print", Ok(code)) => return assert_eq!(code, 100),
        (_, Err(Halt { stop: Stop::Trap(trap), .. })) => trap,
        (_, other) => panic!("{kind}: {other:?}"),
    };
    let expected = match kind {
        "stack" => Trap::Stack,
        "index" => Trap::Index { index: 201, len: 100 },
        "interrupt" => Trap::Interrupted,
        "fuel" => Trap::Fuel,
        _ => Trap::Memory,
    };
    assert_eq!(trap, expected);
}

/// One round: the runtime goes on afterwards.
fn round(kind: &str, runtime: &mut Runtime, run: impl FnOnce(&mut Runtime) -> Result<i32, Halt>) {
    runtime.args = vec![kind.as_bytes().to_vec()];
    runtime.set_fuel(if kind == "fuel" { 1000 } else { u64::MAX });
    let interrupter = runtime.interrupter();
    let thread = (kind == "interrupt").then(|| {
        let interrupter = interrupter.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(1));
            interrupter.interrupt(Interrupt::Interrupted);
        })
    });
    check(kind, run(runtime));
    if let Some(thread) = thread {
        thread.join().expect("the thread ends");
        interrupter.clear();
    }
}

#[test]
fn a_thousand_traps_in_one_runtime() {
    let (mut runtime, captured) = runtime();
    let program = compile_metered(&trapping(), &mut runtime);
    rounds(ROUNDS, WARM, |kind| {
        round(kind, &mut runtime, |runtime| program.run(runtime));
        runtime.output.flush().expect("it is kept in memory");
        captured.take();
    });
}

#[test]
fn traps_in_many_runtimes() {
    let text = trapping();
    for engine in [Some(2), None] {
        let first = metered(&text);
        rounds(60, 30, |kind| {
            let (mut runtime, _) = runtime();
            if engine.is_none() {
                return round(kind, &mut runtime, |runtime| {
                    interp::run(&first.program, &first.interner, runtime)
                });
            }
            let program = compile_metered(&text, &mut runtime);
            round(kind, &mut runtime, |runtime| program.run(runtime));
        });
    }
}
