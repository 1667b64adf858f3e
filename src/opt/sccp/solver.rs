//! The two worklists.

use super::Event;
use super::fact::{Fact, Thresholds};
use super::sigma::{Sigmas, relations};
use super::transfer::transfer;
use crate::entity::{EntitySet, SideTable};
use crate::ir::{
    Block, Cfg, Const, DefUse, ENTRY, Effects, Function, Inst, Module, Op, Terminator, Type, Use,
    Value, ValueDef,
};
use crate::opt::effects::{effects, slot};
use crate::watch::Watch;
use smallvec::SmallVec;
use toyjit_runtime::fault::{self, Fault};
use toyjit_runtime::layout::Slot;

/// After so many rises in a loop header a range goes to the next threshold, or to the ends.
const WIDEN_AFTER: u8 = 2;
const WIDEN_FAR_AFTER: u8 = 6;

/// The facts, once nothing rises any more.
#[derive(Debug)]
pub(super) struct Solution {
    pub(super) facts: SideTable<Value, Fact>,
    /// For each block: which of its edges are ever taken.
    pub(super) executable: SideTable<Block, [bool; 2]>,
    pub(super) reached: EntitySet<Block>,
    /// The block that an instruction is in.
    pub(super) home: SideTable<Inst, Block>,
}

pub(super) struct Solver<'a, W> {
    watch: &'a mut W,
    f: &'a Function,
    module: &'a Module,
    sigmas: &'a Sigmas,
    solution: Solution,
    chains: DefUse,
    thresholds: Thresholds,
    /// Blocks that a back edge leads to.
    headers: EntitySet<Block>,
    /// Blocks whose branch compares what it also passes on.
    refining: EntitySet<Block>,
    rises: SideTable<Value, u8>,
    edges: Vec<(Block, usize)>,
    values: Vec<Value>,
    queued: EntitySet<Value>,
}

impl<'a, W: Watch<Event>> Solver<'a, W> {
    pub(super) fn new(
        f: &'a Function,
        module: &'a Module,
        cfg: &'a Cfg,
        sigmas: &'a Sigmas,
        watch: &'a mut W,
    ) -> Self {
        let mut facts = SideTable::with_len(Fact::Top, f.values.len());
        for (value, data) in f.values.iter() {
            if let ValueDef::Const(constant) = data.def {
                facts[value] = Fact::of(constant);
            }
        }
        let mut home = SideTable::with_len(ENTRY, f.insts.len());
        let mut headers = EntitySet::with_len(f.blocks.len());
        let mut refining = EntitySet::with_len(f.blocks.len());
        let mut compared = Vec::new();
        for (number, &block) in cfg.rpo().iter().enumerate() {
            f.blocks[block].insts.iter().for_each(|&inst| home[inst] = block);
            if cfg.preds(block).any(|pred| cfg.rpo_number(pred) >= Some(number as u32)) {
                headers.insert(block);
            }
            if let Terminator::Branch { args, edges, .. } = &f.blocks[block].terminator {
                if edges.iter().flat_map(|edge| &edge.args).any(|arg| args.contains(arg)) {
                    refining.insert(block);
                }
                compared.extend(args.iter().filter_map(|&arg| match f.as_const(arg) {
                    Some(Const::Int(k)) => Some(k),
                    _ => None,
                }));
            }
        }
        // A σ rises with what it was compared with, too.
        let other = |inst: Inst| Some(sigmas.get(f.insts[inst].result?)?.other);
        let executable = SideTable::with_len([false; 2], f.blocks.len());
        let reached = EntitySet::with_len(f.blocks.len());
        Self {
            watch,
            f,
            module,
            sigmas,
            solution: Solution { facts, executable, reached, home },
            chains: DefUse::with(f, cfg, other),
            thresholds: Thresholds::new(compared.into_iter()),
            headers,
            refining,
            rises: SideTable::with_len(0, f.values.len()),
            edges: Vec::new(),
            values: Vec::new(),
            queued: EntitySet::with_len(f.values.len()),
        }
    }

    pub(super) fn solve(mut self) -> Solution {
        for &param in &self.f.blocks[ENTRY].params {
            self.raise(param, Fact::any(self.f.values[param].ty));
        }
        self.solution.reached.insert(ENTRY);
        self.visit_block(ENTRY);
        loop {
            if let Some((block, edge)) = self.edges.pop() {
                self.watch.see(|| Event::Edge(block, edge));
                self.visit_edge(block, edge);
            } else if let Some(value) = self.values.pop() {
                self.watch.see(|| Event::Value(value));
                self.queued.remove(value);
                self.visit_users(value);
            } else {
                return self.solution;
            }
        }
    }

    fn visit_edge(&mut self, block: Block, edge: usize) {
        if std::mem::replace(&mut self.solution.executable[block][edge], true) {
            return;
        }
        let (f, target) = (self.f, self.f.blocks[block].terminator.edges()[edge].target);
        for place in 0..f.blocks[target].params.len() {
            self.visit_arg(block, edge, place);
        }
        if self.solution.reached.insert(target) {
            self.visit_block(target);
        }
    }

    fn visit_block(&mut self, block: Block) {
        self.watch.see(|| Event::Reached(block));
        let f = self.f;
        f.blocks[block].insts.iter().for_each(|&inst| self.visit_inst(inst));
        self.visit_test(block);
    }

    fn visit_users(&mut self, value: Value) {
        for i in 0..self.chains.of(value).len() {
            match self.chains.of(value)[i] {
                Use::Inst(inst) => {
                    if self.solution.reached.contains(self.solution.home[inst]) {
                        self.visit_inst(inst);
                    }
                }
                Use::Test(block) => {
                    if self.solution.reached.contains(block) {
                        self.visit_test(block);
                    }
                }
                Use::Return(_) => {}
                Use::Arg(block, edge, place) => {
                    if self.solution.executable[block][usize::from(edge)] {
                        self.visit_arg(block, usize::from(edge), place as usize);
                    }
                }
            }
        }
    }

    fn visit_test(&mut self, block: Block) {
        let f = self.f;
        let taken = match &f.blocks[block].terminator {
            Terminator::Jump(_) => [true, false],
            Terminator::Branch { op, args, .. } => {
                let args = [self.solution.facts[args[0]], self.solution.facts[args[1]]];
                match transfer(*op, &args, Type::Bool) {
                    Fact::Top => [false; 2],
                    Fact::Const(outcome) => {
                        [outcome == Const::Bool(true), outcome == Const::Bool(false)]
                    }
                    _ => [true, !fault::is(Fault::SccpOneEdge)],
                }
            }
            _ => [false; 2],
        };
        for (edge, taken) in taken.into_iter().enumerate() {
            let known = self.solution.executable[block][edge];
            if taken && !known {
                self.watch.see(|| Event::EdgeQueued(block, edge));
                self.edges.push((block, edge));
            } else if known && self.refining.contains(block) {
                for place in 0..f.blocks[block].terminator.edges()[edge].args.len() {
                    self.visit_arg(block, edge, place);
                }
            }
        }
    }

    /// Lets an argument's fact reach its parameter.
    fn visit_arg(&mut self, block: Block, edge: usize, place: usize) {
        let to = &self.f.blocks[block].terminator.edges()[edge];
        let (target, arg) = (to.target, to.args[place]);
        let mut fact = self.solution.facts[arg];
        if self.refining.contains(block) {
            let known = relations(self.f, block, edge).into_iter().flatten();
            for sigma in known.filter(|sigma| sigma.source == arg) {
                fact = fact.refine(sigma.op, self.solution.facts[sigma.other]);
            }
        }
        let param = self.f.blocks[target].params[place];
        let old = self.solution.facts[param];
        let mut new = old.join(fact);
        if new != old && self.headers.contains(target) {
            let rises = &mut self.rises[param];
            *rises = rises.saturating_add(1);
            if *rises > WIDEN_AFTER {
                new = self.thresholds.widen(old, new, *rises > WIDEN_FAR_AFTER);
            }
        }
        self.raise(param, new);
    }

    fn visit_inst(&mut self, inst: Inst) {
        if let Some(result) = self.f.insts[inst].result {
            // What may be anything already can't become more: a call with many arguments is not
            // looked at once for each of them.
            if self.solution.facts[result] != Fact::any(self.f.values[result].ty) {
                let fact = self.evaluate(inst, result);
                self.raise(result, fact);
            }
        }
    }

    fn evaluate(&self, inst: Inst, result: Value) -> Fact {
        let facts = &self.solution.facts;
        if let Some(sigma) = self.sigmas.get(result) {
            return facts[sigma.source].refine(sigma.op, facts[sigma.other]);
        }
        let (data, ty) = (&self.f.insts[inst], self.f.values[result].ty);
        let args: SmallVec<[Fact; 4]> = self.f.args(inst).iter().map(|&arg| facts[arg]).collect();
        let fact = transfer(data.op, &args, ty);
        match data.op {
            _ if fact == Fact::Top => fact,
            Op::LoadElem | Op::LoadField | Op::LoadGlobal => {
                match slot(self.module, data.op.info().space, data.imm) {
                    Some(Slot::Byte) => Fact::Int { lo: 0, hi: 255 },
                    _ => fact,
                }
            }
            Op::Rt if ty == Type::Ref => {
                let effects = effects(self.module, self.f, inst);
                let is_new = effects.has(Effects::ALLOCATES) && !effects.has(Effects::IO);
                if is_new { Fact::NonNil } else { fact }
            }
            _ => fact,
        }
    }

    /// Notes that a value may be this too.
    fn raise(&mut self, value: Value, fact: Fact) {
        let old = self.solution.facts[value];
        let new = old.join(fact);
        if new != old {
            self.solution.facts[value] = new;
            self.watch.see(|| Event::Raised(value, old, new));
            if self.queued.insert(value) {
                self.watch.see(|| Event::ValueQueued(value));
                self.values.push(value);
            }
        }
    }
}
