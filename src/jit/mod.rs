//! Machine code that runs: executable memory, linking, and the call into it.

pub mod link;
pub mod memory;

pub use link::{LinkError, Linked, link};
