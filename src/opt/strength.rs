//! Strength reduction: products of a counter and an invariant go round as sums (Allen, Cocke and
//! Kennedy 1981).
//!
//! In an innermost loop `k * n`, where `k` grows by one, grows by `n`: it becomes a parameter of the
//! loop's header, to which `n` is added at the loop's end. So does a sum that the product is used in
//! alone, with its invariants: of `k * n + j` one addition is left. Arithmetic wraps, so that the sum
//! is the product always.
//!
//! Only products of two values are taken, each time round made: a sum of a counter and an invariant
//! is one instruction either way, a product by a constant too, and both would hold a register.
//!
//! SSA → SSA, linear.

use super::Context;
use super::append::emit_values;
use super::licm::preheader;
use super::linear::{self, Linear, View};
use crate::analysis::loops::{Innermost, Loop};
use crate::entity::SideTable;
use crate::ir::{Block, Cfg, Dominators, Function, Inst, Op, Type, Value};
use crate::ssa::Forward;
use smallvec::SmallVec;
use toyjit_runtime::fault::{self, Fault};

/// At most so many values of a loop go round.
const MAX_CARRIED: usize = 3;

/// Reduces products.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    if !f.may_loop() || !f.insts.keys().any(|inst| is_product(f, inst)) {
        return;
    }
    let Some((cfg, loops)) = cx.graph.loops(f) else { return };
    let (_, dominators) = cx.graph.dominators(f);
    let homes = linear::homes(f, &cfg, &loops);
    let users = users(f, &cfg);
    let mut forward = Forward::new(f);
    for inner in loops.innermost_loops(&cfg) {
        let mut before = None;
        for (value, form) in find(f, &inner, &dominators, &homes, &users) {
            if cx.fuel.tick() {
                let at = *before.get_or_insert_with(|| preheader(f, &cfg, &loops, inner.id));
                let loc = f.def_inst(value).map_or(f.blocks[at].loc, |inst| f.insts[inst].loc);
                cx.remarks.say("strength", f, loc, || "product made by additions".to_owned());
                forward.set(value, carry(f, &inner, at, &form));
            }
        }
    }
    forward.apply(f);
}

fn is_product(f: &Function, inst: Inst) -> bool {
    f.insts[inst].op == Op::IMul && f.args(inst).iter().all(|&arg| f.as_const(arg).is_none())
}

/// The only instruction that uses a value, where there is one.
fn users(f: &Function, cfg: &Cfg) -> SideTable<Value, Option<Inst>> {
    let mut users = SideTable::with_len(None, f.values.len());
    let mut counts = SideTable::with_len(0u32, f.values.len());
    for &block in cfg.rpo() {
        for &inst in &f.blocks[block].insts {
            for &arg in f.args(inst) {
                counts[arg] += 1;
                users[arg] = (counts[arg] == 1).then_some(inst);
            }
        }
        f.blocks[block].terminator.for_each_use(|value| {
            counts[value] += 1;
            users[value] = None;
        });
    }
    users
}

/// The values of a loop to go round, each as the sum that it is.
fn find(
    f: &Function,
    inner: &Innermost,
    dominators: &Dominators,
    homes: &SideTable<Value, Option<Loop>>,
    users: &SideTable<Value, Option<Inst>>,
) -> SmallVec<[(Value, Linear); MAX_CARRIED]> {
    let mut found = SmallVec::new();
    let each_round = |&&block: &&Block| dominators.dominates(block, inner.latch.0);
    let insts = inner.body.iter().filter(each_round).flat_map(|&block| &f.blocks[block].insts);
    let mut products = insts.filter(|&&inst| is_product(f, inst)).peekable();
    if products.peek().is_none() {
        return found;
    }
    let counters = linear::counters(f, inner.header, inner.latch);
    let view = View { header: inner.header, counters: &counters, own: inner.id, homes };
    for &product in products {
        let Some(value) = f.insts[product].result else { continue };
        let value = widest(f, &view, users, value);
        if let Some(form) = view.linear(f, value).filter(|form| form.factor.is_some()) {
            found.push((value, form));
            if found.len() == MAX_CARRIED {
                break;
            }
        }
    }
    found
}

/// The last of the sums with invariants that a value is used in alone.
fn widest(
    f: &Function,
    view: &View<'_>,
    users: &SideTable<Value, Option<Inst>>,
    mut value: Value,
) -> Value {
    while let Some(inst) = users[value]
        && let (Op::IAdd | Op::ISub, &[a, b]) = (f.insts[inst].op, f.args(inst))
        && let Some(sum) = f.insts[inst].result.filter(|&sum| view.defines(sum))
    {
        let other = if a == value { b } else { a };
        // A constant costs nothing in an address.
        if view.defines(other) || f.as_const(other).is_some() {
            break;
        }
        value = sum;
    }
    value
}

/// Lets a value go round; the parameter that it becomes.
fn carry(f: &mut Function, inner: &Innermost, before: Block, form: &Linear) -> Value {
    let loc = f.blocks[before].loc;
    let entry = f.blocks[before].terminator.edges()[0].args.clone();
    let mut start = form.clone();
    if fault::is(Fault::StrengthFirst) {
        start.terms.clear();
    }
    let first = start.first(f, before, &entry, loc);
    let slope = if fault::is(Fault::StrengthSlope) { 1 } else { form.slope() };
    let mut step = f.int(slope);
    if let Some(factor) = form.factor {
        step = emit_values(f, before, Op::IMul, factor, step, loc);
    }
    f.blocks[before].terminator.edges_mut()[0].args.push(first);
    let param = f.add_param(inner.header, Type::Int);
    let (latch, way) = inner.latch;
    let loc = f.blocks[latch].loc;
    let next = emit_values(f, latch, Op::IAdd, param, step, loc);
    f.blocks[latch].terminator.edges_mut()[way].args.push(next);
    param
}
