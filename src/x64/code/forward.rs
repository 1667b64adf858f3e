//! Jump threading: blocks without any code but a jump are jumped over.

use super::EdgeIndex;
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::mach::{Allocation, VBlock, VCode};
use crate::pooled;
use crate::x64::inst::Inst;

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

pooled! { State }

/// For each block, where a jump to it ends up. Jumps that lead around in a circle stay.
pub(super) fn forwarding(
    code: &VCode<Inst>,
    allocation: &Allocation,
    edges: &EdgeIndex,
) -> Buffer<VBlock> {
    let mut forward = Buffer::filled(VBlock(0), code.blocks.len());
    let leads_to = |block: VBlock| {
        let data = &code.blocks[block];
        let &[Inst::Jump] = &code.insts[data.insts.start as usize..data.insts.end as usize] else {
            return None;
        };
        let at = data.insts.start;
        let first = allocation.edits.partition_point(|(point, _)| point.inst < at);
        let edited = allocation.edits.get(first).is_some_and(|(point, _)| point.inst == at);
        let entered_with_moves = matches!(data.preds[..], [pred]
        if code.blocks[pred].succs.len() > 1
            && (0..).zip(&code.blocks[pred].succs).any(|(i, edge)| {
                edge.target == block && edges.moves(allocation, pred, i).is_some()
            }));
        let quiet = block.index() != 0
            && !edited
            && !entered_with_moves
            && edges.moves(allocation, block, 0).is_none();
        quiet.then_some(data.succs[0].target)
    };
    let mut state = Buffer::filled(State::New, code.blocks.len());
    let mut path: Buffer<VBlock> = Buffer::new();
    for start in code.blocks.keys() {
        let mut block = start;
        let end = loop {
            match state[block.index()] {
                State::Done => break forward[block.index()],
                State::Open => break block,
                State::New => {}
            }
            state[block.index()] = State::Open;
            path.push(block);
            match leads_to(block) {
                Some(target) => block = target,
                None => break block,
            }
        };
        for block in path.drain(..) {
            state[block.index()] = State::Done;
            forward[block.index()] = end;
        }
    }
    forward
}
