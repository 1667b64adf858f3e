//! Live variables: a backward may problem on the variable form. A variable is live at a point where
//! some path from there reads it before it assigns it.

use super::bits::{Bits, May};
use super::board::{self, Board, Ways};
use super::dataflow::{Direction, GenKill};
use super::facts::Point;
use super::problems::Row;
use super::subset::Subset;
use super::variables::variable_of;
use crate::ir::{Cfg, Function, Module, Value, Variable};

/// Its row in the table of problems.
pub(super) const ROW: Row = Row {
    name: "live",
    about: "live variables: those that some path reads before it assigns them",
    how: "backward, union",
    draw,
};

fn draw(_: &Module, f: &Function, cfg: &Cfg, ways: Ways) -> Board {
    let variables: Vec<Variable> = f.variables.keys().collect();
    board::of_sets(f, cfg, &Liveness::new(&variables), ways)
}

/// The problem, for some of the variables.
#[derive(Clone, Copy, Debug)]
pub struct Liveness<'a> {
    variables: Subset<'a, Variable>,
}

impl<'a> Liveness<'a> {
    /// The problem for these variables, in the order of their numbers; a variable's bit is its place
    /// among them.
    pub fn new(variables: &'a [Variable]) -> Self {
        Self { variables: Subset::new(variables) }
    }

    /// The bit of a variable, where it is one of those looked at.
    pub fn bit(&self, variable: Variable) -> Option<usize> {
        self.variables.bit(variable)
    }

    fn bit_of(&self, f: &Function, value: Value) -> Option<usize> {
        self.bit(variable_of(f, value)?)
    }
}

impl GenKill for Liveness<'_> {
    type Meet = May;
    const DIRECTION: Direction = Direction::Backward;

    fn len(&self, _: &Function) -> usize {
        self.variables.len()
    }

    fn transfer(&self, f: &Function, at: Point, bits: &mut Bits<May>) {
        let inst = at.inst(f);
        let assigned = inst.and_then(|inst| self.bit_of(f, f.insts[inst].result?));
        if let Some(bit) = assigned {
            bits.remove(bit);
        }
        let mut read = |value| {
            if let Some(bit) = self.bit_of(f, value) {
                bits.insert(bit);
            }
        };
        match inst {
            Some(inst) => f.args(inst).iter().for_each(|&arg| read(arg)),
            None => f.blocks[at.block].terminator.for_each_use(read),
        }
    }

    fn name(&self, f: &Function, bit: usize) -> String {
        f.variables[self.variables.fact(bit)].name.clone()
    }
}
