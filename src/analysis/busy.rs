//! Very busy expressions: a backward must problem, on either form. An expression is very busy
//! at a point where every path from there computes it before it assigns one of its variables: it may
//! be computed at that point instead. `opt/hoist.rs` does so.
//!
//! A trap must stay the first thing that happens. So output, input, calls and other traps end the
//! stretch in which a trapping expression is very busy, and so does the way back into a loop, which
//! may run for ever.

use super::available::name;
use super::bits::{Bits, Must};
use super::board::{self, Board, Ways};
use super::dataflow::{Direction, GenKill};
use super::expressions::{Expression, Expressions};
use super::facts::Point;
use super::problems::Row;
use super::subset::Subset;
use crate::ir::{Block, Cfg, Effects, Function, Module};
use toyjit_runtime::fault::{self, Fault};

/// Its row in the table of problems.
pub(super) const ROW: Row = Row {
    name: "busy",
    about: "very busy expressions: what every path from here computes with the operands of now",
    how: "backward, intersection",
    draw,
};

fn draw(module: &Module, f: &Function, cfg: &Cfg, ways: Ways) -> Board {
    let expressions = Expressions::compute(f, cfg);
    let all: Vec<Expression> = expressions.keys().collect();
    let mut board = board::of_sets(f, cfg, &Busy::new(&expressions, cfg, &all), ways);
    let legend = all.iter().map(|&e| (name(e), expressions.describe(module, f, e)));
    board.legend = legend.collect();
    board
}

/// The problem, for some of the expressions.
#[derive(Clone, Copy, Debug)]
pub struct Busy<'a> {
    expressions: &'a Expressions,
    cfg: &'a Cfg,
    some: Subset<'a, Expression>,
}

impl<'a> Busy<'a> {
    /// The problem for these expressions, in the order of their numbers.
    pub fn new(expressions: &'a Expressions, cfg: &'a Cfg, some: &'a [Expression]) -> Self {
        Self { expressions, cfg, some: Subset::new(some) }
    }

    /// The blocks that add facts.
    pub fn seeds(&self) -> impl Iterator<Item = Block> + 'a {
        let expressions = self.expressions;
        self.some.facts().iter().flat_map(|&e| expressions.blocks(e).iter().copied())
    }

    fn remove(&self, killed: &[Expression], bits: &mut Bits<Must>) {
        self.some.bits(killed).for_each(|bit| bits.remove(bit));
    }
}

impl GenKill for Busy<'_> {
    type Meet = Must;
    const DIRECTION: Direction = Direction::Backward;

    fn len(&self, _: &Function) -> usize {
        self.some.len()
    }

    fn transfer(&self, f: &Function, at: Point, bits: &mut Bits<Must>) {
        const BARRIERS: Effects = Effects::IO.and(Effects::TRAPS);
        let Some(inst) = at.inst(f) else { return };
        if let Some(result) = f.insts[inst].result {
            self.remove(self.expressions.killed_by(result), bits);
        }
        if f.effects(inst).has(BARRIERS) && !fault::is(Fault::HoistTrapsEarly) {
            self.remove(self.expressions.trapping(), bits);
        }
        let computed = self.expressions.of_inst(inst);
        if let Some(bit) = computed.and_then(|expression| self.some.bit(expression)) {
            bits.insert(bit);
        }
    }

    fn start(&self, f: &Function, block: Block, bits: &mut Bits<Must>) {
        for &param in &f.blocks[block].params {
            self.remove(self.expressions.killed_by(param), bits);
        }
    }

    fn edge(&self, f: &Function, from: Block, index: usize, bits: &mut Bits<Must>) {
        let to = f.blocks[from].terminator.edges()[index].target;
        if self.cfg.rpo_number(to) <= self.cfg.rpo_number(from) {
            self.remove(self.expressions.trapping(), bits);
        }
    }

    fn name(&self, _: &Function, bit: usize) -> String {
        name(self.some.fact(bit))
    }
}
