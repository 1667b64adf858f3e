//! Full unrolling: an innermost loop that goes round a few times, known now, becomes that many copies
//! of its body.
//!
//! The number of rounds is found by going through the loop's test: a counter that begins at a
//! constant and grows by one is compared with a constant. Each copy leads to the next, the last one
//! out of the loop; other ways out stay. What the counter is in each copy is a constant then, and
//! so are indices, which are compared with lengths no more.
//!
//! SSA → SSA, linear in what comes out.

use super::region::Regions;
use super::sums::sum;
use super::{Context, cleanup};
use crate::analysis::loops::Innermost;
use crate::entity::SideTable;
use crate::ir::{Block, Cfg, Const, Function, Terminator, Type, Value};
use crate::ssa::evaluate;
use toyjit_runtime::fault::{self, Fault};

/// Loops with more rounds stay.
const MAX_ROUNDS: usize = 8;
/// Instructions in all copies together, at most.
const MAX_SIZE: usize = 96;

/// Unrolls loops.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let Some((cfg, loops)) = cx.graph.loops(f) else { return };
    let mut plans: Vec<(Innermost, usize)> = Vec::new();
    // What is copied, and from where it is entered: the two are kept apart.
    let mut taken: SideTable<Block, bool> = SideTable::new(false);
    for inner in loops.innermost_loops(&cfg) {
        let size: usize = inner.body.iter().map(|&block| f.blocks[block].insts.len()).sum();
        let Some(rounds) = rounds(f, &cfg, &inner) else { continue };
        let Some(entry) = entry(&cfg, &inner) else { continue };
        let mut blocks = inner.body.iter().copied().chain([entry.0]);
        if size * rounds <= MAX_SIZE && !blocks.any(|block| taken[block]) && cx.fuel.tick() {
            inner.body.iter().chain([&entry.0]).for_each(|&block| taken[block] = true);
            let loc = f.blocks[inner.latch.0].loc;
            cx.remarks.say("unroll", f, loc, || format!("loop unrolled: {rounds} rounds"));
            plans.push((inner, rounds));
        }
    }
    if plans.is_empty() {
        return;
    }
    let bodies: Vec<Vec<Block>> = plans.iter().map(|(inner, _)| inner.body.clone()).collect();
    let mut regions = Regions::new(f, &cfg, &bodies);
    for (inner, rounds) in plans {
        let rounds = rounds - usize::from(fault::is(Fault::UnrollShort) && rounds > 2);
        let (latch, way) = inner.latch;
        let Some(entry) = entry(&cfg, &inner) else { continue };
        // The edge that leads to the round at hand.
        let mut before = entry;
        for _ in 1..rounds {
            regions.copy(f, &inner.body);
            let edges = f.blocks[before.0].terminator.edges_mut();
            edges[before.1].target = regions.block(inner.header);
            let copy = regions.block(latch);
            let on = f.blocks[copy].terminator.edges()[way].clone();
            f.blocks[copy].terminator = Terminator::Jump(on);
            before = (copy, 0);
        }
        f.blocks[before.0].terminator.edges_mut()[before.1].target = inner.header;
        let out = f.blocks[latch].terminator.edges()[1 - way].clone();
        f.blocks[latch].terminator = Terminator::Jump(out);
    }
    regions.finish(f);
    // What the copies of a header are entered with is what it is.
    cleanup::run(f, cx);
}

/// The only edge into a loop.
fn entry(cfg: &Cfg, inner: &Innermost) -> Option<(Block, usize)> {
    let mut entries = cfg.pred_edges(inner.header).iter();
    let entry = entries.find(|edge| edge.block != inner.latch.0)?;
    let alone = cfg.pred_edges(inner.header).len() == 2;
    alone.then_some((entry.block, entry.index as usize))
}

/// How often a loop goes round, unless it leaves otherwise before.
fn rounds(f: &Function, cfg: &Cfg, inner: &Innermost) -> Option<usize> {
    let (latch, way) = inner.latch;
    let Terminator::Branch { op, args, edges } = &f.blocks[latch].terminator else { return None };
    if inner.body.contains(&edges[1 - way].target) || f.values[args[0]].ty != Type::Int {
        return None;
    }
    let (entry, index) = entry(cfg, inner)?;
    let sums = args.map(|arg| sum(f, arg));
    let header = &f.blocks[inner.header];
    let place =
        sums.iter().find_map(|(of, _)| header.params.iter().position(|param| param == of))?;
    let counter = header.params[place];
    let int = |value: Value| match f.as_const(value) {
        Some(Const::Int(i)) => Some(i),
        _ => None,
    };
    let mut now = int(f.blocks[entry].terminator.edges()[index].args[place])?;
    let (of, step) = sum(f, edges[way].args[place]);
    if of != counter {
        return None;
    }
    let mut compared = [None; 2];
    for round in 1..=MAX_ROUNDS {
        for (value, &(of, plus)) in compared.iter_mut().zip(&sums) {
            let of = if of == counter { now } else { int(of)? };
            *value = Some(Const::Int(of.wrapping_add(plus)));
        }
        let holds = evaluate(*op, compared, Some(Type::Bool))?;
        if holds != Const::Bool(way == 0) {
            return Some(round);
        }
        now = now.wrapping_add(step);
    }
    None
}
