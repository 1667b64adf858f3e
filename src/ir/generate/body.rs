//! One random function.

use super::{FUEL, Rng, Shape, TYPES};
use crate::entity::Entity;
use crate::ir::module::Module;
use crate::ir::op::{Effects, Kind, Op, ResultKind};
use crate::ir::{
    Block, Cfg, Const, Dominators, ENTRY, Edge, Form, FuncRef, Function, Loc, Terminator, Type,
    Value, Variable,
};
use crate::source::Span;

/// Ints at whose neighbourhood things go wrong.
const INTS: [i64; 17] = [
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
    1 << 31,
    -1 << 31,
    u32::MAX as i64,
    1 << 32,
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
    pub(super) rng: &'a mut Rng,
    pub(super) module: &'a Module,
    id: FuncRef,
    pub(super) function: Function,
    /// The temporaries that may be used at the current place.
    pub(super) scope: Vec<Value>,
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
                0..=2 => Terminator::Return(None),
                _ if count == 1 => Terminator::Return(None),
                3..=4 => Terminator::Jump(target(self.rng)),
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
    pub(super) fn op(
        &mut self,
        block: Block,
        op: Op,
        args: &[Value],
        imm: u64,
        ty: Option<Type>,
    ) -> Value {
        let inst = self.function.append(block, op, args, imm, ty, Loc(0));
        self.function.insts[inst].result.unwrap_or(Value(0))
    }

    /// Lets later instructions use a value, by itself or through a variable.
    pub(super) fn publish(&mut self, block: Block, value: Value) {
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
    pub(super) fn value(&mut self, ty: Type) -> Value {
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
            0..57 => self.pure(block),
            57..60 => self.choose_by_opposite(block),
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

    /// Gives the block's end its operands and arguments.
    fn end(&mut self, block: Block) {
        let mut terminator = self.function.blocks[block].terminator.clone();
        match &mut terminator {
            Terminator::Return(value) => {
                *value = self.function.signature.result.map(|ty| self.value(ty));
            }
            // What is left in the tank is different each time round a loop.
            Terminator::Branch { op, args, .. } if self.rng.percent(40) => {
                let fuel = self.op(block, Op::LoadGlobal, &[], FUEL.0.into(), Some(Type::Int));
                let (mask, some) = (self.function.int(7), self.rng.below(8) as i64);
                let low = self.op(block, Op::IAnd, &[fuel, mask], 0, None);
                *op = self.rng.pick(&[Op::IEq, Op::INe, Op::ILt, Op::IGe]);
                *args = [low, self.function.int(some)];
            }
            Terminator::Branch { op, args, .. } => {
                let comparisons: Vec<Op> =
                    Op::ALL.iter().copied().filter(|op| op.is_comparison()).collect();
                *op = self.rng.pick(&comparisons);
                let operands = self.operands(op.info().params.unwrap_or(&[]));
                *args = [operands[0], operands[1]];
            }
            Terminator::Switch(switch) => switch.value = self.value(Type::Int),
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
