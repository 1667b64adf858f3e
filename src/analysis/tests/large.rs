//! The problems on large functions: by counted work, and by time.

use crate::analysis::available::Available;
use crate::analysis::busy::Busy;
use crate::analysis::constants::Constants;
use crate::analysis::dataflow::solve;
use crate::analysis::expressions::{Expression, Expressions};
use crate::analysis::frontier::Frontier;
use crate::analysis::liveness::Liveness;
use crate::analysis::nesting::Nesting;
use crate::analysis::reaching::{Definition, Definitions, Reaching};
use crate::analysis::sparse::{SLICE, Sparse};
use crate::analysis::taint::Taint;
use crate::analysis::variables::Mentions;
use crate::entity::Entity;
use crate::ir::{
    Block, Cfg, Dominators, ENTRY, Edge, FuncRef, Function, Loc, Module, Op, Signature, Terminator,
    Type, Variable,
};
use crate::source::Span;
use std::time::Instant;

/// A function of so many blocks: arms and loops over eight variables that are assigned again and
/// again, and variables that live for a few blocks, at most `near` of them.
pub(crate) fn large(blocks: usize, near: usize) -> Function {
    let most = near;
    let mut f = Function::new("large", FuncRef(0), Signature::default());
    let shared: Vec<Variable> =
        (0..8).map(|i| f.add_variable(format!("x{i}"), Type::Int, Span::default())).collect();
    let zero = f.int(0);
    let first = f.add_param(ENTRY, Type::Int);
    for &variable in &shared {
        f.append_assign(ENTRY, variable, Op::Copy, &[first], 0, Loc(0));
    }
    (1..blocks).for_each(|_| _ = f.add_block());
    let value = |f: &Function, at: usize| f.variables[shared[at % 8]].value;
    let mut near = Vec::new();
    let mut latest = zero;
    for number in 0..blocks {
        let block = Block::new(number);
        // Not in an arm, where it would leave alive what was assigned before.
        if matches!(number % 6, 0 | 4) {
            let variable = match near.get(number / 3 % most) {
                Some(&again) => again,
                None => f.add_variable(format!("n{number}"), Type::Int, Span::default()),
            };
            if near.len() < most {
                near.push(variable);
            }
            latest = f.variables[variable].value;
            let args = [value(&f, number), value(&f, number + 1)];
            f.append_assign(block, variable, Op::IAdd, &args, 0, Loc(0));
        }
        let args = [latest, value(&f, number * 5)];
        f.append_assign(block, shared[number / 2 % 8], Op::IXor, &args, 0, Loc(0));
        let to = |target: usize| Edge::to(Block::new(target.clamp(1, blocks - 1)));
        let args = [value(&f, number), value(&f, number + 3)];
        let branch = |edges| Terminator::Branch { op: Op::ILt, args, edges };
        f.blocks[block].terminator = match number % 6 {
            _ if number + 1 == blocks => Terminator::Return(None),
            0 => branch([to(number + 1), to(number + 2)]),
            1 => Terminator::Jump(to(number + 3)),
            5 if number > 6 => branch([to(number - 5), to(number + 1)]),
            _ => Terminator::Jump(to(number + 1)),
        };
    }
    f
}

/// Solves a problem slice by slice on a function of so many blocks; how many points were visited.
/// Definitions that nothing kills reach the end, and so the answer itself is quadratic; they are
/// given a function without such.
fn work_of(problem: &str, blocks: usize, slice: usize) -> usize {
    let f = &large(blocks, if problem == "reaching" { 64 } else { blocks });
    let cfg = Cfg::compute(f);
    let (mut may, mut must) = (Sparse::new(f), Sparse::new(f));
    let mentions = Mentions::compute(f, &cfg);
    let variables: Vec<Variable> = f.variables.keys().collect();
    match problem {
        "reaching" => {
            let definitions = Definitions::compute(f, &cfg);
            let all: Vec<Definition> = definitions.keys().collect();
            for some in all.chunks(slice) {
                let problem = Reaching::new(&definitions, some);
                may.solve(f, &cfg, &problem, problem.seeds());
            }
        }
        "live" => {
            for some in variables.chunks(slice) {
                let seeds = some.iter().flat_map(|&variable| mentions.exposed(variable)).copied();
                may.solve(f, &cfg, &Liveness::new(some), seeds);
            }
        }
        "available" | "busy" => {
            let expressions = Expressions::compute(f, &cfg);
            let all: Vec<Expression> = expressions.keys().collect();
            for some in all.chunks(slice) {
                if problem == "busy" {
                    let problem = Busy::new(&expressions, &cfg, some);
                    must.solve(f, &cfg, &problem, problem.seeds());
                } else {
                    let problem = Available::new(&expressions, some);
                    must.solve(f, &cfg, &problem, problem.seeds());
                }
            }
        }
        _ => unreachable!("the test names those above"),
    }
    may.work + must.work
}

#[test]
fn work_grows_as_the_function_does() {
    for problem in ["reaching", "live", "available", "busy"] {
        let works = [6_000, 12_000, 24_000].map(|blocks| work_of(problem, blocks, 256));
        for pair in works.windows(2) {
            let ratio = pair[1] as f64 / pair[0] as f64;
            assert!(ratio <= 2.6, "{problem}: {works:?}");
        }
    }
}

/// Times everything on large functions. Run with `--ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn measure_large_functions() {
    type Work = Box<dyn Fn(usize)>;
    let module = Module::default();
    let module: &'static Module = Box::leak(Box::new(module));
    let mut rows: Vec<(String, Work)> = Vec::new();
    for problem in ["reaching", "live", "available", "busy"] {
        rows.push((problem.into(), Box::new(move |blocks| _ = work_of(problem, blocks, SLICE))));
    }
    rows.push((
        "constants".into(),
        Box::new(move |blocks| {
            let f = &large(blocks, blocks);
            let cfg = Cfg::compute(f);
            solve(f, &cfg, &Constants::new(module, f, &cfg));
        }),
    ));
    rows.push((
        "taint".into(),
        Box::new(move |blocks| {
            let f = &large(blocks, blocks);
            let cfg = Cfg::compute(f);
            solve(f, &cfg, &Taint::new(module, f, &cfg));
        }),
    ));
    rows.push((
        "dominators, frontiers, loops".into(),
        Box::new(|blocks| {
            let f = &large(blocks, blocks);
            let cfg = Cfg::compute(f);
            let dominators = Dominators::compute(&cfg);
            Frontier::compute(&cfg, &dominators);
            Nesting::compute(f, &cfg);
        }),
    ));
    for (name, work) in rows {
        let times = [25_000, 50_000, 100_000].map(|blocks| {
            let start = Instant::now();
            work(blocks);
            start.elapsed().as_secs_f64() * 1e3
        });
        println!("{name:<30} {times:8.1?} ms");
    }
}
