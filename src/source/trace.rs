//! Where a run ended: the chain of calls, as places in the source.

use super::Span;

/// One call of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFrame {
    /// The function's name as it is shown.
    pub function: String,
    /// Where in it: the trap's place for the innermost call, a call's for the others.
    pub span: Span,
}

/// A chain of calls, innermost first; of a long one the first and last 20.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The innermost calls.
    pub first: Vec<TraceFrame>,
    /// How many calls are left out between the two.
    pub left_out: u64,
    /// The outermost calls, where the chain is longer than `first`.
    pub last: Vec<TraceFrame>,
}

/// How many calls each end of a trace shows.
pub const SHOWN_FRAMES: usize = 20;

impl Trace {
    /// The trace of a whole chain.
    pub fn from_chain(len: usize, frame: impl Fn(usize) -> TraceFrame) -> Trace {
        let first = len.min(SHOWN_FRAMES);
        let last = (len - first).min(SHOWN_FRAMES);
        Trace {
            first: (0..first).map(&frame).collect(),
            left_out: (len - first - last) as u64,
            last: (len - last..len).map(&frame).collect(),
        }
    }
}
