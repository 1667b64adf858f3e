//! Loops that fill an array, or copy one into another, leave most of it to the runtime.
//!
//! The loop is one block without a check: it stores one value that does not change, or the element
//! that it has just loaded, at an index that grows by one, until the counter comes to an invariant.
//! Before it, it is computed how often it goes round; where that is often, the runtime does all
//! rounds but the last, which the loop itself does, so that what is computed in it is what it was.
//! (A copy whose source the stores change is copied one by one by the runtime too.) References are
//! left alone: their stores are told to the collector. The runtime looks for a request to end
//! between pieces of its work.
//!
//! SSA → SSA, linear.

use super::Context;
use super::licm::preheader;
use super::sums::sum;
use crate::ir::{
    Block, Const, Edge, ElemClass, Function, Inst, Loc, Module, Op, Terminator, Type, Value,
    ValueDef,
};
use smallvec::SmallVec;
use toyjit_runtime::Rt;
use toyjit_runtime::fault::{self, Fault};
use toyjit_runtime::layout::Slot;

/// So many rounds are worth a call.
const MANY: i64 = 32;
/// The most instructions of such a loop.
const MOST_INSTS: usize = 8;
/// Constants in the test are no larger than this.
const MOST_OFFSET: i64 = 1 << 31;

/// Finds loops that fill or copy.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    if !f.blocks.keys().any(|block| looks_fit(f, block)) {
        return;
    }
    let Some((cfg, loops)) = cx.graph.loops(f) else { return };
    let mut plans = Vec::new();
    for inner in loops.innermost_loops(&cfg) {
        if inner.body.len() != 1 || !looks_fit(f, inner.header) {
            continue;
        }
        let Some(plan) = Plan::of(f, cx.module, inner.header, inner.latch.1) else { continue };
        if cx.fuel.tick() {
            let what = match plan.source {
                Source::Value(_) => "filled",
                Source::Elements { .. } => "copied",
            };
            cx.remarks.say("bulk", f, f.insts[plan.store].loc, || {
                format!("elements are {what} by the runtime where they are many")
            });
            plans.push((inner.id, plan));
        }
    }
    for (id, plan) in plans {
        let before = preheader(f, &cfg, &loops, id);
        plan.carry_out(f, before);
    }
}

/// Whether a block leads to itself, is short and stores an element.
fn looks_fit(f: &Function, block: Block) -> bool {
    let insts = &f.blocks[block].insts;
    insts.len() <= MOST_INSTS
        && f.succs(block).any(|to| to == block)
        && insts.iter().any(|&inst| f.insts[inst].op == Op::StoreElem)
}

/// Where what is stored comes from.
enum Source {
    Value(Value),
    Elements { data: Value, index: Index },
}

/// A counter's place among the parameters, and an invariant beside it.
#[derive(Clone, Copy)]
struct Index {
    counter: usize,
    plus: Option<Value>,
}

struct Plan {
    header: Block,
    store: Inst,
    slot: Slot,
    data: Value,
    index: Index,
    source: Source,
    /// How much each parameter grows in a round.
    steps: SmallVec<[i64; 4]>,
    /// The loop goes round again while this counter and the constant are below the limit.
    tested: (usize, i64, Value),
}

impl Plan {
    fn of(f: &Function, module: &Module, header: Block, way: usize) -> Option<Plan> {
        let data = &f.blocks[header];
        let Terminator::Branch { op, args, edges } = &data.terminator else { return None };
        let is_own = |value: Value| match f.values[value].def {
            ValueDef::Param(block, _) => block == header,
            ValueDef::Inst(inst) => data.insts.contains(&inst),
            ValueDef::Const(_) | ValueDef::Variable(_) => false,
        };
        let counter = |value: Value| data.params.iter().position(|&param| param == value);
        // The loop's only effect, and what is loaded for it.
        let (mut store, mut load) = (None, None);
        for &inst in &data.insts {
            match f.insts[inst].op {
                Op::StoreElem if store.is_none() => store = Some(inst),
                Op::LoadElem if load.is_none() && store.is_none() => load = Some(inst),
                Op::IAdd => {}
                _ => return None,
            }
        }
        let store = store?;
        let class = f.insts[store].imm;
        let slot = *module.classes.get(ElemClass(class as u32))?;
        let &[into, index, value] = f.args(store) else { return None };
        let index_of = |value: Value| {
            if let Some(counter) = counter(value) {
                return Some(Index { counter, plus: None });
            }
            let inst = f.def_inst(value).filter(|_| is_own(value))?;
            let &[a, b] = f.args(inst) else { return None };
            let (of, plus) = if is_own(a) { (a, b) } else { (b, a) };
            let is_sum = f.insts[inst].op == Op::IAdd && !is_own(plus);
            is_sum.then_some(Index { counter: counter(of)?, plus: Some(plus) })
        };
        let mut steps = SmallVec::new();
        for (&param, &next) in data.params.iter().zip(&edges[way].args) {
            let (of, step) = sum(f, next);
            if of != param || f.values[param].ty != Type::Int {
                return None;
            }
            steps.push(step);
        }
        let source = match load {
            Some(load) if f.insts[load].result == Some(value) && f.insts[load].imm == class => {
                let &[data, index] = f.args(load) else { return None };
                Source::Elements { data, index: index_of(index)? }
            }
            None if !is_own(value) => Source::Value(value),
            _ => return None,
        };
        let goes_on = if way == 0 { *op } else { op.opposite()? };
        let [value, limit] = match goes_on {
            Op::ILt => *args,
            Op::IGt => [args[1], args[0]],
            _ => return None,
        };
        let (of, plus) = sum(f, value);
        let plan = Plan {
            header,
            store,
            slot,
            data: into,
            index: index_of(index)?,
            source,
            steps,
            tested: (counter(of)?, plus, limit),
        };
        let by_one = |index: Index| plan.steps[index.counter] == 1;
        let source_fits = match &plan.source {
            Source::Value(_) => true,
            Source::Elements { data, index } => !is_own(*data) && by_one(*index),
        };
        let fits = slot != Slot::Ref
            && edges[1 - way].target != header
            && !is_own(into)
            && !is_own(limit)
            && (-MOST_OFFSET..=MOST_OFFSET).contains(&plus)
            && plan.steps[plan.tested.0] == 1
            && by_one(plan.index)
            && source_fits;
        (fits && !plan.is_short(f, header)).then_some(plan)
    }

    /// Whether the loop is known to go round a few times only.
    fn is_short(&self, f: &Function, header: Block) -> bool {
        let (counter, _, limit) = self.tested;
        let Some(Const::Int(limit)) = f.as_const(limit) else { return false };
        f.blocks.values().flat_map(|data| data.terminator.edges()).any(|edge| {
            edge.target == header
                && matches!(f.as_const(edge.args[counter]),
                    Some(Const::Int(start)) if limit.saturating_sub(start) < MANY)
        })
    }

    /// Whether sums with the tested counter's first value can't wrap: it is a constant, or an index but
    /// for a constant.
    fn begins_near_zero(&self, f: &Function, start: Value) -> bool {
        let small = -MOST_OFFSET..=MOST_OFFSET;
        let is_small = |value: Value| match f.as_const(value) {
            Some(Const::Int(int)) => small.contains(&int),
            _ => false,
        };
        let is_index = self.index.counter == self.tested.0;
        is_small(start) || is_index && self.index.plus.is_none_or(is_small)
    }

    /// Puts the test and the call between the block before the loop and the loop.
    fn carry_out(&self, f: &mut Function, before: Block) {
        let Terminator::Jump(entry) = f.blocks[before].terminator.clone() else { return };
        let loc = f.insts[self.store].loc;
        let start = |counter: usize| entry.args[counter];
        let (counter, plus, limit) = self.tested;
        let call = f.add_block();
        f.blocks[call].loc = loc;
        let by = f.int(plus - i64::from(fault::is(Fault::BulkLast)));
        let (rounds, test) = if self.begins_near_zero(f, start(counter)) {
            let many = f.int(plus + MANY);
            let enough = match f.as_const(start(counter)) {
                Some(Const::Int(start)) => f.int(start.wrapping_add(plus + MANY)),
                _ => int_op(f, before, Op::IAdd, [start(counter), many], loc),
            };
            let rounds = int_op(f, call, Op::ISub, [limit, start(counter)], loc);
            (int_op(f, call, Op::ISub, [rounds, by], loc), [limit, enough])
        } else {
            // The limit may be far below the counter: then there is the one round.
            let most = int_op(f, before, Op::IMax, [limit, start(counter)], loc);
            let rounds = int_op(f, before, Op::ISub, [most, start(counter)], loc);
            let rounds = int_op(f, before, Op::ISub, [rounds, by], loc);
            (rounds, [rounds, f.int(MANY)])
        };
        f.blocks[before].terminator =
            Terminator::Branch { op: Op::IGe, args: test, edges: [Edge::to(call), entry.clone()] };
        let place = |f: &mut Function, index: Index| match index.plus {
            Some(plus) => int_op(f, call, Op::IAdd, [start(index.counter), plus], loc),
            None => start(index.counter),
        };
        let at = place(f, self.index);
        let is_small = matches!(self.slot, Slot::Bool | Slot::Byte);
        let (row, args): (Rt, SmallVec<[Value; 5]>) = match &self.source {
            Source::Value(value) => {
                let row = match self.slot {
                    _ if is_small => Rt::FillBytes,
                    Slot::Float => Rt::FillFloats,
                    _ => Rt::FillInts,
                };
                (row, [self.data, at, rounds, *value].into_iter().collect())
            }
            Source::Elements { data, index } => {
                let from = place(f, *index);
                let row = if is_small { Rt::CopyBytes } else { Rt::CopyWords };
                (row, [self.data, at, *data, from, rounds].into_iter().collect())
            }
        };
        f.append(call, Op::Rt, &args, row as u64, None, loc);
        // The last round.
        let mut last = Edge::to(self.header);
        for (place, &step) in self.steps.iter().enumerate() {
            let step = f.int(step);
            let grown = int_op(f, call, Op::IMul, [rounds, step], loc);
            last.args.push(int_op(f, call, Op::IAdd, [start(place), grown], loc));
        }
        f.blocks[call].terminator = Terminator::Jump(last);
    }
}

/// Appends an operation on ints; one that changes nothing is left out.
fn int_op(f: &mut Function, block: Block, op: Op, args: [Value; 2], loc: Loc) -> Value {
    match (op, f.as_const(args[0]), f.as_const(args[1])) {
        (Op::IAdd | Op::ISub, _, Some(Const::Int(0))) | (Op::IMul, _, Some(Const::Int(1))) => {
            return args[0];
        }
        (Op::IAdd, Some(Const::Int(0)), _) => return args[1],
        _ => {}
    }
    let inst = f.append(block, op, &args, 0, None, loc);
    f.insts[inst].result.unwrap_or(args[0])
}
