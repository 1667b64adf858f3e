//! Ending a run from outside, at no cost to machine code that runs.
//!
//! A request is a word in the context, which the interpreters and the runtime's long loops look at.
//! Machine code looks at nothing. A call is caught by the stack check that functions make anyway: a
//! request puts the stack limit above every stack pointer. A loop is caught by its poll: an
//! instruction at its head, which a request replaces by a jump to code that ends the run, and which
//! the end of the request brings back. So the run ends where its state is whole, at a
//! place in the source that is known, and no signal is needed.
//!
//! The first 5 bytes of the instruction lie inside an aligned word of 8 bytes, which is replaced by
//! one store, so that another processor fetches the old or the new instruction and nothing between. Code memory is never
//! writable where it is executable: its pages are mapped a second time, to be written, for as long as
//! the stores take.

use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::context::{Context, ContextMemory};
use crate::memory::Mapping;
use crate::trap::Trap;

/// Why a run is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Interrupt {
    /// From outside.
    Interrupted = 1,
    /// The time is over.
    Time = 2,
}

/// Interrupts a run, from any thread (but not from a signal handler), also after the runtime has
/// gone.
#[derive(Clone)]
pub struct Interrupter(Arc<Control>);

/// What interrupters and the runtime share.
struct Control {
    context: Arc<ContextMemory>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The stack limit of the run.
    stack_limit: u64,
    /// Code with polls, by number.
    code: Vec<(u64, PolledCode)>,
    next: u64,
}

/// Code memory with its polls.
struct PolledCode {
    start: u64,
    len: usize,
    polls: Vec<Poll>,
}

/// An aligned word of code: where it is from the code's start, what stands there mostly, and what
/// while the run shall end.
struct Poll {
    at: u32,
    usual: u64,
    leaving: u64,
}

/// Code whose loops can be left; forgotten when dropped.
pub struct Interruptible {
    interrupter: Interrupter,
    number: u64,
}

impl Interrupter {
    pub(crate) fn new(context: Arc<ContextMemory>) -> Self {
        Self(Arc::new(Control { context, state: Mutex::default() }))
    }

    /// Asks the run to end, the present one or else the next one.
    pub fn interrupt(&self, why: Interrupt) {
        let state = self.state();
        self.word().store(why as u64, Ordering::Relaxed);
        self.apply(&state);
    }

    /// Takes the request back.
    pub fn clear(&self) {
        let state = self.state();
        if self.word().swap(0, Ordering::Relaxed) != 0 {
            self.apply(&state);
        }
    }

    /// Why the run shall end, if it shall.
    #[inline]
    pub fn why(&self) -> Option<Trap> {
        match self.word().load(Ordering::Relaxed) {
            0 => None,
            word if word == Interrupt::Time as u64 => Some(Trap::Time),
            _ => Some(Trap::Interrupted),
        }
    }

    /// Begins a run with this stack limit, unless it shall end at once.
    pub(crate) fn begin(&self, stack_limit: u64) -> Result<(), Trap> {
        let mut state = self.state();
        state.stack_limit = stack_limit;
        match self.why() {
            Some(why) => Err(why),
            None => {
                self.stack_limit().store(stack_limit, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// Makes loops interruptible: `polls` are distances from the code's start, of instructions of at
    /// least 5 bytes, the first 5 inside an aligned word, and of the code that is to be jumped to in
    /// their place.
    ///
    /// # Safety
    /// The code lies in memory that is mapped from [`code_memory`], as long as the answer lives; its
    /// jumps may be made at any time that the instructions are executed.
    pub unsafe fn add_code(
        &self,
        start: u64,
        len: usize,
        polls: impl IntoIterator<Item = (u32, u32)>,
    ) -> Interruptible {
        let poll = |(from, to): (u32, u32)| {
            let at = from & !7;
            // SAFETY: the word is a part of the code.
            let usual =
                unsafe { ptr::with_exposed_provenance::<u64>(start as usize + at as usize).read() };
            let distance = to.wrapping_sub(from + JUMP_LEN);
            let mut bytes = usual.to_le_bytes();
            let skip = (from - at) as usize;
            bytes[skip] = JUMP;
            bytes[skip + 1..skip + JUMP_LEN as usize].copy_from_slice(&distance.to_le_bytes());
            Poll { at, usual, leaving: u64::from_le_bytes(bytes) }
        };
        let code = PolledCode { start, len, polls: polls.into_iter().map(poll).collect() };
        let mut state = self.state();
        if self.why().is_some() {
            code.set(true);
        }
        let number = state.next;
        state.next += 1;
        state.code.push((number, code));
        Interruptible { interrupter: self.clone(), number }
    }

    /// Makes the stack limit and the polls say what the word says.
    fn apply(&self, state: &State) {
        let leaving = self.why().is_some();
        let limit = if leaving { u64::MAX } else { state.stack_limit };
        self.stack_limit().store(limit, Ordering::Relaxed);
        for (_, code) in &state.code {
            code.set(leaving);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn context(&self) -> *mut Context {
        self.0.context.pointer()
    }

    fn word(&self) -> &AtomicU64 {
        // SAFETY: the memory lives as long as `self`, and the word is only used atomically.
        unsafe { &(*self.context()).interrupt }
    }

    fn stack_limit(&self) -> &AtomicU64 {
        // SAFETY: the same.
        unsafe { &(*self.context()).stack_limit }
    }
}

/// `jmp rel32`
const JUMP: u8 = 0xE9;
const JUMP_LEN: u32 = 5;

impl PolledCode {
    /// Sets all polls. Where the machine has no memory for the second mapping, they stay as they are.
    fn set(&self, leaving: bool) {
        if self.polls.is_empty() {
            return;
        }
        let Some(writable) = Mapping::alias(self.start, self.len) else { return };
        for poll in &self.polls {
            let word = if leaving { poll.leaving } else { poll.usual };
            // SAFETY: an aligned word of the mapping.
            let at = unsafe { &*writable.pointer().add(poll.at as usize).cast::<AtomicU64>() };
            at.store(word, Ordering::Relaxed);
        }
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        let mut state = self.interrupter.state();
        state.code.retain(|(number, _)| *number != self.number);
    }
}

/// A file for code memory, that can be mapped several times.
pub fn code_memory(len: usize) -> io::Result<File> {
    // SAFETY: the name is a string that ends with 0.
    let descriptor = unsafe { libc::memfd_create(c"toyjit".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was had just now, and is nobody else's.
    let file = unsafe { File::from_raw_fd(descriptor) };
    file.set_len(len as u64)?;
    Ok(file)
}

impl std::fmt::Debug for Interrupter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interrupter")
    }
}

impl std::fmt::Debug for Interruptible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interruptible")
    }
}
