//! Definite assignment: a forward must problem on the variables that are declared without a value.
//!
//! A variable is in the set where every path from the entry assigns it. A read of a variable that
//! is not in the set is an error; from there on the variable counts as assigned, so that one mistake
//! is told once on each path. A declaration that is passed again in a loop needs no care: the path
//! that comes to it first has not assigned the variable, and that is one of the paths.
//!
//! The problem is solved for at most [`SLICE`] variables at a time, so that memory stays linear.

use super::bits::{Bits, Must};
use super::board::{self, Board, Ways};
use super::dataflow::{Direction, GenKill, solve};
use super::facts::{FunctionFacts, Point, Read};
use super::problems::Row;
use super::sparse::SLICE;
use super::subset::Subset;
use super::variables::assigned_variable;
use crate::ir::cfg::Cfg;
use crate::ir::{Function, Module, Variable};
use crate::source::{Diagnostic, Span};

/// Its row in the table of problems.
pub(super) const ROW: Row = Row {
    name: "assigned",
    about: "definite assignment: the variables that every path here assigns",
    how: "forward, intersection",
    draw,
};

fn draw(_: &Module, f: &Function, cfg: &Cfg, ways: Ways) -> Board {
    let variables: Vec<Variable> = f.variables.keys().collect();
    board::of_sets(f, cfg, &Assigned::new(&variables, &[]), ways)
}

/// The problem, for some of the variables.
#[derive(Debug)]
pub(super) struct Assigned<'a> {
    variables: Subset<'a, Variable>,
    /// In the order of their points.
    reads: &'a [Read],
}

impl<'a> Assigned<'a> {
    pub(super) fn new(variables: &'a [Variable], reads: &'a [Read]) -> Self {
        Self { variables: Subset::new(variables), reads }
    }

    fn bit(&self, variable: Variable) -> Option<usize> {
        self.variables.bit(variable)
    }

    /// The reads at a point.
    fn reads_at(&self, at: Point) -> impl Iterator<Item = &'a Read> + '_ {
        let first = self.reads.partition_point(|read| read.at < at);
        self.reads[first..].iter().take_while(move |read| read.at == at)
    }
}

impl GenKill for Assigned<'_> {
    type Meet = Must;
    const DIRECTION: Direction = Direction::Forward;

    fn len(&self, _: &Function) -> usize {
        self.variables.len()
    }

    fn transfer(&self, f: &Function, at: Point, bits: &mut Bits<Must>) {
        let read = self.reads_at(at).map(|read| read.variable);
        let assigned = at.inst(f).and_then(|inst| assigned_variable(f, inst));
        for bit in read.chain(assigned).filter_map(|variable| self.bit(variable)) {
            bits.insert(bit);
        }
    }

    fn name(&self, f: &Function, bit: usize) -> String {
        f.variables[self.variables.fact(bit)].name.clone()
    }
}

/// Reports reads of variables that are not assigned on every path.
pub(super) fn check(f: &Function, cfg: &Cfg, facts: &FunctionFacts, out: &mut Vec<Diagnostic>) {
    let mut reads = facts.reads.clone();
    reads.sort_by_key(|read| read.at);
    let mut late = facts.late.clone();
    late.sort_unstable();
    for variables in late.chunks(SLICE) {
        let problem = Assigned::new(variables, &reads);
        let solution = solve(f, cfg, &problem);
        for &block in cfg.rpo() {
            solution.replay(f, &problem, block, |at, assigned| {
                if problem.reads_at(at).next().is_none() {
                    return;
                }
                let mut assigned = assigned.clone();
                for read in problem.reads_at(at) {
                    let Some(bit) = problem.bit(read.variable) else { continue };
                    if !assigned.contains(bit) {
                        assigned.insert(bit);
                        let data = &f.variables[read.variable];
                        out.push(unassigned(source_name(&data.name), read.span, data.span));
                    }
                }
            });
        }
    }
}

/// The name in the source of a variable that may bear a number in the IR.
pub(super) fn source_name(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// The error about a use of a variable or global.
pub(super) fn unassigned(name: &str, used: Span, declared: Span) -> Diagnostic {
    let message = format!("`{name}` is used where it may have no value");
    Diagnostic::error("E0501", used, message, "not assigned on every path to here")
        .label(declared, "declared here without a value")
        .help(format!("assign `{name}` on every path before this, or where it is declared"))
}
