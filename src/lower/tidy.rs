//! The end of a function's lowering: its blocks in reverse postorder, so that they read in the
//! order of the source, and behind them, emptied, those that no path reaches.

use crate::analysis::facts::FunctionFacts;
use crate::entity::{Arena, SideTable};
use crate::ir::cfg::Cfg;
use crate::ir::{Block, BlockData, Function, Terminator};
use std::mem::{replace, take};

/// Orders the blocks, and renames them in the facts.
pub(super) fn tidy(f: &mut Function, facts: &mut FunctionFacts) {
    let cfg = Cfg::compute(f);
    let mut order = cfg.rpo().to_vec();
    order.extend(f.blocks.keys().filter(|&block| !cfg.is_reachable(block)));
    let mut names = SideTable::with_len(Block(0), order.len());
    for (number, &block) in order.iter().enumerate() {
        names[block] = Block(number as u32);
    }
    let mut old = take(&mut f.blocks);
    let moved = order.iter().map(|&block| {
        let data = &mut old[block];
        let mut moved = BlockData {
            params: take(&mut data.params),
            insts: take(&mut data.insts),
            terminator: replace(&mut data.terminator, Terminator::Unreachable),
            loc: data.loc,
        };
        if cfg.is_reachable(block) {
            for edge in moved.terminator.edges_mut() {
                edge.target = names[edge.target];
            }
        } else {
            moved.insts.clear();
            moved.terminator = Terminator::Unreachable;
        }
        moved
    });
    f.blocks = moved.collect::<Arena<Block, BlockData>>();
    let reads = facts.reads.iter_mut().map(|read| &mut read.at.block);
    let writes = facts.writes.iter_mut().map(|write| &mut write.at.block);
    let mentions = facts.mentions.iter_mut().map(|mention| &mut mention.at.block);
    let statements = facts.statements.iter_mut().map(|statement| &mut statement.block);
    for block in reads.chain(writes).chain(mentions).chain(statements).chain(&mut facts.end) {
        *block = names[*block];
    }
}
