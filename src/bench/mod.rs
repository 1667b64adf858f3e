//! Measuring: programs run by several engines in turn, and what the times say.
//!
//! `measure` runs, `stats` sums up, `compare` makes ratios of what was taken in the same round,
//! `suite` is the programs that toyjit is measured by, `shapes` makes programs of any size. How it
//! is told stands in `cli/bench`.

pub mod compare;
pub mod measure;
pub mod shapes;
pub mod stats;
pub mod suite;

pub use compare::Comparison;
pub use measure::{Failure, Figures, Measured, Plan, Program, Variant, measure};
pub use stats::Summary;
