//! What the checker answers where an allocation is wrong.

use crate::mach::{ProgPoint, Side, VBlock};
use std::fmt;

/// Where an allocation is wrong, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    /// The point.
    pub at: CheckPoint,
    /// What is wrong there.
    pub message: String,
}

/// A point that a [`CheckError`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckPoint {
    /// The allocation as a whole.
    Function,
    /// An instruction.
    Inst(u32),
    /// The edits before or after an instruction.
    Edits(ProgPoint),
    /// An edge: its source and which successor.
    Edge(VBlock, u32),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            CheckPoint::Function => f.write_str("allocation")?,
            CheckPoint::Inst(inst) => write!(f, "instruction {inst}")?,
            CheckPoint::Edits(ProgPoint { inst, side: Side::Before }) => {
                write!(f, "edits before instruction {inst}")?;
            }
            CheckPoint::Edits(ProgPoint { inst, side: Side::After }) => {
                write!(f, "edits after instruction {inst}")?;
            }
            CheckPoint::Edge(block, succ) => write!(f, "edge {succ} of {block}")?,
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for CheckError {}
