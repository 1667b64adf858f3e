//! The runtime of toyjit: what compiled Toy code and the interpreters call.

pub mod entry;
pub mod layout;
pub mod math;
