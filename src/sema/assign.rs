//! Declarations of variables and assignments to places.

use super::hir::{self, Expr, ExprKind, GlobalId, LocalId, Place, PlaceKind, StmtKind, Ty};
use super::names::Meaning;
use super::operators;
use super::scope::Origin;
use super::{Checker, Why, codes};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{self, BinaryOp};

/// `let` or `var`, taken apart.
#[derive(Clone, Copy)]
pub(super) struct Declaration<'e> {
    mutable: bool,
    keyword: Span,
    name: ast::Name,
    ty: Option<&'e ast::Type>,
    value: Option<&'e ast::Expr>,
}

impl<'e> Declaration<'e> {
    /// The declaration that a statement is.
    pub fn of(statement: &'e ast::Stmt) -> Option<Self> {
        match &statement.kind {
            ast::StmtKind::Declare { mutable, keyword, name, ty, value } => Some(Self {
                mutable: *mutable,
                keyword: *keyword,
                name: *name,
                ty: ty.as_deref(),
                value: value.as_ref(),
            }),
            _ => None,
        }
    }
}

impl Checker<'_> {
    /// Declares a local variable: its value does not see it yet.
    pub(super) fn local(&mut self, declaration: Declaration) -> StmtKind {
        let Declaration { mutable, keyword, name, .. } = declaration;
        let (ty, value) = self.first_value(declaration);
        let local = hir::Local { name: name.symbol, ty, mutable, span: name.span };
        let origin = if mutable { Origin::Var } else { Origin::Let(keyword) };
        let local = self.scopes.declare(local, origin);
        StmtKind::Let { local, value }
    }

    /// Declares a global.
    pub(super) fn global(&mut self, declaration: Declaration) -> StmtKind {
        let Declaration { mutable, keyword, name, .. } = declaration;
        let (ty, value) = self.first_value(declaration);
        let global = hir::Global { name: name.symbol, ty, mutable, span: name.span };
        let global = self.new_global(global);
        self.global_keywords[global] = keyword;
        self.names[name.symbol].global = Some(global);
        StmtKind::Global { global, value }
    }

    fn first_value(&mut self, declaration: Declaration) -> (Ty, Option<Expr>) {
        let Declaration { name, ty, value, .. } = declaration;
        let written = ty.map(|ty| (self.written(ty), ty.span));
        match (written, value) {
            (Some((ty, span)), Some(value)) => {
                let value = self.check(value, ty, Some((span, "the type is given here")));
                (ty, Some(value))
            }
            (None, Some(value)) if self.needs_type(value) => {
                let text = self.name(name.symbol);
                let example = match value.kind {
                    ast::ExprKind::Nil => "str? = nil",
                    ast::ExprKind::Array(ref elements) if elements.is_empty() => "[int] = []",
                    _ => "[str?] = …",
                };
                let message = format!("the type of `{text}` can't be known from this value");
                let error = Diagnostic::error(codes::TYPE_NOT_KNOWN, value.span, message, "")
                    .help(format!("give it a type, as in `let {text}: {example};`"));
                self.report(error);
                (Ty::ERROR, None)
            }
            (None, Some(value)) => {
                let value = self.value(value, None);
                (value.ty, Some(value))
            }
            (Some((ty, _)), None) => (ty, None),
            (None, None) => (Ty::ERROR, None),
        }
    }

    /// Checks an assignment, compound or not.
    pub(super) fn assign(
        &mut self,
        place: &ast::Expr,
        op: Option<(BinaryOp, Span)>,
        value: &ast::Expr,
    ) -> Option<StmtKind> {
        let checked = self.place(place);
        let (ty, why) = checked.as_ref().map_or((Ty::ERROR, None), |(p, why)| (p.ty, *why));
        let Some((op, op_span)) = op else {
            let value = self.check(value, ty, why);
            return Some(StmtKind::Assign { place: checked?.0, value });
        };
        let value = if operators::is_shift(op) {
            self.check(value, Ty::INT, Some((op_span, "a shift takes an int count")))
        } else {
            self.value(value, Some(ty))
        };
        if ty != Ty::ERROR && !operators::takes(op, ty) {
            self.operand_error(op, op_span, (place.span, ty), None);
        } else if !operators::is_shift(op)
            && value.ty != ty
            && ty != Ty::ERROR
            && value.ty != Ty::ERROR
        {
            self.mismatch(&value, ty, why);
        }
        Some(StmtKind::Compound { place: checked?.0, op, op_span, value })
    }

    /// A place and why its type is wanted; none where it can't be assigned.
    fn place(&mut self, place: &ast::Expr) -> Option<(Place, Why)> {
        let span = place.span;
        if let ast::ExprKind::Name(name) = place.kind {
            return match self.resolve(name, span) {
                Meaning::Local(local) => self.local_place(local, span),
                Meaning::Global(global) => self.global_place(global, span),
                Meaning::Unknown => None,
                Meaning::Function(_) | Meaning::Conversion(_) | Meaning::Builtin(_) => {
                    let message = format!("`{}` is a function", self.name(name));
                    self.error(codes::ASSIGN_NO_PLACE, span, message, "can't be assigned");
                    None
                }
            };
        }
        let checked = self.value(place, None);
        let ty = checked.ty;
        let (kind, why) = match checked.kind {
            ExprKind::Error => return None,
            ExprKind::Field { object, structure, field } => {
                let declared = self.field_spans[structure][field as usize];
                let why = Some((declared, "the field is declared here"));
                (PlaceKind::Field { object, structure, field }, why)
            }
            ExprKind::Index { object, .. } if self.types.strip_optional(object.ty) == Ty::STR => {
                let message = "the bytes of a str can't be assigned";
                let error = Diagnostic::error(codes::ASSIGN_STR, span, message, "");
                let help =
                    "`to_bytes` gives an array that can be changed, `from_bytes` a str of it";
                self.report(error.help(help));
                return None;
            }
            ExprKind::Index { object, index } => (PlaceKind::Index { object, index }, None),
            _ => {
                let message = "only a variable, a field or an element can be assigned";
                self.error(codes::ASSIGN_NO_PLACE, span, message, "");
                return None;
            }
        };
        Some((Place { kind, ty, span }, why))
    }

    fn local_place(&mut self, id: LocalId, span: Span) -> Option<(Place, Why)> {
        let frame = self.scopes.frame();
        let hir::Local { name, ty, span: declared, .. } = frame.locals[id];
        let text = self.name(name);
        let (code, what, help) = match frame.origins[id] {
            Origin::Var | Origin::Param => {
                let place = Place { kind: PlaceKind::Local(id), ty, span };
                return Some((place, Some((declared, "the variable is declared here"))));
            }
            Origin::Let(keyword) => return self.assigned_let(text, span, keyword, declared),
            Origin::Loop => (
                codes::ASSIGN_LOOP,
                "the loop's variable",
                format!("copy it into a variable: `var copy = {text};`"),
            ),
            Origin::Capture => (
                codes::ASSIGN_CAPTURE,
                "the captured variable",
                "a function expression holds copies of the variables it uses; to share one, put it \
                 into a struct or an array"
                    .into(),
            ),
        };
        let message = format!("{what} `{text}` can't be assigned");
        let error = Diagnostic::error(code, span, message, "").label(declared, "declared here");
        self.report(error.help(help));
        None
    }

    fn global_place(&mut self, id: GlobalId, span: Span) -> Option<(Place, Why)> {
        let hir::Global { name, ty, mutable, span: declared } = self.globals[id];
        if !mutable {
            let keyword = self.global_keywords[id];
            return self.assigned_let(self.name(name), span, keyword, declared);
        }
        let place = Place { kind: PlaceKind::Global(id), ty, span };
        Some((place, Some((declared, "the variable is declared here"))))
    }

    fn assigned_let(
        &mut self,
        name: &str,
        span: Span,
        keyword: Span,
        declared: Span,
    ) -> Option<(Place, Why)> {
        let message = format!("`{name}` is a `let` and can't be assigned again");
        let error = Diagnostic::error(codes::ASSIGN_LET, span, message, "")
            .label(declared, "declared here")
            .help("make it a `var`")
            .suggest(keyword, "var");
        self.report(error);
        None
    }
}
