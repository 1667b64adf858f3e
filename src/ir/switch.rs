//! The choice of one way among many by a number: a table of edges.
//!
//! Few passes gain from knowing of it, so that [`open`] gives them tests of one number after the
//! other instead; the last pass makes switches where they pay.

use super::function::{Block, Edge, Function, Terminator, Value};
use super::op::Op;

/// `value - base` is a place in the table, which names the edge to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The int that decides.
    pub value: Value,
    /// What the first place of the table stands for.
    pub base: i64,
    /// For each place the number of an edge.
    pub table: Vec<u8>,
    /// The edges; the first one is taken where the value is outside of the table.
    pub edges: Vec<Edge>,
}

impl Switch {
    /// The most edges.
    pub const MOST_EDGES: usize = 256;

    /// The number of the edge that a value takes.
    pub fn edge_for(&self, value: i64) -> usize {
        let place = value.wrapping_sub(self.base) as u64;
        let entry = usize::try_from(place).ok().and_then(|place| self.table.get(place));
        entry.map_or(0, |&edge| usize::from(edge))
    }
}

/// Puts tests in the place of all switches.
pub fn open(f: &mut Function) {
    for block in f.blocks.keys() {
        if !matches!(f.blocks[block].terminator, Terminator::Switch(_)) {
            continue;
        }
        let before = std::mem::replace(&mut f.blocks[block].terminator, Terminator::Unreachable);
        if let Terminator::Switch(switch) = before {
            open_one(f, block, *switch);
        }
    }
}

fn open_one(f: &mut Function, mut at: Block, switch: Switch) {
    let loc = f.blocks[at].loc;
    let Switch { value, base, table, mut edges } = switch;
    for (place, &edge) in table.iter().enumerate().filter(|&(_, &edge)| edge != 0) {
        let next = f.add_block();
        let with = f.int(base.wrapping_add(place as i64));
        let edges = [edges[usize::from(edge)].clone(), Edge::to(next)];
        f.blocks[at].terminator = Terminator::Branch { op: Op::IEq, args: [value, with], edges };
        (at, f.blocks[next].loc) = (next, loc);
    }
    f.blocks[at].terminator = Terminator::Jump(edges.swap_remove(0));
}
