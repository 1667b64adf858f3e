//! What is compiled together: an entry's functions, and earlier ones that must be compiled again.

use crate::analysis;
use crate::entity::Arena;
use crate::ir::load::Loaded;
use crate::ir::{Const, FuncRef, Function, Module, Op, ValueDef};
use crate::jit::{self, Linked};
use crate::lower::{self, Lowered, Unit as Part};
use crate::mach::CompiledFunction;
use crate::pipeline::{self, CompileError, Options};
use crate::sema::Entry;
use crate::sema::hir::{self, FuncId, FunctionKind, GlobalId};
use crate::source::{Diagnostic, Interner};
use crate::timing::Timings;
use crate::x64::Stub;
use std::ops::Range;
use std::rc::Rc;
use toyjit_runtime::Runtime;

/// A function with its number in the session.
pub(super) type Body = (FuncId, Rc<hir::Function>);

/// Compiled code that is in place.
pub(super) struct Unit {
    pub linked: Linked,
    /// For what is said of traps.
    pub module: Module,
    /// Its named functions.
    pub named: Vec<(FuncId, FuncRef)>,
    /// The typed trees of its functions, to be compiled again.
    pub bodies: Vec<Body>,
    /// The globals that its functions use, each once.
    pub globals: Vec<GlobalId>,
    /// What its named functions use.
    pub mentions: Vec<Mention>,
    /// The static function values of its functions.
    pub closures: Arena<FuncRef, u64>,
    /// The object types of its function values.
    pub types: Range<u32>,
    /// Whether its code must stay, since function values that lead to it may be anywhere.
    pub pinned: bool,
}

/// What a named function uses.
#[derive(Clone, Debug)]
pub(super) struct Mention {
    pub user: FuncId,
    pub functions: Vec<FuncId>,
    pub globals: Vec<GlobalId>,
}

/// A unit on its way.
pub(super) struct Draft {
    pub module: Module,
    pub named: Vec<(FuncId, FuncRef)>,
    pub bodies: Vec<Body>,
    pub globals: Vec<GlobalId>,
    pub mentions: Vec<Mention>,
    /// Whether its code makes closures.
    pub makes_closures: bool,
    /// Functions that are used as static values.
    values: Vec<FuncRef>,
    compiled: Vec<CompiledFunction>,
}

impl Draft {
    /// Lowers an entry and the functions that move into its unit; what the checks on the flow say.
    /// The functions of the entry are those of the numbers from `first` on and the replaced ones.
    pub fn lower(
        entry: &mut Entry,
        moved: Vec<Body>,
        first: usize,
        interner: &Interner,
    ) -> (Self, Vec<Diagnostic>) {
        let program = &mut entry.known.program;
        let mut functions = vec![program.script];
        functions.extend(program.functions.keys().skip(first).filter(|&id| id != program.script));
        functions.extend(&entry.replaced);
        for (id, body) in moved {
            functions.push(id);
            program.functions[id] = (*body).clone();
        }
        let part =
            Part { functions: &functions, slots: &entry.known.slots, globals: &entry.globals };
        let Lowered { module, facts } = lower::lower_unit(program, interner, &part);
        let said = analysis::check_flow(&module, &facts);
        let named: Vec<(FuncId, FuncRef)> = functions
            .iter()
            .zip(module.functions.keys())
            .filter(|(id, _)| program.functions[**id].kind == FunctionKind::Named)
            .map(|(&id, function)| (id, function))
            .collect();
        let uses: Vec<Uses> = module.functions.values().map(Uses::of).collect();
        let reached =
            named.iter().map(|&(id, function)| (id, with_lambdas(function, &uses, &module)));
        let reached: Vec<(FuncId, Vec<FuncRef>)> = reached.collect();
        let mentions = reached.iter().map(|(user, parts)| Mention {
            user: *user,
            functions: parts
                .iter()
                .flat_map(|part| &uses[part.0 as usize].functions)
                .map(|function| functions[function.0 as usize])
                .collect(),
            globals: parts.iter().flat_map(|part| uses[part.0 as usize].globals.clone()).collect(),
        });
        let mentions = mentions.collect();
        let mut kept: Vec<FuncRef> = reached.into_iter().flat_map(|(_, parts)| parts).collect();
        kept.sort_unstable();
        kept.dedup();
        let bodies = kept.iter().map(|function| {
            let id = functions[function.0 as usize];
            (id, Rc::new(program.functions[id].clone()))
        });
        let bodies = bodies.collect();
        let script = module.script;
        let beside_script = module.functions.keys().filter(|&f| Some(f) != script);
        let mut globals: Vec<GlobalId> =
            beside_script.flat_map(|f| uses[f.0 as usize].globals.clone()).collect();
        globals.sort_unstable();
        globals.dedup();
        let draft = Self {
            module,
            named,
            bodies,
            globals,
            mentions,
            makes_closures: false,
            values: Vec::new(),
            compiled: Vec::new(),
        };
        (draft, said)
    }

    /// Compiles the unit for a runtime that knows the structs of the types `known_types`.
    pub fn compile(
        mut self,
        known_types: &[u32],
        runtime: &Runtime,
        options: &Options,
        timings: &mut Timings,
    ) -> Result<Self, CompileError> {
        self.module.known_types = known_types.to_vec();
        self.module.first_type = runtime.types.count();
        self.module.is_whole = false;
        pipeline::middle(&mut self.module, options, timings, &mut ());
        self.compiled = pipeline::machine_code(&self.module, options, timings)?;
        let is_lambda = |module: &Module, f: FuncRef| module.functions[f].signature.env;
        for function in self.module.functions.values() {
            self.makes_closures |= function.insts.values().any(|inst| inst.op == Op::NewClosure);
            self.values.extend(static_values(function));
        }
        self.makes_closures |= self.values.iter().any(|&f| is_lambda(&self.module, f));
        Ok(self)
    }

    /// Whether a function is used as a static value.
    pub fn is_value(&self, function: FuncRef) -> bool {
        self.values.contains(&function)
    }

    /// Whether any function is.
    pub fn has_values(&self) -> bool {
        !self.values.is_empty()
    }
}

impl Unit {
    /// Puts a unit in place. Its functions get the numbers from `first` on in the code map.
    pub fn link(draft: &Draft, first: u32, runtime: &mut Runtime) -> Result<Self, super::Failure> {
        let loaded = Loaded { first_function: first, ..draft.module.load(runtime)? };
        let stubs = Stub::ALL.map(Stub::code);
        let linked = jit::link(&draft.module, &draft.compiled, &stubs, &loaded, runtime)
            .map_err(|error| super::Failure::Fault(error.to_string()))?;
        Ok(Self {
            linked,
            module: places(&draft.module),
            named: draft.named.clone(),
            bodies: draft.bodies.clone(),
            globals: draft.globals.clone(),
            mentions: draft.mentions.clone(),
            closures: loaded.closures,
            types: draft.module.closure_type(FuncRef(0))
                ..draft.module.closure_type(draft.module.functions.next_key()),
            pinned: false,
        })
    }
}

/// The functions of a module without their code: what is needed to tell of traps.
fn places(module: &Module) -> Module {
    let bare = module.functions.iter().map(|(id, function)| {
        let mut bare = Function::new(function.name.clone(), id, function.signature.clone());
        bare.locs = function.locs.clone();
        bare
    });
    Module { functions: bare.collect(), ..Module::default() }
}

/// What a function in the variable form uses.
struct Uses {
    functions: Vec<FuncRef>,
    globals: Vec<GlobalId>,
}

impl Uses {
    fn of(function: &Function) -> Self {
        let mut uses = Self { functions: static_values(function).collect(), globals: Vec::new() };
        for inst in function.insts.values() {
            match inst.op {
                Op::Call | Op::NewClosure => uses.functions.push(FuncRef(inst.imm as u32)),
                Op::LoadGlobal | Op::StoreGlobal => uses.globals.push(GlobalId(inst.imm as u32)),
                _ => {}
            }
        }
        uses
    }
}

fn static_values(function: &Function) -> impl Iterator<Item = FuncRef> {
    function.values.values().filter_map(|value| match value.def {
        ValueDef::Const(Const::Func(function)) => Some(function),
        _ => None,
    })
}

/// A function and the function expressions in it, at any depth.
fn with_lambdas(function: FuncRef, uses: &[Uses], module: &Module) -> Vec<FuncRef> {
    let mut found = vec![function];
    let mut next = 0;
    while next < found.len() {
        for &used in &uses[found[next].0 as usize].functions {
            if module.functions[used].signature.env && !found.contains(&used) {
                found.push(used);
            }
        }
        next += 1;
    }
    found
}
