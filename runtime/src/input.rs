//! Where programs read lines from.

use std::io::{self, BufRead, BufReader};

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
    /// be read has ended.
    pub fn line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        let read = self.0.read_until(b'\n', &mut line);
        if line.is_empty() || read.is_err() {
            return None;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Some(line)
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
    use super::*;

    #[test]
    fn lines() {
        let mut input = Input::bytes(b"one\r\n\nlast".to_vec());
        assert_eq!(input.line().as_deref(), Some(&b"one\r"[..]));
        assert_eq!(input.line().as_deref(), Some(&b""[..]));
        assert_eq!(input.line().as_deref(), Some(&b"last"[..]));
        assert_eq!(input.line(), None);
        assert_eq!(input.line(), None);
    }
}
