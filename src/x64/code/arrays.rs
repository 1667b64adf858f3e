//! `push` and `pop` without a call where there is room, or something to take.
//!
//! They are calls like any other to the allocator: operands are in the registers of the convention,
//! and all others are free. The common case is done in line; what the runtime does besides (more
//! room, the trap, remembering an old object, bytes and bools popped) is left to the call, which
//! stands in the cold code.

use super::Emitter;
use super::cold::ColdKind;
use crate::x64::emit::{Label, Mem, Rmi};
use crate::x64::inst::{AluOp, Cond, Scale, Width};
use crate::x64::regs::{RAX, RCX, RDX, RSI, XMM0};
use toyjit_runtime::Rt;
use toyjit_runtime::layout::{
    ARRAY_DATA, ARRAY_LEN, BUFFER_CAPACITY, BUFFER_ELEMENTS, HEADER_LOG_BYTE, LOG_MASK, Slot,
};
use toyjit_runtime::types::array_type;

/// What is done to an array of such elements.
#[derive(Clone, Copy)]
pub(super) enum ArrayOp {
    Push(Slot),
    Pop(Slot),
}

impl ArrayOp {
    /// The operation of a row of the runtime's table; ints stand for bools and bytes, too.
    pub(super) fn of(row: Rt) -> Option<ArrayOp> {
        Some(match row {
            Rt::ArrayPushInt => ArrayOp::Push(Slot::Int),
            Rt::ArrayPushFloat => ArrayOp::Push(Slot::Float),
            Rt::ArrayPushRef => ArrayOp::Push(Slot::Ref),
            Rt::ArrayPopInt => ArrayOp::Pop(Slot::Int),
            Rt::ArrayPopFloat => ArrayOp::Pop(Slot::Float),
            Rt::ArrayPopRef => ArrayOp::Pop(Slot::Ref),
            _ => return None,
        })
    }
}

const LEN: Mem = Mem::At { base: RSI, index: None, disp: ARRAY_LEN as i32 };

impl Emitter<'_> {
    pub(super) fn array_op(&mut self, op: ArrayOp, row: Rt, inst: u32) {
        let (slow, back) = self.cold(ColdKind::Call { row, inst });
        match op {
            ArrayOp::Push(slot) => self.push(slot, slow),
            ArrayOp::Pop(slot) => self.pop(slot, slow),
        }
        self.asm.bind(back);
    }

    /// Leaves bools and bytes to the runtime.
    fn check_int(&mut self, slot: Slot, slow: Label) {
        if slot == Slot::Int {
            self.asm.cmp_half(Mem::at(RSI, 0), array_type(Slot::Int).cast_signed());
            self.asm.jump_if(Cond::Ne, slow);
        }
    }

    fn push(&mut self, slot: Slot, slow: Label) {
        self.asm.load(Width::Word, RAX, Mem::at(RSI, ARRAY_DATA as i32));
        self.asm.test(RAX, Rmi::Reg(RAX));
        self.asm.jump_if(Cond::E, slow);
        self.asm.load(Width::Word, RCX, LEN);
        self.asm.cmp(Rmi::Reg(RCX), Rmi::Mem(Mem::at(RAX, BUFFER_CAPACITY as i32)));
        self.asm.jump_if(Cond::Ae, slow);
        if slot == Slot::Ref {
            self.asm.test_byte(Mem::at(RAX, HEADER_LOG_BYTE as i32), LOG_MASK);
            self.asm.jump_if(Cond::Ne, slow);
        }
        let index = Some((RCX, Scale::Eight));
        let element = Mem::At { base: RAX, index, disp: BUFFER_ELEMENTS as i32 };
        match slot {
            Slot::Float => self.asm.float_store(element, XMM0),
            Slot::Ref => self.asm.store(Width::Word, element, Rmi::Reg(RDX)),
            _ => self.store_int(element),
        }
        self.asm.alu(AluOp::Add, RCX, Rmi::Imm(1));
        self.asm.store(Width::Word, LEN, Rmi::Reg(RCX));
    }

    /// Stores an element of an array of ints, or a byte where the array is one of bytes or bools.
    fn store_int(&mut self, element: Mem) {
        let (bytes, done) = (self.asm.label(), self.asm.label());
        self.asm.cmp_half(Mem::at(RSI, 0), array_type(Slot::Int).cast_signed());
        self.asm.jump_if(Cond::Ne, bytes);
        self.asm.store(Width::Word, element, Rmi::Reg(RDX));
        self.asm.jmp(done);
        self.asm.bind(bytes);
        let index = Some((RCX, Scale::One));
        let byte = Mem::At { base: RAX, index, disp: BUFFER_ELEMENTS as i32 };
        self.asm.store(Width::Byte, byte, Rmi::Reg(RDX));
        self.asm.bind(done);
    }

    fn pop(&mut self, slot: Slot, slow: Label) {
        self.check_int(slot, slow);
        self.asm.load(Width::Word, RCX, LEN);
        self.asm.alu(AluOp::Sub, RCX, Rmi::Imm(1));
        self.asm.jump_if(Cond::L, slow);
        self.asm.load(Width::Word, RDX, Mem::at(RSI, ARRAY_DATA as i32));
        let index = Some((RCX, Scale::Eight));
        let element = Mem::At { base: RDX, index, disp: BUFFER_ELEMENTS as i32 };
        match slot {
            Slot::Float => self.asm.float_load(XMM0, element),
            _ => self.asm.load(Width::Word, RAX, element),
        }
        if slot == Slot::Ref {
            // What lies behind the length holds no reference.
            self.asm.store(Width::Word, element, Rmi::Imm(0));
        }
        self.asm.store(Width::Word, LEN, Rmi::Reg(RCX));
    }
}
