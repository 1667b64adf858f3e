//! Warnings about values that nothing reads: a local variable that is never read, and an assignment
//! (or a first value) that every path overwrites or forgets. Names that begin with `_` are exempt,
//! and so are parameters and the variables of loops. A function with code that can't be reached is
//! not looked at: a variable may be read there. Where an assignment overwrites the value, reaching
//! definitions tell which.

use super::assignment::source_name;
use super::bits::{Bits, May};
use super::dataflow::{GenKill, replay, solve};
use super::facts::{FunctionFacts, Point, Write, WriteKind};
use super::liveness::Liveness;
use super::reaching::{Definition, Definitions, Reaching};
use super::soon::is_read_soon;
use super::sparse::{SLICE, Sparse};
use super::variables::assigned_variable;
use crate::entity::EntitySet;
use crate::ir::cfg::Cfg;
use crate::ir::{Function, Inst, Value, ValueDef, Variable};
use crate::source::Diagnostic;

/// Reports variables and values that are never read.
pub(super) fn check(f: &Function, cfg: &Cfg, facts: &FunctionFacts, out: &mut Vec<Diagnostic>) {
    let read = read_variables(f, cfg);
    let name = |variable: Variable| source_name(&f.variables[variable].name);
    let mut writes = Vec::new();
    for write in facts.writes.iter().filter(|w| !name(w.variable).starts_with('_')) {
        if read.contains(write.variable) {
            writes.push(*write);
        } else if write.kind != WriteKind::Assignment {
            out.push(never_read(name(write.variable), write));
        }
    }
    writes.sort_by_key(|write| write.at);
    let dead = dead_writes(f, cfg, &writes);
    let overwriting = overwriting(f, cfg, &dead, &writes);
    for (write, later) in dead.iter().zip(overwriting) {
        let warning = unread(name(write.variable), write);
        out.push(match later {
            Some(later) => warning.label(later.span, "overwritten here"),
            None => warning,
        });
    }
}

/// What a look for a read nearby costs, in words of sets of live variables.
const SOON_COST: usize = 16;

/// The variables that are written, in order.
fn variables_of(writes: &[Write]) -> Vec<Variable> {
    let mut variables: Vec<Variable> = writes.iter().map(|write| write.variable).collect();
    variables.sort_unstable();
    variables.dedup();
    variables
}

/// The writes that nothing reads, of some in the order of their points.
fn dead_writes(f: &Function, cfg: &Cfg, writes: &[Write]) -> Vec<Write> {
    let mut dead = Vec::new();
    let has_value = |write: &&Write| write.kind != WriteKind::Late;
    let mut doubtful: Vec<Write> = writes.iter().filter(has_value).copied().collect();
    let mut candidates = variables_of(&doubtful);
    if candidates.len() / 64 * cfg.rpo().len() > SOON_COST * doubtful.len() {
        doubtful.retain(|write| !is_read_soon(f, write.at, write.variable));
        candidates = variables_of(&doubtful);
    }
    for variables in candidates.chunks(SLICE) {
        let problem = Liveness::new(variables);
        let solution = solve(f, cfg, &problem);
        for block in doubtful.chunk_by(|a, b| a.at.block == b.at.block) {
            // Backward, as the state comes; what holds behind a point holds before the next one.
            let mut left = block.iter().rev().peekable();
            let mut judge = |index: u32, live: &Bits<May>| {
                while let Some(write) = left.next_if(|write| write.at.index == index) {
                    if problem.bit(write.variable).is_some_and(|bit| !live.contains(bit)) {
                        dead.push(*write);
                    }
                }
            };
            solution.replay(f, &problem, block[0].at.block, |at, behind| {
                judge(at.index + 1, behind);
                if at.index == 0 {
                    let mut live = behind.clone();
                    problem.transfer(f, at, &mut live);
                    judge(0, &live);
                }
            });
        }
    }
    dead
}

/// For each dead write the first of the writes that it reaches, by reaching definitions.
fn overwriting(f: &Function, cfg: &Cfg, dead: &[Write], writes: &[Write]) -> Vec<Option<Write>> {
    let mut later: Vec<Option<Write>> = vec![None; dead.len()];
    if dead.is_empty() {
        return later;
    }
    let definitions = Definitions::compute(f, cfg);
    let mut facts: Vec<(Definition, usize)> = dead
        .iter()
        .enumerate()
        .filter_map(|(index, write)| Some((definitions.of_inst(assignment(f, write)?.1)?, index)))
        .collect();
    facts.sort_unstable();
    facts.dedup_by_key(|fact| fact.0);
    let mut solver = Sparse::new(f);
    for slice in facts.chunks(SLICE) {
        let some: Vec<Definition> = slice.iter().map(|fact| fact.0).collect();
        let problem = Reaching::new(&definitions, &some);
        solver.solve(f, cfg, &problem, problem.seeds());
        for block in writes.chunk_by(|a, b| a.at.block == b.at.block) {
            let Some(input) = solver.input(block[0].at.block) else { continue };
            let writes = block.iter().filter_map(|write| Some((assignment(f, write)?.0, write)));
            let mut left = writes.peekable();
            replay(f, &problem, block[0].at.block, input, |at, reaching| {
                while let Some((_, write)) = left.next_if(|(assigned, _)| *assigned == at) {
                    let variable = definitions.of_variable(write.variable);
                    for bit in problem.bits(variable).filter(|&bit| reaching.contains(bit)) {
                        let first = &mut later[slice[bit].1];
                        if first.is_none_or(|first| write.span.start < first.span.start) {
                            *first = Some(*write);
                        }
                    }
                }
            });
        }
    }
    later
}

/// The instruction that does a write, which stands before the point where it is done; none where the
/// value comes from several blocks.
fn assignment(f: &Function, write: &Write) -> Option<(Point, Inst)> {
    let at = Point { index: write.at.index.checked_sub(1)?, ..write.at };
    let inst = at.inst(f)?;
    (assigned_variable(f, inst) == Some(write.variable)).then_some((at, inst))
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

fn unread(name: &str, write: &Write) -> Diagnostic {
    let message = format!("the value that `{name}` gets here is never read");
    Diagnostic::warning("W0612", write.span, message, "")
}
