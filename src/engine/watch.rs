//! The time limit of one call: a thread that interrupts the run when the time is over.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use toyjit_runtime::{Interrupt, Interrupter};

/// Watches a run as long as it lives.
pub struct Watch {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Interrupts the run in `limit`, unless dropped before. Without a thread to be had there is no
    /// limit.
    pub fn over(interrupter: Interrupter, limit: Duration) -> Self {
        let (done, wait) = channel();
        let watch = move || {
            if wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                interrupter.interrupt(Interrupt::Time);
            }
        };
        let thread = std::thread::Builder::new().name("time limit".to_owned()).spawn(watch).ok();
        Self { done: Some(done), thread }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            // The thread does not panic.
            let _ = thread.join();
        }
    }
}
