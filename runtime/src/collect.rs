//! The collector: precise, generational, by tracing from the roots.
//!
//! Roots are the live slots of machine code's frames, the globals, the root stack, and, for a
//! collection of the nursery alone, the old objects that were stored into. A reference's slot is
//! visited once: an object of the nursery is copied to the old generation (all that survive one
//! collection are promoted), an old one is marked, or copied too where its block is to be emptied;
//! the slot gets the new address. What has been reached but not scanned waits on a stack of its own,
//! so that the depth of the object graph does not matter; large arrays are scanned in pieces, so that
//! the stack stays small where the graph is wide. A slot that was met waits until a few more were,
//! while the memory that it leads to is on its way (Cher, Hosking and Vitek, "Software prefetching for
//! mark-sweep garbage collection", 2004).
//!
//! A mark is a bit in the header whose sense changes with each collection of everything, so that
//! marks need not be cleared: what was marked counts as unmarked the next time.

use crate::large::{Large, reached};
use crate::layout::{
    BUFFER_CAPACITY, BUFFER_ELEMENTS, FORWARDED, HEADER, IMMORTAL, LARGE, LOG, MARK, STR_BYTES,
    STR_LEN, Slot, WORD, YOUNG, round_up, type_id,
};
use crate::old::Old;
use crate::raw::{copy_words, load, store};
use crate::types::{Shape, TypeTable};

/// Bytes of an array that are scanned in one piece.
pub(crate) const PIECE: u64 = 4096;
/// How many slots wait for the memory that they lead to; a power of two.
pub(crate) const WAITING: usize = 8;

/// A collection that runs. `FULL` is whether it collects everything, not the nursery alone; `MARKING`
/// is whether it is one of the nursery while the old generation is being marked.
pub(crate) struct Tracer<'a, const FULL: bool, const MARKING: bool> {
    types: &'a TypeTable,
    old: &'a mut Old,
    large: &'a mut Large,
    nursery_start: u64,
    nursery_span: u64,
    /// The header bit of objects that are marked.
    sense: u64,
    /// Objects that were reached and not scanned.
    pending: Vec<u64>,
    /// Stretches of references that were not visited.
    stretches: Vec<(u64, u64)>,
    /// Slots whose objects have been asked for, from the latest one around to it; 0 is none.
    waiting: [u64; WAITING],
    latest: usize,
    /// Bytes copied out of the nursery.
    pub(crate) survived: u64,
    /// While the old generation is being marked: objects that came to it, which have not been scanned
    /// for references to old ones.
    pub(crate) promoted: Vec<u64>,
}

impl<'a, const FULL: bool, const MARKING: bool> Tracer<'a, FULL, MARKING> {
    /// A collection of the nursery at these addresses (and of everything, if it is `FULL`).
    pub(crate) fn new(
        types: &'a TypeTable,
        old: &'a mut Old,
        large: &'a mut Large,
        nursery: (u64, u64),
        sense: u64,
    ) -> Self {
        let (nursery_start, nursery_span) = nursery;
        let (pending, stretches) = (Vec::new(), Vec::new());
        Self {
            types,
            old,
            large,
            nursery_start,
            nursery_span,
            sense,
            pending,
            stretches,
            waiting: [0; WAITING],
            latest: 0,
            survived: 0,
            promoted: Vec::new(),
        }
    }

    /// Whether a reference leads into the nursery.
    #[inline(always)]
    fn is_new(&self, object: u64) -> bool {
        object.wrapping_sub(self.nursery_start) < self.nursery_span
    }

    /// Visits the reference in the word at `slot`, which stays where it is until all is visited: soon
    /// if there is something to be done.
    ///
    /// # Safety
    /// The word is nil or a live object of this heap, and nobody else uses it meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn visit(&mut self, slot: u64) {
        // SAFETY: told above.
        unsafe {
            let object = load(slot);
            if self.is_new(object) || (FULL && object != 0) {
                prefetch(object);
                self.wait(slot);
            } else if !FULL && object.wrapping_sub(self.large.young_low) < self.large.young_span {
                self.visit_young_large(object);
            }
        }
    }

    /// Puts a slot (or 0) to those that wait, and visits the one that waited longest.
    ///
    /// # Safety
    /// As for `visit`; the slot is not nil.
    #[inline(always)]
    unsafe fn wait(&mut self, slot: u64) {
        self.latest = (self.latest + 1) % WAITING;
        let slot = std::mem::replace(&mut self.waiting[self.latest], slot);
        if slot == 0 {
            return;
        }
        // SAFETY: told above, when the slot came.
        unsafe {
            let object = load(slot);
            if self.is_new(object) {
                let header = load(object);
                store(slot, self.moved(object, header, true));
            } else if FULL {
                self.visit_old(slot, object);
            }
        }
    }

    /// # Safety
    /// As for `visit`; `object` is what stands in the slot, and not in the nursery.
    #[inline(always)]
    unsafe fn visit_old(&mut self, slot: u64, object: u64) {
        // SAFETY: told above.
        unsafe {
            let header = load(object);
            if header & FORWARDED != 0 {
                store(slot, header & !FORWARDED);
            } else if header & MARK == self.sense || header & IMMORTAL != 0 {
                // Done, or not ours.
            } else if header & LARGE != 0 {
                store(object, reached(header, self.sense));
                self.await_scan(object, header);
            } else if self.old.is_evacuating(object) {
                store(slot, self.moved(object, header, false));
            } else {
                store(object, header & !MARK | self.sense);
                self.old.mark(object, size_of_object(self.types, object, header));
                self.await_scan(object, header);
            }
        }
    }

    /// # Safety
    /// `object` is a live object between the first and the last young large object.
    #[cold]
    unsafe fn visit_young_large(&mut self, object: u64) {
        // SAFETY: told above.
        unsafe {
            let header = load(object);
            if header & YOUNG != 0 {
                store(object, reached(header, self.sense));
                self.await_scan(object, header);
            }
        }
    }

    /// Where an object of the nursery, or of a block that is emptied, is now: moves it if that was not
    /// done yet.
    ///
    /// # Safety
    /// `object` is such an object, and `header` its header.
    #[inline(always)]
    unsafe fn moved(&mut self, object: u64, header: u64, from_nursery: bool) -> u64 {
        if header & FORWARDED != 0 {
            return header & !FORWARDED;
        }
        // SAFETY: told above; the new memory does not overlap.
        unsafe {
            let size = size_of_object(self.types, object, header);
            let to = self.old.allocate(size);
            copy_words(object + WORD, to + WORD, size - WORD);
            store(to, header & !MARK | LOG | self.sense);
            store(object, to | FORWARDED);
            if FULL || MARKING {
                self.old.mark(to, size);
            }
            if from_nursery {
                self.survived += size;
            }
            self.await_scan(to, header);
            to
        }
    }

    #[inline(always)]
    fn await_scan(&mut self, object: u64, header: u64) {
        if !is_leaf(self.types, header) {
            self.pending.push(object);
            if MARKING {
                self.promoted.push(object);
            }
        }
    }

    /// Visits all references in an object; those of an array later.
    ///
    /// # Safety
    /// A live object of this heap that does not move in this collection any more.
    #[inline(always)]
    pub(crate) unsafe fn scan(&mut self, object: u64) {
        let types = self.types;
        // SAFETY: told above; the type says where the references are.
        unsafe {
            match types.shape(type_id(load(object + HEADER))) {
                Shape::Fixed { first, count, .. } => {
                    for &offset in types.offsets(first, count) {
                        self.visit(object + u64::from(offset));
                    }
                }
                Shape::Buffer(Slot::Ref) => {
                    let start = object + BUFFER_ELEMENTS;
                    let end = start + WORD * load(object + BUFFER_CAPACITY);
                    self.stretches.push((start, end));
                }
                Shape::Buffer(_) | Shape::Str => {}
            }
        }
    }

    /// Visits everything that can be reached from what has been visited.
    pub(crate) fn drain(&mut self) {
        // SAFETY: only live objects wait, in their last places; the stretches are parts of such objects.
        unsafe {
            loop {
                while let Some(object) = self.pending.pop() {
                    self.scan(object);
                }
                if let Some((start, end)) = self.stretches.pop() {
                    let stop = end.min(start + PIECE);
                    if stop < end {
                        self.stretches.push((stop, end));
                    }
                    for slot in (start..stop).step_by(WORD as usize) {
                        self.visit(slot);
                    }
                    continue;
                }
                if self.waiting == [0; WAITING] {
                    return;
                }
                while self.pending.is_empty() && self.waiting != [0; WAITING] {
                    self.wait(0);
                }
            }
        }
    }
}

/// Whether an object with this header holds no references.
#[inline(always)]
pub(crate) fn is_leaf(types: &TypeTable, header: u64) -> bool {
    match types.shape(type_id(header)) {
        Shape::Str => true,
        Shape::Buffer(slot) => slot != Slot::Ref,
        Shape::Fixed { count, .. } => count == 0,
    }
}

/// Asks for the memory at an address, whatever it is.
#[inline(always)]
pub(crate) fn prefetch(address: u64) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint, which may be given for any address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address as usize)) };
}

/// Bytes of an object.
///
/// # Safety
/// `object` is an object with this header.
#[inline(always)]
pub(crate) unsafe fn size_of_object(types: &TypeTable, object: u64, header: u64) -> u64 {
    // SAFETY: told above.
    unsafe {
        match types.shape(type_id(header)) {
            Shape::Fixed { size, .. } => u64::from(size),
            Shape::Str => STR_BYTES + round_up(load(object + STR_LEN)),
            Shape::Buffer(slot) => {
                let capacity = load(object + BUFFER_CAPACITY);
                BUFFER_ELEMENTS + round_up(capacity << slot.element_shift())
            }
        }
    }
}
