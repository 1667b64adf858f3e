//! What an operator makes of the facts about its operands.
//!
//! Constants go through the table of operators. For ranges, every bound is computed without
//! wrapping (in 128 bits); where it does not fit, any int may come out.

use super::fact::Fact;
use crate::ir::{Const, Op, Type};
use crate::ssa::evaluate;
use toyjit_runtime::fault::{self, Fault};

/// The fact about a result of type `ty`. Operands that nothing has reached give such a result.
pub(super) fn transfer(op: Op, args: &[Fact], ty: Type) -> Fact {
    if args.contains(&Fact::Top) {
        return Fact::Top;
    }
    if let Some(constant) = evaluate(op, args.iter().map(|fact| fact.as_const()), Some(ty)) {
        return Fact::of(constant);
    }
    match (op, args) {
        (Op::Copy, &[a]) => a,
        (Op::Select, &[condition, yes, no]) => match condition.as_const() {
            Some(Const::Bool(true)) => yes,
            Some(Const::Bool(false)) => no,
            _ => yes.join(no),
        },
        (Op::CheckNil, &[Fact::Any]) => Fact::NonNil,
        (Op::CheckNil, &[a]) => a,
        (Op::NewStruct | Op::NewClosure, _) => Fact::NonNil,
        (Op::StrByte, _) => Fact::Int { lo: 0, hi: 255 },
        (Op::StrLen | Op::ArrayLen, _) => Fact::Int { lo: 0, hi: i64::MAX },
        (Op::BToI, _) => Fact::Int { lo: 0, hi: 1 },
        (Op::Popcnt | Op::Clz | Op::Ctz, _) => Fact::Int { lo: 0, hi: 64 },
        (Op::IAnd | Op::IOr, &[a, b]) if ty == Type::Bool => bools(op, a, b),
        (Op::REq | Op::RNe, &[a, b]) => identity(op, a, b),
        (_, &[a, b]) => match (a.bounds(), b.bounds()) {
            (Some(a), Some(b)) if ty == Type::Bool => compare(op, a, b),
            (Some(a), Some(b)) => binary(op, a, b),
            _ => Fact::any(ty),
        },
        (_, &[a]) => a.bounds().map_or(Fact::any(ty), |a| unary(op, a, ty)),
        _ => Fact::any(ty),
    }
}

fn bools(op: Op, a: Fact, b: Fact) -> Fact {
    let decides = Fact::Const(Const::Bool(op == Op::IOr));
    if a == decides || b == decides { decides } else { Fact::Any }
}

fn identity(op: Op, a: Fact, b: Fact) -> Fact {
    let nil = Fact::Const(Const::Nil);
    match (a, b) {
        _ if a == nil && b == nil => Fact::Const(Const::Bool(op == Op::REq)),
        _ if a == nil && b.is_object() || a.is_object() && b == nil => {
            Fact::Const(Const::Bool(op == Op::RNe))
        }
        _ => Fact::Any,
    }
}

fn compare(op: Op, (a, b): (i64, i64), (c, d): (i64, i64)) -> Fact {
    let op = if a >= 0 && c >= 0 { signed(op) } else { op };
    let (less, less_or_equal) = (b < c, b <= c);
    let (greater, greater_or_equal) = (a > d, a >= d);
    let apart = less || greater;
    let (always, never) = match op {
        Op::IEq => (false, apart),
        Op::INe => (apart, false),
        Op::ILt => (less, greater_or_equal),
        Op::ILe => (less_or_equal, greater),
        Op::IGt => (greater, less_or_equal),
        Op::IGe => (greater_or_equal, less),
        _ => (false, false),
    };
    if always || never { Fact::Const(Const::Bool(always)) } else { Fact::Any }
}

/// The comparison with a sign that says the same of numbers that are not negative.
pub(super) fn signed(op: Op) -> Op {
    match op {
        Op::ULt => Op::ILt,
        Op::ULe => Op::ILe,
        Op::UGt => Op::IGt,
        Op::UGe => Op::IGe,
        op => op,
    }
}

fn unary(op: Op, (lo, hi): (i64, i64), ty: Type) -> Fact {
    let (a, b) = (i128::from(lo), i128::from(hi));
    match op {
        Op::INeg => exact(-b, -a),
        Op::IAbs if lo >= 0 => Fact::Int { lo, hi },
        Op::IAbs if hi <= 0 => exact(-b, -a),
        Op::IAbs => exact(0, b.max(-a)),
        Op::INot => Fact::Int { lo: !hi, hi: !lo },
        Op::CheckDiv if lo == 0 && hi > 0 => Fact::Int { lo: 1, hi },
        Op::CheckDiv if hi == 0 && lo < 0 => Fact::Int { lo, hi: -1 },
        Op::CheckDiv => Fact::Int { lo, hi },
        _ => Fact::any(ty),
    }
}

fn binary(op: Op, a: (i64, i64), b: (i64, i64)) -> Fact {
    let ((lo, hi), (least, greatest)) = (a, b);
    let wide = |(lo, hi): (i64, i64)| (i128::from(lo), i128::from(hi));
    let ((p, q), (r, s)) = (wide(a), wide(b));
    match op {
        Op::IAdd => exact(p + r, q + s),
        Op::ISub => exact(p - s, q - r),
        Op::IMul => {
            let products = if fault::is(Fault::SccpProducts) {
                [p * r, p * r, q * s, q * s]
            } else {
                [p * r, p * s, q * r, q * s]
            };
            let least = products.into_iter().fold(i128::MAX, i128::min);
            exact(least, products.into_iter().fold(i128::MIN, i128::max))
        }
        Op::SDiv if least > 0 => {
            let quotients = [p / r, p / s, q / r, q / s];
            let least = quotients.into_iter().fold(i128::MAX, i128::min);
            exact(least, quotients.into_iter().fold(i128::MIN, i128::max))
        }
        Op::SRem => {
            // Smaller than the divisor, no larger than the dividend, and of the dividend's sign.
            let limit = (r.abs().max(s.abs()) - 1).max(0);
            let lo = if lo >= 0 || fault::is(Fault::SccpRemSign) { 0 } else { (-limit).max(p) };
            let hi = if hi <= 0 { 0 } else { limit.min(q) };
            exact(lo, hi)
        }
        Op::IMin => Fact::Int { lo: lo.min(least), hi: hi.min(greatest) },
        Op::IMax => Fact::Int { lo: lo.max(least), hi: hi.max(greatest) },
        Op::IAnd if least >= 0 && lo >= 0 => Fact::Int { lo: 0, hi: hi.min(greatest) },
        Op::IAnd if least >= 0 => Fact::Int { lo: 0, hi: greatest },
        Op::IAnd if lo >= 0 => Fact::Int { lo: 0, hi },
        Op::IOr | Op::IXor if lo >= 0 && least >= 0 => {
            let bits = 64 - (hi | greatest).leading_zeros();
            Fact::Int { lo: 0, hi: (1i128 << bits).saturating_sub(1) as i64 }
        }
        Op::Shl if (0..63).contains(&least) && least == greatest => exact(p << least, q << least),
        Op::Sar if (0..64).contains(&least) && least == greatest => {
            Fact::Int { lo: lo >> least, hi: hi >> least }
        }
        Op::Shr if (0..64).contains(&least) && least == greatest => {
            if lo >= 0 {
                Fact::Int { lo: lo >> least, hi: hi >> least }
            } else if least > 0 {
                Fact::Int { lo: 0, hi: (u64::MAX >> least) as i64 }
            } else {
                Fact::INT
            }
        }
        Op::CheckBounds => {
            let passed = Fact::range(lo.max(0), hi.min(greatest.saturating_sub(1)));
            if passed == Fact::Top { Fact::Int { lo: 0, hi: i64::MAX } } else { passed }
        }
        _ => Fact::INT,
    }
}

/// From `lo` to `hi` where both fit; else something wraps.
fn exact(lo: i128, hi: i128) -> Fact {
    match (i64::try_from(lo), i64::try_from(hi)) {
        (Ok(lo), Ok(hi)) => Fact::Int { lo, hi },
        _ if fault::is(Fault::SccpNoWrap) => {
            let clamp = |x: i128| x.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            Fact::Int { lo: clamp(lo), hi: clamp(hi) }
        }
        _ => Fact::INT,
    }
}
