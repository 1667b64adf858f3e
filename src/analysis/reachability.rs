//! Reachability: a forward may problem of one bit. Its solution tells whether a function with a
//! result can fall off its end, and which statements nothing leads to.
//!
//! Calls of `panic` and `exit` go on in the code, and every condition but the literal `true` of a
//! `while` keeps both its ways, so that the answer is that of LANGUAGE.md §9.5.

use super::board::{self, Board, Ways};
use super::dataflow::{Direction, Lattice, Problem, Words, solve};
use super::facts::{FunctionFacts, Point};
use super::problems::Row;
use crate::ir::cfg::Cfg;
use crate::ir::{Function, Module};
use crate::source::{Diagnostic, Span};

/// Its row in the table of problems.
pub(super) const ROW: Row = Row {
    name: "reachable",
    about: "reachability: whether any path comes here",
    how: "forward, or",
    draw,
};

fn draw(_: &Module, f: &Function, cfg: &Cfg, ways: Ways) -> Board {
    board::of(f, cfg, &Reachability, ways)
}

/// Whether control can come here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached(pub bool);

impl Lattice for Reached {
    fn meet(&mut self, other: &Self) -> bool {
        let changed = other.0 && !self.0;
        self.0 |= other.0;
        changed
    }
}

/// The problem.
#[derive(Clone, Copy, Debug)]
pub struct Reachability;

impl Problem for Reachability {
    type State = Reached;
    const DIRECTION: Direction = Direction::Forward;

    fn top(&self, _: &Function) -> Reached {
        Reached(false)
    }

    fn boundary(&self, _: &Function) -> Reached {
        Reached(true)
    }

    fn transfer(&self, _: &Function, _: Point, _: &mut Reached) {}

    fn describe(&self, _: &Function, state: &Reached) -> Words {
        Words::Other(if state.0 { "reached" } else { "not reached" }.to_owned())
    }
}

/// Reports a reachable end of a function with a result, and statements that can't be reached: the
/// first of each stretch.
pub(super) fn check(f: &Function, cfg: &Cfg, facts: &FunctionFacts, out: &mut Vec<Diagnostic>) {
    let solution = solve(f, cfg, &Reachability);
    if facts.end.is_some_and(|end| solution.input(end).0) {
        out.push(missing_return(facts));
    }
    let mut reported_to = 0;
    for statement in &facts.statements {
        if solution.input(statement.block).0 || statement.span.start < reported_to {
            continue;
        }
        reported_to = statement.list_end;
        if !statement.begins_arm {
            let message = "this can never be reached";
            out.push(Diagnostic::warning("W0610", statement.span, message, ""));
        }
    }
}

fn missing_return(facts: &FunctionFacts) -> Diagnostic {
    let message = match &facts.name {
        Some(name) => format!("`{name}` can end without returning a value"),
        None => "this function can end without returning a value".to_owned(),
    };
    let close = Span::new(facts.body.end.saturating_sub(1), facts.body.end);
    Diagnostic::error("E0502", facts.head, message, "")
        .label(close, "its end can be reached")
        .help("a function with a result must `return` one on every path")
}
