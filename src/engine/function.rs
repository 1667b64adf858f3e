//! Typed handles of a module's functions.

use super::values::sealed;
use super::{Arguments, Module, Returned, Stopped};
use crate::ir::FuncRef;
use std::marker::PhantomData;

/// A function of a module, to be called with the arguments `A`, a tuple, for a result `R`.
pub struct Function<A, R> {
    pub(super) function: FuncRef,
    /// The number of its module.
    pub(super) module: u64,
    pub(super) types: PhantomData<fn(A) -> R>,
}

impl<A, R> Clone for Function<A, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, R> Copy for Function<A, R> {}

impl<A, R> std::fmt::Debug for Function<A, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Function").field(&self.function).finish()
    }
}

impl<A: Arguments, R: Returned> Function<A, R> {
    /// Calls the function. The module's top-level statements run first where they have not yet.
    ///
    /// # Panics
    /// Where the handle is another module's.
    pub fn call(&self, module: &mut Module, arguments: A) -> Result<R, Stopped> {
        assert_eq!(self.module, module.id, "the function belongs to another module");
        module.start()?;
        let roots = module.runtime.roots.len();
        let result = module.passing(|runtime| {
            let passing = sealed::Arguments::pass(arguments, runtime)?;
            Ok(passing.registers(runtime))
        });
        module.runtime.roots.truncate(roots);
        let results = module.call(self.function, &result?)?;
        Ok(R::take(results, &module.runtime))
    }
}
