//! What blocks do to variables, in the variable form: which they assign, and which they read before
//! they assign them (their *upward exposed* reads). A variable that some block reads so is *global*
//! in the sense of Briggs et al. 1998: its value crosses an edge. Most variables are not.
//!
//! [`Function`], [`Cfg`] → [`Mentions`], linear.

use crate::entity::{Entity, SideTable};
use crate::ir::{Block, Cfg, Function, Inst, Value, ValueDef, Variable};

/// For each variable the blocks that assign it and those that read it first.
#[derive(Debug)]
pub struct Mentions {
    assigned: Buckets,
    exposed: Buckets,
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
        let buckets = |pairs| Buckets::new(f.variables.len(), pairs);
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

/// Blocks sorted by variable.
#[derive(Debug)]
struct Buckets {
    starts: Vec<u32>,
    blocks: Vec<Block>,
}

impl Buckets {
    fn new(variables: usize, pairs: Vec<(Variable, Block)>) -> Self {
        let mut starts = vec![0u32; variables + 1];
        for (variable, _) in &pairs {
            starts[variable.index() + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut blocks = vec![Block(0); pairs.len()];
        for (variable, block) in pairs {
            let at = &mut next[variable.index()];
            blocks[*at as usize] = block;
            *at += 1;
        }
        Self { starts, blocks }
    }

    fn of(&self, variable: Variable) -> &[Block] {
        let at = variable.index();
        &self.blocks[self.starts[at] as usize..self.starts[at + 1] as usize]
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

/// The place of an entity in a sorted list; at once where the list has no gap.
pub(super) fn place_in<K: Entity>(sorted: &[K], key: K) -> Option<usize> {
    let guess = key.index().checked_sub(sorted.first()?.index())?;
    match sorted.get(guess) {
        Some(&found) if found == key => Some(guess),
        _ => sorted.binary_search(&key).ok(),
    }
}
