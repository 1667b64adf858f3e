//! Braun, Buchwald, Hack, Leißa, Mallon and Zwinkau, "Simple and Efficient Construction of Static
//! Single Assignment Form" (2013).
//!
//! Blocks are *filled* (their instructions renamed) in reverse postorder. A block is *sealed* once
//! all its predecessors are filled. A variable that is read where the block has not assigned it is
//! looked up in the predecessors: through single predecessors as they are, at joins by a φ of what
//! the predecessors say. In a block that is not sealed (a loop header) the φ stays without operands
//! until the block is.
//!
//! Three things keep the work near-linear and the stack flat:
//! - the look-up is a loop over an explicit stack of joins, and writes what it finds into every
//!   block that it passed;
//! - a join is first only *marked*; a φ is made when its operands differ or when the look-up comes
//!   back to the mark, so acyclic code makes no φ that it must remove;
//! - trivial φs are removed by a worklist that never looks at an operand twice ([`Phis`]).
//!
//! On irreducible graphs the components of redundant φs are removed afterwards (`minimal`), so the
//! result is minimal and pruned.
//!
//! Variable form → SSA form, in place: operands are rewritten, an instruction that assigns a
//! variable gets a value of its own as its result, copies and operators on constants vanish if
//! folding is on. Unreachable blocks are emptied. A variable that is read on a path on which it was
//! never assigned has the zero of its type there: 0, 0.0, false, nil.

use super::Folding;
use super::constants::{fold, undefined};
use super::defs::Defs;
use super::event::Event;
use super::forward::Forward;
use super::minimal;
use super::numbering::Numbering;
use super::phis::{Phi, Phis};
use super::reducible::is_irreducible;
use super::unreachable::empty_unreachable;
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::ir::cfg::Cfg;
use crate::ir::{
    Block, Form, Function, Inst, Terminator, Type, Value, ValueData, ValueDef, Variable,
};
use crate::watch::Watch;

/// Brings `function` into SSA form; nothing happens where it is in it already. With `numbering`
/// what was computed before is not computed again (`numbering`).
pub fn construct(
    function: &mut Function,
    folding: Folding,
    numbering: bool,
    watch: &mut impl Watch<Event>,
) {
    if function.form == Form::Variable {
        build(function, folding, numbering, watch);
    }
}

/// Constructs; how many blocks were looked at in search of definitions, and operands of φs in
/// search of trivial ones.
pub(super) fn build(
    function: &mut Function,
    folding: Folding,
    numbering: bool,
    watch: &mut impl Watch<Event>,
) -> usize {
    let mut builder = Builder::new(function, folding, watch);
    if numbering {
        builder.numbering = Some(Numbering::new(builder.function, &builder.cfg));
    }
    builder.run();
    builder.lookup.steps + builder.phis.work
}

/// The end of a list.
const END: u32 = u32::MAX;

/// A join in progress stands in `Defs` under this value.
const MARK: Value = Value(u32::MAX);

struct Builder<'a, W> {
    watch: &'a mut W,
    function: &'a mut Function,
    cfg: Cfg,
    folding: Folding,
    defs: Defs,
    phis: Phis,
    forward: Forward,
    numbering: Option<Numbering>,
    /// For each block: how many of the edges into it come from blocks that are not filled.
    open_edges: Buffer<u32>,
    /// The φs that wait for operands, in lists by block: each with the place of the next.
    incomplete: Vec<(Variable, Phi, u32)>,
    /// For each block, the places of its list's first and last.
    waiting: Buffer<(u32, u32)>,
    lookup: Lookup,
}

/// The state of one look-up, kept to reuse its memory.
#[derive(Default)]
struct Lookup {
    joins: Vec<Join>,
    operands: Vec<Value>,
    passed: Vec<Block>,
    steps: usize,
}

/// A join whose operands are being looked up.
struct Join {
    block: Block,
    /// How many of its edges were followed.
    followed: usize,
    /// Where its operands begin in `Lookup::operands`.
    operands: usize,
    /// Where the blocks passed on the way to the current predecessor's value begin.
    passed: usize,
}

impl<'a, W: Watch<Event>> Builder<'a, W> {
    fn new(function: &'a mut Function, folding: Folding, watch: &'a mut W) -> Self {
        let cfg = Cfg::compute(function);
        let mut open_edges = Buffer::filled(0, function.blocks.len());
        for &block in cfg.rpo() {
            open_edges[block.index()] = cfg.pred_edges(block).len() as u32;
        }
        Self {
            defs: Defs::with_capacity(function.insts.len()),
            phis: Phis::new(),
            forward: Forward::new(function),
            numbering: None,
            incomplete: Vec::new(),
            waiting: Buffer::filled((END, END), function.blocks.len()),
            lookup: Lookup::default(),
            watch,
            function,
            cfg,
            folding,
            open_edges,
        }
    }

    fn run(&mut self) {
        for i in 0..self.cfg.rpo().len() {
            let block = self.cfg.rpo()[i];
            self.fill(block);
            for succ in 0..self.function.blocks[block].terminator.edges().len() {
                let succ = self.function.blocks[block].terminator.edges()[succ].target;
                self.open_edges[succ.index()] -= 1;
                if self.open_edges[succ.index()] == 0 {
                    self.seal(succ);
                }
            }
        }
        if !self.phis.is_empty() && is_irreducible(&self.cfg, self.function) {
            minimal::remove_redundant(&mut self.phis, &mut self.forward, self.watch);
        }
        self.place_phis();
        self.forward.apply(self.function);
        empty_unreachable(self.function, &self.cfg);
        self.function.form = Form::Ssa;
    }

    /// Renames what a block reads and writes.
    fn fill(&mut self, block: Block) {
        self.watch.see(|| Event::Fill(block));
        let mut insts = std::mem::take(&mut self.function.blocks[block].insts);
        insts.retain(|&inst| self.rename(block, inst));
        self.function.blocks[block].insts = insts;
        let mut terminator =
            std::mem::replace(&mut self.function.blocks[block].terminator, Terminator::Unreachable);
        terminator.map_uses(|value| self.operand(block, value));
        self.watch.see(|| {
            let mut operands = Vec::new();
            terminator.for_each_use(|value| operands.push(value));
            Event::Filled(block, operands)
        });
        self.function.blocks[block].terminator = terminator;
    }

    /// Renames an instruction; whether it stays.
    fn rename(&mut self, block: Block, inst: Inst) -> bool {
        for i in 0..self.function.args(inst).len() {
            let operand = self.operand(block, self.function.args(inst)[i]);
            self.function.args_mut(inst)[i] = operand;
        }
        let Some(result) = self.function.insts[inst].result else {
            self.watch.see(|| renamed(self.function, block, inst, None, None));
            return true;
        };
        let ValueData { ty, def } = self.function.values[result];
        let folded = self.fold(block, inst, ty);
        match def {
            ValueDef::Variable(variable) => {
                let value = folded.unwrap_or_else(|| {
                    let def = ValueDef::Inst(inst);
                    let value = self.function.values.push(ValueData { ty, def });
                    self.function.insts[inst].result = Some(value);
                    value
                });
                self.watch.see(|| renamed(self.function, block, inst, Some(value), folded));
                self.watch.see(|| Event::Defined(variable, block, value));
                self.defs.set(variable, block, value);
            }
            _ => {
                self.watch.see(|| renamed(self.function, block, inst, Some(result), folded));
                if let Some(value) = folded {
                    self.forward.set(result, value);
                }
            }
        }
        folded.is_none()
    }

    /// The value that an instruction need not compute.
    fn fold(&mut self, block: Block, inst: Inst, ty: Type) -> Option<Value> {
        let folded = fold(self.function, inst, ty, self.folding);
        folded.or_else(|| {
            self.numbering.as_mut()?.find(self.function, &mut self.forward, block, inst)
        })
    }

    /// What an operand is in SSA form.
    fn operand(&mut self, block: Block, value: Value) -> Value {
        match self.function.values[value].def {
            ValueDef::Variable(variable) => self.read(variable, block),
            _ => self.forward.resolve(value),
        }
    }

    /// The value of a variable at the end of what is filled of a block.
    fn read(&mut self, variable: Variable, at: Block) -> Value {
        let mut block = at;
        if let Some(value) = self.defs.get(variable, block) {
            self.lookup.steps += 1;
            return self.forward.resolve(value);
        }
        loop {
            let mut value = self.descend(variable, block);
            // Hand the value down to the last join, and go on there with its next edge.
            loop {
                let passed = self.lookup.joins.last().map_or(0, |join| join.passed);
                for &block in &self.lookup.passed[passed..] {
                    self.watch.see(|| Event::Found(variable, block, value));
                    self.defs.set(variable, block, value);
                }
                self.lookup.passed.truncate(passed);
                let Some(join) = self.lookup.joins.last_mut() else { return value };
                self.lookup.operands.push(value);
                if let Some(edge) = self.cfg.pred_edges(join.block).get(join.followed) {
                    join.followed += 1;
                    block = edge.block;
                    break;
                }
                value = self.finish_join(variable);
            }
        }
    }

    /// Follows predecessors up from `block` to the first that knows the variable's value. Leaves
    /// the blocks passed on the way and the joins entered in the look-up's state.
    fn descend(&mut self, variable: Variable, mut block: Block) -> Value {
        loop {
            self.lookup.steps += 1;
            match self.defs.get(variable, block) {
                Some(MARK) => {
                    let (_, value) = self.add_phi(variable, block);
                    self.watch.see(|| Event::Phi(variable, block, value, false));
                    return value;
                }
                Some(value) => return self.forward.resolve(value),
                None => {}
            }
            if self.open_edges[block.index()] != 0 {
                let (phi, value) = self.add_phi(variable, block);
                self.watch.see(|| Event::Phi(variable, block, value, true));
                self.wait(block, variable, phi);
                return value;
            }
            let edges = self.cfg.pred_edges(block);
            match (edges.first(), edges.last()) {
                (Some(first), Some(last)) if first.block == last.block => {
                    self.lookup.passed.push(block);
                    block = first.block;
                }
                (Some(first), _) => {
                    self.watch.see(|| Event::Marked(variable, block));
                    self.defs.set(variable, block, MARK);
                    self.lookup.joins.push(Join {
                        block,
                        followed: 1,
                        operands: self.lookup.operands.len(),
                        passed: self.lookup.passed.len(),
                    });
                    block = first.block;
                }
                _ => {
                    let value = undefined(self.function, variable);
                    self.defs.set(variable, block, value);
                    return value;
                }
            }
        }
    }

    /// All operands of the last join are there: its value.
    fn finish_join(&mut self, variable: Variable) -> Value {
        let Some(Join { block, operands: start, .. }) = self.lookup.joins.pop() else {
            unreachable!("a look-up finishes only joins that it has entered")
        };
        let all = std::mem::take(&mut self.lookup.operands);
        let operands = &all[start..];
        let found = self.defs.get(variable, block).filter(|&value| value != MARK);
        let value = match found.and_then(|value| self.phis.of(value)) {
            Some(phi) => {
                self.phis.complete(phi, operands, &mut self.forward, self.watch);
                self.phis.data(phi).value
            }
            None => {
                let first = self.forward.resolve(operands[0]);
                if operands.iter().all(|&operand| self.forward.resolve(operand) == first) {
                    self.watch.see(|| Event::Agreed(variable, block, first));
                    first
                } else {
                    let (phi, value) = self.add_phi(variable, block);
                    self.watch.see(|| Event::Phi(variable, block, value, false));
                    self.phis.complete(phi, operands, &mut self.forward, self.watch);
                    value
                }
            }
        };
        self.lookup.operands = all;
        self.lookup.operands.truncate(start);
        let value = self.forward.resolve(value);
        self.defs.set(variable, block, value);
        value
    }

    /// Puts a φ on the list of a block that is not sealed.
    fn wait(&mut self, block: Block, variable: Variable, phi: Phi) {
        let place = self.incomplete.len() as u32;
        let (first, last) = &mut self.waiting[block.index()];
        match *last {
            END => *first = place,
            last => self.incomplete[last as usize].2 = place,
        }
        *last = place;
        self.incomplete.push((variable, phi, END));
    }

    /// All predecessors of a block are filled: its waiting φs get their operands.
    fn seal(&mut self, block: Block) {
        self.watch.see(|| Event::Sealed(block));
        let mut at = self.waiting[block.index()].0;
        while let Some(&(variable, phi, next)) = self.incomplete.get(at as usize) {
            at = next;
            let preds = self.cfg.pred_edges(block).len();
            let mut operands = Buffer::with_capacity(preds);
            for i in 0..preds {
                operands.push(self.read(variable, self.cfg.pred_edges(block)[i].block));
            }
            self.phis.complete(phi, &operands, &mut self.forward, self.watch);
        }
    }

    fn add_phi(&mut self, variable: Variable, block: Block) -> (Phi, Value) {
        let ty = self.function.variables[variable].ty;
        let def = ValueDef::Param(block, u32::MAX);
        let value = self.function.values.push(ValueData { ty, def });
        self.defs.set(variable, block, value);
        (self.phis.add(block, value), value)
    }

    /// Makes the φs that are left parameters of their blocks.
    fn place_phis(&mut self) {
        for phi in self.phis.live(&self.forward) {
            let (block, value) = (self.phis.data(phi).block, self.phis.data(phi).value);
            let params = &mut self.function.blocks[block].params;
            self.function.values[value].def = ValueDef::Param(block, params.len() as u32);
            params.push(value);
            for (edge, &operand) in self.cfg.pred_edges(block).iter().zip(self.phis.operands(phi)) {
                let edges = self.function.blocks[edge.block].terminator.edges_mut();
                edges[edge.index as usize].args.push(operand);
            }
        }
    }
}

/// What has become of an instruction.
fn renamed(
    f: &Function,
    block: Block,
    inst: Inst,
    result: Option<Value>,
    folded: Option<Value>,
) -> Event {
    Event::Renamed(block, inst, f.args(inst).to_vec(), result, folded)
}
