//! Register allocation: virtual registers in, places and moves out; sees no target.
//!
//! The phases, in order:
//!
//! | file | phase |
//! |---|---|
//! | `layout.rs`, `position.rs`, `loops.rs` | the code read once: operands, positions, loops |
//! | `liveness.rs`, `intervals.rs` | live intervals with holes and uses |
//! | `hints.rs`, `reserved.rs` | what registers are good for, and where they are taken |
//! | `scan.rs` | the linear scan; `split.rs` where to cut, `spill.rs` what goes to a slot |
//! | `resolve.rs`, `homes.rs`, `slots.rs` | places, moves, stores, slots, stack maps |
//! | `parallel_move.rs` | moves put in sequence |
//! | `checker.rs` | the proof that it is right |
//!
//! Beside them: `dump.rs` prints intervals, `fake.rs` is a machine without hardware and
//! `generate.rs` makes random code for it, for tests and fuzzing.
//!
//! Contract: the code is in strict SSA form; every block can be reached; the entry has no
//! parameters and no predecessor; terminators define nothing (temps aside); each instruction's
//! constraints can be satisfied by the registers. The same input gives the same output.

pub mod checker;
pub mod fake;
pub mod generate;
pub mod parallel_move;
use crate::mach::*;
/// x
pub struct Options {
    /// x
    pub spill_everything: bool,
}
/// x
pub fn allocate<I: VInst>(_: &VCode<I>, _: &RegisterFile, _: &Options) -> Allocation {
    panic!()
}
/// x
pub fn check<I: VInst>(_: &VCode<I>, _: &Allocation, _: &RegisterFile) -> Result<(), String> {
    panic!()
}
/// x
pub fn dump_intervals<I>(_: &VCode<I>) -> String {
    String::new()
}
