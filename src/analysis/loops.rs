//! The natural loops of a function, nested.
//!
//! A header is a block with a back edge: an edge from a block that it dominates. Its loop is what
//! reaches the back edges without passing the header. Headers are taken in reverse of the
//! dominator tree's preorder, so inner loops come first and are walked over as one step; all walks
//! together are linear. Cycles that can be entered at several blocks (irreducible ones) are no
//! loops here; [`Loops::is_irreducible`] tells that there are some.
//!
//! [`Cfg`], [`Dominators`] → [`Loops`].

use crate::entity::{Arena, SideTable};
use crate::ir::{Block, Cfg, Dominators};

crate::entity! {
    /// A loop.
    Loop = "loop";
}

/// A loop.
#[derive(Clone, Debug)]
pub struct LoopData {
    /// Its only entry.
    pub header: Block,
    /// The loop around it.
    pub parent: Option<Loop>,
    /// The number of loops it is in, itself counted.
    pub depth: u32,
}

/// A loop with no loop inside and one back edge.
#[derive(Clone, Debug)]
pub struct Innermost {
    /// Which loop.
    pub id: Loop,
    /// Its header.
    pub header: Block,
    /// The block that its back edge leaves, and which of its edges that is.
    pub latch: (Block, usize),
    /// Its blocks in reverse postorder.
    pub body: Vec<Block>,
}

/// The loops of a function.
#[derive(Clone, Debug)]
pub struct Loops {
    loops: Arena<Loop, LoopData>,
    innermost: SideTable<Block, Option<Loop>>,
    irreducible: bool,
}

impl Loops {
    /// The loops of a graph. Inner loops have lower numbers than those around them.
    pub fn compute(cfg: &Cfg, dominators: &Dominators) -> Self {
        let mut found =
            Self { loops: Arena::new(), innermost: SideTable::new(None), irreducible: false };
        let mut open = Vec::new();
        for &header in dominators.preorder().iter().rev() {
            let number = cfg.rpo_number(header);
            for pred in cfg.preds(header).filter(|&pred| cfg.rpo_number(pred) >= number) {
                if dominators.dominates(header, pred) {
                    open.push(pred);
                } else {
                    found.irreducible = true;
                }
            }
            if !open.is_empty() {
                let id = found.loops.push(LoopData { header, parent: None, depth: 1 });
                found.collect(cfg, id, header, &mut open);
            }
        }
        for id in found.loops.keys().rev() {
            if let Some(parent) = found.loops[id].parent {
                found.loops[id].depth = found.loops[parent].depth + 1;
            }
        }
        found
    }

    /// Walks back from the back edges to the header.
    fn collect(&mut self, cfg: &Cfg, id: Loop, header: Block, open: &mut Vec<Block>) {
        self.innermost[header] = Some(id);
        while let Some(block) = open.pop() {
            let Some(mut outermost) = self.innermost[block] else {
                self.innermost[block] = Some(id);
                open.extend(cfg.preds(block));
                continue;
            };
            while let Some(parent) = self.loops[outermost].parent {
                outermost = parent;
            }
            if outermost != id {
                self.loops[outermost].parent = Some(id);
                open.extend(cfg.preds(self.loops[outermost].header));
            }
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// The innermost loop that a block is in.
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block]
    }

    /// How many loops a block is in.
    pub fn depth(&self, block: Block) -> u32 {
        self.innermost[block].map_or(0, |id| self.loops[id].depth)
    }

    /// A loop.
    pub fn get(&self, id: Loop) -> &LoopData {
        &self.loops[id]
    }

    /// All loops, inner ones before those around them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Loop, &LoopData)> + ExactSizeIterator {
        self.loops.iter()
    }

    /// Whether `block` is in the loop or in one inside it.
    pub fn contains(&self, id: Loop, block: Block) -> bool {
        let mut at = self.innermost[block];
        while let Some(inner) = at {
            // Inner loops have lower numbers.
            if inner >= id {
                return inner == id;
            }
            at = self.loops[inner].parent;
        }
        false
    }

    /// The loops with no loop inside and one back edge.
    pub fn innermost_loops(&self, cfg: &Cfg) -> Vec<Innermost> {
        let mut bodies = vec![Vec::new(); self.loops.len()];
        for &block in cfg.rpo() {
            if let Some(id) = self.innermost(block) {
                bodies[id.0 as usize].push(block);
            }
        }
        let mut inner = vec![true; bodies.len()];
        for parent in self.loops.values().filter_map(|data| data.parent) {
            inner[parent.0 as usize] = false;
        }
        let mut found = Vec::new();
        for (id, data) in self.loops.iter().filter(|(id, _)| inner[id.0 as usize]) {
            let mut latches =
                cfg.pred_edges(data.header).iter().filter(|e| self.contains(id, e.block));
            if let (Some(latch), None) = (latches.next(), latches.next()) {
                let latch = (latch.block, latch.index as usize);
                let body = std::mem::take(&mut bodies[id.0 as usize]);
                found.push(Innermost { id, header: data.header, latch, body });
            }
        }
        found
    }

    /// Whether there are cycles that are no loops.
    pub fn is_irreducible(&self) -> bool {
        self.irreducible
    }
}
