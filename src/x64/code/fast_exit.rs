//! Leaving a function before it has a frame (a small case of shrink wrapping).
//!
//! Where the entry block decides whether there is anything to do, and one way leads straight to a
//! return, the frame is made on the other way only: recursive functions end half of their calls so.
//! The allocator, which knows nothing of this, mostly moves parameters to preserved registers or
//! slots at once. Such moves are *delayed* until the frame is there, and until then their sources
//! are read in their stead, as long as nobody overwrites them.
//!
//! `VCode` + `Allocation` → the code up to the decision and up to the return, if all of it can do
//! without a frame.

use super::frame::{Frame, calls_anything};
use crate::mach::{
    Allocation, Constraint, Edit, PReg, Place, ProgPoint, Role, Side, VBlock, VCode, VInst,
};
use crate::x64::inst::{Addr, Base, Compare, Inst};
use crate::x64::regs::{CALLEE_SAVED, SCRATCH};

/// What is executed: the allocator's code, or an instruction with its number.
pub(super) enum Step {
    Edit(Edit),
    Inst(Inst<Place>, u32),
}

/// See the module.
pub(super) struct FastExit {
    /// The block that returns.
    pub(super) block: VBlock,
    /// Which successor of the entry it is.
    pub(super) way: usize,
    /// The entry block's code.
    pub(super) entry: Vec<Step>,
    /// What decides.
    pub(super) compare: Compare<Place>,
    /// The code of the block that returns.
    pub(super) leave: Vec<Step>,
    /// What is to be done once there is a frame.
    pub(super) delayed: Vec<Edit>,
}

/// The most instructions of the two blocks.
const MOST: usize = 8;

impl FastExit {
    pub(super) fn find(
        code: &VCode<Inst>,
        allocation: &Allocation,
        frame: &Frame,
    ) -> Option<FastExit> {
        const ENTRY: VBlock = VBlock(0);
        let entry = &code.blocks[ENTRY];
        if frame.size() == 0 || entry.succs.len() != 2 {
            return None;
        }
        let way = entry.succs.iter().position(|edge| {
            let block = &code.blocks[edge.target];
            let returns = matches!(code.insts[block.insts.end as usize - 1], Inst::Return { .. });
            returns && block.preds.len() == 1 && block.insts.len() + entry.insts.len() <= MOST
        })?;
        let block = entry.succs[way].target;
        let mut walk = Walk {
            code,
            allocation,
            sources: [None; PReg::COUNT],
            steps: Vec::new(),
            delayed: Vec::new(),
        };
        walk.block(ENTRY)?;
        let mut entry = std::mem::take(&mut walk.steps);
        let Some(Step::Inst(Inst::Branch { compare }, _)) = entry.pop() else { return None };
        let delayed = walk.delayed.clone();
        let mut of_entry = allocation.edge_moves.iter().take_while(|moves| moves.from == ENTRY);
        if let Some(moves) = of_entry.find(|moves| moves.succ as usize == way) {
            for &edit in &moves.edits {
                walk.edit(edit)?;
            }
        }
        walk.block(block)?;
        Some(FastExit { block, way, entry, compare, leave: walk.steps, delayed })
    }
}

/// The walk over the code that shall do without a frame; answers `None` where it can't.
struct Walk<'a> {
    code: &'a VCode<Inst>,
    allocation: &'a Allocation,
    /// For a preserved register, the register that holds what it shall hold.
    sources: [Option<PReg>; PReg::COUNT],
    steps: Vec<Step>,
    delayed: Vec<Edit>,
}

impl Walk<'_> {
    fn block(&mut self, block: VBlock) -> Option<()> {
        for index in self.code.blocks[block].insts.clone() {
            self.edits_at(ProgPoint { inst: index, side: Side::Before })?;
            self.inst(index)?;
            self.edits_at(ProgPoint { inst: index, side: Side::After })?;
        }
        Some(())
    }

    fn edits_at(&mut self, point: ProgPoint) -> Option<()> {
        let edits = &self.allocation.edits;
        let from = edits.partition_point(|(at, _)| *at < point);
        for &(_, edit) in edits[from..].iter().take_while(|(at, _)| *at == point) {
            self.edit(edit)?;
        }
        Some(())
    }

    fn edit(&mut self, edit: Edit) -> Option<()> {
        let (to, from) = match edit {
            Edit::Move { to, from: Place::Reg(from) } => (to, self.read(from)?),
            Edit::Move { from: Place::Slot(_), .. } => return None,
            Edit::Remat { to, .. } => {
                self.write(to)?;
                self.steps.push(Step::Edit(edit));
                return Some(());
            }
        };
        let edit = Edit::Move { to, from: Place::Reg(from) };
        match to {
            Place::Reg(to) if !CALLEE_SAVED.contains(to) => {
                if to != from {
                    self.write(to)?;
                    self.steps.push(Step::Edit(edit));
                }
                return Some(());
            }
            Place::Reg(to) => self.sources[usize::from(to.0)] = Some(from),
            Place::Slot(_) => {}
        }
        // The prologue may need the scratch register.
        if from == SCRATCH {
            return None;
        }
        self.delayed.push(edit);
        Some(())
    }

    /// The register to read instead of `reg`.
    fn read(&self, reg: PReg) -> Option<PReg> {
        if CALLEE_SAVED.contains(reg) { self.sources[usize::from(reg.0)] } else { Some(reg) }
    }

    /// Whether `reg` may be written here.
    fn write(&self, reg: PReg) -> Option<()> {
        let needed = self
            .delayed
            .iter()
            .any(|edit| matches!(*edit, Edit::Move { from: Place::Reg(from), .. } if from == reg));
        (!needed && !CALLEE_SAVED.contains(reg)).then_some(())
    }

    fn inst(&mut self, index: u32) -> Option<()> {
        let inst = &self.code.insts[index as usize];
        if calls_anything(inst) || reads_incoming(inst) {
            return None;
        }
        inst.clobbers().iter().try_for_each(|reg| self.write(reg))?;
        let mut places = self.allocation.of(index as usize).iter().copied();
        let mut fits = true;
        let mut first = None;
        let placed = inst.map(&mut |_, role, constraint| {
            let place = places.next().and_then(Place::reg);
            let place = place.and_then(|reg| match role {
                Role::Use | Role::LateUse => self.read(reg),
                Role::Def | Role::EarlyDef | Role::Temp => self.write(reg).map(|()| reg),
            });
            let first = *first.get_or_insert(place);
            fits &= place.is_some() && (constraint != Constraint::SameAsFirst || place == first);
            Place::Reg(place.unwrap_or(SCRATCH))
        });
        fits.then(|| self.steps.push(Step::Inst(placed, index)))
    }
}

/// Whether an instruction reads what the caller passed on the stack.
fn reads_incoming(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::Load { addr: Addr { base: Base::Incoming, .. }, .. }
            | Inst::FloatLoad { addr: Addr { base: Base::Incoming, .. }, .. }
    )
}
