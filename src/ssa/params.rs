//! Taking parameters out of blocks, and their arguments out of edges.

use crate::ir::{ENTRY, Function, Terminator, Value, ValueDef};

/// Keeps the block parameters that `keep` names and those of the entry; the others and their
/// arguments go. Linear in all parameters and arguments.
pub fn retain_params(function: &mut Function, keep: impl Fn(Value) -> bool) {
    let dropped = |block, params: &[Value]| block != ENTRY && !params.iter().all(|&p| keep(p));
    let changed: Vec<bool> =
        function.blocks.iter().map(|(block, data)| dropped(block, &data.params)).collect();
    if !changed.contains(&true) {
        return;
    }
    for block in function.blocks.keys() {
        if !function.succs(block).any(|succ| changed[succ.0 as usize]) {
            continue;
        }
        let mut terminator =
            std::mem::replace(&mut function.blocks[block].terminator, Terminator::Unreachable);
        for edge in terminator.edges_mut() {
            if changed[edge.target.0 as usize] {
                let mut params = function.blocks[edge.target].params.iter();
                edge.args.retain(|_| params.next().is_some_and(|&param| keep(param)));
            }
        }
        function.blocks[block].terminator = terminator;
    }
    for (block, data) in function.blocks.keys().zip(function.blocks.values_mut()) {
        if changed[block.0 as usize] {
            data.params.retain(|param| keep(*param));
            for (i, &param) in data.params.iter().enumerate() {
                function.values[param].def = ValueDef::Param(block, i as u32);
            }
        }
    }
}
