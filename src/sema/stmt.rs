//! Statements.

use super::assign::Declaration;
use super::hir::{self, Block, Expr, FuncId, StmtKind, Ty, TyKind};
use super::scope::Origin;
use super::{Checker, codes};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{self, Item};

impl Checker<'_> {
    /// Checks the top-level statements, in order.
    pub(super) fn script(&mut self, program: &ast::Program, id: FuncId) {
        self.scopes.enter_function(id, (Ty::UNIT, None));
        self.in_script = true;
        let mut statements = Vec::new();
        for (number, item) in program.items.iter().enumerate() {
            let Item::Statement(statement) = item else { continue };
            self.unknown.clear();
            let is_last = number + 1 == program.items.len();
            let kind = match Declaration::of(statement) {
                Some(declaration) => Some(self.global(declaration)),
                None => match self.entry_value(statement, is_last) {
                    Some(value) => Some(value),
                    None => self.statement(statement),
                },
            };
            statements.extend(kind.map(|kind| hir::Stmt { kind, span: statement.span }));
        }
        self.in_script = false;
        if let Some(frame) = self.scopes.leave_function() {
            let script = &mut self.functions[id];
            script.locals = frame.locals;
            script.body = Block { statements, span: script.span };
        }
    }

    /// Checks a block; its names end with it.
    pub(super) fn block(&mut self, block: &ast::Block) -> Block {
        let mark = self.scopes.enter_block();
        let mut statements = Vec::with_capacity(block.statements.len());
        for statement in &block.statements {
            let kind = match Declaration::of(statement) {
                Some(declaration) => Some(self.local(declaration)),
                None => self.statement(statement),
            };
            statements.extend(kind.map(|kind| hir::Stmt { kind, span: statement.span }));
        }
        self.scopes.leave_block(mark);
        Block { statements, span: block.span }
    }

    /// Any statement but a declaration.
    fn statement(&mut self, statement: &ast::Stmt) -> Option<StmtKind> {
        Some(match &statement.kind {
            ast::StmtKind::Declare { .. } | ast::StmtKind::Error => return None,
            ast::StmtKind::Assign { place, op, value } => self.assign(place, *op, value)?,
            ast::StmtKind::Expr(expr) => self.dropped(expr),
            ast::StmtKind::If { arms, otherwise } => {
                let arm = |(condition, body): &(ast::Expr, ast::Block)| {
                    (self.condition(condition), self.block(body))
                };
                let arms = arms.iter().map(arm).collect();
                let otherwise = otherwise.as_ref().map(|block| self.block(block));
                StmtKind::If { arms, otherwise }
            }
            ast::StmtKind::While { condition, body } => {
                let condition = self.condition(condition);
                StmtKind::While { condition, body: self.loop_body(body) }
            }
            ast::StmtKind::For { name, from, to: Some(to), body } => {
                let (to, inclusive) = &**to;
                let from = self.check(from, Ty::INT, None);
                let to = self.check(to, Ty::INT, None);
                let (local, body) = self.for_body(*name, Ty::INT, body);
                StmtKind::ForRange { local, from, to, inclusive: *inclusive, body }
            }
            ast::StmtKind::For { name, from, to: None, body } => {
                let iterable = self.value(from, None);
                let element = self.element(&iterable);
                let (local, body) = self.for_body(*name, element, body);
                StmtKind::ForIn { local, iterable, body }
            }
            ast::StmtKind::Match { value, arms } => self.match_statement(value, arms),
            ast::StmtKind::Break => {
                self.inside_loop("break", statement.span);
                StmtKind::Break
            }
            ast::StmtKind::Continue => {
                self.inside_loop("continue", statement.span);
                StmtKind::Continue
            }
            ast::StmtKind::Return(value) => self.return_statement(value.as_ref(), statement.span),
            ast::StmtKind::Block(block) => StmtKind::Block(self.block(block)),
        })
    }

    fn dropped(&mut self, expr: &ast::Expr) -> StmtKind {
        let checked = self.expr(expr, None);
        let call = matches!(expr.kind, ast::ExprKind::Call(_) | ast::ExprKind::Method(_));
        if !call && checked.ty != Ty::ERROR {
            let message = "this value is not used";
            let warning = Diagnostic::warning(codes::DROPPED_VALUE, expr.span, message, "");
            self.report(warning.help("only a call makes sense as a statement"));
        }
        StmtKind::Expr(checked)
    }

    /// A condition: a bool.
    fn condition(&mut self, expr: &ast::Expr) -> Expr {
        let checked = self.value(expr, Some(Ty::BOOL));
        if checked.ty == Ty::BOOL || checked.ty == Ty::ERROR {
            return checked;
        }
        let message = format!("a condition is a bool, this is `{}`", self.show(checked.ty));
        let mut error = Diagnostic::error(codes::CONDITION, expr.span, message, "");
        let text = self.text_of(&checked).unwrap_or_else(|| "…".into());
        let compared = match self.types.kind(checked.ty) {
            TyKind::Optional(_) => Some("nil"),
            TyKind::Int => Some("0"),
            _ => None,
        };
        if let Some(other) = compared {
            error = error.help(format!("compare it: `{text} != {other}`"));
        }
        self.report(error);
        Expr { kind: hir::ExprKind::Error, ty: Ty::ERROR, span: expr.span }
    }

    fn loop_body(&mut self, body: &ast::Block) -> Block {
        self.scopes.frame_mut().loops += 1;
        let body = self.block(body);
        self.scopes.frame_mut().loops -= 1;
        body
    }

    fn for_body(&mut self, name: ast::Name, ty: Ty, body: &ast::Block) -> (hir::LocalId, Block) {
        let mark = self.scopes.enter_block();
        let local = hir::Local { name: name.symbol, ty, mutable: false, span: name.span };
        let local = self.scopes.declare(local, Origin::Loop);
        let body = self.loop_body(body);
        self.scopes.leave_block(mark);
        (local, body)
    }

    /// The type of the elements that a loop goes over.
    fn element(&mut self, iterable: &Expr) -> Ty {
        let shown = match *self.types.kind(iterable.ty) {
            TyKind::Array(element) => return element,
            TyKind::Str => return Ty::BYTE,
            TyKind::Error => return Ty::ERROR,
            _ => self.show(iterable.ty),
        };
        let message = format!("`for` goes over an array, a str or a range, not over `{shown}`");
        let mut error = Diagnostic::error(codes::NOT_ITERABLE, iterable.span, message, "");
        match *self.types.kind(iterable.ty) {
            TyKind::Optional(inner) if inner == Ty::STR || self.is_array(inner) => {
                error = self.help_unwrap(error, iterable.span);
            }
            TyKind::Int => {
                let text = self.text_of(iterable).unwrap_or_else(|| "n".into());
                error = error.help(format!("a range is written `0..{text}`"));
            }
            _ => {}
        }
        self.report(error);
        Ty::ERROR
    }

    fn inside_loop(&mut self, word: &str, span: Span) {
        if self.scopes.frame().loops == 0 {
            let message = format!("`{word}` outside of a loop");
            self.error(codes::OUTSIDE_LOOP, span, message, "");
        }
    }

    fn return_statement(&mut self, value: Option<&ast::Expr>, span: Span) -> StmtKind {
        let frame = self.scopes.frame();
        let (result, result_span) = frame.result;
        let at_top = self.functions[frame.function].kind == hir::FunctionKind::Script;
        if at_top {
            let error = Diagnostic::error(codes::RETURN_AT_TOP, span, "`return` at top level", "");
            self.report(error.help("`exit(code)` ends the program"));
        }
        let value = match value {
            Some(value) if at_top => Some(self.expr(value, Some(Ty::ERROR))),
            Some(value) if result == Ty::UNIT => {
                let found = self.expr(value, Some(Ty::ERROR)).ty;
                let head = self.functions[self.scopes.frame().function].span;
                let message = "a value is returned from a function without a result type";
                let mut error = Diagnostic::error(codes::RETURN_VALUE, value.span, message, "")
                    .label(head, "no result type here");
                if found != Ty::ERROR && found != Ty::UNIT {
                    error = error.help(format!("give it one: `-> {}`", self.show(found)));
                }
                self.report(error);
                None
            }
            Some(value) => {
                let why = result_span.map(|span| (span, "the result type is given here"));
                Some(self.check(value, result, why))
            }
            None => {
                if !at_top && result != Ty::UNIT && result != Ty::ERROR {
                    let message = format!("`return` needs a value of type `{}`", self.show(result));
                    let mut error = Diagnostic::error(codes::RETURN_VALUE, span, message, "");
                    if let Some(span) = result_span {
                        error = error.label(span, "the result type is given here");
                    }
                    self.report(error);
                }
                None
            }
        };
        StmtKind::Return(value)
    }
}
