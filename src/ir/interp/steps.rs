//! The steps of an interpreted run: counted, limited, and a place to be interrupted at.

use toyjit_runtime::{Runtime, Stop, Trap};

/// How many steps pass between two looks at whether the run was interrupted.
const POLL: u64 = 1 << 12;

/// How many steps a run has taken, and how many it may take.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    taken: u64,
    limit: u64,
}

impl Steps {
    /// None yet, and so many at most.
    pub fn at_most(limit: u64) -> Self {
        Self { taken: 0, limit }
    }

    /// How many there were.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Takes one; where there is none left, or the run was interrupted, that ends it.
    pub fn take(&mut self, runtime: &Runtime) -> Result<(), Stop> {
        self.taken += 1;
        if self.taken > self.limit {
            return Err(Trap::Time.into());
        }
        if self.taken.is_multiple_of(POLL)
            && let Some(trap) = runtime.interrupted()
        {
            return Err(trap.into());
        }
        Ok(())
    }
}
