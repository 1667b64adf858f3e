//! The problems against a naive solver, against the meaning of programs, and by counted work.

use super::assignment::Assigned;
use super::available::Available;
use super::bits::{Bits, Meet};
use super::board::Board;
use super::busy::Busy;
use super::constants::{Constants, Known, constant};
use super::dataflow::{Direction, GenKill, Problem, solve, solve_by_rounds};
use super::dominance::Dominance;
use super::expressions::{Expression, Expressions};
use super::facts::Point;
use super::liveness::Liveness;
use super::problems::named;
use super::reaching::{Definition, Definitions, Reaching};
use super::sparse::Sparse;
use super::variables::{Mentions, assigned_variable, variable_of};
use crate::entity::Entity;
use crate::ir::generate::{self, Rng, Shape};
use crate::ir::interp::Interpreter;
use crate::ir::print;
use crate::ir::{
    Block, Cfg, Dominators, ENTRY, Edge, Form, FuncRef, Function, Loc, Module, Op, Signature,
    Terminator, Type, Variable, parse,
};
use crate::source::Span;
use toyjit_runtime::{Config, Input, Output, Runtime, Stop};

/// `DATAFLOW_SEEDS` makes the search longer.
fn each_module(seeds: u64, mut check: impl FnMut(u64, &Module)) {
    let more = std::env::var("DATAFLOW_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    for seed in 0..more.unwrap_or(seeds) {
        let shape = Shape { form: Form::Variable, ..Shape::default() };
        check(seed, &generate::module(&mut Rng::new(seed), &shape));
    }
}

/// What a point does to a fact: adds it, takes it away, nothing.
type Effect<'a> = &'a dyn Fn(Point, usize) -> Option<bool>;

/// What holds where a problem comes into each block, by the equations alone: one fact at a time, all
/// blocks in the order of their numbers, until nothing changes.
fn naive<P: GenKill>(f: &Function, cfg: &Cfg, facts: usize, effect: Effect<'_>) -> Vec<Vec<bool>> {
    let forward = <P as Problem>::DIRECTION == Direction::Forward;
    let must = P::Meet::TOP;
    let mut states = vec![vec![must; facts]; f.blocks.len()];
    let reachable: Vec<Block> = f.blocks.keys().filter(|&block| cfg.is_reachable(block)).collect();
    for fact in 0..facts {
        let through = |block: Block, mut holds: bool| {
            let points = f.blocks[block].insts.len() as u32 + 1;
            for i in 0..points {
                let index = if forward { i } else { points - 1 - i };
                holds = effect(Point { block, index }, fact).unwrap_or(holds);
            }
            holds
        };
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &reachable {
                let from: Vec<Block> = match forward {
                    true => cfg.preds(block).collect(),
                    false => f.succs(block).collect(),
                };
                let mut holds = must && !from.is_empty();
                for from in from {
                    let there = through(from, states[from.index()][fact]);
                    holds = if must { holds && there } else { holds || there };
                }
                changed |= states[block.index()][fact] != holds;
                states[block.index()][fact] = holds;
            }
        }
    }
    states
}

/// Compares the worklist, the rounds and the naive solver; and the sparse solver on slices.
fn compare<P: GenKill>(f: &Function, cfg: &Cfg, problem: &P, effect: Effect<'_>) {
    let facts = GenKill::len(problem, f);
    let expected = naive::<P>(f, cfg, facts, effect);
    let solution = solve(f, cfg, problem);
    let (by_rounds, _) = solve_by_rounds(f, cfg, problem);
    for &block in cfg.rpo() {
        let of =
            |bits: &Bits<P::Meet>| (0..facts).map(|bit| bits.contains(bit)).collect::<Vec<_>>();
        assert_eq!(of(solution.input(block)), expected[block.index()], "{block}");
        assert_eq!(of(by_rounds.input(block)), expected[block.index()], "{block}");
    }
}

fn compare_sparse<P: GenKill>(
    f: &Function,
    cfg: &Cfg,
    problem: &P,
    seeds: impl IntoIterator<Item = Block>,
    solver: &mut Sparse<P::Meet>,
) {
    let solution = solve(f, cfg, problem);
    solver.solve(f, cfg, problem, seeds);
    let empty = Bits::empty(GenKill::len(problem, f));
    // Where no path leads to an exit, everything is on all of them; the sparse solver says nothing.
    let is_endless = <P as Problem>::DIRECTION == Direction::Backward && !all_end(f, cfg);
    for &block in cfg.rpo() {
        let found = solver.input(block).unwrap_or(&empty);
        if P::Meet::TOP && is_endless {
            assert!(found.iter().all(|bit| solution.input(block).contains(bit)), "{block}");
        } else {
            assert!(found == solution.input(block), "{block}");
        }
    }
}

/// Whether every block leads to an exit.
fn all_end(f: &Function, cfg: &Cfg) -> bool {
    let exits = cfg.rpo().iter().filter(|&&block| f.succs(block).next().is_none());
    let mut open: Vec<Block> = exits.copied().collect();
    let mut seen = vec![false; f.blocks.len()];
    let mut count = 0;
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut seen[block.index()], true) {
            count += 1;
            open.extend(cfg.preds(block));
        }
    }
    count == cfg.rpo().len()
}

const SLICE: usize = 5;

#[test]
fn solutions_are_those_of_a_naive_solver() {
    each_module(120, |_, module| {
        for f in module.functions.values() {
            let cfg = Cfg::compute(f);
            let mentions = Mentions::compute(f, &cfg);
            let variables: Vec<Variable> = f.variables.keys().collect();
            let reads = |at: Point, variable: Variable| {
                let mut found = false;
                let mut see = |value| found |= variable_of(f, value) == Some(variable);
                match at.inst(f) {
                    Some(inst) => f.args(inst).iter().for_each(|&arg| see(arg)),
                    None => f.blocks[at.block].terminator.for_each_use(see),
                }
                found
            };
            let assigns = |at: Point, variable: Variable| {
                at.inst(f).and_then(|inst| assigned_variable(f, inst)) == Some(variable)
            };
            compare(f, &cfg, &Liveness::new(&variables), &|at, fact| {
                let variable = variables[fact];
                reads(at, variable).then_some(true).or(assigns(at, variable).then_some(false))
            });
            compare(f, &cfg, &Assigned::new(&variables, &[]), &|at, fact| {
                assigns(at, variables[fact]).then_some(true)
            });
            let (mut may, mut must) = (Sparse::new(f), Sparse::new(f));
            for some in variables.chunks(SLICE) {
                let exposed = some.iter().flat_map(|&variable| mentions.exposed(variable)).copied();
                compare_sparse(f, &cfg, &Liveness::new(some), exposed, &mut may);
                let assigned =
                    some.iter().flat_map(|&variable| mentions.assigned(variable)).copied();
                compare_sparse(f, &cfg, &Assigned::new(some, &[]), assigned, &mut must);
            }

            let definitions = Definitions::compute(f, &cfg);
            let all: Vec<Definition> = definitions.keys().collect();
            let variable_at = |at: Point| at.inst(f).and_then(|inst| assigned_variable(f, inst));
            compare(f, &cfg, &Reaching::new(&definitions, &all), &|at, fact| {
                let inst = at.inst(f)?;
                if definitions.of_inst(inst) == Some(all[fact]) {
                    return Some(true);
                }
                let variable = variable_at(at)?;
                definitions.of_variable(variable).contains(&all[fact]).then_some(false)
            });
            for some in all.chunks(SLICE) {
                let problem = Reaching::new(&definitions, some);
                compare_sparse(f, &cfg, &problem, problem.seeds(), &mut may);
            }

            let expressions = Expressions::compute(f, &cfg);
            let all: Vec<Expression> = expressions.keys().collect();
            let killed = |at: Point, fact: usize| {
                let result = at.inst(f).and_then(|inst| f.insts[inst].result);
                result.is_some_and(|value| expressions.killed_by(value).contains(&all[fact]))
            };
            let computed = |at: Point| at.inst(f).and_then(|inst| expressions.of_inst(inst));
            compare(f, &cfg, &Available::new(&expressions, &all), &|at, fact| match (
                killed(at, fact),
                computed(at) == Some(all[fact]),
            ) {
                (true, _) => Some(false),
                (_, computed) => computed.then_some(true),
            });
            for some in all.chunks(SLICE) {
                let problem = Available::new(&expressions, some);
                compare_sparse(f, &cfg, &problem, problem.seeds(), &mut must);
                let problem = Busy::new(&expressions, &cfg, some);
                compare_sparse(f, &cfg, &problem, problem.seeds(), &mut must);
            }
        }
    });
}

#[test]
fn dominators_are_those_of_the_tree() {
    each_module(200, |seed, module| {
        for f in module.functions.values() {
            let cfg = Cfg::compute(f);
            let tree = Dominators::compute(&cfg);
            let solution = solve(f, &cfg, &Dominance);
            for &block in cfg.rpo() {
                for other in f.blocks.keys() {
                    let strictly = tree.strictly_dominates(other, block);
                    assert_eq!(solution.input(block).contains(other.index()), strictly, "{seed}");
                }
            }
        }
    });
}

fn outcome(module: &Module) -> (Vec<u8>, Result<i32, Stop>) {
    let (output, captured) = Output::capture();
    let config = Config { output, input: Input::bytes(Vec::new()), ..Config::default() };
    let mut runtime = Runtime::new(config).expect("a runtime");
    let interpreter = Interpreter::new(module, &mut runtime).expect("a program that fits");
    let result = interpreter.with_limit(1 << 20).run_program();
    (captured.take(), result.map_err(|stopped| stopped.stop))
}

/// Rewrites each function by what `rewrite` finds, and expects the program to do the same.
fn rewritten(seeds: u64, rewrite: impl Fn(&Module, &Function, &Cfg, &mut Function) -> usize) {
    let mut count = 0;
    each_module(seeds, |seed, module| {
        let mut changed = module.clone();
        for (id, f) in module.functions.iter() {
            count += rewrite(module, f, &Cfg::compute(f), &mut changed.functions[id]);
        }
        let text = || print::module(&changed);
        assert_eq!(outcome(&changed), outcome(module), "seed {seed}\n{}", text());
    });
    assert!(count > seeds as usize / 4, "only {count} rewrites");
}

#[test]
fn what_is_constant_may_be_replaced() {
    rewritten(200, |module, f, cfg, changed| {
        let problem = Constants::new(module, f, cfg);
        let solution = solve(f, cfg, &problem);
        let mut count = 0;
        for &block in cfg.rpo() {
            solution.replay(f, &problem, block, |at, known| {
                let (Some(inst), Known::Constants(known)) = (at.inst(f), known) else { return };
                for (i, &arg) in f.args(inst).iter().enumerate() {
                    if let Some(found) = constant(f, known, arg)
                        && f.as_const(arg).is_none()
                    {
                        changed.args_mut(inst)[i] = changed.constant(found);
                        count += 1;
                    }
                }
            });
        }
        count
    });
}

#[test]
fn what_is_available_need_not_be_computed() {
    rewritten(200, |_, f, cfg, changed| {
        let expressions = Expressions::compute(f, cfg);
        let all: Vec<Expression> = expressions.keys().collect();
        let problem = Available::new(&expressions, &all);
        let solution = solve(f, cfg, &problem);
        // A variable for each expression keeps what was computed last.
        let mut kept = vec![None; all.len()];
        let mut count = 0;
        for &block in cfg.rpo() {
            let mut insts = Vec::new();
            solution.replay(f, &problem, block, |at, available| {
                let Some(inst) = at.inst(f) else { return };
                insts.push(inst);
                let Some((expression, result)) =
                    expressions.of_inst(inst).zip(f.insts[inst].result)
                else {
                    return;
                };
                let ty = f.values[result].ty;
                let variable = *kept[expression.index()].get_or_insert_with(|| {
                    changed.add_variable(format!("kept{expression}"), ty, Span::default())
                });
                if available.contains(expression.index()) {
                    let args = changed.pool.list(&[changed.variables[variable].value]);
                    let data = &mut changed.insts[inst];
                    (data.op, data.args, data.imm) = (Op::Copy, args, 0);
                    count += 1;
                } else {
                    // `append_assign` puts it at the end of the block, whose list is replaced below.
                    insts.push(changed.append_assign(
                        block,
                        variable,
                        Op::Copy,
                        &[result],
                        0,
                        Loc(0),
                    ));
                }
            });
            changed.blocks[block].insts = insts;
        }
        count
    });
}

#[test]
fn what_is_very_busy_may_be_computed_before() {
    rewritten(200, |_, f, cfg, changed| {
        let expressions = Expressions::compute(f, cfg);
        let all: Vec<Expression> = expressions.keys().collect();
        let problem = Busy::new(&expressions, cfg, &all);
        let solution = solve(f, cfg, &problem);
        let mut example = vec![None; all.len()];
        for &block in cfg.rpo() {
            for &inst in &f.blocks[block].insts {
                if let Some(expression) = expressions.of_inst(inst) {
                    example[expression.index()] = Some(inst);
                }
            }
        }
        let mut count = 0;
        for &block in cfg.rpo() {
            let mut state = solution.at(f, &problem, Point { block, index: 0 });
            GenKill::transfer(&problem, f, Point { block, index: 0 }, &mut state);
            let mut early = Vec::new();
            for &expression in expressions.trapping() {
                let Some(inst) = example[expression.index()] else { continue };
                let data = f.insts[inst];
                if state.contains(expression.index()) && !expressions.is_nested(expression) {
                    let (op, args) = (data.op, f.args(inst).to_vec());
                    early.push(changed.make_inst(op, &args, data.imm, None, data.loc));
                    count += 1;
                }
            }
            // Several early checks in one place may trap in another order than before.
            early.truncate(1);
            changed.blocks[block].insts.splice(0..0, early);
        }
        count
    });
}

const WORKED_EXAMPLE: &str = "fn @example(int) -> int {
  var x: int, y: int
b0(v0: int):
  x = copy v0
  y = iadd x, 1
  br ilt v0, 10 -> b1, b2
b1:
  x = imul x, 2
  jump b3
b2:
  x = isub v0, 1
  jump b3
b3:
  v9: int = iadd x, y
  ret v9
}";

fn board(problem: &str, text: &str) -> Board {
    let module = parse::module(text).unwrap_or_else(|error| panic!("{error}"));
    let f = &module.functions[FuncRef(0)];
    (named(problem).expect("a row").draw)(&module, f, &Cfg::compute(f))
}

/// B1 → {B2, B3} → B4 with d1: x = a and d3: y = x + 1 in B1, d4: x = x * 2 in B2, d2: x = a - 1 in
/// B3. The program's d2 is the textbook's d3, its d3 the textbook's d4, its d4 the textbook's d2.
#[test]
fn the_worked_example() {
    let board = board("reaching", WORKED_EXAMPLE);
    let textbook = |set: &str| {
        let mut names: Vec<&str> = set
            .trim_matches(['{', '}'])
            .split(", ")
            .map(|name| match name {
                "d2" => "d3",
                "d3" => "d4",
                "d4" => "d2",
                name => name,
            })
            .collect();
        names.sort_unstable();
        names.join(" ")
    };
    let out: Vec<String> = board.blocks.iter().map(|drawn| textbook(&drawn.output)).collect();
    assert_eq!(out, ["d1 d3", "d3 d4", "d2 d3", "d2 d3 d4"]);
    let killed = board.blocks.iter().map(|drawn| textbook(drawn.killed.as_deref().unwrap_or("")));
    assert_eq!(killed.collect::<Vec<_>>(), ["d2 d4", "d1 d2", "d1 d4", ""]);
    // The second round finds nothing new.
    let changed: Vec<usize> = board
        .rounds
        .iter()
        .map(|round| round.iter().filter(|visit| visit.changed).count())
        .collect();
    assert_eq!(changed, [4, 0]);
}

/// A function of so many blocks: arms and loops over eight variables that are assigned again and
/// again, and variables that live for a few blocks, at most `near` of them.
pub(crate) fn large(blocks: usize, near: usize) -> Function {
    let most = near;
    let mut f = Function::new("large", FuncRef(0), Signature::default());
    let shared: Vec<Variable> =
        (0..8).map(|i| f.add_variable(format!("x{i}"), Type::Int, Span::default())).collect();
    let zero = f.int(0);
    for &variable in &shared {
        f.append_assign(ENTRY, variable, Op::Copy, &[zero], 0, Loc(0));
    }
    (1..blocks).for_each(|_| _ = f.add_block());
    let value = |f: &Function, at: usize| f.variables[shared[at % 8]].value;
    let mut near = Vec::new();
    let mut latest = zero;
    for number in 0..blocks {
        let block = Block::new(number);
        if number % 3 == 0 {
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
fn work_of(problem: &str, blocks: usize) -> usize {
    use super::sparse::SLICE;
    let f = &large(blocks, if problem == "reaching" { 64 } else { blocks });
    let cfg = Cfg::compute(f);
    let (mut may, mut must) = (Sparse::new(f), Sparse::new(f));
    let mentions = Mentions::compute(f, &cfg);
    let variables: Vec<Variable> = f.variables.keys().collect();
    match problem {
        "reaching" => {
            let definitions = Definitions::compute(f, &cfg);
            let all: Vec<Definition> = definitions.keys().collect();
            for some in all.chunks(SLICE) {
                let problem = Reaching::new(&definitions, some);
                may.solve(f, &cfg, &problem, problem.seeds());
            }
        }
        "live" => {
            for some in variables.chunks(SLICE) {
                let seeds = some.iter().flat_map(|&variable| mentions.exposed(variable)).copied();
                may.solve(f, &cfg, &Liveness::new(some), seeds);
            }
        }
        "available" | "busy" => {
            let expressions = Expressions::compute(f, &cfg);
            let all: Vec<Expression> = expressions.keys().collect();
            for some in all.chunks(SLICE) {
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
        let works = [6_000, 12_000, 24_000].map(|blocks| work_of(problem, blocks));
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
    use super::frontier::Frontier;
    use super::nesting::Nesting;
    use super::taint::Taint;
    use std::time::Instant;
    type Work = Box<dyn Fn(usize)>;
    let module = Module::default();
    let module: &'static Module = Box::leak(Box::new(module));
    let mut rows: Vec<(String, Work)> = Vec::new();
    for problem in ["reaching", "live", "available", "busy"] {
        rows.push((problem.into(), Box::new(move |blocks| _ = work_of(problem, blocks))));
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
