//! What an allocation must look like before its meaning can be asked: everything is there, in
//! order, and no index leads nowhere.

use super::{CheckPoint, Checked, Checker, fail};
use crate::mach::{Side, VInst};

impl<I: VInst> Checker<'_, I> {
    /// Everything is there, in order.
    pub(super) fn shape(&self) -> Checked {
        let (code, allocation) = (self.code, self.allocation);
        let whole = |message: &str| fail(CheckPoint::Function, message);
        if allocation.starts.len() != code.insts.len() + 1 || allocation.starts[0] != 0 {
            return whole("no places for some instruction");
        }
        for (i, inst) in code.insts.iter().enumerate() {
            let mut count = 0;
            inst.operands(&mut |_| count += 1);
            if allocation.starts[i + 1].checked_sub(allocation.starts[i]) != Some(count) {
                return fail(CheckPoint::Inst(i as u32), "one place for each operand is needed");
            }
        }
        if allocation.starts[code.insts.len()] as usize != allocation.places.len() {
            return whole("more places than operands");
        }
        if allocation.places.iter().any(|&place| !self.exists(place)) {
            return whole("an operand is in no such place");
        }
        if !allocation.edits.is_sorted_by_key(|(point, _)| *point) {
            return whole("edits are not sorted");
        }
        let ends: Vec<u32> = code.blocks.values().map(|block| block.insts.end).collect();
        for (point, _) in &allocation.edits {
            let terminates = |i: u32| ends.binary_search(&(i + 1)).is_ok();
            if point.inst as usize >= code.insts.len()
                || (point.side == Side::After && terminates(point.inst))
            {
                return fail(CheckPoint::Edits(*point), "edits at no such point");
            }
        }
        for moves in &allocation.edge_moves {
            let exists = code
                .blocks
                .get(moves.from)
                .is_some_and(|block| (moves.succ as usize) < block.succs.len());
            if !exists || moves.edits.is_empty() {
                return fail(CheckPoint::Edge(moves.from, moves.succ), "no such edge or no edits");
            }
        }
        if !allocation.edge_moves.is_sorted_by(|a, b| (a.from, a.succ) < (b.from, b.succ)) {
            return whole("edge moves are not sorted");
        }
        let safepoints = (0..code.insts.len() as u32)
            .filter(|&i| code.insts[i as usize].is_safepoint())
            .collect::<Vec<_>>();
        if !allocation.stack_maps.iter().map(|(inst, _)| *inst).eq(safepoints) {
            return whole("one stack map for each safepoint is needed");
        }
        if allocation.stack_maps.iter().any(|(_, slots)| !slots.is_sorted_by(|a, b| a < b)) {
            return whole("a stack map is not sorted");
        }
        Ok(())
    }
}
