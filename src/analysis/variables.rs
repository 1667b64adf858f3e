//! What blocks do to variables, in the variable form: which they assign, and which they read before
//! they assign them (their *upward exposed* reads). A variable that some block reads so is *global*
//! in the sense of Briggs et al. 1998: its value crosses an edge. Most variables are not.
//!
//! [`Function`], [`Cfg`] → [`Mentions`], linear.

use super::subset::Buckets;
use crate::entity::SideTable;
use crate::ir::{Block, Cfg, Function, Inst, Value, ValueDef, Variable};

/// For each variable the blocks that assign it and those that read it first.
#[derive(Debug)]
pub struct Mentions {
    assigned: Buckets<Block>,
    exposed: Buckets<Block>,
}

impl Mentions {
    /// The mentions in the reachable blocks.
    pub fn compute(f: &Function, cfg: &Cfg) -> Self {
        let (mut assigned, mut exposed) = (Vec::new(), Vec::new());
        // The last block that assigned or read a variable.
        let mut assigned_in = SideTable::with_len(None, f.variables.len());
        let mut exposed_in = SideTable::with_len(None, f.variables.len());
        for &block in cfg.rpo() {
            let mut read = |value: Value, assigned_in: &SideTable<Variable, Option<Block>>| {
                if let Some(variable) = variable_of(f, value)
                    && assigned_in[variable] != Some(block)
                    && exposed_in[variable].replace(block) != Some(block)
                {
                    exposed.push((variable, block));
                }
            };
            let data = &f.blocks[block];
            for &inst in &data.insts {
                f.args(inst).iter().for_each(|&arg| read(arg, &assigned_in));
                if let Some(variable) = assigned_variable(f, inst)
                    && assigned_in[variable].replace(block) != Some(block)
                {
                    assigned.push((variable, block));
                }
            }
            data.terminator.for_each_use(|value| read(value, &assigned_in));
        }
        let buckets = |pairs: Vec<_>| Buckets::new(f.variables.len(), &pairs);
        Self { assigned: buckets(assigned), exposed: buckets(exposed) }
    }

    /// The blocks that assign a variable, in reverse postorder.
    pub fn assigned(&self, variable: Variable) -> &[Block] {
        self.assigned.of(variable)
    }

    /// The blocks that read a variable before they assign it, in reverse postorder.
    pub fn exposed(&self, variable: Variable) -> &[Block] {
        self.exposed.of(variable)
    }

    /// Whether a variable's value crosses an edge.
    pub fn is_global(&self, variable: Variable) -> bool {
        !self.exposed(variable).is_empty()
    }
}

/// The variable that a value stands for.
pub fn variable_of(f: &Function, value: Value) -> Option<Variable> {
    match f.values[value].def {
        ValueDef::Variable(variable) => Some(variable),
        _ => None,
    }
}

/// The variable that an instruction assigns.
pub fn assigned_variable(f: &Function, inst: Inst) -> Option<Variable> {
    variable_of(f, f.insts[inst].result?)
}
