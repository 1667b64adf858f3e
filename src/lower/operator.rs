//! Arithmetic and conversions. A byte is an int from 0 to 255: where an operation may leave that
//! range, `iand 255` brings it back.

use super::builder::{Builder, Dest};
use crate::ir::{Const, Op, Value};
use crate::sema::hir::{BinaryOp, Expr, ExprKind, Ty, UnaryOp};
use crate::source::Span;
use toyjit_runtime::entry::Rt;
use toyjit_runtime::fault::{self, Fault};

/// Where a binary operation stands in the source.
#[derive(Clone, Copy)]
pub(super) struct Spans {
    /// All of it.
    pub whole: Span,
    /// The operator, where a division's trap points.
    pub operator: Span,
}

impl Builder<'_> {
    /// `a op b op c …` of one type.
    pub fn chain(
        &mut self,
        first: &Expr,
        rest: &[(BinaryOp, Span, Expr)],
        ty: Ty,
        dest: Dest,
    ) -> Value {
        let mut left = self.value(first, None);
        for (index, (op, operator, operand)) in rest.iter().enumerate() {
            let right = self.value(operand, None);
            let whole = first.span.to(operand.span);
            let dest = if index + 1 == rest.len() { dest } else { None };
            let spans = Spans { whole, operator: *operator };
            left = self.binary(*op, ty, [left, right], spans, dest);
        }
        left
    }

    /// A binary operator on a type; a shift's second operand is an int.
    pub fn binary(
        &mut self,
        op: BinaryOp,
        ty: Ty,
        args: [Value; 2],
        spans: Spans,
        dest: Dest,
    ) -> Value {
        match ty {
            Ty::FLOAT => self.float_binary(op, args, spans.whole, dest),
            Ty::BYTE => self.byte_binary(op, args, spans, dest),
            Ty::STR => self.rt_value(Rt::StrConcat, &args, spans.whole, dest),
            _ => self.int_binary(op, args, spans, dest),
        }
    }

    /// On ints, and the bitwise operators on bools.
    fn int_binary(&mut self, op: BinaryOp, args: [Value; 2], spans: Spans, dest: Dest) -> Value {
        let op = match op {
            BinaryOp::Div => return self.division(Op::SDiv, args, spans, dest),
            BinaryOp::Rem => return self.division(Op::SRem, args, spans, dest),
            BinaryOp::Mul => Op::IMul,
            BinaryOp::Add => Op::IAdd,
            BinaryOp::Sub => Op::ISub,
            BinaryOp::Shl => Op::Shl,
            BinaryOp::Shr => Op::Sar,
            BinaryOp::UShr => Op::Shr,
            BinaryOp::BitAnd => Op::IAnd,
            BinaryOp::BitXor => Op::IXor,
            BinaryOp::BitOr => Op::IOr,
        };
        self.op(op, &args, spans.whole, dest)
    }

    fn byte_binary(&mut self, op: BinaryOp, [a, b]: [Value; 2], spans: Spans, dest: Dest) -> Value {
        let span = spans.whole;
        match op {
            BinaryOp::Mul | BinaryOp::Add | BinaryOp::Sub => {
                let wide = self.int_binary(op, [a, b], spans, None);
                self.as_byte(wide, span, dest)
            }
            BinaryOp::Shl => {
                let count = self.byte_shift_count(b, span);
                let wide = self.op(Op::Shl, &[a, count], span, None);
                self.as_byte(wide, span, dest)
            }
            BinaryOp::Shr | BinaryOp::UShr => {
                let count = self.byte_shift_count(b, span);
                self.op(Op::Shr, &[a, count], span, dest)
            }
            BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitXor
            | BinaryOp::BitOr => self.int_binary(op, [a, b], spans, dest),
        }
    }

    fn float_binary(&mut self, op: BinaryOp, args: [Value; 2], span: Span, dest: Dest) -> Value {
        let op = match op {
            BinaryOp::Mul => Op::FMul,
            BinaryOp::Div => Op::FDiv,
            BinaryOp::Add => Op::FAdd,
            BinaryOp::Sub => Op::FSub,
            _ => return self.rt_value(Rt::Fmod, &args, span, dest),
        };
        self.op(op, &args, span, dest)
    }

    fn division(&mut self, op: Op, [a, b]: [Value; 2], spans: Spans, dest: Dest) -> Value {
        let divisor = match self.f.as_const(b) {
            Some(Const::Int(known)) if known != 0 => b,
            _ => self.op(Op::CheckDiv, &[b], spans.operator, None),
        };
        self.op(op, &[a, divisor], spans.whole, dest)
    }

    fn as_byte(&mut self, value: Value, span: Span, dest: Dest) -> Value {
        let mask = self.f.int(if fault::is(Fault::LowerByteWraps) { 511 } else { 255 });
        self.op(Op::IAnd, &[value, mask], span, dest)
    }

    fn byte_shift_count(&mut self, count: Value, span: Span) -> Value {
        if let Some(Const::Int(count)) = self.f.as_const(count) {
            return self.f.int(count & 7);
        }
        let mask = self.f.int(if fault::is(Fault::LowerByteShift) { 63 } else { 7 });
        self.op(Op::IAnd, &[count, mask], span, None)
    }

    /// `-x`, `~x`, `!x`; a minus before a literal is part of it.
    pub fn unary(&mut self, op: UnaryOp, operand: &Expr, span: Span, dest: Dest) -> Value {
        match (op, &operand.kind) {
            (UnaryOp::Neg, &ExprKind::Int(value)) => {
                return self.constant(Const::Int(value.wrapping_neg()), span, dest);
            }
            (UnaryOp::Neg, &ExprKind::Float(value)) => {
                return self.constant(Const::Float((-value).to_bits()), span, dest);
            }
            _ => {}
        }
        let value = self.value(operand, None);
        match (op, operand.ty) {
            (UnaryOp::Neg, Ty::FLOAT) => self.op(Op::FNeg, &[value], span, dest),
            (UnaryOp::Neg, Ty::BYTE) => {
                let wide = self.op(Op::INeg, &[value], span, None);
                self.as_byte(wide, span, dest)
            }
            (UnaryOp::Neg, _) => self.op(Op::INeg, &[value], span, dest),
            (UnaryOp::BitNot, Ty::BYTE) => {
                let mask = self.f.int(255);
                self.op(Op::IXor, &[value, mask], span, dest)
            }
            (UnaryOp::BitNot, _) => self.op(Op::INot, &[value], span, dest),
            (UnaryOp::Not, _) => {
                let yes = self.f.constant(Const::Bool(true));
                self.op(Op::IXor, &[value, yes], span, dest)
            }
        }
    }

    /// `int(x)`, `float(x)`, `byte(x)`, `str(x)`.
    pub fn convert(&mut self, operand: &Expr, to: Ty, span: Span, dest: Dest) -> Value {
        if operand.ty == to {
            return self.value(operand, dest);
        }
        let value = self.value(operand, None);
        match (operand.ty, to) {
            (Ty::FLOAT, Ty::INT) => self.op(Op::FToI, &[value], span, dest),
            (Ty::BOOL, Ty::INT) => self.op(Op::BToI, &[value], span, dest),
            (Ty::INT | Ty::BYTE, Ty::FLOAT) => self.op(Op::IToF, &[value], span, dest),
            (Ty::INT, Ty::BYTE) => self.as_byte(value, span, dest),
            (Ty::INT | Ty::BYTE, Ty::STR) => self.rt_value(Rt::StrOfInt, &[value], span, dest),
            (Ty::FLOAT, Ty::STR) => self.rt_value(Rt::StrOfFloat, &[value], span, dest),
            (Ty::BOOL, Ty::STR) => self.rt_value(Rt::StrOfBool, &[value], span, dest),
            (_, Ty::STR) => self.rt_value(Rt::StrOfRef, &[value], span, dest),
            _ => self.put(value, span, dest),
        }
    }
}
