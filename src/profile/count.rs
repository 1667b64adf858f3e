//! Code that counts itself.
//!
//! A counter is a global: adding one to it is a single instruction, and needs no register. The count of
//! an edge follows from those of blocks, unless its block has other ways out and its target other ways
//! in: such an edge gets a block of its own to be counted in.
//!
//! `Module` in optimised SSA form → the same, counting; and what counts what.

use super::Counts;
use crate::ir::module::GlobalData;
use crate::ir::{Block, Edge, Function, Global, Loc, Module, Op, Terminator, Type, print};
use crate::source::fnv1a;
use toyjit_runtime::layout::Slot;

/// What counts what in a module.
#[derive(Clone, Debug)]
pub struct Counters {
    /// The hash of the code before it counted itself.
    pub code: u64,
    functions: Vec<Counted>,
}

#[derive(Clone, Debug)]
struct Counted {
    name: String,
    blocks: Vec<(Block, Global)>,
    edges: Vec<(Block, u32, Global)>,
}

/// The hash of a module's code.
pub fn code_hash(module: &Module) -> u64 {
    let functions = module.functions.values().map(|f| print::function(module, f));
    fnv1a(functions.collect::<String>().as_bytes())
}

/// Makes each block of a module count how often it runs.
pub fn count(module: &mut Module) -> Counters {
    let code = code_hash(module);
    let Module { functions, globals, .. } = module;
    let mut counter = || globals.push(GlobalData::new("count", Slot::Int));
    let counted = functions.values_mut().map(|f| {
        let reached = reached(f);
        let edges = critical_edges(f, &reached);
        let edges = edges.into_iter().map(|(from, way)| {
            let counter = counter();
            let between = f.add_block();
            let edge = &mut f.blocks[from].terminator.edges_mut()[way];
            let on = std::mem::replace(edge, Edge::to(between));
            f.blocks[between].terminator = Terminator::Jump(on);
            add_one(f, between, counter);
            (from, way as u32, counter)
        });
        let edges = edges.collect();
        let blocks = reached.into_iter().map(|block| {
            let counter = counter();
            add_one(f, block, counter);
            (block, counter)
        });
        let blocks = blocks.collect();
        Counted { name: f.name.clone(), blocks, edges }
    });
    Counters { code, functions: counted.collect() }
}

/// The blocks that paths reach.
fn reached(f: &Function) -> Vec<Block> {
    let mut blocks = crate::ir::Cfg::compute(f).rpo().to_vec();
    blocks.sort_unstable();
    blocks
}

/// The edges between a block with several ways out and one with several ways in.
fn critical_edges(f: &Function, reached: &[Block]) -> Vec<(Block, usize)> {
    let mut arrivals = crate::entity::SideTable::new(0);
    reached.iter().flat_map(|&block| f.succs(block)).for_each(|to| arrivals[to] += 1);
    let edges = reached.iter().flat_map(|&from| {
        let edges = f.blocks[from].terminator.edges();
        (0..edges.len()).filter(|_| edges.len() > 1).map(move |way| (from, way, edges[way].target))
    });
    let critical = edges.filter(|&(_, _, to)| arrivals[to] > 1);
    critical.map(|(from, way, _)| (from, way)).collect()
}

/// Adds one to a counter where a block begins.
fn add_one(f: &mut Function, block: Block, counter: Global) {
    let at = u64::from(counter.0);
    let one = f.int(1);
    let mut made = Vec::with_capacity(3);
    let load = f.make_inst(Op::LoadGlobal, &[], at, Some(Type::Int), Loc(0));
    made.push(load);
    if let Some(before) = f.insts[load].result {
        let sum = f.make_inst(Op::IAdd, &[before, one], 0, None, Loc(0));
        made.push(sum);
        if let Some(after) = f.insts[sum].result {
            made.push(f.make_inst(Op::StoreGlobal, &[after], at, None, Loc(0)));
        }
    }
    f.blocks[block].insts.splice(0..0, made);
}

impl Counters {
    /// What was counted; `count` reads a counter.
    pub fn read(&self, count: impl Fn(u32) -> u64) -> Vec<Counts> {
        let read = |counted: &Counted| Counts {
            name: counted.name.clone(),
            blocks: counted.blocks.iter().map(|&(b, at)| (b.0, count(at.0))).collect(),
            edges: counted.edges.iter().map(|&(b, way, at)| (b.0, way, count(at.0))).collect(),
        };
        self.functions.iter().map(read).collect()
    }
}
