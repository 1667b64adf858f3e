//! Ends a run when its time is over, or by Ctrl-C: for programs that run one Toy program.
//!
//! A thread waits for SIGINT, which is blocked elsewhere as long as it is there, or for the end of
//! the time, and interrupts the run. No handler runs anywhere but one that does nothing: its signal
//! wakes the run where it waits for input or output. A run that then does not end by itself (which
//! takes a very large collection) ends the process, and so does a second Ctrl-C.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::interrupt::{Interrupt, Interrupter};

/// How long an interrupted run may take to end.
const GRACE: Duration = Duration::from_secs(1);
/// How often a run that is to end is woken.
const WAKE_AFTER: Duration = Duration::from_millis(5);

/// How the process ends where a run does not.
#[derive(Clone, Copy, Debug)]
pub struct ExitCodes {
    /// After Ctrl-C.
    pub interrupted: i32,
    /// When the time is over.
    pub out_of_time: i32,
}

/// The thread that waits; it ends when this is dropped.
#[derive(Debug)]
pub struct Watch {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    watched: Signals,
}

impl Watch {
    /// Watches over the run that this thread is about to begin.
    pub fn start(
        interrupter: Interrupter,
        timeout: Option<Duration>,
        codes: ExitCodes,
    ) -> io::Result<Self> {
        let wake = libc::SIGRTMIN();
        let watched = if is_ignored(libc::SIGINT) {
            Signals::of(&[wake])
        } else {
            Signals::of(&[wake, libc::SIGINT])
        };
        do_nothing_on(wake);
        let done = Arc::new(AtomicBool::new(false));
        // SAFETY: no precondition.
        let run = unsafe { libc::pthread_self() };
        let watcher = Watcher { interrupter, codes, run, wake, watched, done: Arc::clone(&done) };
        watched.block();
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let thread = std::thread::Builder::new()
            .name("watch".to_owned())
            .stack_size(64 << 10)
            .spawn(move || watcher.watch(deadline));
        Signals::of(&[wake]).unblock();
        match thread {
            Ok(thread) => Ok(Self { done, thread: Some(thread), watched }),
            Err(error) => {
                watched.unblock();
                Err(error)
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        use std::os::unix::thread::JoinHandleExt;
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // SAFETY: the thread was not joined yet.
            unsafe { libc::pthread_kill(thread.as_pthread_t(), libc::SIGRTMIN()) };
            // The thread does not panic, and there is nothing to do if it had.
            let _ = thread.join();
        }
        self.watched.unblock();
    }
}

struct Watcher {
    interrupter: Interrupter,
    codes: ExitCodes,
    /// The thread of the run.
    run: libc::pthread_t,
    wake: libc::c_int,
    watched: Signals,
    done: Arc<AtomicBool>,
}

impl Watcher {
    fn watch(&self, deadline: Option<Instant>) {
        let (why, code) = loop {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            match self.watched.wait(left) {
                _ if self.is_done() => return,
                Some(libc::SIGINT) => break (Interrupt::Interrupted, self.codes.interrupted),
                _ if deadline.is_some_and(|at| Instant::now() >= at) => {
                    break (Interrupt::Time, self.codes.out_of_time);
                }
                _ => {}
            }
        };
        self.interrupter.interrupt(why);
        let until = Instant::now() + GRACE;
        while !self.is_done() {
            // SAFETY: the run's thread joins this one before it ends.
            unsafe { libc::pthread_kill(self.run, self.wake) };
            let again = self.watched.wait(Some(WAKE_AFTER)) == Some(libc::SIGINT);
            if (again || Instant::now() >= until) && !self.is_done() {
                // SAFETY: no precondition; nothing of the run is touched.
                unsafe { libc::_exit(code) };
            }
        }
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }
}

/// A set of signals.
#[derive(Clone, Copy)]
struct Signals(libc::sigset_t);

impl Signals {
    fn of(signals: &[libc::c_int]) -> Self {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the first call makes the set, the others add to it.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for &signal in signals {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            Self(set.assume_init())
        }
    }

    fn block(&self) {
        self.mask(libc::SIG_BLOCK);
    }

    fn unblock(&self) {
        self.mask(libc::SIG_UNBLOCK);
    }

    /// For this thread, and those that it starts.
    fn mask(&self, how: libc::c_int) {
        // SAFETY: a set of signals, and no wish for the old one.
        unsafe { libc::pthread_sigmask(how, &self.0, ptr::null_mut()) };
    }

    /// Waits for one of them, which are blocked; at most so long.
    fn wait(&self, most: Option<Duration>) -> Option<libc::c_int> {
        let time = most.map(|most| libc::timespec {
            tv_sec: libc::time_t::try_from(most.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: most.subsec_nanos().into(),
        });
        let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: a set of signals, and a time or null.
        let signal = unsafe { libc::sigtimedwait(&self.0, ptr::null_mut(), time) };
        (signal > 0).then_some(signal)
    }
}

impl std::fmt::Debug for Signals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signals")
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asks for the action, which is all zeros otherwise.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr());
        action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Makes a signal end the waiting of the thread that gets it, and nothing else.
fn do_nothing_on(signal: libc::c_int) {
    extern "C" fn nothing(_: libc::c_int) {}
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all zeros are an action without flags; the handler does nothing.
    unsafe {
        (*action.as_mut_ptr()).sa_sigaction = nothing as *const () as libc::sighandler_t;
        libc::sigaction(signal, action.as_ptr(), ptr::null_mut());
    }
}
