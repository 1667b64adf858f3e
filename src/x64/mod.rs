//! The x86-64 target: registers, machine instructions, selection, calling convention, emission.
//!
//! `select` makes instructions of SSA by demand, `emit` makes bytes of what was selected and
//! allocated. Convention: `r15` holds the context; frames hang on `rsp` and have a fixed size;
//! arguments go as `abi` says; what may end the run or collect is reached through the context's
//! table, with the stack pointer noted in the context first.

pub mod abi;
pub mod disasm;
pub mod dump;
pub mod features;
pub mod inst;
pub mod regs;
pub mod stubs;

mod code;
mod emit;
mod isel;
mod layout;
mod length;
mod operand;

pub use features::Features;
pub use inst::Inst;
pub use stubs::Stub;

use crate::ir::{Block, Cfg, FuncRef, Function, Module};
use crate::mach::{Allocation, CompiledFunction, RegisterFile, Target, VCode};
use layout::Layout;

/// The target.
#[derive(Clone, Debug)]
pub struct X64 {
    /// What the processor can do.
    pub features: Features,
    /// Whether a run can be ended from outside while it is in a loop.
    pub polls: bool,
    registers: RegisterFile,
}

impl X64 {
    /// For a processor with these features.
    pub fn new(features: Features) -> Self {
        let registers = regs::register_file();
        Self { features, polls: true, registers }
    }

    /// With as few registers as can be.
    pub fn with_few_registers(mut self) -> Self {
        self.registers.allocatable.retain(|&reg| regs::FEW.contains(reg));
        self
    }

    /// The blocks of a function in the order that selection gives them.
    pub fn order(function: &Function) -> Vec<Block> {
        let cfg = Cfg::compute(function);
        Layout::compute(function, &cfg).order.to_vec()
    }

    /// For the processor at hand.
    pub fn native() -> Self {
        Self::new(Features::detect())
    }
}

impl Target for X64 {
    type Inst = Inst;

    fn select(&self, module: &Module, function: FuncRef) -> VCode<Inst> {
        isel::select(module, function, self.features, self.polls)
    }

    fn registers(&self) -> &RegisterFile {
        &self.registers
    }

    fn emit(&self, code: &VCode<Inst>, allocation: &Allocation) -> CompiledFunction {
        code::emit(code, allocation)
    }
}
#[cfg(test)]
mod tests;
