//! Which values cross an edge: those that some block reads before it defines them. Problems that
//! keep a fact for each value forget the others at the ends of blocks, so that their states stay
//! small.

use crate::entity::{EntitySet, SideTable};
use crate::ir::{Cfg, Function, Value};

/// The values, variables among them, that some block reads before it defines them.
pub fn crossing(f: &Function, cfg: &Cfg) -> EntitySet<Value> {
    let mut found = EntitySet::with_len(f.values.len());
    let mut defined_in = SideTable::with_len(None, f.values.len());
    for &block in cfg.rpo() {
        let data = &f.blocks[block];
        for &param in &data.params {
            defined_in[param] = Some(block);
        }
        for &inst in &data.insts {
            for &arg in f.args(inst) {
                if defined_in[arg] != Some(block) {
                    found.insert(arg);
                }
            }
            if let Some(result) = f.insts[inst].result {
                defined_in[result] = Some(block);
            }
        }
        data.terminator.for_each_use(|value| {
            if defined_in[value] != Some(block) {
                found.insert(value);
            }
        });
    }
    found
}
