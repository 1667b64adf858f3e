use super::{Rng, Shape, module};
use crate::ir::interp::Interpreter;
use crate::ir::{Form, FuncRef, Module, parse, print, verify};
use toyjit_runtime::{Config, Input, Output, Runtime, Stop, Trap};

fn each_module(shape: &Shape, seeds: std::ops::Range<u64>, mut check: impl FnMut(u64, &Module)) {
    for seed in seeds {
        for form in [Form::Ssa, Form::Variable] {
            check(seed, &module(&mut Rng::new(seed), &Shape { form, ..*shape }));
        }
    }
}

#[test]
fn modules_are_well_formed() {
    each_module(&Shape::default(), 0..400, |seed, module| {
        if let Err(errors) = verify::verify_module(module) {
            panic!("seed {seed}: {}\n{}", errors[0], print::module(module));
        }
    });
}

#[test]
fn their_text_comes_back() {
    each_module(&Shape::default(), 400..600, |seed, module| {
        let text = print::module(module);
        let parsed =
            parse::module(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_eq!(print::module(&parsed), text, "seed {seed}");
        assert!(verify::verify_module(&parsed).is_ok(), "seed {seed}");
    });
}

/// What a program prints, and how it ends.
fn outcome(module: &Module, gc_stress: bool) -> (Vec<u8>, Result<i32, Stop>) {
    let (output, captured) = Output::capture();
    let input = Input::bytes(Vec::new());
    let config = Config { output, input, gc_stress, ..Config::default() };
    let mut runtime = Runtime::new(config).unwrap();
    let result = Interpreter::new(module, &mut runtime).unwrap().with_limit(1 << 20).run_program();
    (captured.take(), result.map_err(|stopped| stopped.stop))
}

#[test]
fn they_end_without_a_fault_and_collections_change_nothing() {
    let mut returned = 0;
    each_module(&Shape::default(), 600..750, |seed, module| {
        let (printed, result) = outcome(module, false);
        assert!(
            !matches!(result, Err(Stop::Fault(_) | Stop::Trap(Trap::Time))),
            "seed {seed}: {result:?}\n{}",
            print::module(module)
        );
        returned += u32::from(result.is_ok());
        assert_eq!(outcome(module, true), (printed.clone(), result.clone()), "seed {seed}");
        let parsed = parse::module(&print::module(module)).unwrap();
        assert_eq!(outcome(&parsed, false), (printed, result), "seed {seed}");
    });
    assert!(returned > 60, "only {returned} of 300 programs return");
}

#[test]
fn a_broken_function_is_refused() {
    // Taking any instruction out whose result is used must not stay unnoticed.
    each_module(&Shape::default(), 0..100, |seed, module| {
        let mut module = module.clone();
        let function = &mut module.functions[FuncRef(1)];
        let mut used = vec![false; function.values.len()];
        for data in function.blocks.values() {
            data.terminator.for_each_use(|value| used[value.0 as usize] = true);
            for &inst in &data.insts {
                function.args(inst).iter().for_each(|value| used[value.0 as usize] = true);
            }
        }
        for block in function.blocks.keys().collect::<Vec<_>>() {
            let insts = &function.blocks[block].insts;
            let victim = insts.iter().position(|&inst| {
                let result = function.insts[inst].result;
                result.is_some_and(|v| used[v.0 as usize] && function.def_inst(v) == Some(inst))
            });
            if let Some(victim) = victim {
                function.blocks[block].insts.remove(victim);
                assert!(verify::verify_module(&module).is_err(), "seed {seed}");
                return;
            }
        }
    });
}

#[test]
fn damaged_text_never_panics() {
    arbtest::arbtest(|u| {
        let form = if u.arbitrary()? { Form::Ssa } else { Form::Variable };
        let shape = Shape { form, functions: 1, blocks: 5, insts: 4, fuel: 10 };
        let text = print::module(&module(&mut Rng::new(u.arbitrary()?), &shape));
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n', '(']).collect();
        for _ in 0..u.int_in_range(1..=4)? {
            let (from, to) = (u.choose_index(words.len())?, u.choose_index(words.len())?);
            match u.int_in_range(0..=3)? {
                0 => words.swap(from, to),
                1 => words[to] = words[from],
                2 => words.insert(to, words[from]),
                _ => _ = words.remove(to),
            }
        }
        if let Ok(module) = parse::module(&words.concat()) {
            let text = print::module(&module);
            assert_eq!(print::module(&parse::module(&text).unwrap()), text);
            let _ = verify::verify_module(&module);
        }
        Ok(())
    });
}
