//! Floating point functions, one of each: the same for folding and for running.
//!
//! They are the host library's, through Rust's `f64` methods, and never inlined, so that the Rust
//! compiler can't compute one of them in a way of its own.

macro_rules! host {
    ($($(#[$doc:meta])* $name:ident($($x:ident),+) = $value:expr;)+) => {$(
        $(#[$doc])*
        #[inline(never)]
        pub fn $name($($x: f64),+) -> f64 {
            $value
        }
    )+};
}

host! {
    /// e to the power of x.
    exp(x) = x.exp();
    /// Natural logarithm.
    ln(x) = x.ln();
    /// Logarithm to base 2.
    log2(x) = x.log2();
    /// Logarithm to base 10.
    log10(x) = x.log10();
    /// Sine.
    sin(x) = x.sin();
    /// Cosine.
    cos(x) = x.cos();
    /// Tangent.
    tan(x) = x.tan();
    /// Arc sine.
    asin(x) = x.asin();
    /// Arc cosine.
    acos(x) = x.acos();
    /// Arc tangent.
    atan(x) = x.atan();
    /// x to the power of y.
    pow(x, y) = x.powf(y);
    /// The angle of the point (x, y).
    atan2(y, x) = y.atan2(x);
    /// To the nearest integer, halves away from zero.
    round(x) = x.round();
    /// The remainder, with the sign of x.
    fmod(x, y) = x % y;
    /// The largest integer not above x.
    floor(x) = x.floor();
    /// The smallest integer not below x.
    ceil(x) = x.ceil();
    /// The integer part.
    trunc(x) = x.trunc();
}

/// Truncates toward zero; saturates at the ends, NaN gives 0.
#[inline]
pub fn float_to_int(x: f64) -> i64 {
    x as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding() {
        assert_eq!(
            (round(0.5), round(-0.5), round(2.5), round(0.49999999999999994)),
            (1.0, -1.0, 3.0, 0.0)
        );
        assert!(round(-0.2).is_sign_negative() && trunc(-0.2).is_sign_negative());
        assert_eq!((fmod(-7.5, 2.0), fmod(7.5, -2.0)), (-1.5, 1.5));
        assert!(fmod(1.0, 0.0).is_nan());
    }

    #[test]
    fn to_int_saturates() {
        assert_eq!(float_to_int(1e300), i64::MAX);
        assert_eq!(float_to_int(-1e300), i64::MIN);
        assert_eq!(float_to_int(f64::NAN), 0);
        assert_eq!(float_to_int(-2.9), -2);
    }
}
