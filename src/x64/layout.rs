//! The order of blocks in the code.
//!
//! Reverse postorder, with each loop's blocks kept together and with blocks that only lead to the
//! program's end moved behind all others. Loops are found as natural loops: for each header, taken
//! from the innermost out, a walk backward from its back edges, which steps over the loops already
//! found.
//!
//! `Function` → [`Layout`]; linear but for the nesting of loops.

use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::ir::cfg::Cfg;
use crate::ir::dominators::Dominators;
use crate::ir::{Block, Function, Terminator};
use crate::pooled;

/// Order, loops and coldness of the reachable blocks.
#[derive(Debug)]
pub struct Layout {
    /// The order of emission.
    pub order: Buffer<Block>,
    /// For each block: 0, or the number of its innermost loop.
    loop_of: Buffer<u32>,
    /// For each loop number: how deep it is; 0 for no loop.
    depths: Buffer<u32>,
    /// For each block.
    cold: Buffer<bool>,
}

#[derive(Clone, Copy)]
struct Loop {
    header: Block,
    parent: u32,
}

impl Layout {
    /// The layout of `function`.
    pub fn compute(function: &Function, cfg: &Cfg) -> Self {
        let (loops, loop_of) = find_loops(function, cfg);
        let mut depths = Buffer::filled(0, loops.len());
        // An outer loop has a higher number than the loops in it.
        for i in (1..loops.len()).rev() {
            depths[i] = depths[loops[i].parent as usize] + 1;
        }
        let cold = find_cold(function, cfg);
        let all = order(cfg, &loops, &loop_of);
        let mut order: Buffer<Block> =
            all.iter().copied().filter(|block| !cold[block.index()]).collect();
        order.extend(all.iter().copied().filter(|block| cold[block.index()]));
        Self { order, loop_of, depths, cold }
    }

    /// How many loops a block is in.
    pub fn depth(&self, block: Block) -> u32 {
        self.depths[self.loop_of[block.index()] as usize]
    }

    /// Whether both blocks have the same innermost loop.
    pub fn same_loop(&self, a: Block, b: Block) -> bool {
        self.loop_of[a.index()] == self.loop_of[b.index()]
    }

    /// Whether a block is rarely executed.
    pub fn is_cold(&self, block: Block) -> bool {
        self.cold[block.index()]
    }
}

/// Loops by number (number 0 stands for no loop), inner before outer, and each block's innermost.
fn find_loops(function: &Function, cfg: &Cfg) -> (Buffer<Loop>, Buffer<u32>) {
    let mut loops = Buffer::filled(Loop { header: crate::ir::ENTRY, parent: 0 }, 1);
    let mut loop_of = Buffer::filled(0u32, function.blocks.len());
    if !function.may_loop() {
        return (loops, loop_of);
    }
    let dominators = Dominators::compute(cfg);
    let mut work: Buffer<Block> = Buffer::new();
    for header in cfg.postorder() {
        work.extend(cfg.preds(header).filter(|&pred| dominators.dominates(header, pred)));
        if work.is_empty() {
            continue;
        }
        let number = loops.len() as u32;
        loops.push(Loop { header, parent: 0 });
        while let Some(block) = work.pop() {
            let mut inner = loop_of[block.index()];
            if inner == 0 {
                loop_of[block.index()] = number;
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
        if loop_of[header.index()] == 0 {
            loop_of[header.index()] = number;
        }
    }
    (loops, loop_of)
}

/// Blocks from which every path ends in `Unreachable`.
fn find_cold(function: &Function, cfg: &Cfg) -> Buffer<bool> {
    let mut cold = Buffer::filled(false, function.blocks.len());
    for block in cfg.postorder() {
        let terminator = &function.blocks[block].terminator;
        cold[block.index()] = match terminator {
            Terminator::Unreachable => true,
            Terminator::Return(_) => false,
            Terminator::Jump(_) | Terminator::Branch { .. } | Terminator::Switch(_) => {
                terminator.edges().iter().all(|edge| cold[edge.target.index()])
            }
        };
    }
    cold[crate::ir::ENTRY.index()] = false;
    cold
}

/// What a loop's list holds: a block, or the list of a loop in it.
#[derive(Clone, Copy)]
enum Item {
    Block(Block),
    Loop(u32),
}

pooled! { Loop, Item }

/// Reverse postorder in which the blocks of a loop stand where its header stands.
fn order(cfg: &Cfg, loops: &[Loop], loop_of: &[u32]) -> Buffer<Block> {
    let is_header =
        |block: Block, number: u32| number != 0 && loops[number as usize].header == block;
    // A counting sort: the items of loop `l` will be `items[starts[l]..starts[l + 1]]`.
    let mut starts = Buffer::filled(0u32, loops.len() + 1);
    for &block in cfg.rpo() {
        let number = loop_of[block.index()];
        starts[number as usize + 1] += 1;
        if is_header(block, number) {
            starts[loops[number as usize].parent as usize + 1] += 1;
        }
    }
    for number in 0..loops.len() {
        starts[number + 1] += starts[number];
    }
    let mut ends = starts.clone();
    let mut items = Buffer::filled(Item::Loop(0), starts[loops.len()] as usize);
    let mut add = |number: u32, item: Item| {
        let end = &mut ends[number as usize];
        items[*end as usize] = item;
        *end += 1;
    };
    for &block in cfg.rpo() {
        let number = loop_of[block.index()];
        if is_header(block, number) {
            add(loops[number as usize].parent, Item::Loop(number));
        }
        add(number, Item::Block(block));
    }
    let mut order = Buffer::with_capacity(cfg.rpo().len());
    // Open lists, by what is left of them.
    let mut open = Buffer::filled((starts[0], starts[1]), 1);
    while let Some((next, end)) = open.last_mut() {
        if next == end {
            open.pop();
            continue;
        }
        let item = items[*next as usize];
        *next += 1;
        match item {
            Item::Block(block) => order.push(block),
            Item::Loop(number) => open.push((starts[number as usize], starts[number as usize + 1])),
        }
    }
    order
}
