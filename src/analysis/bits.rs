//! Bit sets as lattices: the meet is part of the type, so that a problem's set can only be joined
//! as the problem means it.

use super::dataflow::Lattice;
use smallvec::{SmallVec, smallvec};
use std::marker::PhantomData;

/// How sets from several paths meet.
pub trait Meet: Clone + PartialEq {
    /// The identity of the meet: nothing, or everything.
    const TOP: bool;
    /// The meet of two words.
    fn meet(a: u64, b: u64) -> u64;
}

/// True where it is so on some path: union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct May;

/// True where it is so on every path: intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Must;

impl Meet for May {
    const TOP: bool = false;
    fn meet(a: u64, b: u64) -> u64 {
        a | b
    }
}

impl Meet for Must {
    const TOP: bool = true;
    fn meet(a: u64, b: u64) -> u64 {
        a & b
    }
}

/// A set of the numbers below `len`.
#[derive(Debug, PartialEq)]
pub struct Bits<M> {
    words: SmallVec<[u64; 2]>,
    meet: PhantomData<M>,
}

impl<M> Clone for Bits<M> {
    fn clone(&self) -> Self {
        Self { words: SmallVec::from_slice(&self.words), meet: PhantomData }
    }

    // The memory stays: states are copied at each visit of a block.
    fn clone_from(&mut self, source: &Self) {
        if self.words.len() == source.words.len() {
            self.words.copy_from_slice(&source.words);
        } else {
            *self = source.clone();
        }
    }
}

impl<M: Meet> Bits<M> {
    /// The empty set, with room for `len` numbers.
    pub fn empty(len: usize) -> Self {
        Self { words: smallvec![0; len.div_ceil(64)], meet: PhantomData }
    }

    /// The identity of the meet: empty, or all numbers below `len`.
    pub fn top(len: usize) -> Self {
        if M::TOP { Self::full(len) } else { Self::empty(len) }
    }

    /// All numbers below `len`.
    pub fn full(len: usize) -> Self {
        let mut bits = Self::empty(len);
        bits.words.fill(u64::MAX);
        if let Some(last) = bits.words.last_mut() {
            *last >>= (64 - len % 64) % 64;
        }
        bits
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, bit: usize) {
        self.words[bit / 64] |= 1 << (bit % 64);
    }

    /// Takes a number out.
    #[inline]
    pub fn remove(&mut self, bit: usize) {
        self.words[bit / 64] &= !(1 << (bit % 64));
    }

    /// Whether a number is in the set.
    #[inline]
    pub fn contains(&self, bit: usize) -> bool {
        self.words[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// Adds all of another set, whatever the meet; whether that changed anything.
    pub fn unite(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (word, &other) in self.words.iter_mut().zip(&other.words) {
            changed |= other & !*word != 0;
            *word |= other;
        }
        changed
    }

    /// Takes all of another set out.
    pub fn subtract(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, &other)| *word &= !other);
    }

    /// The numbers in the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(index * 64 + bit)
            })
        })
    }
}

impl<M: Meet> Lattice for Bits<M> {
    fn meet(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (word, &other) in self.words.iter_mut().zip(&other.words) {
            let met = M::meet(*word, other);
            changed |= met != *word;
            *word = met;
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tops_are_identities() {
        for len in [0, 1, 63, 64, 65, 200] {
            let mut some = Bits::<Must>::empty(len);
            let mut any = Bits::<May>::empty(len);
            for bit in (0..len).step_by(3) {
                some.insert(bit);
                any.insert(bit);
            }
            let mut must = Bits::<Must>::top(len);
            must.meet(&some);
            assert_eq!(must, some);
            let mut may = Bits::<May>::top(len);
            may.meet(&any);
            assert_eq!(may.iter().collect::<Vec<_>>(), (0..len).step_by(3).collect::<Vec<_>>());
            assert_eq!(Bits::<Must>::top(len).iter().count(), len);
        }
    }

    #[test]
    fn meets_say_whether_they_changed_anything() {
        let mut a = Bits::<May>::empty(70);
        let mut b = a.clone();
        b.insert(69);
        assert!(a.meet(&b));
        assert!(!a.meet(&b));
        a.remove(69);
        assert!(!a.contains(69));
    }
}
