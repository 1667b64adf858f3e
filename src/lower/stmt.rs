//! Statements but loops and matches.

use super::builder::Builder;
use crate::analysis::facts::{Statement, WriteKind};
use crate::ir::Terminator;
use crate::sema::hir::{Block, Expr, Stmt, StmtKind};

impl Builder<'_> {
    /// A block of the source.
    pub fn block(&mut self, block: &Block) {
        self.statements(&block.statements, block.span.end);
    }

    /// A list of statements that ends at `list_end`.
    pub fn statements(&mut self, statements: &[Stmt], list_end: u32) {
        for statement in statements {
            self.facts.statements.push(Statement {
                block: self.block,
                span: statement.span,
                list_end,
                begins_arm: false,
            });
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Let { local, value } => {
                let variable = self.local(*local);
                let kind = match value {
                    Some(value) => {
                        self.value(value, Some(variable));
                        WriteKind::Declaration
                    }
                    None => {
                        self.declare_late(*local);
                        WriteKind::Late
                    }
                };
                self.wrote(*local, self.f.variables[variable].span, kind);
            }
            StmtKind::Global { global, value: Some(value) } => {
                let value = self.value(value, None);
                self.store_global(*global, value, span);
            }
            StmtKind::Global { value: None, .. } => {}
            StmtKind::Assign { place, value } => self.assign(place, value),
            StmtKind::Compound { place, op, op_span, value } => {
                self.compound(place, *op, *op_span, value);
            }
            StmtKind::Expr(expr) => {
                self.expr(expr, None);
            }
            StmtKind::If { arms, otherwise } => self.if_chain(arms, otherwise.as_ref()),
            StmtKind::While { condition, body } => self.while_loop(condition, body),
            StmtKind::ForRange { local, from, to, inclusive, body } => {
                if *inclusive {
                    self.inclusive_range(*local, from, to, body);
                } else {
                    self.range(*local, from, to, body);
                }
            }
            StmtKind::ForIn { local, iterable, body } => self.for_in(*local, iterable, body),
            StmtKind::Match { value, arms } => self.match_statement(value, arms),
            StmtKind::Break => {
                if let Some(targets) = self.loops.last() {
                    self.jump(targets.on_break);
                }
                self.start_dead();
            }
            StmtKind::Continue => {
                if let Some(targets) = self.loops.last() {
                    self.jump(targets.on_continue);
                }
                self.start_dead();
            }
            StmtKind::Return(value) => {
                let value = value.as_ref().map(|value| self.value(value, None));
                self.end(Terminator::Return(value), span);
                self.start_dead();
            }
            StmtKind::Block(block) => self.block(block),
        }
    }

    fn if_chain(&mut self, arms: &[(Expr, Block)], otherwise: Option<&Block>) {
        let join = self.f.add_block();
        for (index, (condition, body)) in arms.iter().enumerate() {
            let last = index + 1 == arms.len();
            let then = self.f.add_block();
            let next = if last && otherwise.is_none() { join } else { self.f.add_block() };
            self.condition(condition, then, next);
            self.start(then);
            self.block(body);
            self.jump(join);
            self.start(next);
        }
        if let Some(body) = otherwise {
            self.block(body);
            self.jump(join);
            self.start(join);
        }
    }
}
