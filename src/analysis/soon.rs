//! Whether a variable's value is read soon, found by a look at the next few instructions on the paths
//! from a point. Most values are read close by, so that what asks for each value whether anything
//! reads it needs live variables, which cost a set for each block, for the few others alone.

use super::facts::Point;
use super::variables::{assigned_variable, variable_of};
use crate::ir::{Block, Function, Variable};
use smallvec::SmallVec;

/// How many instructions and terminators are looked at.
const LOOKS: usize = 64;

/// Whether a read of the variable's value at this point stands among the next instructions on some
/// path. Where it says no, a read may stand farther off. Constant time.
pub(super) fn is_read_soon(f: &Function, at: Point, variable: Variable) -> bool {
    // Blocks whose beginnings are reached or will be.
    let mut reached: SmallVec<[Block; LOOKS]> = SmallVec::new();
    let mut next = 0;
    let mut point = at;
    for _ in 0..LOOKS {
        let inst = point.inst(f);
        let mut found = false;
        let mut note = |value| found |= variable_of(f, value) == Some(variable);
        match inst {
            Some(inst) => f.args(inst).iter().for_each(|&arg| note(arg)),
            None => f.blocks[point.block].terminator.for_each_use(note),
        }
        if found {
            return true;
        }
        match inst {
            Some(inst) if assigned_variable(f, inst) != Some(variable) => {
                point.index += 1;
                continue;
            }
            Some(_) => {}
            None => {
                for edge in f.blocks[point.block].terminator.edges() {
                    if reached.len() < LOOKS && !reached.contains(&edge.target) {
                        reached.push(edge.target);
                    }
                }
            }
        }
        let Some(&block) = reached.get(next) else { return false };
        (point, next) = (Point { block, index: 0 }, next + 1);
    }
    false
}
