//! Expressions, evaluated strictly left to right.

use super::frame::{Frame, Held};
use super::{Interpreter, Run, slot_of};
use crate::sema::hir::{Chain, Expr, ExprKind, FuncId, Ty, TyKind};
use crate::source::Span;
use toyjit_runtime::Trap;

impl Interpreter<'_> {
    /// The value of an expression; 0 where it has none.
    pub(super) fn eval(&mut self, frame: &Frame, expr: &Expr) -> Run<u64> {
        let mark = self.mark();
        let word = self.eval_kind(frame, expr)?;
        self.release(mark);
        Ok(word)
    }

    /// Evaluates and holds.
    pub(super) fn eval_held(&mut self, frame: &Frame, expr: &Expr) -> Run<Held> {
        let word = self.eval(frame, expr)?;
        Ok(self.hold(expr.ty, word))
    }

    fn eval_kind(&mut self, frame: &Frame, expr: &Expr) -> Run<u64> {
        Ok(match &expr.kind {
            ExprKind::Int(i) => *i as u64,
            ExprKind::Float(x) => x.to_bits(),
            ExprKind::Byte(b) => u64::from(*b),
            ExprKind::Bool(b) => u64::from(*b),
            ExprKind::Str(bytes) => {
                let string = self.runtime.new_str(bytes);
                self.at(expr.span, string)?
            }
            ExprKind::Nil | ExprKind::Error => 0,
            ExprKind::Local(local) => self.local(frame, *local),
            ExprKind::Global(global) => self.runtime.global(global.0),
            ExprKind::Function(function) => self.closure(*function, &[], expr.span)?,
            ExprKind::Closure(function) => {
                let captures: Vec<u64> = self.program.functions[*function]
                    .captures
                    .iter()
                    .map(|capture| self.local(frame, capture.outer))
                    .collect();
                self.closure(*function, &captures, expr.span)?
            }
            ExprKind::Wrap(inner) => self.eval(frame, inner)?,
            ExprKind::Unary { op, operand } => {
                Self::unary(*op, operand.ty, self.eval(frame, operand)?)
            }
            ExprKind::Chain(chain) => {
                let Chain { first, rest } = &**chain;
                let mut left = self.eval(frame, first)?;
                let mark = self.mark();
                for (op, op_span, right) in rest {
                    let held = self.hold(first.ty, left);
                    let right = self.eval(frame, right)?;
                    let span = if first.ty == Ty::STR { expr.span } else { *op_span };
                    left = self.binary(*op, first.ty, self.held(held), right, span)?;
                    self.release(mark);
                }
                left
            }
            ExprKind::Compare { op, left, right } => {
                let a = self.eval_held(frame, left)?;
                let b = self.eval(frame, right)?;
                u64::from(self.compare(*op, left.ty, self.held(a), b))
            }
            ExprKind::Logic { and, operands } => {
                let mut value = u64::from(*and);
                for operand in operands {
                    value = self.eval(frame, operand)?;
                    if (value != 0) != *and {
                        break;
                    }
                }
                value
            }
            ExprKind::Convert(operand) => {
                let word = self.eval(frame, operand)?;
                self.convert(operand.ty, expr.ty, word, expr.span)?
            }
            ExprKind::Field { object, field, .. } => {
                let object = self.eval(frame, object)?;
                self.not_nil(object, expr.span)?;
                self.runtime.field(object, *field)
            }
            ExprKind::Index { object, index } => {
                let held = self.eval_held(frame, object)?;
                let index = self.eval(frame, index)? as i64;
                self.element(object.ty, self.held(held), index, expr.span)?
            }
            ExprKind::Unwrap(operand) => {
                let word = self.eval(frame, operand)?;
                self.not_nil(word, expr.span)?;
                word
            }
            ExprKind::Call { function, args } => {
                let args = self.eval_all(frame, args)?;
                self.call_at(*function, &args, None, expr.span)?
            }
            ExprKind::CallValue(call) => {
                let callee = self.eval_held(frame, &call.callee)?;
                let args = self.eval_all(frame, &call.args)?;
                let callee = self.held(callee);
                self.not_nil(callee, expr.span)?;
                let function = FuncId(self.runtime.code_of(callee) as u32);
                self.call_at(function, &args, Some(callee), expr.span)?
            }
            ExprKind::Builtin { builtin, args } => self.builtin(frame, *builtin, args, expr)?,
            ExprKind::Array(elements) => {
                let TyKind::Array(element) = *self.kind(expr.ty) else { return Ok(0) };
                let array = self.runtime.alloc_array(slot_of(element), elements.len() as u64);
                let array = self.at(expr.span, array)?;
                let held = self.hold(expr.ty, array);
                for (index, element) in elements.iter().enumerate() {
                    let word = self.eval(frame, element)?;
                    let set = self.runtime.array_set(self.held(held), index as i64, word);
                    self.at(element.span, set)?;
                }
                self.held(held)
            }
            ExprKind::Repeat { value, count } => {
                let held = self.eval_held(frame, value)?;
                let count = self.eval(frame, count)? as i64;
                let array = self.runtime.array_fill(slot_of(value.ty), self.held(held), count);
                self.at(expr.span, array)?
            }
            ExprKind::Struct { structure, fields } => {
                let mut held = vec![Held::Word(0); fields.len()];
                for (field, value) in fields {
                    held[*field as usize] = self.eval_held(frame, value)?;
                }
                let words: Vec<u64> = held.into_iter().map(|held| self.held(held)).collect();
                let object = self.runtime.alloc_struct(self.struct_type(*structure), &words);
                self.at(expr.span, object)?
            }
        })
    }

    /// Evaluates all, left to right; the words are good until the next allocation.
    pub(super) fn eval_all(&mut self, frame: &Frame, exprs: &[Expr]) -> Run<Vec<u64>> {
        let mut held = Vec::with_capacity(exprs.len());
        for expr in exprs {
            held.push(self.eval_held(frame, expr)?);
        }
        Ok(held.into_iter().map(|held| self.held(held)).collect())
    }

    fn call_at(
        &mut self,
        function: FuncId,
        args: &[u64],
        closure: Option<u64>,
        span: Span,
    ) -> Run<u64> {
        if let Some(caller) = self.calls.last_mut() {
            caller.at = span;
        }
        self.at = span;
        self.call(function, args, closure)
    }

    fn closure(&mut self, function: FuncId, captures: &[u64], span: Span) -> Run<u64> {
        let ty = self.closure_type(function);
        let closure = self.runtime.alloc_closure(ty, u64::from(function.0), captures);
        self.at(span, closure)
    }

    /// The element of an array or the byte of a string (or of an optional one).
    pub(super) fn element(&mut self, ty: Ty, object: u64, index: i64, span: Span) -> Run<u64> {
        self.not_nil(object, span)?;
        let word = match self.program.types.strip_optional(ty) {
            Ty::STR => self.runtime.str_get(object, index),
            _ => self.runtime.array_get(object, index),
        };
        self.at(span, word)
    }

    pub(super) fn not_nil(&mut self, reference: u64, span: Span) -> Run<()> {
        if reference == 0 { self.stop_at(span, Trap::Nil) } else { Ok(()) }
    }

    fn convert(&mut self, from: Ty, to: Ty, word: u64, span: Span) -> Run<u64> {
        Ok(match (from, to) {
            (from, to) if from == to => word,
            (Ty::FLOAT, Ty::INT) => saturating_int(f64::from_bits(word)) as u64,
            (Ty::INT, Ty::FLOAT) => (word as i64 as f64).to_bits(),
            (Ty::BYTE, Ty::FLOAT) => f64::from(word as u8).to_bits(),
            (Ty::INT, Ty::BYTE) => word & 0xFF,
            (_, Ty::STR) => {
                let text = match from {
                    Ty::INT | Ty::BYTE => self.runtime.str_of_int(word as i64),
                    Ty::FLOAT => self.runtime.str_of_float(f64::from_bits(word)),
                    Ty::BOOL => self.runtime.str_of_bool(word != 0),
                    _ => self.runtime.str_of_ref(word),
                };
                self.at(span, text)?
            }
            _ => word,
        })
    }
}

fn saturating_int(x: f64) -> i64 {
    if x.is_nan() {
        0
    } else if x >= 9_223_372_036_854_775_808.0 {
        i64::MAX
    } else if x < -9_223_372_036_854_775_808.0 {
        i64::MIN
    } else {
        x.trunc() as i64
    }
}
