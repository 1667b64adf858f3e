//! Puts a parallel copy in sequence.
//!
//! Idea: Boissinot, Darte, Rastello, de Dinechin, Guillon, "Revisiting out-of-SSA translation"
//! (CGO 2009), algorithm 1, with counted readers. Destinations whose old values nobody needs are
//! written first; then those whose old values were copied elsewhere on the way; what remains is
//! closed cycles, and each is opened by saving one of its places in a scratch register. No more moves are made than copies, plus one for each closed
//! cycle, plus one for each copy from slot to slot.
//!
//! Two scratch registers are enough for everything, since at most one cycle is open at a time: the
//! open cycle holds its saved value in the scratch of the saved place's class (`Int` for a slot),
//! and a copy from slot to slot, which copies 8 bytes and cares for no class, goes through
//! whichever scratch is not held.
//!
//! Input: copies with distinct destinations (a copy may be given twice). Output: edits in order.
//! Rematerialised values read no place; they are made last.

use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::mach::{Edit, PReg, Place, RegClass, SpillSlot};
use crate::pooled;
use std::mem;
use toyjit_runtime::fault::{self, Fault};

const NONE: u32 = u32::MAX;

/// What an edit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// One of the copies.
    Copy,
    /// Only cycles are left: one is opened by saving one of its places.
    Cycle,
    /// The first half of a copy from slot to slot.
    Through,
    /// A constant is made again.
    Made,
}

pooled! { (Place, u32, RegClass) }

/// A parallel copy under construction; the memory is kept from one copy to the next.
#[derive(Debug)]
pub struct ParallelMoves {
    scratch: [PReg; 2],
    copies: Buffer<(u32, u32)>,
    remats: Buffer<(Place, u32, RegClass)>,
    /// For each place that is read: where its old value is now.
    location: Buffer<u32>,
    /// For each place still to be written: the place whose old value it gets.
    source: Buffer<u32>,
    /// For each place: how many places still to be written get its old value.
    readers: Buffer<u32>,
    /// For each place that is read: another place that has its old value by now.
    saved: Buffer<u32>,
    /// Places to write whose old values nobody needs.
    ready: Buffer<u32>,
    /// Places to write whose old values are saved elsewhere: the second choice.
    freed: Buffer<u32>,
}

impl ParallelMoves {
    /// An empty copy; `scratch` has one register of each class that no copy names.
    pub fn new(scratch: [PReg; 2]) -> Self {
        Self {
            scratch,
            copies: Buffer::new(),
            remats: Buffer::new(),
            location: Buffer::new(),
            source: Buffer::new(),
            saved: Buffer::new(),
            readers: Buffer::new(),
            ready: Buffer::new(),
            freed: Buffer::new(),
        }
    }

    /// Adds the copy `to ← from`.
    pub fn copy(&mut self, to: Place, from: Place) {
        if to != from {
            self.copies.push((index(to), index(from)));
        }
    }

    /// Adds the making of the constant of instruction `inst`, which is of class `class`, in `to`.
    pub fn remat(&mut self, to: Place, inst: u32, class: RegClass) {
        self.remats.push((to, inst, class));
    }

    /// Emits the edits that do all of it at once, and forgets the copies.
    pub fn sequence(&mut self, emit: &mut impl FnMut(Edit, Why)) {
        if !self.copies.is_empty() {
            self.sequence_copies(emit);
        }
        self.remats.sort_unstable();
        self.remats.dedup();
        for (to, inst, class) in self.remats.drain(..) {
            match to {
                Place::Reg(to) => emit(Edit::Remat { to, inst }, Why::Made),
                Place::Slot(_) => {
                    let scratch = self.scratch[class as usize];
                    emit(Edit::Remat { to: scratch, inst }, Why::Made);
                    emit(Edit::Move { to, from: Place::Reg(scratch) }, Why::Copy);
                }
            }
        }
    }

    fn sequence_copies(&mut self, emit: &mut impl FnMut(Edit, Why)) {
        self.copies.sort_unstable();
        self.copies.dedup();
        if fault::is(Fault::MovesSequential) {
            for (to, from) in mem::take(&mut *self.copies) {
                self.emit_move(to, from, None, emit);
            }
            return;
        }
        debug_assert!(self.copies.windows(2).all(|w| w[0].0 != w[1].0), "written twice");
        let places = self.copies.iter().map(|&(to, from)| to.max(from)).max().map_or(0, |m| m + 1);
        if self.location.len() < places as usize {
            self.location.resize(places as usize, NONE);
            self.saved.resize(places as usize, NONE);
            self.readers.resize(places as usize, 0);
            self.source.resize(places as usize, NONE);
        }
        for &(to, from) in &self.copies {
            self.source[to as usize] = from;
            self.location[from as usize] = from;
            self.readers[from as usize] += 1;
        }
        // Registers are popped before slots: a value that goes to both is stored from a register.
        for &(to, _) in self.copies.iter().rev() {
            if self.readers[to as usize] == 0 {
                self.ready.push(to);
            }
        }
        let mut held = None;
        for next in 0..=self.copies.len() {
            while let Some(to) = self.ready.pop().or_else(|| self.freed.pop()) {
                if self.source[to as usize] != NONE {
                    self.write(to, held, emit);
                }
            }
            held = None;
            // All that can be written without saving is written: here a cycle is left.
            if let Some(&(to, _)) = self.copies.get(next)
                && self.source[to as usize] != NONE
            {
                let scratch = self.scratch_for(to);
                emit(Edit::Move { to: Place::Reg(scratch), from: place(to) }, Why::Cycle);
                self.saved[to as usize] = u32::from(scratch.0);
                self.freed.push(to);
                held = Some(scratch);
            }
        }
        for (_, from) in self.copies.drain(..) {
            self.saved[from as usize] = NONE;
        }
    }

    /// Writes `to`; if its source is not needed any more, or was not saved before, that may be
    /// written next.
    fn write(&mut self, to: u32, held: Option<PReg>, emit: &mut impl FnMut(Edit, Why)) {
        let from = mem::replace(&mut self.source[to as usize], NONE);
        self.location[to as usize] = self.saved[to as usize];
        let saved = self.saved[from as usize];
        let mut now = self.location[from as usize];
        if is_slot(now) && saved != NONE && !is_slot(saved) {
            now = saved;
        }
        self.emit_move(to, now, held, emit);
        if saved == NONE || is_slot(saved) {
            self.saved[from as usize] = to;
        }
        self.readers[from as usize] -= 1;
        if self.source[from as usize] != NONE {
            if self.readers[from as usize] == 0 {
                self.ready.push(from);
            } else if saved == NONE {
                self.freed.push(from);
            }
        }
    }

    fn scratch_for(&self, saved: u32) -> PReg {
        match place(saved) {
            Place::Reg(reg) if reg.class() == RegClass::Float => self.scratch[1],
            _ => self.scratch[0],
        }
    }

    fn emit_move(&self, to: u32, from: u32, held: Option<PReg>, emit: &mut impl FnMut(Edit, Why)) {
        let mut from = place(from);
        if is_slot(to) && from.reg().is_none() {
            let [int, float] = self.scratch;
            let through = Place::Reg(if held == Some(int) { float } else { int });
            emit(Edit::Move { to: through, from }, Why::Through);
            from = through;
        }
        emit(Edit::Move { to: place(to), from }, Why::Copy);
    }
}

/// Places by number: registers first, then slots.
fn index(place: Place) -> u32 {
    match place {
        Place::Reg(reg) => u32::from(reg.0),
        Place::Slot(slot) => PReg::COUNT as u32 + slot.0,
    }
}

fn place(index: u32) -> Place {
    match index.checked_sub(PReg::COUNT as u32) {
        None => Place::Reg(PReg(index as u8)),
        Some(slot) => Place::Slot(SpillSlot::new(slot as usize)),
    }
}

fn is_slot(index: u32) -> bool {
    index >= PReg::COUNT as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const SCRATCH: [PReg; 2] = [PReg(11), PReg(31)];

    fn reg(n: u8) -> Place {
        Place::Reg(PReg(n))
    }

    fn slot(n: u32) -> Place {
        Place::Slot(SpillSlot(n))
    }

    fn sequence(copies: &[(Place, Place)]) -> Vec<Edit> {
        let mut moves = ParallelMoves::new(SCRATCH);
        let mut edits = Vec::new();
        for &(to, from) in copies {
            moves.copy(to, from);
        }
        moves.sequence(&mut |edit, _| edits.push(edit));
        edits
    }

    /// Executes the edits and compares with the parallel meaning; then counts.
    fn check(copies: &[(Place, Place)], places: &[Place]) {
        let edits = sequence(copies);
        let mut state: HashMap<Place, Place> = places.iter().map(|&p| (p, p)).collect();
        for &edit in &edits {
            let Edit::Move { to, from } = edit else { panic!("{edit:?}") };
            assert!(to.reg().is_some() || from.reg().is_some(), "slot to slot");
            if let (Some(to), Some(from)) = (to.reg(), from.reg()) {
                assert_eq!(to.class(), from.class());
            }
            let value = state[&from];
            state.insert(to, value);
        }
        for &p in places {
            let from = copies.iter().find(|c| c.0 == p).map_or(p, |c| c.1);
            assert_eq!(state[&p], from, "{copies:?} gave {edits:?}");
        }
        let real: Vec<_> = copies.iter().filter(|c| c.0 != c.1).collect();
        let through_memory =
            real.iter().filter(|c| c.0.reg().is_none() && c.1.reg().is_none()).count();
        let cycles = closed_cycles(copies);
        assert!(edits.len() <= real.len() + cycles + through_memory, "{copies:?}: {edits:?}");
        if places.iter().all(|p| p.reg().is_some()) {
            assert_eq!(edits.len(), real.len() + cycles);
        }
    }

    /// Cycles that may need one more move: none of their places is read outside, or one is read by
    /// a slot, which then is where its value is saved.
    fn closed_cycles(copies: &[(Place, Place)]) -> usize {
        let source = |p: Place| copies.iter().find(|c| c.0 == p && c.1 != p).map(|c| c.1);
        let mut cycles = 0;
        for &(start, _) in copies {
            let mut members = vec![start];
            let mut at = start;
            let closed = loop {
                match source(at) {
                    Some(next) if next == start => break true,
                    Some(next) if !members.contains(&next) => {
                        members.push(next);
                        at = next;
                    }
                    _ => break false,
                }
            };
            let first = members.iter().min() == Some(&start);
            let mut outside =
                copies.iter().filter(|c| members.contains(&c.1) && !members.contains(&c.0));
            let saved = outside.clone().count() > 0 && outside.all(|c| c.0.reg().is_some());
            if closed && first && !saved {
                cycles += 1;
            }
        }
        cycles
    }

    fn exhaust(places: &[Place]) {
        let choices = places.len() + 1;
        let fits = |a: Place, b: Place| match (a.reg(), b.reg()) {
            (Some(a), Some(b)) => a.class() == b.class(),
            _ => true,
        };
        'sets: for code in 0..choices.pow(places.len() as u32) {
            let mut copies = Vec::new();
            let mut rest = code;
            for &to in places {
                let choice = rest % choices;
                rest /= choices;
                if let Some(&from) = places.get(choice) {
                    if !fits(to, from) {
                        continue 'sets;
                    }
                    copies.push((to, from));
                }
            }
            // A slot holds one value, which has one class.
            let read_as = |class| {
                copies.iter().filter(move |c| c.0.reg().is_some_and(|r| r.class() == class))
            };
            if read_as(RegClass::Int)
                .any(|c| c.1.reg().is_none() && read_as(RegClass::Float).any(|d| d.1 == c.1))
            {
                continue 'sets;
            }
            check(&copies, places);
        }
    }

    #[test]
    fn every_copy_over_five_registers() {
        exhaust(&[reg(0), reg(1), reg(2), reg(3), reg(4)]);
    }

    #[test]
    fn every_copy_over_six_places_two_of_them_slots() {
        exhaust(&[reg(0), slot(0), reg(1), reg(2), slot(1), reg(3)]);
    }

    #[test]
    fn every_copy_over_six_places_three_of_them_slots() {
        exhaust(&[slot(0), reg(0), reg(1), slot(1), reg(2), slot(2)]);
    }

    #[test]
    fn every_copy_over_both_classes_and_slots() {
        exhaust(&[reg(0), reg(1), slot(0), reg(16), reg(17), slot(1)]);
    }

    #[test]
    fn a_value_for_a_register_and_a_slot_is_stored_from_a_register() {
        let edits = sequence(&[(slot(0), slot(1)), (reg(2), slot(1))]);
        assert_eq!(
            edits,
            [Edit::Move { to: reg(2), from: slot(1) }, Edit::Move { to: slot(0), from: reg(2) },]
        );
    }

    #[test]
    fn constants_come_last() {
        let mut moves = ParallelMoves::new(SCRATCH);
        let mut edits = Vec::new();
        moves.remat(reg(0), 7, RegClass::Int);
        moves.remat(slot(0), 8, RegClass::Int);
        moves.copy(reg(1), reg(0));
        moves.sequence(&mut |edit, _| edits.push(edit));
        assert_eq!(
            edits,
            [
                Edit::Move { to: reg(1), from: reg(0) },
                Edit::Remat { to: PReg(0), inst: 7 },
                Edit::Remat { to: SCRATCH[0], inst: 8 },
                Edit::Move { to: slot(0), from: reg(11) },
            ]
        );
    }
}
