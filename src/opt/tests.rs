use super::*;
use crate::analysis::graph::Graph;
use crate::ir::generate::{self, Rng, Shape};
use crate::ir::interp::Interpreter;
use crate::ir::verify::verify_module;
use crate::ir::{Form, Signature, parse};
use crate::ssa::shapes::SHAPES;
use crate::ssa::{Construction, Folding, construct};
use toyjit_runtime::{Config, Input, Output, Runtime, Stop, Trap};

type Outcome = (Vec<u8>, Result<i32, Stop>);

/// What a program prints, and how it ends.
fn outcome(module: &Module) -> Outcome {
    let (output, captured) = Output::capture();
    let input = Input::bytes(Vec::new());
    let config = Config { output, input, ..Config::default() };
    let mut runtime = Runtime::new(config).unwrap();
    let result = Interpreter::new(module, &mut runtime).unwrap().with_limit(1 << 20).run_program();
    (captured.take(), result.map_err(|stopped| stopped.stop))
}

#[track_caller]
fn expect(expected: &Outcome, before: &str, module: &Module, what: &str) {
    if let Err(errors) = verify_module(module) {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!(
            "{what}:\n{}\nbefore:\n{before}\nafter:\n{}",
            errors.join("\n"),
            print::module(module)
        );
    }
    let actual = outcome(module);
    if actual != *expected {
        let shown = |(printed, result): &Outcome| {
            format!("{result:?} {}", String::from_utf8_lossy(printed))
        };
        panic!(
            "{what}: {} became {}\nbefore:\n{before}\nafter:\n{}",
            shown(expected),
            shown(&actual),
            print::module(module)
        );
    }
}

/// Applies `change` to each function of a module.
fn each_function(module: &mut Module, mut change: impl FnMut(&Module, FuncRef, &mut Function)) {
    for id in module.functions.keys() {
        let empty = Function::new("", id, Signature::default());
        let mut function = std::mem::replace(&mut module.functions[id], empty);
        change(module, id, &mut function);
        module.functions[id] = function;
    }
}

/// Constructs SSA form, then runs passes, in their order or a random one; after each step the
/// program must be well formed and mean what it meant.
fn keeps_its_meaning(seed: u64, mut rng: Rng, mut module: Module) {
    let expected = outcome(&module);
    if matches!(expected.1, Err(Stop::Trap(Trap::Time))) {
        return;
    }
    let folding = if rng.percent(50) { Folding::On } else { Folding::Off };
    let before = print::module(&module);
    each_function(&mut module, |_, _, f| construct(f, Construction::Braun, folding));
    expect(&expected, &before, &module, &format!("seed {seed}: ssa"));
    summaries::find(&mut module);
    let mut fuel = Fuel::default();
    let in_order = rng.percent(50);
    for pass in PASSES {
        let pass = if in_order { pass } else { &PASSES[rng.below(PASSES.len())] };
        let before = print::module(&module);
        each_function(&mut module, |module, id, f| {
            let remarks = &mut Remarks::default();
            // As `run` does: only the last pass knows of switches.
            ir_switch::open(f);
            (pass.run)(
                f,
                &mut Context { module, id, fuel: &mut fuel, remarks, graph: &mut Graph::default() },
            );
        });
        expect(&expected, &before, &module, &format!("seed {seed}: {}", pass.name));
    }
}

#[test]
fn large_functions_are_no_problem() {
    for (name, shape) in SHAPES {
        let mut f = Function::new("f", FuncRef(0), Signature::default());
        shape(&mut f, 10_000);
        construct(&mut f, Construction::Braun, Folding::On);
        let (mut fuel, module) = (Fuel::default(), Module::default());
        for pass in PASSES {
            let (id, remarks) = (FuncRef(0), &mut Remarks::default());
            (pass.run)(
                &mut f,
                &mut Context {
                    module: &module,
                    id,
                    fuel: &mut fuel,
                    remarks,
                    graph: &mut Graph::default(),
                },
            );
            assert!(verify(&module, &f).is_ok(), "{name}: {}", pass.name);
        }
    }
}

#[test]
fn passes_come_after_what_they_name() {
    for (place, pass) in PASSES.iter().enumerate() {
        for (before, why) in pass.after {
            let earlier = PASSES[..place].iter().any(|pass| pass.name == *before);
            assert!(earlier, "{} has to come after {before}: {why}", pass.name);
        }
    }
}

#[test]
fn fuel_stops_the_rewriting_at_any_point() {
    for seed in 0..20 {
        let module = generate::module(&mut Rng::new(seed), &Shape::default());
        let expected = outcome(&module);
        for fuel in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55] {
            let mut changed = module.clone();
            let options = Options { fuel: Some(fuel), ..Options::at_level(3) };
            run(&mut changed, &options, &mut ());
            let what = format!("seed {seed}, fuel {fuel}");
            expect(&expected, &print::module(&module), &changed, &what);
        }
    }
}

/// The seeds to try: `SEED` and `SEEDS` in the environment give others.
fn seeds(count: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let from = number("SEED").unwrap_or(0);
    from..from + number("SEEDS").unwrap_or(count)
}

#[test]
fn random_programs_keep_their_meaning() {
    for seed in seeds(300) {
        let mut rng = Rng::new(seed);
        let form = if rng.percent(70) { Form::Variable } else { Form::Ssa };
        let module = generate::module(&mut rng, &Shape { form, ..Shape::default() });
        keeps_its_meaning(seed, rng, module);
    }
}

#[test]
fn random_loops_over_arrays_keep_their_meaning() {
    for seed in seeds(300) {
        let mut rng = Rng::new(seed);
        let text = loops::program(&mut rng);
        let module = parse::module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        keeps_its_meaning(seed, rng, module);
    }
}

/// Random structured programs about what ranges and bounds are about: loops that count up and down
/// with steps and limits near the ends of the integers, and indices made from their counters.
mod loops {
    use crate::ir::generate::Rng;
    use std::fmt::Write;

    const VARIABLES: [&str; 5] = ["x", "y", "z", "n", "s"];
    const CONSTANTS: [i64; 16] =
        [0, 0, 1, 1, 2, 3, 4, 7, 8, 255, -1, -2, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1];
    const OPS: [&str; 14] = [
        "iadd", "iadd", "iadd", "isub", "isub", "imul", "sar", "shr", "shl", "iand", "imin",
        "imax", "ior", "ixor",
    ];
    const TESTS: [&str; 7] = ["ilt", "ilt", "ile", "igt", "ige", "ieq", "ine"];

    pub(super) fn program(rng: &mut Rng) -> String {
        let mut text = Text {
            rng,
            out: String::new(),
            values: 10,
            blocks: 0,
            exits: Vec::new(),
            counters: Vec::new(),
        };
        text.out.push_str("class0: int\nglobal $fuel: int\nscript = @top\n\nfn @top() {\nb0:\n");
        text.out.push_str("  store_global $fuel, 60\n");
        let args = [0, 1, 3, 5, -1, i64::MAX, i64::MIN];
        for i in 0..4 {
            let (a, b) = (text.rng.pick(&args), text.rng.pick(&args));
            let _ = writeln!(text.out, "  v{i}: int = call @f({a}, {b})\n  rt print_int(v{i})");
            text.out.push_str("  rt print_newline()\n");
        }
        text.out.push_str("  ret\n}\n\nfn @f(int, int) -> int {\n");
        for variable in VARIABLES {
            let _ = writeln!(text.out, "  var {variable}: int");
        }
        let size = text.rng.below(6);
        text.out.push_str("  var a: ref\nb0(v0: int, v1: int):\n  x = copy v0\n  y = copy v1\n");
        text.out.push_str("  z = copy 0\n  s = copy 0\n");
        let _ = writeln!(text.out, "  a = rt array_fill_int(0, 5, {size})");
        text.out.push_str("  n = array_len class0, a\n");
        text.block(3);
        text.out.push_str("  ret s\n}\n");
        text.out
    }

    struct Text<'a> {
        rng: &'a mut Rng,
        out: String,
        values: u32,
        blocks: u32,
        exits: Vec<u32>,
        counters: Vec<&'static str>,
    }

    impl Text<'_> {
        fn operand(&mut self) -> String {
            if self.rng.percent(60) {
                self.rng.pick(&VARIABLES).to_owned()
            } else {
                self.rng.pick(&CONSTANTS).to_string()
            }
        }

        fn value(&mut self) -> u32 {
            self.values += 1;
            self.values
        }

        fn new_block(&mut self) -> u32 {
            self.blocks += 1;
            self.blocks
        }

        fn line(&mut self, line: &str) {
            let _ = writeln!(self.out, "  {line}");
        }

        fn label(&mut self, block: u32) {
            let _ = writeln!(self.out, "b{block}:");
        }

        fn test(&mut self, yes: u32, no: u32) {
            let (op, a, b) = (self.rng.pick(&TESTS), self.operand(), self.operand());
            self.line(&format!("br {op} {a}, {b} -> b{yes}, b{no}"));
        }

        fn block(&mut self, depth: u32) {
            for _ in 0..1 + self.rng.below(4) {
                match self.rng.below(if depth == 0 { 6 } else { 10 }) {
                    0..=1 => self.assign(),
                    2..=4 => self.access(),
                    5 => self.leave(),
                    6 => self.branch(depth - 1),
                    7 => self.count(depth - 1),
                    _ => self.repeat(depth - 1),
                }
            }
        }

        fn assign(&mut self) {
            let to = self.rng.pick(&["x", "y", "z"]);
            let (op, a, b) = (self.rng.pick(&OPS), self.operand(), self.operand());
            self.line(&format!("{to} = {op} {a}, {b}"));
        }

        /// `s = s * 3 + a[index]`
        fn access(&mut self) {
            let mut index = self.rng.pick(&["x", "y", "z"]).to_owned();
            if let Some(counter) = self.counters.last().filter(|_| self.rng.percent(80)) {
                index = (*counter).to_owned();
            }
            if self.rng.percent(40) {
                let to = self.value();
                let (op, by) = match self.rng.percent(60) {
                    true => ("iadd", self.rng.pick(&["1", "-1", "2", "x", "y", "z"]).to_owned()),
                    false => (self.rng.pick(&OPS), self.operand()),
                };
                self.line(&format!("v{to}: int = {op} {index}, {by}"));
                index = format!("v{to}");
            }
            let mut len = "n".to_owned();
            if self.rng.percent(30) {
                len = format!("v{}", self.value());
                self.line(&format!("{len} = array_len class0, a"));
            }
            let skip = self.new_block();
            let guards = self.rng.below(3);
            for (op, limit) in [("ige", "0"), ("ilt", &len[..])].into_iter().take(guards) {
                let next = self.new_block();
                let op = if self.rng.percent(10) { self.rng.pick(&TESTS) } else { op };
                self.line(&format!("br {op} {index}, {limit} -> b{next}, b{skip}"));
                self.label(next);
            }
            let [checked, data, item, sum] = [(); 4].map(|()| self.value());
            self.line(&format!("v{checked} = check_bounds {index}, {len}"));
            self.line(&format!("v{data} = array_data class0, a"));
            self.line(&format!("v{item}: int = load_elem class0, v{data}, v{checked}"));
            self.line(&format!("v{sum} = imul s, 3"));
            self.line(&format!("s = iadd v{sum}, v{item}"));
            if self.rng.percent(20) {
                self.line("rt array_push_int(a, 6)");
            }
            self.line(&format!("jump b{skip}"));
            self.label(skip);
        }

        /// A variable plus or minus something small.
        fn near(&mut self, variable: &str) -> String {
            let (to, by) = (self.value(), self.rng.pick(&["1", "-1", "-2", "x"]));
            self.line(&format!("v{to}: int = iadd {variable}, {by}"));
            format!("v{to}")
        }

        fn leave(&mut self) {
            let Some(&exit) = self.exits.last() else { return };
            let next = self.new_block();
            self.test(exit, next);
            self.label(next);
        }

        fn branch(&mut self, depth: u32) {
            let [yes, no, join] = [(); 3].map(|()| self.new_block());
            self.test(yes, no);
            self.label(yes);
            self.block(depth);
            self.line(&format!("jump b{join}"));
            self.label(no);
            if self.rng.percent(50) {
                self.block(depth);
            }
            self.line(&format!("jump b{join}"));
            self.label(join);
        }

        fn take_fuel(&mut self) {
            let [left, checked, less] = [(); 3].map(|()| self.value());
            self.line(&format!("v{left}: int = load_global $fuel"));
            self.line(&format!("v{checked} = check_div v{left}"));
            self.line(&format!("v{less} = iadd v{checked}, -1"));
            self.line(&format!("store_global $fuel, v{less}"));
        }

        fn repeat(&mut self, depth: u32) {
            let [head, body, exit] = [(); 3].map(|()| self.new_block());
            self.line(&format!("jump b{head}"));
            self.label(head);
            self.take_fuel();
            self.test(body, exit);
            self.label(body);
            self.exits.push(exit);
            self.block(depth);
            self.exits.pop();
            self.line(&format!("jump b{head}"));
            self.label(exit);
        }

        /// `for counter in from..limit`, or down.
        fn count(&mut self, depth: u32) {
            let [head, body, exit] = [(); 3].map(|()| self.new_block());
            let counter = self.rng.pick(&["x", "y", "z"]);
            let (mut from, mut to) = (self.operand(), self.operand());
            let up = self.rng.percent(60);
            if self.rng.percent(70) {
                let len = if self.rng.percent(50) { "n".to_owned() } else { self.near("n") };
                (from, to) = if up { ("0".to_owned(), len) } else { (len, "0".to_owned()) };
            }
            self.line(&format!("{counter} = iadd {from}, {}", if up { 0 } else { -1 }));
            self.line(&format!("jump b{head}"));
            self.label(head);
            self.take_fuel();
            let op =
                if up { self.rng.pick(&["ilt", "ile"]) } else { self.rng.pick(&["ige", "igt"]) };
            self.line(&format!("br {op} {counter}, {to} -> b{body}, b{exit}"));
            self.label(body);
            self.exits.push(exit);
            self.counters.push(counter);
            self.access();
            self.block(depth);
            self.counters.pop();
            self.exits.pop();
            let step = if up { self.rng.pick(&[1, 1, 2]) } else { self.rng.pick(&[-1, -1, -2]) };
            self.line(&format!("{counter} = iadd {counter}, {step}"));
            self.line(&format!("jump b{head}"));
            self.label(exit);
        }
    }
}
