//! What runs a module's functions: machine code, or the interpreter of its language.

use super::{CompileError, Engine};
use crate::bril;
use crate::interp::{self, Halt};
use crate::ir::{FuncRef, Module};
use crate::pipeline::{self, Executable, Options};
use crate::sema::hir::{FuncId, Program};
use crate::source::Interner;
use crate::timing::Timings;
use std::sync::atomic::{AtomicU64, Ordering};
use toyjit_runtime::{Arguments, Results, Runtime};

/// A program that can run.
#[derive(Debug)]
pub(super) enum Code {
    /// Machine code.
    Machine(Box<Executable>),
    /// The typed tree.
    Tree(Box<(Program, Interner)>),
    /// A Bril program, and how many instructions the last run of it took.
    Bril(Box<bril::Program>, AtomicU64),
}

impl Code {
    /// Machine code of a module in the variable form, in place.
    pub fn machine(
        engine: &Engine,
        mut module: Module,
        runtime: &mut Runtime,
        timings: &mut Timings,
    ) -> Result<Self, CompileError> {
        let hosts = engine.hosts.iter().map(|host| host.register(runtime));
        let hosts: Vec<u64> = hosts.collect();
        module.first_type = runtime.types.count();
        module.is_whole = engine.options.once;
        // A profile is read beside all code.
        let drop_unused = engine.options.once && !engine.options.counted;
        let options = Options { drop_unused, ..engine.options.clone() };
        let executable = pipeline::compile_module(module, &options, runtime, timings)?;
        for (slot, value) in (0..).zip(hosts) {
            runtime.set_global(slot, value);
        }
        Ok(Code::Machine(Box::new(executable)))
    }

    /// The tree, to be interpreted.
    pub fn tree(
        engine: &Engine,
        program: Program,
        interner: Interner,
        runtime: &mut Runtime,
    ) -> Result<Self, CompileError> {
        if !engine.hosts.is_empty() {
            let why = "the interpreter can't call functions of the host";
            return Err(CompileError::Fault(why.to_owned()));
        }
        interp::declare(&program, &interner, runtime).map_err(CompileError::Limit)?;
        Ok(Code::Tree(Box::new((program, interner))))
    }

    /// Runs the top-level statements.
    pub fn run_script(&self, runtime: &mut Runtime) -> Result<(), Halt> {
        match self {
            Code::Machine(executable) => executable.run_script(runtime),
            Code::Tree(tree) => interp::run_script(&tree.0, &tree.1, runtime),
            Code::Bril(..) => Ok(()),
        }
    }

    /// Runs `main`, if there is one; the exit code.
    pub fn run_main(&self, runtime: &mut Runtime) -> Result<i32, Halt> {
        match self {
            Code::Machine(executable) => executable.run_main(runtime),
            Code::Tree(tree) => interp::run_main(&tree.0, &tree.1, runtime),
            Code::Bril(program, executed) => {
                let (steps, result) = bril::interp::run(program, runtime, u64::MAX);
                executed.store(steps, Ordering::Relaxed);
                result
            }
        }
    }

    /// Calls a function with arguments of its types.
    pub fn call(
        &self,
        runtime: &mut Runtime,
        function: FuncRef,
        arguments: &Arguments,
    ) -> Result<Results, Halt> {
        match self {
            Code::Machine(executable) => executable.call(runtime, function, arguments),
            Code::Tree(tree) => {
                interp::call(&tree.0, &tree.1, runtime, FuncId(function.0), arguments)
            }
            // No handle leads to a function of a Bril program.
            Code::Bril(..) => Ok(Results::default()),
        }
    }
}
