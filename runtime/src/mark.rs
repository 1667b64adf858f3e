//! Marking the old generation in steps, between which the program runs.
//!
//! Marking begins behind a collection of the nursery, and goes on for a bounded while behind each of
//! the next ones; so it never meets a new object. What the program changes meanwhile is dealt with in
//! the manner of Dijkstra, Lamport and others ("On-the-fly garbage collection", 1978) and of Steele:
//! an object that was scanned and then stored into is scanned again. The write barrier tells of it,
//! since it is the one that collections of the nursery need: it makes no difference between
//! references to new and to old objects. Objects that are promoted meanwhile are marked at once and
//! wait to be scanned, so that the work has an end.
//!
//! When nothing waits, the roots and what was stored into are looked at. Where that leads to nothing
//! more, all that is not marked is unreachable. Where it leads to much, the program runs again before
//! the next attempt; but the last of a few attempts goes to the end at once.
//!
//! What waits is asked of the memory ahead, as in `collect`.

use crate::collect::{PIECE, WAITING, is_leaf, prefetch, size_of_object};
use crate::fault::{self, Fault};
use crate::layout::{
    BUFFER_CAPACITY, BUFFER_ELEMENTS, HEADER, IMMORTAL, LARGE, MARK, Slot, WORD, type_id,
};
use crate::old::Old;
use crate::raw::{load, store};
use crate::types::{Shape, TypeTable};

/// After so many attempts to end, the next one does.
const ATTEMPTS: u32 = 3;

/// Marking that has begun.
#[derive(Debug, Default)]
pub(crate) struct Marking {
    /// Objects that are marked and wait to be scanned.
    pub(crate) grey: Vec<u64>,
    /// Stretches of references that wait to be visited.
    stretches: Vec<(u64, u64)>,
    /// Old objects that were stored into.
    changed: Vec<u64>,
    /// With more of them some are sought that stand there twice.
    most_changed: usize,
    /// How often the roots have been looked at.
    attempts: u32,
    /// How many references have been visited.
    pub(crate) visited: u64,
    /// Bytes of old and large objects at the latest step.
    pub(crate) bytes: u64,
}

impl Marking {
    /// Nothing is marked yet, of so many bytes of old and large objects.
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// Notes what was stored into, if it has been marked.
    pub(crate) fn note_changed(&mut self, objects: &[u64], sense: u64) {
        // SAFETY: what was stored into stays where it is until the sweep.
        let is_marked = |object: &&u64| unsafe { load(**object + HEADER) } & MARK == sense;
        self.changed.extend(objects.iter().filter(is_marked));
        if self.changed.len() > self.most_changed {
            self.forget_twins();
            self.most_changed = 2 * self.changed.len();
        }
    }

    /// Leaves each object that was stored into once.
    fn forget_twins(&mut self) {
        self.changed.sort_unstable();
        self.changed.dedup();
    }

    /// A large object moved; nothing else is at its old addresses.
    pub(crate) fn moved(&mut self, from: u64, size: u64, to: u64) {
        let there = |address: u64| address.wrapping_sub(from) < size;
        for object in self.grey.iter_mut().chain(&mut self.changed) {
            if *object == from {
                *object = to;
            }
        }
        for (start, end) in self.stretches.iter_mut().filter(|(start, _)| there(*start)) {
            (*start, *end) = (*start - from + to, *end - from + to);
        }
    }
}

/// A step of marking.
pub(crate) struct Marker<'a> {
    types: &'a TypeTable,
    old: &'a mut Old,
    marking: &'a mut Marking,
    /// The header bit of objects that are marked.
    sense: u64,
    /// Objects that have been asked for, from the latest one around to it; 0 is none.
    waiting: [u64; WAITING],
    latest: usize,
    /// With so many references visited, the step ends.
    last: u64,
}

impl<'a> Marker<'a> {
    /// A step of so many visits, about.
    pub(crate) fn new(
        types: &'a TypeTable,
        old: &'a mut Old,
        marking: &'a mut Marking,
        sense: u64,
        visits: u64,
    ) -> Self {
        let last = marking.visited.saturating_add(visits);
        Self { types, old, marking, sense, waiting: [0; WAITING], latest: 0, last }
    }

    /// Visits what waits, in the end also what `roots` tells; whether that is all.
    pub(crate) fn step(&mut self, roots: impl FnOnce(&mut dyn FnMut(u64))) -> bool {
        if !self.drain() {
            return false;
        }
        if self.marking.attempts == ATTEMPTS {
            self.last = u64::MAX;
        }
        self.marking.attempts += 1;
        // SAFETY: roots are references to live objects.
        roots(&mut |object| unsafe { self.visit(object) });
        self.marking.forget_twins();
        let mut changed = std::mem::take(&mut self.marking.changed);
        if !fault::is(Fault::GcChanged) {
            self.marking.grey.append(&mut changed);
        }
        self.drain()
    }

    /// Visits a reference: soon if there is something to be done.
    ///
    /// # Safety
    /// It is nil, or an object of this heap that is not new, or a static one.
    #[inline(always)]
    unsafe fn visit(&mut self, object: u64) {
        if object != 0 {
            prefetch(object);
            // SAFETY: told above.
            unsafe { self.wait(object) };
        }
    }

    /// Puts an object (or 0) to those that wait, and marks the one that waited longest.
    ///
    /// # Safety
    /// As for `visit`.
    #[inline(always)]
    unsafe fn wait(&mut self, object: u64) {
        self.latest = (self.latest + 1) % WAITING;
        let object = std::mem::replace(&mut self.waiting[self.latest], object);
        if object == 0 {
            return;
        }
        self.marking.visited += 1;
        // SAFETY: told above, when the object came.
        unsafe {
            let header = load(object + HEADER);
            if header & MARK == self.sense || header & IMMORTAL != 0 {
                return;
            }
            store(object + HEADER, header & !MARK | self.sense);
            if header & LARGE == 0 {
                self.old.mark(object, size_of_object(self.types, object, header));
            }
            if !is_leaf(self.types, header) {
                self.marking.grey.push(object);
            }
        }
    }

    /// Visits all references in an object; those of an array later.
    ///
    /// # Safety
    /// A marked object.
    #[inline(always)]
    unsafe fn scan(&mut self, object: u64) {
        let types = self.types;
        // SAFETY: told above; the type says where the references are.
        unsafe {
            match types.shape(type_id(load(object + HEADER))) {
                Shape::Fixed { first, count, .. } => {
                    for &offset in types.offsets(first, count) {
                        self.visit(load(object + u64::from(offset)));
                    }
                }
                Shape::Buffer(Slot::Ref) => {
                    let start = object + BUFFER_ELEMENTS;
                    let end = start + WORD * load(object + BUFFER_CAPACITY);
                    self.marking.stretches.push((start, end));
                }
                Shape::Buffer(_) | Shape::Str => {}
            }
        }
    }

    /// Visits what waits and all that it leads to; whether it came to the end before the step's.
    fn drain(&mut self) -> bool {
        // SAFETY: only marked objects wait; the stretches are parts of such objects.
        unsafe {
            loop {
                let is_over = self.marking.visited >= self.last;
                if !is_over {
                    if let Some(object) = self.marking.grey.pop() {
                        self.scan(object);
                        continue;
                    }
                    if let Some((start, end)) = self.marking.stretches.pop() {
                        let stop = end.min(start + PIECE);
                        if stop < end {
                            self.marking.stretches.push((stop, end));
                        }
                        self.marking.visited += (stop - start) / (4 * WORD);
                        for slot in (start..stop).step_by(WORD as usize) {
                            self.visit(load(slot));
                        }
                        continue;
                    }
                }
                while self.waiting != [0; WAITING] && (is_over || self.marking.grey.is_empty()) {
                    self.wait(0);
                }
                if self.marking.grey.is_empty() && self.marking.stretches.is_empty() {
                    return true;
                }
                if is_over {
                    return false;
                }
            }
        }
    }
}
