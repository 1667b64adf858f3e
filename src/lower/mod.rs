//! Lowering: the typed tree to the variable form of the IR.
//!
//! Functions, structs and globals keep their numbers. A local variable of the source becomes a
//! variable of the IR, everything else is a temporary; an expression whose value goes to a variable
//! assigns it directly, so that `d = x * 2` is one instruction. Conditions become branches that
//! carry their comparison.
//!
//! The order of evaluation is the language's: what is evaluated first stands first, and checks
//! stand where the language puts them (LANGUAGE.md §4, §5, §9.6). An expression never assigns a
//! local variable, so that an operand that is one may be read at any time before the statement ends.
//!
//! Statements that no path reaches are lowered too, since the checks on the flow want their facts;
//! their blocks are emptied at the end of each function.
//!
//! `hir::Program` → [`Lowered`]: the module, and the facts for `analysis::check_flow`. The program
//! must have been checked without an error. It recurses on nesting only.

mod builder;
mod builtin;
mod condition;
mod expr;
mod loops;
mod matching;
mod operator;
mod place;
mod stmt;
mod tables;
mod tidy;

use crate::analysis::facts::{Facts, GlobalFacts};
use crate::entity::{Entity, SideTable};
use crate::ir::module::{GlobalData, StructureData};
use crate::ir::{self, FuncRef, Module};
use crate::sema::hir::{self, Program, StmtKind};
use crate::sema::hir::{FuncId, GlobalId};
use crate::source::Interner;
use builder::Builder;
use tables::{Place, Tables};

pub use tables::slot_of;

/// A lowered program.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The code, in the variable form.
    pub module: Module,
    /// What the checks on the flow of control need to know.
    pub facts: Facts,
}

/// Lowers a checked program.
pub fn lower(program: &Program, interner: &Interner) -> Lowered {
    let mut tables = Tables::new(program);
    let mut lowered = Lowered { module: declarations(program, interner), facts: facts(program) };
    if program.hosts > 0 {
        let mut places = SideTable::with_len(None, program.functions.len());
        for id in program.functions.keys() {
            places[id] = Some(match id.0.checked_sub(program.hosts as u32) {
                Some(number) => Place::Here(FuncRef(number)),
                None => Place::Slot(GlobalId(id.0)),
            });
        }
        tables.moved = Some(places);
        lowered.module.script = Some(tables.here(program.script));
        if let (Some(main), Some(of)) = (&mut lowered.module.main, program.main) {
            main.0 = tables.here(of.function);
        }
        for slot in (0..program.hosts).map(ir::Global::new) {
            lowered.facts.globals[slot].known = true;
        }
    }
    for id in program.functions.keys().skip(program.hosts) {
        add(&mut lowered, program, interner, &mut tables, id);
    }
    lowered.module.classes = tables.class_slots;
    lowered.module.strings = tables.strings;
    lowered
}

/// A part of a program: what is compiled together, while the rest was compiled before.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// Its functions, which stand in the module in this order; the script among them.
    pub functions: &'a [FuncId],
    /// For the named functions compiled before: the global that holds the function's value.
    pub slots: &'a SideTable<FuncId, Option<GlobalId>>,
    /// The globals that it declares; all others have had their values.
    pub globals: &'a [GlobalId],
}

/// Lowers a part of a checked program. Globals that it declares must have their values at its end.
pub fn lower_unit(program: &Program, interner: &Interner, unit: &Unit<'_>) -> Lowered {
    let mut tables = Tables::new(program);
    let mut places = SideTable::with_len(None, program.functions.len());
    for id in program.functions.keys() {
        places[id] = unit.slots[id].map(Place::Slot);
    }
    for (number, &id) in unit.functions.iter().enumerate() {
        places[id] = Some(Place::Here(FuncRef(number as u32)));
    }
    tables.moved = Some(places);
    tables.is_unit = true;
    let mut lowered = Lowered { module: declarations(program, interner), facts: facts(program) };
    lowered.module.script = Some(tables.here(program.script));
    for global in lowered.facts.globals.values_mut() {
        global.known = true;
    }
    for &id in unit.globals {
        lowered.facts.globals[ir::Global(id.0)].known = false;
    }
    for &id in unit.functions {
        add(&mut lowered, program, interner, &mut tables, id);
    }
    lowered.module.classes = tables.class_slots;
    lowered.module.strings = tables.strings;
    lowered
}

/// Lowers a function and adds it to the module.
fn add(
    lowered: &mut Lowered,
    program: &Program,
    interner: &Interner,
    tables: &mut Tables,
    id: FuncId,
) {
    let function = &program.functions[id];
    let (code, about) = Builder::new(program, interner, tables, id).function(function);
    let local_slot = |local| slot_of(function.locals[local].ty);
    let captures = function.captures.iter().map(|c| local_slot(c.inner)).collect();
    lowered.module.captures.push(captures);
    lowered.module.names.push(function.name.map(|name| interner.name(name).to_owned()));
    lowered.module.functions.push(code);
    lowered.facts.functions.push(about);
}

/// The module without code and literals.
fn declarations(program: &Program, interner: &Interner) -> Module {
    let name = |symbol| interner.name(symbol).to_owned();
    let structures = program.structs.values().map(|structure| StructureData {
        name: name(structure.name),
        fields: structure.fields.iter().map(|&(f, ty)| (name(f), slot_of(ty))).collect(),
    });
    let globals = program.globals.values().map(|global| GlobalData {
        mutable: global.mutable,
        ..GlobalData::new(name(global.name), slot_of(global.ty))
    });
    let main = program.main.map(|m| (FuncRef(m.function.0), m.takes_args, m.returns_int));
    Module {
        structures: structures.collect(),
        globals: globals.collect(),
        script: Some(FuncRef(program.script.0)),
        main,
        ..Module::default()
    }
}

/// The facts that belong to no function.
fn facts(program: &Program) -> Facts {
    let statements = &program.functions[program.script].body.statements;
    let global =
        |g: &hir::Global| GlobalFacts { span: g.span, statement: 0, late: false, known: false };
    let mut facts = Facts {
        globals: program.globals.values().map(global).collect(),
        statements: statements.iter().map(|s| s.span).collect(),
        ..Facts::default()
    };
    for (index, statement) in statements.iter().enumerate() {
        if let StmtKind::Global { global, value } = &statement.kind {
            let about = &mut facts.globals[ir::Global(global.0)];
            about.statement = index as u32;
            about.late = value.is_none();
        }
    }
    facts
}

#[cfg(test)]
mod tests;
