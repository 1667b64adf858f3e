//! Cleaning the control flow graph.
//!
//! - A branch on constants, or with equal edges, becomes a jump. (A comparison has no effect.)
//! - An edge into an empty block goes where the block goes; where it goes may depend on constants
//!   that the edge brings (what `&&` and `||` leave behind).
//! - A block that nothing reaches is emptied.
//! - A parameter that gets one value on all edges (itself aside) is that value.
//! - A block and its only successor, whose only predecessor it is, become one.
//!
//! Empty blocks are visited in postorder, so chains of them go in one round; a few rounds until
//! nothing changes. Loops stay reducible: an edge is sent past a loop header only together with all
//! others. An endless loop of empty blocks keeps one block.
//!
//! SSA → SSA, linear.

use super::Context;
use crate::entity::EntitySet;
use crate::ir::cfg::{Cfg, PredEdge};
use crate::ir::{Block, Const, ENTRY, Edge, Function, Op, Terminator, Type, Value, ValueDef};
use crate::ssa::params::retain_params;
use crate::ssa::{Forward, Phis, empty_unreachable, evaluate};
use toyjit_runtime::fault::{self, Fault};

/// Cleans the graph.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    const MAX_ROUNDS: usize = 8;
    for _ in 0..MAX_ROUNDS {
        let decided = decide_branches(f, cx);
        let cfg = cx.graph.cfg(f);
        let threaded = thread(f, &cfg, cx);
        let cfg = if threaded { cx.graph.cfg(f) } else { cfg };
        empty_unreachable(f, &cfg);
        let unified = unify_params(f, &cfg, cx);
        let merged = merge(f, &cfg, cx);
        if !(decided || threaded || unified || merged) {
            break;
        }
    }
}

/// Turns branches whose outcome is known or does not matter into jumps.
fn decide_branches(f: &mut Function, cx: &mut Context<'_>) -> bool {
    let mut changed = false;
    for block in f.blocks.keys() {
        let Terminator::Branch { op, args, edges } = &f.blocks[block].terminator else { continue };
        let known = outcome(f, *op, *args);
        let taken = match known {
            Some(known) => usize::from(!known),
            None if edges[0] == edges[1] => 0,
            None => continue,
        };
        if cx.fuel.tick() {
            f.blocks[block].terminator = Terminator::Jump(edges[taken].clone());
            changed = true;
        }
    }
    changed
}

/// What a comparison of constants says.
fn outcome(f: &Function, op: Op, args: [Value; 2]) -> Option<bool> {
    let (left, right) = (f.as_const(args[0])?, f.as_const(args[1])?);
    match evaluate(op, [Some(left), Some(right)], Some(Type::Bool)) {
        Some(Const::Bool(known)) => Some(known),
        _ => None,
    }
}

/// Sends edges into empty blocks where these go.
fn thread(f: &mut Function, cfg: &Cfg, cx: &mut Context<'_>) -> bool {
    // Found where it is asked for first: it takes a look at every operand.
    let mut used_elsewhere = None;
    let mut changed = false;
    for block in cfg.postorder() {
        let data = &f.blocks[block];
        if block == ENTRY || !data.insts.is_empty() {
            continue;
        }
        match &data.terminator {
            Terminator::Jump(edge) if edge.target != block && is_short(edge, data.params.len()) => {
            }
            Terminator::Branch { .. } if !is_header(cfg, block) => {}
            _ => continue,
        }
        if !data.params.is_empty() {
            let used = used_elsewhere.get_or_insert_with(|| params_used_elsewhere(f, cfg));
            if data.params.iter().any(|&param| used.contains(param)) {
                continue;
            }
        }
        for pred in cfg.pred_edges(block) {
            let edge = &f.blocks[pred.block].terminator.edges()[pred.index as usize];
            if let Some(edge) = past(f, block, edge)
                && cx.fuel.tick()
            {
                f.blocks[pred.block].terminator.edges_mut()[pred.index as usize] = edge;
                changed = true;
            }
        }
    }
    changed
}

/// Each predecessor gets a copy of these arguments: not too many more than it has now.
fn is_short(edge: &Edge, params: usize) -> bool {
    edge.args.len() <= params + 4
}

fn is_header(cfg: &Cfg, block: Block) -> bool {
    let number = cfg.rpo_number(block);
    cfg.preds(block).any(|pred| cfg.rpo_number(pred) >= number)
}

/// The edge that leads where the empty block behind `edge` leads, if that is known.
fn past(f: &Function, block: Block, edge: &Edge) -> Option<Edge> {
    let params = &f.blocks[block].params;
    let brought = |value: Value| match f.values[value].def {
        ValueDef::Param(of, index) if of == block => edge.args[index as usize],
        _ => value,
    };
    let next = match &f.blocks[block].terminator {
        Terminator::Jump(next) => next,
        Terminator::Branch { op, args, edges } => {
            let known = outcome(f, *op, args.map(brought))?;
            let next = &edges[usize::from(known == fault::is(Fault::CleanupWrongWay))];
            is_short(next, params.len()).then_some(next)?
        }
        _ => return None,
    };
    let next = Edge { target: next.target, args: next.args.iter().map(|&v| brought(v)).collect() };
    (next.target != block).then_some(next)
}

/// The block parameters that other blocks use: these can't be sent past their block.
fn params_used_elsewhere(f: &Function, cfg: &Cfg) -> EntitySet<Value> {
    let mut set = EntitySet::with_len(f.values.len());
    for &block in cfg.rpo() {
        let mut visit = |value: Value| match f.values[value].def {
            ValueDef::Param(of, _) if of != block => {
                set.insert(value);
            }
            _ => {}
        };
        let data = &f.blocks[block];
        data.insts.iter().flat_map(|&inst| f.args(inst)).for_each(|&value| visit(value));
        data.terminator.for_each_use(visit);
    }
    set
}

/// Removes parameters that are trivial as φs.
fn unify_params(f: &mut Function, cfg: &Cfg, cx: &mut Context<'_>) -> bool {
    // A few looks at all find those of most functions; for the others there is the worklist.
    const MOST_LOOKS: usize = 4;
    let mut forward = Forward::new(f);
    let mut looks = 0;
    while find_trivial(f, cfg, &mut forward) {
        looks += 1;
        if looks == MOST_LOOKS {
            settle(f, cfg, &mut forward);
            break;
        }
    }
    if !forward.is_used() || !cx.fuel.tick() {
        return false;
    }
    retain_params(f, |param| forward.is_own(param));
    forward.apply(f);
    true
}

/// Lets each parameter that gets one value on all edges, itself aside, stand for that; whether there
/// were some.
fn find_trivial(f: &Function, cfg: &Cfg, forward: &mut Forward) -> bool {
    let mut found = false;
    for &block in &cfg.rpo()[1..] {
        let preds = cfg.pred_edges(block);
        for (index, &param) in f.blocks[block].params.iter().enumerate() {
            if !forward.is_own(param) {
                continue;
            }
            let mut same = None;
            let is_same = |pred: &PredEdge| {
                let edges = f.blocks[pred.block].terminator.edges();
                let arg = forward.resolve(edges[pred.index as usize].args[index]);
                arg == param || *same.get_or_insert(arg) == arg
            };
            if preds.iter().all(is_same)
                && let Some(same) = same
            {
                forward.set(param, same);
                found = true;
            }
        }
    }
    found
}

/// The same for those that become trivial by others, until there are none.
fn settle(f: &Function, cfg: &Cfg, forward: &mut Forward) {
    let mut phis = Phis::new();
    for &block in &cfg.rpo()[1..] {
        f.blocks[block].params.iter().for_each(|&param| _ = phis.add(block, param));
    }
    let mut operands = Vec::new();
    for phi in phis.all() {
        let (block, value) = (phis.data(phi).block, phis.data(phi).value);
        let ValueDef::Param(_, index) = f.values[value].def else { continue };
        operands.clear();
        operands.extend(cfg.pred_edges(block).iter().map(|edge| {
            f.blocks[edge.block].terminator.edges()[edge.index as usize].args[index as usize]
        }));
        phis.complete(phi, &operands, forward, &mut ());
    }
}

/// Appends blocks to their only predecessors.
fn merge(f: &mut Function, cfg: &Cfg, cx: &mut Context<'_>) -> bool {
    // Made where the first parameter goes.
    let mut forward = None;
    let mut changed = false;
    for &block in cfg.rpo() {
        while let Terminator::Jump(edge) = &f.blocks[block].terminator {
            let next = edge.target;
            if cfg.pred_edges(next).len() != 1 || !cx.fuel.tick() {
                break;
            }
            changed = true;
            let data = &mut f.blocks[next];
            let params = std::mem::take(&mut data.params);
            let mut insts = std::mem::take(&mut data.insts);
            let loc = data.loc;
            let terminator = std::mem::replace(&mut data.terminator, Terminator::Unreachable);
            let head = &mut f.blocks[block];
            if let Terminator::Jump(edge) = std::mem::replace(&mut head.terminator, terminator) {
                for (param, arg) in params.into_iter().zip(edge.args) {
                    let forward = forward.get_or_insert_with(|| Forward::new(f));
                    let arg = forward.resolve(arg);
                    forward.set(param, arg);
                }
            }
            let head = &mut f.blocks[block];
            head.insts.append(&mut insts);
            head.loc = loc;
        }
    }
    if let Some(mut forward) = forward {
        forward.apply(f);
    }
    changed
}
