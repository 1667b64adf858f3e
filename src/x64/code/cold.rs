//! Code that is rarely executed: it stands behind the function's other code.

use super::Emitter;
use super::arrays::ArrayOp;
use crate::entity::Entity;
use crate::ir::Loc;
use crate::mach::{Origin, PReg, RelocTarget, Relocation};
use crate::x64::emit::{Label, Mem, Rmi};
use crate::x64::inst::{AluOp, Cond, ZeroTrap};
use crate::x64::regs::{CONTEXT, FSCRATCH, RAX, RDI, RDX, RSI, RSP, SCRATCH};
use crate::x64::stubs::Stub;
use toyjit_runtime::Rt;
use toyjit_runtime::context::{LAST_SP, REGION, REGION_INDEX};
use toyjit_runtime::fault::{self, Fault};
use toyjit_runtime::region::{REGION_BEYOND, REGION_LEN, REGION_READY};

/// A piece of cold code.
pub(super) struct Cold {
    /// Where it begins.
    pub(super) entry: Label,
    /// Where it goes back to; traps and edges do not.
    pub(super) back: Label,
    /// The place in the source.
    pub(super) loc: Loc,
    /// What it does.
    pub(super) kind: ColdKind,
}

pub(super) enum ColdKind {
    /// The index trap.
    Bounds { index: Rmi, len: Rmi },
    /// The check of a region that its number of leading elements does not settle.
    Region { write: bool, region: PReg, index: Rmi },
    /// The nil or division trap.
    Zero(ZeroTrap),
    /// The stack trap, before the frame is made.
    Stack,
    /// The end of a run that was interrupted.
    Poll,
    /// The fuel trap.
    Fuel,
    /// Puts an object into the remembered set.
    Remember(PReg),
    /// Allocates where the nursery is full; `inst` is the safepoint.
    Alloc { dst: PReg, size: u32, header: u32, inst: u32 },
    /// Conversion of what `cvttsd2si` can't convert.
    FloatToInt { dst: PReg, src: PReg },
    /// Division of wide numbers: `rax` by a register.
    Divide { by: PReg, remainder: bool },
    /// `push` or `pop` on an array of bytes or bools.
    Bytes { op: ArrayOp, slow: Label, back: Label },
    /// The call of the runtime that an instruction stands for.
    Call { row: Rt, inst: u32 },
    /// The moves of an edge.
    Edge { moves: usize },
}

impl Emitter<'_> {
    /// A piece of cold code to be emitted later: its labels for entry and return.
    pub(super) fn cold(&mut self, kind: ColdKind) -> (Label, Label) {
        let (entry, back) = (self.asm.label(), self.asm.label());
        self.cold.push(Cold { entry, back, loc: self.loc, kind });
        (entry, back)
    }

    pub(super) fn emit_cold(&mut self, cold: Cold) {
        self.asm.bind(cold.entry);
        self.belongs(match cold.kind {
            ColdKind::Edge { moves } => {
                let edge = &self.plan.allocation.edge_moves[moves];
                Origin::Edge(edge.from, edge.succ)
            }
            _ => Origin::Nowhere,
        });
        if !fault::is(Fault::TrapPlace) {
            self.at(cold.loc);
        }
        match cold.kind {
            ColdKind::Bounds { index, len } => {
                // Through the stack, since either may be where the other one goes.
                self.asm.push(len);
                self.asm.push(match index {
                    Rmi::Mem(mem) => Rmi::Mem(mem.below(8)),
                    index => index,
                });
                self.asm.pop(RSI);
                self.asm.pop(RDX);
                self.trap(Rt::TrapIndex);
            }
            ColdKind::Region { write, region, index } => {
                use crate::x64::inst::Width::Word;
                if write {
                    self.append(region, index, cold.back);
                }
                self.note_stack();
                self.asm.store(Word, Mem::context(REGION), Rmi::Reg(region));
                self.asm.store(Word, Mem::context(REGION_INDEX), index);
                self.call_stub(if write { Stub::RegionWrite } else { Stub::RegionRead });
                self.site(None);
                self.asm.jmp(cold.back);
            }
            ColdKind::Zero(trap) => self.trap(match trap {
                ZeroTrap::Nil => Rt::TrapNil,
                ZeroTrap::Division => Rt::TrapDivision,
            }),
            ColdKind::Stack => {
                self.asm.lea(RSP, Mem::at(RSP, -(self.plan.frame.size() as i32)));
                self.trap(Rt::TrapStack);
            }
            ColdKind::Poll => self.trap(Rt::TrapInterrupt),
            ColdKind::Fuel => self.trap(Rt::TrapFuel),
            ColdKind::Remember(object) => {
                self.asm.mov(SCRATCH, Rmi::Reg(object));
                self.call_stub(Stub::Remember);
                self.asm.jmp(cold.back);
            }
            ColdKind::Alloc { dst, size, header, inst } => {
                self.note_stack();
                let sizes = u64::from(size) << 32 | u64::from(header);
                self.asm.mov_imm(SCRATCH, sizes.cast_signed());
                self.call_stub(Stub::Alloc);
                self.site(Some(inst));
                self.asm.mov(dst, Rmi::Reg(SCRATCH));
                self.asm.jmp(cold.back);
            }
            ColdKind::FloatToInt { dst, src } => {
                let nan = self.asm.label();
                self.asm.float_zero(FSCRATCH);
                self.asm.float_cmp(src, Rmi::Reg(FSCRATCH));
                if !fault::is(Fault::FloatToIntNan) {
                    self.asm.jump_unordered(nan);
                }
                self.asm.jump_if(Cond::B, cold.back);
                self.asm.mov_imm(dst, i64::MAX);
                self.asm.jmp(cold.back);
                self.asm.bind(nan);
                self.asm.mov_imm(dst, 0);
                self.asm.jmp(cold.back);
            }
            ColdKind::Divide { by, remainder } => {
                let minus_one = self.asm.label();
                self.asm.cmp(Rmi::Reg(by), Rmi::Imm(-1));
                if !fault::is(Fault::DivMinusOne) {
                    self.asm.jump_if(Cond::E, minus_one);
                }
                self.asm.cqo();
                self.asm.idiv(by);
                self.asm.jmp(cold.back);
                self.asm.bind(minus_one);
                if remainder {
                    self.asm.mov_imm(RDX, 0);
                } else {
                    self.asm.neg(RAX);
                }
                self.asm.jmp(cold.back);
            }
            ColdKind::Bytes { op, slow, back } => self.in_line_bytes(op, slow, back),
            ColdKind::Call { row, inst } => {
                self.call_runtime(row, inst);
                self.asm.jmp(cold.back);
            }
            ColdKind::Edge { moves } => {
                let edge = &self.plan.allocation.edge_moves[moves];
                let target = self.plan.code.blocks[edge.from].succs[edge.succ as usize].target;
                self.edits(edge.edits.iter().copied());
                self.asm.jmp(self.labels[self.plan.forward[target.index()].index()]);
            }
        }
    }

    /// Notes a store of the element behind those that are ready, where none behind it was stored.
    /// The flags tell of the index and their number.
    fn append(&mut self, region: PReg, index: Rmi, back: Label) {
        let field = |offset: u64| Mem::at(region, offset as i32);
        let other = self.asm.label();
        self.asm.jump_if(Cond::Ne, other);
        match index {
            Rmi::Imm(_) => {
                self.asm.cmp(Rmi::Mem(field(REGION_LEN)), index);
                self.asm.jump_if(Cond::Be, other);
                self.asm.cmp(Rmi::Mem(field(REGION_BEYOND)), index);
                self.asm.jump_if(Cond::A, other);
            }
            Rmi::Reg(_) | Rmi::Mem(_) => {
                self.asm.cmp(index, Rmi::Mem(field(REGION_LEN)));
                self.asm.jump_if(Cond::Ae, other);
                self.asm.cmp(index, Rmi::Mem(field(REGION_BEYOND)));
                self.asm.jump_if(Cond::B, other);
            }
        }
        self.asm.alu_mem(AluOp::Add, field(REGION_READY), Rmi::Imm(1));
        self.asm.jmp(back);
        self.asm.bind(other);
    }

    /// Lets the runtime see the frame.
    pub(super) fn note_stack(&mut self) {
        self.asm.store(crate::x64::inst::Width::Word, Mem::context(LAST_SP), Rmi::Reg(RSP));
    }

    /// Calls a trap of the runtime.
    fn trap(&mut self, row: Rt) {
        self.note_stack();
        self.asm.mov(RDI, Rmi::Reg(CONTEXT));
        self.asm.call_mem(Mem::context(row.offset()));
        self.site(None);
    }

    fn call_stub(&mut self, stub: Stub) {
        let offset = self.asm.call_hole();
        let target = RelocTarget::Stub(stub as u32);
        self.relocations.push(Relocation { offset, target, relative: true });
    }
}
