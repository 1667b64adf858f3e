//! Facts about a function.

pub mod frontier;
pub mod loops;
