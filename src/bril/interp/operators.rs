//! Operations on values, spelled out, and the values of arguments.

use super::{Run, Value, error, wrong};
use crate::bril::lexer::escape;
use crate::bril::program::{Base, BinaryOp, UnaryOp};
use toyjit_runtime::Trap;

pub(super) fn argument(text: &str, base: Base) -> Option<Value> {
    Some(match base {
        Base::Int => Value::Int(text.parse().ok()?),
        Base::Float => Value::Float(text.parse().ok()?),
        Base::Bool => match text {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => return None,
        },
        Base::Char => {
            let mut chars = text.chars();
            match (chars.next()?, chars.next(), chars.next()) {
                (only, None, _) => Value::Char(only),
                ('\\', Some(letter), None) => Value::Char(escape(u8::try_from(letter).ok()?)?),
                _ => return None,
            }
        }
    })
}

pub(super) fn unary(op: UnaryOp, value: Value) -> Run<Value> {
    Ok(match (op, value) {
        (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
        (UnaryOp::CharToInt, Value::Char(value)) => Value::Int(i64::from(u32::from(value))),
        (UnaryOp::IntToChar, Value::Int(value)) => {
            match u32::try_from(value).ok().and_then(char::from_u32) {
                Some(value) => Value::Char(value),
                None => return error(format!("{value} is the number of no character")),
            }
        }
        (UnaryOp::FloatToBits, Value::Float(value)) => Value::Int(value.to_bits() as i64),
        (UnaryOp::BitsToFloat, Value::Int(bits)) => Value::Float(f64::from_bits(bits as u64)),
        (_, value) => return wrong(value),
    })
}

pub(super) fn binary(op: BinaryOp, a: Value, b: Value) -> Run<Value> {
    use BinaryOp::*;
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b)) => match op {
            Add => Value::Int(a.wrapping_add(b)),
            Sub => Value::Int(a.wrapping_sub(b)),
            Mul => Value::Int(a.wrapping_mul(b)),
            Div if b == 0 => return Err(Trap::Division.into()),
            Div => Value::Int(a.wrapping_div(b)),
            Eq => Value::Bool(a == b),
            Lt => Value::Bool(a < b),
            Gt => Value::Bool(a > b),
            Le => Value::Bool(a <= b),
            Ge => Value::Bool(a >= b),
            _ => return wrong(Value::Int(a)),
        },
        (Value::Bool(a), Value::Bool(b)) => match op {
            And => Value::Bool(a && b),
            Or => Value::Bool(a || b),
            _ => return wrong(Value::Bool(a)),
        },
        (Value::Float(a), Value::Float(b)) => match op {
            FAdd => Value::Float(a + b),
            FSub => Value::Float(a - b),
            FMul => Value::Float(a * b),
            FDiv => Value::Float(a / b),
            FEq => Value::Bool(a == b),
            FLt => Value::Bool(a < b),
            FGt => Value::Bool(a > b),
            FLe => Value::Bool(a <= b),
            FGe => Value::Bool(a >= b),
            _ => return wrong(Value::Float(a)),
        },
        (Value::Char(a), Value::Char(b)) => match op {
            CEq => Value::Bool(a == b),
            CLt => Value::Bool(a < b),
            CGt => Value::Bool(a > b),
            CLe => Value::Bool(a <= b),
            CGe => Value::Bool(a >= b),
            _ => return wrong(Value::Char(a)),
        },
        (a, _) => return wrong(a),
    })
}
