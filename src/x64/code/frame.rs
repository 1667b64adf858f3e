//! The frame of a function.
//!
//! From `rsp` up: words passed to callees, spill slots, padding, saved registers, the return
//! address. It is fixed from the prologue to the epilogue; where anything is called, `rsp` is a
//! multiple of 16.

use crate::mach::{Allocation, Edit, PReg, Place, RegSet, SpillSlot, VCode};
use crate::x64::inst::{Addr, Base, Callee, Inst, Width};
use crate::x64::regs::CALLEE_SAVED;
use toyjit_runtime::fault::{self, Fault};

/// See the module; sizes in bytes.
#[derive(Debug)]
pub(super) struct Frame {
    /// Words passed to callees.
    outgoing: u32,
    /// Saved registers, in the order of their pushes.
    pub(super) saved: Vec<PReg>,
    /// What the prologue takes off `rsp` after the pushes.
    pub(super) adjust: u32,
    /// Whether the prologue compares `rsp` with the limit.
    pub(super) checks_stack: bool,
}

/// Functions that call none and have a smaller frame live in the margin below the limit.
const SMALL: u32 = 256;

impl Frame {
    pub(super) fn of(code: &VCode<Inst>, allocation: &Allocation) -> Frame {
        let outgoing = code.insts.iter().map(outgoing_bytes).max().unwrap_or(0);
        let mut saved = written(allocation).intersection(CALLEE_SAVED);
        if fault::is(Fault::R13NotSaved) {
            saved = saved.without(crate::x64::regs::R13);
        }
        let saved: Vec<PReg> = saved.iter().collect();
        let pushed = 8 * saved.len() as u32;
        let mut adjust = outgoing + 8 * allocation.num_slots;
        let recurs = |inst: &Inst| {
            matches!(inst, Inst::Call { callee: Callee::Function(_) | Callee::Value, .. })
        };
        let checks_stack = code.insts.iter().any(recurs) || adjust + pushed >= SMALL;
        // Also the cold path of a check is a call.
        let calls = checks_stack || code.insts.iter().any(calls_anything);
        if calls && (adjust + pushed).is_multiple_of(16) && !fault::is(Fault::StackMisaligned) {
            adjust += 8;
        }
        Frame { outgoing, saved, adjust, checks_stack }
    }

    /// From `rsp` to the return address.
    pub(super) fn size(&self) -> u32 {
        self.adjust + 8 * self.saved.len() as u32
    }

    /// The offset of a slot from `rsp`.
    pub(super) fn slot(&self, slot: SpillSlot) -> u32 {
        self.outgoing + 8 * slot.0
    }
}

fn outgoing_bytes(inst: &Inst) -> u32 {
    match inst {
        Inst::Store {
            width: Width::Word, addr: Addr { base: Base::Outgoing, disp, .. }, ..
        }
        | Inst::FloatStore { addr: Addr { base: Base::Outgoing, disp, .. }, .. } => {
            disp.cast_unsigned() + 8
        }
        _ => 0,
    }
}

/// Whether an instruction calls something, if only on its cold path.
pub(super) fn calls_anything(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::Call { .. }
            | Inst::CheckBounds { .. }
            | Inst::CheckRegion { .. }
            | Inst::CheckZero { .. }
            | Inst::Barrier { .. }
            | Inst::Alloc { .. }
            | Inst::Poll
            | Inst::Burn
    )
}

/// All registers that the allocation names.
fn written(allocation: &Allocation) -> RegSet {
    let edits = allocation.edits.iter().map(|(_, edit)| edit);
    let edge_edits = allocation.edge_moves.iter().flat_map(|moves| &moves.edits);
    let moved = edits.chain(edge_edits).filter_map(|edit| match *edit {
        Edit::Move { to, .. } => to.reg(),
        Edit::Remat { to, .. } => Some(to),
    });
    allocation.places.iter().copied().filter_map(Place::reg).chain(moved).collect()
}
