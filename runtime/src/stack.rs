//! The stack that Toy machine code runs on, and the two doors between it and the host's stack.
//!
//! Toy code has a stack of its own, so that a deep recursion of the program neither depends on nor
//! endangers the host's. Functions compare `rsp` with `Context::stack_limit` on entry. Below the
//! limit [`MARGIN`] bytes are left for the runtime's own code, which is called on the same stack;
//! below those lies a guard.
//!
//! `enter` calls Toy code; `leave` abandons it: it takes the host's stack pointer, which `enter` saved,
//! and returns from `enter`. No frame in between is unwound, so those frames must own nothing.

use std::arch::naked_asm;

use crate::context::{Context, HOST_SP};
use crate::memory::Mapping;

/// What the runtime's code may use below the stack limit, in bytes.
pub const MARGIN: usize = 512 << 10;
/// The part of the stack that faults when touched, in bytes.
pub const GUARD: usize = 64 << 10;

/// A stack for Toy code.
pub(crate) struct ToyStack(Mapping);

impl ToyStack {
    /// A stack with `size` bytes for Toy code; `None` without address space.
    pub(crate) fn new(size: usize) -> Option<Self> {
        let memory = Mapping::reserve(size.checked_add(MARGIN + GUARD)?)?;
        memory.guard(GUARD).then_some(Self(memory))
    }

    /// The first address above the stack.
    pub(crate) fn top(&self) -> u64 {
        (self.0.start() + self.0.len()) as u64
    }

    /// The lowest stack pointer that Toy code may have.
    pub(crate) fn limit(&self) -> u64 {
        (self.0.start() + GUARD + MARGIN) as u64
    }
}

/// Arguments of a call from the host: both register files, in the order of the System V convention.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Arguments {
    /// `rdi rsi rdx rcx r8 r9`
    pub words: [u64; 6],
    /// `xmm0` … `xmm7`
    pub floats: [f64; 8],
}

/// What a call from the host returned: both result registers.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Results {
    /// `rax`
    pub word: u64,
    /// `xmm0`
    pub float: f64,
}

/// Calls Toy code at `code`, on the stack whose top is `top`. Returns 0 where the code returned, 1
/// where it was left.
///
/// # Safety
/// `code` is the address of a Toy function that takes such arguments, and everything it relies on
/// (context, stack, code map) is in place.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn enter(
    context: *mut Context,
    code: u64,
    top: u64,
    arguments: *const Arguments,
    results: *mut Results,
) -> u64 {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push r8",
        "mov [rdi + {host_sp}], rsp",
        "mov r15, rdi",
        "mov rax, rsi",
        "mov rsp, rdx",
        "mov r10, rcx",
        "mov rdi, [r10]",
        "mov rsi, [r10 + 8]",
        "mov rdx, [r10 + 16]",
        "mov rcx, [r10 + 24]",
        "mov r8, [r10 + 32]",
        "mov r9, [r10 + 40]",
        "movsd xmm0, [r10 + 48]",
        "movsd xmm1, [r10 + 56]",
        "movsd xmm2, [r10 + 64]",
        "movsd xmm3, [r10 + 72]",
        "movsd xmm4, [r10 + 80]",
        "movsd xmm5, [r10 + 88]",
        "movsd xmm6, [r10 + 96]",
        "movsd xmm7, [r10 + 104]",
        "xor ebp, ebp",
        "call rax",
        "mov rsp, [r15 + {host_sp}]",
        "pop r8",
        "mov [r8], rax",
        "movsd [r8 + 8], xmm0",
        "xor eax, eax",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
        host_sp = const HOST_SP,
    )
}

/// Abandons the Toy code that runs, and returns from `enter`.
///
/// # Safety
/// Called (through any number of frames that own nothing) from Toy code that `enter` called with
/// this context.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn leave(context: *mut Context) -> ! {
    naked_asm!(
        "mov rsp, [rdi + {host_sp}]",
        "pop r8",
        "mov eax, 1",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
        host_sp = const HOST_SP,
    )
}
