//! The library: Toy programs compiled and called from Rust.
//!
//! An [`Engine`] says how programs are compiled and within which limits they run. It makes a
//! [`Module`] of a source text, or [`Diagnostics`]. A module owns its heap, its globals, its input and
//! output; its functions are called through typed handles ([`Function`]), whose types are checked
//! against the program's when the handle is made. A trap is an `Err` and leaves the module usable.
//!
//! ```
//! let engine = toyjit::Engine::new();
//! let mut module = engine.compile("demo.toy", "fn twice(x: int) -> int { return 2 * x; }")?;
//! let twice = module.function::<(i64,), i64>("twice")?;
//! assert_eq!(twice.call(&mut module, (21,))?, 42);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod code;
mod error;
mod function;
mod host;
mod module;
mod program;
mod values;
mod watch;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

pub use crate::bril::{Checks, Form};
pub use crate::inspect::Language;
pub use crate::interp::Halt;
pub use crate::pipeline::Options;
pub use crate::profile::{Counts, Mismatch, Profile};
pub use crate::ssa::Construction;
pub use crate::x64::Features;
pub use error::{CompileError, Diagnostics, FunctionError, Stopped};
pub use function::Function;
pub use host::{HostFunction, HostResult};
pub use module::Module;
pub use program::Program;
pub use toyjit_runtime::{
    Captured, ExitCodes, HeapStats, Input, Interrupt, Interrupter, Output, Stop, Trap, Watch,
};
pub use values::{Argument, Arguments, Returned};

use crate::timing::Clock;
use std::time::Duration;
use toyjit_runtime::Config;

/// How programs are compiled and run.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    options: Options,
    max_heap: Option<u64>,
    stack_size: Option<usize>,
    timeout: Option<Duration>,
    fuel: Option<u64>,
    args: Vec<Vec<u8>>,
    hosts: Vec<host::Host>,
    clock: Clock,
    gc_stress: bool,
    interpreted: bool,
}

impl Engine {
    /// Optimisation level 2, no limits but the machine's.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the optimisation level: 0 compiles fastest, 3 tries hardest.
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.options.level = level.min(3);
        self
    }

    /// Sets everything of how programs are compiled; whether they burn fuel follows from
    /// [`Engine::fuel`].
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = Options { metered: self.fuel.is_some(), ..options };
        self
    }

    /// Lets the interpreter of a language run programs, which is slow, and what the compiler is tested
    /// against. Such programs can't call functions of the host.
    #[must_use]
    pub fn interpreted(mut self, interpreted: bool) -> Self {
        self.interpreted = interpreted;
        self
    }

    /// Lets programs count how often each of their blocks runs, which [`Module::profile`] tells.
    #[must_use]
    pub fn counted(mut self, counted: bool) -> Self {
        self.options.counted = counted;
        self
    }

    /// Collects garbage at every allocation and moves all that can move: a test of the compiler.
    #[must_use]
    pub fn gc_stress(mut self, stress: bool) -> Self {
        self.gc_stress = stress;
        self
    }

    /// Sets the most bytes that the heap of a module may take.
    #[must_use]
    pub fn max_heap(mut self, bytes: u64) -> Self {
        self.max_heap = Some(bytes);
        self
    }

    /// Sets the bytes of stack that the code of a module has.
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Sets how long one call from Rust may run before it ends with [`Trap::Time`].
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Sets how many calls of Toy functions and rounds of loops one call from Rust may make before it
    /// ends with [`Trap::Fuel`]: a limit that does not depend on the machine.
    ///
    /// ```
    /// use toyjit::engine::Trap;
    /// let engine = toyjit::Engine::new().fuel(1_000);
    /// let source = "fn sum(n: int) -> int { var s = 0; for i in 0..n { s += i; } return s; }";
    /// let mut module = engine.compile("demo.toy", source)?;
    /// let sum = module.function::<(i64,), i64>("sum")?;
    /// assert_eq!(sum.call(&mut module, (10,))?, 45);
    /// assert_eq!(module.fuel_left(), Some(989));
    /// assert_eq!(sum.call(&mut module, (1_000,)).unwrap_err().trap(), Some(&Trap::Fuel));
    /// assert_eq!(sum.call(&mut module, (999,))?, 498_501);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fuel(mut self, units: u64) -> Self {
        self.fuel = Some(units);
        self.options.metered = true;
        self
    }

    /// Sets the clock by which [`Module::timings`] tells how long stages and runs took.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets what the builtin `args` gives.
    #[must_use]
    pub fn args<A: Into<Vec<u8>>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Lets programs call a Rust function by this name. A function that the program declares hides
    /// it.
    ///
    /// ```
    /// let engine = toyjit::Engine::new().host("cube", |x: i64| x * x * x);
    /// let mut module = engine.compile("demo.toy", "fn main() -> int { return cube(3); }")?;
    /// assert_eq!(module.run()?, 27);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn host<A, R>(mut self, name: &str, function: impl HostFunction<A, R>) -> Self {
        self.hosts.retain(|host| host.head.name != name);
        self.hosts.push(host::Host::new(name, function));
        self
    }

    /// Compiles a Toy program. Nothing of it runs yet.
    pub fn compile(&self, name: &str, source: impl Into<String>) -> Result<Module, CompileError> {
        self.check(name, source)?.compile()
    }

    /// Whether the interpreter runs programs.
    pub fn is_interpreted(&self) -> bool {
        self.interpreted
    }

    pub(crate) fn pipeline_options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn config(&self) -> Config {
        let default = Config::default();
        Config {
            max_heap: self.max_heap,
            stack_size: self.stack_size.unwrap_or(default.stack_size),
            fuel: self.fuel,
            args: self.args.clone(),
            gc_stress: self.gc_stress,
            ..default
        }
    }
}
