//! Numeric functions shared by folding, interpreters and machine code.

/// Float to int: toward zero, saturating at the ends, NaN gives 0.
pub fn float_to_int(x: f64) -> i64 {
    x as i64
}
