//! Constants: a forward problem on the lattice of Kildall 1973. A value is not seen yet, or is one
//! constant, or varies; two different constants meet as what varies. Operators on constants are
//! evaluated by the table of operators, branches are not decided: sparse conditional propagation
//! finds at least what this finds.
//!
//! Kept are the constants that cross an edge (see [`Crossing`]).

use super::board::{self, Board, Ways};
use super::crossing::Crossing;
use super::dataflow::{Direction, Lattice, Problem, Words};
use super::facts::Point;
use super::problems::Row;
use crate::ir::print::Printer;
use crate::ir::{Block, Cfg, Const, Function, Module, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Its row in the table of problems.
pub(super) const ROW: Row = Row {
    name: "constants",
    about: "constants: the values that are the same constant on every path",
    how: "forward, constants meet",
    draw,
};

fn draw(module: &Module, f: &Function, cfg: &Cfg, ways: Ways) -> Board {
    board::of(f, cfg, &Constants::new(module, f, cfg), ways)
}

/// What is known of all values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// No path has come here.
    Unseen,
    /// These are constants; all others vary.
    Constants(BTreeMap<Value, Const>),
}

impl Lattice for Known {
    fn meet(&mut self, other: &Self) -> bool {
        let Known::Constants(theirs) = other else { return false };
        let Known::Constants(ours) = self else {
            self.clone_from(other);
            return true;
        };
        let before = ours.len();
        ours.retain(|value, constant| theirs.get(value) == Some(constant));
        ours.len() != before
    }
}

/// The problem.
#[derive(Debug)]
pub struct Constants<'a> {
    module: &'a Module,
    crossing: Crossing,
}

impl<'a> Constants<'a> {
    /// The problem of a function.
    pub fn new(module: &'a Module, f: &Function, cfg: &Cfg) -> Self {
        Self { module, crossing: Crossing::compute(f, cfg) }
    }
}

/// The constant that a value is, by what is known.
pub fn constant(f: &Function, known: &BTreeMap<Value, Const>, value: Value) -> Option<Const> {
    f.as_const(value).or_else(|| known.get(&value).copied())
}

impl Problem for Constants<'_> {
    type State = Known;
    const DIRECTION: Direction = Direction::Forward;

    fn top(&self, _: &Function) -> Known {
        Known::Unseen
    }

    fn boundary(&self, _: &Function) -> Known {
        Known::Constants(BTreeMap::new())
    }

    fn transfer(&self, f: &Function, at: Point, state: &mut Known) {
        let (Some(inst), Known::Constants(known)) = (at.inst(f), state) else { return };
        let Some(result) = f.insts[inst].result else { return };
        let words = f.args(inst).iter().map(|&arg| constant(f, known, arg)?.bits());
        let words: Option<SmallVec<[u64; 4]>> = words.collect();
        let computed = words
            .zip(f.insts[inst].op.info().eval)
            .and_then(|(words, eval)| Const::from_bits(f.values[result].ty, eval(&words)?));
        match computed {
            Some(constant) => _ = known.insert(result, constant),
            None => _ = known.remove(&result),
        }
    }

    fn edge(&self, f: &Function, from: Block, index: usize, state: &mut Known) {
        let to = f.blocks[from].terminator.edges()[index].target;
        if let Known::Constants(known) = state {
            known.retain(|&value, _| self.crossing.matters_in(to, value));
        }
    }

    fn describe(&self, f: &Function, state: &Known) -> Words {
        let Known::Constants(known) = state else { return Words::Other("not seen".to_owned()) };
        let printer = Printer::new(self.module);
        let shown = known
            .iter()
            .map(|(&value, &constant)| format!("{} = {}", printer.value(f, value), show(constant)));
        Words::Facts(shown.collect())
    }
}

fn show(constant: Const) -> String {
    match constant {
        Const::Int(i) => i.to_string(),
        Const::Float(bits) => format!("{:?}", f64::from_bits(bits)),
        Const::Bool(b) => b.to_string(),
        Const::Nil => "nil".to_owned(),
        Const::Str(s) => s.to_string(),
        Const::Func(f) => f.to_string(),
    }
}
