//! Whether every index in a function means something.

use super::{Place, Verifier};
use crate::entity::Entity;
use crate::ir::{Block, Const, ENTRY, Inst, ValueDef};

impl Verifier<'_> {
    pub(super) fn references(&mut self) {
        let function = self.function;
        if function.blocks.get(ENTRY).is_none() {
            return self.error(Place::Function, "there is no entry block");
        }
        let (values, blocks) = (function.values.len(), function.blocks.len());
        let (insts, locs) = (function.insts.len(), function.locs.len());
        for (variable, data) in function.variables.iter() {
            let value = function.values.get(data.value);
            if !value.is_some_and(|v| v.def == ValueDef::Variable(variable) && v.ty == data.ty) {
                let message = format!("the value of the variable {} is another thing", data.name);
                self.error(Place::Function, message);
            }
        }
        for (value, data) in function.values.iter() {
            let is_sound = match data.def {
                ValueDef::Const(Const::Str(string)) => string.index() < self.module.strings.len(),
                ValueDef::Const(Const::Func(f)) => {
                    let captures = self.module.captures.get(f);
                    f.index() < self.module.functions.len() && captures.is_none_or(Vec::is_empty)
                }
                ValueDef::Variable(x) => x.index() < function.variables.len(),
                ValueDef::Inst(inst) => inst.index() < insts,
                ValueDef::Const(_) | ValueDef::Param(..) => true,
            };
            let has_type = match data.def {
                ValueDef::Const(constant) => constant.ty() == data.ty,
                _ => true,
            };
            if !is_sound || !has_type {
                self.error(Place::Function, format!("what {value} is does not exist"));
            }
        }
        for (loc, data) in function.locs.iter() {
            let is_sound = data.function.index() < self.module.functions.len().max(1)
                && data.inlined_at.is_none_or(|at| at.index() < locs && at != loc);
            if !is_sound {
                self.error(Place::Function, format!("{loc} refers to what does not exist"));
            }
        }
        for (block, data) in function.blocks.iter() {
            if data.params.iter().any(|param| param.index() >= values) {
                self.error(Place::Block(block), "a parameter is no value of this function");
            }
            for &inst in &data.insts {
                self.inst_references(block, inst);
            }
            let mut sound = data.loc.index() < locs;
            data.terminator.for_each_use(|value| sound &= value.index() < values);
            sound &= data.terminator.edges().iter().all(|edge| edge.target.index() < blocks);
            if !sound {
                self.error(Place::Terminator(block), "it refers to what does not exist");
            }
        }
    }

    fn inst_references(&mut self, block: Block, inst: Inst) {
        let function = self.function;
        let Some(data) = function.insts.get(inst) else {
            return self.error(Place::Block(block), format!("{inst} does not exist"));
        };
        let values = function.values.len();
        let sound = data.loc.index() < function.locs.len()
            && data.result.is_none_or(|result| result.index() < values)
            && function.args(inst).iter().all(|arg| arg.index() < values);
        if !sound {
            self.error(Place::Inst(block, inst), "it refers to what does not exist");
        }
    }
}
