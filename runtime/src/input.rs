//! Where programs read lines from.

use std::io::{self, BufRead, BufReader};

use crate::interrupt::Interrupter;
use crate::trap::Trap;

/// A source of lines.
pub struct Input(Box<dyn BufRead + Send>);

impl Input {
    /// Standard input.
    pub fn stdin() -> Self {
        Self(Box::new(BufReader::with_capacity(64 << 10, io::stdin())))
    }

    /// Any source.
    pub fn from(source: Box<dyn BufRead + Send>) -> Self {
        Self(source)
    }

    /// These bytes.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self(Box::new(io::Cursor::new(bytes)))
    }

    /// The next line without its newline (a `\r` stays), or `None` at the end. A source that can't
    /// be read has ended. Where a signal comes while waiting, the run may end.
    pub(crate) fn line(&mut self, interrupter: &Interrupter) -> Result<Option<Vec<u8>>, Trap> {
        let mut line = Vec::new();
        loop {
            let ready = match self.0.fill_buf() {
                Ok(ready) => ready,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    match interrupter.why() {
                        Some(trap) => return Err(trap),
                        None => continue,
                    }
                }
                Err(_) => &[],
            };
            if ready.is_empty() {
                return Ok((!line.is_empty()).then_some(line));
            }
            let end = ready.iter().position(|&byte| byte == b'\n');
            let taken = &ready[..end.unwrap_or(ready.len())];
            line.try_reserve(taken.len()).map_err(|_| Trap::Memory)?;
            line.extend_from_slice(taken);
            let used = taken.len() + usize::from(end.is_some());
            self.0.consume(used);
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }
}

impl Default for Input {
    fn default() -> Self {
        Self::stdin()
    }
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Input")
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::interrupt::Interrupt;
    use crate::{Config, Runtime};

    fn interrupter() -> Interrupter {
        Runtime::new(Config::default()).unwrap().interrupter()
    }

    #[test]
    fn lines() {
        let interrupter = interrupter();
        let text = b"one\r\n\nlast".to_vec();
        let pieces = BufReader::with_capacity(2, io::Cursor::new(text.clone()));
        for mut input in [Input::bytes(text), Input::from(Box::new(pieces))] {
            let mut line = || input.line(&interrupter).unwrap();
            assert_eq!(line().as_deref(), Some(&b"one\r"[..]));
            assert_eq!(line().as_deref(), Some(&b""[..]));
            assert_eq!(line().as_deref(), Some(&b"last"[..]));
            assert_eq!(line(), None);
            assert_eq!(line(), None);
        }
    }

    struct Signalled;

    impl Read for Signalled {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::Interrupted.into())
        }
    }

    #[test]
    fn waiting_ends_when_the_run_is_interrupted() {
        let interrupter = interrupter();
        interrupter.interrupt(Interrupt::Interrupted);
        let mut input = Input::from(Box::new(BufReader::new(Signalled)));
        assert_eq!(input.line(&interrupter), Err(Trap::Interrupted));
    }
}
