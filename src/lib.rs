//! toyjit: a JIT compiler for Toy, a small statically typed imperative language.
//!
//! `ARCHITECTURE.md` is the map of this crate. The modules stand on floors; each names only
//! modules on lower ones.

pub mod buffer;
pub mod entity;
pub mod source;
pub mod watch;

pub mod ir;
pub mod syntax;

pub mod analysis;
pub mod sema;

pub mod bril;
pub mod interp;
pub mod lower;
pub mod mach;
pub mod opt;
pub mod ssa;

pub mod regalloc;
pub mod x64;

pub mod jit;

pub mod pipeline;
pub mod report;
pub mod timing;

pub mod engine;
pub mod explore;
pub mod session;

pub mod bench;

pub mod cli;

pub use engine::{
    CompileError, Diagnostics, Engine, Function, FunctionError, Input, Module, Output, Stop,
    Stopped, Trap,
};

#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
struct EmbeddingPage;
