//! Loads, stores and their addresses.

use super::{Selector, effects};
use crate::entity::Entity;
use crate::ir::{self, Const, ElemClass, Op, Type, Value, ValueDef, imm_field};
use crate::mach::{RegClass, VReg};
use crate::x64::inst::{Addr, AluOp, Base, Inst, Scale, Src, Width};
use toyjit_runtime::context::GLOBALS;
use toyjit_runtime::fault::{self, Fault};
use toyjit_runtime::layout::{
    ARRAY_DATA, ARRAY_LEN, BUFFER_ELEMENTS, CLOSURE_CAPTURES, STR_BYTES, STR_LEN, STRUCT_FIELDS,
    Slot,
};

/// The displacement of word `index` behind `offset`; objects and the context are far smaller.
pub(super) fn word(offset: u64, index: u64) -> i32 {
    i32::try_from(offset + 8 * index).expect("an offset within an object")
}

impl Selector<'_> {
    /// The load that a value is, where it may be made at the place at hand by the value's one user:
    /// a whole word, from this block, with nothing between that changes memory or collects.
    pub(super) fn fused_load(&self, value: Value) -> Option<ir::Inst> {
        self.fused(value, Width::Word)
    }

    /// The same for a load of a byte.
    pub(super) fn fused_byte(&self, value: Value) -> Option<ir::Inst> {
        self.fused(value, Width::Byte)
    }

    fn fused(&self, value: Value, width: Width) -> Option<ir::Inst> {
        let inst = self.foldable(value)?;
        let data = self.function.insts[inst];
        let loads = match data.op {
            Op::StrLen
            | Op::ArrayLen
            | Op::ArrayData
            | Op::LoadField
            | Op::LoadGlobal
            | Op::LoadCapture => width == Width::Word,
            Op::StrByte => width == Width::Byte,
            Op::LoadElem => width == self.element_width(data.imm),
            _ => false,
        };
        let (block, epoch) = self.facts.place(inst);
        (loads && block == self.block && (epoch == self.epoch || fault::is(Fault::FusedLoad)))
            .then_some(inst)
    }

    fn element_slot(&self, imm: u64) -> Slot {
        self.module.classes[ElemClass(imm as u32)]
    }

    fn element_width(&self, imm: u64) -> Width {
        match self.element_slot(imm) {
            Slot::Bool | Slot::Byte => Width::Byte,
            Slot::Int | Slot::Float | Slot::Ref => Width::Word,
        }
    }

    /// The address that a load or store uses; demands its parts.
    pub(super) fn address_of(&mut self, inst: ir::Inst) -> Addr {
        let ir::InstData { op, imm, .. } = self.function.insts[inst];
        let function = self.function;
        let args = function.args(inst);
        let disp = match op {
            Op::StrLen => STR_LEN as i32,
            Op::ArrayLen => ARRAY_LEN as i32,
            Op::ArrayData => ARRAY_DATA as i32,
            Op::LoadField | Op::StoreField => word(STRUCT_FIELDS, imm_field(imm).1.into()),
            Op::LoadCapture => word(CLOSURE_CAPTURES, imm),
            Op::StrByte => return self.element(args[0], args[1], Scale::One, STR_BYTES as i32),
            Op::LoadElem | Op::StoreElem => {
                let scale = match self.element_width(imm) {
                    Width::Byte | Width::Half => Scale::One,
                    Width::Word => Scale::Eight,
                };
                return self.element(args[0], args[1], scale, BUFFER_ELEMENTS as i32);
            }
            _ => return Addr { base: Base::Context, index: None, disp: word(GLOBALS, imm) },
        };
        Addr::offset(self.reg(args[0]), disp)
    }

    /// `base + index * scale + disp`, with what is constant in the index moved to the displacement.
    fn element(&mut self, base: Value, index: Value, scale: Scale, disp: i32) -> Addr {
        let scaled = |n: i32| n.checked_mul(scale.factor() as i32)?.checked_add(disp);
        if let Some(disp) = self.immediate(index).and_then(scaled) {
            return Addr::offset(self.reg(base), disp);
        }
        let (index, disp) = self
            .sum_with_constant(index)
            .or_else(|| self.stepped(index))
            .and_then(|(index, n)| Some((index, scaled(n)?)))
            .unwrap_or((index, disp));
        let base = self.reg(base);
        let index = self.reg(index);
        Addr { base: Base::Reg(base), index: Some((index, scale)), disp }
    }

    /// A loop's counter that has made its step, `x + constant`, as what it was before, seen from the
    /// end of the block that goes round: counter and step can share a register then.
    fn stepped(&self, counter: Value) -> Option<(Value, i32)> {
        if !self.at_end {
            return None;
        }
        let counter = self.root(counter);
        let ValueDef::Param(header, place) = self.function.values[counter].def else { return None };
        let edges = self.function.blocks[self.block].terminator.edges();
        let back = edges.iter().find(|edge| edge.target == header)?;
        let next = back.args[place as usize];
        let inst = self.function.def_inst(next)?;
        let &[a, b] = self.function.args(inst) else { return None };
        let steps = self.function.insts[inst].op == Op::IAdd && self.root(a) == counter;
        Some((next, self.immediate(b).filter(|_| steps)?.checked_neg()?))
    }

    /// The parts of a value that is `x + constant`: for this one user, or for each of them where `x`
    /// is in a register anyway.
    fn sum_with_constant(&self, value: Value) -> Option<(Value, i32)> {
        let inst = self.function.def_inst(self.root(value))?;
        let &[a, b] = self.function.args(inst) else { return None };
        let (of, n) = match self.function.insts[inst].op {
            Op::IAdd => match (self.immediate(a), self.immediate(b)) {
                (_, Some(n)) => (a, n),
                (Some(n), _) => (b, n),
                _ => return None,
            },
            Op::ISub if fault::is(Fault::AddressSign) => (a, self.immediate(b)?),
            Op::ISub => (a, self.immediate(b)?.checked_neg()?),
            _ => return None,
        };
        let is_free = || {
            self.vreg_of[self.root(value).index()].is_none()
                && self.block == self.facts.place(inst).0
                && self.lives_on(of)
        };
        (self.foldable(value).is_some() || is_free()).then_some((of, n))
    }

    pub(super) fn load(&mut self, dst: VReg, inst: ir::Inst) {
        let data = self.function.insts[inst];
        let width = match data.op {
            Op::StrByte => Width::Byte,
            Op::LoadElem => self.element_width(data.imm),
            _ => Width::Word,
        };
        let addr = self.address_of(inst);
        self.push(match self.vregs[dst].class {
            RegClass::Int => Inst::Load { width, dst, addr },
            RegClass::Float => Inst::FloatLoad { dst, addr },
        });
    }

    /// A store of `value`; into `object`, where it is not a global.
    pub(super) fn store(&mut self, inst: ir::Inst, value: Value, object: Option<Value>) {
        let data = self.function.insts[inst];
        let width = match data.op {
            Op::StoreElem => self.element_width(data.imm),
            _ => Width::Word,
        };
        let ty = self.function.values[value].ty;
        if ty == Type::Int && width == Width::Word && self.store_of_sum(inst, value) {
            return;
        }
        let addr = self.address_of(inst);
        if ty == Type::Float && self.constant(value).is_none() {
            let src = self.reg(value);
            return self.push(Inst::FloatStore { addr, src });
        }
        let src = match self.constant(value) {
            Some(Const::Float(bits)) => match i32::try_from(bits as i64) {
                Ok(imm) => Src::Imm(imm),
                Err(_) => Src::Reg(self.imm_reg(bits as i64)),
            },
            _ => match self.immediate(value) {
                Some(imm) => Src::Imm(imm),
                None => Src::Reg(self.reg(value)),
            },
        };
        self.push(Inst::Store { width, addr, src });
        // Static objects and nil need not be remembered, globals are looked at anyway.
        if let Some(object) = object
            && ty == Type::Ref
            && self.constant(value).is_none()
        {
            let object = self.reg(object);
            self.push(Inst::Barrier { object });
        }
    }

    /// `place = place op x` as one instruction on memory, where `value` is that.
    fn store_of_sum(&mut self, store: ir::Inst, value: Value) -> bool {
        let Some(inst) = self.foldable(value) else { return false };
        let data = self.function.insts[inst];
        let op = match data.op {
            Op::IAdd => AluOp::Add,
            Op::ISub => AluOp::Sub,
            Op::IAnd => AluOp::And,
            Op::IOr => AluOp::Or,
            Op::IXor => AluOp::Xor,
            _ => return false,
        };
        let function = self.function;
        let &[a, b] = function.args(inst) else { return false };
        let rhs = if self.reads_place_of(a, store) {
            b
        } else if data.op.info().commutes && self.reads_place_of(b, store) {
            a
        } else {
            return false;
        };
        let rhs = match self.immediate(rhs) {
            Some(imm) => Src::Imm(imm),
            None => Src::Reg(self.reg(rhs)),
        };
        let addr = self.address_of(store);
        self.push(Inst::AluMem { op, addr, rhs });
        true
    }

    /// Whether `value` is a load, fit to be fused here, of the very place that `store` sets.
    fn reads_place_of(&self, value: Value, store: ir::Inst) -> bool {
        let Some(load) = self.fused_load(value) else { return false };
        let (of_load, of_store) = (self.function.insts[load], self.function.insts[store]);
        let matching = matches!(
            (of_load.op, of_store.op),
            (Op::LoadElem, Op::StoreElem)
                | (Op::LoadField, Op::StoreField)
                | (Op::LoadGlobal, Op::StoreGlobal)
        );
        let (load_args, store_args) = (self.function.args(load), self.function.args(store));
        matching
            && of_load.imm == of_store.imm
            && load_args.iter().zip(store_args).all(|(&a, &b)| self.root(a) == self.root(b))
    }

    /// Whether a value is known not to be negative.
    pub(super) fn is_non_negative(&self, value: Value) -> bool {
        if let Some(constant) = self.int_constant(value) {
            return constant >= 0;
        }
        let mut value = value;
        // Through the names of one value: a checked index is not negative.
        while let Some(inst) = self.function.def_inst(value) {
            let data = self.function.insts[inst];
            let args = self.function.args(inst);
            let positive = |v: Value, least: i64| self.int_constant(v).is_some_and(|n| n >= least);
            match data.op {
                Op::CheckBounds | Op::BToI | Op::ArrayLen | Op::StrLen | Op::StrByte => {
                    return true;
                }
                Op::Popcnt | Op::Clz | Op::Ctz => return true,
                Op::LoadElem => return self.element_width(data.imm) == Width::Byte,
                Op::IAnd => return args.iter().any(|&v| positive(v, 0)),
                Op::Shr => return self.int_constant(args[1]).is_some_and(|n| n & 63 != 0),
                Op::Copy | Op::CheckDiv => value = args[0],
                _ => return false,
            }
            debug_assert!(effects(data.op, data.imm).removable() || data.op == Op::CheckDiv);
        }
        false
    }
}
