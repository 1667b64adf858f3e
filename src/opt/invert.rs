//! Loop inversion: `while c { … }` becomes `if c { do { … } while c }`.
//!
//! A loop whose header tests and leaves, and whose back edges test nothing, gets a copy of its
//! header at the bottom: back edges lead to the copy, and the header itself, now outside, is the
//! guard. That is one jump less each time round, and behind the guard the body is known to run,
//! so that invariant code has a place to go.
//!
//! The header's values then have two definitions. Those that other blocks use become variables,
//! assigned in the header and in its copy, and SSA construction does the rest, once for all loops.
//! Outer loops go first: a copy takes over its original's edges as they are then.
//!
//! SSA → SSA, linear; each small header is copied at most once a run.

use super::Context;
use crate::analysis::loops::{Loop, Loops};
use crate::entity::SideTable;
use crate::ir::{
    Block, Cfg, Dominators, Form, Function, Loc, Op, Terminator, Value, ValueData, ValueDef,
};
use crate::source::Span;
use crate::ssa::{Construction, Folding, construct};
use toyjit_runtime::fault::{self, Fault};

/// Headers with more instructions stay single.
const MAX_HEADER: usize = 16;

/// Inverts loops.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let cfg = Cfg::compute(f);
    let loops = Loops::compute(&cfg, &Dominators::compute(&cfg));
    let chosen: Vec<(Loop, Block)> = loops
        .iter()
        .rev()
        .filter(|&(id, data)| wants_inversion(f, &cfg, &loops, id, data.header) && cx.fuel.tick())
        .map(|(id, data)| (id, data.header))
        .collect();
    if chosen.is_empty() {
        return;
    }
    let leaks = leaking_values(f, &cfg, &chosen);
    let (mut homes, mut twins) = (SideTable::new(None), SideTable::new(None));
    for (id, header) in chosen {
        let copy = copy_header(f, header, &leaks, &mut twins);
        homes[header] = Some(header);
        homes[copy] = Some(header);
        for edge in cfg.pred_edges(header) {
            if loops.contains(id, edge.block) {
                let edges = f.blocks[edge.block].terminator.edges_mut();
                edges[edge.index as usize].target = copy;
            }
        }
    }
    read_variables(f, &leaks, &homes);
    f.form = Form::Variable;
    construct(f, Construction::Braun, Folding::On);
}

/// Whether the header is small and leaves the loop, and no back edge comes from such a test.
fn wants_inversion(f: &Function, cfg: &Cfg, loops: &Loops, id: Loop, header: Block) -> bool {
    let leaves = |block: Block| {
        let edges = f.blocks[block].terminator.edges();
        edges.len() == 2 && edges.iter().any(|edge| !loops.contains(id, edge.target))
    };
    f.blocks[header].insts.len() <= MAX_HEADER
        && leaves(header)
        && f.succs(header).any(|succ| loops.contains(id, succ))
        && !cfg.preds(header).any(|pred| loops.contains(id, pred) && leaves(pred))
}

/// A value of a header that other blocks use.
#[derive(Clone, Copy)]
struct Leak {
    header: Block,
    /// The variable's value.
    variable: Value,
}

/// The values of the chosen headers that other blocks use, each with its new variable.
fn leaking_values(
    f: &mut Function,
    cfg: &Cfg,
    chosen: &[(Loop, Block)],
) -> SideTable<Value, Option<Leak>> {
    let mut homes = SideTable::new(None);
    for &(_, header) in chosen {
        let data = &f.blocks[header];
        let results = data.insts.iter().filter_map(|&inst| f.insts[inst].result);
        data.params.iter().copied().chain(results).for_each(|value| homes[value] = Some(header));
    }
    let mut leaking = Vec::new();
    for &block in cfg.rpo() {
        let mut visit = |value: Value| {
            if homes[value].is_some_and(|header| header != block) {
                leaking.extend(homes[value].take().map(|header| (value, header)));
            }
        };
        let data = &f.blocks[block];
        data.insts.iter().flat_map(|&inst| f.args(inst)).for_each(|&value| visit(value));
        data.terminator.for_each_use(visit);
    }
    let mut leaks = SideTable::new(None);
    for (value, header) in leaking {
        let variable = f.add_variable("", f.values[value].ty, Span::default());
        leaks[value] = Some(Leak { header, variable: f.variables[variable].value });
    }
    leaks
}

/// Makes the copy of a header; original and copy assign the variables of what leaks. `twins` is
/// scratch memory, empty before and after.
fn copy_header(
    f: &mut Function,
    header: Block,
    leaks: &SideTable<Value, Option<Leak>>,
    twins: &mut SideTable<Value, Option<Value>>,
) -> Block {
    let copy = f.add_block();
    let mut leaking = Vec::new();
    for i in 0..f.blocks[header].params.len() {
        let param = f.blocks[header].params[i];
        let twin = f.add_param(copy, f.values[param].ty);
        twins[param] = Some(twin);
        leaking.push((param, twin));
    }
    for i in 0..f.blocks[header].insts.len() {
        let mut data = f.insts[f.blocks[header].insts[i]];
        let args: Vec<Value> =
            f.pool.get(data.args).iter().map(|&arg| twins[arg].unwrap_or(arg)).collect();
        data.args = f.pool.list(&args);
        let inst = f.insts.next_key();
        if let Some(result) = data.result {
            let ty = f.values[result].ty;
            let twin = f.values.push(ValueData { ty, def: ValueDef::Inst(inst) });
            twins[result] = Some(twin);
            leaking.push((result, twin));
            data.result = Some(twin);
        }
        f.insts.push(data);
        f.blocks[copy].insts.push(inst);
    }
    let mut terminator = f.blocks[header].terminator.clone();
    terminator.map_uses(|value| twins[value].unwrap_or(value));
    f.blocks[copy].terminator = terminator;
    f.blocks[copy].loc = f.blocks[header].loc;
    for (value, twin) in leaking {
        twins[value] = None;
        if let Some(Leak { variable, .. }) = leaks[value]
            && let ValueDef::Variable(variable) = f.values[variable].def
        {
            f.append_assign(header, variable, Op::Copy, &[value], 0, Loc(0));
            let twin = if fault::is(Fault::InvertStale) { value } else { twin };
            f.append_assign(copy, variable, Op::Copy, &[twin], 0, Loc(0));
        }
    }
    copy
}

/// Lets all blocks but a value's header and its copy read the variable.
fn read_variables(
    f: &mut Function,
    leaks: &SideTable<Value, Option<Leak>>,
    homes: &SideTable<Block, Option<Block>>,
) {
    for block in f.blocks.keys() {
        let read = |value: Value| match leaks[value] {
            Some(leak) if homes[block] != Some(leak.header) => leak.variable,
            _ => value,
        };
        for i in 0..f.blocks[block].insts.len() {
            let inst = f.blocks[block].insts[i];
            f.args_mut(inst).iter_mut().for_each(|arg| *arg = read(*arg));
        }
        let mut terminator =
            std::mem::replace(&mut f.blocks[block].terminator, Terminator::Unreachable);
        terminator.map_uses(read);
        f.blocks[block].terminator = terminator;
    }
}
