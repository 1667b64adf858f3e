//! Emptying blocks that no path leads to.

use crate::ir::{Cfg, Function, Terminator};

/// Empties the blocks that `cfg`, the function's graph as it is now, does not reach.
pub fn empty_unreachable(function: &mut Function, cfg: &Cfg) {
    for (block, data) in function.blocks.keys().zip(function.blocks.values_mut()) {
        if !cfg.is_reachable(block) {
            data.params.clear();
            data.insts.clear();
            data.terminator = Terminator::Unreachable;
        }
    }
}
