//! Memory: regions, and accesses through pointers.

use super::{Checks, DATA, ELEMENTS, INDICES, LEN, Lowering, OFFSETS, element};
use crate::bril::program::{Ty, Var};
use crate::entity::Entity;
use crate::ir::module::Structure;
use crate::ir::{Const, Op, Type, Value, field_imm};
use toyjit_runtime::layout::BUFFER_ELEMENTS;
use toyjit_runtime::{Rt, Slot};

impl Lowering<'_> {
    pub(super) fn alloc(&mut self, dest: Var, count: Var) {
        let count = self.scalar(count);
        let home = self.homes[dest.index()];
        let Some(pointee) = home.ty.pointee() else { return };
        let number = element(pointee);
        let slot = self.f.int(ELEMENTS[number as usize].1 as i64);
        let row = Rt::RegionNew as u64;
        let data = self.op(Op::Rt, &[slot, count], row, Some(Type::Ref));
        let offsets = match pointee.is_pointer() {
            true => self.op(Op::Rt, &[count], Rt::RegionOffsets as u64, Some(Type::Ref)),
            false => self.f.constant(Const::Nil),
        };
        let variable = self.dest(dest);
        if self.checks == Checks::Off && !pointee.is_pointer() {
            self.copy(variable, data);
        } else {
            let map = if pointee.is_pointer() { offsets } else { data };
            let map_at = self.map_at(count, ELEMENTS[number as usize].1);
            let zero = self.f.int(0);
            let fields = [zero, count, data, offsets, map, map_at, zero];
            self.assign(variable, Op::NewStruct, &fields, u64::from(number));
        }
        if let Some(index) = home.index {
            let zero = self.f.int(0);
            self.copy(index, zero);
        }
    }

    /// Where the elements of a buffer end.
    pub(super) fn map_at(&mut self, count: Value, slot: Slot) -> Value {
        let bytes = match slot {
            Slot::Bool | Slot::Byte => {
                let (seven, mask) = (self.f.int(7), self.f.int(-8));
                let more = self.op(Op::IAdd, &[count, seven], 0, None);
                self.op(Op::IAnd, &[more, mask], 0, None)
            }
            Slot::Int | Slot::Float | Slot::Ref => {
                let three = self.f.int(3);
                self.op(Op::Shl, &[count, three], 0, None)
            }
        };
        let start = self.f.int(BUFFER_ELEMENTS as i64);
        self.op(Op::IAdd, &[bytes, start], 0, None)
    }

    pub(super) fn free(&mut self, pointer: Var) {
        let [region, index] = self.pointer(pointer);
        let Some(pointee) = self.source.vars[pointer].ty.pointee() else { return };
        if self.checks == Checks::Off {
            return;
        }
        let structure = Structure(element(pointee));
        let len = field_imm(structure, LEN);
        let held = self.op(Op::LoadField, &[region], len, Some(Type::Int));
        self.rt(Rt::RegionFree, &[region, index, held]);
        let zero = self.f.int(0);
        self.f.append(self.block, Op::StoreField, &[region, zero], len, None, self.loc);
    }

    /// The buffers of a region of such elements, and the index in them, checked by `check`.
    pub(super) fn place(
        &mut self,
        check: Op,
        [region, mut index]: [Value; 2],
        pointee: Ty,
    ) -> (Value, Option<Value>, Value) {
        let structure = Structure(element(pointee));
        let field = |lowering: &mut Self, field| {
            lowering.op(Op::LoadField, &[region], field_imm(structure, field), Some(Type::Ref))
        };
        if self.checks == Checks::Off && !pointee.is_pointer() {
            return (region, None, index);
        }
        if self.checks == Checks::On {
            index = self.op(check, &[region, index], field_imm(structure, LEN), None);
        }
        let data = field(self, DATA);
        let offsets = pointee.is_pointer().then(|| field(self, OFFSETS));
        (data, offsets, index)
    }

    pub(super) fn store(&mut self, pointer: Var, value: Var) {
        let pointer_ty = self.source.vars[pointer].ty;
        let Some(pointee) = pointer_ty.pointee() else { return };
        let words = self.pointer(pointer);
        let values: Vec<Value> = self.words(value).collect();
        let (data, offsets, at) = self.place(Op::CheckWrite, words, pointee);
        let class = u64::from(element(pointee));
        let args = [data, at, values[0]];
        self.f.append(self.block, Op::StoreElem, &args, class, None, self.loc);
        if let (Some(offsets), Some(&index)) = (offsets, values.get(1)) {
            let args = [offsets, at, index];
            let class = u64::from(INDICES.0);
            self.f.append(self.block, Op::StoreElem, &args, class, None, self.loc);
        }
    }

    pub(super) fn load(&mut self, dest: Var, pointer: Var) {
        let pointer_ty = self.source.vars[pointer].ty;
        let Some(pointee) = pointer_ty.pointee() else { return };
        let words = self.pointer(pointer);
        let (data, offsets, at) = self.place(Op::CheckRead, words, pointee);
        let class = u64::from(element(pointee));
        let home = self.homes[dest.index()];
        if let (Some(offsets), Some(index)) = (offsets, home.index) {
            self.assign(index, Op::LoadElem, &[offsets, at], u64::from(INDICES.0));
        }
        let dest = self.dest(dest);
        self.assign(dest, Op::LoadElem, &[data, at], class);
    }
}
