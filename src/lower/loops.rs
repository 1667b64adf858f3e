//! Loops, each with its test at the header; a counting loop that includes its end tests behind the
//! body, since its counter must not pass the largest int.

use super::builder::{Builder, LoopTargets};
use crate::ir::{Op, Type, Value, ValueDef};
use crate::sema::hir::{self, Expr, ExprKind, LocalId, Ty};
use crate::source::Span;
use toyjit_runtime::fault::{self, Fault};

impl Builder<'_> {
    /// `while condition { … }`; only the literal `true` is no test.
    pub fn while_loop(&mut self, condition: &Expr, body: &hir::Block) {
        let header = self.f.add_block();
        self.jump(header);
        self.start(header);
        let inner = match condition.kind {
            ExprKind::Bool(true) => header,
            _ => self.f.add_block(),
        };
        let exit = self.f.add_block();
        if inner != header {
            self.condition(condition, inner, exit);
            self.start(inner);
        }
        self.burn(condition.span);
        self.body(body, LoopTargets { on_break: exit, on_continue: header });
        self.jump(header);
        self.start(exit);
    }

    /// `for i in a..b`. Nothing but the loop assigns `i`, so that it is its own counter.
    pub fn range(&mut self, local: LocalId, from: &Expr, to: &Expr, body: &hir::Block) {
        let counter = self.local(local);
        let limit = self.bounds(local, from, to);
        let i = self.f.variables[counter].value;
        let [header, inner, next, exit] = std::array::from_fn(|_| self.f.add_block());
        self.jump(header);
        self.start(header);
        self.branch(Op::ILt, [i, limit], inner, exit, from.span.to(to.span));
        self.start(inner);
        self.burn(from.span.to(to.span));
        self.body(body, LoopTargets { on_break: exit, on_continue: next });
        self.jump(next);
        self.start(next);
        self.step(i, from.span.to(to.span));
        self.jump(header);
        self.start(exit);
    }

    /// `for i in a..=b`.
    pub fn inclusive_range(&mut self, local: LocalId, from: &Expr, to: &Expr, body: &hir::Block) {
        let counter = self.local(local);
        let limit = self.bounds(local, from, to);
        let i = self.f.variables[counter].value;
        let span = from.span.to(to.span);
        let [inner, last, next, exit] = std::array::from_fn(|_| self.f.add_block());
        self.branch(Op::ILe, [i, limit], inner, exit, span);
        self.start(inner);
        self.burn(span);
        self.body(body, LoopTargets { on_break: exit, on_continue: last });
        self.jump(last);
        self.start(last);
        self.branch(Op::IEq, [i, limit], exit, next, span);
        self.start(next);
        self.step(i, span);
        if fault::is(Fault::LowerInclusive) {
            self.branch(Op::IEq, [i, limit], exit, inner, span);
            return self.start(exit);
        }
        self.jump(inner);
        self.start(exit);
    }

    /// `for x in xs`: by index, while it is below the length at that moment.
    pub fn for_in(&mut self, local: LocalId, iterable: &Expr, body: &hir::Block) {
        let span = iterable.span;
        let element = self.local(local);
        let sequence = self.value(iterable, None);
        let sequence = self.keep(sequence, span);
        let counter = self.new_variable("index", Type::Int, span);
        let zero = self.f.int(0);
        let index = self.put(zero, span, Some(counter));
        let [header, inner, next, exit] = std::array::from_fn(|_| self.f.add_block());
        self.jump(header);
        self.start(header);
        let len = self.length(sequence, iterable.ty, span, None);
        self.branch(Op::ILt, [index, len], inner, exit, span);
        self.start(inner);
        self.burn(span);
        if iterable.ty == Ty::STR {
            self.op(Op::StrByte, &[sequence, index], span, Some(element));
        } else {
            self.load_element(sequence, iterable.ty, index, span, Some(element));
        }
        self.body(body, LoopTargets { on_break: exit, on_continue: next });
        self.jump(next);
        self.start(next);
        self.step(index, span);
        self.jump(header);
        self.start(exit);
    }

    /// Evaluates both ends of a range: the first into the variable, the second to stay.
    fn bounds(&mut self, local: LocalId, from: &Expr, to: &Expr) -> Value {
        let counter = self.local(local);
        self.value(from, Some(counter));
        let limit = self.value(to, None);
        self.keep(limit, to.span)
    }

    /// `value` as something that no assignment changes.
    fn keep(&mut self, value: Value, span: Span) -> Value {
        match self.f.values[value].def {
            ValueDef::Variable(_) => self.op(Op::Copy, &[value], span, None),
            _ => value,
        }
    }

    fn step(&mut self, counter: Value, span: Span) {
        if let ValueDef::Variable(variable) = self.f.values[counter].def {
            let one = self.f.int(1);
            self.op(Op::IAdd, &[counter, one], span, Some(variable));
        }
    }

    fn body(&mut self, body: &hir::Block, targets: LoopTargets) {
        self.loops.push(targets);
        self.block(body);
        self.loops.pop();
    }
}
