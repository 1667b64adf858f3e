//! One random function.

use super::{FUEL, NODE, Rng, SLOTS, Shape, TYPES, class};
use crate::entity::Entity;
use crate::ir::module::{Module, field_imm, slot_type};
use crate::ir::op::{Effects, Kind, Op, ResultKind};
use crate::ir::{
    Block, Cfg, Const, Dominators, ENTRY, Edge, Form, FuncRef, Function, Loc, StrRef, Terminator,
    Type, Value, Variable,
};
use crate::source::Span;
use toyjit_runtime::{Rt, Slot};

/// Ints at whose neighbourhood things go wrong.
const INTS: [i64; 16] = [
    0,
    1,
    -1,
    2,
    3,
    7,
    8,
    63,
    64,
    255,
    256,
    0x7FFF_FFFF,
    0x8000_0000,
    -0x8000_0001,
    i64::MAX,
    i64::MIN,
];
/// Floats of every kind.
const FLOATS: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    0.1,
    3.7,
    1e308,
    5e-324,
    9_007_199_254_740_992.0,
    9_223_372_036_854_775_808.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// A function that grows.
pub(super) struct Body<'a> {
    rng: &'a mut Rng,
    module: &'a Module,
    id: FuncRef,
    pub(super) function: Function,
    /// The temporaries that may be used at the current place.
    scope: Vec<Value>,
    variables: Vec<Variable>,
}

impl<'a> Body<'a> {
    pub(super) fn new(rng: &'a mut Rng, module: &'a Module, id: FuncRef, form: Form) -> Self {
        let header = &module.functions[id];
        let mut function = Function::new(header.name.clone(), id, header.signature.clone());
        function.form = form;
        Self { rng, module, id, function, scope: Vec::new(), variables: Vec::new() }
    }

    pub(super) fn generate(mut self, shape: &Shape) -> Function {
        self.skeleton(shape);
        let cfg = Cfg::compute(&self.function);
        let tree = Dominators::compute(&cfg);
        for block in self.function.blocks.keys() {
            if !cfg.is_reachable(block) {
                self.function.blocks[block].terminator = Terminator::Unreachable;
            } else if block != ENTRY && self.function.form == Form::Ssa {
                for _ in 0..self.rng.below(4) {
                    let ty = self.rng.pick(&TYPES);
                    self.function.add_param(block, ty);
                }
            }
        }
        // How much of the scope each open block of the dominator tree leaves to those below it.
        let mut open: Vec<usize> = Vec::new();
        for &block in tree.preorder() {
            open.truncate(tree.depth(block) as usize);
            self.scope.truncate(open.last().copied().unwrap_or(0));
            self.scope.extend(&self.function.blocks[block].params);
            let number = cfg.rpo_number(block);
            if block == ENTRY {
                self.variables();
            }
            if block == ENTRY || cfg.preds(block).any(|pred| cfg.rpo_number(pred) >= number) {
                self.burn(block);
            }
            for _ in 0..self.rng.below(shape.insts + 1) {
                self.inst(block);
            }
            self.end(block);
            open.push(self.scope.len());
        }
        self.function
    }

    /// Blocks with edges that still have no arguments.
    fn skeleton(&mut self, shape: &Shape) {
        let signature = self.function.signature.clone();
        for ty in signature.env.then_some(Type::Ref).into_iter().chain(signature.params) {
            self.function.add_param(ENTRY, ty);
        }
        let count = 1 + self.rng.below(shape.blocks.max(1));
        for _ in 1..count {
            self.function.add_block();
        }
        let zero = self.function.int(0);
        for block in self.function.blocks.keys() {
            let target = |rng: &mut Rng| Edge::to(Block::new(1 + rng.below(count - 1)));
            self.function.blocks[block].terminator = match self.rng.below(10) {
                0 | 1 => Terminator::Return(None),
                _ if count == 1 => Terminator::Return(None),
                2..=4 => Terminator::Jump(target(self.rng)),
                _ => {
                    let edges = [target(self.rng), target(self.rng)];
                    Terminator::Branch { op: Op::IEq, args: [zero, zero], edges }
                }
            };
        }
    }

    /// Declares variables and assigns each a value.
    fn variables(&mut self) {
        if self.function.form == Form::Ssa {
            return;
        }
        for number in 0..1 + self.rng.below(8) {
            let ty = self.rng.pick(&TYPES);
            let value = self.value(ty);
            let name = format!("x{number}");
            let variable = self.function.add_variable(name, ty, Span::default());
            self.function.append_assign(ENTRY, variable, Op::Copy, &[value], 0, Loc(0));
            self.variables.push(variable);
        }
    }

    /// Takes one unit of fuel; traps where there is none.
    fn burn(&mut self, block: Block) {
        let fuel = self.op(block, Op::LoadGlobal, &[], FUEL.0.into(), Some(Type::Int));
        let fuel = self.op(block, Op::CheckDiv, &[fuel], 0, None);
        let one = self.function.int(1);
        let rest = self.op(block, Op::ISub, &[fuel, one], 0, None);
        self.function.append(block, Op::StoreGlobal, &[rest], FUEL.0.into(), None, Loc(0));
    }

    /// Appends an instruction; its result, which later instructions may not find by chance.
    fn op(&mut self, block: Block, op: Op, args: &[Value], imm: u64, ty: Option<Type>) -> Value {
        let inst = self.function.append(block, op, args, imm, ty, Loc(0));
        self.function.insts[inst].result.unwrap_or(Value(0))
    }

    /// Lets later instructions use a value, by itself or through a variable.
    fn publish(&mut self, block: Block, value: Value) {
        let ty = self.function.values[value].ty;
        let of_type = self.variables.iter().filter(|&&x| self.function.variables[x].ty == ty);
        let of_type: Vec<Variable> = of_type.copied().collect();
        if !of_type.is_empty() && self.rng.percent(60) {
            let variable = self.rng.pick(&of_type);
            self.function.append_assign(block, variable, Op::Copy, &[value], 0, Loc(0));
        }
        self.scope.push(value);
    }

    /// Some value of a type.
    fn value(&mut self, ty: Type) -> Value {
        let env = self.function.signature.env.then(|| self.function.blocks[ENTRY].params[0]);
        let has_type = |&value: &Value| self.function.values[value].ty == ty && Some(value) != env;
        if self.rng.percent(85) {
            let variables = self.variables.iter().map(|&x| self.function.variables[x].value);
            // The latest dozen or any: near uses and far ones.
            let skip = match self.rng.percent(60) {
                true => self.scope.len().saturating_sub(12),
                false => 0,
            };
            let scope = self.scope[skip..].iter().copied();
            let known: Vec<Value> = variables.chain(scope).filter(has_type).collect();
            if !known.is_empty() {
                return self.rng.pick(&known);
            }
        }
        self.constant(ty)
    }

    fn constant(&mut self, ty: Type) -> Value {
        let constant = match ty {
            Type::Int if self.rng.percent(15) => Const::Int(self.rng.bits() as i64),
            Type::Int => Const::Int(self.rng.pick(&INTS)),
            Type::Float => Const::Float(self.rng.pick(&FLOATS).to_bits()),
            Type::Bool => Const::Bool(self.rng.percent(50)),
            Type::Ref => Const::Nil,
        };
        self.function.constant(constant)
    }

    /// Operands for a row of the table.
    fn operands(&mut self, kinds: &[Kind]) -> Vec<Value> {
        let word = if self.rng.percent(70) { Type::Int } else { Type::Bool };
        let any = self.rng.pick(&TYPES);
        let types = kinds.iter().map(|kind| match *kind {
            Kind::Is(ty) => ty,
            Kind::Word => word,
            Kind::Any => any,
        });
        types.map(|ty| self.value(ty)).collect()
    }

    /// Appends something.
    fn inst(&mut self, block: Block) {
        match self.rng.below(100) {
            0..60 => self.pure(block),
            60..66 => self.divide(block),
            66..70 => self.new_node(block),
            70..78 => self.use_node(block),
            78..84 => self.use_global(block),
            84..89 => self.array(block),
            89..91 => self.string(block),
            91..96 => {
                let later = self.module.functions.len() - self.id.index() - 1;
                if later > 0 {
                    let callee = FuncRef::new(self.id.index() + 1 + self.rng.below(later));
                    if let Some(result) = self.call(block, callee) {
                        self.publish(block, result);
                    }
                }
            }
            _ => {
                let ty = self.rng.pick(&TYPES[..3]);
                let value = self.value(ty);
                self.print(block, value);
            }
        }
    }

    fn pure(&mut self, block: Block) {
        let op = loop {
            let op = self.rng.pick(Op::ALL);
            let info = op.info();
            let is_total = !matches!(op, Op::SDiv | Op::SRem) && info.effects == Effects::NONE;
            if (info.eval.is_some() && is_total) || matches!(op, Op::REq | Op::RNe) {
                break op;
            }
        };
        let args = self.operands(op.info().params.unwrap_or(&[]));
        let ty = match op.info().result {
            ResultKind::Is(ty) => Some(ty),
            _ => args.last().map(|&last| self.function.values[last].ty),
        };
        // In the variable form half of the results go straight into a variable.
        let of_type = self.variables.iter().filter(|&&x| Some(self.function.variables[x].ty) == ty);
        let of_type: Vec<Variable> = of_type.copied().collect();
        if !of_type.is_empty() && self.rng.percent(50) {
            let variable = self.rng.pick(&of_type);
            self.function.append_assign(block, variable, op, &args, 0, Loc(0));
        } else {
            let value = self.op(block, op, &args, 0, None);
            self.publish(block, value);
        }
    }

    fn divide(&mut self, block: Block) {
        let (dividend, mut divisor) = (self.value(Type::Int), self.value(Type::Int));
        if self.function.as_const(divisor).is_none_or(|c| c == Const::Int(0)) {
            // Mostly it can't trap.
            if self.rng.percent(85) {
                let one = self.function.int(1);
                divisor = self.op(block, Op::IOr, &[divisor, one], 0, None);
            }
            divisor = self.op(block, Op::CheckDiv, &[divisor], 0, None);
        }
        let op = self.rng.pick(&[Op::SDiv, Op::SRem]);
        let value = self.op(block, op, &[dividend, divisor], 0, None);
        self.publish(block, value);
    }

    fn new_node(&mut self, block: Block) {
        let fields = SLOTS.map(|(_, slot)| self.value(slot_type(slot)));
        let value = self.op(block, Op::NewStruct, &fields, NODE.0.into(), None);
        self.publish(block, value);
    }

    fn use_node(&mut self, block: Block) {
        let is_object = |&&value: &&Value| {
            let op = self.function.def_inst(value).map(|inst| self.function.insts[inst].op);
            op == Some(Op::NewStruct)
        };
        let objects: Vec<Value> = self.scope.iter().filter(is_object).copied().collect();
        let object = match self.rng.percent(90) {
            true if objects.is_empty() => return self.new_node(block),
            true => self.rng.pick(&objects),
            false => self.value(Type::Ref),
        };
        let object = self.op(block, Op::CheckNil, &[object], 0, None);
        let number = self.rng.below(SLOTS.len());
        let (imm, ty) = (field_imm(NODE, number as u32), slot_type(SLOTS[number].1));
        if self.rng.percent(60) {
            let value = self.op(block, Op::LoadField, &[object], imm, Some(ty));
            self.publish(block, value);
        } else {
            let value = self.value(ty);
            self.function.append(block, Op::StoreField, &[object, value], imm, None, Loc(0));
        }
    }

    fn use_global(&mut self, block: Block) {
        let number = self.rng.below(SLOTS.len());
        let (imm, ty) = (1 + number as u64, slot_type(SLOTS[number].1));
        if self.rng.percent(60) {
            let value = self.op(block, Op::LoadGlobal, &[], imm, Some(ty));
            self.publish(block, value);
        } else {
            let value = self.value(ty);
            self.function.append(block, Op::StoreGlobal, &[value], imm, None, Loc(0));
        }
    }

    /// Makes an array, fills it, sets an element and reads one.
    fn array(&mut self, block: Block) {
        let (slot, rt) = self.rng.pick(&[
            (Slot::Int, Rt::ArrayFillInt),
            (Slot::Bool, Rt::ArrayFillInt),
            (Slot::Byte, Rt::ArrayFillInt),
            (Slot::Float, Rt::ArrayFillFloat),
            (Slot::Ref, Rt::ArrayFillRef),
        ]);
        let ty = slot_type(slot);
        let element = |body: &mut Self| match slot {
            Slot::Byte => {
                let (value, mask) = (body.value(Type::Int), body.function.int(255));
                body.op(block, Op::IAnd, &[value, mask], 0, None)
            }
            _ => body.value(ty),
        };
        let first = element(self);
        let size = if self.rng.percent(90) { 4 } else { self.rng.below(4) as i64 };
        let (kind, size) = (self.function.int(slot as i64), self.function.int(size));
        let args = if rt == Rt::ArrayFillInt { vec![kind, first, size] } else { vec![first, size] };
        let array = self.op(block, Op::Rt, &args, rt as u64, Some(Type::Ref));
        let mask = self.function.int(3);
        let place = |body: &mut Self| {
            let mut index = body.value(Type::Int);
            if body.rng.percent(95) {
                index = body.op(block, Op::IAnd, &[index, mask], 0, None);
            }
            let len = body.op(block, Op::ArrayLen, &[array], class(slot), None);
            let index = body.op(block, Op::CheckBounds, &[index, len], 0, None);
            let data = body.op(block, Op::ArrayData, &[array], class(slot), None);
            [data, index]
        };
        let [data, index] = place(self);
        let value = element(self);
        let args = [data, index, value];
        self.function.append(block, Op::StoreElem, &args, class(slot), None, Loc(0));
        let args = place(self);
        let value = self.op(block, Op::LoadElem, &args, class(slot), Some(ty));
        self.publish(block, value);
    }

    fn string(&mut self, block: Block) {
        let strings = self.module.strings.len();
        let number = if self.rng.percent(95) { strings - 1 } else { self.rng.below(strings) };
        let string = StrRef::new(number);
        let string = self.function.constant(Const::Str(string));
        let len = self.op(block, Op::StrLen, &[string], 0, None);
        let (index, mask) = (self.value(Type::Int), self.function.int(7));
        let index = self.op(block, Op::IAnd, &[index, mask], 0, None);
        let index = self.op(block, Op::CheckBounds, &[index, len], 0, None);
        let byte = self.op(block, Op::StrByte, &[string, index], 0, None);
        self.publish(block, byte);
    }

    /// Calls a function, by name or as a value; its result, if it has one.
    pub(super) fn call(&mut self, block: Block, callee: FuncRef) -> Option<Value> {
        let signature = self.module.functions[callee].signature.clone();
        let captures = &self.module.captures[callee];
        let mut args: Vec<Value> = signature.params.iter().map(|&ty| self.value(ty)).collect();
        let (op, imm) = if signature.env {
            let values: Vec<Value> =
                captures.iter().map(|&slot| self.value(slot_type(slot))).collect();
            let closure = self.op(block, Op::NewClosure, &values, callee.0.into(), None);
            args.insert(0, closure);
            (Op::CallValue, 0)
        } else if self.rng.percent(20) {
            args.insert(0, self.function.constant(Const::Func(callee)));
            (Op::CallValue, 0)
        } else {
            (Op::Call, callee.0.into())
        };
        let inst = self.function.append(block, op, &args, imm, signature.result, Loc(0));
        self.function.insts[inst].result
    }

    /// Prints a value and a space. Of a reference, whether it is nil.
    pub(super) fn print(&mut self, block: Block, value: Value) {
        let (value, rt) = match self.function.values[value].ty {
            Type::Int => (value, Rt::PrintInt),
            Type::Float => (value, Rt::PrintFloat),
            Type::Bool => (value, Rt::PrintBool),
            Type::Ref => {
                let nil = self.function.constant(Const::Nil);
                (self.op(block, Op::REq, &[value, nil], 0, None), Rt::PrintBool)
            }
        };
        self.function.append(block, Op::Rt, &[value], rt as u64, None, Loc(0));
        self.function.append(block, Op::Rt, &[], Rt::PrintSpace as u64, None, Loc(0));
    }

    /// Gives the block's end its operands and arguments.
    fn end(&mut self, block: Block) {
        let mut terminator = self.function.blocks[block].terminator.clone();
        match &mut terminator {
            Terminator::Return(value) => {
                *value = self.function.signature.result.map(|ty| self.value(ty));
            }
            Terminator::Branch { op, args, .. } => {
                let comparisons: Vec<Op> =
                    Op::ALL.iter().copied().filter(|op| op.is_comparison()).collect();
                *op = self.rng.pick(&comparisons);
                let operands = self.operands(op.info().params.unwrap_or(&[]));
                *args = [operands[0], operands[1]];
            }
            Terminator::Jump(_) | Terminator::Unreachable => {}
        }
        for edge in terminator.edges_mut() {
            let params = self.function.blocks[edge.target].params.clone();
            let types = params.iter().map(|&param| self.function.values[param].ty);
            edge.args = types.collect::<Vec<_>>().into_iter().map(|ty| self.value(ty)).collect();
        }
        self.function.blocks[block].terminator = terminator;
    }
}
