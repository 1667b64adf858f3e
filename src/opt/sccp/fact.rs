//! The lattice: what is known of a value at run time.
//!
//! Ints have a range, other types a constant or nothing, references may be known not to be nil.
//! Facts only ever rise from [`Fact::Top`] (no execution seen yet) towards the whole type.

use super::transfer::signed;
use crate::ir::{Const, Op, Type};
use std::fmt;
use toyjit_runtime::fault::{self, Fault};

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Nothing has reached it yet.
    Top,
    /// An int from `lo` to `hi`.
    Int {
        /// The least.
        lo: i64,
        /// The greatest.
        hi: i64,
    },
    /// This constant, which is no int.
    Const(Const),
    /// A reference to an object.
    NonNil,
    /// Anything of its type, which is not int.
    Any,
}

impl Fact {
    /// Any int.
    pub(super) const INT: Fact = Fact::Int { lo: i64::MIN, hi: i64::MAX };

    /// Anything of a type.
    pub(super) fn any(ty: Type) -> Fact {
        if ty == Type::Int { Fact::INT } else { Fact::Any }
    }

    /// A constant.
    pub fn of(constant: Const) -> Fact {
        match constant {
            Const::Int(i) => Fact::Int { lo: i, hi: i },
            constant => Fact::Const(constant),
        }
    }

    /// An int from `lo` to `hi`; `Top` where that is empty.
    pub(super) fn range(lo: i64, hi: i64) -> Fact {
        if lo <= hi { Fact::Int { lo, hi } } else { Fact::Top }
    }

    /// The only value that it allows.
    pub(super) fn as_const(self) -> Option<Const> {
        match self {
            Fact::Int { lo, hi } if lo == hi => Some(Const::Int(lo)),
            Fact::Const(constant) => Some(constant),
            _ => None,
        }
    }

    /// The least and the greatest int that it allows.
    pub(super) fn bounds(self) -> Option<(i64, i64)> {
        match self {
            Fact::Int { lo, hi } => Some((lo, hi)),
            _ => None,
        }
    }

    /// Whether it rules nil out.
    pub(super) fn is_object(self) -> bool {
        matches!(self, Fact::NonNil | Fact::Const(Const::Str(_) | Const::Func(_)))
    }

    /// What holds where one or the other does.
    pub(super) fn join(self, other: Fact) -> Fact {
        match (self, other) {
            (Fact::Top, fact) | (fact, Fact::Top) => fact,
            (Fact::Int { lo: a, hi: b }, Fact::Int { lo: c, hi: d }) => {
                Fact::Int { lo: a.min(c), hi: b.max(d) }
            }
            (a, b) if a == b => a,
            (a, b) if a.is_object() && b.is_object() => Fact::NonNil,
            _ => Fact::Any,
        }
    }

    /// What is known of a value of which `self` is, once `value op other` is known to hold.
    pub(super) fn refine(self, op: Op, other: Fact) -> Fact {
        if self == Fact::Top || other == Fact::Top {
            return Fact::Top;
        }
        if let (Fact::Int { lo, hi }, Fact::Int { lo: least, hi: greatest }) = (self, other) {
            let op = if lo >= 0 && least >= 0 { signed(op) } else { op };
            return match op {
                // Below what is not negative only what is not negative is.
                Op::ULt if least >= 0 => Fact::range(lo.max(0), hi.min(greatest - 1)),
                Op::ULe if least >= 0 => Fact::range(lo.max(0), hi.min(greatest)),
                Op::IEq => Fact::range(lo.max(least), hi.min(greatest)),
                Op::INe if least == greatest => {
                    let lo = if lo == least { lo.saturating_add(1) } else { lo };
                    let hi = if hi == least { hi.saturating_sub(1) } else { hi };
                    Fact::range(lo, hi)
                }
                Op::ILt if greatest == i64::MIN => Fact::Top,
                Op::IGt if least == i64::MAX => Fact::Top,
                Op::ILt => Fact::range(lo, hi.min(greatest - 1)),
                Op::ILe if fault::is(Fault::SccpLessOrEqual) && greatest > i64::MIN => {
                    Fact::range(lo, hi.min(greatest - 1))
                }
                Op::ILe => Fact::range(lo, hi.min(greatest)),
                Op::IGt => Fact::range(lo.max(least + 1), hi),
                Op::IGe => Fact::range(lo.max(least), hi),
                _ => self,
            };
        }
        match (op, other) {
            (Op::IEq | Op::REq, Fact::Const(_)) if self == Fact::Any => other,
            (Op::REq, Fact::NonNil) if self == Fact::Any => other,
            (Op::INe, Fact::Const(Const::Bool(b))) if self == Fact::Any => {
                Fact::Const(Const::Bool(!b))
            }
            (Op::RNe, Fact::Const(Const::Nil)) if self == Fact::Any => Fact::NonNil,
            _ => self,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Fact::Top => f.write_str("nothing yet"),
            Fact::INT => f.write_str("any int"),
            Fact::Int { lo, hi } if lo == hi => write!(f, "{lo}"),
            Fact::Int { lo: i64::MIN, hi } => write!(f, "≤ {}", bound(hi)),
            Fact::Int { lo, hi: i64::MAX } => write!(f, "≥ {}", bound(lo)),
            Fact::Int { lo, hi } => write!(f, "{} to {}", bound(lo), bound(hi)),
            Fact::Const(Const::Float(bits)) => write!(f, "{:?}", f64::from_bits(bits)),
            Fact::Const(Const::Bool(b)) => write!(f, "{b}"),
            Fact::Const(Const::Nil) => f.write_str("nil"),
            Fact::Const(Const::Int(i)) => write!(f, "{i}"),
            Fact::Const(Const::Str(_)) => f.write_str("a string literal"),
            Fact::Const(Const::Func(_)) => f.write_str("a function"),
            Fact::NonNil => f.write_str("not nil"),
            Fact::Any => f.write_str("anything"),
        }
    }
}

/// An int, or how far it is from the ends.
fn bound(k: i64) -> String {
    match k {
        i64::MIN => "MIN".to_owned(),
        i64::MAX => "MAX".to_owned(),
        k if k < i64::MIN + 1000 => format!("MIN + {}", k - i64::MIN),
        k if k > i64::MAX - 1000 => format!("MAX - {}", i64::MAX - k),
        k => k.to_string(),
    }
}

/// Where the bounds of a range in a loop may stop while they rise.
#[derive(Debug)]
pub(super) struct Thresholds(Vec<i64>);

impl Thresholds {
    /// The ends of some types, and around the constants that the function compares with.
    pub(super) fn new(compared: impl Iterator<Item = i64>) -> Self {
        let ends = [i64::MIN, -1, 0, 1, 255, i64::from(i32::MAX), i64::MAX - 1, i64::MAX];
        let around = compared.flat_map(|k| [k.saturating_sub(1), k, k.saturating_add(1)]);
        let mut all: Vec<i64> = ends.into_iter().chain(around).collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }

    /// A fact not below `new` that differs from `old` by thresholds; `far`: by the ends.
    pub(super) fn widen(&self, old: Fact, new: Fact, far: bool) -> Fact {
        let (Fact::Int { lo: a, hi: b }, Fact::Int { lo, hi }) = (old, new) else { return new };
        let at_most = |k: i64| self.0[self.0.partition_point(|&t| t <= k) - 1];
        let at_least = |k: i64| self.0[self.0.partition_point(|&t| t < k)];
        let lo = if lo >= a {
            a
        } else if far {
            i64::MIN
        } else {
            at_most(lo)
        };
        let hi = if hi <= b {
            b
        } else if far {
            i64::MAX
        } else {
            at_least(hi)
        };
        Fact::Int { lo, hi }
    }
}
