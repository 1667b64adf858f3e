//! Telling a runtime of a module: its object types, globals and static objects.
//!
//! Types are registered in the order of structures, then of functions (their closures), so that a
//! type's number follows from the module alone; `Module::first_type` is where they begin.

use super::function::{FuncRef, StrRef};
use super::module::{Module, Structure};
use crate::entity::Arena;
use toyjit_runtime::Runtime;
use toyjit_runtime::trap::Stop;
use toyjit_runtime::types::TypeInfo;

/// The static objects that a module has in a runtime.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The address of each string literal.
    pub strings: Arena<StrRef, u64>,
    /// The address of the value of each function without captures (its code word is not set yet);
    /// 0 for the others.
    pub closures: Arena<FuncRef, u64>,
    /// The number of the module's first function in the runtime's code map.
    pub first_function: u32,
}

impl Module {
    /// The number of a structure's object type.
    pub fn struct_type(&self, structure: Structure) -> u32 {
        let known = self.known_types.len() as u32;
        match self.known_types.get(structure.0 as usize) {
            Some(&known) => known,
            None => self.first_type + structure.0 - known,
        }
    }

    /// The number of the object type of a function's closures.
    pub fn closure_type(&self, function: FuncRef) -> u32 {
        let structures = self.structures.len() - self.known_types.len();
        self.first_type + structures as u32 + function.0
    }

    /// Registers types and globals and makes the static objects. The module must have been made
    /// for this runtime: its `first_type` is the next number there, and its first globals are those
    /// that the runtime has.
    pub fn load(&self, runtime: &mut Runtime) -> Result<Loaded, Stop> {
        for structure in self.structures.values().skip(self.known_types.len()) {
            runtime.register_type(TypeInfo::Struct {
                name: structure.name.clone(),
                fields: structure.fields.clone(),
            });
        }
        for function in self.functions.keys() {
            runtime.register_type(TypeInfo::Closure {
                name: self.names[function].clone(),
                function: function.0,
                captures: self.captures[function].clone(),
            });
        }
        for global in self.globals.values().skip(runtime.globals()) {
            runtime.declare_global(global.slot)?;
        }
        let strings = self.strings.values().map(|bytes| runtime.static_str(bytes)).collect();
        let closures = self
            .functions
            .keys()
            .map(|function| match self.captures[function].is_empty() {
                true => runtime.static_closure(self.closure_type(function)),
                false => 0,
            })
            .collect();
        Ok(Loaded { strings, closures, first_function: 0 })
    }
}
