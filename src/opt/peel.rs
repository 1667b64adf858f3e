//! Peeling: the first round of a loop becomes a copy before it, for the sake of what is checked there.
//!
//! A check of an invariant that comes after what may trap or print can't move before the loop, and
//! neither can what is loaded by its leave: `a[i]` in `s += b[k][j] * a[i][k]` waits for the check of
//! `b[k]`, and with it the length and the buffer of the row. Behind a copy of the first round it
//! is known, as LuaJIT's loops have it (Ardö, Bolz and Fijałkowski 2012): `gvn` finds check and loads
//! made, and what rests on them is invariant for `split`.
//!
//! Taken are innermost loops that load a reference so, each time round.
//!
//! SSA → SSA, linear; each loop is copied at most once a run.

use super::effects::{add, clobbers, effects};
use super::linear;
use super::region::Regions;
use super::{Context, cleanup};
use crate::analysis::loops::{Innermost, Loop, Loops};
use crate::entity::SideTable;
use crate::ir::{
    Block, Cfg, Dominators, Effects, Function, Inst, Loc, Module, Op, Terminator, Type, Value,
    Writes,
};
use toyjit_runtime::fault::{self, Fault};

/// Loops with more instructions stay as they are.
const MAX_SIZE: usize = 64;

/// Peels loops.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    if !f.insts.keys().any(|inst| loads_reference(f, inst)) {
        return;
    }
    let Some((cfg, loops)) = cx.graph.loops(f) else { return };
    let mut inner = loops.innermost_loops(&cfg);
    inner.retain(|inner| may_want_it(f, inner));
    if inner.is_empty() {
        return;
    }
    let (_, dominators) = cx.graph.dominators(f);
    let homes = linear::homes(f, &cfg, &loops);
    inner.retain(|inner| {
        let load = waiting_load(f, cx.module, &dominators, &homes, inner);
        let is_taken = load.is_some() && cx.fuel.tick();
        if let Some(loc) = load.filter(|_| is_taken) {
            let said = || "first round peeled: what is loaded here is known then".to_owned();
            cx.remarks.say("peel", f, loc, said);
        }
        is_taken
    });
    if inner.is_empty() {
        return;
    }
    let bodies: Vec<Vec<Block>> = inner.iter().map(|inner| inner.body.clone()).collect();
    let mut regions = Regions::new(f, &cfg, &bodies);
    for inner in inner {
        regions.copy(f, &inner.body);
        let (latch, way) = inner.latch;
        let first = regions.block(inner.header);
        for &block in &entries(&cfg, &loops, &inner) {
            for edge in f.blocks[block].terminator.edges_mut() {
                if edge.target == inner.header {
                    edge.target = first;
                }
            }
        }
        let copy = &mut f.blocks[regions.block(latch)].terminator;
        copy.edges_mut()[way].target = inner.header;
        if fault::is(Fault::PeelLeaves)
            && let [one, other] = copy.edges()
        {
            let out = if way == 0 { other.clone() } else { one.clone() };
            *copy = Terminator::Jump(out);
        }
    }
    regions.finish(f);
    cleanup::run(f, cx);
}

/// The blocks that lead into a loop from outside.
fn entries(cfg: &Cfg, loops: &Loops, inner: &Innermost) -> Vec<Block> {
    cfg.preds(inner.header).filter(|&pred| !loops.contains(inner.id, pred)).collect()
}

/// Whether the loop is small and has a check and a load of a reference.
fn may_want_it(f: &Function, inner: &Innermost) -> bool {
    let insts = || inner.body.iter().flat_map(|&block| f.blocks[block].insts.iter());
    insts().any(|&inst| loads_reference(f, inst))
        && insts().any(|&inst| is_check(f, inst))
        && insts().take(MAX_SIZE + 1).count() <= MAX_SIZE
}

fn is_check(f: &Function, inst: Inst) -> bool {
    matches!(f.insts[inst].op, Op::CheckBounds | Op::CheckNil)
}

fn loads_reference(f: &Function, inst: Inst) -> bool {
    let data = &f.insts[inst];
    matches!(data.op, Op::LoadElem | Op::LoadField)
        && data.result.is_some_and(|result| f.values[result].ty == Type::Ref)
}

/// What a loop's value depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depends {
    /// On what changes.
    Varies,
    /// On what does not; it is known before the loop, or can be.
    Invariant,
    /// On what does not, and on a check that can't move.
    Waiting,
}

/// A load of a reference each time round that only waits for a check of invariants; its place.
fn waiting_load(
    f: &Function,
    module: &Module,
    dominators: &Dominators,
    homes: &SideTable<Value, Option<Loop>>,
    inner: &Innermost,
) -> Option<Loc> {
    let insts = || inner.body.iter().flat_map(|&block| f.blocks[block].insts.iter().copied());
    let mut writes = Writes::default();
    insts().for_each(|inst| add(&mut writes, clobbers(module, f, inst)));
    writes.sort();
    let mut known = SideTable::new(Depends::Varies);
    let mut runs_first = true;
    for &block in &inner.body {
        runs_first &= block == inner.header;
        let each_round = dominators.dominates(block, inner.latch.0);
        for &inst in &f.blocks[block].insts {
            let data = &f.insts[inst];
            let effects = effects(module, f, inst);
            let of = |&arg: &Value| match homes[arg] == Some(inner.id) {
                true => known[arg],
                false => Depends::Invariant,
            };
            let changes = effects.has(Effects::READS) && writes.has(data.op.info().space, data.imm);
            let computes = effects.0 & !Effects::READS.and(Effects::TRAPS).0 == 0
                && !matches!(data.op, Op::Call | Op::CallValue | Op::Rt);
            let mut depends = Depends::Invariant;
            if changes || !computes || f.args(inst).iter().any(|arg| of(arg) == Depends::Varies) {
                depends = Depends::Varies;
            } else if f.args(inst).iter().any(|arg| of(arg) == Depends::Waiting)
                || effects.has(Effects::TRAPS) && !runs_first
            {
                depends = Depends::Waiting;
            }
            if depends == Depends::Waiting && each_round && loads_reference(f, inst) {
                return Some(data.loc);
            }
            let moves = depends == Depends::Invariant;
            runs_first &= moves || effects.0 & !Effects::READS.0 == 0;
            if let Some(result) = data.result {
                known[result] = depends;
            }
        }
    }
    None
}
