//! Bytes to text: the check that a source file is UTF-8. A byte-order mark at its start is taken
//! off, so that columns count what an editor shows.

use std::fmt;

/// Where a file stops being UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utf8Problem {
    /// The offset of the first byte at fault, from 0.
    pub offset: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// The byte.
    pub byte: u8,
}

impl fmt::Display for Utf8Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the byte 0x{:02X} at offset {} is not UTF-8", self.byte, self.offset)
    }
}

impl std::error::Error for Utf8Problem {}

const BOM: char = '\u{feff}';

/// The text that the bytes of a file are.
pub fn decode(bytes: Vec<u8>) -> Result<String, Utf8Problem> {
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..offset]);
        let before = before.strip_prefix(BOM).unwrap_or(&before);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Utf8Problem {
            offset,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            byte: error.as_bytes()[offset],
        }
    })?;
    if text.starts_with(BOM) {
        text.drain(..BOM.len_utf8());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_first_byte_at_fault() {
        assert_eq!(decode(b"caf\xc3\xa9".to_vec()).as_deref(), Ok("café"));
        let problem = decode(b"a\n\xc3\xa9x\xff".to_vec()).unwrap_err();
        assert_eq!(problem, Utf8Problem { offset: 5, line: 2, column: 3, byte: 0xff });
        assert_eq!(problem.to_string(), "the byte 0xFF at offset 5 is not UTF-8");
        assert_eq!(decode(b"\xc3".to_vec()).unwrap_err().offset, 0);
        assert_eq!(decode(b"\xef\xbb\xbfa".to_vec()).as_deref(), Ok("a"));
        let problem = decode(b"\xef\xbb\xbf\xff".to_vec()).unwrap_err();
        assert_eq!((problem.offset, problem.column), (3, 1));
    }
}
