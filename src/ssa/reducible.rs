//! Whether each cycle of a graph is entered at one block.
//!
//! `Cfg` → yes or no, linear, without dominators where the code is structured.

use crate::buffer::Buffer;
use crate::ir::cfg::Cfg;
use crate::ir::dominators::Dominators;
use crate::ir::{Block, Function};

/// Whether some cycle of the graph can be entered at more than one block.
pub(super) fn is_irreducible(cfg: &Cfg, function: &Function) -> bool {
    if !function.may_loop() {
        return false;
    }
    let mut retreating = Vec::new();
    for (number, &block) in (0u32..).zip(cfg.rpo()) {
        for succ in function.succs(block) {
            if cfg.rpo_number(succ).is_some_and(|n| n <= number) {
                retreating.push((block, succ));
            }
        }
    }
    if retreating.is_empty() || has_whole_loops(cfg, &retreating) {
        return false;
    }
    let dominators = Dominators::compute(cfg);
    retreating.iter().any(|&(from, to)| !dominators.dominates(to, from))
}

/// Whether, in reverse postorder, no edge comes from before the head of a retreating edge to what
/// stands behind it up to the edge's source. Then each head dominates the source: a path that comes
/// there without it would have to jump over the source, and go back by an edge of the same kind, to
/// the source of which again it would have to jump too far. Loops of structured code are like that.
fn has_whole_loops(cfg: &Cfg, retreating: &[(Block, Block)]) -> bool {
    let number = |block: Block| cfg.rpo_number(block).unwrap_or(0);
    // By number of the head: the number of the last source.
    let mut ends = Buffer::filled(0, cfg.rpo().len());
    for &(from, to) in retreating {
        let end = &mut ends[number(to) as usize];
        *end = number(from).max(*end);
    }
    // The stretches that are open, the latest head last.
    let mut open: Buffer<(u32, u32)> = Buffer::new();
    for (at, &block) in (0u32..).zip(cfg.rpo()) {
        while open.last().is_some_and(|&(_, end)| end < at) {
            open.pop();
        }
        if let Some(&(head, _)) = open.last()
            && cfg.preds(block).any(|pred| number(pred) < head)
        {
            return false;
        }
        // A block that leads to itself alone is dominated by itself.
        if ends[at as usize] > at {
            open.push((at, ends[at as usize]));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::loops::Loops;
    use crate::ir::{ENTRY, Edge, FuncRef, Op, Signature, Terminator};

    #[test]
    fn agrees_with_dominators() {
        let mut whole = 0;
        arbtest::arbtest(|u| {
            let mut f = Function::new("g", FuncRef(0), Signature::default());
            let zero = f.int(0);
            let count = u.int_in_range(2..=12u32)?;
            (1..count).for_each(|_| _ = f.add_block());
            for block in f.blocks.keys() {
                // Most edges lead near, so that many graphs have loops of one entry.
                let near = block.0.saturating_sub(2).max(1)..=(block.0 + 2).min(count - 1);
                let mut edge = || u.int_in_range(near.clone()).map(|b| Edge::to(Block(b)));
                let edges = [edge()?, edge()?];
                f.blocks[block].terminator =
                    Terminator::Branch { op: Op::IEq, args: [zero, zero], edges };
            }
            let cfg = Cfg::compute(&f);
            let loops = Loops::compute(&cfg, &Dominators::compute(&cfg));
            assert_eq!(is_irreducible(&cfg, &f), loops.is_irreducible());
            let back = |&block: &Block| f.succs(block).map(move |to| (block, to));
            let retreating: Vec<_> = cfg.rpo().iter().flat_map(back).collect();
            let retreating: Vec<_> = retreating
                .into_iter()
                .filter(|&(from, to)| cfg.rpo_number(to) <= cfg.rpo_number(from))
                .collect();
            assert!(cfg.is_reachable(ENTRY));
            if has_whole_loops(&cfg, &retreating) {
                whole += usize::from(!retreating.is_empty());
                assert!(!loops.is_irreducible());
            }
            Ok(())
        });
        assert!(whole > 0);
    }
}
