//! The front end: text to tokens (logos) to tree (chumsky).

pub mod ast;
