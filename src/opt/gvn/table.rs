//! The table of value numbering: which value holds what an operator gives on these operands.
//!
//! A hash table with chains in which the entries lie in the order of their making, so that leaving
//! a scope (a subtree of the dominator tree) takes the latest entries off.

use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::ir::{Op, Value};
use smallvec::SmallVec;

/// What is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::opt) struct Key {
    pub(in crate::opt) op: Op,
    pub(in crate::opt) imm: u64,
    /// The version of the memory that is read, if any is.
    pub(in crate::opt) version: u32,
    pub(in crate::opt) args: SmallVec<[Value; 3]>,
}

#[derive(Debug)]
struct Entry {
    key: Key,
    value: Value,
    bucket: u32,
    next: u32,
}

/// The table.
#[derive(Debug)]
pub(in crate::opt) struct Table {
    buckets: Buffer<u32>,
    entries: Vec<Entry>,
}

const END: u32 = u32::MAX;

impl Table {
    /// A table for about this many entries.
    pub(in crate::opt) fn with_capacity(entries: usize) -> Self {
        Self {
            buckets: Buffer::filled(END, entries.next_power_of_two().max(16)),
            entries: Vec::new(),
        }
    }

    pub(in crate::opt) fn get(&self, key: &Key) -> Option<Value> {
        let mut at = self.buckets[self.bucket(key)];
        while at != END {
            let entry = &self.entries[at as usize];
            if entry.key == *key {
                return Some(entry.value);
            }
            at = entry.next;
        }
        None
    }

    pub(in crate::opt) fn insert(&mut self, key: Key, value: Value) {
        let bucket = self.bucket(&key);
        let next = std::mem::replace(&mut self.buckets[bucket], self.entries.len() as u32);
        self.entries.push(Entry { key, value, bucket: bucket as u32, next });
    }

    /// The current scope's mark, for `leave`.
    pub(in crate::opt) fn mark(&self) -> usize {
        self.entries.len()
    }

    /// Takes off what was inserted since the mark.
    pub(in crate::opt) fn leave(&mut self, mark: usize) {
        for entry in self.entries.drain(mark..).rev() {
            self.buckets[entry.bucket as usize] = entry.next;
        }
    }

    fn bucket(&self, key: &Key) -> usize {
        let mut hash = u64::from(key.op as u8) << 32 ^ u64::from(key.version) ^ key.imm << 40;
        let mut mix = |word: u64| hash = (hash.rotate_left(5) ^ word).wrapping_mul(FACTOR);
        mix(key.imm);
        key.args.iter().for_each(|arg| mix(arg.index() as u64));
        (hash >> 32) as usize & (self.buckets.len() - 1)
    }
}

const FACTOR: u64 = 0x517C_C1B7_2722_0A95;
