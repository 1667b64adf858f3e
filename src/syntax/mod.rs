//! The front end: text to tokens (logos) to tree (chumsky).

pub mod ast;
mod dump;
pub mod lexer;
mod literal;
mod parser;
mod print;
pub mod token;

pub use dump::{dump_ast, dump_tokens};
pub use lexer::{lex, lossless};
pub use parser::{NESTING, parse};
pub use print::{print, print_expr};
