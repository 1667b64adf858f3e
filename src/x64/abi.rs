//! The calling convention: where arguments and results are.
//!
//! Toy functions and the runtime alike take ints, bools and references in `rdi rsi rdx rcx r8 r9`
//! and floats in `xmm0` to `xmm7`, each class counted by itself, and the rest on the stack in order
//! of appearance; results are in `rax` or `xmm0`. A called function value is in `r10`.

use super::regs::*;
use crate::ir::Type;
use crate::mach::{PReg, RegClass};

/// Where an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgPlace {
    /// In a register.
    Reg(PReg),
    /// In this word of the caller's outgoing area.
    Stack(u32),
}

/// The register of a called closure.
pub const ENVIRONMENT: PReg = R10;

const INTS: [PReg; 6] = [RDI, RSI, RDX, RCX, R8, R9];
const FLOATS: [PReg; 8] = [XMM0, XMM1, XMM2, XMM3, XMM4, XMM5, XMM6, XMM7];

/// The class of registers that hold values of a type.
pub fn class_of(ty: Type) -> RegClass {
    match ty {
        Type::Int | Type::Bool | Type::Ref => RegClass::Int,
        Type::Float => RegClass::Float,
    }
}

/// Deals out the places of arguments in order.
#[derive(Debug, Default)]
pub struct ArgPlaces {
    ints: usize,
    floats: usize,
    stack: u32,
}

impl ArgPlaces {
    /// For a Toy function.
    pub fn new() -> Self {
        Self::default()
    }

    /// For a runtime function that takes the context first.
    pub fn after_context() -> Self {
        Self { ints: 1, ..Self::default() }
    }

    /// The place of the next argument.
    pub fn next(&mut self, class: RegClass) -> ArgPlace {
        let (regs, used) = match class {
            RegClass::Int => (&INTS[..], &mut self.ints),
            RegClass::Float => (&FLOATS[..], &mut self.floats),
        };
        if let Some(&reg) = regs.get(*used) {
            *used += 1;
            return ArgPlace::Reg(reg);
        }
        self.stack += 1;
        ArgPlace::Stack(self.stack - 1)
    }

    /// How many words went to the stack.
    pub fn stack_words(&self) -> u32 {
        self.stack
    }
}

/// The register of a result.
pub fn result_reg(class: RegClass) -> PReg {
    match class {
        RegClass::Int => RAX,
        RegClass::Float => XMM0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_counts_by_itself() {
        let mut places = ArgPlaces::new();
        let dealt: Vec<_> = (0..20)
            .map(|i| places.next(if i % 2 == 0 { RegClass::Int } else { RegClass::Float }))
            .collect();
        assert_eq!(dealt[..4], [RDI, XMM0, RSI, XMM1].map(ArgPlace::Reg));
        assert_eq!(
            dealt[12..],
            [
                ArgPlace::Stack(0),
                ArgPlace::Reg(XMM6),
                ArgPlace::Stack(1),
                ArgPlace::Reg(XMM7),
                ArgPlace::Stack(2),
                ArgPlace::Stack(3),
                ArgPlace::Stack(4),
                ArgPlace::Stack(5),
            ]
        );
        assert_eq!(places.stack_words(), 6);
        assert_eq!(ArgPlaces::after_context().next(RegClass::Int), ArgPlace::Reg(RSI));
    }
}
