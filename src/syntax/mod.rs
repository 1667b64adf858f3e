//! The front end: text to tokens (logos) to tree (chumsky).

pub mod ast;
pub mod lexer;
mod literal;
pub mod parser;
pub mod token;

pub use lexer::{lex, lossless};
pub use parser::parse;
