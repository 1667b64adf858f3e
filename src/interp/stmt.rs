//! Statements.

use super::frame::{Frame, Held};
use super::{Interpreter, Run};
use crate::sema::hir::{Block, Expr, Pattern, Place, PlaceKind, Stmt, StmtKind, Ty};
use crate::source::Span;

/// How a statement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// On to the next one.
    Next,
    Break,
    Continue,
    /// With the function's result.
    Return(u64),
}

/// A place whose parts have been evaluated.
enum Target<'a> {
    Local(crate::sema::hir::LocalId),
    Global(u32),
    Field(Held, u32),
    Index(&'a Expr, Held, i64),
}

impl Interpreter<'_> {
    pub(super) fn block(&mut self, frame: &Frame, block: &Block) -> Run<Flow> {
        for statement in &block.statements {
            let flow = self.statement(frame, statement)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, frame: &Frame, statement: &Stmt) -> Run<Flow> {
        match &statement.kind {
            StmtKind::Let { local, value } => {
                if let Some(value) = value {
                    let word = self.eval(frame, value)?;
                    self.set_local(frame, *local, word);
                }
            }
            StmtKind::Global { global, value } => {
                if let Some(value) = value {
                    let word = self.eval(frame, value)?;
                    self.runtime.set_global(global.0, word);
                }
            }
            StmtKind::Assign { place, value } => {
                let mark = self.mark();
                let target = self.target(frame, place)?;
                let word = self.eval(frame, value)?;
                self.store(frame, &target, word, place.span)?;
                self.release(mark);
            }
            StmtKind::Compound { place, op, op_span, value } => {
                let mark = self.mark();
                let target = self.target(frame, place)?;
                let old = self.load(frame, &target, place.span)?;
                let old = self.hold(place.ty, old);
                let right = self.eval(frame, value)?;
                let word = self.binary(*op, place.ty, self.held(old), right, *op_span)?;
                self.store(frame, &target, word, place.span)?;
                self.release(mark);
            }
            StmtKind::Expr(expr) => {
                self.eval(frame, expr)?;
            }
            StmtKind::If { arms, otherwise } => {
                for (condition, block) in arms {
                    if self.eval(frame, condition)? != 0 {
                        return self.block(frame, block);
                    }
                }
                if let Some(block) = otherwise {
                    return self.block(frame, block);
                }
            }
            StmtKind::While { condition, body } => {
                while self.eval(frame, condition)? != 0 {
                    self.round(condition.span)?;
                    match self.block(frame, body)? {
                        Flow::Break => break,
                        Flow::Return(word) => return Ok(Flow::Return(word)),
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            StmtKind::ForRange { local, from, to, inclusive, body } => {
                let mut at = self.eval(frame, from)? as i64;
                let end = self.eval(frame, to)? as i64;
                while at < end || *inclusive && at == end {
                    self.round(from.span.to(to.span))?;
                    self.set_local(frame, *local, at as u64);
                    match self.block(frame, body)? {
                        Flow::Break => break,
                        Flow::Return(word) => return Ok(Flow::Return(word)),
                        Flow::Next | Flow::Continue => {}
                    }
                    if at == end {
                        break;
                    }
                    at += 1;
                }
            }
            StmtKind::ForIn { local, iterable, body } => {
                let mark = self.mark();
                let held = self.eval_held(frame, iterable)?;
                let flow = self.for_in(frame, *local, iterable, held, body)?;
                self.release(mark);
                return Ok(flow);
            }
            StmtKind::Match { value, arms } => {
                let mark = self.mark();
                let held = self.eval_held(frame, value)?;
                let word = self.held(held);
                self.release(mark);
                for arm in arms {
                    if arm.patterns.iter().any(|pattern| self.fits(pattern, value.ty, word)) {
                        return self.block(frame, &arm.body);
                    }
                }
            }
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Return(value) => {
                return Ok(Flow::Return(match value {
                    Some(value) => self.eval(frame, value)?,
                    None => 0,
                }));
            }
            StmtKind::Block(block) => return self.block(frame, block),
        }
        Ok(Flow::Next)
    }

    fn for_in(
        &mut self,
        frame: &Frame,
        local: crate::sema::hir::LocalId,
        iterable: &Expr,
        held: Held,
        body: &Block,
    ) -> Run<Flow> {
        let mut index = 0;
        loop {
            let object = self.held(held);
            let len = match iterable.ty {
                Ty::STR => self.runtime.str_len(object),
                _ => self.runtime.array_len(object),
            };
            if index as u64 >= len {
                return Ok(Flow::Next);
            }
            self.round(iterable.span)?;
            let word = self.element(iterable.ty, object, index, iterable.span)?;
            self.set_local(frame, local, word);
            match self.block(frame, body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(word) => return Ok(Flow::Return(word)),
                Flow::Next | Flow::Continue => {}
            }
            index += 1;
        }
    }

    /// What comes before a round of a loop.
    fn round(&mut self, span: Span) -> Run<()> {
        match self.runtime.interrupted() {
            Some(trap) => self.stop_at(span, trap),
            None => self.burn(span),
        }
    }

    /// Uses up a unit of fuel.
    pub(super) fn burn(&mut self, span: Span) -> Run<()> {
        let burnt = self.runtime.burn();
        self.at(span, burnt)
    }

    fn fits(&self, pattern: &Pattern, ty: Ty, word: u64) -> bool {
        match pattern {
            Pattern::Any => true,
            Pattern::Bool(b) => word == u64::from(*b),
            Pattern::Str(bytes) => self.runtime.str_bytes(word) == &bytes[..],
            Pattern::Range(low, high) => {
                debug_assert!(ty == Ty::INT || ty == Ty::BYTE);
                (*low..=*high).contains(&(word as i64))
            }
        }
    }

    fn target<'e>(&mut self, frame: &Frame, place: &'e Place) -> Run<Target<'e>> {
        Ok(match &place.kind {
            PlaceKind::Local(local) => Target::Local(*local),
            PlaceKind::Global(global) => Target::Global(global.0),
            PlaceKind::Field { object, field, .. } => {
                Target::Field(self.eval_held(frame, object)?, *field)
            }
            PlaceKind::Index { object, index } => {
                let held = self.eval_held(frame, object)?;
                Target::Index(object, held, self.eval(frame, index)? as i64)
            }
        })
    }

    fn load(&mut self, frame: &Frame, target: &Target<'_>, span: Span) -> Run<u64> {
        match *target {
            Target::Local(local) => Ok(self.local(frame, local)),
            Target::Global(global) => Ok(self.runtime.global(global)),
            Target::Field(object, field) => {
                let object = self.held(object);
                self.not_nil(object, span)?;
                Ok(self.runtime.field(object, field))
            }
            Target::Index(object, held, index) => {
                self.element(object.ty, self.held(held), index, span)
            }
        }
    }

    fn store(&mut self, frame: &Frame, target: &Target<'_>, word: u64, span: Span) -> Run<()> {
        match *target {
            Target::Local(local) => self.set_local(frame, local, word),
            Target::Global(global) => self.runtime.set_global(global, word),
            Target::Field(object, field) => {
                let object = self.held(object);
                self.not_nil(object, span)?;
                self.runtime.set_field(object, field, word);
            }
            Target::Index(_, held, index) => {
                let object = self.held(held);
                self.not_nil(object, span)?;
                let set = self.runtime.array_set(object, index, word);
                self.at(span, set)?;
            }
        }
        Ok(())
    }
}
