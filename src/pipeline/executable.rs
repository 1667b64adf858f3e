//! Machine code of a program, in place.

use crate::interp::Halt;
use crate::ir::{FuncRef, Module};
use crate::jit::Linked;
use crate::profile::{Counters, Counts};
use crate::report::trace;
use crate::source::Trace;
use toyjit_runtime::{Arguments, Results, Runtime, Stopped};

/// A program in executable memory.
#[derive(Debug)]
pub struct Executable {
    module: Module,
    linked: Linked,
    counters: Option<Counters>,
}

impl Executable {
    pub(super) fn new(module: Module, linked: Linked, counters: Option<Counters>) -> Self {
        Self { module, linked, counters }
    }

    /// Runs the top-level statements and then `main`; the exit code.
    pub fn run(&self, runtime: &mut Runtime) -> Result<i32, Halt> {
        self.run_script(runtime)?;
        self.run_main(runtime)
    }

    /// Runs the top-level statements.
    pub fn run_script(&self, runtime: &mut Runtime) -> Result<(), Halt> {
        if let Some(script) = self.module.script {
            self.call(runtime, script, &Arguments::default())?;
        }
        Ok(())
    }

    /// Runs `main`, if there is one, its top-level statements being run; the exit code.
    pub fn run_main(&self, runtime: &mut Runtime) -> Result<i32, Halt> {
        let Some((main, takes_args, returns_int)) = self.module.main else { return Ok(0) };
        let mut arguments = Arguments::default();
        if takes_args {
            let args = runtime.program_args();
            arguments.words[0] = args.map_err(|stop| Halt { stop, trace: Trace::default() })?;
        }
        let code = self.call(runtime, main, &arguments)?.word;
        Ok(if returns_int { (code & 0xFF) as i32 } else { 0 })
    }

    /// What it has counted so far in this runtime, and the hash of the code that did.
    pub fn counts(&self, runtime: &Runtime) -> Option<(u64, Vec<Counts>)> {
        let counters = self.counters.as_ref()?;
        Some((counters.code, counters.read(|global| runtime.global(global))))
    }

    /// How many bytes of code memory it takes.
    pub fn code_bytes(&self) -> usize {
        self.linked.len()
    }

    /// Calls a function of the module with arguments of its types; what it uses must be there.
    pub(crate) fn call(
        &self,
        runtime: &mut Runtime,
        function: FuncRef,
        arguments: &Arguments,
    ) -> Result<Results, Halt> {
        let called = self.linked.call(runtime, function, arguments);
        called.map_err(|stopped| self.halt(*stopped))
    }

    fn halt(&self, stopped: Stopped) -> Halt {
        let function = |number| Some((&self.module, FuncRef(number)));
        Halt { stop: stopped.stop, trace: trace(&function, &stopped.backtrace) }
    }
}
