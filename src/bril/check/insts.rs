//! Instructions: each operation with its operands and its result.

use super::{Body, Head};
use crate::bril::ast::{self, Literal, Name};
use crate::bril::program::{Constant, Kind, Op, Ty, Var};
use crate::source::Diagnostic;

impl Body<'_, '_> {
    pub(super) fn inst(&mut self, inst: &ast::Inst) -> Option<Kind> {
        let Some(&op) = self.cx.ops.get(&inst.op.symbol) else {
            let message = format!("there is no operation `{}`", self.cx.name(inst.op.symbol));
            self.cx.error("E0705", inst.op.span, message, "");
            return None;
        };
        let args = &inst.args;
        if op != Op::Const && inst.value.is_some() {
            let message = "only `const` has a value".to_owned();
            self.cx.error("E0709", inst.span, message, "");
        }
        Some(match op {
            Op::Const => {
                self.shape(inst, Some(0), 0, Some(0), Some(true))?;
                self.constant(inst)?
            }
            Op::Unary(op) => {
                self.shape(inst, Some(1), 0, Some(0), Some(true))?;
                let (from, to) = op.types();
                let arg = self.typed(args[0], from);
                Kind::Unary(op, self.dest(inst, to)?, arg?)
            }
            Op::Binary(op) => {
                self.shape(inst, Some(2), 0, Some(0), Some(true))?;
                let (from, to) = op.types();
                let operands = [args[0], args[1]].map(|arg| self.typed(arg, from));
                Kind::Binary(op, self.dest(inst, to)?, [operands[0]?, operands[1]?])
            }
            Op::Id => {
                self.shape(inst, Some(1), 0, Some(0), Some(true))?;
                let arg = self.var(args[0])?;
                Kind::Id(self.dest(inst, self.vars[arg].ty)?, arg)
            }
            Op::Bitcast => {
                self.shape(inst, Some(1), 0, Some(0), Some(true))?;
                let arg = self.var(args[0])?;
                let (dest, to) = self.any_dest(inst)?;
                let from = self.vars[arg].ty;
                let words = |ty: Ty| ty == Ty::INT || ty == Ty::FLOAT;
                if from != to && !(words(from) && words(to)) {
                    let message = format!("the bits of {from} are none of {to}");
                    self.cx.error("E0710", inst.span, message, "");
                    return None;
                }
                Kind::Bitcast(dest, arg)
            }
            Op::Jmp => {
                self.shape(inst, Some(0), 0, Some(1), Some(false))?;
                Kind::Jmp(self.jump(inst.labels[0])?)
            }
            Op::Br => {
                self.shape(inst, Some(1), 0, Some(2), Some(false))?;
                let arg = self.typed(args[0], Ty::BOOL);
                let labels = [inst.labels[0], inst.labels[1]].map(|label| self.jump(label));
                Kind::Br(arg?, [labels[0]?, labels[1]?])
            }
            Op::Ret => {
                self.shape(inst, None, 0, Some(0), Some(false))?;
                self.ret(inst)?
            }
            Op::Call => {
                self.shape(inst, None, 1, Some(0), None)?;
                self.call(inst)?
            }
            Op::Print => {
                self.shape(inst, None, 0, Some(0), Some(false))?;
                let args: Vec<_> = args.iter().map(|&arg| self.var(arg)).collect();
                Kind::Print(args.into_iter().collect::<Option<_>>()?)
            }
            Op::Nop => {
                self.shape(inst, Some(0), 0, Some(0), Some(false))?;
                Kind::Nop
            }
            Op::Alloc => {
                self.shape(inst, Some(1), 0, Some(0), Some(true))?;
                let count = self.typed(args[0], Ty::INT);
                let (dest, ty) = self.any_dest(inst)?;
                if !ty.is_pointer() {
                    let message = format!("`alloc` gives a pointer, not {ty}");
                    self.cx.error("E0710", inst.span, message, "");
                    return None;
                }
                Kind::Alloc(dest, count?)
            }
            Op::Free => {
                self.shape(inst, Some(1), 0, Some(0), Some(false))?;
                Kind::Free(self.pointer(args[0])?.0)
            }
            Op::Store => {
                self.shape(inst, Some(2), 0, Some(0), Some(false))?;
                let (pointer, ty) = self.pointer(args[0])?;
                Kind::Store(pointer, self.typed(args[1], ty)?)
            }
            Op::Load => {
                self.shape(inst, Some(1), 0, Some(0), Some(true))?;
                let (pointer, ty) = self.pointer(args[0])?;
                Kind::Load(self.dest(inst, ty)?, pointer)
            }
            Op::PtrAdd => {
                self.shape(inst, Some(2), 0, Some(0), Some(true))?;
                let index = self.typed(args[1], Ty::INT);
                let (pointer, _) = self.pointer(args[0])?;
                Kind::PtrAdd(self.dest(inst, self.vars[pointer].ty)?, pointer, index?)
            }
            Op::Phi => {
                self.shape(inst, None, 0, Some(args.len()), Some(true))?;
                let (dest, ty) = self.any_dest(inst)?;
                let mut ways = Vec::with_capacity(args.len());
                for (&arg, &label) in args.iter().zip(&inst.labels) {
                    let (arg, label) = (self.typed(arg, ty), self.jump(label));
                    ways.push((label?, arg?));
                }
                Kind::Phi(dest, ways)
            }
            Op::Set => {
                self.shape(inst, Some(2), 0, Some(0), Some(false))?;
                let value = self.var(args[1])?;
                let shadow = match self.gotten.contains_key(&args[0].symbol) {
                    true => {
                        let shadow = self.var(args[0])?;
                        self.same(args[1].span, self.vars[value].ty, self.vars[shadow].ty)?;
                        Some(shadow)
                    }
                    false => None,
                };
                Kind::Set(shadow, value)
            }
            Op::Get => {
                self.shape(inst, Some(0), 0, Some(0), Some(true))?;
                Kind::Get(self.any_dest(inst)?.0)
            }
            Op::Undef => {
                self.shape(inst, Some(0), 0, Some(0), Some(true))?;
                Kind::Undef(self.any_dest(inst)?.0)
            }
            Op::Foreign(extension) => {
                let name = self.cx.name(inst.op.symbol).to_owned();
                let message = format!("`{name}`: {extension} is not supported");
                self.cx.error("E0705", inst.op.span, message, "");
                return None;
            }
        })
    }

    /// A pointer and the type that it points at.
    pub(super) fn pointer(&mut self, name: Name) -> Option<(Var, Ty)> {
        let var = self.var(name)?;
        let ty = self.vars[var].ty;
        let Some(pointee) = ty.pointee() else {
            let message = format!("a pointer is wanted, this is {ty}");
            self.cx.error("E0710", name.span, message, "");
            return None;
        };
        Some((var, pointee))
    }

    pub(super) fn constant(&mut self, inst: &ast::Inst) -> Option<Kind> {
        let Some((literal, span)) = inst.value else {
            self.cx.error("E0709", inst.span, "`const` without a value".to_owned(), "");
            return None;
        };
        let (dest, ty) = self.any_dest(inst)?;
        let constant = match (literal, ty) {
            (Literal::Int(value), Ty::INT) => Constant::Int(value),
            (Literal::Int(value), Ty::FLOAT) => Constant::Float(value as f64),
            (Literal::Float(value), Ty::FLOAT) => Constant::Float(value),
            (Literal::Bool(value), Ty::BOOL) => Constant::Bool(value),
            (Literal::Char(value), Ty::CHAR) => Constant::Char(value),
            _ => {
                self.cx.error("E0710", span, format!("this is no {ty}"), "");
                return None;
            }
        };
        Some(Kind::Const(dest, constant))
    }

    pub(super) fn ret(&mut self, inst: &ast::Inst) -> Option<Kind> {
        let result = self.cx.heads[self.head].result.ok()?;
        match (result, inst.args.as_slice()) {
            (None, []) => Some(Kind::Ret(None)),
            (Some(ty), &[arg]) => Some(Kind::Ret(Some(self.typed(arg, ty)?))),
            (Some(ty), []) => {
                let message =
                    format!("`ret` without a value, but `@{}` gives {ty}", self.scoped.name);
                self.cx.error("E0709", inst.span, message, "");
                None
            }
            (None, &[arg]) => {
                let message =
                    format!("`ret` with a value, but `@{}` has no result", self.scoped.name);
                self.cx.error("E0709", arg.span, message, "");
                None
            }
            (_, _) => {
                let found = inst.args.len();
                let message = format!("`ret` takes 1 argument at most, not {found}");
                self.cx.error("E0709", inst.span, message, "");
                None
            }
        }
    }

    pub(super) fn call(&mut self, inst: &ast::Inst) -> Option<Kind> {
        let name = inst.funcs[0];
        let text = self.cx.name(name.symbol).to_owned();
        let Some(&callee) = self.scoped.scope.get(&name.symbol) else {
            self.cx.error("E0708", name.span, format!("there is no function `@{text}`"), "");
            return None;
        };
        let Head { params, result, span } = &self.cx.heads[callee];
        let (params, result, head) = (params.clone(), *result, *span);
        if params.len() != inst.args.len() {
            let (wanted, found) = (params.len(), inst.args.len());
            let s = if wanted == 1 { "" } else { "s" };
            let message = format!("`@{text}` takes {wanted} argument{s}, not {found}");
            let error =
                Diagnostic::error("E0709", inst.span, message, "").label(head, "declared here");
            self.cx.diagnostics.push(error);
            return None;
        }
        let mut args = Vec::with_capacity(params.len());
        for (&arg, param) in inst.args.iter().zip(params) {
            args.push(match param {
                Some(ty) => self.typed(arg, ty),
                None => None,
            });
        }
        let args = args.into_iter().collect::<Option<Vec<_>>>();
        match (result.ok()?, inst.dest) {
            (None, None) => Some(Kind::Call(None, callee, args?)),
            (Some(ty), Some(_)) => Some(Kind::Call(Some(self.dest(inst, ty)?), callee, args?)),
            (Some(ty), None) => {
                let message = format!("`@{text}` gives {ty}, which goes nowhere");
                self.cx.error("E0709", inst.span, message, "write `x: … = ` before it");
                None
            }
            (None, Some(dest)) => {
                self.cx.error("E0709", dest.span, format!("`@{text}` has no result"), "");
                None
            }
        }
    }
}
