//! Figures as text.

use toyjit::bench::Summary;

/// Three digits that count.
pub fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// A time in its fitting unit.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 0.9995 => format!("{} s", digits(s)),
        s if s >= 0.000_999_5 => format!("{} ms", digits(s * 1e3)),
        s => format!("{} µs", digits(s * 1e6)),
    }
}

/// A part as per cent.
pub fn percent(part: f64) -> String {
    match part * 100.0 {
        p if p < 9.95 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// How far an interval goes, where there is one: of one value there is none.
pub fn spread(summary: &Summary) -> String {
    match summary.count {
        1 => String::new(),
        _ => format!(" ±{}", percent(summary.spread())),
    }
}

/// A time with how far its interval goes.
pub fn time_of(summary: &Summary) -> String {
    time(summary.median) + &spread(summary)
}

/// A factor.
pub fn factor(summary: &Summary) -> String {
    format!("×{:.2}", summary.median)
}

/// A factor with its interval.
pub fn factor_between(summary: &Summary) -> String {
    format!("×{:.2} ({:.2} to {:.2})", summary.median, summary.low, summary.high)
}

/// Bytes in mebibytes.
pub fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        assert_eq!(time(1.2345), "1.23 s");
        assert_eq!(time(0.99999), "1.00 s");
        assert_eq!(time(0.041_26), "41.3 ms");
        assert_eq!(time(0.000_412_6), "413 µs");
        assert_eq!(time(0.0), "0.000 µs");
        assert_eq!(percent(0.0314), "3.1 %");
        assert_eq!(percent(0.314), "31 %");
        assert_eq!(digits(99.96), "100");
        let summary = Summary::of(&[1.0, 2.0, 4.0]).expect("values");
        assert_eq!(time_of(&summary), "2.00 s ±100 %");
        assert_eq!(time_of(&Summary::of(&[2.0]).expect("a value")), "2.00 s");
        assert_eq!(factor_between(&summary), "×2.00 (1.00 to 4.00)");
    }
}
