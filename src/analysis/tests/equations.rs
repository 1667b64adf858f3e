//! The problems against a naive solver of their equations, and the worked example.

use super::each_module;
use crate::analysis::assignment::Assigned;
use crate::analysis::available::Available;
use crate::analysis::bits::{Bits, Meet};
use crate::analysis::board::{Board, Ways};
use crate::analysis::busy::Busy;
use crate::analysis::dataflow::{Direction, GenKill, Problem, Words, solve, solve_by_rounds};
use crate::analysis::dominance::Dominance;
use crate::analysis::expressions::{Expression, Expressions};
use crate::analysis::facts::Point;
use crate::analysis::liveness::Liveness;
use crate::analysis::problems::named;
use crate::analysis::reaching::{Definition, Definitions, Reaching};
use crate::analysis::sparse::Sparse;
use crate::analysis::variables::{Mentions, assigned_variable, variable_of};
use crate::entity::Entity;
use crate::ir::{Block, Cfg, Dominators, FuncRef, Function, Variable, parse};

/// What a point does to a fact: adds it, takes it away, nothing.
type Effect<'a> = &'a dyn Fn(Point, usize) -> Option<bool>;

/// What holds where a problem comes into each block, by the equations alone: one fact at a time, all
/// blocks in the order of their numbers, until nothing changes.
#[allow(clippy::needless_range_loop)]
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
    (named(problem).expect("a row").draw)(&module, f, &Cfg::compute(f), Ways::Worklist)
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
    let out: Vec<String> =
        board.blocks.iter().map(|drawn| textbook(&drawn.output.to_string())).collect();
    assert_eq!(out, ["d1 d3", "d3 d4", "d2 d3", "d2 d3 d4"]);
    let killed = board.blocks.iter().map(|drawn| drawn.killed.as_ref().map(Words::to_string));
    let killed = killed.map(|killed| textbook(&killed.unwrap_or_default()));
    assert_eq!(killed.collect::<Vec<_>>(), ["d2 d4", "d1 d2", "d1 d4", ""]);
    // The second round finds nothing new.
    let changed: Vec<usize> = board
        .rounds
        .iter()
        .map(|round| round.iter().filter(|visit| visit.changed).count())
        .collect();
    assert_eq!(changed, [4, 0]);
    // With a worklist each block is visited once.
    let visited: Vec<u32> = board.steps.iter().map(|step| step.block.0).collect();
    assert_eq!(visited, [0, 1, 2, 3]);
    for (step, drawn) in board.steps.iter().zip(&board.blocks) {
        assert_eq!((&step.input, &step.output), (&drawn.input, &drawn.output));
    }
}
