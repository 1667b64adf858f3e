//! What takes several instructions: a check and what relies on it, an object and its use, a call.

use super::body::Body;
use super::{NODE, SLOTS, class};
use crate::entity::Entity;
use crate::ir::module::{field_imm, slot_type};
use crate::ir::{
    Block, Const, Effects, FuncRef, Inst, InstData, Loc, Op, StrRef, Type, Value, ValueDef,
};
use toyjit_runtime::{Rt, Slot};

impl Body<'_> {
    pub(super) fn divide(&mut self, block: Block) {
        let (dividend, mut divisor) = (self.value(Type::Int), self.value(Type::Int));
        if self.function.as_const(divisor).is_none_or(|c| c == Const::Int(0)) {
            // Mostly it can't trap.
            if self.rng.percent(85) {
                let one = self.function.int(1);
                divisor = self.op(block, Op::IOr, &[divisor, one], 0, None);
            }
            divisor = self.op(block, Op::CheckDiv, &[divisor], 0, None);
        }
        let op = self.rng.pick(&[Op::SDiv, Op::SRem]);
        let value = self.op(block, op, &[dividend, divisor], 0, None);
        self.publish(block, value);
    }

    pub(super) fn new_node(&mut self, block: Block) {
        let fields = SLOTS.map(|(_, slot)| self.value(slot_type(slot)));
        let value = self.op(block, Op::NewStruct, &fields, NODE.0.into(), None);
        self.publish(block, value);
    }

    pub(super) fn use_node(&mut self, block: Block) {
        let is_object = |&&value: &&Value| {
            let op = self.function.def_inst(value).map(|inst| self.function.insts[inst].op);
            op == Some(Op::NewStruct)
        };
        let objects: Vec<Value> = self.scope.iter().filter(is_object).copied().collect();
        let object = match self.rng.percent(90) {
            true if objects.is_empty() => return self.new_node(block),
            true => self.rng.pick(&objects),
            false => self.value(Type::Ref),
        };
        let object = self.op(block, Op::CheckNil, &[object], 0, None);
        let number = self.rng.below(SLOTS.len());
        let (imm, ty) = (field_imm(NODE, number as u32), slot_type(SLOTS[number].1));
        if self.rng.percent(60) {
            let value = self.op(block, Op::LoadField, &[object], imm, Some(ty));
            self.publish(block, value);
        } else {
            let value = self.value(ty);
            self.function.append(block, Op::StoreField, &[object, value], imm, None, Loc(0));
        }
    }

    pub(super) fn use_global(&mut self, block: Block) {
        let number = self.rng.below(SLOTS.len());
        let (imm, ty) = (1 + number as u64, slot_type(SLOTS[number].1));
        if self.rng.percent(60) {
            let value = self.op(block, Op::LoadGlobal, &[], imm, Some(ty));
            self.publish(block, value);
        } else {
            let value = self.value(ty);
            self.function.append(block, Op::StoreGlobal, &[value], imm, None, Loc(0));
        }
    }

    /// Makes an array, fills it, sets an element and reads one.
    pub(super) fn array(&mut self, block: Block) {
        let (slot, rt) = self.rng.pick(&[
            (Slot::Int, Rt::ArrayFillInt),
            (Slot::Bool, Rt::ArrayFillInt),
            (Slot::Byte, Rt::ArrayFillInt),
            (Slot::Float, Rt::ArrayFillFloat),
            (Slot::Ref, Rt::ArrayFillRef),
        ]);
        let ty = slot_type(slot);
        let element = |body: &mut Self| match slot {
            Slot::Byte => {
                let (value, mask) = (body.value(Type::Int), body.function.int(255));
                body.op(block, Op::IAnd, &[value, mask], 0, None)
            }
            _ => body.value(ty),
        };
        let first = element(self);
        let is_long = self.rng.percent(90);
        let size = if is_long { 8 } else { self.rng.below(8) as i64 };
        let (kind, size) = (self.function.int(slot as i64), self.function.int(size));
        let args = if rt == Rt::ArrayFillInt { vec![kind, first, size] } else { vec![first, size] };
        let array = self.op(block, Op::Rt, &args, rt as u64, Some(Type::Ref));
        let place = |body: &mut Self| {
            let is_near = body.rng.percent(95);
            let mut index = body.value(Type::Int);
            if is_near {
                index = body.below_eight(block, index);
            }
            // An index that is seen to be in bounds needs no check.
            if !(is_near && is_long && body.rng.percent(40)) {
                let len = body.op(block, Op::ArrayLen, &[array], class(slot), None);
                index = body.op(block, Op::CheckBounds, &[index, len], 0, None);
            }
            let data = body.op(block, Op::ArrayData, &[array], class(slot), None);
            [data, index]
        };
        let [data, index] = place(self);
        let value = element(self);
        let args = [data, index, value];
        self.function.append(block, Op::StoreElem, &args, class(slot), None, Loc(0));
        let args = place(self);
        let value = self.op(block, Op::LoadElem, &args, class(slot), Some(ty));
        self.show(block, value);
    }

    /// Lets later instructions use a value; perhaps it is printed, too.
    fn show(&mut self, block: Block, value: Value) {
        if self.rng.percent(30) {
            self.print(block, value);
        }
        self.publish(block, value);
    }

    /// A value from 0 to 7, often as a sum with a constant.
    fn below_eight(&mut self, block: Block, value: Value) -> Value {
        let three = self.function.int(3);
        let low = self.op(block, Op::IAnd, &[value, three], 0, None);
        let by = self.rng.below(5) as i64;
        match self.rng.below(5) {
            0 => low,
            1 => {
                let by = self.function.int(by);
                self.op(block, Op::IAdd, &[low, by], 0, None)
            }
            2 => {
                let by = self.function.int(3 + by);
                self.op(block, Op::ISub, &[by, low], 0, None)
            }
            _ => {
                let (four, by) = (self.function.int(4), self.function.int(by));
                let high = self.op(block, Op::IOr, &[low, four], 0, None);
                self.op(block, Op::ISub, &[high, by], 0, None)
            }
        }
    }

    pub(super) fn string(&mut self, block: Block) {
        let strings = self.module.strings.len();
        let number = if self.rng.percent(95) { strings - 1 } else { self.rng.below(strings) };
        let string = StrRef::new(number);
        let string = self.function.constant(Const::Str(string));
        let len = self.op(block, Op::StrLen, &[string], 0, None);
        let (index, mask) = (self.value(Type::Int), self.function.int(7));
        let index = self.op(block, Op::IAnd, &[index, mask], 0, None);
        let index = self.op(block, Op::CheckBounds, &[index, len], 0, None);
        let byte = self.op(block, Op::StrByte, &[string, index], 0, None);
        self.publish(block, byte);
        if self.rng.percent(15) {
            // An index that passed once must be checked again for another string.
            let other = StrRef::new(self.rng.below(strings));
            let other = self.function.constant(Const::Str(other));
            let len = self.op(block, Op::StrLen, &[other], 0, None);
            let index = self.op(block, Op::CheckBounds, &[index, len], 0, None);
            let byte = self.op(block, Op::StrByte, &[other, index], 0, None);
            self.publish(block, byte);
        }
    }

    /// Chooses between two values by the opposite of a bool, or by a comparison of floats.
    pub(super) fn choose(&mut self, block: Block) {
        let condition = match self.rng.percent(50) {
            true => {
                let args = [self.value(Type::Bool), self.function.constant(Const::Bool(true))];
                self.op(block, Op::IXor, &args, 0, None)
            }
            false => {
                let float = |body: &mut Self| match body.rng.percent(30) {
                    true => body.function.constant(Const::Float(f64::NAN.to_bits())),
                    false => body.value(Type::Float),
                };
                let x = float(self);
                let y = if self.rng.percent(40) { x } else { float(self) };
                let op = self.rng.pick(&[Op::FEq, Op::FEq, Op::FNe, Op::FLt, Op::FLe, Op::FGe]);
                self.op(block, op, &[x, y], 0, None)
            }
        };
        let ty = self.rng.pick(&[Type::Int, Type::Float]);
        let args = [condition, self.value(ty), self.value(ty)];
        let chosen = self.op(block, Op::Select, &args, 0, None);
        self.show(block, chosen);
    }

    /// Computes again what the other arm of the branch before does; output may come first.
    pub(super) fn twin(&mut self, block: Block, other: Block) {
        let is_there = |value: Value| {
            let data = &self.function.values[value];
            matches!(data.def, ValueDef::Const(_) | ValueDef::Variable(_))
                || self.scope.contains(&value)
        };
        let is_twin = |&&inst: &&Inst| {
            let (op, effects) = (self.function.insts[inst].op, self.function.effects(inst));
            let is_check = matches!(op, Op::CheckDiv | Op::CheckNil | Op::CheckBounds);
            (is_check || op.info().eval.is_some() && effects == Effects::NONE)
                && self.function.args(inst).iter().all(|&arg| is_there(arg))
        };
        let insts = &self.function.blocks[other].insts;
        let twins: Vec<Inst> = insts.iter().filter(is_twin).copied().collect();
        if twins.is_empty() {
            return;
        }
        let inst = self.rng.pick(&twins);
        if self.rng.percent(40) {
            let value = self.value(Type::Int);
            self.print(block, value);
        }
        let InstData { op, imm, .. } = self.function.insts[inst];
        let args = self.function.args(inst).to_vec();
        let value = self.op(block, op, &args, imm, None);
        self.publish(block, value);
    }

    /// Calls a function, by name or as a value; its result, if it has one.
    pub(super) fn call(&mut self, block: Block, callee: FuncRef) -> Option<Value> {
        let signature = self.module.functions[callee].signature.clone();
        let captures = &self.module.captures[callee];
        let mut args: Vec<Value> = signature.params.iter().map(|&ty| self.value(ty)).collect();
        let (op, imm) = if signature.env {
            let values: Vec<Value> =
                captures.iter().map(|&slot| self.value(slot_type(slot))).collect();
            let closure = self.op(block, Op::NewClosure, &values, callee.0.into(), None);
            args.insert(0, closure);
            (Op::CallValue, 0)
        } else if self.rng.percent(20) {
            args.insert(0, self.function.constant(Const::Func(callee)));
            (Op::CallValue, 0)
        } else {
            (Op::Call, callee.0.into())
        };
        let inst = self.function.append(block, op, &args, imm, signature.result, Loc(0));
        self.function.insts[inst].result
    }

    /// Prints a value and a space. Of a reference, whether it is nil.
    pub(super) fn print(&mut self, block: Block, value: Value) {
        let (value, rt) = match self.function.values[value].ty {
            Type::Int => (value, Rt::PrintInt),
            Type::Float => (value, Rt::PrintFloat),
            Type::Bool => (value, Rt::PrintBool),
            Type::Ref => {
                let nil = self.function.constant(Const::Nil);
                (self.op(block, Op::REq, &[value, nil], 0, None), Rt::PrintBool)
            }
        };
        self.function.append(block, Op::Rt, &[value], rt as u64, None, Loc(0));
        self.function.append(block, Op::Rt, &[], Rt::PrintSpace as u64, None, Loc(0));
    }
}
