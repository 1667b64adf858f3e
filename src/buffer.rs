//! Vectors whose memory is used again.
//!
//! Each stage needs some tables for one function and drops them behind it. In a program of many
//! small functions the allocator of memory was a third of the time of compilation; with these the
//! tables of the next function lie where those of the last did. What is dropped goes to a store of
//! spare vectors, one for each thread and type of element. Large ones are given back, so that a huge
//! function leaves nothing behind: there an allocation costs little beside what is done with it.
//!
//! A [`Buffer`] is a `Vec` in all else. An element type takes part by a line `pooled! { T }`.

use std::cell::RefCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::thread::LocalKey;

/// The spare vectors of one type in one thread.
pub type Spares<T> = RefCell<Vec<Vec<T>>>;

/// A type of elements with a store of spare vectors. Implemented by [`pooled!`](crate::pooled!).
pub trait Pooled: Sized + 'static {
    /// The store.
    fn spares() -> &'static LocalKey<Spares<Self>>;
}

/// Gives types of elements their stores: `pooled! { u32, (Block, u32) }`.
#[macro_export]
macro_rules! pooled {
    ($($element:ty),+ $(,)?) => {$(
        impl $crate::buffer::Pooled for $element {
            #[inline]
            fn spares() -> &'static std::thread::LocalKey<$crate::buffer::Spares<Self>> {
                std::thread_local! {
                    static SPARES: $crate::buffer::Spares<$element> =
                        const { std::cell::RefCell::new(Vec::new()) };
                }
                &SPARES
            }
        }
    )+};
}

pooled! { u32, usize, u64, bool, f32, (u32, u32), (u32, u32, u32) }

/// How many spare vectors of one type are kept, and of how many bytes at most.
const MOST_SPARES: usize = 16;
const MOST_BYTES: usize = 1 << 16;

/// A vector whose memory comes from the store of its type, and goes there again.
pub struct Buffer<T: Pooled> {
    items: Vec<T>,
}

impl<T: Pooled> Buffer<T> {
    /// An empty one.
    #[inline]
    pub fn new() -> Self {
        let spare = T::spares().try_with(|spares| spares.borrow_mut().pop());
        Self { items: spare.ok().flatten().unwrap_or_default() }
    }

    /// An empty one that takes no memory before it needs some.
    pub const fn without_memory() -> Self {
        Self { items: Vec::new() }
    }

    /// An empty one with room for so many.
    #[inline]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut buffer = Self::new();
        buffer.items.reserve(capacity);
        buffer
    }

    /// One of `len` equal elements.
    #[inline]
    pub fn filled(value: T, len: usize) -> Self
    where
        T: Clone,
    {
        let mut buffer = Self::new();
        buffer.items.resize(len, value);
        buffer
    }
}

impl<T: Pooled> Drop for Buffer<T> {
    #[inline]
    fn drop(&mut self) {
        let bytes = self.items.capacity() * size_of::<T>();
        if bytes == 0 || bytes > MOST_BYTES {
            return;
        }
        let mut items = std::mem::take(&mut self.items);
        items.clear();
        // Where the thread is ending there is no store, and the vector is freed.
        let _ = T::spares().try_with(|spares| {
            let mut spares = spares.borrow_mut();
            if spares.len() < MOST_SPARES {
                spares.push(items);
            }
        });
    }
}

impl<T: Pooled> Deref for Buffer<T> {
    type Target = Vec<T>;
    #[inline]
    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<T: Pooled> DerefMut for Buffer<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }
}

impl<T: Pooled> Default for Buffer<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Pooled + Clone> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::new();
        copy.items.extend_from_slice(&self.items);
        copy
    }
}

impl<T: Pooled + PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl<T: Pooled + fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl<T: Pooled> FromIterator<T> for Buffer<T> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        let mut buffer = Self::new();
        buffer.items.extend(iter);
        buffer
    }
}

impl<'a, T: Pooled> IntoIterator for &'a Buffer<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Item(Box<u32>);
    pooled! { Item }

    #[test]
    fn memory_comes_again_and_elements_do_not() {
        let buffer = Buffer::filled(Item(Box::new(1)), 100);
        let address = buffer.as_ptr();
        drop(buffer);
        let again: Buffer<Item> = Buffer::new();
        assert_eq!((again.as_ptr(), again.len()), (address, 0));
        assert!(again.capacity() >= 100);
        let other = Buffer::<Item>::with_capacity(3);
        assert_ne!(other.as_ptr(), address);
    }

    #[test]
    fn large_ones_are_given_back() {
        drop(Buffer::<u64>::with_capacity(MOST_BYTES));
        assert!(Buffer::<u64>::new().capacity() < MOST_BYTES);
        drop((0..2 * MOST_SPARES).map(|_| Buffer::filled(0u64, 8)).collect::<Vec<_>>());
        u64::spares().with(|spares| assert!(spares.borrow().len() <= MOST_SPARES));
    }
}
