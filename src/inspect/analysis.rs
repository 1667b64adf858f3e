//! Dataflow problems solved on functions, told as text and as JSON.

use super::{Problem, View};
use crate::analysis::board::{Board, Visit, Ways};
use crate::ir::{Cfg, Function};
use serde_json::{Value, json};

/// A problem that was solved.
#[derive(Debug)]
pub struct Analysis<'v> {
    view: &'v View<'v>,
    problem: &'static Problem,
    boards: Vec<Board>,
}

impl View<'_> {
    /// Solves a dataflow problem on each function.
    pub fn analyze(&self, problem: &'static Problem) -> Analysis<'_> {
        let functions = self.functions.iter().map(|&id| &self.module.functions[id]);
        let board = |f| (problem.draw)(&self.module, f, &Cfg::compute(f), Ways::Rounds);
        Analysis { view: self, problem, boards: functions.map(board).collect() }
    }
}

impl Analysis<'_> {
    fn functions(&self) -> impl Iterator<Item = (&Function, &Board)> {
        let functions = self.view.functions.iter().map(|&id| &self.view.module.functions[id]);
        functions.zip(&self.boards)
    }

    /// The facts at each block beside its code; with `trace` each round on the way there.
    pub fn text(&self, trace: bool) -> String {
        let text = |(f, board): (_, &Board)| board.text(&self.view.module, f, self.problem, trace);
        self.functions().map(text).collect()
    }

    /// The same for tools.
    pub fn json(&self, trace: bool) -> Value {
        let functions: Vec<Value> =
            self.functions().map(|(f, board)| to_json(f, board, trace)).collect();
        json!({ "problem": self.problem.name, "how": self.problem.how, "functions": functions })
    }
}

fn to_json(f: &Function, board: &Board, trace: bool) -> Value {
    let blocks: Vec<Value> = board
        .blocks
        .iter()
        .map(|drawn| {
            json!({
                "block": drawn.block.to_string(),
                "succs": f.succs(drawn.block).map(|succ| succ.to_string()).collect::<Vec<_>>(),
                "gen": drawn.added.as_ref().map(ToString::to_string),
                "kill": drawn.killed.as_ref().map(ToString::to_string),
                "in": drawn.input.to_string(),
                "out": drawn.output.to_string(),
            })
        })
        .collect();
    let mut whole = json!({
        "function": f.name,
        "facts": board.legend.iter().map(|(name, meaning)| json!({ "name": name, "is": meaning }))
            .collect::<Vec<_>>(),
        "blocks": blocks,
        "rounds": board.rounds.len(),
    });
    if trace {
        let visit = |visit: &Visit| {
            json!({
                "block": visit.block.to_string(),
                "in": visit.input.to_string(),
                "out": visit.output.to_string(),
                "changed": visit.changed,
            })
        };
        let rounds = board.rounds.iter().map(|round| round.iter().map(visit).collect::<Vec<_>>());
        whole["trace"] = json!(rounds.collect::<Vec<_>>());
    }
    whole
}
