//! The code before a split loop: whether the main part may begin, and where it has to end.

use super::super::append::emit_values;
use super::{Group, Plan};
use crate::ir::{Block, Const, Edge, Function, Loc, Op, Terminator, Type, Value};
use crate::ssa::evaluate;
use toyjit_runtime::fault::{self, Fault};

/// Numbers of rounds and factors below this have products that don't wrap.
const HALF: i64 = (1 << 31) - 1;
/// A counter that begins nearer to 0 than this does not wrap on its way through an array.
const FAR: i64 = 1 << 30;

/// The code before a loop as it is being made.
pub(super) struct Guard<'a> {
    f: &'a mut Function,
    /// The block in which the code goes on.
    pub(super) at: Block,
    /// Where the loop is entered as it was.
    entry: &'a Edge,
    loc: Loc,
}

impl<'a> Guard<'a> {
    pub(super) fn new(f: &'a mut Function, at: Block, entry: &'a Edge) -> Self {
        let loc = f.blocks[at].loc;
        Self { f, at, entry, loc }
    }

    /// Computes the limit that the plan's counter must stay before in the main part, if there has to
    /// be one, behind tests that the indices are in bounds the first time.
    pub(super) fn limit(&mut self, plan: &Plan) -> Option<Value> {
        let start = self.entry.args[plan.counter.place];
        let mut rounds = None;
        let mut is_near = self
            .f
            .as_const(start)
            .is_some_and(|start| matches!(start, Const::Int(i) if i.unsigned_abs() < 1 << 62));
        let mut may_be_none = false;
        for group in &plan.groups {
            is_near |= is_counter_alone(plan, group);
            if group.index.factor.is_some() {
                self.by_last(plan, group);
                continue;
            }
            let first = self.first(group);
            let slope = group.index.slope();
            self.require(Op::ULt, first, group.len);
            let last = self.plus(first, group.spread);
            if slope == 1 {
                may_be_none |= group.spread != 0;
            } else if group.spread != 0 {
                self.require(Op::ULt, last, group.len);
            }
            if slope == 0 {
                continue;
            }
            let own = if slope > 0 {
                let room = self.emit(Op::ISub, group.len, last);
                let room = self.plus(room, slope - 1);
                self.divide(room, slope)
            } else {
                let own = self.divide(first, -slope);
                self.plus(own, 1)
            };
            rounds = Some(match rounds {
                Some(rounds) => self.emit(Op::IMin, rounds, own),
                None => own,
            });
        }
        let rounds = rounds?;
        if may_be_none {
            let zero = self.f.int(0);
            self.require(Op::IGt, rounds, zero);
        }
        let step = plan.counter.step;
        if !is_near {
            let moved = self.plus(start, FAR);
            let far = self.f.int(2 * FAR - 1);
            self.require(Op::ULt, moved, far);
        }
        let step = self.f.int(step);
        let way = self.emit(Op::IMul, rounds, step);
        let limit = self.emit(Op::IAdd, start, way);
        let late = i64::from(fault::is(Fault::SplitLate)) * plan.counter.step;
        Some(self.plus(limit, late))
    }

    /// Tests that an index that a factor multiplies is in bounds the first and the last time. (Then
    /// it is in between: the product of the two tested halves does not wrap.)
    fn by_last(&mut self, plan: &Plan, group: &Group) {
        let (Some(test), Some(factor)) = (&plan.test, group.index.factor) else { return };
        let up = test.counter.step > 0;
        // The last value is the first for which the test fails.
        let past = match test.op {
            Op::ILe => 1,
            Op::IGe => -1,
            _ => 0,
        };
        if past != 0 {
            let end = self.f.int(if up { i64::MAX } else { i64::MIN });
            self.require(Op::INe, test.limit, end);
        }
        let last = self.plus(test.limit, past - test.plus);
        let start = self.entry.args[test.counter.place];
        let (from, to) = if up { (start, last) } else { (last, start) };
        let rounds = self.emit(Op::ISub, to, from);
        let half = self.f.int(HALF);
        self.require(Op::ULt, rounds, half);
        if !fault::is(Fault::SplitFactor) {
            self.require(Op::ULt, factor, half);
        }
        let first = self.first(group);
        let way = self.emit(Op::IMul, rounds, factor);
        let (least, greatest) = if group.index.slope() > 0 {
            let greatest = self.emit(Op::IAdd, first, way);
            (first, self.plus(greatest, group.spread))
        } else {
            let greatest = self.plus(first, group.spread);
            (self.emit(Op::ISub, first, way), greatest)
        };
        self.require(Op::ULt, least, group.len);
        self.require(Op::ULt, greatest, group.len);
    }

    /// A group's least index the first time.
    fn first(&mut self, group: &Group) -> Value {
        group.index.first(self.f, self.at, &self.entry.args, self.loc)
    }

    fn plus(&mut self, value: Value, by: i64) -> Value {
        let by = self.f.int(by);
        self.emit(Op::IAdd, value, by)
    }

    /// The quotient of what is not negative.
    fn divide(&mut self, value: Value, by: i64) -> Value {
        let power = by & (by - 1) == 0;
        let (op, by) =
            if power { (Op::Shr, i64::from(by.trailing_zeros())) } else { (Op::SDiv, by) };
        let by = self.f.int(by);
        self.emit(op, value, by)
    }

    fn emit(&mut self, op: Op, a: Value, b: Value) -> Value {
        emit_values(self.f, self.at, op, a, b, self.loc)
    }

    /// Goes on only where a comparison holds, else into the loop as it was.
    fn require(&mut self, op: Op, a: Value, b: Value) {
        let known = evaluate(op, [self.f.as_const(a), self.f.as_const(b)], Some(Type::Bool));
        if known == Some(Const::Bool(true)) {
            return;
        }
        let next = self.f.add_block();
        self.f.blocks[next].loc = self.loc;
        self.f.blocks[self.at].terminator =
            Terminator::Branch { op, args: [a, b], edges: [Edge::to(next), self.entry.clone()] };
        self.at = next;
    }
}

/// Whether the group's index being in bounds says that the counter is no large number.
fn is_counter_alone(plan: &Plan, group: &Group) -> bool {
    let index = &group.index;
    matches!(&*index.counters, &[(counter, 1 | -1)] if counter == plan.counter)
        && index.factor.is_none()
        && index.terms.is_empty()
}
