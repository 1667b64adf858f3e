//! Elements carried from one iteration to the next (predictive commoning, distance one).
//!
//! Where a loop stores `a[i]` and loads `a[i - 1]`, what is loaded was stored one iteration before:
//! it goes round in a register, and the latency of memory leaves the loop's chain of dependences.
//! The store must be the only write of its class in an innermost loop and happen each time round.
//! Before the loop the first element is loaded, where the first index is in bounds; where it isn't,
//! the check in the loop, which stays, traps.
//!
//! SSA → SSA, linear in instructions (times the loads of a loop that match).

use super::Context;
use super::effects::{Clobbers, clobbers};
use super::licm::preheader;
use super::linear;
use super::sums::sum;
use crate::analysis::loops::{Innermost, Loop};
use crate::entity::SideTable;
use crate::ir::{
    Block, Const, Dominators, Edge, ElemClass, Function, Inst, Module, Op, Space, Terminator,
    Value, ValueDef,
};
use crate::ssa::Forward;
use toyjit_runtime::layout::Slot;

/// A loop that stores to more classes is left alone.
const MAX_CLASSES: usize = 8;

/// Carries elements.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let Some((cfg, loops)) = cx.graph.loops(f) else { return };
    let (_, dominators) = cx.graph.dominators(f);
    let homes = linear::homes(f, &cfg, &loops);
    let mut forward = Forward::new(f);
    for Innermost { id, header, latch, body } in loops.innermost_loops(&cfg) {
        let shape = Shape { id, header, latch, homes: &homes };
        let found = shape.matches(f, cx.module, &dominators, &body);
        let mut before = None;
        for load in found {
            if cx.fuel.tick() {
                let at = before.unwrap_or_else(|| preheader(f, &cfg, &loops, id));
                before = Some(shape.load_first(f, at, &load));
                forward.set(load.result, shape.carry(f, &load));
            }
        }
    }
    forward.apply(f);
}

type Homes = SideTable<Value, Option<Loop>>;

/// An innermost loop with one back edge.
struct Shape<'a> {
    id: Loop,
    header: Block,
    latch: (Block, usize),
    /// Where values are defined.
    homes: &'a Homes,
}

/// An index: an invariant, a header's parameter (by its number) and a constant.
#[derive(Clone, Copy, PartialEq)]
struct Affine {
    base: Option<Value>,
    param: usize,
    offset: i64,
}

/// A load of what was stored one iteration before.
struct Load {
    result: Value,
    class: u64,
    buffer: Value,
    len: Value,
    index: Affine,
    /// What was stored.
    stored: Value,
}

impl Shape<'_> {
    /// Whether the loop defines a value.
    fn defines(&self, value: Value) -> bool {
        self.homes[value] == Some(self.id)
    }

    fn matches(
        &self,
        f: &Function,
        module: &Module,
        dominators: &Dominators,
        body: &[Block],
    ) -> Vec<Load> {
        let insts = || body.iter().flat_map(|&b| f.blocks[b].insts.iter().map(move |&i| (b, i)));
        let mut stores: Vec<(u64, Option<(Block, Inst)>)> = Vec::new();
        for (block, inst) in insts() {
            match clobbers(module, f, inst) {
                Clobbers::Everything | Clobbers::Arrays => return Vec::new(),
                Clobbers::Set(set) if set.has_elements() => return Vec::new(),
                Clobbers::Location(Space::Elements, class) => {
                    match stores.iter().position(|&(seen, _)| seen == class) {
                        Some(at) => stores[at].1 = None,
                        None if stores.len() < MAX_CLASSES => {
                            stores.push((class, Some((block, inst))));
                        }
                        None => return Vec::new(),
                    }
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        for (class, store) in stores {
            let Some((block, store)) = store else { continue };
            let slot = module.classes.get(ElemClass(class as u32));
            if slot.is_none_or(|&slot| slot == Slot::Byte)
                || !dominators.dominates(block, self.latch.0)
            {
                continue;
            }
            let &[buffer, index, stored] = f.args(store) else { continue };
            let Some(written) = self.affine(f, index).filter(|_| !self.defines(buffer)) else {
                continue;
            };
            let Some(step) = self.step(f, written.param) else { continue };
            let read = Affine { offset: written.offset.wrapping_sub(step), ..written };
            for (_, inst) in insts() {
                let data = &f.insts[inst];
                if data.op != Op::LoadElem || data.imm != class {
                    continue;
                }
                let (&[from, index], Some(result)) = (f.args(inst), data.result) else { continue };
                if from != buffer || self.affine(f, index) != Some(read) {
                    continue;
                }
                if let Some(len) = checked_against(f, index).filter(|&len| !self.defines(len)) {
                    found.push(Load { result, class, buffer, len, index: read, stored });
                }
            }
        }
        found
    }

    /// How much a parameter of the header grows each time round.
    fn step(&self, f: &Function, param: usize) -> Option<i64> {
        let next = f.blocks[self.latch.0].terminator.edges()[self.latch.1].args[param];
        let next = self.affine(f, next)?;
        let grows = next.base.is_none() && next.param == param && next.offset != 0;
        grows.then_some(next.offset)
    }

    fn affine(&self, f: &Function, value: Value) -> Option<Affine> {
        let (value, offset) = sum(f, value);
        if let Some(param) = self.param(f, value) {
            return Some(Affine { base: None, param, offset });
        }
        let inst = f.def_inst(value).filter(|&inst| f.insts[inst].op == Op::IAdd)?;
        let &[a, b] = f.args(inst) else { return None };
        let (base, varying) = if self.defines(a) { (b, a) } else { (a, b) };
        let (varying, more) = sum(f, varying);
        let param = self.param(f, varying).filter(|_| !self.defines(base))?;
        Some(Affine { base: Some(base), param, offset: offset.wrapping_add(more) })
    }

    fn param(&self, f: &Function, value: Value) -> Option<usize> {
        match f.values[value].def {
            ValueDef::Param(block, index) if block == self.header => Some(index as usize),
            _ => None,
        }
    }

    /// Lets the stored value go round; the parameter that holds it.
    fn carry(&self, f: &mut Function, load: &Load) -> Value {
        let latch = &mut f.blocks[self.latch.0].terminator.edges_mut()[self.latch.1];
        latch.args.push(load.stored);
        f.add_param(self.header, f.values[load.result].ty)
    }

    /// Loads the first element in front of the loop, where its index is in bounds, and takes it
    /// along; the new preheader.
    fn load_first(&self, f: &mut Function, before: Block, load: &Load) -> Block {
        let ty = f.values[load.result].ty;
        let loc = f.blocks[before].loc;
        let Affine { base, param, offset } = load.index;
        let mut entry =
            std::mem::replace(&mut f.blocks[before].terminator, Terminator::Unreachable);
        let mut index = entry.edges()[0].args[param];
        for addend in [base, (offset != 0).then(|| f.int(offset))].into_iter().flatten() {
            let sum = f.append(before, Op::IAdd, &[index, addend], 0, None, loc);
            index = f.insts[sum].result.unwrap_or(index);
        }
        let [positive, within, after] = [(); 3].map(|()| f.add_block());
        let first = f.add_param(after, ty);
        let zero = f.int(0);
        let nothing = f.constant(Const::from_bits(ty, 0).unwrap_or(Const::Nil));
        let skip = Edge { target: after, args: [nothing].into_iter().collect() };
        f.blocks[before].terminator = Terminator::Branch {
            op: Op::IGe,
            args: [index, zero],
            edges: [Edge::to(positive), skip.clone()],
        };
        f.blocks[positive].terminator = Terminator::Branch {
            op: Op::ILt,
            args: [index, load.len],
            edges: [Edge::to(within), skip],
        };
        let args = [load.buffer, index];
        let element = f.append(within, Op::LoadElem, &args, load.class, Some(ty), loc);
        let element = f.insts[element].result.unwrap_or(nothing);
        let edge = Edge { target: after, args: [element].into_iter().collect() };
        f.blocks[within].terminator = Terminator::Jump(edge);
        entry.edges_mut()[0].args.push(first);
        f.blocks[after].terminator = entry;
        after
    }
}

/// The length that a checked index was checked against.
fn checked_against(f: &Function, index: Value) -> Option<Value> {
    let inst = f.def_inst(index).filter(|&inst| f.insts[inst].op == Op::CheckBounds)?;
    f.args(inst).get(1).copied()
}
