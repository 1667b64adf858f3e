//! Loop splitting: a loop becomes a main part without checks of bounds and a rest that has them all.
//!
//! An innermost loop is copied. Its checked indices are seen as sums of counters and invariants
//! (`linear`); before the loop it is computed for how many times round all of them are within their
//! lengths, so many times at most the copy runs, without these checks, and then it goes on in the
//! original, which traps exactly where it must. Where an index is not in bounds the first time, the
//! original runs alone.
//!
//! - An index that grows by a constant `s` from `x` stays below `len` for `ceil((len - x) / s)` times;
//!   one that falls stays at 0 or above for `x / -s + 1`. The least of these numbers, as a limit of
//!   the counter, goes into the loop's own test where this compares the counter with an invariant;
//!   otherwise it costs a test of its own.
//! - An index that grows by an invariant (`k * n + j`) is in bounds always or it is left: its last
//!   value is computed from the loop's test.
//!
//! What is computed can't wrap where it is relied on: lengths are below 2^48, and the first index is
//! found to be within its length before anything else is made of it; where that does not limit the
//! counter's first value, there is a test of that too.
//!
//! SSA → SSA, linear.

mod limits;

use super::Context;
use super::append::{emit, emit_values};
use super::licm::preheader;
use super::linear::{self, Counter, Linear, MAX_STEP, View};
use super::region::Regions;
use super::remark::Remarks;
use super::sums::sum;
use crate::analysis::loops::{Innermost, Loop};
use crate::entity::SideTable;
use crate::ir::{Block, Cfg, Const, Edge, Function, Inst, Loc, Op, Terminator, Value};
use crate::ssa::Forward;
use toyjit_runtime::fault::{self, Fault};

/// Loops with more instructions stay whole.
const MAX_SIZE: usize = 80;
/// At most so many groups of checks are taken out of a loop.
const MAX_GROUPS: usize = 5;
/// Constants in indices and slopes are no larger than these.
const MAX_OFFSET: i64 = 1 << 31;
const MAX_SLOPE: i64 = 1 << 20;

/// Splits loops.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let Some((cfg, loops)) = cx.graph.loops(f) else { return };
    let homes = linear::homes(f, &cfg, &loops);
    let mut plans = Vec::new();
    for Innermost { id, header, latch, body } in loops.innermost_loops(&cfg) {
        let shape = Shape { own: id, header, latch };
        let plan = Plan::new(f, shape, body, &homes, cx.remarks);
        if let Some(plan) = plan.filter(|plan| !plan.is_short(f, &cfg))
            && cx.fuel.tick()
        {
            plan.tell(f, cx.remarks);
            plans.push((preheader(f, &cfg, &loops, id), plan));
        }
    }
    if plans.is_empty() {
        return;
    }
    let bodies: Vec<Vec<Block>> = plans.iter().map(|(_, plan)| plan.body.clone()).collect();
    let mut regions = Regions::new(f, &cfg, &bodies);
    let mut gone = SideTable::new(false);
    for (before, plan) in plans {
        regions.copy(f, &plan.body);
        for &check in plan.groups.iter().flat_map(|group| &group.checks) {
            if let Some(result) = f.insts[check].result {
                gone[regions.value(result)] = true;
            }
        }
        plan.carry_out(f, before, &regions);
    }
    drop_checks(f, &gone);
    regions.finish(f);
}

/// Takes out the checks with these results.
fn drop_checks(f: &mut Function, gone: &SideTable<Value, bool>) {
    let mut forward = Forward::new(f);
    for block in f.blocks.keys() {
        let mut insts = std::mem::take(&mut f.blocks[block].insts);
        insts.retain(|&inst| {
            let result = f.insts[inst].result.filter(|&result| gone[result]);
            let Some(result) = result else { return true };
            let index = forward.resolve(f.args(inst)[0]);
            forward.set(result, index);
            false
        });
        f.blocks[block].insts = insts;
    }
    forward.apply(f);
}

/// Checks of indices that differ by constants, against one length.
struct Group {
    len: Value,
    /// The index with the least offset; what the greatest is above it.
    index: Linear,
    spread: i64,
    checks: Vec<Inst>,
}

/// The test that a loop goes round by: while `op` holds between a counter plus a constant and an
/// invariant.
#[derive(Clone, Copy)]
pub(super) struct Test {
    op: Op,
    pub(super) counter: Counter,
    pub(super) plus: i64,
    /// The operand that is the counter plus the constant, and the invariant.
    pub(super) value: Value,
    pub(super) limit: Value,
}

/// A loop with one back edge, which leaves the latch.
#[derive(Clone, Copy)]
struct Shape {
    own: Loop,
    header: Block,
    latch: (Block, usize),
}

/// A loop to be split.
struct Plan {
    shape: Shape,
    body: Vec<Block>,
    /// The counter that the main part's end is told by.
    counter: Counter,
    test: Option<Test>,
    groups: Vec<Group>,
}

impl Plan {
    fn new(
        f: &Function,
        shape: Shape,
        body: Vec<Block>,
        homes: &SideTable<Value, Option<Loop>>,
        remarks: &mut Remarks,
    ) -> Option<Self> {
        let insts = || body.iter().flat_map(|&block| f.blocks[block].insts.iter().copied());
        let is_call = |&inst: &Inst| matches!(f.insts[inst].op, Op::Call | Op::CallValue);
        let is_check = |&inst: &Inst| f.insts[inst].op == Op::CheckBounds;
        let mut refuse = |at: Loc, why: &str| {
            remarks.say("split", f, at, || format!("loop not split: {why}"));
        };
        let first = insts().find(is_check)?;
        if let Some(call) = insts().find(is_call) {
            refuse(f.insts[call].loc, "it makes a call");
            return None;
        }
        if insts().take(MAX_SIZE + 1).count() > MAX_SIZE {
            refuse(f.insts[first].loc, "it is large");
            return None;
        }
        let counters = linear::counters(f, shape.header, shape.latch);
        let view = View { header: shape.header, counters: &counters, own: shape.own, homes };
        let test = test(f, &view, shape.latch);
        let mut groups: Vec<Group> = Vec::new();
        for check in insts().filter(is_check) {
            let &[index, len] = f.args(check) else { continue };
            let index = view.linear(f, index);
            match index.filter(|index| fits(index, test.as_ref())) {
                _ if view.defines(len) || !is_length(f, len) => {
                    refuse(f.insts[check].loc, "the length may change");
                }
                None => {
                    refuse(f.insts[check].loc, "the index is no sum of counters and invariants")
                }
                Some(index) => add(&mut groups, index, len, check),
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.checks.len()));
        groups.truncate(MAX_GROUPS);
        let counted = groups.iter().find_map(|group| group.index.counters.first());
        let counter = test.map(|test| test.counter).or(counted.map(|&(counter, _)| counter));
        let counter = counter.or(counters.first().copied())?;
        let plan = Self { shape, body, counter, test, groups };
        // A test of its own for the limit costs as much as a check.
        let least =
            if plan.test.is_none() && plan.groups.iter().any(Group::limits) { 2 } else { 1 };
        let count: usize = plan.groups.iter().map(|group| group.checks.len()).sum();
        (count >= least).then_some(plan)
    }

    fn tell(&self, f: &Function, remarks: &mut Remarks) {
        for &check in self.groups.iter().flat_map(|group| &group.checks) {
            let said = || "`check_bounds` left out of the main part of the loop".to_owned();
            remarks.say("split", f, f.insts[check].loc, said);
        }
    }

    /// Whether the loop is known to go round a few times only.
    fn is_short(&self, f: &Function, cfg: &Cfg) -> bool {
        const FEW: u64 = 8;
        let Some(Test { counter, limit, .. }) = self.test else { return false };
        let Some(Const::Int(limit)) = f.as_const(limit) else { return false };
        cfg.pred_edges(self.shape.header).iter().any(|edge| {
            let edge = &f.blocks[edge.block].terminator.edges()[edge.index as usize];
            match f.as_const(edge.args[counter.place]) {
                Some(Const::Int(start)) => {
                    start.abs_diff(limit) <= FEW * counter.step.unsigned_abs()
                }
                _ => false,
            }
        })
    }

    /// Lets the main part, the copy of the loop, run as long as all indices are in bounds.
    fn carry_out(&self, f: &mut Function, before: Block, regions: &Regions) {
        let Terminator::Jump(entry) = f.blocks[before].terminator.clone() else { return };
        let mut guard = limits::Guard::new(f, before, &entry);
        let limit = guard.limit(self);
        let last = guard.at;
        let into = Edge { target: regions.block(self.shape.header), args: entry.args };
        f.blocks[last].terminator = Terminator::Jump(into);
        if let Some(limit) = limit {
            match &self.test {
                Some(test) => self.narrow(f, last, regions, test, limit),
                None => self.add_test(f, regions, limit),
            }
        }
    }

    /// Puts the limit into the loop's test. What fails it goes through the test as it was, to the
    /// original or out of the loop.
    fn narrow(&self, f: &mut Function, last: Block, regions: &Regions, test: &Test, limit: Value) {
        let (latch, index) = (regions.block(self.shape.latch.0), self.shape.latch.1);
        let up = test.counter.step > 0;
        // The counter's next value has to be before the limit: a limit of what is compared.
        let plus = test.plus.wrapping_sub(test.counter.step);
        let (plus, op) = match (test.op, up) {
            (Op::ILe, true) => (plus.wrapping_sub(1), Op::ILe),
            (_, true) => (plus, Op::ILt),
            (Op::IGe, false) => (plus.wrapping_add(1), Op::IGe),
            (_, false) => (plus, Op::IGt),
        };
        let loc = f.blocks[last].loc;
        let limit = emit(f, last, Op::IAdd, limit, Const::Int(plus), loc);
        let nearer = if up { Op::IMin } else { Op::IMax };
        let limit = emit_values(f, last, nearer, test.limit, limit, loc);
        let mut original = f.blocks[latch].terminator.clone();
        let Some(edge) = original.edges().get(index).cloned() else { return };
        original.edges_mut()[index].target = self.shape.header;
        let rest = f.add_block();
        f.blocks[rest].loc = f.blocks[latch].loc;
        f.blocks[rest].terminator = original;
        f.blocks[latch].terminator = Terminator::Branch {
            op,
            args: [regions.value(test.value), limit],
            edges: [edge, Edge::to(rest)],
        };
    }

    /// Gives the back edge a test.
    fn add_test(&self, f: &mut Function, regions: &Regions, limit: Value) {
        let latch = (regions.block(self.shape.latch.0), self.shape.latch.1);
        let test = f.add_block();
        f.blocks[test].loc = f.blocks[latch.0].loc;
        let edge = &mut f.blocks[latch.0].terminator.edges_mut()[latch.1];
        let edge = std::mem::replace(edge, Edge::to(test));
        let next = edge.args[self.counter.place];
        let op = if self.counter.step > 0 { Op::ILt } else { Op::IGt };
        let rest = Edge { target: self.shape.header, args: edge.args.clone() };
        f.blocks[test].terminator =
            Terminator::Branch { op, args: [next, limit], edges: [edge, rest] };
    }
}

impl Group {
    /// Whether the index comes nearer to the end of its array each time round by a constant.
    fn limits(&self) -> bool {
        self.index.factor.is_none() && self.index.slope() != 0
    }
}

/// The test at a loop's end, if it compares a counter with an invariant in the way it goes.
pub(super) fn test(f: &Function, view: &View<'_>, (latch, index): (Block, usize)) -> Option<Test> {
    let Terminator::Branch { op, args: [a, b], edges } = &f.blocks[latch].terminator else {
        return None;
    };
    let op = if index == 0 { *op } else { op.opposite()? };
    if edges[0].target == edges[1].target {
        return None;
    }
    [(op, *a, *b), (op.swapped(), *b, *a)].into_iter().find_map(|(op, value, limit)| {
        let (of, plus) = sum(f, value);
        let place = f.blocks[view.header].params.iter().position(|&param| param == of)?;
        let &counter = view.counters.iter().find(|counter| counter.place == place)?;
        let goes = match op {
            Op::ILt | Op::ILe => counter.step > 0,
            Op::IGt | Op::IGe => counter.step < 0,
            Op::INe => true,
            _ => false,
        };
        (goes && !view.defines(limit) && plus.unsigned_abs() <= MAX_STEP).then_some(Test {
            op,
            counter,
            plus,
            value,
            limit,
        })
    })
}

/// Whether a value is the length of an array or string, and so no large number.
fn is_length(f: &Function, len: Value) -> bool {
    match f.as_const(len) {
        Some(Const::Int(len)) => (0..1 << 40).contains(&len),
        _ => f.def_inst(len).is_some_and(|i| matches!(f.insts[i].op, Op::ArrayLen | Op::StrLen)),
    }
}

/// Whether the limit of an index can be told.
fn fits(index: &Linear, test: Option<&Test>) -> bool {
    let small = index.offset.unsigned_abs() <= MAX_OFFSET.unsigned_abs()
        && index.slope().unsigned_abs() <= MAX_SLOPE.unsigned_abs();
    let last_is_known = |test: &Test| {
        let &[(counter, by)] = &*index.counters else { return false };
        counter == test.counter && counter.step.unsigned_abs() == 1 && by.unsigned_abs() == 1
    };
    small && (index.factor.is_none() || test.is_some_and(last_is_known))
}

fn add(groups: &mut Vec<Group>, index: Linear, len: Value, check: Inst) {
    let alike = |group: &&mut Group| {
        let own = &group.index;
        group.len == len
            && (&own.counters, &own.factor, &own.terms)
                == (&index.counters, &index.factor, &index.terms)
    };
    match groups.iter_mut().find(alike) {
        Some(group) => {
            let greatest = index.offset.max(group.index.offset + group.spread);
            group.index.offset = index.offset.min(group.index.offset);
            group.spread = greatest - group.index.offset;
            if fault::is(Fault::SplitSpread) {
                group.spread = 0;
            }
            group.checks.push(check);
        }
        None => groups.push(Group { len, index, spread: 0, checks: vec![check] }),
    }
}
