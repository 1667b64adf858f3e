//! Instructions over places → bytes.

use super::Emitter;
use super::arrays::ArrayOp;
use super::cold::ColdKind;
use crate::mach::{PReg, Place, RegClass, RelocTarget, Relocation};
use crate::x64::emit::{Mem, Rmi};
use crate::x64::inst::{
    Addr, AluOp, Base, Callee, Compare, CompareKind, Cond, FloatBits, Inst, Scale, ShiftOp, SignOp,
    Src, UnaryOp, Width,
};
use crate::x64::regs::{CONTEXT, R10, RAX, RDI, RDX, RSP, SCRATCH};
use toyjit_runtime::Rt;
use toyjit_runtime::context::{FUEL, NURSERY_END, NURSERY_NEXT};
use toyjit_runtime::fault::{self, Fault};
use toyjit_runtime::layout::{CLOSURE_CODE, HEADER_LOG_BYTE, LOG_MASK};
use toyjit_runtime::region::{REGION_LEN, REGION_READY};

/// The register that a place is, where only a register may stand.
pub(super) fn reg(place: Place) -> PReg {
    place.reg().expect("the allocator gives a register where one is asked for")
}

impl Emitter<'_> {
    pub(super) fn mem(&self, addr: Addr<Place>) -> Mem {
        let (base, disp) = match addr.base {
            Base::Reg(base) => (reg(base), addr.disp),
            Base::Context => (CONTEXT, addr.disp),
            Base::Outgoing => (RSP, addr.disp),
            Base::Incoming if fault::is(Fault::IncomingOffset) => {
                (RSP, addr.disp + self.plan.frame.size() as i32)
            }
            Base::Incoming => (RSP, addr.disp + self.plan.frame.size() as i32 + 8),
        };
        let index = addr.index.map(|(index, scale)| (reg(index), scale));
        Mem::At { base, index, disp }
    }

    fn src(&mut self, src: Src<Place>) -> Rmi {
        match src {
            Src::Reg(Place::Reg(reg)) => Rmi::Reg(reg),
            Src::Reg(Place::Slot(slot)) => Rmi::Mem(self.slot(slot)),
            Src::Mem(addr) => Rmi::Mem(self.mem(addr)),
            Src::Imm(imm) => Rmi::Imm(imm),
            Src::Float(FloatBits(bits)) => Rmi::Mem(self.asm.literal(bits)),
        }
    }

    /// A two-address operand: the allocator has put the first operand where the result goes.
    fn same(&self, dst: Place, first: Place) -> PReg {
        debug_assert_eq!(dst, first, "two-address operands share a register");
        reg(dst)
    }

    /// All instructions but terminators. `index` is the instruction's own.
    pub(super) fn inst(&mut self, inst: &Inst<Place>, index: u32) {
        match *inst {
            Inst::Args { .. } => {}
            Inst::Copy { class, dst, src } => self.copy(class, reg(dst), reg(src)),
            Inst::Imm { dst, value } => self.asm.mov_imm(reg(dst), value),
            Inst::FloatImm { dst, bits: 0 } => self.asm.float_zero(reg(dst)),
            Inst::FloatImm { dst, bits } => {
                let literal = self.asm.literal(bits);
                self.asm.float_load(reg(dst), literal);
            }
            Inst::Static { dst, target } => self.address(reg(dst), target),
            Inst::Alu { op, dst, lhs, rhs } => {
                let dst = self.same(dst, lhs);
                let rhs = self.src(rhs);
                self.asm.alu(op, dst, rhs);
            }
            Inst::AluHalf { op, dst, lhs, rhs } => {
                let dst = self.same(dst, lhs);
                let rhs = self.src(rhs);
                if fault::is(Fault::HalfIsWord) {
                    self.asm.alu(op, dst, rhs);
                } else {
                    self.asm.alu_half(op, dst, rhs);
                }
            }
            Inst::AluMem { op, addr, rhs } => {
                let rhs = self.src(rhs);
                self.asm.alu_mem(op, self.mem(addr), rhs);
            }
            Inst::MulImm { dst, src, imm } => {
                let src = self.src(src);
                self.asm.mul_imm(reg(dst), src, imm);
            }
            Inst::Lea { dst, addr } => self.lea(reg(dst), self.mem(addr)),
            Inst::Unary { op, dst, src } => {
                let dst = self.same(dst, src);
                match op {
                    UnaryOp::Neg => self.asm.neg(dst),
                    UnaryOp::Not => self.asm.not(dst),
                }
            }
            Inst::Abs { dst, src } => {
                self.asm.mov(reg(dst), Rmi::Reg(reg(src)));
                self.asm.neg(reg(dst));
                self.asm.cmov_negative(reg(dst), reg(src));
            }
            Inst::Zext { width, dst, src } => self.asm.zext(width, reg(dst), reg(src)),
            Inst::Shift { op, dst, src, count } => {
                let dst = self.same(dst, src);
                if count != 0 {
                    self.asm.shift(op, dst, count);
                }
            }
            Inst::ShiftCl { op, dst, src, .. } => self.asm.shift_cl(op, self.same(dst, src)),
            Inst::ShiftX { op, dst, src, count } => {
                self.asm.shift_x(op, reg(dst), reg(src), reg(count));
            }
            Inst::BitCount { op, dst, src } => {
                let src = self.src(src);
                self.asm.bit_count(op, reg(dst), src);
            }
            Inst::MulHigh { rhs, .. } => {
                let rhs = self.src(rhs);
                self.asm.mul_high(rhs);
            }
            Inst::Div { rhs, .. } => self.divide(reg(rhs), false),
            Inst::Rem { rhs, .. } => self.divide(reg(rhs), true),
            Inst::Load { width, dst, addr } => self.asm.load(width, reg(dst), self.mem(addr)),
            Inst::Store { width, addr, src } => {
                let src = self.src(src);
                self.asm.store(width, self.mem(addr), src);
            }
            Inst::FloatLoad { dst, addr } => self.asm.float_load(reg(dst), self.mem(addr)),
            Inst::FloatStore { addr, src } => self.asm.float_store(self.mem(addr), reg(src)),
            Inst::FloatAlu { op, dst, lhs, rhs } => {
                let dst = self.same(dst, lhs);
                let rhs = self.src(rhs);
                self.asm.float_alu(op, dst, rhs);
            }
            Inst::FloatSign { op, dst, src } => {
                let dst = self.same(dst, src);
                match op {
                    SignOp::Neg => self.asm.float_xor(dst, 1 << 63),
                    SignOp::Abs => self.asm.float_and(dst, u64::MAX >> 1),
                }
            }
            Inst::FloatSqrt { dst, src } => {
                let src = self.src(src);
                self.cut_dependency(reg(dst), src);
                self.asm.sqrt(reg(dst), src);
            }
            Inst::FloatRound { mode, dst, src } => {
                let src = self.src(src);
                self.cut_dependency(reg(dst), src);
                self.asm.round(mode, reg(dst), src);
            }
            Inst::IntToFloat { dst, src } => {
                let src = self.src(src);
                self.asm.float_zero(reg(dst));
                self.asm.int_to_float(reg(dst), src);
            }
            Inst::FloatToInt { dst, src } => {
                let (dst, src) = (reg(dst), reg(src));
                let (cold, back) = self.cold(ColdKind::FloatToInt { dst, src });
                // What can't be converted gives MIN, the only number less than which 1 overflows.
                self.asm.float_to_int(dst, src);
                self.asm.cmp(Rmi::Reg(dst), Rmi::Imm(1));
                self.asm.jump_overflow(cold);
                self.asm.bind(back);
            }
            Inst::Set { compare, dst } => self.set(&compare, reg(dst)),
            Inst::Select { class, ref compare, dst, on_true, on_false } => {
                let dst = self.same(dst, on_false);
                let on_true = self.src(on_true);
                self.compare(compare);
                match class {
                    RegClass::Int => self.select_int(compare.cond, dst, on_true),
                    RegClass::Float => self.select_float(compare.cond, dst, on_true),
                }
            }
            Inst::CheckBounds { index, len } => {
                let (index, len) = (self.src(index), self.src(len));
                let (cold, _) = self.cold(ColdKind::Bounds { index, len });
                match index {
                    Rmi::Imm(_) => {
                        self.asm.cmp(len, index);
                        self.asm.jump_if(Cond::Be, cold);
                    }
                    Rmi::Reg(_) | Rmi::Mem(_) => {
                        self.asm.cmp(index, len);
                        self.asm.jump_if(
                            if fault::is(Fault::BoundsSigned) { Cond::Ge } else { Cond::Ae },
                            cold,
                        );
                    }
                }
            }
            Inst::CheckRegion { write, region, index } => {
                let (region, index) = (reg(region), self.src(index));
                let (cold, back) = self.cold(ColdKind::Region { write, region, index });
                let limit = match fault::is(Fault::RegionLength) {
                    true => REGION_LEN,
                    false => REGION_READY,
                };
                let ready = Mem::at(region, limit as i32);
                match index {
                    Rmi::Imm(_) => {
                        self.asm.cmp(Rmi::Mem(ready), index);
                        self.asm.jump_if(Cond::Be, cold);
                    }
                    Rmi::Reg(_) | Rmi::Mem(_) => {
                        self.asm.cmp(index, Rmi::Mem(ready));
                        self.asm.jump_if(
                            if fault::is(Fault::RegionSigned) { Cond::Ge } else { Cond::Ae },
                            cold,
                        );
                    }
                }
                self.asm.bind(back);
            }
            Inst::CheckZero { value, trap } => {
                let value = self.src(value);
                let (cold, _) = self.cold(ColdKind::Zero(trap));
                match value {
                    Rmi::Reg(reg) => self.asm.test(reg, value),
                    Rmi::Mem(_) | Rmi::Imm(_) => self.asm.cmp(value, Rmi::Imm(0)),
                }
                self.asm.jump_if(Cond::E, cold);
            }
            Inst::Barrier { .. } if fault::is(Fault::NoBarrier) => {}
            Inst::Barrier { object } => {
                let object = reg(object);
                let (cold, back) = self.cold(ColdKind::Remember(object));
                self.asm.test_byte(Mem::at(object, HEADER_LOG_BYTE as i32), LOG_MASK);
                self.asm.jump_if(Cond::Ne, cold);
                self.asm.bind(back);
            }
            Inst::Alloc { dst, size, header } => self.allocate(reg(dst), size, header, index),
            Inst::Call { callee, .. } => self.call(callee, index),
            Inst::Burn => {
                let (cold, _) = self.cold(ColdKind::Fuel);
                self.asm.alu_mem(AluOp::Sub, Mem::context(FUEL), Rmi::Imm(1));
                self.asm.jump_if(Cond::B, cold);
            }
            Inst::Poll
            | Inst::Jump
            | Inst::Branch { .. }
            | Inst::Switch { .. }
            | Inst::Return { .. }
            | Inst::Unreachable => {}
        }
    }

    /// An address; by a move or an addition where that is all.
    fn lea(&mut self, dst: PReg, addr: Mem) {
        match addr {
            Mem::At { base, index: None, disp: 0 } => self.copy(RegClass::Int, dst, base),
            Mem::At { base, index: None, disp } if base == dst => {
                self.asm.alu(AluOp::Add, dst, Rmi::Imm(disp));
            }
            Mem::At { base, index: Some((index, Scale::One)), disp: 0 } if base == dst => {
                self.asm.alu(AluOp::Add, dst, Rmi::Reg(index));
            }
            _ => self.asm.lea(dst, addr),
        }
    }

    /// `sqrtsd` and the like keep the upper half of their result's register, and so wait for it.
    fn cut_dependency(&mut self, dst: PReg, src: Rmi) {
        if src != Rmi::Reg(dst) {
            self.asm.float_zero(dst);
        }
    }

    pub(super) fn copy(&mut self, class: RegClass, dst: PReg, src: PReg) {
        match class {
            _ if dst == src => {}
            RegClass::Int => self.asm.mov(dst, Rmi::Reg(src)),
            RegClass::Float => self.asm.float_mov(dst, src),
        }
    }

    /// The address of what the linker knows.
    pub(super) fn address(&mut self, dst: PReg, target: RelocTarget) {
        let relative = matches!(target, RelocTarget::Function(_) | RelocTarget::Stub(_));
        let offset = if relative { self.asm.lea_hole(dst) } else { self.asm.mov_hole(dst) };
        self.relocations.push(Relocation { offset, target, relative });
    }

    /// `rax` by a register. Where both fit 32 bits without a sign, the fast division does; the slow
    /// one also sees to -1, of which the smallest number has no quotient.
    fn divide(&mut self, by: PReg, remainder: bool) {
        let (cold, back) = self.cold(ColdKind::Divide { by, remainder });
        self.asm.mov(SCRATCH, Rmi::Reg(RAX));
        self.asm.alu(AluOp::Or, SCRATCH, Rmi::Reg(by));
        self.asm.shift(ShiftOp::Shr, SCRATCH, 32);
        self.asm.jump_if(Cond::Ne, cold);
        self.asm.mov_imm(RDX, 0);
        self.asm.div32(by);
        self.asm.bind(back);
    }

    pub(super) fn compare(&mut self, compare: &Compare<Place>) {
        let (lhs, rhs) = (self.src(compare.lhs), self.src(compare.rhs));
        self.compare_operands(compare.kind, lhs, rhs);
    }

    fn compare_operands(&mut self, kind: CompareKind, lhs: Rmi, rhs: Rmi) {
        match (kind, lhs) {
            (CompareKind::Int, _) => self.asm.cmp(lhs, rhs),
            (CompareKind::Byte, Rmi::Mem(lhs)) => match rhs {
                Rmi::Imm(imm) => self.asm.cmp_byte(lhs, imm.to_le_bytes()[0]),
                Rmi::Reg(_) | Rmi::Mem(_) => unreachable!("an immediate on the right"),
            },
            (CompareKind::Test, Rmi::Reg(lhs)) => self.asm.test(lhs, rhs),
            (CompareKind::Float, Rmi::Reg(lhs)) => self.asm.float_cmp(lhs, rhs),
            (_, _) => unreachable!("no such comparison"),
        }
    }

    fn set(&mut self, compare: &Compare<Place>, dst: PReg) {
        let (lhs, rhs) = (self.src(compare.lhs), self.src(compare.rhs));
        let clear_first = !lhs.reads(dst) && !rhs.reads(dst);
        if clear_first {
            self.asm.mov_imm(dst, 0);
        }
        self.compare_operands(compare.kind, lhs, rhs);
        if fault::is(Fault::ZeroBetween) && clear_first {
            self.asm.mov_imm(dst, 0);
        }
        match compare.cond {
            Cond::FloatE => {
                self.asm.set_ordered(SCRATCH);
                self.asm.set(Cond::E, dst);
                self.asm.alu(AluOp::And, dst, Rmi::Reg(SCRATCH));
            }
            Cond::FloatNe => {
                self.asm.set_unordered(SCRATCH);
                self.asm.set(Cond::Ne, dst);
                self.asm.alu(AluOp::Or, dst, Rmi::Reg(SCRATCH));
            }
            cond => self.asm.set(cond, dst),
        }
        // The scratch register's other bytes came along.
        if !fault::is(Fault::BoolDirty) && !clear_first
            || matches!(compare.cond, Cond::FloatE | Cond::FloatNe)
        {
            self.asm.zext(Width::Byte, dst, dst);
        }
    }

    fn select_int(&mut self, cond: Cond, dst: PReg, on_true: Rmi) {
        let src = match on_true {
            Rmi::Reg(src) => src,
            Rmi::Mem(_) | Rmi::Imm(_) => {
                self.asm.mov_keeping_flags(SCRATCH, on_true);
                SCRATCH
            }
        };
        match cond {
            Cond::FloatNe => {
                self.asm.cmov(Cond::Ne, dst, src);
                self.asm.cmov_unordered(dst, src);
            }
            Cond::FloatE => {
                self.copy(RegClass::Int, SCRATCH, src);
                self.asm.cmov(Cond::Ne, SCRATCH, dst);
                if !fault::is(Fault::FloatEqNan) {
                    self.asm.cmov_unordered(SCRATCH, dst);
                }
                self.asm.mov(dst, Rmi::Reg(SCRATCH));
            }
            cond => self.asm.cmov(cond, dst, src),
        }
    }

    fn select_float(&mut self, cond: Cond, dst: PReg, on_true: Rmi) {
        let skip = self.asm.label();
        self.asm.jump_if(cond.inverted(), skip);
        match on_true {
            Rmi::Reg(src) => self.copy(RegClass::Float, dst, src),
            Rmi::Mem(mem) => self.asm.float_load(dst, mem),
            Rmi::Imm(_) => unreachable!("no immediate floats"),
        }
        self.asm.bind(skip);
    }

    fn allocate(&mut self, dst: PReg, size: u32, header: u32, inst: u32) {
        let (cold, back) = self.cold(ColdKind::Alloc { dst, size, header, inst });
        self.asm.load(Width::Word, dst, Mem::context(NURSERY_NEXT));
        self.asm.lea(SCRATCH, Mem::at(dst, size.cast_signed()));
        self.asm.cmp(Rmi::Reg(SCRATCH), Rmi::Mem(Mem::context(NURSERY_END)));
        self.asm.jump_if(Cond::A, cold);
        self.asm.store(Width::Word, Mem::context(NURSERY_NEXT), Rmi::Reg(SCRATCH));
        self.asm.store(Width::Word, Mem::at(dst, 0), Rmi::Imm(header.cast_signed()));
        self.asm.bind(back);
    }

    fn call(&mut self, callee: Callee, inst: u32) {
        if let Callee::Runtime(row) = callee
            && let Some(array_op) = ArrayOp::of(row)
        {
            return self.array_op(array_op, row, inst);
        }
        match callee {
            Callee::Function(function) => {
                let offset = self.asm.call_hole();
                let target = RelocTarget::Function(function);
                self.relocations.push(Relocation { offset, target, relative: true });
            }
            Callee::Value => self.asm.call_mem(Mem::at(R10, CLOSURE_CODE as i32)),
            Callee::Runtime(row) => return self.call_runtime(row, inst),
        }
        self.site(Some(inst));
    }

    /// Arguments are in place.
    pub(super) fn call_runtime(&mut self, row: Rt, inst: u32) {
        let needs_site = Callee::Runtime(row).needs_site();
        if needs_site {
            self.note_stack();
        }
        if row.entry().takes_context {
            self.asm.mov(RDI, Rmi::Reg(CONTEXT));
        }
        self.asm.call_mem(Mem::context(row.offset()));
        if needs_site {
            self.site(Some(inst));
        }
    }
}
