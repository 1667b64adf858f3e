//! If-conversion: a branch whose arms are empty becomes a selection.
//!
//! Where both edges of a branch on ints lead to one block and differ in one or two arguments that
//! are words, what is chosen is data: `imin`, `imax`, the comparison itself, or `select`, which
//! costs no misprediction. Floats stay branches: their chains are longer than a prediction.
//!
//! SSA → SSA, linear.

use super::Context;
use crate::ir::{Block, Const, Function, Op, Terminator, Type, Value};
use smallvec::SmallVec;

/// At most this many arguments are chosen.
const MAX_CHOICES: usize = 2;

/// Turns branches into selections.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    for block in f.blocks.keys() {
        if let Some(choices) = choices(f, block)
            && cx.fuel.tick()
        {
            convert(f, block, &choices);
        }
    }
}

/// The places of the arguments that the branch at a block's end chooses, where that is all it does.
fn choices(f: &Function, block: Block) -> Option<SmallVec<[usize; 4]>> {
    let Terminator::Branch { op, args, edges: [yes, no] } = &f.blocks[block].terminator else {
        return None;
    };
    if yes.target != no.target || matches!(f.values[args[0]].ty, Type::Float | Type::Ref) {
        return None;
    }
    let differ = |&i: &usize| yes.args[i] != no.args[i];
    let places: SmallVec<[usize; 4]> = (0..yes.args.len()).filter(differ).collect();
    let is_word = |&i: &usize| matches!(f.values[yes.args[i]].ty, Type::Int | Type::Bool);
    let fits = op.is_comparison() && places.len() <= MAX_CHOICES && places.iter().all(is_word);
    fits.then_some(places)
}

fn convert(f: &mut Function, block: Block, places: &[usize]) {
    let Terminator::Branch { op, args, edges: [yes, no] } =
        std::mem::replace(&mut f.blocks[block].terminator, Terminator::Unreachable)
    else {
        return;
    };
    let (mut op, mut edge, mut no) = (op, yes, no);
    // A bool that becomes an int is 1 where the comparison holds.
    if let (Some(opposite), [i]) = (op.opposite(), places)
        && f.as_const(edge.args[*i]) == Some(Const::Int(0))
    {
        op = opposite;
        std::mem::swap(&mut edge, &mut no);
    }
    let mut condition = None;
    for &i in places {
        let (a, b) = (edge.args[i], no.args[i]);
        let loc = f.blocks[block].loc;
        let append = |f: &mut Function, op, args: &[Value]| {
            let inst = f.append(block, op, args, 0, None, loc);
            f.insts[inst].result
        };
        let chosen = match extreme(op, args, a, b) {
            Some(extreme) => append(f, extreme, &args),
            None => {
                condition = condition.or_else(|| append(f, op, &args));
                let Some(condition) = condition else { continue };
                match (f.as_const(a), f.as_const(b)) {
                    (Some(Const::Int(1)), Some(Const::Int(0))) => append(f, Op::BToI, &[condition]),
                    (Some(Const::Bool(true)), Some(Const::Bool(false))) => Some(condition),
                    _ => append(f, Op::Select, &[condition, a, b]),
                }
            }
        };
        edge.args[i] = chosen.unwrap_or(a);
    }
    f.blocks[block].terminator = Terminator::Jump(edge);
}

/// The lesser or greater of the two operands, if that is what is chosen.
fn extreme(op: Op, args: [Value; 2], a: Value, b: Value) -> Option<Op> {
    let less = match op {
        Op::ILt | Op::ILe => true,
        Op::IGt | Op::IGe => false,
        _ => return None,
    };
    match (args == [a, b], args == [b, a]) {
        (true, _) => Some(if less { Op::IMin } else { Op::IMax }),
        (_, true) => Some(if less { Op::IMax } else { Op::IMin }),
        _ => None,
    }
}
