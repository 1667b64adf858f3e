//! Versions of memory: two loads of one location with the same version read the same.
//!
//! Locations (a space and the `imm` within it) never overlap, so each has versions of its own. A
//! write makes a new version; so does a join in the iterated dominance frontier of the writes, which
//! is where different versions meet (memory SSA, one variable a location). Writes of whole groups
//! (calls: everything; the runtime's array rows: all arrays) are versions of the group, and a
//! location's version is the latest of its own and its groups'. A call of a function of which it is
//! known what it writes is a version of each of these. A loop thus has a new version only
//! of what it writes: lengths and buffers of arrays that it does not push to stay what they were.
//!
//! Only locations that the function loads from are looked at.

use super::super::effects::{Clobbers, clobbers};
use crate::analysis::frontier::{Frontier, Step};
use crate::entity::SideTable;
use crate::ir::{Block, Cfg, Dominators, Effects, Function, Inst, Module, Op, Space};
use smallvec::SmallVec;
use toyjit_runtime::fault::{self, Fault};

/// A group's or a location's number.
type Class = usize;

const EVERYTHING: Class = 0;
const ARRAYS: Class = 1;
const GROUPS: usize = 2;

/// Where versions begin, and the current ones during a walk over the dominator tree.
#[derive(Debug)]
pub(super) struct Memory {
    /// The locations that are loaded from, sorted.
    locations: Vec<(Space, u64)>,
    /// For each block: the classes of which versions meet at its start.
    joins: SideTable<Block, Vec<u32>>,
    current: Vec<u32>,
    last: u32,
    undo: Vec<(u32, u32)>,
}

impl Memory {
    pub(super) fn new(f: &Function, module: &Module, cfg: &Cfg, dominators: &Dominators) -> Self {
        let mut locations: Vec<_> = cfg
            .rpo()
            .iter()
            .flat_map(|&b| &f.blocks[b].insts)
            .filter_map(|&inst| location(f, inst))
            .collect();
        locations.sort_unstable_by_key(|&(space, imm)| (space as u8, imm));
        locations.dedup();
        let current = vec![0; GROUPS + locations.len()];
        let joins = SideTable::new(Vec::new());
        let mut memory = Self { locations, joins, current, last: 0, undo: Vec::new() };
        if !memory.locations.is_empty() {
            memory.place(f, module, cfg, dominators);
        }
        memory
    }

    fn place(&mut self, f: &Function, module: &Module, cfg: &Cfg, dominators: &Dominators) {
        let mut writers = vec![Vec::new(); self.current.len()];
        for &block in cfg.rpo() {
            for &inst in &f.blocks[block].insts {
                self.for_each_written(module, f, inst, |class| {
                    if writers[class].last() != Some(&block) {
                        writers[class].push(block);
                    }
                });
            }
        }
        if writers.iter().all(Vec::is_empty) {
            return;
        }
        let frontier = Frontier::compute(cfg, dominators);
        let mut seen = SideTable::with_len(u32::MAX, f.blocks.len());
        for (class, mut blocks) in writers.into_iter().enumerate() {
            let class = class as u32;
            frontier.iterated(&mut blocks, &mut seen, class, |step| {
                if let Step::Join(at) = step {
                    self.joins[at].push(class);
                }
            });
        }
    }

    fn class(&self, space: Space, imm: u64) -> Option<Class> {
        let key = (space as u8, imm);
        let found = self.locations.binary_search_by_key(&key, |&(space, imm)| (space as u8, imm));
        found.ok().map(|place| GROUPS + place)
    }

    fn for_each_written(
        &self,
        module: &Module,
        f: &Function,
        inst: Inst,
        mut visit: impl FnMut(Class),
    ) {
        match clobbers(module, f, inst) {
            Clobbers::Nothing => {}
            Clobbers::Location(space, imm) => self.class(space, imm).into_iter().for_each(visit),
            Clobbers::Arrays => visit(ARRAYS),
            Clobbers::Everything => visit(EVERYTHING),
            Clobbers::Set(set) if set.everything => visit(EVERYTHING),
            Clobbers::Set(set) => {
                if set.arrays {
                    visit(ARRAYS);
                }
                let classes =
                    set.locations.iter().filter_map(|&(space, imm)| self.class(space, imm));
                classes.for_each(visit);
            }
        }
    }

    /// The version of a location that the function loads from.
    pub(super) fn version(&self, space: Space, imm: u64) -> Option<u32> {
        let own = self.current[self.class(space, imm)?];
        let arrays = match space {
            Space::Header | Space::Elements => self.current[ARRAYS],
            _ => 0,
        };
        Some(own.max(arrays).max(self.current[EVERYTHING]))
    }

    /// Goes past an instruction.
    pub(super) fn step(&mut self, module: &Module, f: &Function, inst: Inst) {
        // Nobody asks for versions.
        if self.locations.is_empty() {
            return;
        }
        let mut written: SmallVec<[Class; 4]> = SmallVec::new();
        self.for_each_written(module, f, inst, |class| written.push(class));
        let is_call = f.insts[inst].op == Op::Call;
        for class in written {
            if fault::is(Fault::GvnAcrossStores) && class >= GROUPS && !is_call {
                continue;
            }
            if fault::is(Fault::GvnAcrossCalls) && (is_call || class == EVERYTHING) {
                continue;
            }
            self.renew(class as u32);
        }
    }

    /// Goes into a block.
    pub(super) fn enter(&mut self, block: Block) {
        if self.joins[block].is_empty() {
            return;
        }
        for class in std::mem::take(&mut self.joins[block]) {
            if fault::is(Fault::GvnAcrossJoins) {
                continue;
            }
            self.renew(class);
        }
    }

    fn renew(&mut self, class: u32) {
        self.last += 1;
        let old = std::mem::replace(&mut self.current[class as usize], self.last);
        self.undo.push((class, old));
    }

    /// The current scope's mark, for `leave`.
    pub(super) fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Goes back to the versions at the mark.
    pub(super) fn leave(&mut self, mark: usize) {
        for (class, old) in self.undo.drain(mark..).rev() {
            self.current[class as usize] = old;
        }
    }
}

/// The location that an instruction loads from.
pub(super) fn location(f: &Function, inst: Inst) -> Option<(Space, u64)> {
    let data = &f.insts[inst];
    let info = data.op.info();
    let loads = info.effects.has(Effects::READS) && !matches!(info.space, Space::None | Space::Any);
    loads.then_some((info.space, data.imm))
}
