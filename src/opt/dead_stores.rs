//! Dead stores: what is overwritten before anybody can read it is not stored.
//!
//! Backward over each block with the places that every way from here on stores to before it reads their
//! class, calls what may read, or returns. A way that ends in a trap reads nothing: memory dies with the
//! program. Where memory outlives traps (sessions, modules that are called again), traps, and
//! whatever may be ended from outside, count as readers, and blocks are looked at one by one. A place is
//! a global, a field of one object or an element of one buffer with one index, as values: nothing
//! needs to be known of what else they may be.
//!
//! SSA → SSA; one pass in postorder, in which nothing is known of what edges back lead to.

use super::Context;
use super::effects::effects;
use crate::entity::{EntitySet, SideTable};
use crate::ir::{Block, Effects, Function, Inst, Module, Op, Space, Terminator, Value};
use smallvec::SmallVec;
use toyjit_runtime::fault::{self, Fault};

/// More places are forgotten.
const MOST_PLACES: usize = 32;

/// A place: what it is in, and where.
type Place = (Space, u64, SmallVec<[Value; 2]>);

/// The places that are overwritten before they are read.
#[derive(Clone, PartialEq)]
enum Overwritten {
    /// All: no way leads to anybody who could read.
    All,
    These(Vec<Place>),
}

/// Takes dead stores out.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    if !has_twins(f) {
        return;
    }
    let cfg = cx.graph.cfg(f);
    let mut at_start: SideTable<Block, Option<Overwritten>> = SideTable::new(None);
    let mut dead = EntitySet::<Inst>::new();
    for block in cfg.postorder() {
        let mut state = at_end(f, cx.module, block, &at_start);
        for &inst in f.blocks[block].insts.iter().rev() {
            match place(f, inst) {
                Some(place) if state.has(&place) => {
                    if cx.fuel.tick() {
                        cx.remarks.say("dead-stores", f, f.insts[inst].loc, || {
                            "store left out: it is overwritten before it is read".to_owned()
                        });
                        dead.insert(inst);
                    }
                }
                Some(place) => state.add(place),
                None => state.read_by(f, cx.module, inst),
            }
        }
        at_start[block] = Some(state);
    }
    if !dead.is_empty() {
        for data in f.blocks.values_mut() {
            data.insts.retain(|&inst| !dead.contains(inst));
        }
    }
}

/// Whether two stores are of one class.
fn has_twins(f: &Function) -> bool {
    let insts = f.blocks.values().flat_map(|data| &data.insts);
    let mut classes: Vec<(Op, u64)> = insts
        .map(|&inst| (f.insts[inst].op, f.insts[inst].imm))
        .filter(|(op, _)| matches!(op, Op::StoreGlobal | Op::StoreField | Op::StoreElem))
        .collect();
    classes.sort_unstable_by_key(|&(op, imm)| (op as usize, imm));
    classes.windows(2).any(|pair| pair[0] == pair[1])
}

/// The place that an instruction stores to.
fn place(f: &Function, inst: Inst) -> Option<Place> {
    let data = &f.insts[inst];
    match data.op {
        Op::StoreGlobal | Op::StoreField | Op::StoreElem => {
            let (_, address) = f.args(inst).split_last()?;
            Some((data.op.info().space, data.imm, address.iter().copied().collect()))
        }
        _ => None,
    }
}

fn at_end(
    f: &Function,
    module: &Module,
    block: Block,
    at_start: &SideTable<Block, Option<Overwritten>>,
) -> Overwritten {
    let nothing = || Overwritten::These(Vec::new());
    if !module.is_whole {
        return nothing();
    }
    match &f.blocks[block].terminator {
        Terminator::Unreachable => Overwritten::All,
        Terminator::Return(_) => nothing(),
        terminator => {
            let mut all = Overwritten::All;
            for edge in terminator.edges() {
                match &at_start[edge.target] {
                    Some(state) => all.meet(state),
                    None => return nothing(),
                }
            }
            all
        }
    }
}

impl Overwritten {
    fn has(&self, place: &Place) -> bool {
        match self {
            Overwritten::All => true,
            Overwritten::These(places) => places.contains(place),
        }
    }

    fn add(&mut self, place: Place) {
        if let Overwritten::These(places) = self
            && places.len() < MOST_PLACES
        {
            places.push(place);
        }
    }

    fn meet(&mut self, other: &Overwritten) {
        match (&mut *self, other) {
            (_, Overwritten::All) => {}
            (Overwritten::All, _) => self.clone_from(other),
            (Overwritten::These(places), Overwritten::These(others)) => {
                places.retain(|place| others.contains(place));
            }
        }
    }

    /// Forgets what an instruction may read, or shows to others.
    fn read_by(&mut self, f: &Function, module: &Module, inst: Inst) {
        let does = effects(module, f, inst);
        let shows = does.has(Effects::TRAPS.and(Effects::IO)) && !module.is_whole;
        let reads = does.has(Effects::READS) && !fault::is(Fault::DeadStoreRead);
        if !shows && !reads {
            return;
        }
        let data = &f.insts[inst];
        let space = data.op.info().space;
        match self {
            Overwritten::These(places) if !shows && !matches!(space, Space::None | Space::Any) => {
                places.retain(|place| (place.0, place.1) != (space, data.imm));
            }
            // Of what is not all, nothing more is known.
            _ => *self = Overwritten::These(Vec::new()),
        }
    }
}
