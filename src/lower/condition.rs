//! Comparisons, and conditions as control flow: a condition is lowered into the branches that
//! decide it, so that no bool is made where only a jump is wanted.

use super::builder::{Builder, Dest};
use crate::ir::{Block, Const, Op, Value};
use crate::sema::hir::{CompareOp, Expr, ExprKind, Ty, UnaryOp};
use crate::source::Span;
use toyjit_runtime::entry::Rt;

/// A comparison that is ready to be made: by a branch or by an instruction.
struct Comparison {
    op: Op,
    args: [Value; 2],
}

impl Builder<'_> {
    /// Goes to `yes` where the condition holds, else to `no`. A literal keeps both ways open: what
    /// it decides is no matter of the flow (LANGUAGE.md §9.5).
    pub fn condition(&mut self, expr: &Expr, yes: Block, no: Block) {
        match &expr.kind {
            ExprKind::Compare { op, left, right } => {
                let Comparison { op, args } = self.comparison(*op, left, right, expr.span);
                self.branch(op, args, yes, no, expr.span);
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.condition(operand, no, yes),
            ExprKind::Logic { and, operands } => {
                let Some((last, operands)) = operands.split_last() else { return };
                for operand in operands {
                    let next = self.f.add_block();
                    if *and {
                        self.condition(operand, next, no);
                    } else {
                        self.condition(operand, yes, next);
                    }
                    self.start(next);
                }
                self.condition(last, yes, no);
            }
            _ => {
                let value = self.value(expr, None);
                self.branch_on(value, yes, no, expr.span);
            }
        }
    }

    /// Goes to `yes` where a bool is true, else to `no`.
    pub fn branch_on(&mut self, value: Value, yes: Block, no: Block, span: Span) {
        let no_value = self.f.constant(Const::Bool(false));
        self.branch(Op::INe, [value, no_value], yes, no, span);
    }

    /// A comparison as a value.
    pub fn compare(
        &mut self,
        op: CompareOp,
        left: &Expr,
        right: &Expr,
        span: Span,
        dest: Dest,
    ) -> Value {
        let Comparison { op, args } = self.comparison(op, left, right, span);
        self.op(op, &args, span, dest)
    }

    /// `a && b`, `a || b` as a value.
    pub fn logic(&mut self, expr: &Expr, dest: Dest) -> Value {
        let result =
            dest.unwrap_or_else(|| self.new_variable("flag", crate::ir::Type::Bool, expr.span));
        let [yes, no, join] = std::array::from_fn(|_| self.f.add_block());
        self.condition(expr, yes, no);
        for (block, flag) in [(yes, true), (no, false)] {
            self.start(block);
            self.constant(Const::Bool(flag), expr.span, Some(result));
            self.jump(join);
        }
        self.start(join);
        self.f.variables[result].value
    }

    /// Evaluates both sides of a comparison.
    fn comparison(&mut self, op: CompareOp, left: &Expr, right: &Expr, span: Span) -> Comparison {
        let by_identity = |e: &Expr| matches!(e.kind, ExprKind::Nil);
        let identity = by_identity(left) || by_identity(right);
        let a = self.value(left, None);
        let b = self.value(right, None);
        match self.program.types.strip_optional(left.ty) {
            Ty::INT | Ty::BYTE | Ty::BOOL => Comparison { op: int_op(op), args: [a, b] },
            Ty::FLOAT => Comparison { op: float_op(op), args: [a, b] },
            Ty::STR if !identity => self.compare_strings(op, a, b, span),
            _ if op == CompareOp::Ne => Comparison { op: Op::RNe, args: [a, b] },
            _ => Comparison { op: Op::REq, args: [a, b] },
        }
    }

    fn compare_strings(&mut self, op: CompareOp, a: Value, b: Value, span: Span) -> Comparison {
        match op {
            CompareOp::Eq | CompareOp::Ne => {
                let equal = self.rt_value(Rt::StrEq, &[a, b], span, None);
                let no = self.f.constant(Const::Bool(false));
                let op = if op == CompareOp::Eq { Op::INe } else { Op::IEq };
                Comparison { op, args: [equal, no] }
            }
            _ => {
                let order = self.rt_value(Rt::StrCmp, &[a, b], span, None);
                let zero = self.f.int(0);
                Comparison { op: int_op(op), args: [order, zero] }
            }
        }
    }
}

fn int_op(op: CompareOp) -> Op {
    match op {
        CompareOp::Eq => Op::IEq,
        CompareOp::Ne => Op::INe,
        CompareOp::Lt => Op::ILt,
        CompareOp::Le => Op::ILe,
        CompareOp::Gt => Op::IGt,
        CompareOp::Ge => Op::IGe,
    }
}

fn float_op(op: CompareOp) -> Op {
    match op {
        CompareOp::Eq => Op::FEq,
        CompareOp::Ne => Op::FNe,
        CompareOp::Lt => Op::FLt,
        CompareOp::Le => Op::FLe,
        CompareOp::Gt => Op::FGt,
        CompareOp::Ge => Op::FGe,
    }
}
