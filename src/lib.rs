//! toyjit: a JIT compiler for Toy, a small statically typed imperative language.
//!
//! An [`Engine`] compiles and runs programs ([`engine`]), [`inspect`] shows what the compiler makes of
//! them, a [`Session`](session::Session) runs entry after entry, [`bench`] measures. With the words
//! that these speak in ([`source`], [`report`], [`timing`]) that is the library's face: the command
//! line (`src/cli/`, a part of the program `toyjit` and not of this crate) names nothing else.
//!
//! The other modules are the compiler's parts, open to its tests and to the curious. They stand on
//! floors, each names only modules on lower ones; `ARCHITECTURE.md` is their map.

pub mod engine;
pub mod inspect;
pub mod session;

pub mod bench;

pub mod report;
pub mod source;
pub mod timing;

pub mod buffer;
pub mod entity;
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

pub mod explore;
pub mod pipeline;
pub mod profile;

pub use engine::{
    CompileError, Diagnostics, Engine, Function, FunctionError, Input, Module, Output, Program,
    Stop, Stopped, Trap,
};

#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
struct EmbeddingPage;
