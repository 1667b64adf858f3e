//! The loop nesting forest of any graph, irreducible loops included (Havlak 1997, "Nesting of
//! Reducible and Irreducible Loops", in the almost linear form of Ramalingam 1999, "Identifying
//! Loops in Almost Linear Time").
//!
//! On a depth-first tree, a header is a block to which an edge comes back from below it. Headers are
//! taken from the deepest on; the body is what leads to the edges that come back, each inner loop
//! being one step. Edges between subtrees (or down, past blocks) are left out until the lowest block
//! above both their ends is reached: every loop found before that then has an entry beside its
//! header, and is irreducible.
//!
//! [`Function`], [`Cfg`] → [`Nesting`]. Where a graph has irreducible loops the forest depends on the walk; where it
//! has none it is the forest of [`Loops`](super::loops::Loops).

use super::loops::Loop;
use crate::entity::{Arena, SideTable};
use crate::ir::{Block, Cfg, Function};

/// A loop of the forest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedLoop {
    /// The block of the loop that the walk found first.
    pub header: Block,
    /// The loop around it.
    pub parent: Option<Loop>,
    /// Whether it can be entered beside the header.
    pub irreducible: bool,
}

/// The forest.
#[derive(Clone, Debug)]
pub struct Nesting {
    loops: Arena<Loop, NestedLoop>,
    innermost: SideTable<Block, Option<Loop>>,
}

impl Nesting {
    /// The forest of a graph. Inner loops have lower numbers than those around them.
    pub fn compute(f: &Function, cfg: &Cfg) -> Self {
        let mut search = Search::new(f, cfg);
        for at in (0..cfg.tree().len() as u32).rev() {
            for (from, to) in std::mem::take(&mut search.late[at as usize]) {
                let (from, to) = (find(&mut search.outer, from), search.entered(to));
                search.preds[to as usize].push(from);
            }
            search.header(at);
        }
        let mut innermost = SideTable::with_len(None, cfg.tree().len());
        for (at, &(block, _)) in cfg.tree().iter().enumerate() {
            innermost[block] = search.loop_of[at].or(search.inner[at]);
        }
        Self { loops: search.loops, innermost }
    }

    /// The innermost loop that a block is in.
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block]
    }

    /// A loop.
    pub fn get(&self, id: Loop) -> &NestedLoop {
        &self.loops[id]
    }

    /// All loops, inner ones before those around them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Loop, &NestedLoop)> + ExactSizeIterator {
        self.loops.iter()
    }
}

/// The search. Numbers are places in the depth-first tree.
struct Search<'a> {
    cfg: &'a Cfg,
    loops: Arena<Loop, NestedLoop>,
    /// The loop that a block is the header of.
    loop_of: Vec<Option<Loop>>,
    /// The innermost loop around a block that it is no header of.
    inner: Vec<Option<Loop>>,
    /// Union-find: the header of the outermost loop found so far, or the block itself.
    outer: Vec<u32>,
    /// The edges that do not come back, without those that are left out.
    preds: Vec<Vec<u32>>,
    back: Vec<Vec<u32>>,
    /// The edges left out, at the lowest block above both ends.
    late: Vec<Vec<(u32, u32)>>,
    /// The header whose body a block was last put into.
    member: Vec<u32>,
    /// For each loop: the farthest one around it up to which all are marked irreducible.
    skip: SideTable<Loop, Option<Loop>>,
    path: Vec<Loop>,
}

impl<'a> Search<'a> {
    fn new(f: &Function, cfg: &'a Cfg) -> Self {
        let tree = cfg.tree();
        let len = tree.len();
        let mut place = SideTable::with_len(0u32, len);
        for (at, &(block, _)) in tree.iter().enumerate() {
            place[block] = at as u32;
        }
        // The last place below each block.
        let mut last: Vec<u32> = (0..len as u32).collect();
        for at in (1..len).rev() {
            let parent = tree[at].1 as usize;
            last[parent] = last[parent].max(last[at]);
        }
        let (mut preds, mut back) = (vec![Vec::new(); len], vec![Vec::new(); len]);
        let mut late = vec![Vec::new(); len];
        // A union-find forest in which finished blocks hang on their parents, to find the lowest
        // block above two.
        let mut above: Vec<u32> = (0..len as u32).collect();
        let mut finished_to = Vec::new();
        for from in 0..len as u32 {
            while let Some(&open) = finished_to.last()
                && last[open as usize] < from
            {
                finished_to.pop();
                above[open as usize] = tree[open as usize].1;
            }
            finished_to.push(from);
            // Edges to blocks found before: back, or across to a finished subtree.
            // Edges to blocks found later go down the tree.
            for edge in cfg.pred_edges(tree[from as usize].0) {
                let source = place[edge.block];
                if source >= from && source <= last[from as usize] {
                    back[from as usize].push(source);
                }
            }
            let block = tree[from as usize].0;
            for to in f.succs(block).map(|succ| place[succ]) {
                if to < from {
                    if last[to as usize] < from {
                        let lowest = find(&mut above, to);
                        late[lowest as usize].push((from, to));
                    }
                } else if to > from && tree[to as usize].1 == from {
                    preds[to as usize].push(from);
                } else if to > from {
                    late[from as usize].push((from, to));
                }
            }
        }
        Self {
            cfg,
            loops: Arena::new(),
            loop_of: vec![None; len],
            inner: vec![None; len],
            outer: (0..len as u32).collect(),
            preds,
            back,
            late,
            member: vec![u32::MAX; len],
            skip: SideTable::new(None),
            path: Vec::new(),
        }
    }
    /// Makes a loop of what leads to the edges that come back to a block, if there are any.
    fn header(&mut self, at: u32) {
        let back = std::mem::take(&mut self.back[at as usize]);
        if back.is_empty() {
            return;
        }
        let header = self.cfg.tree()[at as usize].0;
        let id = self.loops.push(NestedLoop { header, parent: None, irreducible: false });
        self.loop_of[at as usize] = Some(id);
        self.member[at as usize] = at;
        let mut open = Vec::new();
        for from in back {
            self.join(from, at, &mut open);
        }
        let mut body = Vec::new();
        while let Some(block) = open.pop() {
            body.push(block);
            for from in std::mem::take(&mut self.preds[block as usize]) {
                self.join(from, at, &mut open);
            }
        }
        for block in body {
            self.outer[block as usize] = at;
            match self.loop_of[block as usize] {
                Some(inner) => self.loops[inner].parent = Some(id),
                None => self.inner[block as usize] = Some(id),
            }
        }
    }

    /// Puts a block, or the outermost loop that it is in, into the loop of a header.
    fn join(&mut self, block: u32, header: u32, open: &mut Vec<u32>) {
        let block = find(&mut self.outer, block);
        if self.member[block as usize] != header {
            self.member[block as usize] = header;
            open.push(block);
        }
    }

    /// An edge comes to a block from outside of all loops found so far: those of which it is not the
    /// header have an entry more. Returns the header of the outermost.
    fn entered(&mut self, block: u32) -> u32 {
        let mut at = match self.loop_of[block as usize] {
            Some(own) => self.loops[own].parent,
            None => self.inner[block as usize],
        };
        while let Some(id) = at {
            self.loops[id].irreducible = true;
            self.path.push(id);
            at = self.skip[id].or(self.loops[id].parent);
        }
        let last = self.path.last().copied();
        for id in self.path.drain(..).filter(|&id| Some(id) != last) {
            self.skip[id] = last;
        }
        find(&mut self.outer, block)
    }
}

/// The root of a union-find forest, with path halving.
fn find(to: &mut [u32], mut at: u32) -> u32 {
    while to[at as usize] != at {
        to[at as usize] = to[to[at as usize] as usize];
        at = to[at as usize];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::super::loops::Loops;
    use super::super::tests::random_graph;
    use super::*;
    use crate::analysis::components::components;
    use crate::entity::Entity;
    use crate::ir::Dominators;

    /// A loop by its header: its parent's header, and whether it is irreducible.
    type Listed = (Block, Option<Block>, bool);

    /// The loops by definition: a strongly connected component is one; its header is the block that
    /// the walk finds first; without the edges to the header, what is left is looked at again.
    /// Pairs of header and parent's header, and for each block its innermost loop's header.
    fn by_definition(f: &Function, cfg: &Cfg) -> (Vec<Listed>, Vec<Block>) {
        let place = |block: Block| cfg.tree().iter().position(|&(b, _)| b == block);
        let none = Block::new(f.blocks.len());
        let mut loops = Vec::new();
        let mut innermost = vec![none; f.blocks.len()];
        let mut open: Vec<(Vec<Block>, Option<Block>)> = vec![(cfg.rpo().to_vec(), None)];
        while let Some((blocks, parent)) = open.pop() {
            let inside = |b: Block| blocks.contains(&b) && Some(b) != parent;
            let succs = |n: usize| -> Vec<usize> {
                let from = Block::new(n);
                let from_inside = blocks.contains(&from);
                let succs = f.succs(from).filter(|&to| from_inside && inside(to));
                succs.map(Entity::index).collect()
            };
            let of = components(f.blocks.len(), succs);
            for id in 0..f.blocks.len() {
                let members: Vec<Block> =
                    blocks.iter().copied().filter(|b| of[b.index()] == id).collect();
                let Some(&header) = members.iter().min_by_key(|&&block| place(block)) else {
                    continue;
                };
                if members.len() == 1 && !succs(header.index()).contains(&header.index()) {
                    continue;
                }
                let enters = |b: Block| cfg.preds(b).any(|pred| !members.contains(&pred));
                let irreducible = members.iter().any(|&b| b != header && enters(b));
                loops.push((header, parent, irreducible));
                members.iter().for_each(|b| innermost[b.index()] = header);
                open.push((members, Some(header)));
            }
        }
        loops.sort_unstable();
        (loops, innermost)
    }

    #[test]
    fn agrees_with_the_definition() {
        arbtest::arbtest(|u| {
            let f = random_graph(u)?;
            let cfg = Cfg::compute(&f);
            let nesting = Nesting::compute(&f, &cfg);
            let header = |id: Option<Loop>| id.map(|id| nesting.get(id).header);
            let mut found: Vec<_> = nesting
                .iter()
                .map(|(_, data)| (data.header, header(data.parent), data.irreducible))
                .collect();
            found.sort_unstable();
            let (loops, innermost) = by_definition(&f, &cfg);
            assert_eq!(found, loops);
            for &block in cfg.rpo() {
                let expected =
                    Some(innermost[block.index()]).filter(|b| b.index() < innermost.len());
                assert_eq!(header(nesting.innermost(block)), expected);
            }
            let natural = Loops::compute(&cfg, &Dominators::compute(&cfg));
            let any = nesting.iter().any(|(_, data)| data.irreducible);
            assert_eq!(natural.is_irreducible(), any);
            if !any {
                for &block in cfg.rpo() {
                    let theirs = natural.innermost(block).map(|id| natural.get(id).header);
                    assert_eq!(header(nesting.innermost(block)), theirs);
                }
            }
            Ok(())
        });
    }
}
