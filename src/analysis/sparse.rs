//! A solver for problems with many facts, each of which holds in few blocks.
//!
//! A set of bits at every block costs blocks times facts, whatever the facts. This solver touches
//! only blocks that some fact comes to: it begins where facts are made (the seeds) and follows them.
//! Together with taking the facts in slices ([`SLICE`] at a time) that makes the work linear in
//! how far the facts reach.
//!
//! Union is solved so directly. For an intersection the union is solved first: what holds on all
//! paths holds on some path, so the greatest solution lies below it, and the blocks touched are all
//! that matter. Going down from there ends at the greatest solution. (That needs that what a block
//! does to a fact depends on no other fact. And there must be a path: of blocks that lead to no exit a
//! backward problem says nothing here, and everything in the dense solution.)

use super::bits::{Bits, Meet};
use super::dataflow::{Direction, GenKill, Lattice, Problem, through};
use crate::entity::SideTable;
use crate::ir::cfg::Cfg;
use crate::ir::{Block, ENTRY, Function};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// So many facts are looked at together.
pub const SLICE: usize = 4096;

/// The states of the blocks that some fact comes to; those of the others are empty.
#[derive(Debug)]
pub struct Sparse<M> {
    places: SideTable<Block, u32>,
    touched: Vec<Block>,
    states: Vec<Bits<M>>,
    waiting: Waiting,
    /// How many points have been visited, over all problems.
    pub work: usize,
}

const NOWHERE: u32 = u32::MAX;

impl<M: Meet> Sparse<M> {
    /// Memory for problems on functions with so many blocks.
    pub fn new(f: &Function) -> Self {
        Self {
            places: SideTable::with_len(NOWHERE, f.blocks.len()),
            touched: Vec::new(),
            states: Vec::new(),
            waiting: Waiting::default(),
            work: 0,
        }
    }

    /// What holds where control enters a block (forward) or leaves it (backward); nothing where no
    /// fact came.
    pub fn input(&self, block: Block) -> Option<&Bits<M>> {
        self.states.get(self.places[block] as usize)
    }

    /// The blocks that some fact came to.
    pub fn touched(&self) -> &[Block] {
        &self.touched
    }

    /// Solves a problem, in place of the one before. `seeds` are the blocks that add facts.
    pub fn solve<P: GenKill<Meet = M>>(
        &mut self,
        f: &Function,
        cfg: &Cfg,
        problem: &P,
        seeds: impl IntoIterator<Item = Block>,
    ) {
        for block in self.touched.drain(..) {
            self.places[block] = NOWHERE;
        }
        self.states.clear();
        let len = GenKill::len(problem, f);
        let mut run = Run { f, cfg, problem, empty: Bits::empty(len), output: Bits::empty(len) };
        let mut boundary = Bits::empty(len);
        GenKill::boundary(problem, f, &mut boundary);
        if boundary != run.empty {
            for &block in cfg.rpo().iter().filter(|&&block| run.is_boundary(block)) {
                let place = self.touch(block, &run.empty);
                self.states[place].unite(&boundary);
                self.waiting.insert(run.number(block));
            }
        }
        for block in seeds.into_iter().filter(|&block| cfg.is_reachable(block)) {
            self.touch(block, &run.empty);
            self.waiting.insert(run.number(block));
        }
        while let Some(number) = self.waiting.pop() {
            let block = run.block(number);
            self.visit(&mut run, block, |sparse, to, along, empty| {
                let place = match sparse.places[to] {
                    NOWHERE if along == empty => return false,
                    _ => sparse.touch(to, empty),
                };
                sparse.states[place].unite(along)
            });
        }
        if M::TOP {
            self.lower(&mut run);
        }
    }

    /// From the union down to the intersection.
    fn lower<P: GenKill<Meet = M>>(&mut self, run: &mut Run<'_, P>) {
        for i in 0..self.touched.len() {
            let block = self.touched[i];
            if run.sources(block).any(|from| self.places[from] == NOWHERE) {
                let place = self.places[block] as usize;
                self.states[place].clone_from(&run.empty);
            }
            self.waiting.insert(run.number(block));
        }
        while let Some(number) = self.waiting.pop() {
            let block = run.block(number);
            self.visit(run, block, |sparse, to, along, _| {
                let place = sparse.places[to];
                place != NOWHERE && Lattice::meet(&mut sparse.states[place as usize], along)
            });
        }
    }

    /// Carries what is known through a block and along its edges; `arrive` tells what changed.
    fn visit<P: GenKill<Meet = M>>(
        &mut self,
        run: &mut Run<'_, P>,
        block: Block,
        arrive: impl Fn(&mut Self, Block, &Bits<M>, &Bits<M>) -> bool,
    ) {
        let (f, cfg) = (run.f, run.cfg);
        run.output.clone_from(&self.states[self.places[block] as usize]);
        through(f, run.problem, block, &mut run.output, |_, _| self.work += 1);
        let mut along = run.empty.clone();
        let mut carry = |from, index, to| {
            along.clone_from(&run.output);
            GenKill::edge(run.problem, f, from, index, &mut along);
            if arrive(self, to, &along, &run.empty) {
                self.waiting.insert(run.number(to));
            }
        };
        match P::DIRECTION {
            Direction::Forward => {
                f.succs(block).enumerate().for_each(|(index, succ)| carry(block, index, succ));
            }
            Direction::Backward => {
                let edges = cfg.pred_edges(block);
                edges.iter().for_each(|edge| carry(edge.block, edge.index as usize, edge.block));
            }
        }
    }

    fn touch(&mut self, block: Block, empty: &Bits<M>) -> usize {
        if self.places[block] == NOWHERE {
            self.places[block] = self.states.len() as u32;
            self.touched.push(block);
            self.states.push(empty.clone());
        }
        self.places[block] as usize
    }
}

/// One problem being solved.
struct Run<'a, P: GenKill> {
    f: &'a Function,
    cfg: &'a Cfg,
    problem: &'a P,
    empty: Bits<P::Meet>,
    output: Bits<P::Meet>,
}

impl<P: GenKill> Run<'_, P> {
    fn is_boundary(&self, block: Block) -> bool {
        match <P as Problem>::DIRECTION {
            Direction::Forward => block == ENTRY,
            Direction::Backward => self.f.blocks[block].terminator.edges().is_empty(),
        }
    }

    /// A block's place in the order in which facts flow.
    fn number(&self, block: Block) -> u32 {
        let number = self.cfg.rpo_number(block).unwrap_or(0);
        match <P as Problem>::DIRECTION {
            Direction::Forward => number,
            Direction::Backward => self.cfg.rpo().len() as u32 - 1 - number,
        }
    }

    fn block(&self, number: u32) -> Block {
        match <P as Problem>::DIRECTION {
            Direction::Forward => self.cfg.rpo()[number as usize],
            Direction::Backward => self.cfg.rpo()[self.cfg.rpo().len() - 1 - number as usize],
        }
    }

    /// The blocks from which facts come to this one.
    fn sources(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        let forward = <P as Problem>::DIRECTION == Direction::Forward;
        let preds = forward.then(|| self.cfg.preds(block)).into_iter().flatten();
        let succs = (!forward).then(|| self.f.succs(block)).into_iter().flatten();
        preds.chain(succs)
    }
}

/// A queue of numbers that gives back the least, each once.
#[derive(Debug, Default)]
struct Waiting {
    heap: BinaryHeap<Reverse<u32>>,
}

impl Waiting {
    fn insert(&mut self, number: u32) {
        self.heap.push(Reverse(number));
    }

    fn pop(&mut self) -> Option<u32> {
        let Reverse(number) = self.heap.pop()?;
        while self.heap.peek() == Some(&Reverse(number)) {
            self.heap.pop();
        }
        Some(number)
    }
}
