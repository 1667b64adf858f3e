//! Tests of the target as a whole: modules are compiled, linked and run, and their results compared
//! with the interpreter's and the operator table's.

mod machine;
mod operators;
mod programs;
mod random;
pub(super) mod spill;
