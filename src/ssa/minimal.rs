//! Minimality on irreducible graphs (Braun et al. 2013, section 3.2, algorithm 5).
//!
//! Where the graph is reducible, removing trivial φs one by one leaves the minimal form. Otherwise a
//! whole strongly connected component of φs can be redundant: all its operands from outside are one
//! value, which the component then stands for. Components are visited operands first. One with
//! several outer operands may contain a smaller redundant component among the φs that have inner
//! operands only. The recursion of the paper is a stack of components here.

use super::event::Event;
use super::forward::Forward;
use super::phis::{Phi, Phis};
use crate::entity::SideTable;
use crate::watch::Watch;

/// Removes every redundant component of φs.
pub(super) fn remove_redundant(
    phis: &mut Phis,
    forward: &mut Forward,
    watch: &mut impl Watch<Event>,
) {
    let all = phis.live(forward).collect();
    let mut search = Search { state: SideTable::with_len(State::default(), phis.len()), epoch: 0 };
    let mut open = search.components(phis, forward, all);
    while let Some(component) = open.pop() {
        if component.len() == 1 {
            continue;
        }
        let members = search.mark(&component);
        let (mut outer, mut several) = (None, false);
        let mut inner = Vec::new();
        for &phi in &component {
            let mut only_inner = true;
            for &operand in phis.operands(phi) {
                let operand = forward.resolve(operand);
                if phis.of(operand).is_some_and(|phi| search.state[phi].member == members) {
                    continue;
                }
                only_inner = false;
                several |= outer.is_some_and(|other| other != operand);
                outer = Some(operand);
            }
            if only_inner {
                inner.push(phi);
            }
        }
        match outer {
            Some(value) if !several => {
                for phi in component {
                    if forward.is_own(phis.data(phi).value) {
                        phis.replace(phi, value, forward, watch);
                    }
                }
                phis.settle(forward, watch);
            }
            _ => open.append(&mut search.components(phis, forward, inner)),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct State {
    /// The set that the φ was last made a member of.
    member: u32,
    /// Tarjan's numbers; 0 where not visited.
    number: u32,
    low: u32,
    on_stack: bool,
}

struct Search {
    state: SideTable<Phi, State>,
    epoch: u32,
}

impl Search {
    /// Makes these φs the members of a new set.
    fn mark(&mut self, members: &[Phi]) -> u32 {
        self.epoch += 1;
        for &phi in members {
            self.state[phi] = State { member: self.epoch, ..State::default() };
        }
        self.epoch
    }

    /// The strongly connected components of the graph of these φs, the last first to be visited
    /// (Tarjan's algorithm with an explicit stack).
    fn components(&mut self, phis: &Phis, forward: &mut Forward, set: Vec<Phi>) -> Vec<Vec<Phi>> {
        let members = self.mark(&set);
        let (mut found, mut stack, mut open) = (Vec::new(), Vec::new(), Vec::new());
        let mut count = 0;
        let mut enter = |state: &mut State, phi: Phi, stack: &mut Vec<Phi>| {
            count += 1;
            (state.number, state.low, state.on_stack) = (count, count, true);
            stack.push(phi);
        };
        for &root in &set {
            if self.state[root].number != 0 {
                continue;
            }
            enter(&mut self.state[root], root, &mut stack);
            open.push((root, 0));
            while let Some((phi, next)) = open.last_mut() {
                let phi = *phi;
                if let Some(&operand) = phis.operands(phi).get(*next) {
                    *next += 1;
                    let Some(to) = phis.of(forward.resolve(operand)) else { continue };
                    let State { member, number, on_stack, .. } = self.state[to];
                    if member == members && number == 0 {
                        enter(&mut self.state[to], to, &mut stack);
                        open.push((to, 0));
                    } else if member == members && on_stack {
                        self.state[phi].low = self.state[phi].low.min(number);
                    }
                    continue;
                }
                open.pop();
                let State { number, low, .. } = self.state[phi];
                if let Some(&(above, _)) = open.last() {
                    self.state[above].low = self.state[above].low.min(low);
                }
                if low == number {
                    let start = stack.iter().rposition(|&p| p == phi).unwrap_or(0);
                    let component = stack.split_off(start);
                    component.iter().for_each(|&p| self.state[p].on_stack = false);
                    found.push(component);
                }
            }
        }
        found.reverse();
        found
    }
}
