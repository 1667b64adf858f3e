//! Whether operands, results and `imm` are what the operator's row asks for.

use super::{Place, Verifier};
use crate::entity::Entity;
use crate::ir::module::imm_field;
use crate::ir::op::{ImmKind, Kind, Op, ResultKind};
use crate::ir::{
    Block, ElemClass, FuncRef, Global, Inst, Structure, Switch, Terminator, Type, Value, slot_type,
};
use toyjit_runtime::{Abi, ENTRIES, Slot};

/// What the thing that an `imm` refers to asks of an instruction, beyond the operator's row.
#[derive(Default)]
struct Wanted {
    /// All operands, where the row leaves them open.
    args: Option<Vec<Type>>,
    /// The operand of any type, or the stated result: the type of what is loaded or stored.
    cell: Option<Type>,
    /// The stated result of a call.
    result: Option<Option<Type>>,
    /// Whether ints may be bools: rows of the runtime take both as words.
    words: bool,
}

impl Verifier<'_> {
    pub(super) fn types(&mut self) {
        let function = self.function;
        for (block, data) in function.blocks.iter() {
            for &inst in &data.insts {
                if let Err(message) = self.inst_types(inst) {
                    self.error(Place::Inst(block, inst), message);
                }
            }
            if let Err(message) = self.terminator_types(block) {
                self.error(Place::Terminator(block), message);
            }
        }
    }

    fn ty(&self, value: Value) -> Type {
        self.function.values[value].ty
    }

    fn inst_types(&self, inst: Inst) -> Result<(), String> {
        let data = &self.function.insts[inst];
        let info = data.op.info();
        let args = self.function.args(inst);
        let wanted = self.wanted(info.imm_kind, data.op, data.imm)?;
        match (info.params, &wanted.args) {
            (Some(kinds), _) => self.kinds(kinds, args, wanted.cell)?,
            (None, Some(types)) => self.exactly(types, args, wanted.words)?,
            // A call of a function value: that the first operand is one.
            (None, None) => match args.first() {
                Some(&callee) if self.ty(callee) == Type::Ref => {}
                _ => return Err("the first operand must be a function value".into()),
            },
        }
        let result = data.result.map(|result| self.ty(result));
        let is_right = match info.result {
            ResultKind::None => result.is_none(),
            ResultKind::Is(ty) => result == Some(ty),
            ResultKind::SameAsLast => result == args.last().map(|&last| self.ty(last)),
            ResultKind::Stated => match (wanted.cell, wanted.result) {
                (Some(ty), _) => result == Some(ty),
                (None, Some(Some(Type::Int))) if wanted.words => {
                    matches!(result, Some(Type::Int | Type::Bool))
                }
                (None, Some(wanted)) => result == wanted,
                (None, None) => true,
            },
        };
        if is_right {
            return Ok(());
        }
        let shown = |ty: Option<Type>| ty.map_or("nothing", Type::name);
        let expected = match info.result {
            ResultKind::None => None,
            ResultKind::Is(ty) => Some(ty),
            ResultKind::SameAsLast => args.last().map(|&last| self.ty(last)),
            ResultKind::Stated => wanted.cell.or(wanted.result.flatten()),
        };
        Err(format!("the result is {}, not {}", shown(expected), shown(result)))
    }

    /// Operands against a row of kinds.
    fn kinds(&self, kinds: &[Kind], args: &[Value], cell: Option<Type>) -> Result<(), String> {
        if args.len() != kinds.len() {
            return Err(format!("{} operands are wanted, not {}", kinds.len(), args.len()));
        }
        let mut word = None;
        let mut any = cell;
        for (i, (&kind, &arg)) in kinds.iter().zip(args).enumerate() {
            let ty = self.ty(arg);
            let wanted = match kind {
                Kind::Is(wanted) => wanted,
                Kind::Word if ty == Type::Bool => *word.get_or_insert(ty),
                Kind::Word => *word.get_or_insert(Type::Int),
                Kind::Any => *any.get_or_insert(ty),
            };
            self.operand(i, arg, wanted)?;
        }
        Ok(())
    }

    /// Operands against a list of types.
    fn exactly(&self, types: &[Type], args: &[Value], words: bool) -> Result<(), String> {
        if args.len() != types.len() {
            return Err(format!("{} operands are wanted, not {}", types.len(), args.len()));
        }
        for (i, (&wanted, &arg)) in types.iter().zip(args).enumerate() {
            let is_word = words && wanted == Type::Int && self.ty(arg) == Type::Bool;
            if !is_word {
                self.operand(i, arg, wanted)?;
            }
        }
        Ok(())
    }

    fn operand(&self, index: usize, arg: Value, wanted: Type) -> Result<(), String> {
        let ty = self.ty(arg);
        if ty == wanted {
            return Ok(());
        }
        let (ty, wanted, arg) = (ty.name(), wanted.name(), self.name(arg));
        Err(format!("operand {} must be {wanted}, but {arg} is {ty}", index + 1))
    }

    /// What an `imm` asks for; an error where it refers to nothing.
    fn wanted(&self, kind: ImmKind, op: Op, imm: u64) -> Result<Wanted, String> {
        let module = self.module;
        let number = usize::try_from(imm).unwrap_or(usize::MAX).min(u32::MAX as usize - 1);
        let cell = |slot: Option<&Slot>, what: &str| match slot {
            Some(&slot) => Ok(Wanted { cell: Some(slot_type(slot)), ..Wanted::default() }),
            None => Err(format!("there is no {what} {imm}")),
        };
        let types = |slots: &mut dyn Iterator<Item = Slot>| Some(slots.map(slot_type).collect());
        match kind {
            ImmKind::None => Ok(Wanted::default()),
            ImmKind::Class => {
                let mut wanted = cell(module.classes.get(ElemClass::new(number)), "element class")?;
                // What the header tells has types of its own.
                if op.info().result != ResultKind::Stated && op.info().result != ResultKind::None {
                    wanted.cell = None;
                }
                Ok(wanted)
            }
            ImmKind::Field => {
                let (structure, field) = imm_field(imm);
                let data = module.structures.get(structure);
                cell(data.and_then(|s| s.fields.get(field as usize)).map(|f| &f.1), "field")
            }
            ImmKind::Global => {
                cell(module.globals.get(Global::new(number)).map(|g| &g.slot), "global")
            }
            ImmKind::Capture => {
                let captures = module.captures.get(self.function.id());
                let captures = captures.filter(|_| self.function.signature.env);
                cell(captures.and_then(|c| c.get(number)), "capture")
            }
            ImmKind::Structure => match module.structures.get(Structure::new(number)) {
                Some(data) => {
                    let args = types(&mut data.fields.iter().map(|f| f.1));
                    Ok(Wanted { args, ..Wanted::default() })
                }
                None => Err(format!("there is no structure {imm}")),
            },
            ImmKind::Function => {
                let id = FuncRef::new(number);
                let Some(callee) = module.functions.get(id) else {
                    return Err(format!("there is no function {imm}"));
                };
                let signature = &callee.signature;
                if op.info().result != ResultKind::Stated {
                    // A new function value.
                    let captures = module.captures.get(id).filter(|_| signature.env);
                    return match captures {
                        Some(captures) => {
                            let args = types(&mut captures.iter().copied());
                            Ok(Wanted { args, ..Wanted::default() })
                        }
                        None => Err("a function without captures is no function value".into()),
                    };
                }
                let env = signature.env.then_some(Type::Ref);
                let args = Some(env.into_iter().chain(signature.params.iter().copied()).collect());
                Ok(Wanted { args, result: Some(signature.result), ..Wanted::default() })
            }
            ImmKind::Row => match ENTRIES.get(number) {
                Some(row) => Ok(Wanted {
                    args: Some(row.params.iter().copied().map(abi_type).collect()),
                    result: Some(row.result.map(abi_type)),
                    words: true,
                    cell: None,
                }),
                None => Err(format!("the runtime has no row {imm}")),
            },
        }
    }

    fn terminator_types(&self, block: Block) -> Result<(), String> {
        match &self.function.blocks[block].terminator {
            Terminator::Branch { op, .. } if !op.is_comparison() => {
                Err(format!("{} is no comparison", op.info().name))
            }
            Terminator::Branch { op, args, .. } => {
                self.kinds(op.info().params.unwrap_or(&[]), args, None)
            }
            Terminator::Switch(switch) => {
                if switch.edges.is_empty() || switch.edges.len() > Switch::MOST_EDGES {
                    return Err(format!("a switch can't have {} edges", switch.edges.len()));
                }
                if let Some(edge) = switch.table.iter().max()
                    && usize::from(*edge) >= switch.edges.len()
                {
                    return Err(format!("there is no edge {edge}"));
                }
                self.exactly(&[Type::Int], &[switch.value], false)
            }
            Terminator::Return(value) => {
                let shown = |ty: Option<Type>| ty.map_or("nothing", Type::name);
                let (given, wanted) =
                    (value.map(|value| self.ty(value)), self.function.signature.result);
                if given == wanted {
                    return Ok(());
                }
                Err(format!("the function gives {}, not {}", shown(wanted), shown(given)))
            }
            Terminator::Jump(_) | Terminator::Unreachable => Ok(()),
        }
    }
}

fn abi_type(abi: Abi) -> Type {
    match abi {
        Abi::Int => Type::Int,
        Abi::Float => Type::Float,
        Abi::Bool => Type::Bool,
        Abi::Ref => Type::Ref,
    }
}
