//! Warnings about values that nothing reads: a local variable that is never read, and an assignment
//! (or a first value) that every path overwrites or forgets. Names that begin with `_` are exempt,
//! and so are parameters and the variables of loops. A function with code that can't be reached is
//! not looked at: a variable may be read there.

use super::assignment::source_name;
use super::dataflow::{GenKill, solve};
use super::facts::{FunctionFacts, Write, WriteKind};
use super::liveness::Liveness;
use super::sparse::SLICE;
use crate::entity::EntitySet;
use crate::ir::cfg::Cfg;
use crate::ir::{Function, Value, ValueDef, Variable};
use crate::source::Diagnostic;

/// Reports variables and values that are never read.
pub(super) fn check(f: &Function, cfg: &Cfg, facts: &FunctionFacts, out: &mut Vec<Diagnostic>) {
    let read = read_variables(f, cfg);
    let name = |variable: Variable| source_name(&f.variables[variable].name);
    let mut writes = Vec::new();
    let mut candidates = Vec::new();
    let mut seen = EntitySet::with_len(f.variables.len());
    for write in facts.writes.iter().filter(|w| !name(w.variable).starts_with('_')) {
        if read.contains(write.variable) {
            writes.push(*write);
            if seen.insert(write.variable) {
                candidates.push(write.variable);
            }
        } else if write.kind != WriteKind::Assignment {
            out.push(never_read(name(write.variable), write));
        }
    }
    writes.sort_by_key(|write| write.at);
    candidates.sort_unstable();
    for variables in candidates.chunks(SLICE) {
        let problem = Liveness::new(variables);
        let solution = solve(f, cfg, &problem);
        for block in writes.chunk_by(|a, b| a.at.block == b.at.block) {
            // Backward, as the state comes.
            let mut left = block.iter().rev().peekable();
            solution.replay(f, &problem, block[0].at.block, |at, behind| {
                if left.peek().is_none_or(|write| write.at != at) {
                    return;
                }
                let mut live = behind.clone();
                problem.transfer(f, at, &mut live);
                while let Some(write) = left.next_if(|write| write.at == at) {
                    let dead = problem.bit(write.variable).is_some_and(|bit| !live.contains(bit));
                    if dead && write.kind != WriteKind::Late {
                        out.push(overwritten(name(write.variable), write));
                    }
                }
            });
        }
    }
}

/// The variables that some reachable code reads.
fn read_variables(f: &Function, cfg: &Cfg) -> EntitySet<Variable> {
    let mut read = EntitySet::with_len(f.variables.len());
    let mut note = |value: Value| {
        if let ValueDef::Variable(variable) = f.values[value].def {
            read.insert(variable);
        }
    };
    for &block in cfg.rpo() {
        let data = &f.blocks[block];
        data.insts.iter().flat_map(|&inst| f.args(inst)).for_each(|&arg| note(arg));
        data.terminator.for_each_use(&mut note);
    }
    read
}

fn never_read(name: &str, write: &Write) -> Diagnostic {
    Diagnostic::warning("W0611", write.span, format!("`{name}` is never read"), "")
        .help(format!("if that is meant, call it `_{name}`"))
}

fn overwritten(name: &str, write: &Write) -> Diagnostic {
    let message = format!("the value that `{name}` gets here is never read");
    Diagnostic::warning("W0612", write.span, message, "")
}
