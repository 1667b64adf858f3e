//! Moves on the way back to a loop's head, in front of it.
//!
//! A branch at a loop's end whose way back has moves would have to leave the loop by a jump over
//! them, and go round by another one. In front of the head the moves fall through to it: going
//! round takes one branch, and whoever enters the loop jumps over the moves once.
//!
//! One edge of each tight loop, that of the last branch back. Code → the edge of each head that has one, and
//! its emission.

use super::{EdgeIndex, Emitter};
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::mach::{Allocation, Edit, Origin, VBlock, VCode};
use crate::pooled;
use crate::x64::emit::{Asm, ShortJumps};
use crate::x64::inst::Inst;

pooled! { Option<usize> }

/// For each block: the index in `edge_moves` of the moves that stand before it.
pub(super) fn tops(
    code: &VCode<Inst>,
    allocation: &Allocation,
    edges: &EdgeIndex,
    forward: &[VBlock],
) -> Buffer<Option<usize>> {
    let mut tops = Buffer::filled(None, code.blocks.len());
    for (block, data) in code.blocks.iter().filter(|(_, data)| data.succs.len() > 1) {
        for (way, edge) in (0..).zip(&data.succs) {
            let head = edge.target;
            let goes_back = head <= block && forward[head.index()] == head;
            if !goes_back || !is_tight_loop(code, head) || code.blocks[head].preds.len() < 2 {
                continue;
            }
            let moves = edges.moves(allocation, block, way);
            let plain = |edit: &Edit| matches!(edit, Edit::Move { .. });
            if let Some(moves) = moves
                && allocation.edge_moves[moves].edits.iter().all(plain)
            {
                tops[head.index()] = Some(moves);
            }
        }
    }
    tops
}

impl Emitter<'_> {
    /// The moves before a loop's head, aligned as the loop shall be.
    pub(super) fn top(&mut self, head: VBlock, moves: usize) {
        let edits = &self.plan.allocation.edge_moves[moves].edits;
        let asm = std::mem::replace(&mut self.asm, Asm::new(ShortJumps::None));
        self.edits(edits.iter().copied());
        let len = std::mem::replace(&mut self.asm, asm).offset();
        self.asm.align_behind(len as usize);
        self.asm.bind(self.tops[head.index()]);
        let edge = &self.plan.allocation.edge_moves[moves];
        self.belongs(Origin::Edge(edge.from, edge.succ));
        self.edits(edits.iter().copied());
    }
}

/// Whether a block begins an innermost loop without calls that is small enough to be tight.
pub(super) fn is_tight_loop(code: &VCode<Inst>, block: VBlock) -> bool {
    const MOST_INSTS: u32 = 40;
    let blocks = &code.blocks;
    let last_back = |header: VBlock| {
        let preds = blocks[header].preds.iter().copied();
        preds.filter(|&pred| pred >= header).max()
    };
    let Some(last) = last_back(block).filter(|_| !blocks[block].cold) else { return false };
    let insts = blocks[block].insts.start..blocks[last].insts.end;
    insts.len() as u32 <= MOST_INSTS
        && !code.insts[insts.start as usize..insts.end as usize]
            .iter()
            .any(|inst| matches!(inst, Inst::Call { .. }))
        && (block.0 + 1..=last.0).all(|inner| last_back(VBlock(inner)).is_none())
}
