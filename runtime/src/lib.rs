//! The runtime of Toy: what compiled code and the interpreters call.
//!
//! One heap and one object layout serve both. `layout` and `types` say how values lie in memory,
//! `heap` and its parts keep and collect them, `context`, `stack` and `codemap` are the ground that
//! machine code stands on, `entry` is the table of what it may call, and the other modules are the
//! builtins behind that table. `Runtime` holds it all together.

pub mod codemap;
pub mod context;
pub mod entry;
pub mod fault;
pub mod layout;
pub mod math;
pub mod parse;
pub mod region;
pub mod stack;
pub mod trap;
pub mod types;

mod arrays;
mod bril;
mod buffers;
mod bulk;
mod census;
mod collect;
mod heap;
mod host;
mod input;
mod interrupt;
mod large;
mod mark;
mod memory;
mod nursery;
mod object;
mod old;
mod output;
mod raw;
mod runtime;
mod show;
mod statics;
mod stats;
mod strings;
#[cfg(test)]
mod tests;
mod watch;

pub use codemap::{CodeMap, CodeRange, Site};
pub use context::Context;
pub use entry::{Abi, ENTRIES, Effects, EntryPoint, Rt};
pub use host::HostFunction;
pub use input::Input;
pub use interrupt::{Interrupt, Interrupter, Interruptible, code_memory};
pub use layout::Slot;
pub use output::{Captured, Output};
pub use runtime::{Config, Roots, Runtime};
pub use stack::{Arguments, Results};
pub use stats::{HeapStats, Pauses};
pub use trap::{Backtrace, Frame, Stop, Stopped, Trap};
pub use types::{TypeInfo, TypeTable};
pub use watch::{ExitCodes, Watch};
