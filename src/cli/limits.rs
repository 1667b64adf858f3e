//! The limits of a run on the command line.

use clap::Args;
use std::time::Duration;
use toyjit::engine::Engine;

/// How much a run may take.
#[derive(Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// The most memory that objects may take, such as 512M or 2G; a quarter of the machine's
    /// otherwise.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_heap: Option<u64>,

    /// The stack of machine code, such as 64M.
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = stack_size)]
    stack_size: usize,

    /// The most seconds that the run may take, such as 0.5.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// The most calls and rounds of loops of the run together; where it ends depends on nothing else.
    #[arg(long, value_name = "UNITS")]
    fuel: Option<u64>,
}

impl LimitArgs {
    /// An engine with these limits, but for the time, which is watched over from outside.
    pub fn apply(&self, engine: Engine) -> Engine {
        let mut engine = engine.stack_size(self.stack_size);
        if let Some(bytes) = self.max_heap {
            engine = engine.max_heap(bytes);
        }
        if let Some(units) = self.fuel {
            engine = engine.fuel(units);
        }
        engine
    }

    /// How long the run may take.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}

/// A number of bytes: digits, and K, M, G or T for powers of 1024.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = &text[digits.len()..];
    let shift = match unit.to_ascii_uppercase().trim_end_matches("IB").trim_end_matches('B') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(format!("`{unit}` is no unit; K, M, G and T are")),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "a size is a whole number, with K, M, G or T behind it or not")?;
    number.checked_mul(1 << shift).ok_or_else(|| "that is more than any machine has".to_owned())
}

/// Bytes of stack that are always needed, and that the address space has room for.
const STACK_SIZES: std::ops::RangeInclusive<u64> = 64 << 10..=1 << 40;

fn stack_size(text: &str) -> Result<usize, String> {
    let size = size(text)?;
    if !STACK_SIZES.contains(&size) {
        return Err("a stack has between 64K and 1T".to_owned());
    }
    usize::try_from(size).map_err(|error| error.to_string())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is wanted, such as 0.5")?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "a time is not below 0 and ends".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("2g"), Ok(2 << 30));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("2KB"), Ok(2 << 10));
        for wrong in ["", "M", "-1", "1.5G", "12X", "1 G", "99999999999T", "0x10", "1BB M"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(stack_size("1M"), Ok(1 << 20));
        assert!(stack_size("1").is_err());
        assert!(stack_size("16000000T").is_err());
    }

    #[test]
    fn times() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        for wrong in ["", "-1", "NaN", "inf", "1s", "1e300"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
