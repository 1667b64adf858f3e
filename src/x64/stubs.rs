//! Code that a module's functions share: slow paths that leave all registers as they are.
//!
//! A stub is called from cold code with the stack aligned, takes its operand in `r11` and gives its
//! result there. It saves the other registers that the runtime does not preserve; of float
//! registers the low halves, which hold all there is.

use super::emit::{Asm, Mem, Rmi, ShortJumps};
use super::inst::{AluOp, Cond, ShiftOp, Width};
use super::regs::{CALLER_SAVED, CONTEXT, RAX, RCX, RDI, RDX, RSI, RSP, SCRATCH};
use crate::mach::{CompiledFunction, PReg, RegClass};
use toyjit_runtime::Rt;
use toyjit_runtime::context::{REGION, REGION_INDEX};
use toyjit_runtime::region::{REGION_LEN, REGION_MAP, REGION_MAP_AT};

/// The stubs; a relocation names one by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Stub {
    /// `r11` holds size and header, in the upper and the lower half; the answer is the new object.
    Alloc,
    /// `r11` holds an object to be remembered.
    Remember,
    /// The context holds a region and an index to be loaded from.
    RegionRead,
    /// The same for a store.
    RegionWrite,
}

impl Stub {
    /// All stubs in the order of their numbers.
    pub const ALL: [Stub; 4] = [Stub::Alloc, Stub::Remember, Stub::RegionRead, Stub::RegionWrite];

    /// As shown in disassembly.
    pub fn name(self) -> &'static str {
        match self {
            Stub::Alloc => "stub::alloc",
            Stub::Remember => "stub::remember",
            Stub::RegionRead => "stub::region_read",
            Stub::RegionWrite => "stub::region_write",
        }
    }

    /// Its code.
    pub fn code(self) -> CompiledFunction {
        let mut asm = Asm::new(ShortJumps::None);
        if matches!(self, Stub::RegionRead | Stub::RegionWrite) {
            look_at_map(&mut asm);
        }
        let (ints, floats): (Vec<PReg>, Vec<PReg>) =
            CALLER_SAVED.iter().partition(|reg| reg.class() == RegClass::Int);
        for &reg in &ints {
            asm.push(Rmi::Reg(reg));
        }
        // With the return address the pushes keep `rsp` aligned or not, as their number tells.
        let mut bytes = 8 * floats.len() as i32;
        if (bytes + 8 * ints.len() as i32) % 16 == 0 {
            bytes += 8;
        }
        let slot = |i: usize| Mem::at(RSP, 8 * i as i32);
        asm.alu(AluOp::Sub, RSP, Rmi::Imm(bytes));
        for (i, &reg) in floats.iter().enumerate() {
            asm.float_store(slot(i), reg);
        }
        asm.mov(RDI, Rmi::Reg(CONTEXT));
        let row = match self {
            Stub::Alloc => {
                asm.mov(RSI, Rmi::Reg(SCRATCH));
                asm.shift(ShiftOp::Shr, RSI, 32);
                asm.zext(Width::Half, RDX, SCRATCH);
                Rt::AllocSlow
            }
            Stub::Remember => {
                asm.mov(RSI, Rmi::Reg(SCRATCH));
                Rt::Remember
            }
            Stub::RegionRead | Stub::RegionWrite => {
                asm.mov(RSI, Rmi::Mem(Mem::context(REGION)));
                asm.mov(RDX, Rmi::Mem(Mem::context(REGION_INDEX)));
                match self {
                    Stub::RegionRead => Rt::RegionRead,
                    _ => Rt::RegionWrite,
                }
            }
        };
        asm.call_mem(Mem::context(row.offset()));
        asm.mov(SCRATCH, Rmi::Reg(RAX));
        for (i, &reg) in floats.iter().enumerate() {
            asm.float_load(reg, slot(i));
        }
        asm.alu(AluOp::Add, RSP, Rmi::Imm(bytes));
        for &reg in ints.iter().rev() {
            asm.pop(reg);
        }
        asm.ret();
        let code_len = asm.finish_code();
        CompiledFunction {
            code_len,
            frame_size: bytes.cast_unsigned() + 8 * ints.len() as u32,
            bytes: asm.finish(),
            ..CompiledFunction::default()
        }
    }
}

/// Returns where an element of the region in the context is in bounds and was stored before.
fn look_at_map(asm: &mut Asm) {
    const USED: [PReg; 3] = [RAX, RCX, RDX];
    let field = |offset: u64| Rmi::Mem(Mem::at(RAX, offset as i32));
    let (outside, slow) = (asm.label(), asm.label());
    for reg in USED {
        asm.push(Rmi::Reg(reg));
    }
    asm.mov(RAX, Rmi::Mem(Mem::context(REGION)));
    asm.mov(RCX, Rmi::Mem(Mem::context(REGION_INDEX)));
    asm.cmp(Rmi::Reg(RCX), field(REGION_LEN));
    asm.jump_if(Cond::Ae, outside);
    asm.mov(RDX, field(REGION_MAP));
    asm.alu(AluOp::Add, RDX, field(REGION_MAP_AT));
    asm.mov(SCRATCH, Rmi::Reg(RCX));
    asm.shift(ShiftOp::Shr, SCRATCH, 6);
    asm.shift(ShiftOp::Shl, SCRATCH, 3);
    asm.alu(AluOp::Add, RDX, Rmi::Reg(SCRATCH));
    asm.mov(SCRATCH, Rmi::Mem(Mem::at(RDX, 0)));
    asm.shift_cl(ShiftOp::Shr, SCRATCH);
    asm.alu(AluOp::And, SCRATCH, Rmi::Imm(1));
    for &reg in USED.iter().rev() {
        asm.pop(reg);
    }
    asm.jump_if(Cond::E, slow);
    asm.ret();
    asm.bind(outside);
    for &reg in USED.iter().rev() {
        asm.pop(reg);
    }
    asm.bind(slow);
}
