//! Block parameters as φs: each with its operands, so that trivial ones can be found and removed by
//! a worklist.
//!
//! A φ is trivial where its operands are itself and at most one other value; it then stands for
//! that value, which may make other φs trivial in turn (Braun et al. 2013, section 3.1). Values only
//! ever merge, so a φ need not look again at operands that it has seen to be equal: it goes on
//! where it found two different ones, its witnesses. It becomes trivial only when two of the three,
//! the witnesses and itself, merge. So each φ is on the lists of these three, and when two values
//! merge, whoever is concerned is on both lists: looking at the shorter one is enough. All work
//! together is linear in the operands but for a logarithm.

use super::event::Event;
use super::forward::Forward;
use crate::entity::{Arena, List, ListPool, SideTable};
use crate::ir::{Block, Value};
use crate::watch::Watch;
use toyjit_runtime::fault::{self, Fault};

crate::entity! {
    /// A φ.
    Phi = "phi";
}

/// A φ.
#[derive(Clone, Copy, Debug)]
pub struct PhiData {
    /// The block whose parameter it is.
    pub block: Block,
    /// The parameter.
    pub value: Value,
    /// One operand for each edge into the block; empty while they are not known.
    operands: List,
    /// The operands before this one are the φ itself or `same`.
    seen: u32,
    same: Option<Value>,
}

/// The φs to which it matters what a value merges with: a linked list.
#[derive(Clone, Copy, Debug)]
struct Watchers {
    first: u32,
    last: u32,
    len: u32,
}

const END: u32 = u32::MAX;
const NOBODY: Watchers = Watchers { first: END, last: END, len: 0 };

/// All φs of a function.
#[derive(Debug)]
pub struct Phis {
    phis: Arena<Phi, PhiData>,
    by_value: SideTable<Value, u32>,
    operands: ListPool<Value>,
    watchers: SideTable<Value, Watchers>,
    links: Vec<(Phi, u32)>,
    queue: Vec<Phi>,
    /// How many operands were looked at in search of trivial φs.
    pub work: usize,
}

impl Phis {
    /// No φ.
    pub fn new() -> Self {
        Self {
            phis: Arena::new(),
            by_value: SideTable::new(END),
            operands: ListPool::new(),
            watchers: SideTable::new(NOBODY),
            links: Vec::new(),
            queue: Vec::new(),
            work: 0,
        }
    }

    /// Adds a φ whose operands are not known yet.
    pub fn add(&mut self, block: Block, value: Value) -> Phi {
        let operands = List::EMPTY;
        let phi = self.phis.push(PhiData { block, value, operands, seen: 0, same: None });
        self.by_value[value] = phi.0;
        phi
    }

    /// The φ that a value is, if it is one.
    pub fn of(&self, value: Value) -> Option<Phi> {
        Some(self.by_value[value]).filter(|&phi| phi != END).map(Phi)
    }

    /// Gives a φ its operands, and removes it and what follows if it is trivial.
    pub fn complete(
        &mut self,
        phi: Phi,
        operands: &[Value],
        forward: &mut Forward,
        watch: &mut impl Watch<Event>,
    ) {
        watch.see(|| Event::Operands(self.phis[phi].value, operands.to_vec()));
        self.phis[phi].operands = self.operands.list(operands);
        self.queue.push(phi);
        self.settle(forward, watch);
    }

    /// Removes what has become trivial since the last time.
    pub(super) fn settle(&mut self, forward: &mut Forward, watch: &mut impl Watch<Event>) {
        while let Some(phi) = self.queue.pop() {
            if let Some(same) = self.trivial(phi, forward) {
                self.replace(phi, same, forward, watch);
            }
        }
    }

    /// The value that a φ stands for, if it is trivial and was not removed before.
    fn trivial(&mut self, phi: Phi, forward: &mut Forward) -> Option<Value> {
        self.work += 1;
        let data = &mut self.phis[phi];
        if !forward.is_own(data.value) {
            return None;
        }
        let (value, seen) = (data.value, data.seen);
        let operands = self.operands.get(data.operands);
        data.same = data.same.map(|v| forward.resolve(v)).filter(|&same| same != value);
        while let Some(&operand) = operands.get(data.seen as usize) {
            self.work += 1;
            let operand = forward.resolve(operand);
            if operand != value && Some(operand) != data.same {
                if let Some(same) = data.same.filter(|_| !fault::is(Fault::SsaTrivial)) {
                    if data.seen != seen {
                        [value, same, operand].into_iter().for_each(|at| self.watch(phi, at));
                    }
                    return None;
                }
                data.same = Some(operand);
            }
            data.seen += 1;
        }
        data.same
    }

    fn watch(&mut self, watcher: Phi, value: Value) {
        let link = self.links.len() as u32;
        self.links.push((watcher, END));
        self.append(value, Watchers { first: link, last: link, len: 1 });
    }

    fn append(&mut self, value: Value, more: Watchers) {
        let list = &mut self.watchers[value];
        if list.len == 0 {
            *list = more;
        } else if more.len != 0 {
            self.links[list.last as usize].1 = more.first;
            list.last = more.last;
            list.len += more.len;
        }
    }

    /// Lets a φ stand for `same`; whoever is concerned will be looked at again.
    pub(super) fn replace(
        &mut self,
        phi: Phi,
        same: Value,
        forward: &mut Forward,
        watch: &mut impl Watch<Event>,
    ) {
        let value = self.phis[phi].value;
        watch.see(|| Event::Replaced(value, same));
        forward.set(value, same);
        let (ours, theirs) = (self.watchers[value], self.watchers[same]);
        let mut at = if ours.len < theirs.len { ours.first } else { theirs.first };
        while at != END {
            let (watcher, next) = self.links[at as usize];
            self.queue.push(watcher);
            at = next;
        }
        self.append(same, ours);
    }

    /// All φs, removed ones too, in the order in which they were added.
    pub fn all(&self) -> impl Iterator<Item = Phi> + use<> {
        self.phis.keys()
    }

    /// The φs that are left, in the order in which they were added.
    pub fn live<'a>(&'a self, forward: &'a Forward) -> impl Iterator<Item = Phi> + 'a {
        self.phis.iter().filter(|(_, data)| forward.is_own(data.value)).map(|(phi, _)| phi)
    }

    /// How many φs were ever added.
    pub fn len(&self) -> usize {
        self.phis.len()
    }

    /// Whether none was ever added.
    pub fn is_empty(&self) -> bool {
        self.phis.is_empty()
    }

    /// A φ.
    pub fn data(&self, phi: Phi) -> &PhiData {
        &self.phis[phi]
    }

    /// A φ's operands.
    pub fn operands(&self, phi: Phi) -> &[Value] {
        self.operands.get(self.phis[phi].operands)
    }
}

impl Default for Phis {
    fn default() -> Self {
        Self::new()
    }
}
