//! Turns homes into an allocation: operands' places, moves, stores, stack maps.
//!
//! Moves are needed where one stay of a value follows another: in the gap before an instruction,
//! or on an edge whose ends disagree. Edge arguments become parameters on the same edges, and
//! operands in fixed registers or tied to definitions are copied in the same gaps. All moves of one
//! gap or edge happen at once (`parallel_move.rs`); this is where SSA form ends.
//!
//! A spilled value is stored either once, right after its definition, or wherever it passes from a
//! register to its slot, whichever is executed less: a value that leaves its register only on a
//! cold path is stored only there. Either way the slot is valid wherever the value is said to be in
//! it. A value that can be made again is made again instead of stored and reloaded.
//!
//! Input: layout, intervals with homes. Output: the allocation.

use super::event::{Event, Origin};
use super::hints::Hints;
use super::homes::Homes;
use super::intervals::{Home, Intervals, LiveRange, Need};
use super::layout::{Access, Layout};
use super::liveness::Definitions;
use super::parallel_move::ParallelMoves;
use super::passages::{Passage, Site, passages};
use super::position::Pos;
use super::slots::Slots;
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::mach::{
    Allocation, EdgeMoves, PReg, Place, ProgPoint, RegClass, RegisterFile, Role, Side, SpillSlot,
    VReg,
};
use crate::pooled;
use crate::watch::Watch;
use toyjit_runtime::fault::{self, Fault};

/// What a move writes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    Place(Place),
    Remat(u32, RegClass),
}

/// When a spilled value is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Store {
    Never,
    AtDefinition,
    AtPassages,
}

pooled! { Store, (Site, Place, Source), (VReg, LiveRange) }

/// Makes the allocation.
pub fn resolve(
    layout: Layout,
    definitions: &Definitions,
    intervals: &Intervals,
    hints: &Hints,
    registers: &RegisterFile,
    work: &mut u64,
    watch: &mut impl Watch<Event>,
) -> Allocation {
    let homes = Homes::new(intervals, layout.vregs.len());
    let passages = passages(&layout, definitions, intervals, &homes, work);
    let stores = plan_stores(&layout, definitions, intervals, &homes, &passages);
    let slots = color_slots(&layout, &homes, hints, &stores);
    for vreg in layout.vregs.keys() {
        if let Some(slot) = slots.of(vreg) {
            watch.see(|| Event::Slot(vreg, slot));
        }
    }
    let mut resolver = Resolver {
        layout: &layout,
        definitions,
        homes: &homes,
        stores: &stores,
        slots: &slots,
        moves: Buffer::new(),
    };
    let places = resolver.operands();
    resolver.params();
    resolver.passages(&passages);
    let moves = resolver.moves;
    *work += moves.len() as u64;
    let mut allocation = Allocation {
        places,
        num_slots: slots.len() as u32,
        stack_maps: stack_maps(&layout, definitions, intervals, &slots),
        ..Allocation::default()
    };
    sequence(moves, registers, &mut allocation, watch);
    allocation.starts = layout.into_starts();
    allocation
}

/// Decides when each spilled value is stored.
fn plan_stores(
    layout: &Layout,
    definitions: &Definitions,
    intervals: &Intervals,
    homes: &Homes,
    passages: &[Passage],
) -> Buffer<Store> {
    let mut costs = Buffer::filled(0f32, layout.vregs.len());
    for passage in passages.iter().filter(|p| p.to == Home::Spilled) {
        costs[passage.vreg.index()] += match passage.site {
            Site::Point(point) => layout.weight(layout.block_of(point.inst)),
            Site::Edge(from, succ) => {
                let to = layout.blocks[from].succs[succ as usize].target;
                layout.weight(from).min(layout.weight(to))
            }
        };
    }
    let plan = |vreg: VReg| {
        if !homes.of(vreg).iter().any(|stay| stay.home == Home::Spilled) {
            return Store::Never;
        }
        if layout.remat(vreg).is_some() {
            let mut in_place = intervals.uses_of(vreg).iter().filter(|u| u.need == Need::Anywhere);
            let read = in_place.any(|u| homes.at(vreg, u.pos) == Home::Spilled);
            return if read { Store::AtDefinition } else { Store::Never };
        }
        let definition = definitions[vreg.index()];
        let at_definition = layout.weight(layout.block_of(definition.inst()));
        if homes.at(vreg, definition) == Home::Spilled || at_definition <= costs[vreg.index()] {
            Store::AtDefinition
        } else {
            Store::AtPassages
        }
    };
    layout.vregs.keys().map(plan).collect()
}

/// A slot matters from the definition to the end of life if the value is stored there once, or
/// else while the value is in it.
fn color_slots(layout: &Layout, homes: &Homes, hints: &Hints, stores: &[Store]) -> Slots {
    let mut stretches = Buffer::new();
    for vreg in layout.vregs.keys() {
        let stays = homes.of(vreg);
        let mut relevant = stays.iter().filter(|stay| match stores[vreg.index()] {
            Store::Never => false,
            Store::AtDefinition => true,
            Store::AtPassages => stay.home == Home::Spilled,
        });
        if let Some(first) = relevant.next() {
            let last = relevant.next_back().unwrap_or(first);
            let start = if first.continues { Pos::gap(first.start.inst()) } else { first.start };
            stretches.push((vreg, LiveRange { start, end: last.end }));
        }
    }
    Slots::new(layout.vregs.len(), stretches, hints)
}

struct Resolver<'a> {
    layout: &'a Layout<'a>,
    definitions: &'a Definitions,
    homes: &'a Homes,
    stores: &'a [Store],
    slots: &'a Slots,
    moves: Buffer<(Site, Place, Source)>,
}

impl Resolver<'_> {
    /// The places of all operands, and the moves around instructions.
    fn operands(&mut self) -> Buffer<Place> {
        let mut places = Buffer::with_capacity(self.layout.num_operands());
        for i in 0..self.layout.len() {
            let before = Site::Point(ProgPoint { inst: i, side: Side::Before });
            let after = Site::Point(ProgPoint { inst: i, side: Side::After });
            let layout = self.layout;
            layout.accesses(i, |operand, access| {
                let vreg = operand.vreg;
                let place = match access {
                    Access::Here { early, required, .. } => {
                        // A value that may be anywhere and is read late may lose its register in
                        // the middle of the instruction: then it is in its slot all the while.
                        let late = !early || (operand.role == Role::LateUse && !required);
                        let pos = if late { Pos::late(i) } else { Pos::early(i) };
                        self.place(vreg, self.homes.at(vreg, pos))
                    }
                    Access::CopyTo(reg) => {
                        self.bring(before, Place::Reg(reg), vreg, Pos::gap(i));
                        Place::Reg(reg)
                    }
                    Access::CopyToDef(def) => {
                        let place = self.place(def, self.homes.at(def, Pos::early(i)));
                        self.bring(before, place, vreg, Pos::gap(i));
                        place
                    }
                    Access::DefIn(reg) => {
                        if self.homes.has(vreg) {
                            let home = self.homes.at(vreg, Pos::after(i));
                            if home != Home::Spilled || self.stores[vreg.index()] != Store::Never {
                                let place = self.place(vreg, home);
                                self.moves.push((after, place, Source::Place(Place::Reg(reg))));
                            }
                        }
                        Place::Reg(reg)
                    }
                    Access::TempIn(reg) => Place::Reg(reg),
                };
                places.push(place);
                let definition = self.definitions[vreg.index()];
                let defines = definition.inst() == i && !definition.is_gap();
                if defines && self.stores[vreg.index()] == Store::AtDefinition {
                    self.store(after, vreg, place);
                }
            });
        }
        places
    }

    /// Arguments become parameters; parameters that are stored at their definition are stored
    /// before the first instruction of their block.
    fn params(&mut self) {
        for (block, data) in self.layout.blocks.iter() {
            for &param in &data.params {
                let home = self.homes.at(param, self.layout.block_start(block));
                if self.stores[param.index()] == Store::AtDefinition {
                    let point = ProgPoint { inst: data.insts.start, side: Side::Before };
                    self.store(Site::Point(point), param, self.place(param, home));
                }
            }
            for (succ, edge) in data.succs.iter().enumerate() {
                let params = &self.layout.blocks[edge.target].params;
                for (&arg, &param) in edge.args.iter().zip(params) {
                    if self.homes.has(param) {
                        let start = self.layout.block_start(edge.target);
                        let place = self.place(param, self.homes.at(param, start));
                        let site = Site::Edge(block, succ as u32);
                        self.bring(site, place, arg, self.layout.block_last(block));
                    }
                }
            }
        }
    }

    fn passages(&mut self, passages: &[Passage]) {
        for &Passage { vreg, site, from, to } in passages {
            match to {
                Home::Spilled => {
                    if self.stores[vreg.index()] == Store::AtPassages
                        && !fault::is(Fault::SpillNotStored)
                    {
                        self.store(site, vreg, self.place(vreg, from));
                    }
                }
                Home::Reg(_) | Home::Open => {
                    let source = self.source(vreg, from);
                    let place = self.place(vreg, to);
                    self.moves.push((site, place, source));
                }
            }
        }
    }

    fn store(&mut self, site: Site, vreg: VReg, from: Place) {
        let slot = self.place(vreg, Home::Spilled);
        if from != slot {
            self.moves.push((site, slot, Source::Place(from)));
        }
    }

    fn bring(&mut self, site: Site, to: Place, vreg: VReg, pos: Pos) {
        let source = self.source(vreg, self.homes.at(vreg, pos));
        self.moves.push((site, to, source));
    }

    fn source(&self, vreg: VReg, home: Home) -> Source {
        match (home, self.layout.remat(vreg)) {
            (Home::Spilled, Some(inst)) => Source::Remat(inst, self.layout.class(vreg)),
            _ => Source::Place(self.place(vreg, home)),
        }
    }

    fn place(&self, vreg: VReg, home: Home) -> Place {
        match home {
            Home::Reg(reg) => Place::Reg(reg),
            Home::Spilled | Home::Open => {
                let slot = self.slots.of(vreg);
                debug_assert!(slot.is_some(), "{vreg} has no slot");
                slot.map_or(Place::Reg(PReg(0)), Place::Slot)
            }
        }
    }
}

/// The slots with references that are live across each safepoint.
fn stack_maps(
    layout: &Layout,
    definitions: &Definitions,
    intervals: &Intervals,
    slots: &Slots,
) -> Vec<(u32, Vec<SpillSlot>)> {
    let safepoints = &layout.safepoints;
    let mut maps: Vec<_> = safepoints.iter().map(|&i| (i, Vec::new())).collect();
    for vreg in layout.vregs.keys().filter(|&vreg| layout.is_traced(vreg)) {
        let Some(slot) = slots.of(vreg) else { continue };
        let definition = definitions[vreg.index()];
        let spilled = intervals.pieces_of(vreg).filter(|&p| intervals[p].home == Home::Spilled);
        for range in spilled.flat_map(|piece| intervals.ranges(piece)) {
            let first = safepoints.partition_point(|&i| Pos::after(i) < range.start);
            for map in &mut maps[first..] {
                if Pos::after(map.0) >= range.end {
                    break;
                }
                let lost = fault::is(Fault::RootMissing) && !map.1.is_empty();
                if !lost && (definition.inst() != map.0 || definition.is_gap()) {
                    map.1.push(slot);
                }
            }
        }
    }
    for (_, slots) in &mut maps {
        slots.sort_unstable();
    }
    maps
}

/// Puts the moves of each site in sequence.
fn sequence(
    mut moves: Buffer<(Site, Place, Source)>,
    registers: &RegisterFile,
    allocation: &mut Allocation,
    watch: &mut impl Watch<Event>,
) {
    moves.sort_by_key(|&(site, ..)| site);
    let mut parallel = ParallelMoves::new(registers.scratch);
    for group in moves.chunk_by(|a, b| a.0 == b.0) {
        for &(_, to, source) in group {
            match source {
                Source::Place(from) => parallel.copy(to, from),
                Source::Remat(inst, class) => parallel.remat(to, inst, class),
            }
        }
        watch.see(|| {
            let copies = group.iter().map(|&(_, to, source)| match source {
                Source::Place(from) => (to, Origin::Place(from)),
                Source::Remat(inst, class) => (to, Origin::Made(inst, class)),
            });
            Event::Copies(group[0].0.into(), copies.collect())
        });
        match group[0].0 {
            Site::Point(point) => {
                parallel.sequence(&mut |edit, why| {
                    watch.see(|| Event::Done(edit, why));
                    allocation.edits.push((point, edit));
                });
            }
            Site::Edge(from, succ) => {
                let mut edits = Vec::new();
                parallel.sequence(&mut |edit, why| {
                    watch.see(|| Event::Done(edit, why));
                    edits.push(edit);
                });
                if !edits.is_empty() {
                    allocation.edge_moves.push(EdgeMoves { from, succ, edits });
                }
            }
        }
    }
}
