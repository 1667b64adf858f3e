//! The builtins on strings.

use std::cmp::Ordering;

use crate::layout::{ARRAY_DATA, BUFFER_ELEMENTS, STR_BYTES, STR_LEN, Slot};
use crate::parse;
use crate::raw;
use crate::runtime::Runtime;
use crate::trap::{Stop, Trap};

impl Runtime {
    /// `a + b`
    pub fn str_concat(&mut self, a: u64, b: u64) -> Result<u64, Stop> {
        let (len_a, len_b) = (self.str_len(a), self.str_len(b));
        if len_a == 0 {
            return Ok(b);
        }
        if len_b == 0 {
            return Ok(a);
        }
        let (a, b) = (self.roots.push(a), self.roots.push(b));
        let new = self.uninit_str(len_a + len_b);
        let (from_a, from_b) = (self.roots.get(a), self.roots.get(b));
        self.roots.truncate(a);
        let new = new?;
        // SAFETY: the new string has room for both.
        unsafe {
            self.copy(from_a + STR_BYTES, new + STR_BYTES, len_a)?;
            self.copy(from_b + STR_BYTES, new + STR_BYTES + len_a, len_b)?;
        }
        Ok(new)
    }

    /// `slice` of a string.
    pub fn str_slice(&mut self, string: u64, from: i64, to: i64) -> Result<u64, Stop> {
        let len = self.str_len(string);
        let count = slice_len(from, to, len)?;
        if count == len {
            return Ok(string);
        }
        self.roots.push(string);
        let new = self.uninit_str(count);
        let string = self.roots.pop();
        let new = new?;
        // SAFETY: the bounds were checked, and the new string has room.
        unsafe { self.copy(string + STR_BYTES + from as u64, new + STR_BYTES, count)? };
        Ok(new)
    }

    /// The byte at an index of a string, or the index trap.
    #[inline]
    pub fn str_get(&self, string: u64, index: i64) -> Result<u64, Trap> {
        let bytes = self.str_bytes(string);
        match usize::try_from(index).ok().and_then(|i| bytes.get(i)) {
            Some(&byte) => Ok(u64::from(byte)),
            None => Err(Trap::Index { index, len: bytes.len() as u64 }),
        }
    }

    /// `to_bytes`
    pub fn to_bytes(&mut self, string: u64) -> Result<u64, Stop> {
        let len = self.str_len(string);
        self.roots.push(string);
        let array = self.alloc_array(Slot::Byte, len);
        let string = self.roots.pop();
        let array = array?;
        if len > 0 {
            // SAFETY: the new array has `len` elements of one byte.
            unsafe {
                let data = raw::load(array + ARRAY_DATA);
                self.copy(string + STR_BYTES, data + BUFFER_ELEMENTS, len)?;
            }
        }
        Ok(array)
    }

    /// `from_bytes`
    pub fn from_bytes(&mut self, array: u64) -> Result<u64, Stop> {
        let len = self.array_len(array);
        self.roots.push(array);
        let string = self.uninit_str(len);
        let array = self.roots.pop();
        let string = string?;
        if len > 0 {
            // SAFETY: an array of `len` bytes, by the contract of the `object` module.
            unsafe {
                let data = raw::load(array + ARRAY_DATA);
                self.copy(data + BUFFER_ELEMENTS, string + STR_BYTES, len)?;
            }
        }
        Ok(string)
    }

    /// `read_line`: the next line, or nil at the end.
    pub fn read_line(&mut self) -> Result<u64, Stop> {
        self.output.flush()?;
        match self.input.line(&self.interrupter)? {
            Some(line) => self.new_str(&line),
            None => Ok(0),
        }
    }

    /// `args`: a new array of the program's arguments.
    pub fn program_args(&mut self) -> Result<u64, Stop> {
        let args = std::mem::take(&mut self.args);
        let array = self.array_of_strings(&args);
        self.args = args;
        array
    }

    fn array_of_strings(&mut self, strings: &[Vec<u8>]) -> Result<u64, Stop> {
        let array = self.alloc_array(Slot::Ref, strings.len() as u64)?;
        let array = self.roots.push(array);
        for (i, bytes) in strings.iter().enumerate() {
            match self.new_str(bytes) {
                Ok(string) => self.array_set(self.roots.get(array), i as i64, string)?,
                Err(stop) => {
                    self.roots.truncate(array);
                    return Err(stop);
                }
            }
        }
        Ok(self.roots.pop())
    }
}

/// The bytes of a string, for the functions that take no runtime.
fn bytes<'a>(string: u64) -> &'a [u8] {
    // SAFETY: a live string, by the contract of the `object` module; the callers neither allocate nor
    // keep the answer.
    unsafe { raw::bytes(string + STR_BYTES, raw::load(string + STR_LEN)) }
}

/// Whether two strings have the same bytes; nil is equal to nil alone.
pub fn str_eq(a: u64, b: u64) -> bool {
    a == b || (a != 0 && b != 0 && bytes(a) == bytes(b))
}

/// -1, 0 or 1 as `a` is below, equal to or above `b`, byte by byte.
pub fn str_cmp(a: u64, b: u64) -> i64 {
    match bytes(a).cmp(bytes(b)) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}

/// `parse_int`
pub fn parse_int(string: u64, or: i64) -> i64 {
    parse::parse_int(bytes(string)).unwrap_or(or)
}

/// `parse_float`
pub fn parse_float(string: u64, or: f64) -> f64 {
    parse::parse_float(bytes(string)).unwrap_or(or)
}

/// How long the slice is, or the trap.
pub(crate) fn slice_len(from: i64, to: i64, len: u64) -> Result<u64, Trap> {
    if 0 <= from && from <= to && to as u64 <= len {
        Ok((to - from) as u64)
    } else {
        Err(Trap::Slice { from, to, len })
    }
}
