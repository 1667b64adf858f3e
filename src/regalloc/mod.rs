//! Register allocation: virtual registers in, places and moves out; sees no target.
//!
//! The phases, in order:
//!
//! | file | phase |
//! |---|---|
//! | `layout.rs`, `position.rs`, `loops.rs` | the code read once: operands, positions, loops |
//! | `liveness.rs`, `intervals.rs` | live intervals with holes and uses |
//! | `hints.rs`, `reserved.rs` | what registers are good for, and where they are taken |
//! | `scan.rs`, `bounds.rs` | the linear scan; `split.rs` where to cut, `rejoin.rs` until where, `spill.rs` what goes to a slot |
//! | `resolve.rs`, `homes.rs`, `passages.rs`, `slots.rs` | places, moves, stores, slots, stack maps |
//! | `parallel_move.rs` | moves put in sequence |
//! | `checker.rs` | the proof that it is right |
//!
//! Beside them: `event.rs` says what can be watched, `dump.rs` prints intervals, `fake.rs` is a machine without hardware and
//! `generate.rs` makes random code for it, for tests and fuzzing.
//!
//! Contract: the code is in strict SSA form; every block can be reached; the entry has no
//! parameters and no predecessor; terminators define nothing (temps aside); each instruction's
//! constraints can be satisfied by the registers. The same input gives the same output.

pub mod checker;
pub mod event;
pub mod fake;
pub mod generate;
pub mod parallel_move;

mod bounds;
mod dump;
mod hints;
mod homes;
mod intervals;
mod layout;
mod liveness;
mod loops;
mod passages;
mod position;
mod rejoin;
mod reserved;
mod resolve;
mod scan;
mod slots;
mod spill;
mod split;

use crate::mach::{Allocation, Edit, Place, RegSet, RegisterFile, VCode, VInst};
use crate::watch::Watch;
use event::Event;
use layout::Layout;
use scan::Scan;

/// How to allocate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Every value lives in its slot and is in a register only where an instruction needs it.
    pub spill_everything: bool,
}

/// Allocates registers and spill slots for a function.
pub fn allocate<I: VInst>(
    code: &VCode<I>,
    registers: &RegisterFile,
    options: &Options,
) -> Allocation {
    allocate_counted(code, registers, options, &mut ()).0
}

/// The same, watched.
pub fn allocate_watched<I: VInst>(
    code: &VCode<I>,
    registers: &RegisterFile,
    options: &Options,
    watch: &mut impl Watch<Event>,
) -> Allocation {
    allocate_counted(code, registers, options, watch).0
}

/// The allocation, and the work that it was: steps of all searches, pieces, ranges and moves.
fn allocate_counted<I: VInst>(
    code: &VCode<I>,
    registers: &RegisterFile,
    options: &Options,
    watch: &mut impl Watch<Event>,
) -> (Allocation, u64) {
    let layout = Layout::new(code);
    let (intervals, definitions) = liveness::intervals(&layout);
    let mut scan = Scan::new(&layout, &definitions, registers, *options, intervals, &mut *watch);
    scan.run();
    let mut work = scan.work();
    let (intervals, hints) = scan.finish();
    let allocation =
        resolve::resolve(layout, &definitions, &intervals, &hints, registers, &mut work, watch);
    (allocation, work)
}

/// The live intervals of a function and the homes that they get, as text.
pub fn dump_intervals<I: VInst>(
    code: &VCode<I>,
    registers: &RegisterFile,
    options: &Options,
) -> String {
    let layout = Layout::new(code);
    let (intervals, definitions) = liveness::intervals(&layout);
    let mut nobody = ();
    let mut scan = Scan::new(&layout, &definitions, registers, *options, intervals, &mut nobody);
    scan.run();
    dump::intervals(&layout, &scan.intervals, registers)
}

/// All registers that the allocated code writes; the prologue saves those of them that a call
/// preserves.
pub fn written_registers<I: VInst>(code: &VCode<I>, allocation: &Allocation) -> RegSet {
    let edits = allocation.edits.iter().map(|(_, edit)| edit);
    let on_edges = allocation.edge_moves.iter().flat_map(|moves| &moves.edits);
    let moved = edits.chain(on_edges).filter_map(|edit| match *edit {
        Edit::Move { to, .. } => to.reg(),
        Edit::Remat { to, .. } => Some(to),
    });
    let places = allocation.places.iter().filter_map(|place: &Place| place.reg());
    let clobbers = code.insts.iter().map(|inst| inst.clobbers());
    let named: RegSet = moved.chain(places).collect::<RegSet>();
    clobbers.fold(named, RegSet::union)
}

#[cfg(test)]
mod tests;
