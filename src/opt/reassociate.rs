//! Shorter recurrences: what goes round a loop meets the other operands last.
//!
//! In `s = min(min(s + 1, a[i]), b[i])` each round waits for two operators on what the last one gave.
//! Sums, products, minima, maxima and the bitwise operators on ints may be grouped as one likes, so
//! the rest is put together first, and the recurrence is one operator long: `min(min(a[i], b[i]), s + 1)`.
//!
//! SSA → SSA, linear.

use super::Context;
use crate::entity::SideTable;
use crate::ir::{Block, Cfg, Function, Inst, Op, Value};
use smallvec::SmallVec;
use toyjit_runtime::fault::{self, Fault};

/// Longer chains are left alone.
const MAX_LEAVES: usize = 8;

/// Regroups.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let Some((cfg, loops)) = cx.graph.loops(f) else { return };
    let chains = Chains::new(f, &cfg);
    for (id, data) in loops.iter() {
        for place in 0..f.blocks[data.header].params.len() {
            let param = f.blocks[data.header].params[place];
            for edge in cfg.pred_edges(data.header) {
                if !loops.contains(id, edge.block) {
                    continue;
                }
                let next = f.blocks[edge.block].terminator.edges()[edge.index as usize].args[place];
                if let Some(found) = chains.find(f, next, param)
                    && cx.fuel.tick()
                {
                    regroup(f, &found);
                }
            }
        }
    }
}

/// Where instructions are, and how often values are used.
struct Chains {
    home: SideTable<Inst, Option<Block>>,
    uses: SideTable<Value, u32>,
}

/// A chain of one operator that ends in `root`: what goes round, and the rest.
struct Chain {
    root: Inst,
    block: Block,
    carried: Value,
    rest: SmallVec<[Value; MAX_LEAVES]>,
}

impl Chains {
    fn new(f: &Function, cfg: &Cfg) -> Self {
        let mut uses = SideTable::with_len(0, f.values.len());
        let mut home = SideTable::with_len(None, f.insts.len());
        for &block in cfg.rpo() {
            let data = &f.blocks[block];
            data.insts.iter().for_each(|&inst| home[inst] = Some(block));
            data.insts.iter().flat_map(|&inst| f.args(inst)).for_each(|&value| uses[value] += 1);
            data.terminator.for_each_use(|value| uses[value] += 1);
        }
        Self { home, uses }
    }

    /// The chain that makes `next` of `param`, where `param` is not among the last operands already.
    fn find(&self, f: &Function, next: Value, param: Value) -> Option<Chain> {
        let root = f.def_inst(next)?;
        let (op, block) = (f.insts[root].op, self.home[root]?);
        if !may_regroup(f, root) || f.args(root).iter().any(|&arg| is_made_of(f, arg, param)) {
            return None;
        }
        let mut carried = None;
        let mut rest = SmallVec::new();
        let mut open: SmallVec<[Value; MAX_LEAVES]> = SmallVec::from_slice(f.args(root));
        while let Some(value) = open.pop() {
            if rest.len() + open.len() >= MAX_LEAVES {
                return None;
            }
            match f.def_inst(value) {
                _ if carried.is_none() && is_made_of(f, value, param) => carried = Some(value),
                Some(inst)
                    if f.insts[inst].op == op
                        && may_regroup(f, inst)
                        && self.uses[value] == 1
                        && self.home[inst] == Some(block) =>
                {
                    open.extend_from_slice(f.args(inst));
                }
                _ => rest.push(value),
            }
        }
        Some(Chain { root, block, carried: carried?, rest })
    }
}

fn may_regroup(f: &Function, inst: Inst) -> bool {
    use Op::{IAdd, IAnd, IMax, IMin, IMul, IOr, IXor};
    matches!(f.insts[inst].op, IAdd | IAnd | IMax | IMin | IMul | IOr | IXor)
}

/// Whether a value is the parameter, or that and a constant.
fn is_made_of(f: &Function, value: Value, param: Value) -> bool {
    value == param
        || f.def_inst(value).is_some_and(|inst| match (f.insts[inst].op, f.args(inst)) {
            (Op::IAdd | Op::IAnd | Op::Shl, &[a, b]) => a == param && f.as_const(b).is_some(),
            _ => false,
        })
}

fn regroup(f: &mut Function, chain: &Chain) {
    let (op, loc) = (f.insts[chain.root].op, f.insts[chain.root].loc);
    let mut made: SmallVec<[Inst; MAX_LEAVES]> = SmallVec::new();
    let mut rest = chain.rest.iter().copied();
    let Some(mut sum) = rest.next() else { return };
    for value in rest {
        let inst = f.make_inst(op, &[sum, value], 0, None, loc);
        sum = f.insts[inst].result.unwrap_or(sum);
        made.push(inst);
    }
    let carried = if fault::is(Fault::RegroupDrops) { sum } else { chain.carried };
    let args = f.pool.list(&[sum, carried]);
    f.insts[chain.root].args = args;
    let insts = &mut f.blocks[chain.block].insts;
    if let Some(at) = insts.iter().position(|&inst| inst == chain.root) {
        insts.splice(at..at, made);
    }
}
