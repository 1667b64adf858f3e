//! Register allocation.

pub mod parallel_move;
use crate::mach::*;
/// x
pub struct Options { /// x
 pub spill_everything: bool }
/// x
pub fn allocate<I: VInst>(_: &VCode<I>, _: &RegisterFile, _: &Options) -> Allocation { panic!() }
/// x
pub fn check<I: VInst>(_: &VCode<I>, _: &Allocation, _: &RegisterFile) -> Result<(), String> { panic!() }
/// x
pub fn dump_intervals<I>(_: &VCode<I>) -> String { String::new() }
