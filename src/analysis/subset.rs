//! Some of a function's facts, as the bits of one set: problems with many facts are solved for a
//! slice of them at a time, or for those that somebody asks about.

use crate::entity::Entity;

/// Facts in the order of their numbers; a fact's bit is its place among them.
#[derive(Clone, Copy, Debug)]
pub struct Subset<'a, K>(&'a [K]);

impl<'a, K: Entity> Subset<'a, K> {
    /// These facts, which are sorted.
    pub fn new(sorted: &'a [K]) -> Self {
        debug_assert!(sorted.is_sorted());
        Self(sorted)
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The fact of a bit.
    pub fn fact(self, bit: usize) -> K {
        self.0[bit]
    }

    /// The facts.
    pub fn facts(self) -> &'a [K] {
        self.0
    }

    /// The bit of a fact, if it is one of these; at once where their numbers have no gap.
    #[inline]
    pub fn bit(self, fact: K) -> Option<usize> {
        let guess = fact.index().checked_sub(self.0.first()?.index())?;
        match self.0.get(guess) {
            Some(&found) if found == fact => Some(guess),
            _ => self.0.binary_search(&fact).ok(),
        }
    }

    /// The bits of those of some sorted facts that are among these.
    pub fn bits(self, sorted: &'a [K]) -> impl Iterator<Item = usize> + 'a {
        let inside = match (self.0.first(), self.0.last()) {
            (Some(first), Some(last)) => {
                let start = sorted.partition_point(|fact| fact < first);
                let end = sorted.partition_point(|fact| fact <= last);
                &sorted[start..end]
            }
            _ => &[],
        };
        inside.iter().filter_map(move |&fact| self.bit(fact))
    }
}

/// Things sorted by an entity that each belongs to, in two flat vectors.
#[derive(Clone, Debug)]
pub struct Buckets<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Buckets<T> {
    /// Sorts pairs by their entities, all of which are below `len`; linear, and in order within each.
    pub fn new<K: Entity>(len: usize, pairs: &[(K, T)]) -> Self {
        let mut starts = vec![0u32; len + 1];
        for (key, _) in pairs {
            starts[key.index() + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut items: Vec<T> = pairs.iter().map(|&(_, item)| item).collect();
        for &(key, item) in pairs {
            let at = &mut next[key.index()];
            items[*at as usize] = item;
            *at += 1;
        }
        Self { starts, items }
    }

    /// What belongs to an entity.
    #[inline]
    pub fn of<K: Entity>(&self, key: K) -> &[T] {
        let at = key.index();
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}
