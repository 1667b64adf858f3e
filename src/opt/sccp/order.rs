//! Proofs that an index is below a length, by differences (ABCD, Bodík, Gupta and Sarkar 2000).
//!
//! The question `v + c <= n` is taken back from `v` to what bounds it: the tests that it has passed
//! (`v < w` makes it `w + c - 1 <= n`), sums with constants, parameters (for all edges). A loop
//! brings us back to a parameter that is being asked about; that is fine as long as `c` has not
//! grown, since then each time round can only have made the value smaller. Every step that relies
//! on a sum or difference asks the ranges whether it can wrap.
//!
//! Each question has a fixed budget, so that all of them together stay linear.

use super::Facts;
use super::sigma::{Sigma, relations};
use crate::ir::{Block, ENTRY, Op, Value, ValueDef};
use toyjit_runtime::fault::{self, Fault};

const BUDGET: u32 = 64;

/// Whether `value < bound`, both as they are where they are used together.
pub(super) fn is_below(facts: &Facts<'_>, value: Value, bound: Value) -> bool {
    let mut proof = Proof { facts, bound, budget: BUDGET, open: Vec::new() };
    proof.at_most(value, i64::from(!fault::is(Fault::BoundsOffByOne)))
}

struct Proof<'a, 'f> {
    facts: &'a Facts<'f>,
    bound: Value,
    budget: u32,
    /// The parameters that are being asked about, each with its constant.
    open: Vec<(Value, i64)>,
}

impl Proof<'_, '_> {
    /// Whether `value + plus <= bound`, without wrapping. Recursion is limited by the budget.
    fn at_most(&mut self, value: Value, plus: i64) -> bool {
        let facts = self.facts;
        if self.budget == 0 || plus.unsigned_abs() > 1 << 40 {
            return false;
        }
        self.budget -= 1;
        let (origin, bound) = (facts.sigmas.origin(value), facts.sigmas.origin(self.bound));
        if origin == bound && plus <= 0 {
            return true;
        }
        if let (Some((_, hi)), Some((lo, _))) = (facts.bounds(value), facts.bounds(self.bound))
            && i128::from(hi) + i128::from(plus) <= i128::from(lo)
        {
            return true;
        }
        if let Some(sigma) = facts.sigmas.get(value) {
            return self.by_relation(sigma, plus) || self.at_most(sigma.source, plus);
        }
        match facts.f.values[value].def {
            ValueDef::Inst(inst) => {
                let args = facts.f.args(inst);
                self.by_operator(facts.f.insts[inst].op, args, value, plus)
            }
            ValueDef::Param(block, index) => self.by_edges(value, block, index as usize, plus),
            _ => false,
        }
    }

    fn by_relation(&mut self, sigma: Sigma, plus: i64) -> bool {
        match sigma.op {
            Op::ILt => self.at_most(sigma.other, plus - 1),
            Op::ILe | Op::IEq => self.at_most(sigma.other, plus),
            Op::ULt if self.facts.bounds(sigma.other).is_some_and(|(lo, _)| lo >= 0) => {
                self.at_most(sigma.other, plus - 1)
            }
            _ => false,
        }
    }

    fn by_operator(&mut self, op: Op, args: &[Value], value: Value, plus: i64) -> bool {
        match (op, args) {
            (Op::CheckBounds, &[index, len]) => {
                self.at_most(len, plus - 1) || self.at_most(index, plus)
            }
            (Op::CheckDiv, &[divisor]) => self.at_most(divisor, plus),
            (Op::IAdd, &[a, b]) => match self.facts.constant(b) {
                Some(by) if self.is_exact(op, args) && by.unsigned_abs() < 1 << 40 => {
                    self.at_most(a, plus + by)
                }
                _ => false,
            },
            (Op::ISub, &[a, b]) => match self.facts.bounds(b) {
                Some((lo, _)) if self.is_exact(op, args) && lo.unsigned_abs() < 1 << 40 => {
                    self.at_most(a, plus - lo)
                }
                _ => false,
            },
            // Not above the first operand, which is not negative.
            (Op::Sar | Op::Shr | Op::SDiv | Op::SRem | Op::IAnd, &[a, b]) => {
                let positive = |value| self.facts.bounds(value).is_some_and(|(lo, _)| lo > 0);
                let rem = op == Op::SRem && positive(b);
                let shrinks = self.facts.bounds(a).is_some_and(|(lo, _)| lo >= 0)
                    && (op != Op::SDiv && op != Op::SRem || positive(b))
                    && self.facts.bounds(value).is_some_and(|(lo, _)| lo >= 0);
                shrinks && self.at_most(a, plus) || rem && self.at_most(b, plus - 1)
            }
            (Op::IMin, &[a, b]) => self.at_most(a, plus) || self.at_most(b, plus),
            (Op::IMax, &[a, b]) | (Op::Select, &[_, a, b]) => {
                self.at_most(a, plus) && self.at_most(b, plus)
            }
            _ => false,
        }
    }

    /// Whether the result of a sum or difference is the same without wrapping.
    fn is_exact(&self, op: Op, args: &[Value]) -> bool {
        if fault::is(Fault::BoundsWrap) {
            return true;
        }
        let (Some((a, b)), Some((c, d))) = (self.facts.bounds(args[0]), self.facts.bounds(args[1]))
        else {
            return false;
        };
        match op {
            Op::IAdd => a.checked_add(c).is_some() && b.checked_add(d).is_some(),
            _ => a.checked_sub(d).is_some() && b.checked_sub(c).is_some(),
        }
    }

    fn by_edges(&mut self, value: Value, block: Block, index: usize, plus: i64) -> bool {
        if let Some(&(_, before)) = self.open.iter().find(|&&(param, _)| param == value) {
            return plus <= before || fault::is(Fault::BoundsGrow);
        }
        // Where the bound is made anew each time round, an earlier one says nothing of it.
        let facts = self.facts;
        if block == ENTRY || !facts.is_defined_above(facts.sigmas.origin(self.bound), block) {
            return false;
        }
        self.open.push((value, plus));
        let proved = facts.cfg.pred_edges(block).iter().all(|edge| {
            let place = edge.index as usize;
            if !facts.solution.executable[edge.block][place] {
                return true;
            }
            let arg = facts.f.blocks[edge.block].terminator.edges()[place].args[index];
            let known = relations(facts.f, edge.block, place);
            let mut known = known.into_iter().flatten().filter(|sigma| sigma.source == arg);
            known.any(|sigma| self.by_relation(sigma, plus)) || self.at_most(arg, plus)
        });
        self.open.pop();
        proved
    }
}
