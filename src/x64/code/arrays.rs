//! `push` and `pop` without a call where there is room, or something to take.
//!
//! They are calls like any other to the allocator: operands are in the registers of the convention,
//! and all others are free. The common case is done in line; what the runtime does besides (more
//! room, the trap, remembering an old object) is left to the call, which stands in the cold code.
//! The rows for ints serve bools and bytes, too: those arrays are told by their type, and have code
//! of their own behind the function.

use super::Emitter;
use super::cold::ColdKind;
use crate::mach::PReg;
use crate::x64::emit::{Label, Mem, Rmi};
use crate::x64::inst::{AluOp, Cond, Scale, Width};
use crate::x64::regs::{RAX, RCX, RDX, RSI, XMM0};
use toyjit_runtime::Rt;
use toyjit_runtime::fault::{self, Fault};
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

/// Element `rcx` of a buffer.
fn element(slot: Slot, buffer: PReg) -> (Mem, Width) {
    let (scale, width) = match slot {
        Slot::Bool | Slot::Byte => (Scale::One, Width::Byte),
        Slot::Int | Slot::Float | Slot::Ref => (Scale::Eight, Width::Word),
    };
    (Mem::At { base: buffer, index: Some((RCX, scale)), disp: BUFFER_ELEMENTS as i32 }, width)
}

const LEN: Mem = Mem::At { base: RSI, index: None, disp: ARRAY_LEN as i32 };

impl Emitter<'_> {
    pub(super) fn array_op(&mut self, op: ArrayOp, row: Rt, inst: u32) {
        let (slow, back) = self.cold(ColdKind::Call { row, inst });
        if let ArrayOp::Push(Slot::Int) | ArrayOp::Pop(Slot::Int) = op {
            let (bytes, _) = self.cold(ColdKind::Bytes { op, slow, back });
            self.asm.cmp_half(Mem::at(RSI, 0), array_type(Slot::Int).cast_signed());
            self.asm.jump_if(Cond::Ne, bytes);
        }
        self.in_line(op, slow);
        self.asm.bind(back);
    }

    /// The common case; else on to `slow`.
    fn in_line(&mut self, op: ArrayOp, slow: Label) {
        match op {
            ArrayOp::Push(slot) => self.push(slot, slow),
            ArrayOp::Pop(slot) => self.pop(slot, slow),
        }
    }

    /// The same for an array of bytes or bools.
    pub(super) fn in_line_bytes(&mut self, op: ArrayOp, slow: Label, back: Label) {
        self.in_line(
            match op {
                ArrayOp::Push(_) => ArrayOp::Push(Slot::Byte),
                ArrayOp::Pop(_) => ArrayOp::Pop(Slot::Byte),
            },
            slow,
        );
        self.asm.jmp(back);
    }

    fn push(&mut self, slot: Slot, slow: Label) {
        self.asm.load(Width::Word, RAX, Mem::at(RSI, ARRAY_DATA as i32));
        self.asm.test(RAX, Rmi::Reg(RAX));
        self.asm.jump_if(Cond::E, slow);
        self.asm.load(Width::Word, RCX, LEN);
        self.asm.cmp(Rmi::Reg(RCX), Rmi::Mem(Mem::at(RAX, BUFFER_CAPACITY as i32)));
        self.asm.jump_if(Cond::Ae, slow);
        if slot == Slot::Ref && !fault::is(Fault::PushNoBarrier) {
            self.asm.test_byte(Mem::at(RAX, HEADER_LOG_BYTE as i32), LOG_MASK);
            self.asm.jump_if(Cond::Ne, slow);
        }
        let (element, width) = element(slot, RAX);
        match slot {
            Slot::Float => self.asm.float_store(element, XMM0),
            _ => self.asm.store(width, element, Rmi::Reg(RDX)),
        }
        self.asm.alu(AluOp::Add, RCX, Rmi::Imm(1));
        self.asm.store(Width::Word, LEN, Rmi::Reg(RCX));
    }

    fn pop(&mut self, slot: Slot, slow: Label) {
        self.asm.load(Width::Word, RCX, LEN);
        self.asm.alu(AluOp::Sub, RCX, Rmi::Imm(1));
        self.asm.jump_if(Cond::L, slow);
        self.asm.load(Width::Word, RDX, Mem::at(RSI, ARRAY_DATA as i32));
        let (element, width) = element(slot, RDX);
        match slot {
            Slot::Float => self.asm.float_load(XMM0, element),
            _ => self.asm.load(width, RAX, element),
        }
        if slot == Slot::Ref {
            // What lies behind the length holds no reference.
            self.asm.store(Width::Word, element, Rmi::Imm(0));
        }
        self.asm.store(Width::Word, LEN, Rmi::Reg(RCX));
    }
}
