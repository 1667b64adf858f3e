//! Pure calls that some of the ways to a join have made already (partial redundancy elimination).
//!
//! Where a join begins with a pure call that was made, with the same arguments, on some of the edges
//! into it, the others make it too, and the join gets what was computed. No way makes a call that
//! it did not make before; what could be seen between the edge and the call would stop it.
//!
//! Inlined once into itself, a function like Fibonacci's thus loses one of its calls for good, and
//! with it the exponent of its run time; `inline` asks [`pays`] before it does that.
//!
//! Calls and arguments are compared by class: values that are computed alike, sums with constants
//! by their base and offset, wherever they stand.
//!
//! SSA → SSA, near-linear.

use super::effects::effects;
use super::gvn::table::{Key, Table};
use super::remark::Remarks;
use super::{Context, Fuel};
use crate::entity::SideTable;
use crate::ir::{
    Block, Cfg, Const, Dominators, Edge, Effects, Function, Inst, Module, Op, Terminator, Type,
    Value, ValueDef,
};
use crate::ssa::Forward;
use smallvec::SmallVec;
use toyjit_runtime::fault::{self, Fault};

/// How many operators an argument is looked through.
const MAX_DEPTH: u32 = 4;
/// A join with more edges is left alone.
const MAX_EDGES: usize = 8;

/// Takes calls from joins to where they are missing.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    rewrite(f, cx.module, cx.fuel, cx.remarks);
}

/// Whether the pass would do something.
pub fn pays(f: &Function, module: &Module) -> bool {
    rewrite(&mut f.clone(), module, &mut Fuel::new(None), &mut Remarks::default()) > 0
}

/// Whether the call gives the same wherever it is made, and does nothing else but perhaps not end.
pub(super) fn is_pure_call(f: &Function, module: &Module, inst: Inst) -> bool {
    const ELSE: Effects =
        Effects::READS.and(Effects::WRITES).and(Effects::ALLOCATES).and(Effects::IO);
    let data = &f.insts[inst];
    data.op == Op::Call && data.result.is_some() && !effects(module, f, inst).has(ELSE)
}

fn rewrite(f: &mut Function, module: &Module, fuel: &mut Fuel, remarks: &mut Remarks) -> usize {
    let calls = f.blocks.values().flat_map(|data| &data.insts);
    if calls.filter(|&&inst| is_pure_call(f, module, inst)).take(2).count() < 2 {
        return 0;
    }
    let cfg = Cfg::compute(f);
    let dominators = Dominators::compute(&cfg);
    let mut home = SideTable::with_len(None, f.insts.len());
    for &block in cfg.rpo() {
        f.blocks[block].insts.iter().for_each(|&inst| home[inst] = Some(block));
    }
    let classes = Classes {
        leaders: SideTable::new(None),
        sums: SideTable::new(None),
        table: Table::with_capacity(f.insts.len()),
    };
    let forward = Forward::new(f);
    let made = SideTable::new(SmallVec::new());
    let mut motion = Motion { f, module, cfg: &cfg, dominators, home, classes, made, forward };
    let mut moved = 0;
    for &block in cfg.rpo() {
        moved += motion.block(block, fuel, remarks);
    }
    motion.forward.apply(f);
    moved
}

/// Values that are computed alike, each class with the value that was seen first.
struct Classes {
    leaders: SideTable<Value, Option<Value>>,
    /// What a leader is the sum of, if that is a class and a constant.
    sums: SideTable<Value, Option<(Value, i64)>>,
    table: Table,
}

/// A class: one that has a leader, or what its leader would compute.
enum Class {
    Known(Value),
    New(Key),
}

impl Classes {
    fn leader(&self, value: Value) -> Value {
        self.leaders[value].unwrap_or(value)
    }

    /// The class of an operator on classes.
    fn find(&self, f: &Function, op: Op, imm: u64, args: &[Value]) -> Class {
        let mut key = Key { op, imm, version: 0, args: SmallVec::from_slice(args) };
        if let (Op::IAdd, &[base, by]) = (op, args)
            && let Some(Const::Int(by)) = f.as_const(by)
        {
            let (base, offset) = self.sums[base].unwrap_or((base, 0));
            let offset = offset.wrapping_add(by);
            if offset == 0 {
                return Class::Known(base);
            }
            key = Key { op, imm: offset as u64, version: 1, args: SmallVec::from_slice(&[base]) };
        } else if op.info().commutes && args[0] > args[1] {
            key.args.swap(0, 1);
        }
        self.table.get(&key).map_or(Class::New(key), Class::Known)
    }

    /// Puts an instruction's result into its class; the leader.
    fn enter(&mut self, f: &Function, inst: Inst, result: Value) -> Value {
        let data = &f.insts[inst];
        let args: SmallVec<[Value; 4]> = f.args(inst).iter().map(|&v| self.leader(v)).collect();
        match self.find(f, data.op, data.imm, &args) {
            Class::Known(leader) => {
                self.leaders[result] = Some(leader);
                leader
            }
            Class::New(key) => {
                if let (1, &[base]) = (key.version, &*key.args) {
                    self.sums[result] = Some((base, key.imm as i64));
                }
                self.table.insert(key, result);
                result
            }
        }
    }
}

struct Motion<'a> {
    f: &'a mut Function,
    module: &'a Module,
    cfg: &'a Cfg,
    dominators: Dominators,
    home: SideTable<Inst, Option<Block>>,
    classes: Classes,
    /// For each class: the blocks behind which it is there, and as what.
    made: SideTable<Value, SmallVec<[(Block, Value); 2]>>,
    forward: Forward,
}

/// What a call is on one edge: made already, or to be made.
type Found = SmallVec<[Option<Value>; 4]>;

impl Motion<'_> {
    /// Goes through a block; how many calls have left it.
    fn block(&mut self, block: Block, fuel: &mut Fuel, remarks: &mut Remarks) -> usize {
        let mut moved = 0;
        let number = self.cfg.rpo_number(block);
        let edges = self.cfg.pred_edges(block).len();
        let mut joins = (2..=MAX_EDGES).contains(&edges)
            && self.cfg.preds(block).all(|pred| self.cfg.rpo_number(pred) < number);
        let insts = std::mem::take(&mut self.f.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            let is_call = is_pure_call(self.f, self.module, inst);
            if is_call
                && joins
                && let Some(found) = self.found(block, inst)
                && fuel.tick()
            {
                self.carry_out(block, inst, &found);
                let said = || "call left out: it was made before".to_owned();
                remarks.say("pre", self.f, self.f.insts[inst].loc, said);
                moved += 1;
                continue;
            }
            kept.push(inst);
            const SEEN: Effects = Effects::TRAPS.and(Effects::IO);
            let effects = effects(self.module, self.f, inst);
            joins &= !effects.has(SEEN) || fault::is(Fault::PrePastTraps);
            if let Some(result) = self.f.insts[inst].result
                && (is_call || effects == Effects::NONE)
            {
                let leader = self.classes.enter(self.f, inst, result);
                if is_call {
                    self.made[leader].push((block, result));
                }
            }
        }
        self.f.blocks[block].insts = kept;
        moved
    }

    /// What a join's call is on its edges, where it was made on one of them, and where its arguments
    /// can be had on the others.
    fn found(&self, block: Block, call: Inst) -> Option<Found> {
        let mut found = Found::new();
        for edge in self.cfg.pred_edges(block) {
            let to = &self.f.blocks[edge.block].terminator.edges()[edge.index as usize];
            let args: Option<SmallVec<[Value; 4]>> =
                self.f.args(call).iter().map(|&arg| self.on_edge(arg, block, to, 0)).collect();
            let leader = args.and_then(|args| {
                match self.classes.find(self.f, Op::Call, self.f.insts[call].imm, &args) {
                    Class::Known(leader) => Some(leader),
                    Class::New(_) => None,
                }
            });
            found.push(leader.and_then(|leader| {
                let here = |&&(at, _): &&(Block, Value)| self.dominators.dominates(at, edge.block);
                self.made[leader].iter().find(here).map(|&(_, value)| value)
            }));
        }
        let can_be_had = |&arg: &Value| self.is_simple(arg, block, 0);
        (found.iter().any(Option::is_some) && self.f.args(call).iter().all(can_be_had))
            .then_some(found)
    }

    /// The class of a join's value on an edge into it.
    fn on_edge(&self, value: Value, block: Block, edge: &Edge, depth: u32) -> Option<Value> {
        match self.f.values[value].def {
            ValueDef::Param(of, index) if of == block => {
                Some(self.classes.leader(edge.args[index as usize]))
            }
            ValueDef::Inst(inst) if self.home[inst] == Some(block) => {
                let args: Option<SmallVec<[Value; 4]>> = (depth < MAX_DEPTH)
                    .then(|| self.f.args(inst).iter())?
                    .map(|&arg| self.on_edge(arg, block, edge, depth + 1))
                    .collect();
                let data = &self.f.insts[inst];
                match self.classes.find(self.f, data.op, data.imm, &args?) {
                    Class::Known(leader) => Some(leader),
                    Class::New(_) => None,
                }
            }
            _ => Some(self.classes.leader(value)),
        }
    }

    /// Whether a join's value can be computed on its edges.
    fn is_simple(&self, value: Value, block: Block, depth: u32) -> bool {
        match self.f.values[value].def {
            ValueDef::Inst(inst) if self.home[inst] == Some(block) => {
                let op = self.f.insts[inst].op;
                depth < MAX_DEPTH
                    && op.info().effects == Effects::NONE
                    && op.info().eval.is_some()
                    && !matches!(op, Op::SDiv | Op::SRem)
                    && self.f.args(inst).iter().all(|&arg| self.is_simple(arg, block, depth + 1))
            }
            _ => true,
        }
    }

    /// Makes a call on the edges where it is missing, and a parameter of the join of what it gives.
    fn carry_out(&mut self, block: Block, call: Inst, found: &Found) {
        let Some(result) = self.f.insts[call].result else { return };
        let param = self.f.add_param(block, self.f.values[result].ty);
        for (edge, found) in self.cfg.pred_edges(block).to_vec().into_iter().zip(found) {
            let (mut from, mut index) = (edge.block, edge.index as usize);
            let value = match *found {
                Some(value) => self.forward.resolve(value),
                None => {
                    if self.f.blocks[from].terminator.edges().len() > 1 {
                        (from, index) = (self.split(from, index), 0);
                    }
                    let args: SmallVec<[Value; 4]> = (0..self.f.args(call).len())
                        .map(|i| self.compute(self.f.args(call)[i], block, from, index))
                        .collect();
                    let data = self.f.insts[call];
                    let ty: Option<Type> = Some(self.f.values[result].ty);
                    let copy = self.f.append(from, Op::Call, &args, data.imm, ty, data.loc);
                    self.f.insts[copy].result.unwrap_or(result)
                }
            };
            self.f.blocks[from].terminator.edges_mut()[index].args.push(value);
        }
        self.forward.set(result, param);
        let leader = self.classes.enter(self.f, call, result);
        self.made[leader].push((block, param));
    }

    fn split(&mut self, from: Block, index: usize) -> Block {
        let between = self.f.add_block();
        self.f.blocks[between].loc = self.f.blocks[from].loc;
        let edge = &mut self.f.blocks[from].terminator.edges_mut()[index];
        let edge = std::mem::replace(edge, Edge::to(between));
        self.f.blocks[between].terminator = Terminator::Jump(edge);
        between
    }

    /// A join's value as it is on the edge that leaves `from`.
    fn compute(&mut self, value: Value, block: Block, from: Block, index: usize) -> Value {
        match self.f.values[value].def {
            ValueDef::Param(of, place) if of == block => {
                self.f.blocks[from].terminator.edges()[index].args[place as usize]
            }
            ValueDef::Inst(inst) if self.home[inst] == Some(block) => {
                let args: SmallVec<[Value; 4]> = (0..self.f.args(inst).len())
                    .map(|i| self.compute(self.f.args(inst)[i], block, from, index))
                    .collect();
                let data = self.f.insts[inst];
                let copy = self.f.append(from, data.op, &args, data.imm, None, data.loc);
                self.f.insts[copy].result.unwrap_or(value)
            }
            _ => value,
        }
    }
}
