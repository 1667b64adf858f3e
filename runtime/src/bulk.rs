//! Copying and filling very much: in pieces, between which a run that shall end ends.

use crate::fault::{self, Fault};
use crate::layout::BUFFER_ELEMENTS;
use crate::raw;
use crate::runtime::Runtime;
use crate::trap::Stop;

/// Bytes of a piece.
const PIECE: u64 = 8 << 20;

impl Runtime {
    /// Copies bytes.
    ///
    /// # Safety
    /// As for [`raw::copy`].
    #[inline]
    pub(crate) unsafe fn copy(&self, from: u64, to: u64, len: u64) -> Result<(), Stop> {
        let mut done = 0;
        while len - done > PIECE {
            // SAFETY: a part of what is told above.
            unsafe { raw::copy(from + done, to + done, PIECE) };
            done += PIECE;
            self.go_on()?;
        }
        // SAFETY: the same.
        unsafe { raw::copy(from + done, to + done, len - done) };
        Ok(())
    }

    /// Fills words.
    ///
    /// # Safety
    /// As for [`raw::words_mut`].
    #[inline]
    pub(crate) unsafe fn fill(&self, at: u64, len: u64, value: u64) -> Result<(), Stop> {
        // SAFETY: told above.
        let words = unsafe { raw::words_mut(at, len) };
        for piece in words.chunks_mut((PIECE / 8) as usize) {
            piece.fill(value);
            self.go_on()?;
        }
        Ok(())
    }

    /// Sets `count` elements of a byte each from an index on.
    ///
    /// All are in bounds: the compiler has proved it.
    pub fn fill_bytes(&mut self, data: u64, from: i64, count: i64, value: i64) -> Result<(), Stop> {
        let (mut at, mut left) = (data + BUFFER_ELEMENTS + from as u64, count as u64);
        while left > 0 {
            let piece = left.min(PIECE);
            // SAFETY: told above.
            unsafe { raw::fill(at, value as u8, piece) };
            (at, left) = (at + piece, left - piece);
            self.go_on()?;
        }
        Ok(())
    }

    /// Sets `count` elements of a word each from an index on, all in bounds.
    pub fn fill_words(&mut self, data: u64, from: i64, count: i64, value: u64) -> Result<(), Stop> {
        // SAFETY: told above.
        unsafe { self.fill(data + BUFFER_ELEMENTS + 8 * from as u64, count as u64, value) }
    }

    /// Copies `count` elements of `1 << shift` bytes from an index of one buffer on to an index of
    /// another one, the first one first: what is copied may be copied again. All are in bounds.
    pub fn copy_elements(
        &mut self,
        shift: u32,
        (to, at): (u64, i64),
        (from, first): (u64, i64),
        count: i64,
    ) -> Result<(), Stop> {
        let place = |data: u64, index: i64| data + BUFFER_ELEMENTS + ((index as u64) << shift);
        let (mut to, mut from, mut left) =
            (place(to, at), place(from, first), (count as u64) << shift);
        let apart = to.wrapping_sub(from);
        let repeats = apart < PIECE && !fault::is(Fault::BulkOverlap);
        if apart == 0 {
            return Ok(());
        }
        while left > 0 {
            // What lies between the two is copied again and again; all that was copied lies there too.
            let most = match to.wrapping_sub(from) {
                distance if repeats && distance <= PIECE => distance,
                _ if repeats => PIECE / apart * apart,
                _ => PIECE,
            };
            let piece = left.min(most);
            // SAFETY: told above.
            unsafe { raw::copy_overlapping(from, to, piece) };
            (to, left) = (to + piece, left - piece);
            if !repeats {
                from += piece;
            }
            self.go_on()?;
        }
        Ok(())
    }

    fn go_on(&self) -> Result<(), Stop> {
        self.interrupted().map_or(Ok(()), |trap| Err(trap.into()))
    }
}
