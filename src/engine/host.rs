//! Rust closures that Toy programs call.
//!
//! To the program a host function is a function like its own. Its arguments and its result are of the
//! simple types; it can't reach the module that calls it.

use super::values::sealed;
use super::{Returned, Stop, Trap};
use crate::sema::HostHead;
use crate::sema::hir::Ty;
use std::fmt;
use std::sync::Arc;
use toyjit_runtime::{Arguments, Results, Runtime};

type Call = dyn Fn(&mut Runtime, &Arguments) -> Result<Results, Stop> + Send + Sync;

/// A host function, with its types.
#[derive(Clone)]
pub(super) struct Host {
    pub head: HostHead,
    call: Arc<Call>,
}

impl Host {
    pub fn new<A, R>(name: &str, function: impl HostFunction<A, R>) -> Self {
        let (params, result) = types(&function);
        let call = Arc::new(move |runtime: &mut Runtime, arguments: &Arguments| {
            sealed::HostFunction::call(&function, runtime, arguments)
        });
        Self { head: HostHead { name: name.to_owned(), params, result }, call }
    }

    /// Makes it known to a runtime; its function value is the answer.
    pub fn register(&self, runtime: &mut Runtime) -> u64 {
        let call = Arc::clone(&self.call);
        let function =
            Box::new(move |runtime: &mut Runtime, arguments: &Arguments| call(runtime, arguments));
        runtime.host_function(&self.head.name, function)
    }
}

fn types<A, R, F: sealed::HostFunction<A, R>>(_: &F) -> (Vec<Ty>, Ty) {
    F::types()
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Host").field(&self.head.name).finish()
    }
}

/// A Rust function of up to six arguments (`i64`, `f64`, `bool`, `u8`, `String`) that a Toy program can
/// call. Its result is one of them, `()`, or a `Result` with a `String`: an `Err` is a trap with that
/// message.
pub trait HostFunction<A, R>: sealed::HostFunction<A, R> {}

impl<A, R, F: sealed::HostFunction<A, R>> HostFunction<A, R> for F {}

/// What a host function may give back.
pub trait HostResult: sealed::HostResult {}

impl<T: sealed::HostResult> HostResult for T {}

impl<T: Returned + sealed::Given> sealed::HostResult for T {
    const TYPE: Ty = <T as sealed::Returned>::TYPE;

    fn give(self, runtime: &mut Runtime) -> Result<Results, Stop> {
        sealed::Given::give(self, runtime)
    }
}

impl<T: Returned + sealed::Given> sealed::HostResult for Result<T, String> {
    const TYPE: Ty = <T as sealed::Returned>::TYPE;

    fn give(self, runtime: &mut Runtime) -> Result<Results, Stop> {
        match self {
            Ok(value) => sealed::Given::give(value, runtime),
            Err(message) => Err(Trap::Panic(message.into_bytes()).into()),
        }
    }
}
