//! Liveness for the checker: live-in sets by exploring the paths from each use back to its
//! definition, then one walk over the instructions of a block.

use crate::entity::Entity;
use crate::mach::{Operand, Role, VBlock, VCode, VEdge, VInst, VReg};
use std::collections::BTreeSet;

pub(super) struct Liveness {
    /// For each block, sorted.
    live_in: Vec<Vec<VReg>>,
    /// For each virtual register, whether it has any use.
    used: Vec<bool>,
}

/// The arguments whose parameters have a use; the others are carried by nobody.
fn needed_args<I>(code: &VCode<I>, edge: &VEdge, used: &[bool]) -> impl Iterator<Item = VReg> {
    let params = &code.blocks[edge.target].params;
    edge.args.iter().zip(params).filter(|(_, param)| used[param.index()]).map(|(&arg, _)| arg)
}

impl Liveness {
    pub fn new<I: VInst>(code: &VCode<I>) -> Self {
        let mut def_block = vec![None; code.vregs.len()];
        let mut uses: Vec<Vec<VBlock>> = vec![Vec::new(); code.vregs.len()];
        for (block, data) in code.blocks.iter() {
            for &param in &data.params {
                def_block[param.index()] = Some(block);
            }
            for i in data.insts.clone() {
                code.insts[i as usize].operands(&mut |operand| match operand.role {
                    Role::Use | Role::LateUse => uses[operand.vreg.index()].push(block),
                    Role::Def | Role::EarlyDef | Role::Temp => {
                        def_block[operand.vreg.index()] = Some(block);
                    }
                });
            }
        }
        let mut used: Vec<bool> = uses.iter().map(|uses| !uses.is_empty()).collect();
        for &arg in code.blocks.values().flat_map(|b| &b.succs).flat_map(|edge| &edge.args) {
            used[arg.index()] = true;
        }
        for (block, data) in code.blocks.iter() {
            for edge in &data.succs {
                for arg in needed_args(code, edge, &used) {
                    uses[arg.index()].push(block);
                }
            }
        }
        let mut live_in: Vec<Vec<VReg>> = vec![Vec::new(); code.blocks.len()];
        let mut stack = Vec::new();
        for vreg in code.vregs.keys() {
            stack.append(&mut uses[vreg.index()]);
            while let Some(block) = stack.pop() {
                let known = live_in[block.index()].last() == Some(&vreg);
                if def_block[vreg.index()] != Some(block) && !known {
                    live_in[block.index()].push(vreg);
                    stack.extend(&code.blocks[block].preds);
                }
            }
        }
        Self { live_in, used }
    }

    pub fn is_live_in(&self, block: VBlock, vreg: VReg) -> bool {
        self.live_in[block.index()].binary_search(&vreg).is_ok()
    }

    /// Follows the live references of `block` from its beginning; only those for which `traced`
    /// says so.
    pub fn walk<I: VInst>(&self, code: &VCode<I>, block: VBlock, traced: &[bool]) -> Walk {
        let data = &code.blocks[block];
        let mut last_use = Vec::new();
        let mut note = |vreg: VReg, at: u32| {
            if traced[vreg.index()] {
                last_use.push((vreg, at));
            }
        };
        for i in data.insts.clone() {
            code.insts[i as usize].operands(&mut |operand| {
                if matches!(operand.role, Role::Use | Role::LateUse) {
                    note(operand.vreg, i);
                }
            });
        }
        for edge in &data.succs {
            let through = self.live_in[edge.target.index()].iter().copied();
            for vreg in through.chain(needed_args(code, edge, &self.used)) {
                note(vreg, u32::MAX);
            }
        }
        last_use.sort_unstable_by_key(|&(vreg, at)| (vreg, std::cmp::Reverse(at)));
        last_use.dedup_by_key(|&mut (vreg, _)| vreg);
        let at_entry = self.live_in[block.index()].iter().chain(&data.params);
        let mut walk = Walk { last_use, live: BTreeSet::new() };
        walk.live = at_entry.copied().filter(|&v| walk.last_use(v).is_some()).collect();
        walk
    }
}

/// The traced references that are live at some point of a block.
pub(super) struct Walk {
    last_use: Vec<(VReg, u32)>,
    live: BTreeSet<VReg>,
}

impl Walk {
    fn last_use(&self, vreg: VReg) -> Option<u32> {
        let found = self.last_use.binary_search_by_key(&vreg, |&(v, _)| v).ok()?;
        Some(self.last_use[found].1)
    }

    /// Those that live from before `inst`, the next instruction, to after it; in order.
    pub fn across(&self, inst: u32) -> impl Iterator<Item = VReg> {
        self.live.iter().copied().filter(move |&v| self.last_use(v).is_some_and(|at| at > inst))
    }

    /// Goes past `inst`.
    pub fn step(&mut self, inst: u32, operands: impl Iterator<Item = Operand>) {
        for operand in operands {
            let last_use = self.last_use(operand.vreg);
            if last_use.is_some_and(|at| at > inst) {
                self.live.insert(operand.vreg);
            } else {
                self.live.remove(&operand.vreg);
            }
        }
    }
}
