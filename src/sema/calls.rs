//! Calls: of functions, function values, conversions, and the method form of all of them.

use super::coerce::{converts, error_expr};
use super::hir::{CallValue, Expr, ExprKind, FuncId, Ty, TyKind};
use super::names::Meaning;
use super::{Checker, Why, codes};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;

/// An argument: as written, or the receiver of a method call, which is checked already.
pub(super) enum Arg<'e> {
    /// As written.
    Written(&'e ast::Expr),
    /// Checked, of any type.
    Checked(Expr),
}

/// The callee's name with its place, and the place of the whole call.
#[derive(Clone, Copy)]
pub(super) struct Site {
    /// The callee.
    pub name: ast::Name,
    /// The call.
    pub span: Span,
}

impl Checker<'_> {
    /// `callee(args)`
    pub(super) fn call(
        &mut self,
        callee: &ast::Expr,
        args: &[ast::Expr],
        span: Span,
        wanted: Option<Ty>,
    ) -> Expr {
        let args: Vec<Arg> = args.iter().map(Arg::Written).collect();
        if let ast::ExprKind::Name(symbol) = callee.kind {
            let name = ast::Name { symbol, span: callee.span };
            return self.call_named(Site { name, span }, args, wanted);
        }
        let callee = self.value(callee, None);
        self.call_value(callee, args, span)
    }

    /// `receiver.name(args)`
    pub(super) fn method(
        &mut self,
        receiver: &ast::Expr,
        name: ast::Name,
        args: &[ast::Expr],
        span: Span,
        wanted: Option<Ty>,
    ) -> Expr {
        let rest = args.iter().map(Arg::Written);
        if self.needs_type(receiver) {
            let args = std::iter::once(Arg::Written(receiver)).chain(rest).collect();
            return self.call_named(Site { name, span }, args, wanted);
        }
        let receiver = self.value(receiver, None);
        if receiver.ty == Ty::ERROR {
            self.arguments_of_unknown(rest.collect());
            return error_expr(span);
        }
        if let Some(structure) = self.struct_of(receiver.ty)
            && self.fields.contains_key(&(structure, name.symbol))
        {
            let field = receiver.span.to(name.span);
            let callee = self.field_of(receiver, structure, name, field);
            return self.call_value(callee, rest.collect(), span);
        }
        if !self.is_known(name.symbol) {
            self.unknown_method(name.symbol, name.span, receiver.ty);
            self.arguments_of_unknown(rest.collect());
            return error_expr(span);
        }
        let args = std::iter::once(Arg::Checked(receiver)).chain(rest).collect();
        self.call_named(Site { name, span }, args, wanted)
    }

    fn call_named(&mut self, site: Site, args: Vec<Arg>, wanted: Option<Ty>) -> Expr {
        let Site { name, span } = site;
        let callee = |kind, ty| Expr { kind, ty, span: name.span };
        match self.resolve(name.symbol, name.span) {
            Meaning::Function(id) => self.call_function(id, site, args),
            Meaning::Builtin(builtin) => self.call_builtin(builtin, site, args, wanted),
            Meaning::Conversion(ty) => self.convert(ty, site, args),
            Meaning::Local(id) => {
                let ty = self.scopes.frame().locals[id].ty;
                self.call_value(callee(ExprKind::Local(id), ty), args, span)
            }
            Meaning::Global(id) => {
                let ty = self.globals[id].ty;
                self.call_value(callee(ExprKind::Global(id), ty), args, span)
            }
            Meaning::Unknown => {
                self.arguments_of_unknown(args);
                error_expr(span)
            }
        }
    }

    fn call_function(&mut self, function: FuncId, site: Site, args: Vec<Arg>) -> Expr {
        let signature = &self.signatures[function];
        let (count, result) = (signature.params.len(), signature.result);
        let declared = self.functions[function].span;
        let fits = self.count(site.name.span, args.len(), count..=count, Some(declared));
        let mut checked = Vec::with_capacity(args.len());
        for (i, arg) in args.into_iter().enumerate() {
            let param = self.signatures[function].params.get(i);
            let (ty, why) = param.map_or((Ty::ERROR, None), |&(_, ty, span)| {
                (ty, Some((span, "the parameter is declared here")))
            });
            checked.push(self.argument(arg, ty, why));
        }
        if result == Ty::ERROR || !fits {
            return Expr { kind: ExprKind::Error, ty: result, span: site.span };
        }
        Expr {
            kind: ExprKind::Call { function, args: checked.into() },
            ty: result,
            span: site.span,
        }
    }

    fn call_value(&mut self, callee: Expr, args: Vec<Arg>, span: Span) -> Expr {
        let (params, result) = match self.types.kind(self.types.strip_optional(callee.ty)) {
            TyKind::Function(params, result) => (params.clone(), *result),
            TyKind::Error => {
                self.arguments_of_unknown(args);
                return error_expr(span);
            }
            _ => {
                let found = self.show(callee.ty);
                let message = format!("`{found}` is no function and can't be called");
                let mut error = Diagnostic::error(codes::NOT_CALLABLE, callee.span, message, "");
                if let Some(declared) = self.declaration(&callee) {
                    error = error.label(declared, "declared here");
                }
                self.report(error);
                self.arguments_of_unknown(args);
                return error_expr(span);
            }
        };
        let fits = self.count(callee.span, args.len(), params.len()..=params.len(), None);
        let mut checked = Vec::with_capacity(args.len());
        for (i, arg) in args.into_iter().enumerate() {
            let ty = params.get(i).copied().unwrap_or(Ty::ERROR);
            checked.push(self.argument(arg, ty, None));
        }
        if !fits {
            return Expr { kind: ExprKind::Error, ty: result, span };
        }
        let call = CallValue { callee, args: checked.into() };
        let kind = ExprKind::CallValue(Box::new(call));
        Expr { kind, ty: result, span }
    }

    /// Where the variable or field is declared that an expression names.
    fn declaration(&self, expr: &Expr) -> Option<Span> {
        match expr.kind {
            ExprKind::Local(id) => Some(self.scopes.frame().locals[id].span),
            ExprKind::Global(id) => Some(self.globals[id].span),
            ExprKind::Field { structure, field, .. } => {
                Some(self.field_spans[structure][field as usize])
            }
            _ => None,
        }
    }

    /// An argument of exactly this type.
    pub(super) fn argument(&mut self, arg: Arg, wanted: Ty, why: Why) -> Expr {
        let checked = self.any_argument(arg, Some(wanted));
        self.coerce(checked, wanted, why)
    }

    /// An argument of any type.
    pub(super) fn any_argument(&mut self, arg: Arg, wanted: Option<Ty>) -> Expr {
        match arg {
            Arg::Written(expr) => self.value(expr, wanted),
            Arg::Checked(expr) => expr,
        }
    }

    /// Arguments of which nothing is known, the call being reported.
    pub(super) fn arguments_of_unknown(&mut self, args: Vec<Arg>) {
        for arg in args {
            self.any_argument(arg, Some(Ty::ERROR));
        }
    }

    /// Whether the number of arguments fits; reports it where not.
    pub(super) fn count(
        &mut self,
        callee: Span,
        given: usize,
        wanted: std::ops::RangeInclusive<usize>,
        declared: Option<Span>,
    ) -> bool {
        if wanted.contains(&given) {
            return true;
        }
        let (least, most) = (*wanted.start(), *wanted.end());
        let takes = match (least, most) {
            (0, 0) => "no arguments".into(),
            (1, 1) => "1 argument".into(),
            (least, most) if least == most => format!("{least} arguments"),
            _ => format!("{least} or {most} arguments"),
        };
        let verb = if given == 1 { "is" } else { "are" };
        let message = format!("this function takes {takes}, {given} {verb} given");
        let mut error = Diagnostic::error(codes::ARGUMENT_COUNT, callee, message, "");
        if let Some(declared) = declared {
            error = error.label(declared, "the function is declared here");
        }
        self.report(error);
        false
    }

    /// `int(x)`, `float(x)`, `byte(x)`, `str(x)`
    fn convert(&mut self, to: Ty, site: Site, args: Vec<Arg>) -> Expr {
        let Site { name, span } = site;
        if !self.count(name.span, args.len(), 1..=1, None) {
            self.arguments_of_unknown(args);
            return Expr { kind: ExprKind::Error, ty: to, span };
        }
        let Some(arg) = args.into_iter().next() else { return error_expr(span) };
        let value = self.any_argument(arg, None);
        let from = value.ty;
        if from == to {
            return value;
        }
        if from == Ty::ERROR {
            return Expr { kind: ExprKind::Error, ty: to, span };
        }
        if converts(from, to) {
            return Expr { kind: ExprKind::Convert(Box::new(value)), ty: to, span };
        }
        let (target, found) = (self.show(to), self.show(from));
        let message = format!("there is no conversion from `{found}` to `{target}`");
        let mut error = Diagnostic::error(codes::NO_CONVERSION, value.span, message, "");
        error = match (from, to) {
            (Ty::FLOAT, Ty::BYTE) => error.help("go by way of int: `byte(int(x))`"),
            (Ty::BOOL, Ty::FLOAT) => error.help("go by way of int: `float(int(p))`"),
            (Ty::BOOL, Ty::BYTE) => error.help("go by way of int: `byte(int(p))`"),
            (Ty::STR, Ty::INT) => error.help("`parse_int(s, or)` reads an int"),
            (Ty::STR, Ty::FLOAT) => error.help("`parse_float(s, or)` reads a float"),
            _ => error,
        };
        self.report(error);
        Expr { kind: ExprKind::Error, ty: to, span }
    }
}
