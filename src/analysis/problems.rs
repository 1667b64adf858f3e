//! The table of dataflow problems: what `toyjit analyze` can show. To add a problem, write its file
//! (direction, meet, transfer, a row) and name its row here.

use super::board::{Board, Ways};
use super::{
    assignment, available, busy, constants, dominance, liveness, reachability, reaching, taint,
};
use crate::ir::{Cfg, Function, Module};

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Direction and meet.
    pub how: &'static str,
    /// Solves it on a function in the variable form, round by round and with a worklist.
    pub draw: fn(&Module, &Function, &Cfg, Ways) -> Board,
}

/// The problems.
pub static PROBLEMS: &[Row] = &[
    reaching::ROW,
    available::ROW,
    liveness::ROW,
    busy::ROW,
    assignment::ROW,
    dominance::ROW,
    constants::ROW,
    taint::ROW,
    reachability::ROW,
];

/// The problem of this name.
pub fn named(name: &str) -> Option<&'static Row> {
    PROBLEMS.iter().find(|row| row.name == name)
}
