//! Block parameters as φs: each with its operands and the φs that use it, so that trivial ones
//! can be found and removed by a worklist.
//!
//! A φ is trivial where its operands are itself and at most one other value; it then stands for
//! that value, which may make its users trivial in turn (Braun et al. 2013, section 3.1). Values
//! only ever merge, so a φ need not look again at operands that it has seen to be equal: it goes on
//! where it found two different ones. All checks of one φ together are linear in its operands.

use super::forward::Forward;
use crate::entity::{Arena, List, ListPool, SideTable};
use crate::ir::{Block, Value};
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
    users: Users,
    /// The operands before this one are the φ itself or `same`.
    seen: u32,
    same: Option<Value>,
}

/// A list of φs, linked, so that two lists are joined at no cost.
#[derive(Clone, Copy, Debug)]
struct Users {
    first: u32,
    last: u32,
}

const END: u32 = u32::MAX;

/// All φs of a function.
#[derive(Debug)]
pub struct Phis {
    phis: Arena<Phi, PhiData>,
    by_value: SideTable<Value, u32>,
    operands: ListPool<Value>,
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
            links: Vec::new(),
            queue: Vec::new(),
            work: 0,
        }
    }

    /// Adds a φ whose operands are not known yet.
    pub fn add(&mut self, block: Block, value: Value) -> Phi {
        let users = Users { first: END, last: END };
        let phi = self.phis.push(PhiData {
            block,
            value,
            operands: List::EMPTY,
            users,
            seen: 0,
            same: None,
        });
        self.by_value[value] = phi.0;
        phi
    }

    /// The φ that a value is, if it is one.
    pub fn of(&self, value: Value) -> Option<Phi> {
        Some(self.by_value[value]).filter(|&phi| phi != END).map(Phi)
    }

    /// Gives a φ its operands, and removes it and what follows if it is trivial.
    pub fn complete(&mut self, phi: Phi, operands: &[Value], forward: &mut Forward) {
        self.phis[phi].operands = self.operands.list(operands);
        for &operand in operands {
            if let Some(used) = self.of(forward.resolve(operand)).filter(|&used| used != phi) {
                let link = self.links.len() as u32;
                self.links.push((phi, END));
                self.append_users(used, Users { first: link, last: link });
            }
        }
        self.queue.push(phi);
        self.settle(forward);
    }

    /// Removes what has become trivial since the last time.
    pub(super) fn settle(&mut self, forward: &mut Forward) {
        while let Some(phi) = self.queue.pop() {
            if let Some(same) = self.trivial(phi, forward) {
                self.replace(phi, same, forward);
            }
        }
    }

    /// The value that a φ stands for, if it is trivial and was not removed before.
    fn trivial(&mut self, phi: Phi, forward: &mut Forward) -> Option<Value> {
        let data = &mut self.phis[phi];
        if !forward.is_own(data.value) {
            return None;
        }
        let operands = self.operands.get(data.operands);
        data.same = data.same.map(|v| forward.resolve(v)).filter(|&same| same != data.value);
        while let Some(&operand) = operands.get(data.seen as usize) {
            self.work += 1;
            let operand = forward.resolve(operand);
            if operand != data.value && Some(operand) != data.same {
                if data.same.is_some() && !fault::is(Fault::SsaTrivial) {
                    return None;
                }
                data.same = Some(operand);
            }
            data.seen += 1;
        }
        data.same
    }

    /// Lets a φ stand for `same`; its users will be looked at again.
    pub(super) fn replace(&mut self, phi: Phi, same: Value, forward: &mut Forward) {
        let PhiData { value, users, .. } = self.phis[phi];
        forward.set(value, same);
        let mut at = users.first;
        while at != END {
            let (user, next) = self.links[at as usize];
            self.queue.push(user);
            at = next;
        }
        if let Some(heir) = self.of(same) {
            self.append_users(heir, users);
        }
    }

    fn append_users(&mut self, phi: Phi, more: Users) {
        if more.first == END {
            return;
        }
        let users = &mut self.phis[phi].users;
        if users.first == END {
            *users = more;
        } else {
            self.links[users.last as usize].1 = more.first;
            users.last = more.last;
        }
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
