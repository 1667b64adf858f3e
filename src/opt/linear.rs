//! Sums of counters and invariants, as which a loop's values are seen.
//!
//! All arithmetic wraps, as that of the values does: a form says exactly what the value is.

use super::append::{emit, emit_values};
use super::sums::sum;
use crate::analysis::loops::{Loop, Loops};
use crate::entity::SideTable;
use crate::ir::{Block, Cfg, Const, Function, Inst, Loc, Op, Value, ValueDef};
use smallvec::SmallVec;

/// A value is looked through so many operators deep.
const MAX_DEPTH: u32 = 8;
/// Longer sums are not looked at.
const MAX_TERMS: usize = 4;
/// Counters have no larger steps.
pub(super) const MAX_STEP: u64 = 1 << 10;

/// A parameter of the loop's header that grows by a constant each time round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    /// Which parameter.
    pub(super) place: usize,
    /// By how much.
    pub(super) step: i64,
}

/// The header's parameters that grow by a constant.
pub(super) fn counters(
    f: &Function,
    header: Block,
    latch: (Block, usize),
) -> SmallVec<[Counter; 4]> {
    let next = &f.blocks[latch.0].terminator.edges()[latch.1].args;
    let step = |(place, &next): (usize, &Value)| {
        let (of, step) = sum(f, next);
        let own = of == f.blocks[header].params[place];
        (own && step != 0 && step.unsigned_abs() <= MAX_STEP).then_some(Counter { place, step })
    };
    next.iter().enumerate().filter_map(step).collect()
}

/// The innermost loop around the definition of each value.
pub(super) fn homes(f: &Function, cfg: &Cfg, loops: &Loops) -> SideTable<Value, Option<Loop>> {
    let mut homes = SideTable::with_len(None, f.values.len());
    for &block in cfg.rpo() {
        let Some(id) = loops.innermost(block) else { continue };
        f.blocks[block].params.iter().for_each(|&param| homes[param] = Some(id));
        let results = f.blocks[block].insts.iter().filter_map(|&inst| f.insts[inst].result);
        results.for_each(|value| homes[value] = Some(id));
    }
    homes
}

/// `Σ counter * constant (* factor) + Σ invariant * constant + offset`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Linear {
    /// Counters, each with its multiplier.
    pub(super) counters: SmallVec<[(Counter, i64); 2]>,
    /// The invariant that multiplies the only counter.
    pub(super) factor: Option<Value>,
    /// Invariants, each with its multiplier, sorted.
    pub(super) terms: SmallVec<[(Value, i64); 4]>,
    pub(super) offset: i64,
}

impl Linear {
    /// How much the value grows each time round, where that is a constant; else times the factor.
    pub(super) fn slope(&self) -> i64 {
        let slopes = self.counters.iter().map(|(counter, by)| counter.step.wrapping_mul(*by));
        slopes.fold(0, i64::wrapping_add)
    }

    /// Appends code for the value in the first round, which the header is entered for with `entry`.
    pub(super) fn first(&self, f: &mut Function, at: Block, entry: &[Value], loc: Loc) -> Value {
        let add_times = |f: &mut Function, sum: Value, term: Value, by: i64| {
            if by == -1 {
                return emit_values(f, at, Op::ISub, sum, term, loc);
            }
            let term = emit(f, at, Op::IMul, term, Const::Int(by), loc);
            emit_values(f, at, Op::IAdd, term, sum, loc)
        };
        let mut sum = f.int(self.offset);
        for &(counter, by) in &self.counters {
            let mut term = entry[counter.place];
            if let Some(factor) = self.factor {
                term = emit_values(f, at, Op::IMul, term, factor, loc);
            }
            sum = add_times(f, sum, term, by);
        }
        for &(term, by) in &self.terms {
            sum = add_times(f, sum, term, by);
        }
        sum
    }

    fn constant(offset: i64) -> Self {
        Self { offset, ..Self::default() }
    }

    fn is_constant(&self) -> bool {
        self.counters.is_empty() && self.terms.is_empty()
    }

    fn times(mut self, by: i64) -> Self {
        self.counters.iter_mut().for_each(|(_, k)| *k = k.wrapping_mul(by));
        self.terms.iter_mut().for_each(|(_, k)| *k = k.wrapping_mul(by));
        self.offset = self.offset.wrapping_mul(by);
        self.tidied()
    }

    fn plus(mut self, other: Self) -> Option<Self> {
        if self.factor.is_some() && !other.counters.is_empty()
            || other.factor.is_some() && !self.counters.is_empty()
        {
            return None;
        }
        self.factor = self.factor.or(other.factor);
        for (counter, by) in other.counters {
            match self.counters.iter_mut().find(|(seen, _)| *seen == counter) {
                Some((_, k)) => *k = k.wrapping_add(by),
                None => self.counters.push((counter, by)),
            }
        }
        for (value, by) in other.terms {
            match self.terms.iter_mut().find(|(seen, _)| *seen == value) {
                Some((_, k)) => *k = k.wrapping_add(by),
                None => self.terms.push((value, by)),
            }
        }
        self.offset = self.offset.wrapping_add(other.offset);
        let sum = self.tidied();
        (sum.terms.len() + sum.counters.len() <= MAX_TERMS).then_some(sum)
    }

    fn tidied(mut self) -> Self {
        self.counters.retain(|(_, by)| *by != 0);
        self.terms.retain(|(_, by)| *by != 0);
        self.counters.sort_unstable_by_key(|(counter, _)| counter.place);
        self.terms.sort_unstable_by_key(|&(value, _)| value);
        if self.counters.is_empty() {
            self.factor = None;
        }
        self
    }

    /// The product, where one side is a constant, or a counter meets one invariant.
    fn by(self, other: Self) -> Option<Self> {
        if other.is_constant() {
            return Some(self.times(other.offset));
        }
        if self.is_constant() {
            return Some(other.times(self.offset));
        }
        let (varying, fixed) = if self.counters.is_empty() { (other, self) } else { (self, other) };
        let &[(value, by)] = &*fixed.terms else { return None };
        let alone = fixed.offset == 0
            && fixed.counters.is_empty()
            && varying.counters.len() == 1
            && varying.terms.is_empty()
            && varying.factor.is_none();
        if !alone {
            return None;
        }
        let mut product = varying.times(by);
        product.factor = Some(value);
        product.terms.extend([(value, product.offset)]);
        product.offset = 0;
        Some(product.tidied())
    }
}

/// What a loop's values are seen in: its header, its counters, what is defined where.
pub(super) struct View<'a> {
    pub(super) header: Block,
    pub(super) counters: &'a [Counter],
    pub(super) own: Loop,
    pub(super) homes: &'a SideTable<Value, Option<Loop>>,
}

impl View<'_> {
    /// Whether the loop defines a value.
    pub(super) fn defines(&self, value: Value) -> bool {
        self.homes[value] == Some(self.own)
    }

    /// A value as a form, if it is one.
    pub(super) fn linear(&self, f: &Function, value: Value) -> Option<Linear> {
        self.form(f, value, 0)
    }

    fn form(&self, f: &Function, value: Value, depth: u32) -> Option<Linear> {
        match f.values[value].def {
            ValueDef::Const(Const::Int(i)) => return Some(Linear::constant(i)),
            _ if !self.defines(value) => {
                let terms = SmallVec::from_slice(&[(value, 1)]);
                return Some(Linear { terms, ..Linear::default() });
            }
            ValueDef::Param(block, place) if block == self.header => {
                let counter = self.counters.iter().find(|c| c.place == place as usize)?;
                let counters = SmallVec::from_slice(&[(*counter, 1)]);
                return Some(Linear { counters, ..Linear::default() });
            }
            _ => {}
        }
        let inst: Inst = f.def_inst(value).filter(|_| depth < MAX_DEPTH)?;
        let args = f.args(inst);
        let form = |i: usize| self.form(f, *args.get(i)?, depth + 1);
        match f.insts[inst].op {
            Op::IAdd => form(0)?.plus(form(1)?),
            Op::ISub => form(0)?.plus(form(1)?.times(-1)),
            Op::INeg => Some(form(0)?.times(-1)),
            Op::IMul => form(0)?.by(form(1)?),
            Op::Shl => match f.as_const(args[1]) {
                Some(Const::Int(by)) => Some(form(0)?.times(1i64.wrapping_shl(by as u32 & 63))),
                _ => None,
            },
            Op::CheckBounds | Op::Copy => form(0),
            _ => None,
        }
    }
}
