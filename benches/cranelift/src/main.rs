//! How long toyjit and Cranelift take from the same SSA form to code in executable memory.
//!
//! usage: beside-cranelift [--runs N] [--size STATEMENTS] [SHAPE | PROGRAM.toy]...
//!
//! For each program: the number of IR instructions (terminators included) of the functions that need
//! no runtime, and the processor time of this thread per instruction, the least of N runs, which take
//! turns. toyjit: passes, selection, allocation, emission, linking, each level. Cranelift: from its IR,
//! built beforehand, to `finalize_definitions`, at `none` and `speed`, with both allocators, verifier
//! off. What both made is called with a few ints, and must agree.

mod translate;

use cranelift_frontend::FunctionBuilderContext;
use cranelift_module::Module as _;
use std::process::ExitCode;
use toyjit::bench::shapes::{SHAPES, named};
use toyjit::entity::Entity;
use toyjit::ir::{ENTRY, Form, FuncRef, Function, Module, Terminator, Type};
use toyjit::jit;
use toyjit::opt;
use toyjit::pipeline::{self, Options};
use toyjit::source::Sources;
use toyjit::ssa;
use toyjit::timing::Timings;
use toyjit::x64::Stub;
use toyjit_runtime::stack::Arguments;
use toyjit_runtime::{Config, Runtime};

const LEVELS: [u8; 3] = [0, 1, 2];
const OTHERS: [(&str, &str); 4] = [
    ("none", "backtracking"),
    ("none", "single_pass"),
    ("speed", "backtracking"),
    ("speed", "single_pass"),
];

fn main() -> ExitCode {
    let (mut runs, mut size) = (5, 2000);
    let mut programs = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = |default| args.next().and_then(|n| n.parse().ok()).unwrap_or(default);
        match arg.as_str() {
            "--runs" => runs = number(runs),
            "--size" => size = number(size),
            _ => programs.push(arg),
        }
    }
    if programs.is_empty() {
        let shapes = SHAPES.iter().map(|shape| shape.name).filter(|&name| name != "top_level");
        programs.extend(shapes.map(String::from));
    }
    println!("nanoseconds per IR instruction, the least of {runs} runs\n");
    println!("{:28} {:>8} {:^23} {:^47} {:^15}", "", "", "toyjit", "Cranelift", "speed over");
    print!("{:28} {:>8}", "program", "IR insts");
    for level in LEVELS {
        print!(" {:>7}", format!("-O{level}"));
    }
    for (level, allocator) in OTHERS {
        let allocator = if allocator == "backtracking" { "back" } else { "single" };
        print!(" {:>11}", format!("{level} {allocator}"));
    }
    println!(" {:>7} {:>7}", "-O1", "-O2");
    let mut ratios = [Vec::new(), Vec::new()];
    for program in &programs {
        let text = match named(program) {
            Some(shape) => Some((shape.make)(size)),
            None => std::fs::read_to_string(program).ok(),
        };
        let Some(subject) = text.and_then(|text| Subject::read(program, text)) else {
            eprintln!("{program}: no program with a function that needs no runtime");
            return ExitCode::FAILURE;
        };
        let (ours, theirs) = subject.measure(runs);
        let name = std::path::Path::new(program).file_stem().unwrap_or_default().to_string_lossy();
        print!("{name:28} {:>8}", subject.insts);
        for time in ours {
            print!(" {time:>7.0}");
        }
        for time in theirs {
            print!(" {time:>11.0}");
        }
        let over = [theirs[2] / ours[1], theirs[2] / ours[2]];
        println!(" {:>7.2} {:>7.2}", over[0], over[1]);
        ratios.iter_mut().zip(over).for_each(|(all, ratio)| all.push(ratio));
    }
    let mean = |all: &[f64]| (all.iter().map(|x| x.ln()).sum::<f64>() / all.len() as f64).exp();
    println!(
        "\ngeometric mean of Cranelift at `speed` over toyjit: -O1 {:.2}, -O2 {:.2}",
        mean(&ratios[0]),
        mean(&ratios[1])
    );
    ExitCode::SUCCESS
}

/// A module in SSA form whose functions both compilers take.
struct Subject {
    module: Module,
    functions: Vec<FuncRef>,
    insts: usize,
}

impl Subject {
    fn read(name: &str, text: String) -> Option<Subject> {
        let mut sources = Sources::new();
        sources.add(name, text)?;
        let (front, _) = pipeline::front(&sources, &mut Timings::new());
        let mut module = front?.lowered.module;
        for function in module.functions.values_mut() {
            ssa::construct(function, ssa::choose(function), ssa::Folding::On);
        }
        let mut taken: Vec<bool> =
            module.functions.values().map(translate::is_translated).collect();
        if let Some(script) = module.script.take() {
            taken[script.index()] = false;
        }
        let is_left_out = |taken: &[bool], function: FuncRef| {
            let function = &module.functions[function];
            translate::callees(function).any(|callee| !taken[callee.index()])
        };
        while let Some(out) =
            module.functions.keys().find(|&f| taken[f.index()] && is_left_out(&taken, f))
        {
            taken[out.index()] = false;
        }
        for function in module.functions.keys().filter(|f| !taken[f.index()]) {
            let old = &module.functions[function];
            let mut stub = Function::new(old.name.clone(), function, old.signature.clone());
            stub.form = Form::Ssa;
            for &ty in &old.signature.params {
                stub.add_param(ENTRY, ty);
            }
            module.functions[function] = stub;
        }
        module.main = None;
        let functions: Vec<FuncRef> =
            module.functions.keys().filter(|f| taken[f.index()]).collect();
        let insts = functions
            .iter()
            .flat_map(|&f| module.functions[f].blocks.values())
            .filter(|block| !block.insts.is_empty() || block.terminator != Terminator::Unreachable)
            .map(|block| block.insts.len() + 1)
            .sum();
        (!functions.is_empty()).then_some(Subject { module, functions, insts })
    }

    /// The least times per instruction.
    fn measure(&self, runs: usize) -> ([f64; 3], [f64; 4]) {
        let (mut ours, mut theirs) = ([f64::MAX; 3], [f64::MAX; 4]);
        for _ in 0..runs {
            let mut answers = Vec::new();
            for (level, best) in LEVELS.into_iter().zip(&mut ours) {
                let (time, answer) = self.toyjit(level);
                *best = best.min(time);
                answers.push(answer);
            }
            for (settings, best) in OTHERS.into_iter().zip(&mut theirs) {
                let (time, answer) = self.cranelift(settings);
                *best = best.min(time);
                answers.push(answer);
            }
            assert!(answers.iter().all(|a| *a == answers[0]), "the compilers disagree");
        }
        let per_inst = |time: f64| time / self.insts as f64;
        (ours.map(per_inst), theirs.map(per_inst))
    }

    fn toyjit(&self, level: u8) -> (f64, Vec<i64>) {
        let mut module = self.module.clone();
        // One thread, whose time is measured.
        let options = Options { level, verify: false, threads: Some(1), ..Options::default() };
        let passes = opt::Options { level, ..opt::Options::default() };
        let mut runtime = Runtime::new(Config::default()).expect("a runtime");
        let start = thread_time();
        opt::run(&mut module, &passes, &mut ());
        let code = pipeline::machine_code(&module, &options, &mut Timings::new()).expect("code");
        let loaded = module.load(&mut runtime).expect("room for the program");
        let stubs = Stub::ALL.map(Stub::code);
        let linked = jit::link(&module, &code, &stubs, &loaded, &mut runtime).expect("memory");
        let time = thread_time() - start;
        let answers = self.ask(|function, words| {
            let arguments = Arguments { words, ..Arguments::default() };
            linked.call(&mut runtime, function, &arguments).expect("no trap").word as i64
        });
        (time, answers)
    }

    fn cranelift(&self, (opt_level, allocator): (&str, &str)) -> (f64, Vec<i64>) {
        let mut jit = translate::jit(opt_level, allocator);
        let ids = translate::declare(&mut jit, &self.module, &self.functions);
        let mut memory = FunctionBuilderContext::new();
        let mut codes = Vec::new();
        for &function in &self.functions {
            let function = &self.module.functions[function];
            codes.push(translate::translate(&mut jit, &ids, function, &mut memory));
        }
        let id = |function: FuncRef| ids[function.index()].expect("a declared function");
        let mut context = jit.make_context();
        let start = thread_time();
        for (&function, code) in self.functions.iter().zip(codes) {
            context.func = code;
            jit.define_function(id(function), &mut context).expect("code");
            context.clear();
        }
        jit.finalize_definitions().expect("memory");
        let time = thread_time() - start;
        let answers = self.ask(|function, words| {
            let code = jit.get_finalized_function(id(function));
            // SAFETY: the function takes ints only and gives one; those too many are ignored.
            let code: extern "C" fn(u64, u64, u64, u64, u64, u64) -> i64 =
                unsafe { std::mem::transmute(code) };
            code(words[0], words[1], words[2], words[3], words[4], words[5])
        });
        // SAFETY: nothing of it is used from here on.
        unsafe { jit.free_memory() };
        (time, answers)
    }

    /// What the last functions from ints to int say of some arguments.
    fn ask(&self, mut call: impl FnMut(FuncRef, [u64; 6]) -> i64) -> Vec<i64> {
        let is_asked = |&&function: &&FuncRef| {
            let signature = &self.module.functions[function].signature;
            signature.result == Some(Type::Int)
                && signature.params.len() <= 6
                && signature.params.iter().all(|&ty| ty == Type::Int)
        };
        let asked = self.functions.iter().rev().filter(is_asked).take(3);
        asked.flat_map(|&f| [0, 1, 5].map(|x| call(f, [x, x + 2, 7, 1, x, 3]))).collect()
    }
}

/// The processor time of this thread, in nanoseconds.
fn thread_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is there to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
