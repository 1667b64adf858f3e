//! The x86-64 target: registers, machine instructions, selection, calling convention, emission.

pub mod abi;
pub mod features;
pub mod inst;
pub mod regs;

mod isel;
mod layout;
mod emit;
