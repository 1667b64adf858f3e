//! Entities: `u32` newtype indices, arenas keyed by them, and side tables.
//!
//! Every stage of the compiler names its things (blocks, values, functions …) by an index into an
//! arena rather than by a pointer: indices are small, copyable, printable, and a fact about a thing
//! is one more table with the same key.

use crate::buffer::Buffer;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense index. Made by [`entity!`](crate::entity!).
pub trait Entity: Copy + Eq + Ord + Debug {
    /// The entity with this number.
    fn new(index: usize) -> Self;
    /// This entity's number.
    fn index(self) -> usize;
}

/// Declares entity types, each with the prefix it is printed with: `entity! { Block = "b" }`.
#[macro_export]
macro_rules! entity {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $crate::entity::Entity for $name {
            #[inline]
            fn new(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize);
                Self(index as u32)
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        $crate::pooled! { $name }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )+};
}

/// An arena: owns the things of one kind and hands out their entities in order.
#[derive(Clone, PartialEq, Eq)]
pub struct Arena<K, V> {
    items: Vec<V>,
    key: PhantomData<K>,
}

impl<K: Entity, V> Arena<K, V> {
    /// An empty arena.
    pub const fn new() -> Self {
        Self { items: Vec::new(), key: PhantomData }
    }

    /// An empty arena with room for so many things.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { items: Vec::with_capacity(capacity), key: PhantomData }
    }

    /// Makes room for so many more things.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
    }

    /// Adds `value`; its entity is the answer.
    #[inline]
    pub fn push(&mut self, value: V) -> K {
        let key = self.next_key();
        self.items.push(value);
        key
    }

    /// The entity that the next `push` will return.
    #[inline]
    pub fn next_key(&self) -> K {
        K::new(self.items.len())
    }

    /// How many things there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The thing, or `None` where `key` is past the end.
    pub fn get(&self, key: K) -> Option<&V> {
        self.items.get(key.index())
    }

    /// All entities, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + use<K, V> {
        (0..self.items.len()).map(K::new)
    }

    /// All things, in order.
    pub fn values(&self) -> std::slice::Iter<'_, V> {
        self.items.iter()
    }

    /// All things, in order, to be changed.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, V> {
        self.items.iter_mut()
    }

    /// Pairs of entity and thing, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(i, v)| (K::new(i), v))
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Keeps the first `len` things.
    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }
}

impl<K: Entity, V> Default for Arena<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Entity, V> FromIterator<V> for Arena<K, V> {
    fn from_iter<I: IntoIterator<Item = V>>(iter: I) -> Self {
        Self { items: iter.into_iter().collect(), key: PhantomData }
    }
}

impl<K: Entity, V> Index<K> for Arena<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, key: K) -> &V {
        &self.items[key.index()]
    }
}

impl<K: Entity, V> IndexMut<K> for Arena<K, V> {
    #[inline]
    fn index_mut(&mut self, key: K) -> &mut V {
        &mut self.items[key.index()]
    }
}

impl<K: Entity + Debug, V: Debug> Debug for Arena<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A side table: a fact about each entity of a kind, with a default where none was said.
#[derive(Clone, Debug)]
pub struct SideTable<K, V> {
    items: Vec<V>,
    default: V,
    key: PhantomData<K>,
}

impl<K: Entity, V: Clone> SideTable<K, V> {
    /// A table in which every entity has `default`.
    pub const fn new(default: V) -> Self {
        Self { items: Vec::new(), default, key: PhantomData }
    }

    /// The same, with memory for `len` entities laid out.
    pub fn with_len(default: V, len: usize) -> Self {
        Self { items: vec![default.clone(); len], default, key: PhantomData }
    }

    /// Lays out memory for `len` entities, and for as many more as there is room for then.
    #[cold]
    fn grow(&mut self, len: usize) {
        self.items.reserve(len - self.items.len());
        self.items.resize(self.items.capacity(), self.default.clone());
    }
}

impl<K: Entity, V: Clone> Index<K> for SideTable<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, key: K) -> &V {
        self.items.get(key.index()).unwrap_or(&self.default)
    }
}

impl<K: Entity, V: Clone> IndexMut<K> for SideTable<K, V> {
    #[inline]
    fn index_mut(&mut self, key: K) -> &mut V {
        if key.index() >= self.items.len() {
            self.grow(key.index() + 1);
        }
        &mut self.items[key.index()]
    }
}

/// A set of entities as a bit vector: one bit each, grown on demand.
#[derive(Clone, Debug)]
pub struct EntitySet<K> {
    words: Buffer<u64>,
    key: PhantomData<K>,
}

impl<K: Entity> EntitySet<K> {
    /// The empty set.
    pub const fn new() -> Self {
        Self { words: Buffer::without_memory(), key: PhantomData }
    }

    /// The empty set, with memory for `len` entities laid out.
    pub fn with_len(len: usize) -> Self {
        Self { words: Buffer::filled(0, len.div_ceil(64)), key: PhantomData }
    }

    /// Adds `key`; whether it was new.
    #[inline]
    pub fn insert(&mut self, key: K) -> bool {
        let (word, bit) = (key.index() / 64, 1 << (key.index() % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    /// Takes `key` out; whether it was there.
    #[inline]
    pub fn remove(&mut self, key: K) -> bool {
        let (word, bit) = (key.index() / 64, 1 << (key.index() % 64));
        match self.words.get_mut(word) {
            Some(w) if *w & bit != 0 => {
                *w &= !bit;
                true
            }
            _ => false,
        }
    }

    /// Whether `key` is in the set.
    #[inline]
    pub fn contains(&self, key: K) -> bool {
        self.words.get(key.index() / 64).is_some_and(|w| w & (1 << (key.index() % 64)) != 0)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// Empties the set, keeps the memory.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = K> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    K::new(i * 64 + bit)
                })
            })
        })
    }
}

impl<K: Entity> Default for EntitySet<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Entity> PartialEq for EntitySet<K> {
    fn eq(&self, other: &Self) -> bool {
        let n = self.words.len().max(other.words.len());
        (0..n).all(|i| {
            self.words.get(i).copied().unwrap_or(0) == other.words.get(i).copied().unwrap_or(0)
        })
    }
}

impl<K: Entity> FromIterator<K> for EntitySet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(iter: I) -> Self {
        let mut set = Self::new();
        for key in iter {
            set.insert(key);
        }
        set
    }
}

/// A variable-length list of entities whose elements live in a [`ListPool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    start: u32,
    len: u32,
}

impl List {
    /// The list without elements.
    pub const EMPTY: List = List { start: 0, len: 0 };

    /// How many elements there are.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// One vector that holds the elements of many [`List`]s, so that a list costs 8 bytes and no
/// allocation of its own. Elements of lists that were replaced stay behind until the pool goes.
#[derive(Clone, Debug)]
pub struct ListPool<T> {
    items: Vec<T>,
}

impl<T: Copy> ListPool<T> {
    /// An empty pool.
    pub const fn new() -> Self {
        Self { items: Vec::new() }
    }

    /// Makes room for so many more elements.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
    }

    /// A new list of these elements.
    #[inline]
    pub fn list(&mut self, elements: &[T]) -> List {
        let start = self.items.len() as u32;
        self.items.extend_from_slice(elements);
        List { start, len: elements.len() as u32 }
    }

    /// The elements of a list.
    #[inline]
    pub fn get(&self, list: List) -> &[T] {
        &self.items[list.start as usize..(list.start + list.len) as usize]
    }

    /// The elements of a list, to be changed in place.
    #[inline]
    pub fn get_mut(&mut self, list: List) -> &mut [T] {
        &mut self.items[list.start as usize..(list.start + list.len) as usize]
    }
}

impl<T: Copy> Default for ListPool<T> {
    fn default() -> Self {
        Self::new()
    }
}
