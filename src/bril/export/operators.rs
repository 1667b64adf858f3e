//! Operators, one after the other.

use super::{Origin, Write, Writer, refuse};
use crate::bril::ast::{Inst, Name};
use crate::bril::lower::{DATA, INDICES, LEN, OFFSETS, READY};
use crate::bril::program::Ty;
use crate::ir::{self, Block, Const, FuncRef, InstData, Op, Type, Value, ValueDef, imm_field};
use smallvec::SmallVec;

impl Writer<'_> {
    pub(super) fn operator(&mut self, block: Block, at: usize, inst: ir::Inst) -> Write<()> {
        let f = self.f;
        let InstData { op, imm, result, .. } = f.insts[inst];
        let args = f.args(inst);
        let field = imm_field(imm).1;
        if result.is_some_and(|value| !self.needed[value]) && f.effects(inst).removable() {
            return Ok(());
        }
        // What is another name of an operand, or of nothing in Bril.
        match op {
            Op::CheckRead if result.is_none_or(|index| !self.loaded[index]) => {
                let pointer = self.place(args[0], args[1])?;
                let ty = self.element(args[0])?;
                self.temporary(ty, "load", &[pointer]);
                return self.alias(result, args[1]);
            }
            Op::CheckRead | Op::CheckWrite => return self.alias(result, args[1]),
            Op::LoadField if field == DATA || field == OFFSETS => {
                return self.alias(result, args[0]);
            }
            Op::LoadField if field == LEN || field == READY => return Ok(()),
            Op::StoreField if self.is_region(imm) => return Ok(()),
            Op::StoreGlobal if self.is_index(imm) => return Ok(()),
            Op::CheckNil => return self.alias(result, args[0]),
            Op::NewStruct if self.is_bril() => return self.alias(result, args[2]),
            Op::CheckDiv => {
                if !self.is_divided_soon(block, at, result) {
                    let arg = self.arg(args[0])?;
                    self.temporary(Ty::INT, "div", &[arg, arg]);
                }
                return self.alias(result, args[0]);
            }
            Op::Rt => return self.row(imm, result, args),
            Op::StoreElem => return self.store_elem(imm, args),
            _ => {}
        }
        let Some(value) = result else {
            if op == Op::Call {
                return self.call(None, FuncRef(imm as u32), args);
            }
            return refuse(format!("`{}`", op.info().name));
        };
        let dest = self.name(value);
        let binary = |name: &'static str, ty: Ty| Some((name, ty));
        let direct = match op {
            Op::IAdd => binary("add", Ty::INT),
            Op::ISub => binary("sub", Ty::INT),
            Op::IMul => binary("mul", Ty::INT),
            Op::SDiv => binary("div", Ty::INT),
            Op::FAdd => binary("fadd", Ty::FLOAT),
            Op::FSub => binary("fsub", Ty::FLOAT),
            Op::FMul => binary("fmul", Ty::FLOAT),
            Op::FDiv => binary("fdiv", Ty::FLOAT),
            Op::IAnd if f.values[value].ty == Type::Bool => binary("and", Ty::BOOL),
            Op::IOr if f.values[value].ty == Type::Bool => binary("or", Ty::BOOL),
            _ => None,
        };
        if let Some((name, ty)) = direct {
            let args = [self.arg(args[0])?, self.arg(args[1])?];
            self.value_inst(dest, ty, name, &args);
            return Ok(());
        }
        if op.is_comparison() {
            return self.compare(dest, op, args);
        }
        match op {
            Op::Copy => {
                if let Some(constant) = f.as_const(args[0])
                    && constant == Const::Nil
                {
                    // The beginning of a doubtful pointer, which nothing reads.
                    let ty = self.bril_ty(value)?;
                    self.value_inst(dest, ty, "undef", &[]);
                    return Ok(());
                }
                let (arg, ty) = (self.arg(args[0])?, self.bril_ty(value)?);
                self.value_inst(dest, ty, "id", &[arg]);
            }
            Op::SRem => {
                let [a, b] = [self.arg(args[0])?, self.arg(args[1])?];
                let quotient = self.temporary(Ty::INT, "div", &[a, b]);
                let product = self.temporary(Ty::INT, "mul", &[quotient, b]);
                self.value_inst(dest, Ty::INT, "sub", &[a, product]);
            }
            Op::INeg => {
                let (zero, arg) = (self.constant(Const::Int(0))?, self.arg(args[0])?);
                self.value_inst(dest, Ty::INT, "sub", &[zero, arg]);
            }
            Op::INot => {
                let (ones, arg) = (self.constant(Const::Int(-1))?, self.arg(args[0])?);
                self.value_inst(dest, Ty::INT, "sub", &[ones, arg]);
            }
            Op::Shl => match f.as_const(args[1]) {
                Some(Const::Int(by)) => {
                    let factor = self.constant(Const::Int(1i64.wrapping_shl(by as u32 & 63)))?;
                    let arg = self.arg(args[0])?;
                    self.value_inst(dest, Ty::INT, "mul", &[arg, factor]);
                }
                _ => return refuse("shifts"),
            },
            Op::IXor if f.values[value].ty == Type::Bool => self.compare(dest, Op::INe, args)?,
            Op::FNeg => {
                let minus = self.constant(Const::Float((-1f64).to_bits()))?;
                let arg = self.arg(args[0])?;
                self.value_inst(dest, Ty::FLOAT, "fmul", &[arg, minus]);
            }
            Op::BToI => {
                let (one, zero) = (self.constant(Const::Int(1))?, self.constant(Const::Int(0))?);
                let arg = self.arg(args[0])?;
                self.choose(dest, Ty::INT, arg, one, zero);
            }
            Op::IMin | Op::IMax => {
                let [a, b] = [self.arg(args[0])?, self.arg(args[1])?];
                let name = if op == Op::IMin { "lt" } else { "gt" };
                let first = self.temporary(Ty::BOOL, name, &[a, b]);
                self.choose(dest, Ty::INT, first, a, b);
            }
            Op::IAbs => {
                let (zero, arg) = (self.constant(Const::Int(0))?, self.arg(args[0])?);
                let negative = self.temporary(Ty::BOOL, "lt", &[arg, zero]);
                let other = self.temporary(Ty::INT, "sub", &[zero, arg]);
                self.choose(dest, Ty::INT, negative, other, arg);
            }
            Op::Select => {
                let ty = self.bril_ty(value)?;
                let [c, yes, no] = [self.arg(args[0])?, self.arg(args[1])?, self.arg(args[2])?];
                self.choose(dest, ty, c, yes, no);
            }
            Op::LoadGlobal if self.is_index(imm) => {
                let zero = self.constant(Const::Int(0))?;
                self.value_inst(dest, Ty::INT, "id", &[zero]);
            }
            Op::LoadElem => {
                if imm == u64::from(INDICES.0) && self.is_bril() {
                    let zero = self.constant(Const::Int(0))?;
                    self.value_inst(dest, Ty::INT, "id", &[zero]);
                } else {
                    let pointer = self.place(args[0], args[1])?;
                    let ty = self.element(args[0])?;
                    self.value_inst(dest, ty, "load", &[pointer]);
                }
            }
            Op::Call => self.call(Some(value), FuncRef(imm as u32), args)?,
            op => return refuse(format!("`{}`", op.info().name)),
        }
        Ok(())
    }

    pub(super) fn is_bril(&self) -> bool {
        matches!(self.origin, Origin::Bril(_))
    }

    pub(super) fn is_region(&self, imm: u64) -> bool {
        self.is_bril() && matches!(imm_field(imm).1, READY | LEN)
    }

    pub(super) fn is_index(&self, imm: u64) -> bool {
        self.is_bril() && imm == 0
    }

    /// Makes a value another name of an operand.
    pub(super) fn alias(&mut self, result: Option<Value>, of: Value) -> Write<()> {
        let Some(result) = result else { return Ok(()) };
        let name = self.arg(of)?;
        match self.f.values[result].def {
            ValueDef::Variable(_) => {
                let (dest, ty) = (self.name(result), self.bril_ty(result)?);
                self.value_inst(dest, ty, "id", &[name]);
            }
            // A constant has a name in this block only.
            _ if self.f.as_const(of).is_some() => {
                let (dest, ty) = (self.name(result), self.bril_ty(result)?);
                self.value_inst(dest, ty, "id", &[name]);
            }
            _ => self.names[result] = Some(name),
        }
        Ok(())
    }

    /// Whether a division by a checked divisor follows in the block, before anything that shows.
    pub(super) fn is_divided_soon(&self, block: Block, at: usize, divisor: Option<Value>) -> bool {
        for &inst in &self.f.blocks[block].insts[at + 1..] {
            let InstData { op, result, .. } = self.f.insts[inst];
            let written = result.is_some_and(|value| self.needed[value]);
            if matches!(op, Op::SDiv | Op::SRem) && Some(self.f.args(inst)[1]) == divisor && written
            {
                return true;
            }
            if !self.f.effects(inst).removable() {
                return false;
            }
        }
        false
    }

    /// The type of the elements behind a region or one of its buffers.
    pub(super) fn element(&self, region: Value) -> Write<Ty> {
        let found = self.pointees.value(self.id, region);
        found.ok_or_else(|| "objects of Toy".to_owned())
    }

    /// The pointer to an element.
    pub(super) fn place(&mut self, region: Value, index: Value) -> Write<Name> {
        let ty = self.element(region)?;
        if self.f.as_const(index) == Some(Const::Int(0)) {
            return self.arg(region);
        }
        let (region, index) = (self.arg(region)?, self.arg(index)?);
        Ok(self.temporary(Ty { pointers: ty.pointers + 1, ..ty }, "ptradd", &[region, index]))
    }

    pub(super) fn store_elem(&mut self, imm: u64, args: &[Value]) -> Write<()> {
        if !self.is_bril() {
            return refuse("arrays");
        }
        if imm == u64::from(INDICES.0) {
            let Some((place, _, region)) = self.stored.take().filter(|&(_, at, _)| at == args[1])
            else {
                return refuse("a store of half a pointer");
            };
            let index = self.arg(args[2])?;
            let ty = self.element(args[0])?;
            let pointer = self.temporary(ty, "ptradd", &[region, index]);
            self.effect("store", &[place, pointer]);
            return Ok(());
        }
        let place = self.place(args[0], args[1])?;
        let value = self.arg(args[2])?;
        if self.f.values[args[2]].ty == Type::Ref {
            self.stored = Some((place, args[1], value));
        } else {
            self.effect("store", &[place, value]);
        }
        Ok(())
    }

    pub(super) fn call(
        &mut self,
        result: Option<Value>,
        callee: FuncRef,
        args: &[Value],
    ) -> Write<()> {
        let func = self.function_name(callee)?;
        let mut names = SmallVec::new();
        for &arg in args {
            names.push(self.arg(arg)?);
        }
        let (dest, ty) = match result {
            Some(value) => (Some(self.name(value)), Some(self.ty(value)?)),
            None => (None, None),
        };
        let empty = self.inst("call");
        let funcs = SmallVec::from_slice(&[func]);
        self.put(Inst { dest, ty, args: names, funcs, ..empty });
        Ok(())
    }
}
