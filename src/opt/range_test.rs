//! Two tests of one value against both ends of a range become one, without a sign.
//!
//! `lo <= x && x <= hi` holds where `x - lo` is at most `hi - lo`, both taken as unsigned; for a
//! length `n`, `0 <= x && x < n` is `x < n` as unsigned. What failed either test failed the two, so
//! where both lead to the same place with the same arguments, one test does.
//!
//! SSA → SSA, linear.

use super::Context;
use crate::ir::{Block, Const, Edge, Function, Op, Terminator, Value};
use crate::ssa::empty_unreachable;
use toyjit_runtime::fault::{self, Fault};

/// Joins tests.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let mut cfg = None;
    for block in f.blocks.keys() {
        let Some(found) = find(f, block) else { continue };
        let cfg = cfg.get_or_insert_with(|| cx.graph.cfg(f));
        if cfg.pred_edges(found.second).len() != 1 || !cx.fuel.tick() {
            continue;
        }
        let loc = f.blocks[block].loc;
        let by = f.int(found.low.wrapping_neg());
        let value = match found.low {
            0 => found.value,
            _ => {
                let inst = f.append(block, Op::IAdd, &[found.value, by], 0, None, loc);
                f.insts[inst].result.unwrap_or(found.value)
            }
        };
        let limit = match found.limit {
            Limit::Const(limit) => f.int(limit),
            Limit::Value(limit) => limit,
        };
        f.blocks[block].terminator =
            Terminator::Branch { op: found.op, args: [value, limit], edges: found.edges };
    }
    if cfg.is_some() {
        empty_unreachable(f, &cx.graph.cfg(f));
    }
}

/// Two tests as one: `value - low op limit`.
struct Found {
    second: Block,
    value: Value,
    low: i64,
    limit: Limit,
    op: Op,
    edges: [Edge; 2],
}

/// The test at a block's end, and one behind it that fails to the same place, as one.
fn find(f: &Function, block: Block) -> Option<Found> {
    ends(f, block).into_iter().flatten().find_map(|(first, inside, outside)| {
        let second = inside.target;
        if second == block || !inside.args.is_empty() || !f.blocks[second].insts.is_empty() {
            return None;
        }
        let mut others = ends(f, second).into_iter().flatten();
        let (other, yes, _) = others.find(|&(_, _, fails)| fails == outside)?;
        let (low, limit, op) = join(f, first, other)?;
        let edges = [yes.clone(), outside.clone()];
        Some(Found { second, value: first.value, low, limit, op, edges })
    })
}

/// One end of a range: `value op limit` holds inside.
#[derive(Clone, Copy)]
struct End {
    op: Op,
    value: Value,
    limit: Value,
}

enum Limit {
    Const(i64),
    Value(Value),
}

/// The test of a block as one that holds on its first edge, and on its second.
fn ends(f: &Function, block: Block) -> [Option<(End, &Edge, &Edge)>; 2] {
    let Terminator::Branch { op, args: [value, limit], edges: [yes, no] } =
        &f.blocks[block].terminator
    else {
        return [None; 2];
    };
    let end = |op: Op| {
        let is_order = matches!(op, Op::ILt | Op::ILe | Op::IGt | Op::IGe);
        is_order.then_some(End { op, value: *value, limit: *limit })
    };
    [end(*op).map(|end| (end, yes, no)), op.opposite().and_then(end).map(|end| (end, no, yes))]
}

/// What two ends say together: the lower one, the limit of what is above it, and the comparison.
fn join(f: &Function, a: End, b: End) -> Option<(i64, Limit, Op)> {
    if a.value != b.value {
        return None;
    }
    let low = |end: End| match (end.op, f.as_const(end.limit)) {
        (Op::IGe, Some(Const::Int(low))) => Some(low),
        (Op::IGt, Some(Const::Int(low))) => low.checked_add(1),
        _ => None,
    };
    let (low, high) = match (low(a), low(b)) {
        (Some(low), None) => (low, b),
        (None, Some(low)) => (low, a),
        _ => return None,
    };
    let limit = match (high.op, f.as_const(high.limit)) {
        (Op::ILe, Some(Const::Int(high))) => high,
        (Op::ILt, Some(Const::Int(high))) => high.checked_sub(1)?,
        (Op::ILt | Op::ILe, None) => {
            let of = f.insts[f.def_inst(high.limit)?].op;
            let op = if high.op == Op::ILt { Op::ULt } else { Op::ULe };
            let is_length = low == 0 && matches!(of, Op::ArrayLen | Op::StrLen);
            return is_length.then_some((0, Limit::Value(high.limit), op));
        }
        _ => return None,
    };
    let more = i64::from(fault::is(Fault::RangeTestEnd));
    (low <= limit).then(|| (low, Limit::Const(limit.wrapping_sub(low).wrapping_add(more)), Op::ULe))
}
