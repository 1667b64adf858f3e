//! What Bril programs print and are given: floats with 17 digits, characters, arguments of `main`.

use std::io::Write;

use crate::region::error;
use crate::runtime::Runtime;
use crate::trap::Stop;

impl Runtime {
    /// Prints a float with 17 digits behind its point, with an exponent where its decimal logarithm
    /// is 10 or more to either side.
    pub fn print_bril_float(&mut self, value: f64) -> Result<(), Stop> {
        let mut text = Vec::with_capacity(32);
        put_float(&mut text, value);
        self.output.put(&text)
    }

    /// Prints a character.
    pub fn print_char(&mut self, value: i64) -> Result<(), Stop> {
        let value = u32::try_from(value).ok().and_then(char::from_u32).unwrap_or('\u{fffd}');
        self.output.put(value.encode_utf8(&mut [0; 4]).as_bytes())
    }

    /// Traps unless the program was given so many arguments.
    pub fn bril_args(&mut self, count: i64) -> Result<(), Stop> {
        let given = self.args.len();
        if given as i64 == count {
            return Ok(());
        }
        let s = if count == 1 { "" } else { "s" };
        Err(error(format!("@main takes {count} argument{s}, {given} given")))
    }

    /// The word of an argument: of an int (0), bool (1), float (2) or character (3).
    pub fn bril_arg(&mut self, kind: i64, index: i64) -> Result<i64, Stop> {
        let argument = usize::try_from(index).ok().and_then(|index| self.args.get(index));
        let text = argument.and_then(|bytes| std::str::from_utf8(bytes).ok());
        let (word, wanted) = match kind {
            0 => (text.and_then(|text| text.parse().ok()), "an int"),
            1 => (text.and_then(|text| text.parse::<bool>().ok()).map(i64::from), "true or false"),
            2 => (text.and_then(float).map(|x| x.to_bits() as i64), "a float"),
            _ => (text.and_then(character).map(|c| i64::from(u32::from(c))), "one character"),
        };
        word.ok_or_else(|| {
            let given = String::from_utf8_lossy(argument.map_or(b"", Vec::as_slice));
            error(format!("argument {} of @main is `{given}`, not {wanted}", index + 1))
        })
    }
}

/// A character's number, where it is one.
pub fn char_of(value: i64) -> Result<i64, Stop> {
    match u32::try_from(value).ok().and_then(char::from_u32) {
        Some(_) => Ok(value),
        None => Err(error(format!("{value} is the number of no character"))),
    }
}

fn float(text: &str) -> Option<f64> {
    text.parse().ok()
}

fn character(text: &str) -> Option<char> {
    let mut chars = text.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some(c), None, _) => Some(c),
        (Some('\\'), Some(letter), None) => Some(match letter {
            '0' => '\0',
            'a' => '\x07',
            'b' => '\x08',
            't' => '\t',
            'n' => '\n',
            'v' => '\x0b',
            'f' => '\x0c',
            'r' => '\r',
            _ => return None,
        }),
        _ => None,
    }
}

/// Writes a float as Bril prints it.
fn put_float(text: &mut Vec<u8>, value: f64) {
    if value.is_nan() {
        text.extend(b"NaN");
    } else if value.is_infinite() {
        text.extend(if value > 0.0 { &b"Infinity"[..] } else { b"-Infinity" });
    } else if value != 0.0 && value.abs().log10().abs() >= 10.0 {
        // Writing to a vector can't fail.
        let _ = write!(text, "{value:.17e}");
        if let Some(e) = text.iter().position(|&b| b == b'e')
            && text[e + 1] != b'-'
        {
            text.insert(e + 1, b'+');
        }
    } else {
        let _ = write!(text, "{value:.17}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: f64) -> String {
        let mut text = Vec::new();
        put_float(&mut text, value);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn floats() {
        assert_eq!(shown(0.1), "0.10000000000000001");
        assert_eq!(shown(-0.0), "-0.00000000000000000");
        assert_eq!(shown(1e6), "1000000.00000000000000000");
        assert_eq!(shown(1e10), "1.00000000000000000e+10");
        assert_eq!(shown(9_999_999_999.999_996), "9.99999999999999619e+9");
        assert_eq!(shown(1.000_000_000_000_000_2e-10), "1.00000000000000017e-10");
        assert_eq!(shown(-5e-324), "-4.94065645841246544e-324");
        assert_eq!(shown(f64::NAN), "NaN");
        assert_eq!(shown(f64::NEG_INFINITY), "-Infinity");
    }

    #[test]
    fn characters() {
        assert_eq!(character("x"), Some('x'));
        assert_eq!(character("\\n"), Some('\n'));
        assert_eq!(character("\\"), Some('\\'));
        assert_eq!((character(""), character("ab"), character("\\q")), (None, None, None));
        assert!(char_of(0xD800).is_err() && char_of(-1).is_err() && char_of(0x11_0000).is_err());
        assert_eq!(char_of(0x10_FFFF), Ok(0x10_FFFF));
    }
}
