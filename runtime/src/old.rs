//! The old generation: a mark-region space (Blackburn and McKinley, "Immix", 2008).
//!
//! Blocks of 32 KiB are divided into lines of 128 bytes. Marking notes the lines that live objects
//! touch; new objects are bumped into runs of free lines ("holes") of partly used blocks, then into
//! free blocks. Blocks in which little lives can be chosen for evacuation: the next collection of
//! everything moves their objects out, which undoes fragmentation.
//!
//! Blocks come in chunks of 4 MiB, aligned to their size, so that an address leads to the tables of
//! its chunk: block 0 holds a byte for each line of the chunk, block 1 a record for each block.

use crate::memory::{Mapping, release};
use crate::nursery::POISON;
use crate::raw;

/// Bytes of a line.
const LINE: u64 = 128;
/// Bytes of a block.
pub(crate) const BLOCK: u64 = 32 << 10;
/// Bytes of a chunk.
const CHUNK: u64 = 4 << 20;
/// Lines of a block.
const LINES: u64 = BLOCK / LINE;
/// Blocks of a chunk; the first two hold its tables.
const BLOCKS: u64 = CHUNK / BLOCK;
const FIRST_BLOCK: u64 = 2;
/// Bytes of a block's record: a word of live bytes, a word that says its state.
const RECORD: u64 = 64;

/// Free, and without memory of its own.
const RELEASED: u64 = 0;
/// Free.
const FREE: u64 = 1;
/// In use.
const USED: u64 = 2;
/// In use, and to be emptied by the collection that runs.
const EVACUATING: u64 = 3;

/// Where the byte of the line at `address` is.
#[inline(always)]
fn line_byte(address: u64) -> u64 {
    (address & !(CHUNK - 1)) + ((address & (CHUNK - 1)) / LINE)
}

/// Where the record of the block at `address` is: the bytes that live in it, then its state.
#[inline(always)]
fn record(address: u64) -> u64 {
    (address & !(CHUNK - 1)) + BLOCK + (address & (CHUNK - 1)) / BLOCK * RECORD
}

/// A stretch of free memory that objects are bumped into.
#[derive(Clone, Copy, Debug, Default)]
struct Hole {
    start: u64,
    next: u64,
    end: u64,
}

impl Hole {
    fn new(start: u64, end: u64) -> Self {
        Self { start, next: start, end }
    }

    #[inline(always)]
    fn bump(&mut self, size: u64) -> Option<u64> {
        let at = self.next;
        (self.end - at >= size).then(|| {
            self.next = at + size;
            at
        })
    }
}

/// The old generation.
#[derive(Debug, Default)]
pub(crate) struct Old {
    chunks: Vec<Mapping>,
    /// Free blocks, to be taken from the end.
    free: Vec<u64>,
    /// Blocks with free lines, to be taken from the end.
    recycled: Vec<u64>,
    /// The block whose holes are being used, and its first line that was not looked at.
    recycling: Option<(u64, u64)>,
    hole: Hole,
    /// For objects of more than a line that did not fit the hole.
    overflow: Hole,
    /// Blocks that are not free.
    pub(crate) blocks: u64,
    /// Whether a collection of everything runs, which itself counts what lives.
    marking: bool,
    stress: bool,
}

impl Old {
    pub(crate) fn new(stress: bool) -> Self {
        Self { stress, ..Self::default() }
    }

    /// Makes sure that small objects of so many bytes in all can be allocated; `false` where the
    /// operating system gives no more memory.
    pub(crate) fn reserve(&mut self, bytes: u64) -> bool {
        // A block may be left with a rest that the next object does not fit, at most a quarter.
        let blocks = bytes / (BLOCK / 4 * 3) + 3;
        while (self.free.len() as u64) < blocks {
            let Some(chunk) = Mapping::reserve_aligned(CHUNK as usize, CHUNK as usize) else {
                return false;
            };
            if !self.chunks.is_empty() {
                chunk.prefer_large_pages();
            }
            let start = chunk.start() as u64;
            let blocks = (FIRST_BLOCK..BLOCKS).rev().map(|i| start + i * BLOCK);
            // New blocks are used last.
            self.free.splice(0..0, blocks);
            self.chunks.push(chunk);
        }
        true
    }

    /// Memory for an object of at most `LARGE_SIZE` bytes. It is there, if it was reserved.
    #[inline(always)]
    pub(crate) fn allocate(&mut self, size: u64) -> u64 {
        match self.hole.bump(size) {
            Some(at) => at,
            None => self.allocate_slow(size),
        }
    }

    #[cold]
    #[inline(never)]
    fn allocate_slow(&mut self, size: u64) -> u64 {
        if size > LINE {
            if let Some(at) = self.overflow.bump(size) {
                return at;
            }
            let next = self.free_block();
            let full = std::mem::replace(&mut self.overflow, next);
            self.retire(full);
            return self.overflow.bump(size).expect("a free block has room");
        }
        loop {
            let next = self.next_hole();
            let full = std::mem::replace(&mut self.hole, next);
            self.retire(full);
            if let Some(at) = self.hole.bump(size) {
                return at;
            }
        }
    }

    fn next_hole(&mut self) -> Hole {
        loop {
            if let Some((block, line)) = self.recycling {
                // SAFETY: the chunk's table has a byte for each line of the block.
                let lines = unsafe { raw::bytes(line_byte(block), LINES) };
                let rest = &lines[line as usize..];
                if let Some(skip) = rest.iter().position(|&mark| mark == 0) {
                    let free = rest[skip..].iter().position(|&mark| mark != 0);
                    let first = line + skip as u64;
                    let end = free.map_or(LINES, |free| first + free as u64);
                    self.recycling = Some((block, end));
                    return Hole::new(block + first * LINE, block + end * LINE);
                }
            }
            self.recycling = self.recycled.pop().map(|block| (block, 0));
            if self.recycling.is_none() {
                return self.free_block();
            }
        }
    }

    /// A free block, as a hole.
    fn free_block(&mut self) -> Hole {
        let block = self.free.pop().expect("memory was reserved");
        self.blocks += 1;
        // SAFETY: the block's record and its lines' bytes are its own.
        unsafe {
            raw::store(record(block), 0);
            raw::store(record(block) + 8, USED);
            raw::fill(line_byte(block), 0, LINES);
        }
        Hole::new(block, block + BLOCK)
    }

    /// Counts what was bumped into a hole as living.
    fn retire(&mut self, hole: Hole) {
        if !self.marking && hole.next > hole.start {
            // SAFETY: the record belongs to the block that the hole is in.
            unsafe {
                let live = record(hole.start);
                raw::store(live, raw::load(live) + (hole.next - hole.start));
            }
        }
    }

    /// The blocks in use.
    fn used_blocks(&self) -> Vec<u64> {
        let all = self.chunks.iter().flat_map(|chunk| {
            let start = chunk.start() as u64;
            (FIRST_BLOCK..BLOCKS).map(move |i| start + i * BLOCK)
        });
        // SAFETY: each block has a record.
        all.filter(|&block| unsafe { raw::load(record(block) + 8) } >= USED).collect()
    }

    /// Begins a collection of everything: nothing is marked, and new objects go to free blocks, of
    /// which there will be enough for `bytes`. Of the blocks in which at most `most_live` bytes lived
    /// last time, those with the least are chosen to be emptied, as long as no more than `to_move`
    /// bytes are to be moved for that. `false` where the operating system gives no memory.
    pub(crate) fn begin_marking(&mut self, bytes: u64, most_live: u64, to_move: u64) -> bool {
        for hole in [std::mem::take(&mut self.hole), std::mem::take(&mut self.overflow)] {
            self.retire(hole);
        }
        self.recycled.clear();
        self.recycling = None;
        if !self.reserve(bytes) {
            return false;
        }
        let mut sparse = Vec::new();
        for block in self.used_blocks() {
            // SAFETY: the block's record and its lines' bytes are its own.
            unsafe {
                let live = raw::load(record(block));
                if live <= most_live {
                    sparse.push((live, block));
                }
                raw::store(record(block), 0);
                raw::fill(line_byte(block), 0, LINES);
            }
        }
        sparse.sort_unstable();
        let mut moved = 0;
        for (live, block) in sparse {
            moved += live;
            if moved > to_move || !self.reserve(bytes + moved) {
                break;
            }
            // SAFETY: each block has a record.
            unsafe { raw::store(record(block) + 8, EVACUATING) };
        }
        self.marking = true;
        true
    }

    /// Whether the object at `address` is to be moved.
    #[inline(always)]
    pub(crate) fn is_evacuating(&self, address: u64) -> bool {
        // SAFETY: the caller gives an object of this space.
        unsafe { raw::load(record(address) + 8) == EVACUATING }
    }

    /// Notes that an object lives.
    #[inline(always)]
    pub(crate) fn mark(&mut self, address: u64, size: u64) {
        let (first, last) = (line_byte(address), line_byte(address + size - 1));
        // SAFETY: the tables of the chunk belong to this space.
        unsafe {
            raw::store_byte(first, 1);
            if last != first {
                raw::fill(first + 1, 1, last - first);
            }
            let live = record(address);
            raw::store(live, raw::load(live) + size);
        }
    }

    /// Ends a collection of everything: frees the blocks in which nothing lives, collects those with
    /// free lines. The answer is the bytes that live.
    pub(crate) fn sweep(&mut self) -> u64 {
        self.marking = false;
        (self.hole, self.overflow) = (Hole::default(), Hole::default());
        let mut all_live = 0;
        let mut freed = Vec::new();
        for block in self.used_blocks() {
            // SAFETY: the block's record and its lines' bytes are its own; where nothing lives, and
            // in free lines, nobody uses the memory.
            unsafe {
                let live = raw::load(record(block));
                if live == 0 {
                    raw::store(record(block) + 8, FREE);
                    freed.push(block);
                    if self.stress {
                        raw::fill(block, POISON, BLOCK);
                    }
                    continue;
                }
                all_live += live;
                raw::store(record(block) + 8, USED);
                let lines = raw::bytes(line_byte(block), LINES);
                if lines.contains(&0) {
                    self.recycled.push(block);
                }
                if self.stress {
                    for line in (0..LINES).filter(|&line| lines[line as usize] == 0) {
                        raw::fill(block + line * LINE, POISON, LINE);
                    }
                }
            }
        }
        self.blocks -= freed.len() as u64;
        self.recycled.reverse();
        freed.reverse();
        self.free.append(&mut freed);
        all_live
    }

    /// Gives the memory of free blocks back to the operating system, as far as this space has more
    /// than so many bytes.
    pub(crate) fn give_back(&mut self, bytes: u64) {
        let keep = (bytes / BLOCK).saturating_sub(self.blocks) as usize;
        // SAFETY: each block has a record.
        let state = |block: u64| unsafe { raw::load(record(block) + 8) };
        let resident = self.free.iter().filter(|&&block| state(block) == FREE).count();
        let surplus = resident.saturating_sub(keep);
        let free = self.free.iter().copied();
        let mut blocks: Vec<u64> =
            free.filter(|&block| state(block) == FREE).take(surplus).collect();
        blocks.sort_unstable();
        for run in blocks.chunk_by(|&a, &b| a + BLOCK == b) {
            // SAFETY: the blocks are free, and each has a record.
            unsafe {
                release(run[0], BLOCK * run.len() as u64);
                for &block in run {
                    raw::store(record(block) + 8, RELEASED);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allocates objects of these sizes and checks that none overlaps another.
    fn allocate(old: &mut Old, sizes: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
        sizes
            .map(|size| {
                assert!(old.reserve(size));
                (old.allocate(size), size)
            })
            .collect()
    }

    fn assert_apart(mut objects: Vec<(u64, u64)>) {
        objects.sort_unstable();
        for pair in objects.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?}");
        }
        for (at, size) in objects {
            assert_eq!(at / BLOCK, (at + size - 1) / BLOCK, "within one block");
        }
    }

    #[test]
    fn freed_lines_are_used_again() {
        let mut old = Old::new(true);
        let sizes = |seed: u64| (0..4000).map(move |i| 8 + (i * 7919 + seed) % 1000 / 8 * 8);
        let mut kept = allocate(&mut old, sizes(1).chain([8192, 8192, 8192]));
        assert_apart(kept.clone());
        for round in 0..5 {
            assert!(old.begin_marking(0, 0, 0));
            kept = kept.into_iter().skip(round % 3).step_by(3).collect();
            let mut live = 0;
            for &(at, size) in &kept {
                old.mark(at, size);
                live += size;
            }
            assert_eq!(old.sweep(), live);
            let before = old.blocks;
            kept.extend(allocate(&mut old, sizes(round as u64)));
            assert_apart(kept.clone());
            assert!(old.blocks < before + 80, "free lines were used");
        }
        assert!(old.begin_marking(0, 0, 0));
        assert_eq!(old.sweep(), 0);
        assert_eq!(old.blocks, 0);
        old.give_back(0);
        assert_apart(allocate(&mut old, sizes(3)));
    }

    #[test]
    fn sparse_blocks_are_chosen() {
        let mut old = Old::new(false);
        let objects = allocate(&mut old, (0..4096).map(|_| 64));
        assert!(old.begin_marking(0, 0, 0));
        let block = objects[0].0 / BLOCK;
        for &(at, size) in objects.iter().filter(|object| object.0 / BLOCK != block) {
            old.mark(at, size);
        }
        old.mark(objects[0].0, 64);
        old.sweep();
        assert!(old.begin_marking(0, BLOCK / 2, BLOCK));
        for &(at, _) in &objects {
            assert_eq!(old.is_evacuating(at), at / BLOCK == block);
        }
    }
}
