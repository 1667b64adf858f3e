//! Facts about a function.

pub mod facts;
