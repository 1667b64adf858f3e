//! A small linker and launcher for tests.

use super::spill;
use crate::entity::Entity;
use crate::ir::{FuncRef, Module, Type};
use crate::mach::{Allocation, CompiledFunction, RelocTarget, Target, VCode};
use crate::x64::{Features, Inst, Stub, X64};
use memmap2::{Mmap, MmapMut};
use toyjit_runtime::layout::Slot;
use toyjit_runtime::{
    Arguments, CodeRange, Config, Input, Output, Results, Runtime, Site, Stop, Stopped, TypeInfo,
};

/// Makes an allocation.
pub(super) type Allocator<'a> = &'a dyn Fn(&X64, &VCode<Inst>) -> Allocation;

/// A compiled module, ready to run.
pub(super) struct Machine {
    runtime: Runtime,
    code: Mmap,
    starts: Vec<usize>,
    captured: toyjit_runtime::Captured,
}

fn place(bytes: &mut Vec<u8>, function: &CompiledFunction) -> usize {
    while !bytes.len().is_multiple_of(16) {
        bytes.push(0xCC);
    }
    bytes.extend_from_slice(&function.bytes);
    bytes.len() - function.bytes.len()
}

impl Machine {
    pub(super) fn new(
        module: &Module,
        features: Features,
        allocator: Allocator<'_>,
        gc_stress: bool,
    ) -> Machine {
        let target = X64::new(features);
        let compiled: Vec<_> = module
            .functions
            .keys()
            .map(|function| {
                let code = target.select(module, function);
                let allocation = allocator(&target, &code);
                target.emit(&code, &allocation)
            })
            .collect();
        let stubs = Stub::ALL.map(Stub::code);
        let mut bytes = Vec::new();
        let starts: Vec<usize> = compiled.iter().map(|f| place(&mut bytes, f)).collect();
        let stub_starts = stubs.each_ref().map(|stub| place(&mut bytes, stub));

        let (output, captured) = Output::capture();
        let input = Input::bytes(Vec::new());
        let config = Config { output, input, gc_stress, stack_size: 1 << 20, ..Config::default() };
        let mut runtime = Runtime::new(config).expect("memory");
        let mut memory = MmapMut::map_anon(bytes.len().max(1)).expect("memory");
        let origin = memory.as_ptr().expose_provenance();
        for data in module.structures.values() {
            let (name, fields) = (data.name.clone(), data.fields.clone());
            runtime.register_type(TypeInfo::Struct { name, fields });
        }
        let mut closures = Vec::new();
        for function in module.functions.keys() {
            let captures: Vec<Slot> = module.captures.get(function).cloned().unwrap_or_default();
            let name = module.names.get(function).cloned().flatten();
            let is_static = captures.is_empty();
            let id =
                runtime.register_type(TypeInfo::Closure { name, function: function.0, captures });
            let closure = if is_static { runtime.static_closure(id) } else { 0 };
            if is_static {
                runtime.set_code(closure, (origin + starts[function.index()]) as u64);
            }
            closures.push(closure);
        }
        for global in module.globals.values() {
            runtime.declare_global(global.slot).expect("room for globals");
        }
        let strings: Vec<u64> = module.strings.values().map(|s| runtime.static_str(s)).collect();

        for (function, &start) in compiled.iter().zip(&starts) {
            for relocation in &function.relocations {
                let value = match relocation.target {
                    RelocTarget::Function(function) => (origin + starts[function.index()]) as u64,
                    RelocTarget::Stub(stub) => (origin + stub_starts[stub as usize]) as u64,
                    RelocTarget::Str(string) => strings[string.index()],
                    RelocTarget::Closure(function) => closures[function.index()],
                };
                let at = start + relocation.offset as usize;
                if relocation.relative {
                    let distance = value.wrapping_sub((origin + at + 4) as u64) as i32;
                    bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
                } else {
                    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
                }
            }
        }
        memory[..bytes.len()].copy_from_slice(&bytes);
        for (number, (function, &start)) in compiled.iter().zip(&starts).enumerate() {
            let start = (origin + start) as u64;
            let range = CodeRange {
                start,
                end: start + u64::from(function.code_len),
                function: number as u32,
                frame_size: function.frame_size,
            };
            let sites = function.sites.iter().map(|site| Site {
                address: start + u64::from(site.offset),
                loc: site.loc.0,
                refs: site.slots.clone(),
            });
            runtime.code.add(range, sites.collect());
        }
        let code = memory.make_exec().expect("executable memory");
        Machine { runtime, code, starts, captured }
    }

    /// The same with every value in a slot.
    pub(super) fn spilled(module: &Module, features: Features, seed: u64) -> Machine {
        Machine::new(module, features, &|_, code| spill::allocate(code, seed), false)
    }

    fn enter(&mut self, function: FuncRef, arguments: &Arguments) -> Result<Results, Box<Stopped>> {
        let code = self.code.as_ptr() as usize + self.starts[function.index()];
        // SAFETY: the code is what the target made of a verified module, linked as it asks for.
        unsafe { self.runtime.enter(code as u64, arguments) }
    }

    /// Calls a function with words; of at most so many parameters as there are registers.
    pub(super) fn call(
        &mut self,
        module: &Module,
        function: FuncRef,
        args: &[u64],
    ) -> Result<u64, Box<Stopped>> {
        let signature = &module.functions[function].signature;
        let mut arguments = Arguments::default();
        let (mut words, mut floats) = (0, 0);
        for (&arg, ty) in args.iter().zip(&signature.params) {
            if *ty == Type::Float {
                arguments.floats[floats] = f64::from_bits(arg);
                floats += 1;
            } else {
                arguments.words[words] = arg;
                words += 1;
            }
        }
        let results = self.enter(function, &arguments)?;
        Ok(match signature.result {
            Some(Type::Float) => results.float.to_bits(),
            _ => results.word,
        })
    }

    /// Runs the script: what it prints, and how it ends.
    pub(super) fn run_script(mut self, module: &Module) -> (Vec<u8>, Result<(), Box<Stopped>>) {
        let result = match module.script {
            Some(script) => self.enter(script, &Arguments::default()).map(|_| ()),
            None => Ok(()),
        };
        let result = match result {
            Err(stopped) if matches!(stopped.stop, Stop::Exit(0)) => Ok(()),
            result => result,
        };
        self.runtime.output.flush().expect("captured");
        (self.captured.take(), result)
    }
}
