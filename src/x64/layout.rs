//! The order of blocks in the code.
//!
//! Reverse postorder, with each loop's blocks kept together and with blocks that only lead to the
//! program's end moved behind all others. Loops are found as natural loops: for each header, taken
//! from the innermost out, a walk backward from its back edges, which steps over the loops already
//! found.
//!
//! `Function` → [`Layout`]; linear but for the nesting of loops.

use crate::entity::SideTable;
use crate::ir::cfg::Cfg;
use crate::ir::dominators::Dominators;
use crate::ir::{Block, Function, Terminator};

/// Order, loops and coldness of the reachable blocks.
#[derive(Debug)]
pub struct Layout {
    /// The order of emission.
    pub order: Vec<Block>,
    /// For each block: 0, or the number of its innermost loop.
    loop_of: SideTable<Block, u32>,
    /// For each loop number: how deep it is; 0 for no loop.
    depths: Vec<u32>,
    cold: SideTable<Block, bool>,
}

struct Loop {
    header: Block,
    parent: u32,
}

impl Layout {
    /// The layout of `function`.
    pub fn compute(function: &Function, cfg: &Cfg, dominators: &Dominators) -> Self {
        let (loops, loop_of) = find_loops(function, cfg, dominators);
        let mut depths = vec![0; loops.len()];
        // An outer loop has a higher number than the loops in it.
        for i in (1..loops.len()).rev() {
            depths[i] = depths[loops[i].parent as usize] + 1;
        }
        let cold = find_cold(function, cfg);
        let order = order(cfg, &loops, &loop_of);
        let (cold_blocks, mut order): (Vec<_>, Vec<_>) = order.into_iter().partition(|&b| cold[b]);
        order.extend(cold_blocks);
        Self { order, loop_of, depths, cold }
    }

    /// How many loops a block is in.
    pub fn depth(&self, block: Block) -> u32 {
        self.depths[self.loop_of[block] as usize]
    }

    /// Whether both blocks have the same innermost loop.
    pub fn same_loop(&self, a: Block, b: Block) -> bool {
        self.loop_of[a] == self.loop_of[b]
    }

    /// Whether a block is rarely executed.
    pub fn is_cold(&self, block: Block) -> bool {
        self.cold[block]
    }
}

/// Loops by number (number 0 stands for no loop), inner before outer, and each block's innermost.
fn find_loops(
    function: &Function,
    cfg: &Cfg,
    dominators: &Dominators,
) -> (Vec<Loop>, SideTable<Block, u32>) {
    let mut loops = vec![Loop { header: crate::ir::ENTRY, parent: 0 }];
    let mut loop_of = SideTable::with_len(0u32, function.blocks.len());
    for header in cfg.postorder() {
        let mut work: Vec<Block> =
            cfg.preds(header).filter(|&pred| dominators.dominates(header, pred)).collect();
        if work.is_empty() {
            continue;
        }
        let number = loops.len() as u32;
        loops.push(Loop { header, parent: 0 });
        while let Some(block) = work.pop() {
            let mut inner = loop_of[block];
            if inner == 0 {
                loop_of[block] = number;
                if block != header {
                    work.extend(cfg.preds(block));
                }
                continue;
            }
            while loops[inner as usize].parent != 0 {
                inner = loops[inner as usize].parent;
            }
            if inner != number {
                loops[inner as usize].parent = number;
                let inner_header = loops[inner as usize].header;
                if inner_header != header {
                    work.extend(cfg.preds(inner_header));
                }
            }
        }
        // A header whose back edges all come from inner loops was not met on the way.
        if loop_of[header] == 0 {
            loop_of[header] = number;
        }
    }
    (loops, loop_of)
}

/// Blocks from which every path ends in `Unreachable`.
fn find_cold(function: &Function, cfg: &Cfg) -> SideTable<Block, bool> {
    let mut cold = SideTable::with_len(false, function.blocks.len());
    for block in cfg.postorder() {
        let terminator = &function.blocks[block].terminator;
        cold[block] = match terminator {
            Terminator::Unreachable => true,
            Terminator::Return(_) => false,
            Terminator::Jump(_) | Terminator::Branch { .. } => {
                terminator.edges().iter().all(|edge| cold[edge.target])
            }
        };
    }
    cold[crate::ir::ENTRY] = false;
    cold
}

/// Reverse postorder in which the blocks of a loop stand where its header stands.
fn order(cfg: &Cfg, loops: &[Loop], loop_of: &SideTable<Block, u32>) -> Vec<Block> {
    enum Item {
        Block(Block),
        Loop(u32),
    }
    let mut items: Vec<Vec<Item>> = loops.iter().map(|_| Vec::new()).collect();
    for &block in cfg.rpo() {
        let number = loop_of[block];
        if number != 0 && loops[number as usize].header == block {
            items[loops[number as usize].parent as usize].push(Item::Loop(number));
        }
        items[number as usize].push(Item::Block(block));
    }
    let mut order = Vec::with_capacity(cfg.rpo().len());
    let mut open = vec![std::mem::take(&mut items[0]).into_iter()];
    while let Some(list) = open.last_mut() {
        match list.next() {
            Some(Item::Block(block)) => order.push(block),
            Some(Item::Loop(number)) => {
                open.push(std::mem::take(&mut items[number as usize]).into_iter());
            }
            None => {
                open.pop();
            }
        }
    }
    order
}
