//! Register allocation.

pub mod parallel_move;
