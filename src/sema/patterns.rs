//! `match`: the types of patterns, and arms that can never match.
//!
//! What earlier arms cover is kept exactly: a set of disjoint ranges for numbers, the values seen
//! for bools and strings. An arm all of whose patterns are covered already is reported.

use super::hir::{Arm, Expr, Pattern, StmtKind, Ty, TyKind};
use super::{Checker, codes};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{self, ExprKind as Ast, PatternKind};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

impl Checker<'_> {
    /// `match value { … }`
    pub(super) fn match_statement(&mut self, value: &ast::Expr, arms: &[ast::Arm]) -> StmtKind {
        let value = self.value(value, None);
        let ty = self.matched(&value);
        let mut covered = Covered::new(ty);
        let mut checked = Vec::with_capacity(arms.len());
        for arm in arms {
            let mut patterns = Vec::with_capacity(arm.patterns.len());
            let mut sound = ty != Ty::ERROR;
            let mut alive = false;
            for pattern in &arm.patterns {
                match self.pattern(pattern, ty) {
                    Checked::Pattern(pattern) => {
                        alive |= covered.add(&pattern);
                        patterns.push(pattern);
                    }
                    Checked::Empty => {}
                    Checked::Error => sound = false,
                }
            }
            if sound && !alive {
                self.dead_arm(arm, patterns.is_empty());
            }
            let span = arm.patterns.first().map_or(arm.body.span, |p| p.span.to(arm.body.span));
            checked.push(Arm { patterns, body: self.block(&arm.body), span });
        }
        StmtKind::Match { value, arms: checked }
    }

    fn matched(&mut self, value: &Expr) -> Ty {
        let ty = value.ty;
        if [Ty::INT, Ty::BYTE, Ty::BOOL, Ty::STR, Ty::ERROR].contains(&ty) {
            return ty;
        }
        let message =
            format!("a match is on an int, byte, bool or str, not on `{}`", self.show(ty));
        let mut error = Diagnostic::error(codes::MATCH_TYPE, value.span, message, "");
        if *self.types.kind(ty) == TyKind::Optional(Ty::STR) {
            error = self.help_unwrap(error, value.span);
        }
        self.report(error);
        Ty::ERROR
    }

    fn dead_arm(&mut self, arm: &ast::Arm, empty: bool) {
        let spans = arm.patterns.iter().map(|p| p.span);
        let span = spans.reduce(Span::to).unwrap_or(arm.body.span);
        let why = match empty {
            true => "the range is empty",
            false => "earlier arms match all of it",
        };
        let message = "this arm can never match";
        self.report(Diagnostic::warning(codes::DEAD_ARM, span, message, why));
    }

    fn pattern(&mut self, pattern: &ast::Pattern, ty: Ty) -> Checked {
        match &pattern.kind {
            PatternKind::Any => Checked::Pattern(Pattern::Any),
            PatternKind::Literal(literal) => match &literal.kind {
                Ast::Int(value) => self.number(*value, *value, Ty::INT, ty, pattern.span),
                Ast::Byte(value) => {
                    let value = i64::from(*value);
                    self.number(value, value, Ty::BYTE, ty, pattern.span)
                }
                Ast::Bool(value) => {
                    self.fitting(Pattern::Bool(*value), "bool", Ty::BOOL, ty, pattern.span)
                }
                Ast::Str(value) => {
                    self.fitting(Pattern::Str(value.clone()), "str", Ty::STR, ty, pattern.span)
                }
                Ast::Error => Checked::Error,
                Ast::Float(_) => self.no_pattern("a float", pattern.span),
                Ast::Nil => self.no_pattern("`nil`", pattern.span),
                _ => self.no_pattern("this", pattern.span),
            },
            PatternKind::Range { from, to, inclusive } => {
                let (Some((low, from)), Some((high, to))) =
                    (self.range_bound(from), self.range_bound(to))
                else {
                    return Checked::Error;
                };
                if from != to {
                    let message = "the ends of a range must have the same type";
                    self.error(codes::PATTERN_TYPE, pattern.span, message, "");
                    return Checked::Error;
                }
                let high = if *inclusive { Some(high) } else { high.checked_sub(1) };
                let (low, high) = high.map_or((1, 0), |high| (low, high));
                self.number(low, high, from, ty, pattern.span)
            }
        }
    }

    fn number(&mut self, low: i64, high: i64, found: Ty, wanted: Ty, span: Span) -> Checked {
        let name = if found == Ty::BYTE { "byte" } else { "int" };
        match self.fitting(Pattern::Range(low, high), name, found, wanted, span) {
            Checked::Pattern(_) if low > high => Checked::Empty,
            other => other,
        }
    }

    fn fitting(
        &mut self,
        pattern: Pattern,
        name: &str,
        found: Ty,
        wanted: Ty,
        span: Span,
    ) -> Checked {
        if found == wanted {
            return Checked::Pattern(pattern);
        }
        if wanted != Ty::ERROR {
            let message = format!("expected a pattern of `{}`, found `{name}`", self.show(wanted));
            self.error(codes::PATTERN_TYPE, span, message, "");
        }
        Checked::Error
    }

    fn no_pattern(&mut self, what: &str, span: Span) -> Checked {
        let message = format!("{what} is no pattern");
        let error = Diagnostic::error(codes::PATTERN_TYPE, span, message, "");
        self.report(error.help("patterns are literals of int, byte, bool and str, ranges and `_`"));
        Checked::Error
    }

    fn range_bound(&mut self, bound: &ast::Expr) -> Option<(i64, Ty)> {
        match bound.kind {
            Ast::Int(value) => Some((value, Ty::INT)),
            Ast::Byte(value) => Some((i64::from(value), Ty::BYTE)),
            Ast::Error => None,
            _ => {
                let message = "the ends of a range are ints or bytes";
                self.error(codes::PATTERN_TYPE, bound.span, message, "");
                None
            }
        }
    }
}

enum Checked {
    Pattern(Pattern),
    /// A range without a value in it.
    Empty,
    Error,
}

/// The values that some arms match.
struct Covered {
    /// Disjoint ranges that do not touch, each from its key to its value.
    ranges: BTreeMap<i64, i64>,
    bools: [bool; 2],
    strings: FxHashSet<Box<[u8]>>,
    everything: bool,
    /// All numbers of the type.
    domain: (i64, i64),
}

impl Covered {
    fn new(ty: Ty) -> Self {
        Self {
            ranges: BTreeMap::new(),
            bools: [false; 2],
            strings: FxHashSet::default(),
            everything: false,
            domain: if ty == Ty::BYTE { (0, 255) } else { (i64::MIN, i64::MAX) },
        }
    }

    /// Adds what a pattern matches; whether any of that is new.
    fn add(&mut self, pattern: &Pattern) -> bool {
        if self.everything {
            return false;
        }
        match pattern {
            Pattern::Any => {
                self.everything = true;
                true
            }
            Pattern::Bool(value) => {
                let new = !std::mem::replace(&mut self.bools[usize::from(*value)], true);
                self.everything = self.bools == [true; 2];
                new
            }
            Pattern::Str(value) => self.strings.insert(value.clone()),
            Pattern::Range(low, high) => {
                let new = self.add_range(*low, *high);
                let (first, last) = self.domain;
                self.everything = self.ranges.get(&first).is_some_and(|&end| end >= last);
                new
            }
        }
    }

    fn add_range(&mut self, mut low: i64, mut high: i64) -> bool {
        if let Some((&start, &end)) = self.ranges.range(..=low).next_back() {
            if end >= high {
                return false;
            }
            if end >= low.saturating_sub(1) {
                low = start;
            }
        }
        while let Some((&start, &end)) = self.ranges.range(low..=high.saturating_add(1)).next() {
            self.ranges.remove(&start);
            high = high.max(end);
        }
        self.ranges.insert(low, high);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_covered_by_their_union() {
        let mut covered = Covered::new(Ty::INT);
        assert!(covered.add_range(0, 4));
        assert!(covered.add_range(5, 9));
        assert!(!covered.add_range(3, 7));
        assert!(covered.add_range(20, 30));
        assert!(covered.add_range(8, 25));
        assert_eq!(covered.ranges.len(), 1);
        assert!(covered.add_range(i64::MIN, -2));
        assert!(covered.add_range(31, i64::MAX));
        assert!(covered.add_range(-1, -1));
        assert_eq!(covered.ranges.into_iter().collect::<Vec<_>>(), [(i64::MIN, i64::MAX)]);
    }

    #[test]
    fn agrees_with_a_set_of_values() {
        arbtest::arbtest(|u| {
            let mut covered = Covered::new(Ty::BYTE);
            let mut seen = [false; 256];
            for _ in 0..u.int_in_range(0..=20)? {
                let low = u.int_in_range(0..=255)?;
                let high = u.int_in_range(low..=255)?;
                let all = &mut seen[low..=high];
                let new = all.contains(&false);
                all.fill(true);
                let full = !seen.contains(&false);
                let was_full = covered.everything;
                assert_eq!(covered.add(&Pattern::Range(low as i64, high as i64)), new && !was_full);
                assert_eq!(covered.everything, full);
            }
            Ok(())
        });
    }
}
