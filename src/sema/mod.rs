//! Names and types: AST to HIR.

pub mod hir;
