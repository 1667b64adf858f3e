//! Names for values behind a test (the σ functions of e-SSA, Bodík, Gupta and Sarkar 2000).
//!
//! Where a block is entered by one edge of a branch only, what the branch compared is known to
//! stand in that relation in all that the block dominates. There each operand gets a new name, a
//! copy at the block's start, so that what is known behind the test is a fact about a value like
//! any other. A check of bounds is such a test too, for what comes after it. [`Sigmas::remove`] takes the names away.
//!
//! One walk over the dominator tree, linear.

use crate::entity::SideTable;
use crate::ir::{
    Block, Cfg, Dominators, Function, Inst, Loc, Op, Terminator, Type, Value, ValueDef,
};
use crate::ssa::Forward;

/// What is known of a name: `source op other` held where it was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sigma {
    pub(super) source: Value,
    pub(super) op: Op,
    pub(super) other: Value,
}

/// The names.
#[derive(Debug)]
pub(super) struct Sigmas {
    by_value: SideTable<Value, Option<Sigma>>,
    /// For each name: the value that it is.
    origin: SideTable<Value, Option<Value>>,
    count: usize,
}

impl Sigmas {
    /// Makes the names, and lets what is dominated use them.
    pub(super) fn insert(f: &mut Function, cfg: &Cfg, dominators: &Dominators) -> Self {
        let (by_value, origin) =
            (SideTable::with_len(None, f.values.len()), SideTable::with_len(None, f.values.len()));
        let mut sigmas = Self { by_value, origin, count: 0 };
        // The current name of each value, and what to restore when a subtree is left.
        let mut names: SideTable<Value, Option<Value>> = SideTable::with_len(None, f.values.len());
        let mut undo: Vec<(Value, Option<Value>)> = Vec::new();
        let mut open: Vec<(Block, usize)> = Vec::new();
        for &block in dominators.preorder() {
            while let Some(&(above, mark)) = open.last()
                && !dominators.dominates(above, block)
            {
                undo.drain(mark..).rev().for_each(|(value, name)| names[value] = name);
                open.pop();
            }
            open.push((block, undo.len()));
            let relations = relations_at(f, cfg, block);
            let insts = &f.blocks[block].insts;
            let mut new = Vec::with_capacity(insts.len() + relations.len());
            for relation in relations.into_iter().flatten() {
                let inst = sigmas.name(f, relation);
                if let Some(name) = f.insts[inst].result {
                    let origin = sigmas.origin(relation.source);
                    undo.push((origin, names[origin].replace(name)));
                }
                new.push(inst);
            }
            for i in 0..f.blocks[block].insts.len() {
                let inst = f.blocks[block].insts[i];
                f.args_mut(inst).iter_mut().for_each(|arg| *arg = names[*arg].unwrap_or(*arg));
                new.push(inst);
                let Some(relation) = relation_behind(f, inst) else { continue };
                let inst = sigmas.name(f, relation);
                if let Some(name) = f.insts[inst].result {
                    let origin = sigmas.origin(relation.source);
                    undo.push((origin, names[origin].replace(name)));
                }
                new.push(inst);
            }
            let data = &mut f.blocks[block];
            data.terminator.map_uses(|value| names[value].unwrap_or(value));
            data.insts = new;
        }
        sigmas
    }

    fn name(&mut self, f: &mut Function, relation: Sigma) -> Inst {
        let inst = f.make_inst(Op::Copy, &[relation.source], 0, None, Loc(0));
        if let Some(name) = f.insts[inst].result {
            self.by_value[name] = Some(relation);
            self.origin[name] = Some(self.origin(relation.source));
            self.count += 1;
        }
        inst
    }

    /// The relation that made a name, if the value is one.
    pub(super) fn get(&self, value: Value) -> Option<Sigma> {
        self.by_value[value]
    }

    /// The value that a name names.
    pub(super) fn origin(&self, value: Value) -> Value {
        self.origin[value].unwrap_or(value)
    }

    /// Takes the names out of the code again.
    pub(super) fn remove(&self, f: &mut Function, forward: &mut Forward) {
        if self.count == 0 {
            return;
        }
        for block in f.blocks.keys() {
            let mut insts = std::mem::take(&mut f.blocks[block].insts);
            insts.retain(|&inst| match f.insts[inst].result {
                Some(name) if self.by_value[name].is_some() => {
                    if forward.is_own(name) {
                        let origin = forward.resolve(self.origin(name));
                        forward.set(name, origin);
                    }
                    false
                }
                _ => true,
            });
            f.blocks[block].insts = insts;
        }
    }
}

/// What is known where `block` begins of the operands of the branch that alone leads to it.
fn relations_at(f: &Function, cfg: &Cfg, block: Block) -> [Option<Sigma>; 2] {
    let [edge] = cfg.pred_edges(block) else { return [None; 2] };
    relations(f, edge.block, edge.index as usize)
}

/// What is known behind a check of bounds, whose index may be used again itself.
fn relation_behind(f: &Function, inst: Inst) -> Option<Sigma> {
    let &[source, other] = f.args(inst) else { return None };
    let names = f.insts[inst].op == Op::CheckBounds && f.as_const(source).is_none();
    names.then_some(Sigma { source, op: Op::ULt, other })
}

/// What is known on an edge of the operands of its branch; nothing of constants.
pub(super) fn relations(f: &Function, block: Block, edge: usize) -> [Option<Sigma>; 2] {
    let Terminator::Branch { op, args: [a, b], edges } = &f.blocks[block].terminator else {
        return [None; 2];
    };
    let holds = if edge == 0 { Some(*op) } else { op.opposite() };
    let Some(op) = holds.filter(|_| edges[0].target != edges[1].target) else { return [None; 2] };
    if f.values[*a].ty == Type::Float {
        return [None; 2];
    }
    let about = |source: Value, op: Op, other: Value| {
        let is_const = matches!(f.values[source].def, ValueDef::Const(_));
        (!is_const).then_some(Sigma { source, op, other })
    };
    [about(*a, op, *b), about(*b, op.swapped(), *a)]
}
