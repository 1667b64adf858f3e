//! The registers of x86-64 and which of them the allocator may use.
//!
//! `r15` holds the context's address for good, `rsp` the frame. `r11` and `xmm15` are scratch: the
//! allocator's between instructions, the emitter's within one.

use crate::mach::{PReg, RegSet, RegisterFile};

macro_rules! registers {
    ($($name:ident = $number:literal $text:literal;)+) => {
        $(#[doc = concat!("`", $text, "`")] pub const $name: PReg = PReg($number);)+
        const NAMES: [&str; PReg::COUNT] = [$($text),+];
    };
}

registers! {
    RAX = 0 "rax"; RCX = 1 "rcx"; RDX = 2 "rdx"; RBX = 3 "rbx";
    RSP = 4 "rsp"; RBP = 5 "rbp"; RSI = 6 "rsi"; RDI = 7 "rdi";
    R8 = 8 "r8"; R9 = 9 "r9"; R10 = 10 "r10"; R11 = 11 "r11";
    R12 = 12 "r12"; R13 = 13 "r13"; R14 = 14 "r14"; R15 = 15 "r15";
    XMM0 = 16 "xmm0"; XMM1 = 17 "xmm1"; XMM2 = 18 "xmm2"; XMM3 = 19 "xmm3";
    XMM4 = 20 "xmm4"; XMM5 = 21 "xmm5"; XMM6 = 22 "xmm6"; XMM7 = 23 "xmm7";
    XMM8 = 24 "xmm8"; XMM9 = 25 "xmm9"; XMM10 = 26 "xmm10"; XMM11 = 27 "xmm11";
    XMM12 = 28 "xmm12"; XMM13 = 29 "xmm13"; XMM14 = 30 "xmm14"; XMM15 = 31 "xmm15";
}

/// The register that holds the context's address.
pub const CONTEXT: PReg = R15;
/// The scratch register of class `Int`.
pub const SCRATCH: PReg = R11;
/// The scratch register of class `Float`.
pub const FSCRATCH: PReg = XMM15;

/// Allocatable registers that a call preserves.
pub const CALLEE_SAVED: RegSet =
    RegSet(1 << RBX.0 | 1 << RBP.0 | 1 << R12.0 | 1 << R13.0 | 1 << R14.0);

/// Allocatable registers that a call does not preserve.
pub const CALLER_SAVED: RegSet = RegSet(
    (1 << RAX.0 | 1 << RCX.0 | 1 << RDX.0 | 1 << RSI.0 | 1 << RDI.0)
        | (1 << R8.0 | 1 << R9.0 | 1 << R10.0)
        | 0x7FFF_0000,
);

/// So few registers that every instruction still finds its own, and most values go to slots (a test
/// of the compiler).
pub const FEW: RegSet = RegSet(
    1 << RAX.0
        | 1 << RCX.0
        | 1 << RDX.0
        | 1 << RBX.0
        | 1 << RSI.0
        | 1 << XMM0.0
        | 1 << XMM1.0
        | 1 << XMM2.0,
);

/// A register's name.
pub fn name(reg: PReg) -> &'static str {
    NAMES[usize::from(reg.0 & 31)]
}

/// The registers that an allocation may use: those a call does not preserve come first.
pub fn register_file() -> RegisterFile {
    RegisterFile {
        allocatable: CALLER_SAVED.iter().chain(CALLEE_SAVED.iter()).collect(),
        callee_saved: CALLEE_SAVED,
        scratch: [SCRATCH, FSCRATCH],
        name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mach::RegClass;

    #[test]
    fn the_file_is_what_the_convention_says() {
        let file = register_file();
        let ints = file.allocatable.iter().filter(|r| r.class() == RegClass::Int).count();
        assert_eq!((ints, file.allocatable.len() - ints), (13, 15));
        for reg in [RSP, R11, R15, XMM15] {
            assert!(!file.allocatable.contains(&reg), "{}", name(reg));
        }
        assert_eq!(
            file.callee_saved.iter().map(name).collect::<Vec<_>>().join(" "),
            "rbx rbp r12 r13 r14"
        );
    }
}
