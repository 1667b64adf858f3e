//! Why a run ended early: traps with their messages, `exit`, faults; and the chain of calls.

use std::fmt;

/// A program's fault at run time. `Display` gives the message that LANGUAGE.md §8 fixes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Trap {
    /// An index that is not in the array or string.
    Index { index: i64, len: u64 },
    /// A slice that is not in the array or string.
    Slice { from: i64, to: i64, len: u64 },
    /// Division or remainder by zero.
    Division,
    /// Nil where a value was needed.
    Nil,
    /// A negative length of `[e; n]`.
    Length(i64),
    /// `pop` from an empty array.
    Pop,
    /// Too deep a recursion.
    Stack,
    /// No memory, or no more allowed.
    Memory,
    /// `assert` with its message.
    Assertion(Option<Vec<u8>>),
    /// `panic` with its message.
    Panic(Vec<u8>),
    /// The time that the caller allowed is over.
    Time,
    /// The fuel that the caller gave is used up.
    Fuel,
    /// Interrupted from outside.
    Interrupted,
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trap::Index { index, len } => {
                write!(f, "index {index} is out of bounds for length {len}")
            }
            Trap::Slice { from, to, len } => {
                write!(f, "slice {from}..{to} is out of bounds for length {len}")
            }
            Trap::Division => f.write_str("division by zero"),
            Trap::Nil => f.write_str("nil has no value here"),
            Trap::Length(n) => write!(f, "array length {n} is negative"),
            Trap::Pop => f.write_str("pop from an empty array"),
            Trap::Stack => f.write_str("stack overflow"),
            Trap::Memory => f.write_str("out of memory"),
            Trap::Assertion(None) => f.write_str("assertion failed"),
            Trap::Assertion(Some(message)) => {
                write!(f, "assertion failed: {}", String::from_utf8_lossy(message))
            }
            Trap::Panic(message) => f.write_str(&String::from_utf8_lossy(message)),
            Trap::Time => f.write_str("out of time"),
            Trap::Fuel => f.write_str("out of fuel"),
            Trap::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Trap {}

/// Why a run ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The program's fault.
    Trap(Trap),
    /// `exit`, with the code's low 8 bits.
    Exit(i32),
    /// Who read the output has gone: nothing more to do, and nothing to say.
    ClosedPipe,
    /// The output could not be written, for the reason told.
    Output(String),
    /// A fault of the compiler or the runtime itself.
    Fault(String),
}

impl From<Trap> for Stop {
    fn from(trap: Trap) -> Self {
        Stop::Trap(trap)
    }
}

/// One call of a chain of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The number that the function was registered with in the code map.
    pub function: u32,
    /// The compiler's number of the place in the source.
    pub loc: u32,
}

/// The chain of calls, innermost first; of a long one the first and last 20.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backtrace {
    /// The innermost calls.
    pub first: Vec<Frame>,
    /// How many calls stand between the two.
    pub left_out: u64,
    /// The outermost calls, where the chain is longer than `first`.
    pub last: Vec<Frame>,
}

/// How many calls each end of a [`Backtrace`] shows.
pub const SHOWN_FRAMES: usize = 20;

impl FromIterator<Frame> for Backtrace {
    fn from_iter<I: IntoIterator<Item = Frame>>(frames: I) -> Self {
        let mut frames = frames.into_iter();
        let first: Vec<Frame> = frames.by_ref().take(SHOWN_FRAMES).collect();
        let mut ring = std::collections::VecDeque::with_capacity(SHOWN_FRAMES);
        let mut left_out = 0;
        for frame in frames {
            if ring.len() == SHOWN_FRAMES {
                ring.pop_front();
                left_out += 1;
            }
            ring.push_back(frame);
        }
        Self { first, left_out, last: ring.into() }
    }
}

/// A run that ended early: why and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Why.
    pub stop: Stop,
    /// Where.
    pub backtrace: Backtrace,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        let shown = |trap: Trap| trap.to_string();
        assert_eq!(
            shown(Trap::Index { index: -1, len: 3 }),
            "index -1 is out of bounds for length 3"
        );
        assert_eq!(
            shown(Trap::Slice { from: 2, to: 1, len: 3 }),
            "slice 2..1 is out of bounds for length 3"
        );
        assert_eq!(shown(Trap::Assertion(Some(b"no".to_vec()))), "assertion failed: no");
        assert_eq!(shown(Trap::Panic(vec![b'a', 0xFF])), "a\u{FFFD}");
    }

    #[test]
    fn long_chains_lose_their_middle() {
        let chain = |n: u32| (0..n).map(|i| Frame { function: i, loc: i }).collect::<Backtrace>();
        let short = chain(3);
        assert_eq!((short.first.len(), short.left_out, short.last.len()), (3, 0, 0));
        let middle = chain(40);
        assert_eq!((middle.first.len(), middle.left_out, middle.last.len()), (20, 0, 20));
        let long = chain(1000);
        assert_eq!((long.left_out, long.last[0].function, long.last[19].function), (960, 980, 999));
    }
}
