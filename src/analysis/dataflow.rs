//! The dataflow framework (Kildall 1973; Kam and Ullman 1976).
//!
//! A problem says in which direction facts flow, what they are (a lattice: a meet and its identity,
//! the top), what holds at the boundary, and what an instruction does to them. If the effect is
//! monotone and no chain of the lattice is endless, visiting blocks until nothing changes ends, with
//! the greatest solution. A problem on sets of numbers writes [`GenKill`] instead and gets its
//! lattice from the choice of [`May`](super::bits::May) or [`Must`](super::bits::Must).
//!
//! [`solve`] keeps the blocks that are to be visited as a set of their numbers in reverse postorder
//! (postorder when backward) and takes the least: for problems of the usual kind each block is
//! visited at most as often as loops nest, and twice more. [`solve_by_rounds`] visits all blocks in
//! that order again and again, as textbooks do it by hand, and records each round.
//!
//! Only the state at one end of each block is kept: memory is blocks times facts, never instructions
//! times facts. [`Solution::replay`] walks through a block again.
//!
//! To add a problem, write its file. Blocks that no path reaches keep the top.

use super::bits::{Bits, Meet};
use super::facts::Point;
use crate::entity::Entity;
use crate::ir::cfg::Cfg;
use crate::ir::{Block, ENTRY, Function};
use crate::watch::Watch;
use std::fmt;

/// What is known at a point: an element of a lattice in which no chain goes down for ever.
pub trait Lattice: Clone + PartialEq {
    /// Keeps what holds in both; whether that changed anything.
    fn meet(&mut self, other: &Self) -> bool;
}

/// Which way facts flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the entry on.
    Forward,
    /// From the exits back.
    Backward,
}

/// A dataflow problem.
pub trait Problem {
    /// What is known at a point.
    type State: Lattice;
    /// Which way facts flow.
    const DIRECTION: Direction;
    /// The identity of the meet.
    fn top(&self, f: &Function) -> Self::State;
    /// What holds at the entry (forward), or at each exit (backward).
    fn boundary(&self, f: &Function) -> Self::State;
    /// What the instruction (or terminator, with its edges' arguments) at a point does.
    fn transfer(&self, f: &Function, at: Point, state: &mut Self::State);
    /// What a block's start does, where its parameters are defined.
    fn start(&self, _f: &Function, _block: Block, _state: &mut Self::State) {}
    /// What going along the edge with this index in `from`'s terminator does.
    fn edge(&self, _f: &Function, _from: Block, _index: usize, _state: &mut Self::State) {}
    /// A state in words, for traces.
    fn describe(&self, f: &Function, state: &Self::State) -> Words;
}

/// What is known at a point, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// These facts.
    Facts(Vec<String>),
    /// Something that is no set of facts.
    Other(String),
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Words::Facts(facts) => write!(f, "{{{}}}", facts.join(", ")),
            Words::Other(text) => f.write_str(text),
        }
    }
}

/// What happens while a problem is solved with a worklist.
#[derive(Clone, Debug)]
pub enum Event<S> {
    /// This block is taken from the worklist, and this is known where facts come in.
    Taken(Block, S),
    /// What is known where facts come into this block has changed to this; it is on the worklist.
    Changed(Block, S),
    /// The visit ends: what the block gives on.
    Given(S),
}

/// A dataflow problem on a set of numbers.
pub trait GenKill {
    /// How sets from several paths meet.
    type Meet: Meet;
    /// Which way facts flow.
    const DIRECTION: Direction;
    /// All numbers are below this one.
    fn len(&self, f: &Function) -> usize;
    /// Adds to the empty set what holds at the entry (forward), or at each exit (backward).
    fn boundary(&self, _f: &Function, _bits: &mut Bits<Self::Meet>) {}
    /// What the instruction or terminator at a point adds and takes away.
    fn transfer(&self, f: &Function, at: Point, bits: &mut Bits<Self::Meet>);
    /// What a block's start adds and takes away.
    fn start(&self, _f: &Function, _block: Block, _bits: &mut Bits<Self::Meet>) {}
    /// What going along an edge adds and takes away.
    fn edge(&self, _f: &Function, _from: Block, _index: usize, _bits: &mut Bits<Self::Meet>) {}
    /// A number in words.
    fn name(&self, f: &Function, bit: usize) -> String;
}

impl<P: GenKill> Problem for P {
    type State = Bits<P::Meet>;
    const DIRECTION: Direction = P::DIRECTION;

    fn top(&self, f: &Function) -> Self::State {
        Bits::top(self.len(f))
    }

    fn boundary(&self, f: &Function) -> Self::State {
        let mut bits = Bits::empty(self.len(f));
        GenKill::boundary(self, f, &mut bits);
        bits
    }

    fn transfer(&self, f: &Function, at: Point, state: &mut Self::State) {
        GenKill::transfer(self, f, at, state);
    }

    fn start(&self, f: &Function, block: Block, state: &mut Self::State) {
        GenKill::start(self, f, block, state);
    }

    fn edge(&self, f: &Function, from: Block, index: usize, state: &mut Self::State) {
        GenKill::edge(self, f, from, index, state);
    }

    fn describe(&self, f: &Function, state: &Self::State) -> Words {
        Words::Facts(state.iter().map(|bit| self.name(f, bit)).collect())
    }
}

/// What holds at one end of each block: at its start (forward) or at its end (backward).
#[derive(Clone, Debug)]
pub struct Solution<S> {
    states: Vec<S>,
}

impl<S: Lattice> Solution<S> {
    /// What holds where control enters a block (forward) or leaves it (backward).
    pub fn input(&self, block: Block) -> &S {
        &self.states[block.index()]
    }

    /// Walks through a block in the direction of the problem: at each point, what holds before the
    /// point's own effect.
    pub fn replay<P: Problem<State = S>>(
        &self,
        f: &Function,
        problem: &P,
        block: Block,
        visit: impl FnMut(Point, &S),
    ) {
        replay(f, problem, block, self.input(block), visit);
    }

    /// What holds at one point: before it (forward) or behind it (backward).
    pub fn at<P: Problem<State = S>>(&self, f: &Function, problem: &P, point: Point) -> S {
        let mut found = self.input(point.block).clone();
        self.replay(f, problem, point.block, |at, state| {
            if at == point {
                found = state.clone();
            }
        });
        found
    }
}

/// Walks through a block from what holds where the problem comes in: at each point, what holds before
/// the point's own effect.
pub fn replay<P: Problem>(
    f: &Function,
    problem: &P,
    block: Block,
    input: &P::State,
    visit: impl FnMut(Point, &P::State),
) {
    let mut state = input.clone();
    through(f, problem, block, &mut state, visit);
}

/// One round over all blocks.
#[derive(Clone, Debug)]
pub struct Round<S> {
    /// The blocks in the order visited; what was known when the visit began and when it ended.
    pub visits: Vec<(Block, S, S)>,
}

/// Solves a problem with a worklist.
pub fn solve<P: Problem>(f: &Function, cfg: &Cfg, problem: &P) -> Solution<P::State> {
    solve_watched(f, cfg, problem, &mut ())
}

/// The same, watched.
pub fn solve_watched<P: Problem>(
    f: &Function,
    cfg: &Cfg,
    problem: &P,
    watch: &mut impl Watch<Event<P::State>>,
) -> Solution<P::State> {
    let mut solver = Solver::new(f, cfg, problem);
    let order = solver.order();
    let blocks = order.len();
    let number = |block| match P::DIRECTION {
        Direction::Forward => cfg.rpo_number(block).unwrap_or(0) as usize,
        Direction::Backward => blocks - 1 - cfg.rpo_number(block).unwrap_or(0) as usize,
    };
    let mut waiting = Worklist::full(blocks);
    while let Some(next) = waiting.pop() {
        let block = order[next];
        watch.see(|| Event::Taken(block, solver.states[block.index()].clone()));
        solver.visit(block, |changed, state| {
            waiting.insert(number(changed));
            watch.see(|| Event::Changed(changed, state.clone()));
        });
        watch.see(|| Event::Given(solver.output.clone()));
    }
    Solution { states: solver.states }
}

/// Solves a problem round by round, and records the rounds; in the last one nothing changes.
pub fn solve_by_rounds<P: Problem>(
    f: &Function,
    cfg: &Cfg,
    problem: &P,
) -> (Solution<P::State>, Vec<Round<P::State>>) {
    let mut solver = Solver::new(f, cfg, problem);
    let order = solver.order();
    let mut rounds = Vec::new();
    let mut changed = true;
    while changed {
        changed = false;
        let mut visits = Vec::with_capacity(order.len());
        for &block in &order {
            let before = solver.states[block.index()].clone();
            solver.visit(block, |_, _| changed = true);
            visits.push((block, before, solver.output.clone()));
        }
        rounds.push(Round { visits });
    }
    (Solution { states: solver.states }, rounds)
}

/// The states while they are found.
struct Solver<'a, P: Problem> {
    f: &'a Function,
    cfg: &'a Cfg,
    problem: &'a P,
    states: Vec<P::State>,
    /// What the block visited last gives on.
    output: P::State,
    /// The same along one edge.
    along: P::State,
}

impl<'a, P: Problem> Solver<'a, P> {
    fn new(f: &'a Function, cfg: &'a Cfg, problem: &'a P) -> Self {
        let top = problem.top(f);
        let boundary = problem.boundary(f);
        let mut states = vec![top.clone(); f.blocks.len()];
        match P::DIRECTION {
            Direction::Forward => states[ENTRY.index()] = boundary,
            Direction::Backward => {
                for &block in cfg.rpo() {
                    if f.blocks[block].terminator.edges().is_empty() {
                        states[block.index()] = boundary.clone();
                    }
                }
            }
        }
        Self { f, cfg, problem, states, output: top.clone(), along: top }
    }

    /// The blocks in the order in which facts flow.
    fn order(&self) -> Vec<Block> {
        match P::DIRECTION {
            Direction::Forward => self.cfg.rpo().to_vec(),
            Direction::Backward => self.cfg.postorder().collect(),
        }
    }

    /// Carries what is known through a block and on to its neighbours; tells which of them changed,
    /// and to what.
    fn visit(&mut self, block: Block, mut changed: impl FnMut(Block, &P::State)) {
        self.output.clone_from(&self.states[block.index()]);
        through(self.f, self.problem, block, &mut self.output, |_, _| ());
        match P::DIRECTION {
            Direction::Forward => {
                for (index, succ) in self.f.succs(block).enumerate() {
                    if self.carry(block, index, succ) {
                        changed(succ, &self.states[succ.index()]);
                    }
                }
            }
            Direction::Backward => {
                let cfg = self.cfg;
                for edge in cfg.pred_edges(block) {
                    if self.carry(edge.block, edge.index as usize, edge.block) {
                        changed(edge.block, &self.states[edge.block.index()]);
                    }
                }
            }
        }
    }

    /// Carries the output along an edge of `from` to the state of `to`; whether that changed.
    fn carry(&mut self, from: Block, index: usize, to: Block) -> bool {
        self.along.clone_from(&self.output);
        self.problem.edge(self.f, from, index, &mut self.along);
        self.states[to.index()].meet(&self.along)
    }
}

/// Carries a state through a block; `visit` sees it at each point, before the point's effect.
pub(super) fn through<P: Problem>(
    f: &Function,
    problem: &P,
    block: Block,
    state: &mut P::State,
    mut visit: impl FnMut(Point, &P::State),
) {
    let mut step = |index, state: &mut P::State| {
        let at = Point { block, index };
        visit(at, state);
        problem.transfer(f, at, state);
    };
    let points = 0..=f.blocks[block].insts.len() as u32;
    match P::DIRECTION {
        Direction::Forward => {
            problem.start(f, block, state);
            points.for_each(|index| step(index, state));
        }
        Direction::Backward => {
            points.rev().for_each(|index| step(index, state));
            problem.start(f, block, state);
        }
    }
}

/// A set of numbers that gives back the least.
struct Worklist {
    words: Vec<u64>,
    /// No number is in a word before this one.
    first: usize,
}

impl Worklist {
    fn full(len: usize) -> Self {
        let mut list = Self { words: vec![0; len.div_ceil(64)], first: 0 };
        (0..len).for_each(|number| list.insert(number));
        list
    }

    fn insert(&mut self, number: usize) {
        self.words[number / 64] |= 1 << (number % 64);
        self.first = self.first.min(number / 64);
    }

    fn pop(&mut self) -> Option<usize> {
        let word = self.first + self.words[self.first..].iter().position(|&word| word != 0)?;
        self.first = word;
        let bit = self.words[word].trailing_zeros() as usize;
        self.words[word] &= self.words[word] - 1;
        Some(word * 64 + bit)
    }
}
