//! `parse_int` and `parse_float`: exactly the forms of LANGUAGE.md §9.10, nothing that Rust's own
//! parsers take besides.

/// The int that `text` denotes, spaces around it aside: an optional `-`, then digits.
pub fn parse_int(text: &[u8]) -> Option<i64> {
    let (negative, digits) = sign(trim(text));
    if digits.is_empty() {
        return None;
    }
    // Counted downward, since the smallest int has no positive counterpart.
    let mut value: i64 = 0;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_sub(i64::from(byte - b'0'))?;
    }
    if negative { Some(value) } else { value.checked_neg() }
}

/// The float that `text` denotes, spaces around it aside: an optional `-`, digits, a `.` with digits
/// and an exponent if wanted. Too large a number is none.
pub fn parse_float(text: &[u8]) -> Option<f64> {
    let text = trim(text);
    let rest = skip_digits(sign(text).1)?;
    let rest = match rest.strip_prefix(b".") {
        Some(fraction) => skip_digits(fraction)?,
        None => rest,
    };
    let rest = match rest {
        [b'e' | b'E', exponent @ ..] => {
            let digits = match exponent {
                [b'+' | b'-', digits @ ..] => digits,
                digits => digits,
            };
            skip_digits(digits)?
        }
        rest => rest,
    };
    if !rest.is_empty() {
        return None;
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// Takes the spaces at both ends away.
fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' '] = text {
        text = rest;
    }
    text
}

/// Whether there is a `-` in front, and what follows it.
fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    }
}

/// What follows the digits in front; `None` where there is no digit.
fn skip_digits(text: &[u8]) -> Option<&[u8]> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then(|| &text[count..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ints() {
        let good: &[(&str, i64)] = &[
            ("42", 42),
            ("-7", -7),
            ("  12  ", 12),
            ("007", 7),
            ("-0", 0),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
            ("00000000000000000000000000000001", 1),
        ];
        for &(text, value) in good {
            assert_eq!(parse_int(text.as_bytes()), Some(value), "{text}");
        }
        let bad = [
            "",
            "  ",
            "-",
            "+5",
            "1_0",
            "\t1",
            "1\n",
            "1 2",
            "- 1",
            "--1",
            "0x1",
            "1.0",
            "9223372036854775808",
        ];
        for text in bad {
            assert_eq!(parse_int(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn floats() {
        let good: &[(&str, f64)] = &[
            ("1.5", 1.5),
            ("-0.25", -0.25),
            ("3", 3.0),
            (" 2.5e3 ", 2500.0),
            ("1E+2", 100.0),
            ("1e-7", 1e-7),
            ("007.50", 7.5),
            ("1e-999", 0.0),
        ];
        for &(text, value) in good {
            assert_eq!(parse_float(text.as_bytes()), Some(value), "{text}");
        }
        let bad = [
            "", ".5", "5.", "1e", "1e+", "+1.0", "inf", "nan", "-inf", "1e999", "1_0.0", "1.5x",
            "1.2.3", "1 2",
        ];
        for text in bad {
            assert_eq!(parse_float(text.as_bytes()), None, "{text:?}");
        }
    }
}
