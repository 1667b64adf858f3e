//! What instructions do beside computing their results, what memory holds, and what references
//! can't be.

use crate::ir::{
    Const, Effects, ElemClass, Function, Global, Inst, Module, Op, Space, Summary, Value, ValueDef,
    Writes, imm_field,
};
use toyjit_runtime::entry::{self, ENTRIES};
use toyjit_runtime::layout::Slot;

/// The effects of an instruction: of its operator's row, of the runtime's row or of the function
/// that it calls.
pub fn effects(module: &Module, f: &Function, inst: Inst) -> Effects {
    let data = &f.insts[inst];
    match data.op {
        Op::Rt => {}
        Op::Call => return summary(module, data.imm).map_or(Effects::ALL, |s| s.effects),
        op => return op.info().effects,
    }
    let Some(row) = ENTRIES.get(data.imm as usize) else { return Effects::ALL };
    let pairs = [
        (entry::Effects::READS, Effects::READS),
        (entry::Effects::WRITES, Effects::WRITES),
        (entry::Effects::ALLOCATES, Effects::ALLOCATES),
        (entry::Effects::TRAPS, Effects::TRAPS),
        (entry::Effects::DIVERGES, Effects::TRAPS),
        (entry::Effects::IO, Effects::IO),
    ];
    let has = pairs.iter().filter(|(of_row, _)| row.effects.contains(*of_row));
    has.fold(Effects::NONE, |all, &(_, effect)| all.and(effect))
}

/// What is known of calls of a function.
fn summary(module: &Module, imm: u64) -> Option<&Summary> {
    module.summaries.get(imm as usize)
}

/// The memory that an instruction may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clobbers<'a> {
    /// None that was there before.
    Nothing,
    /// One location: a space and the `imm` within it.
    Location(Space, u64),
    /// Lengths, buffers and elements of any array: what the runtime's rows write.
    Arrays,
    /// What a called function writes.
    Set(&'a Writes),
    /// Anything.
    Everything,
}

/// What an instruction may write.
pub fn clobbers<'a>(module: &'a Module, f: &Function, inst: Inst) -> Clobbers<'a> {
    let data = &f.insts[inst];
    if !effects(module, f, inst).has(Effects::WRITES) {
        return Clobbers::Nothing;
    }
    match data.op {
        // It only adds to what may be loaded: what was found good stays so.
        Op::CheckWrite => Clobbers::Nothing,
        Op::Rt => Clobbers::Arrays,
        Op::Call => {
            summary(module, data.imm).map_or(Clobbers::Everything, |s| Clobbers::Set(&s.writes))
        }
        _ if data.op.info().space == Space::Any => Clobbers::Everything,
        _ => Clobbers::Location(data.op.info().space, data.imm),
    }
}

/// Adds what an instruction writes to a set, in no order.
pub fn add(writes: &mut Writes, clobbers: Clobbers<'_>) {
    match clobbers {
        Clobbers::Nothing => {}
        Clobbers::Location(space, imm) => writes.locations.push((space, imm)),
        Clobbers::Arrays => writes.arrays = true,
        Clobbers::Set(set) => writes.add_all(set),
        Clobbers::Everything => writes.everything = true,
    }
}

/// Whether a reference is seen not to be nil from where it comes from.
pub fn is_never_nil(f: &Function, value: Value) -> bool {
    match f.values[value].def {
        ValueDef::Const(constant) => matches!(constant, Const::Str(_) | Const::Func(_)),
        ValueDef::Inst(inst) => {
            matches!(f.insts[inst].op, Op::CheckNil | Op::NewStruct | Op::NewClosure)
        }
        _ => false,
    }
}

/// What a location holds.
pub fn slot(module: &Module, space: Space, imm: u64) -> Option<Slot> {
    match space {
        Space::Elements => module.classes.get(ElemClass(imm as u32)).copied(),
        Space::Global => Some(module.globals.get(Global(imm as u32))?.slot),
        Space::Field => {
            let (structure, field) = imm_field(imm);
            Some(module.structures.get(structure)?.fields.get(field as usize)?.1)
        }
        _ => None,
    }
}
