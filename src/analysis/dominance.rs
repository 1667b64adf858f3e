//! Dominators as a dataflow problem: a forward must problem on blocks. A block dominates another if
//! every path comes through it, so each block adds itself and nothing is taken away. It is the
//! definition of the dominator tree, and the tests' check of it; its answer alone, blocks times
//! depth, is too long for large functions.

use super::bits::{Bits, Must};
use super::board::{self, Board, Ways};
use super::dataflow::{Direction, GenKill};
use super::facts::Point;
use super::problems::Row;
use crate::entity::Entity;
use crate::ir::{Block, Cfg, Function, Module};

/// Its row in the table of problems.
pub(super) const ROW: Row = Row {
    name: "dominators",
    about: "dominators: the blocks that every path here comes through",
    how: "forward, intersection",
    draw,
};

fn draw(_: &Module, f: &Function, cfg: &Cfg, ways: Ways) -> Board {
    board::of_sets(f, cfg, &Dominance, ways)
}

/// The problem.
#[derive(Clone, Copy, Debug)]
pub struct Dominance;

impl GenKill for Dominance {
    type Meet = Must;
    const DIRECTION: Direction = Direction::Forward;

    fn len(&self, f: &Function) -> usize {
        f.blocks.len()
    }

    fn start(&self, _: &Function, block: Block, bits: &mut Bits<Must>) {
        bits.insert(block.index());
    }

    fn transfer(&self, _: &Function, _: Point, _: &mut Bits<Must>) {}

    fn name(&self, _: &Function, bit: usize) -> String {
        Block::new(bit).to_string()
    }
}
