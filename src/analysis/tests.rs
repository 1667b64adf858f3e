//! The framework against the definition of its problems, on random graphs.

mod equations;
pub(crate) mod large;
mod meaning;

use super::bits::{Bits, May, Meet, Must};
use super::dataflow::{Direction, GenKill, Problem, Solution, solve, solve_by_rounds};
use super::facts::Point;
use super::liveness::Liveness;
use crate::entity::Entity;
use crate::ir::cfg::Cfg;
use crate::ir::generate::{self, Rng, Shape};
use crate::ir::{
    Block, ENTRY, Edge, Form, FuncRef, Function, Module, Op, Signature, Terminator, Variable, parse,
};
use std::marker::PhantomData;

const BITS: usize = 70;

/// `DATAFLOW_SEEDS` makes the search longer.
fn each_module(seeds: u64, mut check: impl FnMut(u64, &Module)) {
    let more = std::env::var("DATAFLOW_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    for seed in 0..more.unwrap_or(seeds) {
        let shape = Shape { form: Form::Variable, ..Shape::default() };
        check(seed, &generate::module(&mut Rng::new(seed), &shape));
    }
}

/// A problem that adds and takes away, at each block's end, what it was told.
struct Told<M, const FORWARD: bool> {
    adds: Vec<Vec<usize>>,
    takes: Vec<Vec<usize>>,
    meet: PhantomData<M>,
}

impl<M: Meet, const FORWARD: bool> GenKill for Told<M, FORWARD> {
    type Meet = M;
    const DIRECTION: Direction = if FORWARD { Direction::Forward } else { Direction::Backward };

    fn len(&self, _: &Function) -> usize {
        BITS
    }

    fn transfer(&self, _: &Function, at: Point, bits: &mut Bits<M>) {
        self.takes[at.block.index()].iter().for_each(|&bit| bits.remove(bit));
        self.adds[at.block.index()].iter().for_each(|&bit| bits.insert(bit));
    }

    fn name(&self, _: &Function, bit: usize) -> String {
        bit.to_string()
    }
}

pub(super) fn random_graph(
    u: &mut arbtest::arbitrary::Unstructured<'_>,
) -> arbtest::arbitrary::Result<Function> {
    let mut f = Function::new("g", FuncRef(0), Signature::default());
    let zero = f.int(0);
    let blocks = u.int_in_range(1..=12)?;
    for _ in 1..blocks {
        f.add_block();
    }
    for block in f.blocks.keys() {
        let mut target =
            || u.int_in_range(1..=blocks).map(|n| Edge::to(Block::new(n.min(blocks - 1))));
        let (yes, no) = (target()?, target()?);
        f.blocks[block].terminator = match u.int_in_range(0..=5)? {
            _ if blocks == 1 => Terminator::Return(None),
            0 => Terminator::Return(None),
            1 | 2 => Terminator::Jump(yes),
            _ => Terminator::Branch { op: Op::IEq, args: [zero, zero], edges: [yes, no] },
        };
    }
    Ok(f)
}

fn told<M: Meet, const FORWARD: bool>(
    u: &mut arbtest::arbitrary::Unstructured<'_>,
    f: &Function,
) -> arbtest::arbitrary::Result<Told<M, FORWARD>> {
    let mut some = || -> arbtest::arbitrary::Result<Vec<Vec<usize>>> {
        let blocks = f.blocks.len();
        (0..blocks)
            .map(|_| (0..u.int_in_range(0..=2)?).map(|_| u.int_in_range(0..=BITS - 1)).collect())
            .collect()
    };
    Ok(Told { adds: some()?, takes: some()?, meet: PhantomData })
}

fn both<P: Problem>(f: &Function, problem: &P) -> Solution<P::State> {
    let cfg = Cfg::compute(f);
    let solution = solve(f, &cfg, problem);
    let (slow, rounds) = solve_by_rounds(f, &cfg, problem);
    for block in f.blocks.keys() {
        assert!(solution.input(block) == slow.input(block));
    }
    assert!(rounds.len() <= f.blocks.len() + 2);
    solution
}

/// The blocks that a path leads to from behind `from`, on which no block before the last stops it.
fn reached(f: &Function, from: Block, stops: impl Fn(Block) -> bool) -> Vec<bool> {
    let mut reached = vec![false; f.blocks.len()];
    let mut open: Vec<Block> = f.succs(from).collect();
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut reached[block.index()], true) && !stops(block) {
            open.extend(f.succs(block));
        }
    }
    reached
}

#[test]
fn solutions_are_those_of_the_definition() {
    arbtest::arbtest(|u| {
        let f = random_graph(u)?;
        let cfg = Cfg::compute(&f);
        let may = told::<May, true>(u, &f)?;
        let must = Told::<Must, true> {
            adds: may.takes.clone(),
            takes: may.adds.clone(),
            meet: PhantomData,
        };
        let some_path = both(&f, &may);
        let all_paths = both(&f, &must);
        for bit in 0..BITS {
            let adds = |block: Block| may.adds[block.index()].contains(&bit);
            let takes = |block: Block| may.takes[block.index()].contains(&bit) && !adds(block);
            let mut expected = vec![false; f.blocks.len()];
            for &from in cfg.rpo().iter().filter(|&&block| adds(block)) {
                let reached = reached(&f, from, takes);
                expected.iter_mut().zip(reached).for_each(|(e, r)| *e |= r);
            }
            for &block in cfg.rpo() {
                assert_eq!(some_path.input(block).contains(bit), expected[block.index()]);
            }
            // A bit fails to hold on all paths where it is missing on one: from the entry, or from
            // a block that takes it away.
            let adds = |block: Block| must.adds[block.index()].contains(&bit);
            let takes = |block: Block| must.takes[block.index()].contains(&bit) && !adds(block);
            let mut missing = vec![false; f.blocks.len()];
            missing[ENTRY.index()] = true;
            let entry = (!adds(ENTRY)).then_some(ENTRY);
            for from in cfg.rpo().iter().copied().filter(|&b| takes(b)).chain(entry) {
                let reached = reached(&f, from, adds);
                missing.iter_mut().zip(reached).for_each(|(m, r)| *m |= r);
            }
            for &block in cfg.rpo() {
                assert_eq!(all_paths.input(block).contains(bit), !missing[block.index()]);
            }
        }
        both(&f, &told::<May, false>(u, &f)?);
        both(&f, &told::<Must, false>(u, &f)?);
        Ok(())
    });
}

#[test]
fn live_variables_of_a_loop() {
    let text = "
fn @sum(int) -> int {
  var n: int, sum: int, i: int
b0(v3: int):
  n = copy v3
  sum = copy 0
  i = copy 0
  jump b1
b1:
  br ilt i, n -> b2, b3
b2:
  sum = iadd sum, i
  i = iadd i, 1
  jump b1
b3:
  ret sum
}
";
    let module = parse::module(text).expect("a correct text");
    let f = &module.functions[FuncRef(0)];
    let variables: Vec<Variable> = f.variables.keys().collect();
    let problem = Liveness::new(&variables);
    let (solution, rounds) = solve_by_rounds(f, &Cfg::compute(f), &problem);
    let shown = |block, index| {
        let state = solution.at(f, &problem, Point { block: Block(block), index });
        problem.describe(f, &state).to_string()
    };
    assert_eq!(shown(0, 0), "{n}");
    assert_eq!(shown(0, 2), "{n, sum, i}");
    assert_eq!(shown(1, 0), "{n, sum, i}");
    assert_eq!(shown(2, 1), "{n, sum, i}");
    assert_eq!(shown(3, 0), "{}");
    assert_eq!(rounds.len(), 3);
    let last = &rounds[2].visits[0];
    assert_eq!((last.0, problem.describe(f, &last.2).to_string()), (Block(3), "{sum}".to_owned()));
}
