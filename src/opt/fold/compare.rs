//! Comparisons: of equal operands, with constants at the ends of the range, of bools with
//! constants, and equalities whose sides can be moved (order comparisons can't: they don't survive
//! wrapping).

use super::Folder;
use crate::ir::{Const, Op, Value};
use crate::opt::effects::is_never_nil;
use toyjit_runtime::fault::{self, Fault};

/// A simpler form of a comparison.
pub(super) enum Test {
    /// Its outcome.
    Known(bool),
    /// This bool.
    Is(Value),
    /// The opposite of this bool.
    Not(Value),
    /// Another comparison.
    Compare(Op, [Value; 2]),
}

impl Folder<'_> {
    /// The first rule that applies to `a op b` where not both are constants with a known word.
    pub(super) fn test(&mut self, op: Op, a: Value, b: Value) -> Option<Test> {
        if self.is_const(a) && !self.is_const(b) {
            return Some(Test::Compare(op.swapped(), [b, a]));
        }
        if a == b {
            return match op {
                Op::IEq | Op::ILe | Op::IGe | Op::ULe | Op::UGe | Op::REq => {
                    Some(Test::Known(true))
                }
                Op::INe | Op::ILt | Op::IGt | Op::ULt | Op::UGt | Op::RNe | Op::FLt | Op::FGt => {
                    Some(Test::Known(false))
                }
                _ => None,
            };
        }
        match op {
            Op::REq | Op::RNe => self.identity(op, a, b),
            Op::IEq | Op::INe => self.equality(op, a, b),
            Op::ILt if fault::is(Fault::FoldCompareWraps) && self.int(b).is_some() => {
                let (inner, args) = self.def(a)?;
                let by = self.int(*args.get(1)?)?;
                let to = self.int(b)?.wrapping_sub(by);
                let to = self.f.int(to);
                (inner == Op::IAdd).then_some(Test::Compare(op, [args[0], to]))
            }
            _ => match (op, self.int(b)?) {
                (Op::ILt, i64::MIN) | (Op::IGt, i64::MAX) => Some(Test::Known(false)),
                (Op::IGe, i64::MIN) | (Op::ILe, i64::MAX) => Some(Test::Known(true)),
                _ => None,
            },
        }
    }

    /// What is certainly an object is not nil.
    fn identity(&mut self, op: Op, a: Value, b: Value) -> Option<Test> {
        let nil = |value| self.f.as_const(value) == Some(Const::Nil);
        let differ = nil(b) && is_never_nil(self.f, a) || nil(a) && is_never_nil(self.f, b);
        differ.then_some(Test::Known(op == Op::RNe))
    }

    fn equality(&mut self, op: Op, a: Value, b: Value) -> Option<Test> {
        let constant = self.f.as_const(b)?;
        if let Const::Bool(value) = constant {
            let same = (op == Op::IEq) == value;
            return Some(if same { Test::Is(a) } else { Test::Not(a) });
        }
        let Const::Int(k) = constant else { return None };
        let (inner, args) = self.def(a)?;
        let moved = |folder: &mut Self, to: i64| {
            let to = folder.f.int(to);
            Some(Test::Compare(op, [args[0], to]))
        };
        match inner {
            Op::IAdd => {
                let by = self.int(args[1])?;
                moved(self, k.wrapping_sub(by))
            }
            Op::IXor => match self.int(args[1]) {
                Some(with) => moved(self, k ^ with),
                None => (k == 0).then_some(Test::Compare(op, [args[0], args[1]])),
            },
            Op::ISub => (k == 0).then_some(Test::Compare(op, [args[0], args[1]])),
            Op::INeg => moved(self, k.wrapping_neg()),
            Op::INot => moved(self, !k),
            Op::BToI if k == 0 || k == 1 => {
                let same = (op == Op::IEq) == (k == 1);
                Some(if same { Test::Is(args[0]) } else { Test::Not(args[0]) })
            }
            Op::BToI => Some(Test::Known(op == Op::INe)),
            Op::Select => {
                let [yes, no] = [self.int(args[1])? == k, self.int(args[2])? == k];
                Some(match (yes == no, (op == Op::IEq) == yes) {
                    (true, outcome) => Test::Known(outcome),
                    (false, true) => Test::Is(args[0]),
                    (false, false) => Test::Not(args[0]),
                })
            }
            _ => None,
        }
    }
}
