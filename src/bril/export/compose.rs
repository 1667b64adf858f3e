//! What Bril has no operation for, composed of what it has; and calls of the runtime.

use super::{Write, Writer, refuse};
use crate::bril::ast::{Code, Name};
use crate::bril::program::Ty;
use crate::ir::{Const, Form, Op, Type, Value};
use toyjit_runtime::Rt;

impl Writer<'_> {
    pub(super) fn compare(&mut self, dest: Name, op: Op, args: &[Value]) -> Write<()> {
        let bools = self.f.values[args[0]].ty == Type::Bool;
        match op {
            Op::IEq | Op::INe if bools => {
                if let Some((value, wanted)) = self.tested(op, args) {
                    return self.equals(dest, value, wanted);
                }
                if let [Some(a), Some(b)] = [0, 1].map(|i| self.f.as_const(args[i])) {
                    let held = self.constant(Const::Bool((a == b) == (op == Op::IEq)))?;
                    self.value_inst(dest, Ty::BOOL, "id", &[held]);
                    return Ok(());
                }
                let (a, b) = (self.arg(args[0])?, self.arg(args[1])?);
                match op {
                    Op::INe => self.exclusive_or(dest, a, b),
                    _ => {
                        let differ = self.fresh_name();
                        self.exclusive_or(differ, a, b);
                        self.value_inst(dest, Ty::BOOL, "not", &[differ]);
                    }
                }
                return Ok(());
            }
            _ => {}
        }
        let args = [self.arg(args[0])?, self.arg(args[1])?];
        let (name, negated) = match op {
            Op::IEq => ("eq", false),
            Op::INe => ("eq", true),
            Op::ILt => ("lt", false),
            Op::ILe => ("le", false),
            Op::IGt => ("gt", false),
            Op::IGe => ("ge", false),
            Op::FEq => ("feq", false),
            Op::FNe => ("feq", true),
            Op::FLt => ("flt", false),
            Op::FLe => ("fle", false),
            Op::FGt => ("fgt", false),
            Op::FGe => ("fge", false),
            op => return refuse(format!("`{}`", op.info().name)),
        };
        if negated {
            let held = self.temporary(Ty::BOOL, name, &args);
            self.value_inst(dest, Ty::BOOL, "not", &[held]);
        } else {
            self.value_inst(dest, Ty::BOOL, name, &args);
        }
        Ok(())
    }

    /// The buffer that goes with one of indices.
    fn region_of(&self, offsets: Value) -> Option<Value> {
        let insts = self.f.blocks.values().flat_map(|data| &data.insts);
        let mut structs = insts.filter(|&&inst| self.f.insts[inst].op == Op::NewStruct);
        let found = structs.find(|&&inst| self.f.args(inst).get(3) == Some(&offsets));
        found.map(|&inst| self.f.args(inst)[2])
    }

    /// The bool that a comparison looks at, and what it must be.
    pub(super) fn tested(&self, op: Op, args: &[Value]) -> Option<(Value, bool)> {
        let wanted = |bool: bool| bool == (op == Op::IEq);
        match (op, [0, 1].map(|i| self.f.as_const(args[i]))) {
            (Op::IEq | Op::INe, [Some(Const::Bool(bool)), None]) => Some((args[1], wanted(bool))),
            (Op::IEq | Op::INe, [None, Some(Const::Bool(bool))]) => Some((args[0], wanted(bool))),
            _ => None,
        }
    }

    /// Whether a bool is this one.
    fn equals(&mut self, dest: Name, value: Value, wanted: bool) -> Write<()> {
        let value = self.arg(value)?;
        self.value_inst(dest, Ty::BOOL, if wanted { "id" } else { "not" }, &[value]);
        Ok(())
    }

    pub(super) fn exclusive_or(&mut self, dest: Name, a: Name, b: Name) {
        let either = self.temporary(Ty::BOOL, "or", &[a, b]);
        let both = self.temporary(Ty::BOOL, "and", &[a, b]);
        let not_both = self.temporary(Ty::BOOL, "not", &[both]);
        self.value_inst(dest, Ty::BOOL, "and", &[either, not_both]);
    }

    /// `dest = if condition { yes } else { no }`
    pub(super) fn choose(&mut self, dest: Name, ty: Ty, condition: Name, yes: Name, no: Name) {
        let chosen = self.fresh_name();
        let at = self.fresh;
        self.fresh += 1;
        let [end, other] = [format!("s{at}"), format!("s{at}.no")].map(|text| self.intern(&text));
        self.effect("set", &[chosen, yes]);
        self.branch(condition, end, other);
        self.body.push(Code::Label(other));
        self.effect("set", &[chosen, no]);
        self.body.push(Code::Label(end));
        self.value_inst(chosen, ty, "get", &[]);
        self.value_inst(dest, ty, "id", &[chosen]);
    }

    /// A call of the runtime.
    pub(super) fn row(&mut self, row: u64, result: Option<Value>, args: &[Value]) -> Write<()> {
        let Some(&row) = Rt::ALL.get(row as usize) else { return refuse("the runtime") };
        match row {
            Rt::PrintInt | Rt::PrintBool | Rt::PrintBrilFloat => {
                let arg = self.arg(args[0])?;
                // The variable may change before the line ends.
                let ty = self.bril_ty(args[0])?;
                let held = match self.f.form {
                    Form::Ssa => arg,
                    Form::Variable => self.temporary(ty, "id", &[arg]),
                };
                self.line.push(held);
            }
            Rt::PrintChar => {
                let arg = self.arg(args[0])?;
                let character = self.temporary(Ty::CHAR, "int2char", &[arg]);
                self.line.push(character);
            }
            Rt::PrintSpace => {}
            Rt::PrintNewline => {
                let line = std::mem::take(&mut self.line);
                self.effect("print", &line);
            }
            Rt::Panic => {
                let zero = self.constant(Const::Int(0))?;
                self.temporary(Ty::INT, "div", &[zero, zero]);
            }
            Rt::CharOf => {
                let arg = self.arg(args[0])?;
                let character = self.temporary(Ty::CHAR, "int2char", &[arg]);
                if let Some(result) = result {
                    let dest = self.name(result);
                    self.value_inst(dest, Ty::INT, "char2int", &[character]);
                }
            }
            Rt::FloatBits | Rt::FloatOfBits => {
                let arg = self.arg(args[0])?;
                let (op, ty) = match row {
                    Rt::FloatBits => ("float2bits", Ty::INT),
                    _ => ("bits2float", Ty::FLOAT),
                };
                if let Some(result) = result {
                    let dest = self.name(result);
                    self.value_inst(dest, ty, op, &[arg]);
                }
            }
            Rt::RegionNew => {
                let count = self.arg(args[1])?;
                let Some(result) = result else { return refuse("memory that nothing holds") };
                let (dest, ty) = (self.name(result), self.bril_ty(result)?);
                self.value_inst(dest, ty, "alloc", &[count]);
            }
            Rt::RegionOffsets => {
                // Another name of the region whose indices these are.
                let region = result.and_then(|result| self.region_of(result));
                if let (Some(result), Some(region)) = (result, region) {
                    return self.alias(Some(result), region);
                }
            }
            Rt::RegionFree => {
                let pointer = self.place(args[0], args[1])?;
                self.effect("free", &[pointer]);
            }
            row => return refuse(format!("`{}`", row.entry().name)),
        }
        Ok(())
    }
}
