//! Functions of the host that Toy code calls: function values whose code is one common thunk.
//!
//! The thunk is called as any function value is, with the value itself in `r10`, which says which
//! function is meant. It stores all argument registers, changes to the host's stack (a host function
//! may need more than the margin below the Toy stack), calls [`call_host`], and returns the result, or
//! leaves Toy code where the function failed. A host function can't reach the runtime that calls it but
//! by its arguments; it may run other Toy programs.

use std::any::Any;
use std::arch::naked_asm;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::context::{Context, HOST_SP, LAST_SP};
use crate::layout::CLOSURE_CODE;
use crate::raw;
use crate::runtime::Runtime;
use crate::stack::{self, Arguments, Results};
use crate::trap::{Stop, Trap};
use crate::types::TypeInfo;

/// A function of the host: it finds its arguments in their registers and leaves its result there.
pub type HostFunction = Box<dyn FnMut(&mut Runtime, &Arguments) -> Result<Results, Stop> + Send>;

impl Runtime {
    /// Makes a host function known; its function value, a static object, is the answer.
    pub fn host_function(&mut self, name: &str, function: HostFunction) -> u64 {
        let type_id = self.register_type(TypeInfo::Closure {
            name: Some(name.to_owned()),
            function: u32::MAX,
            captures: Vec::new(),
        });
        let value = self.static_closure(type_id);
        // SAFETY: the closure was made just now.
        unsafe { raw::store(value + CLOSURE_CODE, thunk as *const () as u64) };
        self.hosts.insert(value, function);
        value
    }

    fn call_host(&mut self, value: u64, arguments: &Arguments) -> Result<Results, Stop> {
        let Some(mut function) = self.hosts.remove(&value) else {
            return Err(Stop::Fault("there is no such host function".to_owned()));
        };
        let result = catch_unwind(AssertUnwindSafe(|| function(self, arguments)));
        self.hosts.insert(value, function);
        result.unwrap_or_else(|panic| {
            discard(panic);
            Err(Trap::Panic(b"a function of the host panicked".to_vec()).into())
        })
    }
}

/// Drops what a panic carried, which may panic itself.
pub(crate) fn discard(panic: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
}

/// Calls a host function: 0 where it gave a result, 1 where the run shall end.
///
/// # Safety
/// `context` is that of a runtime whose Toy code runs, and waits for this call.
unsafe extern "C" fn call_host(
    context: *mut Context,
    value: u64,
    arguments: *const Arguments,
    results: *mut Results,
) -> u64 {
    // SAFETY: told above; the thunk passes memory of its own frame.
    unsafe {
        let runtime = &mut *(*context).runtime;
        match runtime.call_host(value, &*arguments) {
            Ok(result) => {
                results.write(result);
                0
            }
            Err(stop) => {
                runtime.raise(stop);
                1
            }
        }
    }
}

/// The code of all host functions.
///
/// # Safety
/// Called from Toy code as a function value is.
#[unsafe(naked)]
unsafe extern "C" fn thunk() {
    naked_asm!(
        "lea rax, [rsp + 8]",
        "mov [r15 + {last_sp}], rax",
        "push rbx",
        "sub rsp, 128",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "movsd [rsp + 48], xmm0",
        "movsd [rsp + 56], xmm1",
        "movsd [rsp + 64], xmm2",
        "movsd [rsp + 72], xmm3",
        "movsd [rsp + 80], xmm4",
        "movsd [rsp + 88], xmm5",
        "movsd [rsp + 96], xmm6",
        "movsd [rsp + 104], xmm7",
        "mov rbx, rsp",
        "mov rdi, r15",
        "mov rsi, r10",
        "mov rdx, rsp",
        "lea rcx, [rsp + 112]",
        "mov rsp, [r15 + {host_sp}]",
        "and rsp, -16",
        "call {call}",
        "mov rsp, rbx",
        "test eax, eax",
        "jnz 2f",
        "mov rax, [rsp + 112]",
        "movsd xmm0, [rsp + 120]",
        "add rsp, 128",
        "pop rbx",
        "ret",
        "2:",
        "mov rdi, r15",
        "jmp {leave}",
        last_sp = const LAST_SP,
        host_sp = const HOST_SP,
        call = sym call_host,
        leave = sym stack::leave,
    )
}
