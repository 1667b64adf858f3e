//! What calls may do: effects and writes of functions, bottom-up over the call graph.
//!
//! A function does what its instructions do, and what it calls; the functions of a cycle of calls
//! all do the same. What goes round (a loop, a cycle of calls) may never come back, which counts as
//! a trap. Function values may do anything.
//!
//! It is looked once for the whole module, before the passes: these only take away from what a
//! function does. Linear in the module, and in the calls times what is written.

use super::effects::{add, clobbers, effects};
use crate::analysis::components::components;
use crate::ir::{
    Block, Cfg, ENTRY, Effects, FuncRef, Function, Module, Op, Summary, Terminator, Writes,
};
use toyjit_runtime::fault::{self, Fault};

/// More locations than this are everything.
const MAX_LOCATIONS: usize = 64;

/// Notes in the module what its functions do; the functions in an order in which callees come before
/// callers, but for cycles of calls.
pub fn find(module: &mut Module) -> Vec<FuncRef> {
    let calls: Vec<Vec<usize>> = module.functions.values().map(callees).collect();
    let component = components(calls.len(), |number| calls[number].clone());
    let mut order: Vec<FuncRef> = module.functions.keys().collect();
    order.sort_by_key(|id| component[id.0 as usize]);
    let worst = Writes { everything: true, ..Writes::default() };
    let worst = Summary { effects: Effects::ALL, writes: worst, calls: 0 };
    module.summaries = vec![worst; order.len()];
    let mut numbers = vec![0; order.len()];
    calls.iter().flatten().for_each(|&callee| numbers[callee] += 1);
    for cycle in order.chunk_by(|a, b| component[a.0 as usize] == component[b.0 as usize]) {
        let own = component[cycle[0].0 as usize];
        let calls_itself =
            |id: &FuncRef| calls[id.0 as usize].iter().any(|&callee| component[callee] == own);
        let mut summary = Summary { effects: Effects::NONE, writes: Writes::default(), calls: 0 };
        for &id in cycle {
            add_function(&mut summary, module, id, |callee| component[callee] == own);
        }
        if cycle.iter().any(calls_itself) {
            summary.effects = summary.effects.and(Effects::TRAPS);
        }
        summary.writes.sort();
        summary.writes.everything |= summary.writes.locations.len() > MAX_LOCATIONS;
        for &id in cycle {
            let number = id.0 as usize;
            module.summaries[number] = Summary { calls: numbers[number], ..summary.clone() };
        }
    }
    order
}

/// Adds what a function does, but for its calls of functions that are being looked at.
fn add_function(
    summary: &mut Summary,
    module: &Module,
    id: FuncRef,
    is_open: impl Fn(usize) -> bool,
) {
    let f = &module.functions[id];
    for block in f.blocks.values() {
        for &inst in &block.insts {
            let data = &f.insts[inst];
            if data.op == Op::Call && is_open(data.imm as usize) {
                continue;
            }
            summary.effects = summary.effects.and(effects(module, f, inst));
            if !(fault::is(Fault::SummaryFields) && data.op == Op::StoreField) {
                add(&mut summary.writes, clobbers(module, f, inst));
            }
        }
    }
    if may_not_end(f) {
        summary.effects = summary.effects.and(Effects::TRAPS);
    }
    // A function without a body is somebody else's.
    let entry = &f.blocks[ENTRY];
    if entry.insts.is_empty() && entry.terminator == Terminator::Unreachable {
        summary.effects = Effects::ALL;
        summary.writes.everything = true;
    }
}

/// Whether there is a cycle.
fn may_not_end(f: &Function) -> bool {
    f.may_loop() && {
        let cfg = Cfg::compute(f);
        let number = |block: Block| cfg.rpo_number(block);
        cfg.rpo().iter().any(|&block| f.succs(block).any(|succ| number(succ) <= number(block)))
    }
}

fn callees(f: &Function) -> Vec<usize> {
    let insts = f.blocks.values().flat_map(|data| &data.insts);
    let calls = insts.filter(|&&inst| f.insts[inst].op == Op::Call);
    calls.map(|&inst| f.insts[inst].imm as usize).collect()
}
