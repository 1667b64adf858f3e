//! Scalar promotion: a place in memory that a loop loads from and stores to is a register in it.
//!
//! A place is a global, a field of an object or an element of an array, where object, buffer and
//! index don't change in the loop. It is promoted where all that the loop loads and stores of its
//! class is this place, and nothing that is called touches the class: then it is loaded before the
//! loop, and stored where the loop is left. Outer loops come first.
//!
//! The load before the loop can't fail: globals are always there; a field or element must be in the
//! loop's header, which runs first (an element before anything there that may trap), or belong to
//! what is seen to be an object, or have been checked before the loop.
//!
//! A trap in the loop leaves the place as it was before. Nobody sees that in a program that ends
//! then; where memory outlives traps (sessions, modules that are called again) the pass is off.
//!
//! SSA → SSA; linear in instructions times the nesting of loops.

use super::Context;
use super::effects::{Clobbers, clobbers, effects, is_never_nil, slot};
use super::licm::preheader;
use crate::analysis::loops::{Loop, Loops};
use crate::entity::SideTable;
use crate::ir::{
    Block, Cfg, Edge, Effects, Form, Function, Inst, InstData, Loc, Module, Op, Space, Terminator,
    Value, Variable, slot_type,
};
use crate::source::Span;
use crate::ssa::{Construction, Folding, construct};
use smallvec::SmallVec;
use toyjit_runtime::Rt;
use toyjit_runtime::fault::{self, Fault};
use toyjit_runtime::layout::Slot;

/// A loop that touches more classes is left alone.
const MAX_CLASSES: usize = 16;

/// Promotes places.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    if !cx.module.is_whole {
        return;
    }
    let Some((cfg, loops)) = cx.graph.loops(f) else { return };
    let bodies = bodies(&cfg, &loops);
    let homes = homes(f, &cfg);
    let mut promoted: SideTable<Inst, Option<u32>> = SideTable::new(None);
    let mut places: Vec<Place> = Vec::new();
    for (id, data) in loops.iter().rev() {
        let seen = Seen { f, module: cx.module, loops: &loops, id, homes: &homes };
        for place in seen.places(&bodies[id.0 as usize], data.header, &promoted) {
            if cx.fuel.tick() {
                let first = place.insts[0];
                let name = f.insts[first].op.info().name;
                cx.remarks.say("promote", f, f.insts[first].loc, || {
                    format!("`{name}` in a register while the loop runs")
                });
                place.insts.iter().for_each(|&inst| promoted[inst] = Some(places.len() as u32));
                places.push(place);
            }
        }
    }
    if !places.is_empty() {
        carry_out(f, cx.module, &cfg, &loops, &bodies, &places, &promoted);
    }
}

/// The blocks of each loop, those of inner loops too.
fn bodies(cfg: &Cfg, loops: &Loops) -> Vec<Vec<Block>> {
    let mut bodies = vec![Vec::new(); loops.iter().len()];
    for &block in cfg.rpo() {
        let mut at = loops.innermost(block);
        while let Some(id) = at {
            bodies[id.0 as usize].push(block);
            at = loops.get(id).parent;
        }
    }
    bodies
}

/// The block that defines each value.
fn homes(f: &Function, cfg: &Cfg) -> SideTable<Value, Option<Block>> {
    let mut homes = SideTable::with_len(None, f.values.len());
    for &block in cfg.rpo() {
        let data = &f.blocks[block];
        let results = data.insts.iter().filter_map(|&inst| f.insts[inst].result);
        data.params.iter().copied().chain(results).for_each(|value| homes[value] = Some(block));
    }
    homes
}

/// A place that one loop loads from and stores to.
struct Place {
    id: Loop,
    space: Space,
    imm: u64,
    /// Object, or buffer and index.
    at: SmallVec<[Value; 2]>,
    /// All loads and stores of it in the loop.
    insts: Vec<Inst>,
    stores: bool,
    /// Whether it can be loaded before the loop.
    is_there: bool,
}

/// A loop as it is looked at.
struct Seen<'a> {
    f: &'a Function,
    module: &'a Module,
    loops: &'a Loops,
    id: Loop,
    homes: &'a SideTable<Value, Option<Block>>,
}

impl Seen<'_> {
    fn places(
        &self,
        body: &[Block],
        header: Block,
        promoted: &SideTable<Inst, Option<u32>>,
    ) -> Vec<Place> {
        let (f, mut places) = (self.f, Vec::new());
        // Classes of which not one place alone is touched.
        let mut mixed: Vec<(Space, u64)> = Vec::new();
        let insts = || body.iter().flat_map(|&b| f.blocks[b].insts.iter().map(move |&i| (b, i)));
        // Behind what may trap it may be known of an index that it is in bounds.
        let mut may_trap = false;
        for (block, inst) in insts().filter(|&(_, inst)| promoted[inst].is_none()) {
            may_trap |= effects(self.module, f, inst).has(Effects::TRAPS);
            if let Some(found) = self.place(inst) {
                let class = (found.space, found.imm);
                let known = places.iter_mut().find(|p: &&mut Place| (p.space, p.imm) == class);
                let runs_first = block == header && !(may_trap && found.space == Space::Elements);
                let is_there = runs_first || found.is_there;
                match known {
                    Some(place) if place.at == found.at => {
                        place.insts.push(inst);
                        place.stores |= found.stores;
                        place.is_there |= is_there;
                    }
                    Some(_) => mixed.push(class),
                    None if found.at.iter().any(|&value| self.defines(value)) => mixed.push(class),
                    None => places.push(Place { is_there, ..found }),
                }
                if places.len() + mixed.len() > MAX_CLASSES {
                    return Vec::new();
                }
            }
        }
        places.retain(|place| {
            place.stores
                && place.is_there
                && slot(self.module, place.space, place.imm).is_some_and(|slot| slot != Slot::Ref)
                && !mixed.contains(&(place.space, place.imm))
        });
        if !places.is_empty() {
            for (_, inst) in insts() {
                places.retain(|place| !self.touches(inst, place));
            }
        }
        places
    }

    fn defines(&self, value: Value) -> bool {
        self.homes[value].is_some_and(|home| self.loops.contains(self.id, home))
    }

    /// The place that an instruction loads or stores.
    fn place(&self, inst: Inst) -> Option<Place> {
        let f = self.f;
        let InstData { op, imm, .. } = f.insts[inst];
        let (space, args, stores) = match op {
            Op::LoadGlobal | Op::StoreGlobal => (Space::Global, 0, op == Op::StoreGlobal),
            Op::LoadField | Op::StoreField => (Space::Field, 1, op == Op::StoreField),
            Op::LoadElem | Op::StoreElem => (Space::Elements, 2, op == Op::StoreElem),
            _ => return None,
        };
        let at = SmallVec::from_slice(&f.args(inst)[..args]);
        let is_there = match space {
            Space::Global => true,
            Space::Field => is_never_nil(f, at[0]),
            _ => is_checked(f, &at),
        };
        Some(Place { id: self.id, space, imm, at, insts: vec![inst], stores, is_there })
    }

    /// Whether an instruction that is no load or store of it may read or write a place.
    fn touches(&self, inst: Inst, place: &Place) -> bool {
        let (f, op) = (self.f, self.f.insts[inst].op);
        let reads = match op {
            Op::Call | Op::CallValue => {
                effects(self.module, f, inst).has(Effects::READS) && !fault::is(Fault::PromoteCalls)
            }
            // The runtime prints what objects hold, and frees a region as long as it is.
            Op::Rt => {
                let reads = effects(self.module, f, inst).has(Effects::READS)
                    || f.insts[inst].imm == Rt::RegionFree as u64;
                reads && place.space != Space::Global
            }
            // A check of a region reads its length.
            _ => {
                let reads = op.info().effects.has(Effects::READS) && self.place(inst).is_none();
                reads && (op.info().space, f.insts[inst].imm) == (place.space, place.imm)
            }
        };
        let is_array = place.space == Space::Elements;
        reads
            || match clobbers(self.module, f, inst) {
                Clobbers::Nothing => false,
                Clobbers::Location(space, _) => is_array && space == Space::Header,
                Clobbers::Arrays => is_array,
                Clobbers::Set(writes) => writes.has(place.space, place.imm),
                Clobbers::Everything => true,
            }
    }
}

/// Whether an index is the result of a check with the length of the array that the buffer is of.
fn is_checked(f: &Function, at: &[Value]) -> bool {
    let array = |value: Value, op: Op| {
        let inst = f.def_inst(value).filter(|&inst| f.insts[inst].op == op)?;
        f.args(inst).first().copied()
    };
    let &[buffer, index] = at else { return false };
    let check = f.def_inst(index).filter(|&inst| f.insts[inst].op == Op::CheckBounds);
    let of = check.and_then(|check| array(f.args(check)[1], Op::ArrayLen));
    of.is_some() && of == array(buffer, Op::ArrayData)
}

fn carry_out(
    f: &mut Function,
    module: &Module,
    cfg: &Cfg,
    loops: &Loops,
    bodies: &[Vec<Block>],
    places: &[Place],
    promoted: &SideTable<Inst, Option<u32>>,
) {
    let mut variables: Vec<(Variable, bool)> = Vec::new();
    // For each edge out of a loop, what is stored there.
    let mut leaving: Vec<(Block, usize, usize)> = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let slot = slot(module, place.space, place.imm).unwrap_or(Slot::Int);
        let variable = f.add_variable("", slot_type(slot), Span::default());
        let is_byte = slot == Slot::Byte && place.space == Space::Elements;
        variables.push((variable, is_byte));
        for &block in &bodies[place.id.0 as usize] {
            for (way, succ) in f.succs(block).enumerate() {
                if !loops.contains(place.id, succ) {
                    leaving.push((block, way, number));
                }
            }
        }
    }
    for &block in cfg.rpo() {
        let insts = std::mem::take(&mut f.blocks[block].insts);
        for inst in insts {
            match promoted[inst] {
                Some(number) => rewrite(f, block, inst, variables[number as usize]),
                None => f.blocks[block].insts.push(inst),
            }
        }
    }
    let mut preheaders: SideTable<Loop, Option<Block>> = SideTable::new(None);
    for (place, &(variable, _)) in places.iter().zip(&variables) {
        let before = match preheaders[place.id] {
            Some(block) => block,
            None => preheader(f, cfg, loops, place.id),
        };
        preheaders[place.id] = Some(before);
        let op = match place.space {
            Space::Global => Op::LoadGlobal,
            Space::Field => Op::LoadField,
            _ => Op::LoadElem,
        };
        let loc = f.insts[place.insts[0]].loc;
        let ty = f.variables[variable].ty;
        let load = f.append(before, op, &place.at, place.imm, Some(ty), loc);
        if let Some(value) = f.insts[load].result {
            f.append_assign(before, variable, Op::Copy, &[value], 0, loc);
        }
    }
    leaving.sort_unstable();
    for stores in leaving.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (block, way, _) = stores[0];
        let on_edge = f.add_block();
        f.blocks[on_edge].loc = f.blocks[block].loc;
        let edge = &mut f.blocks[block].terminator.edges_mut()[way];
        let edge = std::mem::replace(edge, Edge::to(on_edge));
        f.blocks[on_edge].terminator = Terminator::Jump(edge);
        for &(_, _, number) in stores {
            let place = &places[number];
            let op = match place.space {
                Space::Global => Op::StoreGlobal,
                Space::Field => Op::StoreField,
                _ => Op::StoreElem,
            };
            let mut args = place.at.clone();
            args.push(f.variables[variables[number].0].value);
            let loc = f.insts[place.insts[0]].loc;
            if !fault::is(Fault::PromoteKeeps) || number == 0 {
                f.append(on_edge, op, &args, place.imm, None, loc);
            }
        }
    }
    f.form = Form::Variable;
    construct(f, Construction::Braun, Folding::On);
}

/// Appends to a block what a load or store of a promoted place is on its variable.
fn rewrite(f: &mut Function, block: Block, inst: Inst, (variable, is_byte): (Variable, bool)) {
    let InstData { op, loc, .. } = f.insts[inst];
    if matches!(op, Op::LoadGlobal | Op::LoadField | Op::LoadElem) {
        let args = f.pool.list(&[f.variables[variable].value]);
        let data = &mut f.insts[inst];
        (data.op, data.args, data.imm) = (Op::Copy, args, 0);
        f.blocks[block].insts.push(inst);
    } else if let Some(&value) = f.args(inst).last() {
        set(f, block, (variable, is_byte), value, loc);
    }
}

/// Assigns the variable of a slot; a byte of an array keeps the low bits.
fn set(
    f: &mut Function,
    block: Block,
    (variable, is_byte): (Variable, bool),
    value: Value,
    loc: Loc,
) {
    let mut args: SmallVec<[Value; 2]> = SmallVec::from_slice(&[value]);
    let mut op = Op::Copy;
    if is_byte {
        op = Op::IAnd;
        args.push(f.int(255));
    }
    f.append_assign(block, variable, op, &args, 0, loc);
}
