//! Copying and filling very much: in pieces, between which a run that shall end ends.

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

    fn go_on(&self) -> Result<(), Stop> {
        self.interrupted().map_or(Ok(()), |trap| Err(trap.into()))
    }
}
