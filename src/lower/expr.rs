//! Expressions.

use super::builder::{Builder, Dest};
use super::tables::{Place, result_type, slot_of, type_of};
use crate::analysis::facts::Mentioned;
use crate::ir::{Const, Op, Type, Value};
use crate::sema::hir::{CallValue, Expr, ExprKind, FuncId, GlobalId, StructId, Ty};
use crate::source::Span;
use smallvec::SmallVec;
use toyjit_runtime::entry::Rt;
use toyjit_runtime::fault::{self, Fault};

/// Operands while they are gathered.
pub(super) type Operands = SmallVec<[Value; 8]>;

impl Builder<'_> {
    /// Evaluates an expression that has a value.
    pub fn value(&mut self, expr: &Expr, dest: Dest) -> Value {
        match self.expr(expr, dest) {
            Some(value) => value,
            None => self.constant(Const::Nil, expr.span, None),
        }
    }

    /// Evaluates expressions from left to right.
    pub fn values<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Operands {
        exprs.into_iter().map(|expr| self.value(expr, None)).collect()
    }

    /// Evaluates an expression; none for a call without a result.
    pub fn expr(&mut self, expr: &Expr, dest: Dest) -> Option<Value> {
        let span = expr.span;
        Some(match &expr.kind {
            ExprKind::Int(value) => self.constant(Const::Int(*value), span, dest),
            ExprKind::Float(value) => self.constant(Const::Float(value.to_bits()), span, dest),
            ExprKind::Byte(value) => self.constant(Const::Int(i64::from(*value)), span, dest),
            ExprKind::Bool(value) => self.constant(Const::Bool(*value), span, dest),
            ExprKind::Str(bytes) => {
                let literal = self.tables.string(bytes);
                self.constant(Const::Str(literal), span, dest)
            }
            ExprKind::Nil | ExprKind::Error => self.constant(Const::Nil, span, dest),
            ExprKind::Local(local) => {
                let value = self.read_local(*local, span);
                self.put(value, span, dest)
            }
            ExprKind::Global(global) => self.load_global(*global, expr.ty, span, dest),
            ExprKind::Function(function) => match self.tables.place(*function) {
                Place::Here(function) => {
                    self.mention(Mentioned::Function(function), span);
                    self.constant(Const::Func(function), span, dest)
                }
                Place::Slot(slot) => self.load_slot(slot, span, dest),
            },
            ExprKind::Closure(function) => self.closure(*function, span, dest),
            ExprKind::Wrap(inner) => return self.expr(inner, dest),
            ExprKind::Unary { op, operand } => self.unary(*op, operand, span, dest),
            ExprKind::Chain(chain) => self.chain(&chain.first, &chain.rest, expr.ty, dest),
            ExprKind::Compare { op, left, right } => self.compare(*op, left, right, span, dest),
            ExprKind::Logic { .. } => self.logic(expr, dest),
            ExprKind::Convert(operand) => self.convert(operand, expr.ty, span, dest),
            ExprKind::Field { object, structure, field } => {
                self.field(object, *structure, *field, expr, dest)
            }
            ExprKind::Index { object, index } => self.index(object, index, span, dest),
            ExprKind::Unwrap(operand) => {
                let value = self.value(operand, None);
                self.op(Op::CheckNil, &[value], span, dest)
            }
            ExprKind::Call { function, args } => {
                let args = self.values(args);
                return match self.tables.place(*function) {
                    Place::Here(function) => {
                        self.mention(Mentioned::Function(function), span);
                        let imm = u64::from(function.0);
                        self.call(Op::Call, &args, imm, expr.ty, span, dest)
                    }
                    Place::Slot(slot) => {
                        let mut operands =
                            Operands::from_slice(&[self.load_slot(slot, span, None)]);
                        operands.extend(args);
                        self.call(Op::CallValue, &operands, 0, expr.ty, span, dest)
                    }
                };
            }
            ExprKind::CallValue(call) => {
                let CallValue { callee, args } = &**call;
                let callee_value = self.value(callee, None);
                let mut operands = Operands::from_slice(&[callee_value]);
                operands.extend(self.values(args));
                operands[0] = self.not_nil(callee_value, callee.ty, span);
                return self.call(Op::CallValue, &operands, 0, expr.ty, span, dest);
            }
            ExprKind::Builtin { builtin, args } => {
                return self.builtin(*builtin, args, expr, dest);
            }
            ExprKind::Array(elements) => self.array(elements, expr.ty, span, dest),
            ExprKind::Repeat { value, count } => self.repeat(value, count, span, dest),
            ExprKind::Struct { structure, fields } => {
                self.structure(*structure, fields, span, dest)
            }
        })
    }

    fn call(
        &mut self,
        op: Op,
        args: &[Value],
        imm: u64,
        ty: Ty,
        span: Span,
        dest: Dest,
    ) -> Option<Value> {
        let inst = self.inst(op, args, imm, result_type(ty), span, dest);
        self.f.insts[inst].result
    }

    /// The value of a function that was compiled before.
    fn load_slot(&mut self, slot: GlobalId, span: Span, dest: Dest) -> Value {
        self.load(Op::LoadGlobal, &[], u64::from(slot.0), Type::Ref, span, dest)
    }

    /// A new closure with the current values of what it captures.
    fn closure(&mut self, function: FuncId, span: Span, dest: Dest) -> Value {
        let program = self.program;
        let captures = &program.functions[function].captures;
        let values: Operands =
            captures.iter().map(|capture| self.read_local(capture.outer, capture.span)).collect();
        let function = self.tables.here(function);
        self.mention(Mentioned::Function(function), span);
        let imm = u64::from(function.0);
        self.load(Op::NewClosure, &values, imm, Type::Ref, span, dest)
    }

    /// `[a, b, c]`: made first, then filled. Its elements may name the variable that it goes to,
    /// so that this is assigned last. Nothing else can reach the new array meanwhile, so that its
    /// buffer stays.
    fn array(&mut self, elements: &[Expr], ty: Ty, span: Span, dest: Dest) -> Value {
        let element = self.element_type(ty).unwrap_or(Ty::INT);
        let slot = self.f.int(slot_of(element) as i64);
        let len = self.f.int(elements.len() as i64);
        if elements.is_empty() {
            return self.rt_value(Rt::ArrayNew, &[slot, len], span, dest);
        }
        let array = self.rt_value(Rt::ArrayNew, &[slot, len], span, None);
        let data = self.array_data(array, ty, span);
        let class = self.array_class(ty);
        for (index, element) in elements.iter().enumerate() {
            let value = self.value(element, None);
            let index = self.f.int(index as i64);
            self.inst(Op::StoreElem, &[data, index, value], class, None, element.span, None);
        }
        self.put(array, span, dest)
    }

    /// `[value; count]`
    fn repeat(&mut self, value: &Expr, count: &Expr, span: Span, dest: Dest) -> Value {
        let element = self.value(value, None);
        let count = self.value(count, None);
        match type_of(value.ty) {
            Type::Float => self.rt_value(Rt::ArrayFillFloat, &[element, count], span, dest),
            Type::Ref => self.rt_value(Rt::ArrayFillRef, &[element, count], span, dest),
            Type::Int | Type::Bool => {
                let slot = self.f.int(slot_of(value.ty) as i64);
                let word = self.as_word(element, value.span);
                self.rt_value(Rt::ArrayFillInt, &[slot, word, count], span, dest)
            }
        }
    }

    /// A struct literal: fields in the order written, stored in the order declared.
    fn structure(
        &mut self,
        structure: StructId,
        fields: &[(u32, Expr)],
        span: Span,
        dest: Dest,
    ) -> Value {
        let nil = self.f.constant(Const::Nil);
        let mut values = Operands::from_elem(nil, fields.len());
        for (written, (number, value)) in fields.iter().enumerate() {
            let number = if fault::is(Fault::LowerFields) { written } else { *number as usize };
            values[number] = self.value(value, None);
        }
        self.load(Op::NewStruct, &values, u64::from(structure.0), Type::Ref, span, dest)
    }

    /// A bool as the int that the runtime takes; other values as they are.
    pub fn as_word(&mut self, value: Value, span: Span) -> Value {
        match (self.f.as_const(value), self.f.values[value].ty) {
            (Some(Const::Bool(known)), _) => self.f.int(i64::from(known)),
            (None, Type::Bool) => self.op(Op::BToI, &[value], span, None),
            _ => value,
        }
    }
}
