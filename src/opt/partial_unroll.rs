//! Partial unrolling: a counted innermost loop goes several rounds at a time.
//!
//! Where the loop's test compares a counter with an invariant, `k` copies of the body follow each other
//! without tests, and the last one goes round while `k` more rounds are sure: while the test would
//! hold against a limit `k - 1` steps nearer. Nearer limits don't wrap; where a limit is so near to the end of
//! int that this one would, it is taken for one that lets nothing through. What is left, fewer rounds than
//! `k` and one more, runs in the loop as it was, and so does all of a loop that ends soon.
//!
//! Other ways out stay in each copy, and so does everything else, in its order: floats are summed up as
//! they were. What is saved is the test, the jump, and the counter, which `fold` adds up.
//!
//! SSA → SSA, linear in what comes out.

use super::append::{emit, emit_values};
use super::licm::preheader;
use super::linear::{self, View};
use super::region::Regions;
use super::split::{Test, test};
use super::{Context, cleanup};
use crate::analysis::loops::Innermost;
use crate::entity::EntitySet;
use crate::ir::{Block, Cfg, Const, Edge, Function, Inst, Op, Terminator};
use toyjit_runtime::fault::{self, Fault};

/// Rounds at a time, the more the better, and instructions in all copies together at most.
const ROUNDS: [i64; 2] = [4, 2];
const MAX_SIZE: i64 = 64;
/// Loops that are known to go round no more often than this stay.
const FEW: u64 = 16;

/// A loop to be unrolled.
struct Plan {
    inner: Innermost,
    test: Test,
    rounds: i64,
}

/// Unrolls loops.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let Some((cfg, loops)) = cx.graph.loops(f) else { return };
    let homes = linear::homes(f, &cfg, &loops);
    let mut plans = Vec::new();
    let innermost = loops.innermost_loops(&cfg);
    let latches: EntitySet<Block> = innermost.iter().map(|inner| inner.latch.0).collect();
    for inner in innermost {
        let Some(rounds) = rounds(f, &inner) else { continue };
        let counters = linear::counters(f, inner.header, inner.latch);
        let own = inner.id;
        let view = View { header: inner.header, counters: &counters, own, homes: &homes };
        let Some(test) = test(f, &view, inner.latch) else { continue };
        if !is_short(f, &cfg, &inner, &test)
            && !is_rest(f, &cfg, &inner, &latches)
            && cx.fuel.tick()
        {
            let loc = f.blocks[inner.latch.0].loc;
            let said = || format!("loop unrolled: {rounds} rounds at a time");
            cx.remarks.say("partial-unroll", f, loc, said);
            plans.push((preheader(f, &cfg, &loops, own), Plan { inner, test, rounds }));
        }
    }
    if plans.is_empty() {
        return;
    }
    let bodies: Vec<Vec<Block>> = plans.iter().map(|(_, plan)| plan.inner.body.clone()).collect();
    let mut regions = Regions::new(f, &cfg, &bodies);
    for (before, plan) in plans {
        plan.carry_out(f, before, &mut regions);
    }
    regions.finish(f);
    // What the copies of a header are entered with is what it is.
    cleanup::run(f, cx);
}

/// How many rounds at a time pay.
fn rounds(f: &Function, inner: &Innermost) -> Option<i64> {
    let insts = || inner.body.iter().flat_map(|&block| f.blocks[block].insts.iter());
    let calls = |&inst: &Inst| matches!(f.insts[inst].op, Op::Call | Op::CallValue | Op::Rt);
    let size = (insts().count() + inner.body.len()) as i64;
    let rounds = ROUNDS.into_iter().find(|rounds| rounds * size <= MAX_SIZE)?;
    (!insts().any(calls)).then_some(rounds)
}

/// Whether the loop is known to go round a few times only.
fn is_short(f: &Function, cfg: &Cfg, inner: &Innermost, test: &Test) -> bool {
    let Some(Const::Int(limit)) = f.as_const(test.limit) else { return false };
    cfg.pred_edges(inner.header).iter().any(|edge| {
        let edge = &f.blocks[edge.block].terminator.edges()[edge.index as usize];
        let start = f.as_const(edge.args[test.counter.place]);
        let rounds = |start: i64| start.abs_diff(limit) / test.counter.step.unsigned_abs();
        matches!(start, Some(Const::Int(start)) if rounds(start) <= FEW)
    })
}

/// Whether the loop goes on where another one, its part without checks, stopped: by the same test.
fn is_rest(f: &Function, cfg: &Cfg, inner: &Innermost, latches: &EntitySet<Block>) -> bool {
    let tested = |block: Block| match &f.blocks[block].terminator {
        Terminator::Branch { args, .. } => args.as_slice(),
        _ => &[],
    };
    let goes_on = |block: Block| match cfg.pred_edges(block) {
        [edge] if latches.contains(edge.block) && f.blocks[block].insts.is_empty() => {
            tested(block).iter().any(|arg| tested(edge.block).contains(arg))
        }
        _ => false,
    };
    cfg.preds(inner.header).filter(|&pred| pred != inner.latch.0).any(|pred| {
        goes_on(pred)
            || matches!(f.blocks[pred].terminator, Terminator::Jump(_))
                && cfg.preds(pred).any(goes_on)
    })
}

impl Plan {
    fn carry_out(&self, f: &mut Function, before: Block, regions: &mut Regions) {
        let Terminator::Jump(entry) = f.blocks[before].terminator.clone() else { return };
        let Self { inner, test, rounds } = self;
        let (latch, way) = inner.latch;
        let up = test.counter.step > 0;
        let (nearer, op) = if up { (Op::IMax, Op::ILt) } else { (Op::IMin, Op::IGt) };
        let ahead = (rounds - 1) * test.counter.step;
        let nearest = if up { i64::MIN + ahead } else { i64::MAX + ahead };
        let nearest = f.int(nearest);
        let loc = f.blocks[before].loc;
        let limit = emit_values(f, before, nearer, test.limit, nearest, loc);
        let ahead = if fault::is(Fault::PartialLate) { ahead - test.counter.step } else { ahead };
        let limit = emit(f, before, Op::IAdd, limit, Const::Int(-ahead), loc);
        let first = entry.args[test.counter.place];
        let first = emit(f, before, Op::IAdd, first, Const::Int(test.plus), loc);
        let mut main = None;
        let mut last = None;
        for _ in 0..*rounds {
            regions.copy(f, &inner.body);
            let (header, latch) = (regions.block(inner.header), regions.block(latch));
            main = main.or(Some(header));
            if let Some(last) = last.replace(latch) {
                let mut edge = f.blocks[last].terminator.edges()[way].clone();
                edge.target = header;
                f.blocks[last].terminator = Terminator::Jump(edge);
            }
        }
        let (Some(main), Some(last)) = (main, last) else { return };
        let mut original = f.blocks[last].terminator.clone();
        let edge = &mut original.edges_mut()[way];
        let round = Edge { target: main, args: edge.args.clone() };
        edge.target = inner.header;
        let rest = f.add_block();
        f.blocks[rest].loc = f.blocks[latch].loc;
        f.blocks[rest].terminator = original;
        let args = [regions.value(test.value), limit];
        f.blocks[last].terminator = Terminator::Branch { op, args, edges: [round, Edge::to(rest)] };
        let into = Edge { target: main, args: entry.args.clone() };
        f.blocks[before].terminator =
            Terminator::Branch { op, args: [first, limit], edges: [into, entry] };
    }
}
