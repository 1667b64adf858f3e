//! A solved problem as one draws it on a board: for each block gen, kill, in and out, and each round
//! of the way there.
//!
//! What a block does to a set is known from what it makes of the empty set (gen) and of the full one
//! (all but kill), since gen and kill look at each fact by itself.

use super::bits::Bits;
use super::dataflow::{Direction, GenKill, Problem, solve_by_rounds, through};
use crate::ir::{Block, Cfg, Function};

/// A solved problem in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// What the facts' names stand for, where they are not plain.
    pub legend: Vec<(String, String)>,
    /// The blocks in reverse postorder.
    pub blocks: Vec<Drawn>,
    /// The rounds, each with the blocks in the order in which they were visited; in the last nothing
    /// changes.
    pub rounds: Vec<Vec<Visit>>,
}

/// What holds around a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The block.
    pub block: Block,
    /// What it adds, where the facts are sets.
    pub gen_: Option<String>,
    /// What it takes away.
    pub kill: Option<String>,
    /// What holds at its start.
    pub input: String,
    /// What holds at its end.
    pub output: String,
}

/// A visit to a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The block.
    pub block: Block,
    /// What held at its start and at its end behind the visit.
    pub input: String,
    /// What held at its end.
    pub output: String,
    /// Whether what the visit gave was new.
    pub changed: bool,
}

/// Solves a problem, with what is known in words.
pub fn of<P: Problem>(f: &Function, cfg: &Cfg, problem: &P) -> Board {
    let (solution, rounds) = solve_by_rounds(f, cfg, problem);
    // The direction's beginning and end as the block's start and end.
    let around = |before: &P::State, after: &P::State| {
        let (before, after) = (problem.describe(f, before), problem.describe(f, after));
        match P::DIRECTION {
            Direction::Forward => (before, after),
            Direction::Backward => (after, before),
        }
    };
    let blocks = cfg.rpo().iter().map(|&block| {
        let mut after = solution.input(block).clone();
        through(f, problem, block, &mut after, |_, _| ());
        let (input, output) = around(solution.input(block), &after);
        Drawn { block, gen_: None, kill: None, input, output }
    });
    let blocks = blocks.collect();
    let mut last: Vec<Option<P::State>> = vec![None; f.blocks.len()];
    let rounds = rounds.iter().map(|round| {
        let visits = round.visits.iter().map(|(block, before, after)| {
            let known = &mut last[block.0 as usize];
            let changed = known.as_ref() != Some(after);
            *known = Some(after.clone());
            let (input, output) = around(before, after);
            Visit { block: *block, input, output, changed }
        });
        visits.collect()
    });
    let rounds = rounds.collect();
    Board { legend: Vec::new(), blocks, rounds }
}

/// Solves a problem on sets.
pub fn of_sets<P: GenKill>(f: &Function, cfg: &Cfg, problem: &P) -> Board {
    let mut board = of(f, cfg, problem);
    let len = GenKill::len(problem, f);
    for drawn in &mut board.blocks {
        let mut added = Bits::empty(len);
        through(f, problem, drawn.block, &mut added, |_, _| ());
        let mut left = Bits::full(len);
        through(f, problem, drawn.block, &mut left, |_, _| ());
        let mut killed = Bits::full(len);
        killed.subtract(&left);
        drawn.gen_ = Some(problem.describe(f, &added));
        drawn.kill = Some(problem.describe(f, &killed));
    }
    board
}
