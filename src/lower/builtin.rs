//! Calls of builtins: operators where there is one, else calls of the runtime.

use super::builder::{Builder, Dest};
use super::expr::Operands;
use super::tables::type_of;
use crate::ir::{Const, Op, Terminator, Type, Value};
use crate::sema::hir::{Builtin, Expr, ExprKind, Ty};
use crate::source::Span;
use toyjit_runtime::entry::Rt;

/// What a builtin becomes.
enum Form {
    /// An operator.
    Op(Op),
    /// A call of the runtime.
    Rt(Rt),
    /// `print` (as a line) and `write`.
    Print { line: bool },
    /// `assert`
    Assert,
    /// `len`
    Len,
    /// `push`
    Push,
    /// `pop`
    Pop,
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
        let form = form(builtin, args.first().map_or(Ty::UNIT, |arg| arg.ty));
        let values = match form {
            Form::Assert => Operands::new(),
            _ => self.values(args),
        };
        match form {
            Form::Assert => {
                self.assert(args, span);
                None
            }
            Form::Op(op) => Some(self.op(op, &values, span, dest)),
            Form::Rt(entry) if call.ty == Ty::UNIT => self.rt(entry, &values, span),
            Form::Rt(entry) => Some(self.rt_value(entry, &values, span, dest)),
            Form::Len => Some(self.length(values[0], args[0].ty, span, dest)),
            Form::Pop => Some(self.pop(&values, call.ty, span, dest)),
            Form::Push => self.push(values, span),
            Form::Print { line } => self.print(&values, line, span),
        }
    }

    fn print(&mut self, values: &[Value], line: bool, span: Span) -> Option<Value> {
        for (index, &value) in values.iter().enumerate() {
            if line && index > 0 {
                self.rt(Rt::PrintSpace, &[], span);
            }
            let entry = match self.f.values[value].ty {
                Type::Int => Rt::PrintInt,
                Type::Float => Rt::PrintFloat,
                Type::Bool => Rt::PrintBool,
                Type::Ref => Rt::PrintRef,
            };
            self.rt(entry, &[value], span);
        }
        line.then(|| self.rt(Rt::PrintNewline, &[], span)).flatten()
    }

    /// `assert(c)`, `assert(c, message)`: both are evaluated, then the failure stands aside.
    fn assert(&mut self, args: &[Expr], span: Span) {
        let [condition, rest @ ..] = args else { return };
        let [failed, passed] = std::array::from_fn(|_| self.f.add_block());
        let message = match rest.first() {
            Some(message) if !matches!(message.kind, ExprKind::Str(_)) => {
                let holds = self.value(condition, None);
                let message = self.value(message, None);
                self.branch_on(holds, passed, failed, span);
                message
            }
            literal => {
                self.condition(condition, passed, failed);
                match literal {
                    Some(message) => self.value(message, None),
                    None => self.f.constant(Const::Nil),
                }
            }
        };
        self.start(failed);
        self.rt(Rt::AssertFail, &[message], span);
        self.end(Terminator::Unreachable, span);
        self.start(passed);
    }

    fn push(&mut self, mut values: Operands, span: Span) -> Option<Value> {
        let value = values[1];
        let entry = match self.f.values[value].ty {
            Type::Int | Type::Bool => Rt::ArrayPushInt,
            Type::Float => Rt::ArrayPushFloat,
            Type::Ref => Rt::ArrayPushRef,
        };
        values[1] = self.as_word(value, span);
        self.rt(entry, &values, span)
    }

    fn pop(&mut self, values: &[Value], element: Ty, span: Span, dest: Dest) -> Value {
        match type_of(element) {
            Type::Int => self.rt_value(Rt::ArrayPopInt, values, span, dest),
            Type::Float => self.rt_value(Rt::ArrayPopFloat, values, span, dest),
            Type::Ref => self.rt_value(Rt::ArrayPopRef, values, span, dest),
            Type::Bool => {
                let word = self.rt_value(Rt::ArrayPopInt, values, span, None);
                let zero = self.f.int(0);
                self.op(Op::INe, &[word, zero], span, dest)
            }
        }
    }
}

/// What a builtin becomes; `ty` is the first argument's type.
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
        Builtin::Print => Form::Print { line: true },
        Builtin::Write => Form::Print { line: false },
        Builtin::Assert => Form::Assert,
        Builtin::Len => Form::Len,
        Builtin::Push => Form::Push,
        Builtin::Pop => Form::Pop,
    }
}
