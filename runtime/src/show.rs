//! How values are shown, as LANGUAGE.md §7 and §9.9 say it: the one text for `print` and `str`.
//!
//! The text goes to a `Text` piece by piece, so that printing needs no memory for it; a text that is
//! to become a string may grow up to the heap's limit. Arrays and structs nested more than 64 deep
//! show as `...`, so that cyclic structures end.

use std::io::Write;

use crate::interrupt::Interrupter;
use crate::layout::{
    ARRAY_DATA, ARRAY_LEN, BUFFER_ELEMENTS, HEADER, STR_BYTES, STR_LEN, STRUCT_FIELDS, Slot, WORD,
    type_id,
};
use crate::object::load_element;
use crate::output::Output;
use crate::raw;
use crate::runtime::Runtime;
use crate::trap::{Stop, Trap};
use crate::types::{self, TypeInfo, TypeTable};

/// The deepest level of nesting that is shown.
const MAX_LEVEL: u32 = 64;

/// Where shown text goes.
trait Text {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Stop>;
}

impl Text for Output {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        Output::put(self, bytes)
    }
}

/// Text that is to become a string, not longer than a limit.
struct Growing {
    bytes: Vec<u8>,
    limit: usize,
}

impl Text for Growing {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let fits = self.limit - self.bytes.len() >= bytes.len();
        if !fits || self.bytes.try_reserve(bytes.len()).is_err() {
            return Err(Trap::Memory.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

impl Runtime {
    /// Prints an int (or a byte).
    pub fn print_int(&mut self, value: i64) -> Result<(), Stop> {
        put_int(&mut self.output, value)
    }

    /// Prints a float.
    pub fn print_float(&mut self, value: f64) -> Result<(), Stop> {
        put_float(&mut self.output, value)
    }

    /// Prints a bool.
    pub fn print_bool(&mut self, value: bool) -> Result<(), Stop> {
        self.output.put(bool_text(value))
    }

    /// Prints any reference: a string's bytes as they are, all else as shown.
    pub fn print_ref(&mut self, reference: u64) -> Result<(), Stop> {
        if reference != 0 && self.type_of(reference) == types::STR {
            // SAFETY: a string, by the contract of the `object` module.
            return self.output.put(unsafe { str_bytes(reference) });
        }
        let interrupter = self.interrupter();
        Shower { types: &self.types, interrupter, text: &mut self.output }.reference(reference, 1)
    }

    /// Prints the space between two values.
    pub fn print_space(&mut self) -> Result<(), Stop> {
        self.output.put(b" ")
    }

    /// Prints the end of a line.
    pub fn print_newline(&mut self) -> Result<(), Stop> {
        self.output.put(b"\n")
    }

    /// The text of an int (or a byte) as a string.
    pub fn str_of_int(&mut self, value: i64) -> Result<u64, Stop> {
        let mut text = Small::default();
        put_int(&mut text, value)?;
        self.new_str(text.bytes())
    }

    /// The text of a float as a string.
    pub fn str_of_float(&mut self, value: f64) -> Result<u64, Stop> {
        let mut text = Small::default();
        put_float(&mut text, value)?;
        self.new_str(text.bytes())
    }

    /// The text of a bool as a string.
    pub fn str_of_bool(&mut self, value: bool) -> Result<u64, Stop> {
        self.new_str(bool_text(value))
    }

    /// The text of any reference as a string; a string is its own text.
    pub fn str_of_ref(&mut self, reference: u64) -> Result<u64, Stop> {
        if reference != 0 && self.type_of(reference) == types::STR {
            return Ok(reference);
        }
        // The text is there twice in the end, and its buffer may be twice as large as the text.
        let limit = usize::try_from(self.heap.left() / 3).unwrap_or(usize::MAX);
        let mut text = Growing { bytes: Vec::new(), limit };
        let interrupter = self.interrupter();
        Shower { types: &self.types, interrupter, text: &mut text }.reference(reference, 1)?;
        self.new_str(&text.bytes)
    }
}

impl Runtime {
    /// A value as it is shown inside of others: a string quoted. Of a text longer than `limit` bytes
    /// the first part.
    pub fn shown(&self, slot: Slot, word: u64, limit: usize) -> Vec<u8> {
        let mut text = Growing { bytes: Vec::new(), limit };
        let put = match slot {
            Slot::Int | Slot::Byte => put_int(&mut text, word as i64),
            Slot::Float => put_float(&mut text, f64::from_bits(word)),
            Slot::Bool => text.put(bool_text(word != 0)),
            Slot::Ref => {
                let interrupter = self.interrupter();
                Shower { types: &self.types, interrupter, text: &mut text }.reference(word, 1)
            }
        };
        if put.is_err() {
            text.bytes.extend_from_slice("…".as_bytes());
        }
        text.bytes
    }
}

/// The text of one number, which is never longer than this.
#[derive(Default)]
struct Small {
    bytes: [u8; 32],
    len: usize,
}

impl Small {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Text for Small {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
        Ok(())
    }
}

fn bool_text(value: bool) -> &'static [u8] {
    if value { b"true" } else { b"false" }
}

fn put_int(text: &mut impl Text, value: i64) -> Result<(), Stop> {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    text.put(&digits[at..])
}

fn put_float(text: &mut impl Text, value: f64) -> Result<(), Stop> {
    let mut buffer = [0; 32];
    let mut rest = &mut buffer[..];
    let written = write!(rest, "{value:?}");
    debug_assert!(written.is_ok(), "the text of a float is at most 24 bytes long");
    let left = rest.len();
    text.put(&buffer[..buffer.len() - left])
}

/// The bytes of a string.
///
/// # Safety
/// `string` is a live string, and nothing is allocated while the answer is in use.
unsafe fn str_bytes<'a>(string: u64) -> &'a [u8] {
    // SAFETY: told above.
    unsafe { raw::bytes(string + STR_BYTES, raw::load(string + STR_LEN)) }
}

/// Shows values that stand inside one another. Reads the heap, allocates nothing in it.
struct Shower<'a, T> {
    types: &'a TypeTable,
    interrupter: Interrupter,
    text: &'a mut T,
}

impl<T: Text> Shower<'_, T> {
    fn word(&mut self, slot: Slot, word: u64, level: u32) -> Result<(), Stop> {
        match slot {
            Slot::Int | Slot::Byte => put_int(self.text, word as i64),
            Slot::Float => put_float(self.text, f64::from_bits(word)),
            Slot::Bool => self.text.put(bool_text(word != 0)),
            Slot::Ref if word == 0 => self.text.put(b"nil"),
            Slot::Ref => self.reference(word, level),
        }
    }

    /// Shows an object that stands at this level of nesting (the outermost is 1).
    fn reference(&mut self, object: u64, level: u32) -> Result<(), Stop> {
        if object == 0 {
            return self.text.put(b"nil");
        }
        if let Some(trap) = self.interrupter.why() {
            return Err(trap.into());
        }
        // SAFETY: an object, by the contract of the `object` module.
        let type_id = type_id(unsafe { raw::load(object + HEADER) });
        let types = self.types;
        match types.info(type_id) {
            // SAFETY: a string.
            TypeInfo::Str => self.quoted(unsafe { str_bytes(object) }),
            TypeInfo::Closure { name: Some(name), .. } => {
                self.text.put(b"<fn ")?;
                self.text.put(name.as_bytes())?;
                self.text.put(b">")
            }
            TypeInfo::Closure { name: None, .. } => self.text.put(b"<fn>"),
            _ if level > MAX_LEVEL => self.text.put(b"..."),
            TypeInfo::Array(slot) => self.array(object, *slot, level),
            TypeInfo::Struct { name, fields } => self.fields(object, name, fields, level),
            TypeInfo::Buffer(_) => Err(Stop::Fault("a buffer is no value".to_owned())),
        }
    }

    fn array(&mut self, array: u64, slot: Slot, level: u32) -> Result<(), Stop> {
        // SAFETY: an array, and the indices are below its length.
        let (len, data) = unsafe { (raw::load(array + ARRAY_LEN), raw::load(array + ARRAY_DATA)) };
        self.text.put(b"[")?;
        for index in 0..len {
            if index > 0 {
                self.text.put(b", ")?;
            }
            // SAFETY: the same.
            let word = unsafe { load_element(data + BUFFER_ELEMENTS, slot, index) };
            self.word(slot, word, level + 1)?;
        }
        self.text.put(b"]")
    }

    fn fields(
        &mut self,
        object: u64,
        name: &str,
        fields: &[(String, Slot)],
        level: u32,
    ) -> Result<(), Stop> {
        self.text.put(name.as_bytes())?;
        if fields.is_empty() {
            return self.text.put(b" {}");
        }
        self.text.put(b" { ")?;
        for (i, (name, slot)) in fields.iter().enumerate() {
            if i > 0 {
                self.text.put(b", ")?;
            }
            self.text.put(name.as_bytes())?;
            self.text.put(b": ")?;
            // SAFETY: a struct with such a field.
            let word = unsafe { raw::load(object + STRUCT_FIELDS + WORD * i as u64) };
            self.word(*slot, word, level + 1)?;
        }
        self.text.put(b" }")
    }

    /// A string inside another value.
    fn quoted(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.text.put(b"\"")?;
        for chunk in bytes.utf8_chunks() {
            let valid = chunk.valid().as_bytes();
            let mut shown = 0;
            for (i, &byte) in valid.iter().enumerate() {
                let escape: &[u8] = match byte {
                    b'"' => b"\\\"",
                    b'\\' => b"\\\\",
                    b'\n' => b"\\n",
                    b'\r' => b"\\r",
                    b'\t' => b"\\t",
                    0 => b"\\0",
                    1..=0x1F | 0x7F => &hex_escape(byte),
                    _ => continue,
                };
                self.text.put(&valid[shown..i])?;
                self.text.put(escape)?;
                shown = i + 1;
            }
            self.text.put(&valid[shown..])?;
            for &byte in chunk.invalid() {
                self.text.put(&hex_escape(byte))?;
            }
        }
        self.text.put(b"\"")
    }
}

/// `\xNN`
fn hex_escape(byte: u8) -> [u8; 4] {
    let digit = |nibble: u8| b"0123456789ABCDEF"[usize::from(nibble & 15)];
    [b'\\', b'x', digit(byte >> 4), digit(byte)]
}
