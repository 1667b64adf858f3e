//! Builtins: what each takes and gives.

use super::calls::{Arg, Site};
use super::coerce::error_expr;
use super::hir::{Builtin, Expr, ExprKind, Ty, TyKind};
use super::{Checker, codes};
use crate::source::{Diagnostic, Span};

/// Types of parameters and results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    Int,
    Float,
    Str,
    Bytes,
    Strs,
    MaybeStr,
}

/// What a builtin takes and gives.
enum Signature {
    /// Any number of any values, nothing.
    Values,
    /// These, and a result.
    Fixed(&'static [Kind], Kind),
    /// `assert`: a bool and perhaps a message.
    Assert,
    /// So many ints or floats, and one of the same type.
    Numbers(usize),
    /// `len`: an array or str, an int.
    Len,
    /// `push`: an array and an element.
    Push,
    /// `pop`: an array, its element.
    Pop,
    /// `slice`: an array or str and two ints, the same type.
    Slice,
}

fn signature(builtin: Builtin) -> Signature {
    use Kind::{Bytes, Float, Int, MaybeStr, Nothing, Str, Strs};
    use Signature::{Assert, Fixed, Len, Numbers, Pop, Push, Slice, Values};
    match builtin {
        Builtin::Print | Builtin::Write => Values,
        Builtin::Len => Len,
        Builtin::Push => Push,
        Builtin::Pop => Pop,
        Builtin::Slice => Slice,
        Builtin::ToBytes => Fixed(&[Str], Bytes),
        Builtin::FromBytes => Fixed(&[Bytes], Str),
        Builtin::Abs => Numbers(1),
        Builtin::Min | Builtin::Max => Numbers(2),
        Builtin::Sqrt
        | Builtin::Floor
        | Builtin::Ceil
        | Builtin::Trunc
        | Builtin::Round
        | Builtin::Exp
        | Builtin::Ln
        | Builtin::Log2
        | Builtin::Log10
        | Builtin::Sin
        | Builtin::Cos
        | Builtin::Tan
        | Builtin::Asin
        | Builtin::Acos
        | Builtin::Atan => Fixed(&[Float], Float),
        Builtin::Pow | Builtin::Atan2 => Fixed(&[Float, Float], Float),
        Builtin::Popcount | Builtin::Clz | Builtin::Ctz => Fixed(&[Int], Int),
        Builtin::Rotl | Builtin::Rotr => Fixed(&[Int, Int], Int),
        Builtin::ParseInt => Fixed(&[Str, Int], Int),
        Builtin::ParseFloat => Fixed(&[Str, Float], Float),
        Builtin::ReadLine => Fixed(&[], MaybeStr),
        Builtin::Args => Fixed(&[], Strs),
        Builtin::Clock => Fixed(&[], Float),
        Builtin::Assert => Assert,
        Builtin::Panic => Fixed(&[Str], Nothing),
        Builtin::Exit => Fixed(&[Int], Nothing),
    }
}

impl Signature {
    fn count(&self) -> std::ops::RangeInclusive<usize> {
        match self {
            Signature::Values => 0..=usize::MAX,
            Signature::Fixed(params, _) => params.len()..=params.len(),
            Signature::Assert => 1..=2,
            Signature::Numbers(count) => *count..=*count,
            Signature::Len | Signature::Pop => 1..=1,
            Signature::Push => 2..=2,
            Signature::Slice => 3..=3,
        }
    }
}

impl Checker<'_> {
    /// A call of a builtin.
    pub(super) fn call_builtin(
        &mut self,
        builtin: Builtin,
        site: Site,
        args: Vec<Arg>,
        wanted: Option<Ty>,
    ) -> Expr {
        let Site { name, span } = site;
        let signature = signature(builtin);
        if !self.count(name.span, args.len(), signature.count(), None) {
            self.arguments_of_unknown(args);
            return error_expr(span);
        }
        let mut args = args.into_iter();
        let mut checked = Vec::with_capacity(args.len());
        let ty = match signature {
            Signature::Values => {
                checked.extend(args.map(|arg| self.any_argument(arg, None)));
                Ty::UNIT
            }
            Signature::Fixed(params, result) => {
                for (arg, &param) in args.zip(params) {
                    let param = self.kind_type(param);
                    checked.push(self.argument(arg, param, None));
                }
                self.kind_type(result)
            }
            Signature::Assert => {
                for (arg, ty) in args.zip([Ty::BOOL, Ty::STR]) {
                    checked.push(self.argument(arg, ty, None));
                }
                Ty::UNIT
            }
            Signature::Numbers(_) => self.numbers(name.span, args, &mut checked),
            Signature::Len | Signature::Push | Signature::Pop | Signature::Slice => {
                let wanted = match signature {
                    Signature::Slice => wanted,
                    _ => None,
                };
                let Some(first) = args.next() else { return error_expr(span) };
                let sequence = self.any_argument(first, wanted);
                let str_too = matches!(signature, Signature::Len | Signature::Slice);
                let element = self.element_of(name.span, &sequence, str_too);
                let sequence_ty = sequence.ty;
                checked.push(sequence);
                let rest = if matches!(signature, Signature::Push) { element } else { Ty::INT };
                checked.extend(args.map(|arg| self.argument(arg, rest, None)));
                match signature {
                    Signature::Len => Ty::INT,
                    Signature::Push => Ty::UNIT,
                    _ if element == Ty::ERROR => Ty::ERROR,
                    Signature::Pop => element,
                    _ => sequence_ty,
                }
            }
        };
        if ty == Ty::ERROR {
            return error_expr(span);
        }
        Expr { kind: ExprKind::Builtin { builtin, args: checked.into() }, ty, span }
    }

    fn kind_type(&mut self, kind: Kind) -> Ty {
        match kind {
            Kind::Nothing => Ty::UNIT,
            Kind::Int => Ty::INT,
            Kind::Float => Ty::FLOAT,
            Kind::Str => Ty::STR,
            Kind::Bytes => self.array_of(Ty::BYTE, Span::default()),
            Kind::Strs => self.array_of(Ty::STR, Span::default()),
            Kind::MaybeStr => self.types.intern(TyKind::Optional(Ty::STR)),
        }
    }

    /// `abs`, `min`, `max`: their type is the arguments', int or float.
    fn numbers<'e>(
        &mut self,
        callee: Span,
        args: impl Iterator<Item = Arg<'e>>,
        checked: &mut Vec<Expr>,
    ) -> Ty {
        for arg in args {
            let wanted = checked.first().map(|first| first.ty);
            let value = self.any_argument(arg, wanted);
            checked.push(value);
        }
        if checked.iter().any(|value| value.ty == Ty::ERROR) {
            return Ty::ERROR;
        }
        for value in &*checked {
            if value.ty != Ty::INT && value.ty != Ty::FLOAT {
                self.builtin_argument(callee, value, "ints or floats");
                return Ty::ERROR;
            }
        }
        match &checked[..] {
            [a, b] if a.ty != b.ty => {
                let message = "both arguments must have the same type";
                let error = Diagnostic::error(codes::BUILTIN_ARGUMENT, callee, message, "")
                    .label(a.span, format!("this is `{}`", self.show(a.ty)))
                    .label(b.span, format!("this is `{}`", self.show(b.ty)));
                let int = if a.ty == Ty::INT { a } else { b };
                let error = self.help_convert(error, int, Ty::FLOAT);
                self.report(error);
                Ty::ERROR
            }
            [first, ..] => first.ty,
            [] => Ty::ERROR,
        }
    }

    /// The type of the elements of an array or, where that may be, a str.
    fn element_of(&mut self, callee: Span, sequence: &Expr, str_too: bool) -> Ty {
        match *self.types.kind(sequence.ty) {
            TyKind::Array(element) => element,
            TyKind::Str if str_too => Ty::BYTE,
            TyKind::Error => Ty::ERROR,
            _ => {
                let takes = if str_too { "an array or a str" } else { "an array" };
                self.builtin_argument(callee, sequence, takes);
                Ty::ERROR
            }
        }
    }

    fn builtin_argument(&mut self, callee: Span, value: &Expr, takes: &str) {
        let found = self.show(value.ty);
        let message = format!("this function takes {takes}, not `{found}`");
        let mut error = Diagnostic::error(codes::BUILTIN_ARGUMENT, callee, message, "")
            .label(value.span, format!("this is `{found}`"));
        if let TyKind::Optional(inner) = *self.types.kind(value.ty)
            && (inner == Ty::STR || self.is_array(inner))
        {
            error = self.help_unwrap(error, value.span);
        }
        self.report(error);
    }
}
