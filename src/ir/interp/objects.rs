//! The operators that have no evaluation function: on objects, globals, and calls.
//!
//! Each looks at the object before it trusts it, so that code which lost a check ends in a fault
//! that says so, not in a crash.

use super::{Interpreter, Stop, Trap, fault};
use crate::entity::Entity;
use crate::ir::{ElemClass, FuncRef, Global, Op, Structure, imm_field};
use toyjit_runtime::{ENTRIES, Rt, Slot, TypeInfo};

/// Identity of references.
pub(super) fn identity(op: Op, args: &[u64]) -> Option<u64> {
    match (op, args) {
        (Op::REq, [a, b]) => Some(u64::from(a == b)),
        (Op::RNe, [a, b]) => Some(u64::from(a != b)),
        _ => None,
    }
}

impl Interpreter<'_> {
    /// Does what an operator says; its result, if it has one already.
    pub(super) fn object_op(
        &mut self,
        op: Op,
        imm: u64,
        args: &[u64],
    ) -> Result<Option<u64>, Stop> {
        let index = imm as usize;
        let result = match (op, args) {
            (Op::REq | Op::RNe, _) => return Ok(identity(op, args)),
            (Op::CheckNil, &[object]) => match object {
                0 => return Err(Trap::Nil.into()),
                _ => object,
            },
            (Op::CheckRead | Op::CheckWrite, &[region, at]) => {
                self.field(region, imm)?;
                let check = match op {
                    Op::CheckRead => Rt::RegionRead,
                    _ => Rt::RegionWrite,
                };
                (check.entry().call)(self.runtime, &[region, at])?;
                at
            }
            (Op::StrLen, &[string]) => self.runtime.str_len(self.string(string)?),
            (Op::StrByte, &[string, at]) => {
                let bytes = self.runtime.str_bytes(self.string(string)?);
                match usize::try_from(at).ok().and_then(|at| bytes.get(at)) {
                    Some(&byte) => u64::from(byte),
                    None => return fault("str_byte past the string's end"),
                }
            }
            (Op::ArrayLen, &[array]) => self.runtime.array_len(self.array(array, imm)?),
            (Op::ArrayData, &[array]) => self.runtime.array_data(self.array(array, imm)?),
            (Op::LoadElem, &[buffer, at]) => match self.runtime.buffer_get(buffer, at as i64) {
                Some(word) => word,
                None => return fault("load_elem past the buffer's end"),
            },
            (Op::StoreElem, &[buffer, at, value]) => {
                match self.runtime.buffer_set(buffer, at as i64, value) {
                    Some(()) => return Ok(None),
                    None => return fault("store_elem past the buffer's end"),
                }
            }
            (Op::LoadField, &[object]) => {
                let field = self.field(object, imm)?;
                self.runtime.field(object, field)
            }
            (Op::StoreField, &[object, value]) => {
                let field = self.field(object, imm)?;
                self.runtime.set_field(object, field, value);
                return Ok(None);
            }
            (Op::LoadGlobal, &[]) => self.runtime.global(self.global(imm)?),
            (Op::StoreGlobal, &[value]) => {
                let global = self.global(imm)?;
                self.runtime.set_global(global, value);
                return Ok(None);
            }
            (Op::LoadCapture, &[closure]) => {
                let captures = self.captures(closure)?;
                if index >= captures {
                    return fault("load_capture of a capture that does not exist");
                }
                self.runtime.capture(closure, index as u32)
            }
            (Op::NewStruct, fields) => {
                let id = self.module.struct_type(Structure::new(index));
                self.runtime.alloc_struct(id, fields)?
            }
            (Op::NewClosure, captures) => {
                let id = self.module.closure_type(FuncRef::new(index));
                self.runtime.alloc_closure(id, imm, captures)?
            }
            (Op::Call, _) => {
                self.enter(FuncRef::new(index), args)?;
                return Ok(None);
            }
            (Op::CallValue, &[closure, ref rest @ ..]) => {
                self.captures(closure)?;
                let function = FuncRef::new(self.runtime.code_of(closure) as usize);
                let takes_env =
                    self.module.functions.get(function).is_some_and(|f| f.signature.env);
                self.enter(function, if takes_env { args } else { rest })?;
                return Ok(None);
            }
            (Op::Rt, _) => match ENTRIES.get(index) {
                Some(row) => (row.call)(self.runtime, args)?,
                None => return fault("rt of no row"),
            },
            (op, _) => return fault(format!("{} has no meaning here", op.info().name)),
        };
        Ok(Some(result))
    }

    fn info(&self, object: u64) -> Option<&TypeInfo> {
        (object != 0).then(|| self.runtime.types.info(self.runtime.type_of(object)))
    }

    fn string(&self, object: u64) -> Result<u64, Stop> {
        match self.info(object) {
            Some(TypeInfo::Str) => Ok(object),
            _ => fault("this is no string"),
        }
    }

    fn array(&self, object: u64, class: u64) -> Result<u64, Stop> {
        let class: Option<&Slot> = self.module.classes.get(ElemClass::new(class as usize));
        match self.info(object) {
            Some(TypeInfo::Array(slot)) if Some(slot) == class => Ok(object),
            _ => fault("this is no array of this class"),
        }
    }

    /// The number of a field that the object has.
    fn field(&self, object: u64, imm: u64) -> Result<u32, Stop> {
        let (structure, field) = imm_field(imm);
        let fields = self.module.structures.get(structure).map_or(0, |data| data.fields.len());
        let id = self.module.struct_type(structure);
        if object == 0 || self.runtime.type_of(object) != id || field as usize >= fields {
            return fault("this is no struct with this field");
        }
        Ok(field)
    }

    fn global(&self, imm: u64) -> Result<u32, Stop> {
        match u32::try_from(imm) {
            Ok(global) if self.module.globals.get(Global(global)).is_some() => Ok(global),
            _ => fault("there is no such global"),
        }
    }

    /// How many captures a function value has.
    fn captures(&self, object: u64) -> Result<usize, Stop> {
        match self.info(object) {
            Some(TypeInfo::Closure { captures, .. }) => Ok(captures.len()),
            _ => fault("this is no function value"),
        }
    }
}
