//! Calls of builtins: operators where there is one, else calls of the runtime.

use super::builder::{Builder, Dest};
use super::tables::type_of;
use crate::ir::{Const, Op, Terminator, Type, Value};
use crate::sema::hir::{Builtin, Expr, ExprKind, Ty};
use crate::source::Span;
use toyjit_runtime::entry::Rt;

/// What a builtin is on its operands.
enum Form {
    /// An operator.
    Op(Op),
    /// A call of the runtime.
    Rt(Rt),
}

impl Builder<'_> {
    /// A call of a builtin; none where it has no result.
    pub fn builtin(
        &mut self,
        builtin: Builtin,
        args: &[Expr],
        call: &Expr,
        dest: Dest,
    ) -> Option<Value> {
        let span = call.span;
        match builtin {
            Builtin::Print => self.print(args, true, span),
            Builtin::Write => self.print(args, false, span),
            Builtin::Assert => self.assert(args, span),
            Builtin::Push => self.push(args, span),
            Builtin::Pop => return Some(self.pop(args, call.ty, span, dest)),
            Builtin::Len => {
                let values = self.values(args);
                return Some(self.length(values[0], args[0].ty, span, dest));
            }
            _ => {
                let values = self.values(args);
                return match form(builtin, args.first().map_or(Ty::UNIT, |arg| arg.ty)) {
                    Form::Op(op) => Some(self.op(op, &values, span, dest)),
                    Form::Rt(entry) if call.ty == Ty::UNIT => self.rt(entry, &values, span),
                    Form::Rt(entry) => Some(self.rt_value(entry, &values, span, dest)),
                };
            }
        }
        None
    }

    fn print(&mut self, args: &[Expr], line: bool, span: Span) {
        let values = self.values(args);
        for (index, (&value, arg)) in values.iter().zip(args).enumerate() {
            if line && index > 0 {
                self.rt(Rt::PrintSpace, &[], span);
            }
            let entry = match type_of(arg.ty) {
                Type::Int => Rt::PrintInt,
                Type::Float => Rt::PrintFloat,
                Type::Bool => Rt::PrintBool,
                Type::Ref => Rt::PrintRef,
            };
            self.rt(entry, &[value], span);
        }
        if line {
            self.rt(Rt::PrintNewline, &[], span);
        }
    }

    /// `assert(c)`, `assert(c, message)`: both are evaluated, then the failure stands aside.
    fn assert(&mut self, args: &[Expr], span: Span) {
        let [failed, passed] = std::array::from_fn(|_| self.f.add_block());
        let message = match args {
            [condition, Expr { kind: ExprKind::Str(message), .. }] => {
                self.condition(condition, passed, failed);
                let literal = self.tables.string(message);
                self.f.constant(Const::Str(literal))
            }
            [condition, message] => {
                let holds = self.value(condition, None);
                let message = self.value(message, None);
                self.branch_on(holds, passed, failed, span);
                message
            }
            _ => {
                for condition in args {
                    self.condition(condition, passed, failed);
                }
                self.f.constant(Const::Nil)
            }
        };
        self.start(failed);
        self.rt(Rt::AssertFail, &[message], span);
        self.end(Terminator::Unreachable, span);
        self.start(passed);
    }

    fn push(&mut self, args: &[Expr], span: Span) {
        let mut values = self.values(args);
        let value = values[1];
        let entry = match self.f.values[value].ty {
            Type::Int | Type::Bool => Rt::ArrayPushInt,
            Type::Float => Rt::ArrayPushFloat,
            Type::Ref => Rt::ArrayPushRef,
        };
        values[1] = self.as_word(value, span);
        self.rt(entry, &values, span);
    }

    fn pop(&mut self, args: &[Expr], element: Ty, span: Span, dest: Dest) -> Value {
        let values = self.values(args);
        match type_of(element) {
            Type::Int => self.rt_value(Rt::ArrayPopInt, &values, span, dest),
            Type::Float => self.rt_value(Rt::ArrayPopFloat, &values, span, dest),
            Type::Ref => self.rt_value(Rt::ArrayPopRef, &values, span, dest),
            Type::Bool => {
                let word = self.rt_value(Rt::ArrayPopInt, &values, span, None);
                let zero = self.f.int(0);
                self.op(Op::INe, &[word, zero], span, dest)
            }
        }
    }
}

/// What the builtins without a rule of their own are; `ty` is the first argument's type.
fn form(builtin: Builtin, ty: Ty) -> Form {
    let by_type = |int, float| Form::Op(if ty == Ty::FLOAT { float } else { int });
    match builtin {
        Builtin::Slice if ty == Ty::STR => Form::Rt(Rt::StrSlice),
        Builtin::Slice => Form::Rt(Rt::ArraySlice),
        Builtin::ToBytes => Form::Rt(Rt::ToBytes),
        Builtin::FromBytes => Form::Rt(Rt::FromBytes),
        Builtin::Abs => by_type(Op::IAbs, Op::FAbs),
        Builtin::Min => by_type(Op::IMin, Op::FMin),
        Builtin::Max => by_type(Op::IMax, Op::FMax),
        Builtin::Sqrt => Form::Op(Op::FSqrt),
        Builtin::Floor => Form::Op(Op::FFloor),
        Builtin::Ceil => Form::Op(Op::FCeil),
        Builtin::Trunc => Form::Op(Op::FTrunc),
        Builtin::Round => Form::Rt(Rt::Round),
        Builtin::Exp => Form::Rt(Rt::Exp),
        Builtin::Ln => Form::Rt(Rt::Ln),
        Builtin::Log2 => Form::Rt(Rt::Log2),
        Builtin::Log10 => Form::Rt(Rt::Log10),
        Builtin::Sin => Form::Rt(Rt::Sin),
        Builtin::Cos => Form::Rt(Rt::Cos),
        Builtin::Tan => Form::Rt(Rt::Tan),
        Builtin::Asin => Form::Rt(Rt::Asin),
        Builtin::Acos => Form::Rt(Rt::Acos),
        Builtin::Atan => Form::Rt(Rt::Atan),
        Builtin::Pow => Form::Rt(Rt::Pow),
        Builtin::Atan2 => Form::Rt(Rt::Atan2),
        Builtin::Popcount => Form::Op(Op::Popcnt),
        Builtin::Clz => Form::Op(Op::Clz),
        Builtin::Ctz => Form::Op(Op::Ctz),
        Builtin::Rotl => Form::Op(Op::Rotl),
        Builtin::Rotr => Form::Op(Op::Rotr),
        Builtin::ParseInt => Form::Rt(Rt::ParseInt),
        Builtin::ParseFloat => Form::Rt(Rt::ParseFloat),
        Builtin::ReadLine => Form::Rt(Rt::ReadLine),
        Builtin::Args => Form::Rt(Rt::Args),
        Builtin::Clock => Form::Rt(Rt::Clock),
        Builtin::Panic => Form::Rt(Rt::Panic),
        Builtin::Exit => Form::Rt(Rt::Exit),
        Builtin::Print
        | Builtin::Write
        | Builtin::Assert
        | Builtin::Push
        | Builtin::Pop
        | Builtin::Len => unreachable!("lowered by a rule of its own"),
    }
}
