//! Available expressions: a forward must problem, on either form. An expression is available at
//! a point where every path computes it, and assigns none of its variables afterwards.
//!
//! An assignment kills the expressions that use the variable, also the one it computes itself if
//! that uses it: behind `x = x + 1`, `x + 1` is not available.

use super::bits::{Bits, Must};
use super::board::{self, Board, Ways};
use super::dataflow::{Direction, GenKill};
use super::expressions::{Expression, Expressions};
use super::facts::Point;
use super::problems::Row;
use super::subset::Subset;
use crate::ir::{Block, Cfg, Function, Module};

/// Its row in the table of problems.
pub(super) const ROW: Row = Row {
    name: "available",
    about: "available expressions: what every path has computed, with the operands as they are now",
    how: "forward, intersection",
    draw,
};

fn draw(module: &Module, f: &Function, cfg: &Cfg, ways: Ways) -> Board {
    let expressions = Expressions::compute(f, cfg);
    let all: Vec<Expression> = expressions.keys().collect();
    let mut board = board::of_sets(f, cfg, &Available::new(&expressions, &all), ways);
    let legend = all.iter().map(|&e| (name(e), expressions.describe(module, f, e)));
    board.legend = legend.collect();
    board
}

/// The first expression is e1.
pub(super) fn name(expression: Expression) -> String {
    format!("e{}", expression.0 + 1)
}

/// The problem, for some of the expressions.
#[derive(Clone, Copy, Debug)]
pub struct Available<'a> {
    expressions: &'a Expressions,
    some: Subset<'a, Expression>,
}

impl<'a> Available<'a> {
    /// The problem for these expressions, in the order of their numbers.
    pub fn new(expressions: &'a Expressions, some: &'a [Expression]) -> Self {
        Self { expressions, some: Subset::new(some) }
    }

    /// The blocks that add facts.
    pub fn seeds(&self) -> impl Iterator<Item = Block> + 'a {
        let expressions = self.expressions;
        self.some.facts().iter().flat_map(|&e| expressions.blocks(e).iter().copied())
    }
}

impl GenKill for Available<'_> {
    type Meet = Must;
    const DIRECTION: Direction = Direction::Forward;

    fn len(&self, _: &Function) -> usize {
        self.some.len()
    }

    fn transfer(&self, f: &Function, at: Point, bits: &mut Bits<Must>) {
        let Some(inst) = at.inst(f) else { return };
        let computed = self.expressions.of_inst(inst);
        if let Some(bit) = computed.and_then(|expression| self.some.bit(expression)) {
            bits.insert(bit);
        }
        if let Some(result) = f.insts[inst].result {
            let killed = self.expressions.killed_by(result);
            self.some.bits(killed).for_each(|bit| bits.remove(bit));
        }
    }

    fn start(&self, f: &Function, block: Block, bits: &mut Bits<Must>) {
        for &param in &f.blocks[block].params {
            let killed = self.expressions.killed_by(param);
            self.some.bits(killed).for_each(|bit| bits.remove(bit));
        }
    }

    fn name(&self, _: &Function, bit: usize) -> String {
        name(self.some.fact(bit))
    }
}
