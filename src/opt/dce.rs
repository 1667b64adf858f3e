//! Dead code elimination: mark and sweep.
//!
//! Needed is what has an effect (writes, traps, input and output, calls), what a branch compares
//! and what is returned; an instruction's operands are needed where it is; a block parameter's
//! arguments where the parameter is. Everything else goes, cycles of parameters that only feed each
//! other and objects that nobody looks at too. Branches and endless loops stay: they are control.
//!
//! SSA → SSA, linear. Blocks and edges stay as they are but for parameters and arguments.

use super::Context;
use super::effects::effects;
use crate::entity::EntitySet;
use crate::ir::cfg::Cfg;
use crate::ir::{ENTRY, Function, Inst, Module, Op, Terminator, Value, ValueDef};
use crate::ssa::params::retain_params;
use toyjit_runtime::fault::{self, Fault};

/// Removes what nobody needs.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let cfg = cx.graph.cfg(f);
    let needed = mark(f, cx.module, &cfg);
    let dead = |f: &Function, inst: Inst| {
        let unused = f.insts[inst].result.is_none_or(|value| !needed.contains(value));
        unused
            && (effects(cx.module, f, inst).removable()
                || fault::is(Fault::DceChecks) && f.insts[inst].op == Op::CheckDiv)
    };
    // One rewrite in all: to keep part of what is dead would leave operands without definition.
    let some = cfg.rpo().iter().any(|&block| {
        let data = &f.blocks[block];
        let params = data.params.iter().any(|&param| block != ENTRY && !needed.contains(param));
        params || data.insts.iter().any(|&inst| dead(f, inst))
    });
    if !some || !cx.fuel.tick() {
        return;
    }
    for &block in cfg.rpo() {
        let mut insts = std::mem::take(&mut f.blocks[block].insts);
        insts.retain(|&inst| !dead(f, inst));
        f.blocks[block].insts = insts;
    }
    retain_params(f, |param| needed.contains(param));
}

/// The values that are needed.
fn mark(f: &Function, module: &Module, cfg: &Cfg) -> EntitySet<Value> {
    let mut marks =
        Marks { needed: EntitySet::with_len(f.values.len()), open: Vec::with_capacity(64) };
    for &block in cfg.rpo() {
        let data = &f.blocks[block];
        for &inst in data.insts.iter().filter(|&&inst| !effects(module, f, inst).removable()) {
            f.args(inst).iter().for_each(|&value| marks.need(value));
        }
        match &data.terminator {
            Terminator::Branch { args, .. } => args.iter().for_each(|&value| marks.need(value)),
            Terminator::Return(Some(value)) => marks.need(*value),
            _ => {}
        }
    }
    while let Some(value) = marks.open.pop() {
        match f.values[value].def {
            ValueDef::Inst(inst) => f.args(inst).iter().for_each(|&arg| marks.need(arg)),
            ValueDef::Param(block, index) if block != ENTRY => {
                for edge in cfg.pred_edges(block) {
                    let edge = &f.blocks[edge.block].terminator.edges()[edge.index as usize];
                    marks.need(edge.args[index as usize]);
                }
            }
            _ => {}
        }
    }
    marks.needed
}

struct Marks {
    needed: EntitySet<Value>,
    open: Vec<Value>,
}

impl Marks {
    fn need(&mut self, value: Value) {
        if self.needed.insert(value) {
            self.open.push(value);
        }
    }
}
