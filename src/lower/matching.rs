//! `match`: the first arm with a pattern that fits.
//!
//! For ints and bytes all arms together become one sorted list of disjoint stretches, each with
//! the first arm that claims it (one sweep over the patterns' ends with a heap of the patterns that
//! are open), and the list a balanced tree of comparisons. Strings are sorted, and decided by a
//! tree of three-way comparisons. Both take O(n log n) for n patterns.

use super::builder::Builder;
use crate::ir::{Block, Op, Value};
use crate::sema::hir::{Arm, Expr, Pattern, Ty};
use crate::source::Span;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use toyjit_runtime::entry::Rt;
use toyjit_runtime::fault::{self, Fault};

/// From the first int to the second, both included. Wider than an int, so that no end overflows.
type Range = (i128, i128);

/// A stretch of ints that one arm takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    low: i128,
    high: i128,
    arm: usize,
}

/// Up to so many strings are compared one after the other.
const FEW_STRINGS: usize = 4;

/// Where a decision leads, and what it decides on.
struct Decision<'a> {
    value: Value,
    blocks: &'a [Block],
    /// Where no arm fits.
    default: Block,
    span: Span,
}

impl Builder<'_> {
    /// `match value { … }`
    pub fn match_statement(&mut self, value: &Expr, arms: &[Arm]) {
        let blocks: Vec<Block> = arms.iter().map(|_| self.f.add_block()).collect();
        let join = self.f.add_block();
        let any = arms.iter().position(|arm| arm.patterns.contains(&Pattern::Any));
        let default = any.map_or(join, |arm| blocks[arm]);
        // Nothing comes to the arms behind `_`.
        let live = &arms[..any.map_or(arms.len(), |arm| arm + 1)];
        if value.ty == Ty::BOOL {
            let [on_false, on_true] = [false, true].map(|flag| {
                let fits = |arm: &Arm| arm.patterns.contains(&Pattern::Bool(flag));
                live.iter().position(fits).map_or(default, |arm| blocks[arm])
            });
            self.condition(value, on_true, on_false);
        } else {
            let operand = self.value(value, None);
            let decision = Decision { value: operand, blocks: &blocks, default, span: value.span };
            if value.ty == Ty::STR {
                self.decide_string(&decision, &first_strings(live));
            } else {
                let domain = match (any, value.ty) {
                    // Without `_` the way past the match stays open whatever the patterns cover.
                    (None, _) => (i128::MIN, i128::MAX),
                    (_, Ty::BYTE) => (0, 255),
                    _ => (i128::from(i64::MIN), i128::from(i64::MAX)),
                };
                self.decide_int(&decision, &stretches(live), domain);
            }
        }
        for (arm, &block) in arms.iter().zip(&blocks) {
            self.start(block);
            let first = self.facts.statements.len();
            self.block(&arm.body);
            if let Some(statement) = self.facts.statements.get_mut(first) {
                statement.begins_arm = true;
            }
            self.jump(join);
        }
        self.start(join);
    }

    /// Decides among sorted stretches for a value that is known to lie in `known`.
    fn decide_int(&mut self, on: &Decision<'_>, stretches: &[Stretch], known: Range) {
        match stretches {
            [] => self.jump(on.default),
            [only] => self.decide_stretch(on, only, known),
            _ => {
                let (left, right) = stretches.split_at(stretches.len() / 2);
                let pivot = right[0].low;
                let below = self.decision_block(on, left, (known.0, pivot - 1));
                let above = self.decision_block(on, right, (pivot, known.1));
                self.test(on, Op::ILt, pivot, [below, above]);
            }
        }
    }

    /// A block that decides among stretches; the arm's own where nothing is left to decide.
    fn decision_block(&mut self, on: &Decision<'_>, stretches: &[Stretch], known: Range) -> Block {
        if let [only] = stretches
            && only.low <= known.0
            && known.1 <= only.high
        {
            return on.blocks[only.arm];
        }
        let block = self.f.add_block();
        let before = self.block;
        self.start(block);
        self.decide_int(on, stretches, known);
        self.start(before);
        block
    }

    fn decide_stretch(&mut self, on: &Decision<'_>, stretch: &Stretch, known: Range) {
        let target = on.blocks[stretch.arm];
        match (known.0 < stretch.low, stretch.high < known.1) {
            (false, false) => self.jump(target),
            _ if stretch.low == stretch.high => {
                self.test(on, Op::IEq, stretch.low, [target, on.default]);
            }
            (true, false) => self.test(on, Op::IGe, stretch.low, [target, on.default]),
            (false, true) => self.test(on, Op::ILe, stretch.high, [target, on.default]),
            (true, true) if fault::is(Fault::LowerRangeStart) => {
                self.test(on, Op::ILe, stretch.high, [target, on.default]);
            }
            (true, true) => {
                let inner = self.f.add_block();
                self.test(on, Op::IGe, stretch.low, [inner, on.default]);
                self.start(inner);
                self.test(on, Op::ILe, stretch.high, [target, on.default]);
            }
        }
    }

    /// Compares the value with an int.
    fn test(&mut self, on: &Decision<'_>, op: Op, with: i128, [yes, no]: [Block; 2]) {
        let with = self.f.int(with as i64);
        self.branch(op, [on.value, with], yes, no, on.span);
    }

    /// Decides among sorted strings.
    fn decide_string(&mut self, on: &Decision<'_>, strings: &[(&[u8], usize)]) {
        if strings.len() <= FEW_STRINGS {
            if strings.is_empty() {
                self.jump(on.default);
            }
            for (index, &(string, arm)) in strings.iter().enumerate() {
                let last = index + 1 == strings.len();
                let literal = self.string(string);
                let next = if last { on.default } else { self.f.add_block() };
                let equal = self.rt_value(Rt::StrEq, &[on.value, literal], on.span, None);
                self.branch_on(equal, on.blocks[arm], next, on.span);
                self.start(next);
            }
            return;
        }
        let (left, right) = strings.split_at(strings.len() / 2);
        let literal = self.string(right[0].0);
        let order = self.rt_value(Rt::StrCmp, &[on.value, literal], on.span, None);
        let zero = self.f.int(0);
        let [below, above] = std::array::from_fn(|_| self.f.add_block());
        self.branch(Op::ILt, [order, zero], below, above, on.span);
        self.start(below);
        self.decide_string(on, left);
        self.start(above);
        self.decide_string(on, right);
    }

    fn string(&mut self, bytes: &[u8]) -> Value {
        let literal = self.tables.string(bytes);
        self.f.constant(crate::ir::Const::Str(literal))
    }
}

/// The sorted disjoint stretches that the arms' ranges take; neighbours of one arm are joined.
fn stretches(arms: &[Arm]) -> Vec<Stretch> {
    // Where a range begins (with its arm and end), and where the one behind it may go on.
    let mut starts = Vec::new();
    let mut edges = Vec::new();
    for (arm, Arm { patterns, .. }) in arms.iter().enumerate() {
        for pattern in patterns {
            if let Pattern::Range(low, high) = *pattern {
                let (low, high) = (i128::from(low), i128::from(high));
                starts.push((low, arm, high));
                edges.extend([low, high + 1]);
            }
        }
    }
    starts.sort_unstable();
    edges.sort_unstable();
    edges.dedup();
    let mut starts = starts.into_iter().peekable();
    let mut open: BinaryHeap<Reverse<(usize, i128)>> = BinaryHeap::new();
    let mut result: Vec<Stretch> = Vec::new();
    for pair in edges.windows(2) {
        let (low, high) = (pair[0], pair[1] - 1);
        while let Some((_, arm, end)) = starts.next_if(|&(start, ..)| start <= low) {
            open.push(Reverse((arm, end)));
        }
        while open.peek().is_some_and(|&Reverse((_, end))| end < low) {
            open.pop();
        }
        let Some(&Reverse((arm, _))) = open.peek() else { continue };
        match result.last_mut() {
            Some(last) if last.arm == arm && last.high + 1 == low => last.high = high,
            _ => result.push(Stretch { low, high, arm }),
        }
    }
    result
}

/// The strings of all arms, sorted, each with the first arm that has it.
fn first_strings(arms: &[Arm]) -> Vec<(&[u8], usize)> {
    let mut strings: Vec<(&[u8], usize)> = Vec::new();
    for (number, arm) in arms.iter().enumerate() {
        for pattern in &arm.patterns {
            if let Pattern::Str(bytes) = pattern {
                strings.push((bytes, number));
            }
        }
    }
    strings.sort_unstable();
    strings.dedup_by_key(|&mut (bytes, _)| bytes);
    strings
}
