//! Moves on the way back to a loop's head, in front of it.
//!
//! A branch at a loop's end whose way back has moves would have to leave the loop by a jump over
//! them, and go round by another one. In front of the head the moves fall through to it: going
//! round takes one branch, and whoever enters the loop jumps over the moves once.
//!
//! One edge of each tight loop, that of the last branch back. Code → the edge of each head that has one, and
//! its emission.

use super::{Emitter, edge_moves, is_tight_loop};
use crate::entity::SideTable;
use crate::mach::{Allocation, Edit, VBlock, VCode};
use crate::x64::emit::Asm;
use crate::x64::inst::Inst;

/// For each block: the index in `edge_moves` of the moves that stand before it.
pub(super) fn tops(
    code: &VCode<Inst>,
    allocation: &Allocation,
    forward: &SideTable<VBlock, VBlock>,
) -> SideTable<VBlock, Option<usize>> {
    let mut tops = SideTable::with_len(None, code.blocks.len());
    for (block, data) in code.blocks.iter().filter(|(_, data)| data.succs.len() > 1) {
        for (way, edge) in (0..).zip(&data.succs) {
            let head = edge.target;
            let goes_back = head <= block && forward[head] == head;
            if !goes_back || !is_tight_loop(code, head) || code.blocks[head].preds.len() < 2 {
                continue;
            }
            let moves = edge_moves(allocation, block, way);
            let plain = |edit: &Edit| matches!(edit, Edit::Move { .. });
            if let Some(moves) = moves
                && allocation.edge_moves[moves].edits.iter().all(plain)
            {
                tops[head] = Some(moves);
            }
        }
    }
    tops
}

impl Emitter<'_> {
    /// The moves before a loop's head, aligned as the loop shall be.
    pub(super) fn top(&mut self, head: VBlock, moves: usize) {
        let edits = &self.plan.allocation.edge_moves[moves].edits;
        let asm = std::mem::replace(&mut self.asm, Asm::new(Vec::new()));
        self.edits(edits.iter().copied());
        let len = std::mem::replace(&mut self.asm, asm).offset();
        self.asm.align_behind(len as usize);
        self.asm.bind(self.tops[head]);
        self.edits(edits.iter().copied());
    }
}
