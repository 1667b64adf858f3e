//! Where programs print to: a sink behind a buffer of 64 KiB.
//!
//! The buffer goes out when it is full, when the run ends, before the program waits for input, and,
//! where the sink is a terminal, at the end of each line.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::host::discard;
use crate::interrupt::Interrupter;
use crate::trap::Stop;

/// Bytes that are kept back before they are written.
const CAPACITY: usize = 64 << 10;

/// A buffered sink for bytes.
pub struct Output {
    sink: Box<dyn Write + Send>,
    buffer: Vec<u8>,
    by_line: bool,
    /// Who may end the run while it waits for the sink.
    pub(crate) interrupter: Option<Interrupter>,
}

impl Output {
    /// Standard output, without the buffer that Rust keeps for it.
    pub fn stdout() -> Self {
        let stdout = io::stdout();
        let by_line = stdout.is_terminal();
        let sink: Box<dyn Write + Send> = match stdout.as_fd().try_clone_to_owned() {
            Ok(descriptor) => Box::new(File::from(descriptor)),
            Err(_) => Box::new(stdout),
        };
        Self { by_line, ..Self::to(sink) }
    }

    /// Any sink.
    pub fn to(sink: Box<dyn Write + Send>) -> Self {
        Self { sink, buffer: Vec::new(), by_line: false, interrupter: None }
    }

    /// An output that is kept in memory, and the handle to take it from.
    pub fn capture() -> (Self, Captured) {
        let captured = Captured::default();
        (Self::to(Box::new(captured.clone())), captured)
    }

    /// Writes bytes.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        if self.buffer.len() + bytes.len() > CAPACITY {
            self.put_large(bytes)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        if self.by_line && bytes.contains(&b'\n') { self.flush() } else { Ok(()) }
    }

    #[cold]
    fn put_large(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.drain()?;
        if bytes.len() < CAPACITY {
            self.buffer.reserve_exact(CAPACITY);
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        write_all(&mut self.sink, bytes, self.interrupter.as_ref())
    }

    /// Writes out what was kept back.
    pub fn flush(&mut self) -> Result<(), Stop> {
        self.drain()?;
        guarded(|| self.sink.flush()).map_err(stop)
    }

    fn drain(&mut self) -> Result<(), Stop> {
        let result = write_all(&mut self.sink, &self.buffer, self.interrupter.as_ref());
        self.buffer.clear();
        result
    }
}

impl Default for Output {
    fn default() -> Self {
        Self::stdout()
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("waiting", &self.buffer.len()).finish_non_exhaustive()
    }
}

/// Bytes that are written at once, at most: between them a run that shall end ends.
const PIECE: usize = 1 << 20;

/// Writes all, unless a signal comes while the sink takes nothing and the run shall end.
fn write_all(
    sink: &mut Box<dyn Write + Send>,
    mut bytes: &[u8],
    interrupter: Option<&Interrupter>,
) -> Result<(), Stop> {
    while !bytes.is_empty() {
        match guarded(|| sink.write(&bytes[..bytes.len().min(PIECE)])) {
            Ok(0) => return Err(stop(io::ErrorKind::WriteZero.into())),
            Ok(written) => {
                bytes = &bytes[written..];
                if bytes.len() < PIECE {
                    continue;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(stop(error)),
        }
        if let Some(trap) = interrupter.and_then(Interrupter::why) {
            return Err(trap.into());
        }
    }
    Ok(())
}

/// What a sink or source of the host does; a panic of it is an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        discard(panic);
        Err(io::Error::other("a stream of the host panicked"))
    })
}

/// How a failed write ends the run.
fn stop(error: io::Error) -> Stop {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Stop::ClosedPipe,
        _ => Stop::Output(error.to_string()),
    }
}

/// What was written to an output made by [`Output::capture`], as far as it was flushed.
#[derive(Clone, Debug, Default)]
pub struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    /// Takes all bytes that came since the last time.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn keeps_back_and_keeps_order() {
        let (mut output, captured) = Output::capture();
        output.put(b"one ").unwrap();
        assert_eq!(captured.take(), b"");
        let large = vec![b'x'; 2 * CAPACITY];
        output.put(&large).unwrap();
        output.put(b" two").unwrap();
        output.flush().unwrap();
        let all = captured.take();
        assert_eq!(all.len(), 8 + large.len());
        assert!(all.starts_with(b"one x") && all.ends_with(b"x two"));
    }

    #[test]
    fn terminals_see_lines_as_they_end() {
        let (output, captured) = Output::capture();
        let mut output = Output { by_line: true, ..output };
        output.put(b"one").unwrap();
        assert_eq!(captured.take(), b"");
        output.put(b" line\nand").unwrap();
        assert_eq!(captured.take(), b"one line\nand");
    }

    #[test]
    fn failures_end_the_run() {
        let mut closed = Output::to(Box::new(Failing(io::ErrorKind::BrokenPipe)));
        closed.put(b"x").unwrap();
        assert_eq!(closed.flush(), Err(Stop::ClosedPipe));
        assert_eq!(closed.flush(), Ok(()));
        let mut full = Output::to(Box::new(Failing(io::ErrorKind::StorageFull)));
        full.put(b"x").unwrap();
        assert!(matches!(full.flush(), Err(Stop::Output(_))));
    }
}
