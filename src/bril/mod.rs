//! Bril, the intermediate language of compiler courses, as a second source language.
//!
//! ```text
//! text ─ parser ─┐
//! JSON ─ json ───┴ ast ─ files (imports) ─ check ─ program ─┬ lower ─ IR over variables
//!                                                           └ interp, the oracle
//! IR ─ export ─ ast ─ print ─ text or JSON
//! ```
//!
//! Its reference is Bril's public documentation; `docs/bril.md` says what is supported and what was
//! decided where that is silent. From the IR on a Bril program goes through all that a Toy program
//! goes through.
//!
//! Sources → [`Read`]: the checked program, or what is wrong.

pub mod ast;
pub mod program;

mod check;
mod coalesce;
mod export;
mod files;
mod flow;
pub mod interp;
pub mod json;
mod lexer;
mod lower;
mod parser;
mod pointees;
pub mod print;

pub use coalesce::coalesce;
pub use export::{Exported, Origin, export};
pub use files::{Form, Loader, Read, form_of, load, read, tokens, tree};
pub use lower::{Checks, lower};
pub use program::Program;

#[cfg(test)]
mod tests;
