//! How often each block of a program ran.
//!
//! The program counts itself ([`count`]): before machine code is selected, each block and each
//! critical edge gets a global to add one to. The blocks are those of optimised SSA form, the level
//! stays what it is, and the counts are exact and the same each time.
//!
//! A [`Profile`] belongs to one program compiled in one way, and says to which; as a file it is JSON
//! (`docs/explore.md`).

mod count;
mod json;

pub use count::{Counters, code_hash, count};

use crate::source::{Sources, fnv1a};
use std::fmt;

/// The counts of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The optimisation level.
    pub level: u8,
    /// The hash of the program's texts.
    pub program: u64,
    /// The hash of the code that ran, as optimised SSA form.
    pub code: u64,
    /// The functions in their order.
    pub functions: Vec<Counts>,
}

/// The counts of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The function's name.
    pub name: String,
    /// How often each block ran, by its number.
    pub blocks: Vec<(u32, u64)>,
    /// How often each edge was taken whose two ends have other edges: its block, which of the block's
    /// ways it is, the count.
    pub edges: Vec<(u32, u32, u64)>,
}

/// Why a profile is not one of a program as it is compiled now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The program's text is another.
    Program,
    /// It was compiled at another level.
    Level {
        /// The level of the profile.
        profiled: u8,
        /// The level now.
        now: u8,
    },
    /// It was compiled in another way, or by another compiler.
    Code,
}

impl Profile {
    /// Whether it is one of this program at this level, whose code has this hash.
    pub fn check(&self, sources: &Sources, level: u8, code: u64) -> Result<(), Mismatch> {
        if self.program != program_hash(sources) {
            return Err(Mismatch::Program);
        }
        if self.level != level {
            return Err(Mismatch::Level { profiled: self.level, now: level });
        }
        if self.code != code {
            return Err(Mismatch::Code);
        }
        Ok(())
    }
}

/// The hash of the texts of a program.
pub fn program_hash(sources: &Sources) -> u64 {
    let texts: Vec<&str> = sources.files().iter().map(|file| file.text.as_str()).collect();
    fnv1a(texts.join("\0").as_bytes())
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Program => {
                f.write_str("the profile is of another program, or of another version of it")
            }
            Mismatch::Level { profiled, now } => {
                write!(f, "the profile is of a run at -O{profiled}, not at -O{now}")
            }
            Mismatch::Code => f.write_str(
                "the profile is of code that was made with other options, on another machine or by \
                 another version of toyjit",
            ),
        }
    }
}

impl std::error::Error for Mismatch {}

#[cfg(test)]
mod tests;
