//! The heap: the nursery, the old generation and the large objects together; when to collect what.
//!
//! The nursery is collected when it is full, or when there are more than a few MiB of young large
//! objects. Limits are chosen so that the memory in use stays below twice what lives and 32 MiB: the
//! old generation and the large objects may take three quarters and 8 MiB more than what lived the last
//! time. When two thirds of that room are used, they are marked, in steps behind collections of the
//! nursery that are so large that the work is done when the room is. Everything is collected at once,
//! sparse blocks emptied, only where memory is short, or scattered.

use std::time::Instant;

use crate::collect::Tracer;
use crate::context::Context;
use crate::fault::{self, Fault};
use crate::large::{LARGE_SIZE, Large};
use crate::layout::{HEADER, LARGE, LOG, MARK, Slot, WORD};
use crate::mark::{Marker, Marking};
use crate::memory::default_limit;
use crate::nursery::Nursery;
use crate::old::{BLOCK, Old};
use crate::raw;
use crate::runtime::Runtime;
use crate::stats::HeapStats;
use crate::trap::{Stop, Trap};

/// Bytes of old and large objects with which everything is collected, where so many lived last time.
const fn preferred(live: u64) -> u64 {
    live / 4 * 7 + (8 << 20)
}

/// Bytes that old and large objects may take at most, where that can be had by moving objects.
const fn most(live: u64) -> u64 {
    live / 8 * 15 + (12 << 20)
}

/// A step of marking visits at least so many references …
const LEAST_VISITS: u64 = 2_000;
/// … and at most so many, some milliseconds' work, where the room was not used up before its end.
const MOST_VISITS: u64 = 40_000;
/// The same under stress.
const STRESSED_VISITS: u64 = 4;

/// How many bytes of young large objects there may be besides a part of what lives.
const YOUNG_LARGE: u64 = 4 << 20;
/// Heaps below this size are allowed on any machine.
const ALWAYS_ALLOWED: u64 = 64 << 20;

/// As many surviving bytes cost as much as a look at a frame of machine code.
const FRAME_COST: u64 = 16;

/// Whether new memory must be 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zeroing {
    /// All words behind the header are 0.
    Zeroed,
    /// The caller writes every word before the next allocation.
    No,
}

/// What a collection had to do.
struct Traced {
    /// Bytes that survived in the nursery.
    survived: u64,
    /// Frames of machine code that were on the stack.
    frames: u64,
    /// As in `Tracer`.
    promoted: Vec<u64>,
}

/// All objects but the static ones.
#[derive(Debug)]
pub(crate) struct Heap {
    nursery: Nursery,
    old: Old,
    large: Large,
    /// Old objects that may refer to the nursery.
    remembered: Vec<u64>,
    /// The header bit of marked objects.
    sense: u64,
    limit: Option<u64>,
    stress: bool,
    /// So many bytes old and large objects shall take at most.
    threshold: u64,
    /// With more bytes of them marking begins.
    begin: u64,
    /// The marking that has begun.
    marking: Option<Box<Marking>>,
    /// How many references the latest marking visited.
    visits: u64,
    /// Whether little lives in many blocks of the old generation.
    scattered: bool,
    /// Allocations since the latest collection of everything, under stress.
    stress_count: u64,
    /// What was done so far; bytes of the nursery are added when it is emptied.
    stats: HeapStats,
}

impl Heap {
    pub(crate) fn new(limit: Option<u64>, stress: bool) -> Self {
        Self {
            nursery: Nursery::new(limit, stress),
            old: Old::new(stress),
            large: Large::default(),
            remembered: Vec::new(),
            sense: 0,
            limit,
            stress,
            threshold: preferred(0),
            begin: preferred(0) / 3 * 2,
            marking: None,
            visits: 0,
            scattered: false,
            stress_count: 0,
            stats: HeapStats::default(),
        }
    }

    /// The most bytes that the heap may take.
    fn limit(&mut self) -> u64 {
        *self.limit.get_or_insert_with(default_limit)
    }

    /// How many more bytes the heap may take.
    pub(crate) fn left(&mut self) -> u64 {
        self.limit().saturating_sub(self.footprint())
    }

    /// Room in the nursery for a small object, if there is some.
    #[inline(always)]
    pub(crate) fn bump(&self, context: *mut Context, size: u64) -> Option<u64> {
        if size > LARGE_SIZE { None } else { self.nursery.bump(context, size) }
    }

    /// Puts an old object into the remembered set.
    #[cold]
    pub(crate) fn remember(&mut self, object: u64) {
        // SAFETY: the caller gives an object.
        unsafe { raw::store(object + HEADER, raw::load(object + HEADER) & !LOG) };
        self.remembered.push(object);
    }

    /// Bytes that old and large objects take.
    fn old_bytes(&self) -> u64 {
        self.old.blocks * BLOCK + self.large.old_bytes
    }

    /// Bytes that the heap takes from the machine.
    fn footprint(&self) -> u64 {
        let nursery = if self.nursery.start == 0 { 0 } else { self.nursery.size };
        nursery + self.old_bytes() + self.large.young_bytes
    }

    /// Whether `more` bytes may be taken.
    fn allows(&mut self, more: u64) -> bool {
        let wanted = self.footprint().saturating_add(more);
        if self.limit.is_none() && wanted <= ALWAYS_ALLOWED {
            return true;
        }
        wanted <= self.limit()
    }

    /// Makes a large buffer larger without copying it, as `Large::grow`.
    ///
    /// # Safety
    /// `buffer` is a live buffer, and its one reference is the caller's.
    pub(crate) unsafe fn grow(&mut self, buffer: u64, old_size: u64, size: u64) -> Option<u64> {
        // SAFETY: told above.
        let is_large = unsafe { raw::load(buffer + HEADER) } & LARGE != 0;
        if !is_large || self.stress || !self.allows(size - old_size) {
            return None;
        }
        // SAFETY: told above.
        let at = unsafe { self.large.grow(buffer, size)? };
        self.stats.allocated += size - old_size;
        if at != buffer
            && let Some(entry) = self.remembered.iter_mut().rfind(|entry| **entry == buffer)
        {
            *entry = at;
        }
        if at != buffer
            && let Some(marking) = &mut self.marking
        {
            marking.moved(buffer, old_size, at);
        }
        Some(at)
    }

    fn wants_full(&mut self) -> bool {
        if self.stress {
            // Often where there is little to trace, rarely where there is much.
            self.stress_count += 1;
            return self.stress_count * 2048 > self.stats.live;
        }
        self.scattered
    }

    /// Whether the old generation is being marked.
    #[cfg(test)]
    pub(crate) fn is_marking(&self) -> bool {
        self.marking.is_some()
    }

    /// Whether marking shall begin.
    fn wants_marking(&self) -> bool {
        self.stress || self.old_bytes() > self.begin
    }

    /// How many references the next step of marking shall visit.
    fn step(&mut self) -> u64 {
        let (bytes, room) = (self.old_bytes(), self.threshold - self.begin);
        let Some(marking) = &mut self.marking else { return 0 };
        let grown = bytes.saturating_sub(marking.bytes);
        marking.bytes = bytes;
        if self.stress {
            return STRESSED_VISITS;
        }
        if bytes > most(self.stats.live) {
            return u64::MAX;
        }
        let all = u128::from(self.visits.max(bytes / 64));
        let share = all * u128::from(grown) * 4 / 3 / u128::from(room);
        let most = if bytes > self.threshold { 4 * MOST_VISITS } else { MOST_VISITS };
        u64::try_from(share).unwrap_or(most).clamp(LEAST_VISITS, most)
    }
}

impl Runtime {
    /// Memory for an object of `size` bytes, its header written. May collect.
    #[inline]
    pub(crate) fn allocate(
        &mut self,
        size: u64,
        header: u64,
        zeroing: Zeroing,
    ) -> Result<u64, Stop> {
        let at = match self.heap.bump(self.context.pointer(), size) {
            Some(at) => at,
            None if size > LARGE_SIZE => return self.allocate_large(size, header, zeroing),
            None => self.allocate_after_collection(size)?,
        };
        // SAFETY: the memory was had just now.
        unsafe {
            if zeroing == Zeroing::Zeroed {
                raw::fill(at + WORD, 0, size - WORD);
            }
            raw::store(at + HEADER, header);
        }
        Ok(at)
    }

    #[cold]
    #[inline(never)]
    fn allocate_after_collection(&mut self, size: u64) -> Result<u64, Stop> {
        let context = self.context.pointer();
        if self.heap.nursery.start == 0 {
            if !self.heap.nursery.prepare(context) {
                return Err(Trap::Memory.into());
            }
        } else {
            self.make_room(0)?;
        }
        self.heap.nursery.bump_to_end(context, size).ok_or(Trap::Memory.into())
    }

    #[cold]
    fn allocate_large(&mut self, size: u64, header: u64, zeroing: Zeroing) -> Result<u64, Stop> {
        let heap = &mut self.heap;
        let young_limit = YOUNG_LARGE + (heap.threshold / 16);
        let too_many = heap.large.young_bytes > 0 && heap.large.young_bytes + size > young_limit;
        if too_many || heap.stress {
            self.make_room(size)?;
        } else if !heap.allows(size) {
            self.collect(true)?;
            if !self.heap.allows(size) {
                return Err(Trap::Memory.into());
            }
        }
        let heap = &mut self.heap;
        heap.stats.allocated += size;
        let header = header | heap.sense;
        let at = heap.large.allocate(size, header, zeroing == Zeroing::Zeroed);
        at.ok_or(Trap::Memory.into())
    }

    /// Collects, the nursery or everything, so that `more` bytes may be taken.
    fn make_room(&mut self, more: u64) -> Result<(), Stop> {
        let full = self.heap.wants_full();
        self.collect(full)?;
        if !self.heap.allows(more) {
            if !full {
                self.collect(true)?;
            }
            if !self.heap.allows(more) {
                return Err(Trap::Memory.into());
            }
        }
        Ok(())
    }

    /// Collects the nursery, or everything.
    pub fn collect(&mut self, full: bool) -> Result<(), Stop> {
        let started = Instant::now();
        if full {
            self.collect_everything(BLOCK / 2)?;
            if self.heap.scattered {
                self.collect_everything(BLOCK / 8 * 7)?;
                self.heap.scattered = false;
            }
        } else {
            self.collect_nursery()?;
            self.begin_marking()?;
            let visits = self.heap.step();
            self.mark(visits);
        }
        self.heap.stats.pauses.add(started.elapsed());
        Ok(())
    }

    fn collect_nursery(&mut self) -> Result<(), Stop> {
        let used = self.heap.nursery.used(self.context.pointer());
        if !self.heap.old.reserve(used) {
            return Err(Trap::Memory.into());
        }
        self.heap.stats.minor += 1;
        let remembered = std::mem::take(&mut self.heap.remembered);
        let mut traced = match self.heap.marking {
            Some(_) => self.trace::<false, true>(&remembered),
            None => self.trace::<false, false>(&remembered),
        };
        let heap = &mut self.heap;
        if let Some(marking) = &mut heap.marking {
            marking.grey.append(&mut traced.promoted);
            marking.note_changed(&remembered, heap.sense);
        }
        heap.remembered = remembered;
        heap.remembered.clear();
        heap.large.sweep_young();
        self.restart_nursery(traced);
        Ok(())
    }

    /// Begins to mark the old generation, if it is time; the nursery is empty.
    fn begin_marking(&mut self) -> Result<(), Stop> {
        let heap = &mut self.heap;
        if heap.marking.is_none() && heap.wants_marking() {
            if !heap.old.begin_marking(0, 0, 0) {
                return Err(Trap::Memory.into());
            }
            heap.sense ^= MARK;
            let bytes = heap.old_bytes();
            heap.marking = Some(Box::new(Marking::new(bytes)));
        }
        Ok(())
    }

    /// A step of marking, if it has begun; the nursery is empty. What is not marked when it comes to
    /// its end is freed.
    fn mark(&mut self, visits: u64) {
        let Some(mut marking) = self.heap.marking.take() else { return };
        let globals = self.global_address(0);
        let heap = &mut self.heap;
        let mut marker = Marker::new(&self.types, &mut heap.old, &mut marking, heap.sense, visits);
        let is_all = marker.step(|visit| {
            // SAFETY: as in `trace`.
            unsafe {
                for frame in self.code.walk((*self.context.pointer()).last_sp) {
                    for &offset in frame.site.refs {
                        visit(raw::load(frame.sp + u64::from(offset)));
                    }
                }
                for (i, _) in self.globals.iter().enumerate().filter(|(_, s)| **s == Slot::Ref) {
                    visit(raw::load(globals + WORD * i as u64));
                }
            }
            self.roots.as_mut_slice().iter().for_each(|&root| visit(root));
        });
        if is_all {
            self.heap.visits = marking.visited;
            self.sweep();
        } else {
            self.heap.marking = Some(marking);
        }
    }

    /// Collects everything, and empties blocks in which at most so many bytes lived last time.
    fn collect_everything(&mut self, most_live: u64) -> Result<(), Stop> {
        if self.heap.marking.is_some() {
            self.collect_nursery()?;
            self.mark(u64::MAX);
        }
        let used = self.heap.nursery.used(self.context.pointer());
        let heap = &mut self.heap;
        let room = most(heap.stats.live).saturating_sub(heap.old_bytes()).max(8 << 20);
        let (most_live, to_move) =
            if heap.stress { (BLOCK, u64::MAX / 2) } else { (most_live, room) };
        if !heap.old.begin_marking(used, most_live, to_move) {
            return Err(Trap::Memory.into());
        }
        for object in std::mem::take(&mut heap.remembered) {
            // SAFETY: remembered objects are there until the sweep.
            unsafe { raw::store(object + HEADER, raw::load(object + HEADER) | LOG) };
        }
        heap.sense ^= MARK;
        let traced = self.trace::<true, false>(&[]);
        self.sweep();
        self.heap.stress_count = 0;
        self.restart_nursery(traced);
        Ok(())
    }

    /// Frees the old and large objects that are not marked, when all that live are.
    fn sweep(&mut self) {
        let heap = &mut self.heap;
        heap.stats.major += 1;
        heap.large.sweep(heap.sense);
        heap.stats.live = heap.old.sweep() + heap.large.old_bytes;
        let live = heap.stats.live;
        heap.threshold = preferred(live).max(heap.old_bytes() + (live / 4).max(4 << 20));
        heap.begin = heap.threshold - (heap.threshold - heap.old_bytes()) / 3;
        heap.scattered = heap.threshold > most(live);
        heap.old.give_back(heap.threshold.saturating_sub(heap.large.old_bytes));
    }

    fn restart_nursery(&mut self, Traced { survived, frames, .. }: Traced) {
        let context = self.context.pointer();
        let heap = &mut self.heap;
        heap.stats.allocated += heap.nursery.used(context);
        heap.stats.collected += heap.nursery.used(context);
        heap.stats.survived += survived;
        if heap.nursery.start != 0 {
            heap.nursery.adapt(survived, survived + frames * FRAME_COST);
            heap.nursery.restart(context);
        }
    }

    /// Traces from all roots and from the remembered objects.
    fn trace<const FULL: bool, const MARKING: bool>(&mut self, remembered: &[u64]) -> Traced {
        let globals = self.global_address(0);
        let mut frames = 0;
        let heap = &mut self.heap;
        let nursery = (heap.nursery.start, heap.nursery.span());
        let mut tracer = Tracer::<FULL, MARKING>::new(
            &self.types,
            &mut heap.old,
            &mut heap.large,
            nursery,
            heap.sense,
        );
        // SAFETY: the code map describes the frames of the Toy stack, whose code waits for us; globals
        // that were declared are in the context's memory; the root stack holds references, and
        // remembered objects are live ones of the old generation.
        unsafe {
            for frame in self.code.walk((*self.context.pointer()).last_sp) {
                assert!(frame.site.exact, "a call site without a stack map");
                frames += 1;
                for &offset in frame.site.refs {
                    tracer.visit(frame.sp + u64::from(offset));
                }
                tracer.drain();
            }
            for (i, &slot) in self.globals.iter().enumerate() {
                if slot == Slot::Ref && !fault::is(Fault::GcGlobals) {
                    tracer.visit(globals + WORD * i as u64);
                }
            }
            let roots = self.roots.as_mut_slice();
            let first = roots.as_mut_ptr().expose_provenance() as u64;
            for i in 0..roots.len() as u64 {
                tracer.visit(first + WORD * i);
            }
            for &object in remembered {
                raw::store(object, raw::load(object) | LOG);
                if !fault::is(Fault::GcRemembered) {
                    tracer.scan(object);
                }
            }
        }
        tracer.drain();
        Traced { survived: tracer.survived, frames, promoted: tracer.promoted }
    }

    /// What the heap has done so far.
    pub fn heap_stats(&self) -> HeapStats {
        let mut stats = self.heap.stats.clone();
        stats.allocated += self.heap.nursery.used(self.context.pointer());
        stats.taken = self.heap.footprint();
        stats
    }
}
