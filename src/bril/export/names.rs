//! Names, types and constants of a function that is written, and its instructions one by one.

use super::{Write, Writer, is_name, refuse, scalar};
use crate::bril::ast::{self, Code, Inst, Literal, Name};
use crate::bril::program::{Base, Ty};
use crate::ir::{Block, Const, Type, Value, ValueDef};
use crate::source::Span;
use smallvec::SmallVec;

impl Writer<'_> {
    pub(super) fn intern(&mut self, text: &str) -> Name {
        Name { symbol: self.interner.intern(text), span: Span::default() }
    }

    /// A name that nothing else in the function has.
    pub(super) fn fresh_name(&mut self) -> Name {
        loop {
            let text = format!("t{}", self.fresh);
            self.fresh += 1;
            if self.taken.insert(text.clone()) {
                return self.intern(&text);
            }
        }
    }

    /// The name of a value that is no constant.
    pub(super) fn name(&mut self, value: Value) -> Name {
        if let Some(name) = self.names[value] {
            return name;
        }
        let wanted = match self.f.values[value].def {
            ValueDef::Variable(variable) => {
                let text = &self.f.variables[variable].name;
                if is_name(text) { text.clone() } else { format!("x{}", variable.0) }
            }
            _ => format!("v{}", value.0),
        };
        let mut text = wanted.clone();
        let mut number = 0;
        while !self.taken.insert(text.clone()) {
            number += 1;
            text = format!("{wanted}.{number}");
        }
        let name = self.intern(&text);
        self.names[value] = Some(name);
        name
    }

    pub(super) fn bril_type(&mut self, ty: Ty) -> ast::Type {
        let base = match ty.base {
            Base::Int => "int",
            Base::Bool => "bool",
            Base::Float => "float",
            Base::Char => "char",
        };
        let pointer = self.interner.intern("ptr");
        let mut words: SmallVec<_> = std::iter::repeat_n(pointer, ty.pointers as usize).collect();
        words.push(self.interner.intern(base));
        ast::Type { words, span: Span::default() }
    }

    pub(super) fn type_word(&mut self, pointee: Option<Ty>, ty: Type) -> Write<ast::Type> {
        let ty = scalar(ty).or_else(|| pointee.map(|ty| Ty { pointers: ty.pointers + 1, ..ty }));
        match ty {
            Some(ty) => Ok(self.bril_type(ty)),
            None => refuse("objects of Toy"),
        }
    }

    pub(super) fn bril_ty(&self, value: Value) -> Write<Ty> {
        let pointee = self.pointees.value(self.id, value);
        scalar(self.f.values[value].ty)
            .or_else(|| pointee.map(|ty| Ty { pointers: ty.pointers + 1, ..ty }))
            .ok_or_else(|| "objects of Toy".to_owned())
    }

    pub(super) fn ty(&mut self, value: Value) -> Write<ast::Type> {
        let ty = self.bril_ty(value)?;
        Ok(self.bril_type(ty))
    }

    // Instructions.

    pub(super) fn inst(&mut self, op: &str) -> Inst {
        Inst {
            op: self.intern(op),
            dest: None,
            ty: None,
            args: SmallVec::new(),
            funcs: SmallVec::new(),
            labels: SmallVec::new(),
            value: None,
            span: Span::default(),
        }
    }

    pub(super) fn put(&mut self, inst: Inst) {
        self.body.push(Code::Inst(inst));
    }

    pub(super) fn value_inst(&mut self, dest: Name, ty: Ty, op: &str, args: &[Name]) {
        let (empty, ty) = (self.inst(op), Some(self.bril_type(ty)));
        self.put(Inst { dest: Some(dest), ty, args: SmallVec::from_slice(args), ..empty });
    }

    /// The same with a fresh name for its result.
    pub(super) fn temporary(&mut self, ty: Ty, op: &str, args: &[Name]) -> Name {
        let dest = self.fresh_name();
        self.value_inst(dest, ty, op, args);
        dest
    }

    pub(super) fn effect(&mut self, op: &str, args: &[Name]) {
        let empty = self.inst(op);
        self.put(Inst { args: SmallVec::from_slice(args), ..empty });
    }

    pub(super) fn jump(&mut self, label: Name) {
        let empty = self.inst("jmp");
        self.put(Inst { labels: SmallVec::from_slice(&[label]), ..empty });
    }

    pub(super) fn branch(&mut self, condition: Name, yes: Name, no: Name) {
        let empty = self.inst("br");
        let args = SmallVec::from_slice(&[condition]);
        self.put(Inst { args, labels: SmallVec::from_slice(&[yes, no]), ..empty });
    }

    pub(super) fn label(&mut self, block: Block) -> Name {
        self.intern(&format!("b{}", block.0))
    }

    pub(super) fn constant(&mut self, constant: Const) -> Write<Name> {
        let mut known = self.held.iter().chain(&self.constants);
        if let Some(&(_, name)) = known.find(|(known, _)| *known == constant) {
            return Ok(name);
        }
        if !self.in_loop {
            let name = self.make_constant(constant)?;
            self.constants.push((constant, name));
            return Ok(name);
        }
        std::mem::swap(&mut self.body, &mut self.head);
        let name = self.make_constant(constant);
        std::mem::swap(&mut self.body, &mut self.head);
        let name = name?;
        self.held.push((constant, name));
        Ok(name)
    }

    pub(super) fn make_constant(&mut self, constant: Const) -> Write<Name> {
        let (literal, ty) = match constant {
            Const::Int(value) => (Literal::Int(value), Ty::INT),
            Const::Bool(value) => (Literal::Bool(value), Ty::BOOL),
            Const::Float(bits) => {
                let value = f64::from_bits(bits);
                if !value.is_finite() {
                    return self.infinite(value);
                }
                (Literal::Float(value), Ty::FLOAT)
            }
            Const::Nil | Const::Str(_) | Const::Func(_) => return refuse("references of Toy"),
        };
        let dest = self.fresh_name();
        let (empty, ty) = (self.inst("const"), Some(self.bril_type(ty)));
        let value = Some((literal, Span::default()));
        self.put(Inst { dest: Some(dest), ty, value, ..empty });
        Ok(dest)
    }

    /// What no literal can be written for.
    pub(super) fn infinite(&mut self, value: f64) -> Write<Name> {
        let top = if value.is_nan() { 0.0 } else { 1f64.copysign(value) };
        let top = self.make_constant(Const::Float(top.to_bits()))?;
        let zero = self.make_constant(Const::Float(0))?;
        Ok(self.temporary(Ty::FLOAT, "fdiv", &[top, zero]))
    }

    pub(super) fn arg(&mut self, value: Value) -> Write<Name> {
        match self.f.as_const(value) {
            Some(constant) => self.constant(constant),
            None => Ok(self.name(value)),
        }
    }
}
