//! A solved problem as one draws it on a board: for each block gen, kill, in and out, and each round
//! of the way there.
//!
//! What a block does to a set is known from what it makes of the empty set (gen) and of the full one
//! (all but kill), since gen and kill look at each fact by itself.

use super::bits::Bits;
use super::dataflow::{
    Direction, Event, GenKill, Problem, Words, solve_by_rounds, solve_watched, through,
};
use super::problems::Row;
use crate::ir::print::Printer;
use crate::ir::{Block, Cfg, Function, Module};
use std::fmt::Write as _;

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
    /// The visits with a worklist, where asked for.
    pub steps: Vec<Step>,
}

/// Which ways to the solution are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// Round by round.
    Rounds,
    /// With a worklist, too.
    Worklist,
}

/// A visit to a block that was taken from a worklist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The block.
    pub block: Block,
    /// What held at its start.
    pub input: Words,
    /// What held at its end.
    pub output: Words,
    /// The blocks to which the visit brought something new, which are on the worklist then: what holds
    /// there now, where facts come in.
    pub changed: Vec<(Block, Words)>,
}

/// What holds around a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The block.
    pub block: Block,
    /// What it adds, where the facts are sets.
    pub added: Option<Words>,
    /// What it takes away.
    pub killed: Option<Words>,
    /// What holds at its start.
    pub input: Words,
    /// What holds at its end.
    pub output: Words,
}

/// A visit to a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The block.
    pub block: Block,
    /// What held at its start and at its end behind the visit.
    pub input: Words,
    /// What held at its end.
    pub output: Words,
    /// Whether what the visit gave was new.
    pub changed: bool,
}

impl Board {
    /// All of it, or all but the rounds, as text.
    pub fn text(&self, module: &Module, f: &Function, row: &Row, trace: bool) -> String {
        let mut text = String::new();
        let printer = Printer::new(module);
        let _ = writeln!(text, "{} of {}: {}", row.name, f.name, row.how);
        for (name, meaning) in &self.legend {
            let _ = writeln!(text, "  {name:<4} {meaning}");
        }
        for drawn in &self.blocks {
            let block = drawn.block;
            let _ = writeln!(text, "\n{block}:");
            let _ = writeln!(text, "  in   {}", drawn.input);
            for &inst in &f.blocks[block].insts {
                let _ = writeln!(text, "       | {}", printer.inst(f, inst));
            }
            let _ = writeln!(text, "       | {}", printer.terminator(f, block));
            if let (Some(added), Some(killed)) = (&drawn.added, &drawn.killed) {
                let _ = writeln!(text, "  gen  {added}\n  kill {killed}");
            }
            let _ = writeln!(text, "  out  {}", drawn.output);
        }
        if trace {
            for (round, visits) in self.rounds.iter().enumerate() {
                let changed = visits.iter().any(|visit| visit.changed);
                let end = if changed { "" } else { ": nothing changes" };
                let _ = writeln!(text, "\nround {}{end}", round + 1);
                for visit in visits {
                    let mark = if visit.changed { '*' } else { ' ' };
                    let (block, input, output) = (visit.block, &visit.input, &visit.output);
                    let _ =
                        writeln!(text, "{mark} {:<4} in {input} out {output}", block.to_string());
                }
            }
        }
        text.push('\n');
        text
    }
}

/// Solves a problem, with what is known in words.
pub fn of<P: Problem>(f: &Function, cfg: &Cfg, problem: &P, ways: Ways) -> Board {
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
        Drawn { block, added: None, killed: None, input, output }
    });
    let blocks = blocks.collect();
    let mut last: Vec<Option<P::State>> = vec![None; f.blocks.len()];
    let count = rounds.len();
    let rounds = rounds.iter().enumerate().map(|(number, round)| {
        let visits = round.visits.iter().map(|(block, before, after)| {
            let known = &mut last[block.0 as usize];
            let changed = number + 1 < count && known.as_ref() != Some(after);
            *known = Some(after.clone());
            let (input, output) = around(before, after);
            Visit { block: *block, input, output, changed }
        });
        visits.collect()
    });
    let rounds = rounds.collect();
    let steps = match ways {
        Ways::Rounds => Vec::new(),
        Ways::Worklist => steps(f, cfg, problem),
    };
    Board { legend: Vec::new(), blocks, rounds, steps }
}

/// The visits with a worklist.
fn steps<P: Problem>(f: &Function, cfg: &Cfg, problem: &P) -> Vec<Step> {
    let mut events = Vec::new();
    solve_watched(f, cfg, problem, &mut events);
    let mut steps = Vec::new();
    let (mut taken, mut changed) = (None, Vec::new());
    for event in events {
        match event {
            Event::Taken(block, state) => taken = Some((block, problem.describe(f, &state))),
            Event::Changed(block, state) => changed.push((block, problem.describe(f, &state))),
            Event::Given(state) => {
                let Some((block, before)) = taken.take() else { continue };
                let after = problem.describe(f, &state);
                let (input, output) = match P::DIRECTION {
                    Direction::Forward => (before, after),
                    Direction::Backward => (after, before),
                };
                let changed = std::mem::take(&mut changed);
                steps.push(Step { block, input, output, changed });
            }
        }
    }
    steps
}

/// Solves a problem on sets.
pub fn of_sets<P: GenKill>(f: &Function, cfg: &Cfg, problem: &P, ways: Ways) -> Board {
    let mut board = of(f, cfg, problem, ways);
    let len = GenKill::len(problem, f);
    for drawn in &mut board.blocks {
        let mut added = Bits::empty(len);
        through(f, problem, drawn.block, &mut added, |_, _| ());
        let mut left = Bits::full(len);
        through(f, problem, drawn.block, &mut left, |_, _| ());
        let mut killed = Bits::full(len);
        killed.subtract(&left);
        drawn.added = Some(problem.describe(f, &added));
        drawn.killed = Some(problem.describe(f, &killed));
    }
    board
}
