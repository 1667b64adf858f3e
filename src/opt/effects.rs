//! What instructions do beside computing their results, what memory holds, and what references
//! can't be.

use crate::ir::{
    Const, Effects, ElemClass, Function, Global, Inst, Module, Op, Space, Value, ValueDef,
    imm_field,
};
use toyjit_runtime::entry::{self, ENTRIES};
use toyjit_runtime::layout::Slot;

/// The effects of an instruction: of its operator's row, or of the runtime's row that it calls.
pub fn effects(f: &Function, inst: Inst) -> Effects {
    let data = &f.insts[inst];
    if data.op != Op::Rt {
        return data.op.info().effects;
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

/// The memory that an instruction may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clobbers {
    /// None that was there before.
    Nothing,
    /// One location: a space and the `imm` within it.
    Location(Space, u64),
    /// Lengths, buffers and elements of any array: what the runtime's rows write.
    Arrays,
    /// Anything.
    Everything,
}

/// What an instruction may write.
pub fn clobbers(f: &Function, inst: Inst) -> Clobbers {
    let data = &f.insts[inst];
    if !effects(f, inst).has(Effects::WRITES) {
        return Clobbers::Nothing;
    }
    match data.op {
        // It only adds to what may be loaded: what was found good stays so.
        Op::CheckWrite => Clobbers::Nothing,
        Op::Rt => Clobbers::Arrays,
        _ if data.op.info().space == Space::Any => Clobbers::Everything,
        _ => Clobbers::Location(data.op.info().space, data.imm),
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
