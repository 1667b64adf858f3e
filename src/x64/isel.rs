//! Instruction selection by demand: SSA → machine instructions over virtual registers.
//!
//! Blocks are walked in postorder and instructions from last to first, so that a value's users are
//! seen before the value. `reg(v)` *demands* `v` in a register; looking through `v` (at the
//! comparison a branch tests, the address a load takes, the load an addition reads) does not; and a
//! pure instruction that nobody demanded is never selected. Addressing modes, fused loads,
//! immediates, compare-and-branch and dead code fall out of that one rule. Look first, demand last:
//! a pattern is decided before any operand is demanded.
//!
//! `Function` (SSA) → `VCode`. The instructions of one operator are made in order in `seq`, then
//! put onto `code`, which grows backward and is turned over at the block's end.

mod address;
mod arith;
mod bits;
mod call;
mod compare;
mod divide;
mod facts;

use self::facts::{Facts, def_block, effects};
use super::abi::{ArgPlace, ArgPlaces, ENVIRONMENT, class_of, result_reg};
use super::features::Features;
use super::inst::{
    Addr, AluOp, Base, FloatBits, FloatOp, Inst, Round, ShiftOp, SignOp, Src, UnaryOp, Width,
    ZeroTrap,
};
use super::layout::Layout;
use crate::buffer::Buffer;
use crate::entity::{Arena, Entity};
use crate::ir::cfg::Cfg;
use crate::ir::{self, Block, Const, FuncRef, Function, Loc, Module, Op, Terminator, Type, Value};
use crate::mach::{RegClass, RelocTarget, VBlock, VBlockData, VCode, VEdge, VReg, VRegData};
use crate::pooled;
use smallvec::SmallVec;
use std::ops::Range;
use toyjit_runtime::Rt;
use toyjit_runtime::fault::{self, Fault};

/// Chooses instructions for one function. With `polls` every loop gets one.
pub(super) fn select(
    module: &Module,
    function: FuncRef,
    features: Features,
    polls: bool,
) -> VCode<Inst> {
    let function = &module.functions[function];
    let cfg = Cfg::compute(function);
    let layout = Layout::compute(function, &cfg);
    let facts = Facts::compute(function, &cfg);
    let mut selector = Selector {
        module,
        function,
        features,
        polls,
        facts,
        layout,
        vregs: Arena::with_capacity(function.values.len()),
        vreg_of: Buffer::filled(None, function.values.len()),
        params: Buffer::filled(Params::Unseen, function.blocks.len()),
        seq: Buffer::new(),
        code: Buffer::with_capacity(function.insts.len()),
        block: ir::ENTRY,
        epoch: 0,
        at_end: false,
    };
    let mut bodies = Buffer::filled(None, function.blocks.len());
    for block in cfg.postorder() {
        let number = cfg.rpo_number(block);
        let is_head = cfg.preds(block).any(|pred| cfg.rpo_number(pred) >= number);
        bodies[block.index()] = Some(selector.select_block(block, is_head));
    }
    selector.assemble(&cfg, bodies)
}

/// A selected block: its code, last instruction first, and the arguments of its edges.
#[derive(Clone)]
struct Body {
    code: Range<usize>,
    edges: SmallVec<[SmallVec<[VReg; 4]>; 2]>,
}

/// What is known of a block's parameters.
#[derive(Clone, Copy, PartialEq)]
enum Params {
    /// Nothing: the block is still to come.
    Unseen,
    /// The block is still to come, but an edge has passed arguments for all of them.
    All,
    /// The block has been selected: those that have a register are its parameters.
    Demanded,
}

pooled! { Inst, (Inst, Loc), Option<VReg>, Params, Option<Body> }

struct Selector<'a> {
    module: &'a Module,
    function: &'a Function,
    features: Features,
    polls: bool,
    facts: Facts,
    layout: Layout,
    vregs: Arena<VReg, VRegData>,
    /// By value.
    vreg_of: Buffer<Option<VReg>>,
    /// By block.
    params: Buffer<Params>,
    /// The instructions of the operator at hand, in order.
    seq: Buffer<Inst>,
    /// The blocks selected so far, each from its last instruction to its first.
    code: Buffer<(Inst, Loc)>,
    /// The block at hand.
    block: Block,
    /// The epoch at the place where `seq` will stand.
    epoch: u32,
    /// Whether that place is the block's end, behind all that its edges pass on.
    at_end: bool,
}

impl Selector<'_> {
    /// `is_head` is whether an edge leads back to the block.
    fn select_block(&mut self, block: Block, is_head: bool) -> Body {
        self.block = block;
        let data = &self.function.blocks[block];
        let start = self.code.len();
        self.epoch = self.facts.last_epoch(self.function, block);
        self.at_end = true;
        let edges = self.terminator(&data.terminator);
        self.at_end = false;
        self.flush(data.loc);
        for &inst in data.insts.iter().rev() {
            self.epoch = self.facts.place(inst).1;
            self.inst(inst);
            self.flush(self.function.insts[inst].loc);
        }
        if block == ir::ENTRY {
            self.parameters();
            self.flush(Loc(0));
        } else if self.params[block.index()] == Params::All {
            for &param in &data.params {
                self.reg(param);
            }
        }
        self.params[block.index()] = Params::Demanded;
        if is_head && self.polls {
            self.code.push((Inst::Poll, data.loc));
        }
        Body { code: start..self.code.len(), edges }
    }

    fn flush(&mut self, loc: Loc) {
        self.code.extend(self.seq.drain(..).rev().map(|inst| (inst, loc)));
    }

    /// Puts the blocks into their order.
    fn assemble(mut self, cfg: &Cfg, mut bodies: Buffer<Option<Body>>) -> VCode<Inst> {
        let mut number = Buffer::filled(VBlock(0), self.function.blocks.len());
        for (i, &block) in self.layout.order.iter().enumerate() {
            number[block.index()] = VBlock(i as u32);
        }
        let count = self.code.len();
        let mut vcode = VCode {
            name: self.function.name.clone(),
            blocks: Arena::with_capacity(self.layout.order.len()),
            insts: Vec::with_capacity(count),
            locs: Vec::with_capacity(count),
            vregs: self.vregs,
        };
        for &block in &self.layout.order {
            let data = &self.function.blocks[block];
            let Some(body) = bodies[block.index()].take() else { continue };
            let start = vcode.insts.len() as u32;
            for (inst, loc) in self.code[body.code].iter_mut().rev() {
                vcode.insts.push(std::mem::replace(inst, Inst::Unreachable));
                vcode.locs.push(*loc);
            }
            let params = if block == ir::ENTRY { &[][..] } else { &data.params[..] };
            let targets = data.terminator.edges().iter().map(|edge| number[edge.target.index()]);
            vcode.blocks.push(VBlockData {
                insts: start..vcode.insts.len() as u32,
                params: params.iter().filter_map(|&param| self.vreg_of[param.index()]).collect(),
                succs: targets
                    .zip(body.edges)
                    .map(|(target, args)| VEdge { target, args })
                    .collect(),
                preds: cfg.preds(block).map(|pred| number[pred.index()]).collect(),
                loop_depth: self.layout.depth(block),
                cold: self.layout.is_cold(block),
            });
        }
        vcode
    }

    // Values.

    fn root(&self, value: Value) -> Value {
        self.facts.root(value)
    }

    fn constant(&self, value: Value) -> Option<Const> {
        self.function.as_const(self.root(value))
    }

    /// The word of a constant int, bool or nil.
    fn int_constant(&self, value: Value) -> Option<i64> {
        match self.constant(value)? {
            Const::Int(i) => Some(i),
            Const::Bool(b) => Some(i64::from(b)),
            Const::Nil => Some(0),
            Const::Float(_) | Const::Str(_) | Const::Func(_) => None,
        }
    }

    /// The same, where it fits an immediate: the one place that asks whether it does.
    fn immediate(&self, value: Value) -> Option<i32> {
        if fault::is(Fault::ImmediateOffByOne) && self.int_constant(value) == Some(1 << 31) {
            return Some(i32::MIN);
        }
        self.int_constant(value).and_then(|i| i32::try_from(i).ok())
    }

    fn new_vreg(&mut self, class: RegClass) -> VReg {
        self.vregs.push(VRegData { class, is_ref: false })
    }

    fn int_vreg(&mut self) -> VReg {
        self.new_vreg(RegClass::Int)
    }

    /// Demands a value in a register. A constant is made anew before each of its users; it is not a
    /// reference for the collector, since static objects do not move.
    fn reg(&mut self, value: Value) -> VReg {
        let value = self.root(value);
        if let Some(constant) = self.function.as_const(value) {
            return self.constant_reg(constant);
        }
        if let Some(vreg) = self.vreg_of[value.index()] {
            return vreg;
        }
        let ty = self.function.values[value].ty;
        let vreg = self.vregs.push(VRegData { class: class_of(ty), is_ref: ty == Type::Ref });
        self.vreg_of[value.index()] = Some(vreg);
        vreg
    }

    fn constant_reg(&mut self, constant: Const) -> VReg {
        let dst = self.new_vreg(class_of(constant.ty()));
        self.push(match constant {
            Const::Int(value) => Inst::Imm { dst, value },
            Const::Bool(b) => Inst::Imm { dst, value: i64::from(b) },
            Const::Nil => Inst::Imm { dst, value: 0 },
            Const::Float(bits) => Inst::FloatImm { dst, bits },
            Const::Str(string) => Inst::Static { dst, target: RelocTarget::Str(string) },
            Const::Func(function) => Inst::Static { dst, target: RelocTarget::Closure(function) },
        });
        dst
    }

    fn imm_reg(&mut self, value: i64) -> VReg {
        let dst = self.int_vreg();
        self.push(Inst::Imm { dst, value });
        dst
    }

    /// A value as a source operand: immediate, fused load, or register.
    fn src(&mut self, value: Value) -> Src {
        if let Some(imm) = self.immediate(value) {
            return Src::Imm(imm);
        }
        if let Some(Const::Float(bits)) = self.constant(value) {
            return Src::Float(FloatBits(bits));
        }
        match self.fused_load(value) {
            Some(load) => Src::Mem(self.address_of(load)),
            None => Src::Reg(self.reg(value)),
        }
    }

    /// The same, but no immediate.
    fn reg_or_mem(&mut self, value: Value) -> Src {
        match self.constant(value) {
            Some(Const::Int(_) | Const::Bool(_)) => Src::Reg(self.reg(value)),
            _ => self.src(value),
        }
    }

    /// The instruction that a value stands for, where it may be selected as a part of its one user:
    /// nobody else uses it, and it is no further out than here.
    fn foldable(&self, value: Value) -> Option<ir::Inst> {
        let value = self.root(value);
        let inst = self.function.def_inst(value)?;
        (self.facts.uses(value) == 1
            && self.vreg_of[value.index()].is_none()
            && self.layout.same_loop(self.facts.place(inst).0, self.block))
        .then_some(inst)
    }

    /// Whether a value's register is probably still needed behind the place at hand.
    fn lives_on(&self, value: Value) -> bool {
        let value = self.root(value);
        self.vreg_of[value.index()].is_some()
            || def_block(self.function, &self.facts, value)
                .is_some_and(|block| self.layout.depth(block) < self.layout.depth(self.block))
    }

    fn push(&mut self, inst: Inst) {
        self.seq.push(inst);
    }

    // Blocks' ends.

    fn terminator(&mut self, terminator: &Terminator) -> SmallVec<[SmallVec<[VReg; 4]>; 2]> {
        let args = terminator.edges().iter().map(|edge| self.edge_args(edge)).collect();
        match *terminator {
            Terminator::Jump(_) => self.push(Inst::Jump),
            Terminator::Branch { op, args: [a, b], .. } => {
                let compare = self.compare(op, a, b);
                self.push(Inst::Branch { compare });
            }
            Terminator::Switch(ref switch) if switch.edges.len() == 1 => self.push(Inst::Jump),
            Terminator::Switch(ref switch) => {
                let (value, temp) = (self.reg(switch.value), self.int_vreg());
                let table = switch.table.clone().into();
                self.push(Inst::Switch { value, temp, base: switch.base, table });
            }
            Terminator::Return(value) => {
                let value = value.map(|value| {
                    let reg = self.reg(value);
                    (reg, result_reg(self.vregs[reg].class))
                });
                self.push(Inst::Return { value });
            }
            Terminator::Unreachable => self.push(Inst::Unreachable),
        }
        args
    }

    /// The arguments of an edge. Where the target has been selected, those that it takes; along a
    /// back edge, all.
    fn edge_args(&mut self, edge: &ir::Edge) -> SmallVec<[VReg; 4]> {
        let function = self.function;
        let params = &function.blocks[edge.target].params;
        let selected = self.params[edge.target.index()] == Params::Demanded;
        if !selected {
            self.params[edge.target.index()] = Params::All;
        }
        let taken = |vreg: Option<VReg>| !selected || vreg.is_some();
        let mut args = SmallVec::new();
        for (&param, &arg) in params.iter().zip(&edge.args) {
            if taken(self.vreg_of[param.index()]) {
                args.push(self.reg(arg));
            }
        }
        args
    }

    /// Takes the parameters that somebody demanded from where they are passed.
    fn parameters(&mut self) {
        let mut places = ArgPlaces::new();
        let mut defs = Vec::new();
        let mut loads = Vec::new();
        for (i, &param) in self.function.blocks[ir::ENTRY].params.iter().enumerate() {
            let class = class_of(self.function.values[param].ty);
            let place = if i == 0 && self.function.signature.env {
                ArgPlace::Reg(ENVIRONMENT)
            } else {
                places.next(class)
            };
            let Some(dst) = self.vreg_of[param.index()] else { continue };
            match place {
                ArgPlace::Reg(reg) => defs.push((dst, reg)),
                ArgPlace::Stack(word) => {
                    let addr = Addr { base: Base::Incoming, index: None, disp: 8 * word as i32 };
                    loads.push(match class {
                        RegClass::Int => Inst::Load { width: Width::Word, dst, addr },
                        RegClass::Float => Inst::FloatLoad { dst, addr },
                    });
                }
            }
        }
        self.push(Inst::Args { defs: defs.into() });
        self.seq.extend(loads);
    }

    // Instructions.

    fn inst(&mut self, inst: ir::Inst) {
        let data = self.function.insts[inst];
        let demanded = data.result.and_then(|result| self.vreg_of[result.index()]);
        if demanded.is_none() && effects(data.op, data.imm).removable() {
            return;
        }
        let function = self.function;
        let args = function.args(inst);
        // Where nobody wants the result of an operator with an effect, a register that is not read.
        let dst = match (demanded, data.result) {
            (Some(dst), _) => dst,
            (None, Some(result)) => self.new_vreg(class_of(function.values[result].ty)),
            (None, None) => self.int_vreg(),
        };
        match data.op {
            // Other names of their operand's register; a check remains.
            Op::Copy | Op::BToI => {}
            Op::CheckBounds => self.check_bounds(args[0], args[1]),
            Op::CheckRead => self.check_region(false, args[0], args[1]),
            Op::CheckWrite => self.check_region(true, args[0], args[1]),
            Op::CheckNil => self.check_zero(args[0], ZeroTrap::Nil),
            Op::CheckDiv => self.check_zero(args[0], ZeroTrap::Division),

            Op::IAdd => self.add(dst, args[0], args[1]),
            Op::ISub => self.sub(dst, args[0], args[1]),
            Op::IMul => self.mul(dst, args[0], args[1]),
            Op::SDiv => self.divide(dst, args[0], args[1]),
            Op::SRem => self.remainder(dst, args[0], args[1]),
            Op::INeg => self.int_unary(UnaryOp::Neg, dst, args[0]),
            Op::INot => self.int_unary(UnaryOp::Not, dst, args[0]),
            Op::IAbs => {
                let src = self.reg(args[0]);
                self.push(Inst::Abs { dst, src });
            }
            Op::IMin => self.min_max(Op::ILt, dst, args[0], args[1]),
            Op::IMax => self.min_max(Op::IGt, dst, args[0], args[1]),
            Op::IAnd => self.and(dst, args[0], args[1]),
            Op::IOr => self.alu(AluOp::Or, dst, args[0], args[1]),
            Op::IXor => self.alu(AluOp::Xor, dst, args[0], args[1]),
            Op::Shl => self.shift(ShiftOp::Shl, dst, args[0], args[1]),
            Op::Sar => self.shift(ShiftOp::Sar, dst, args[0], args[1]),
            Op::Shr => self.shift(ShiftOp::Shr, dst, args[0], args[1]),
            Op::Rotl => self.shift(ShiftOp::Rol, dst, args[0], args[1]),
            Op::Rotr => self.shift(ShiftOp::Ror, dst, args[0], args[1]),
            Op::Popcnt => self.popcnt(dst, args[0]),
            Op::Clz => self.clz(dst, args[0]),
            Op::Ctz => self.ctz(dst, args[0]),

            Op::IEq | Op::INe | Op::ILt | Op::ILe | Op::IGt | Op::IGe | Op::REq | Op::RNe => {
                self.set(data.op, dst, args[0], args[1]);
            }
            Op::ULt | Op::ULe | Op::UGt | Op::UGe => self.set(data.op, dst, args[0], args[1]),
            Op::FEq | Op::FNe | Op::FLt | Op::FLe | Op::FGt | Op::FGe => {
                self.set(data.op, dst, args[0], args[1]);
            }

            Op::FAdd => self.float(FloatOp::Add, dst, args[0], args[1]),
            Op::FSub => self.float(FloatOp::Sub, dst, args[0], args[1]),
            Op::FMul => self.float(FloatOp::Mul, dst, args[0], args[1]),
            Op::FDiv => self.float(FloatOp::Div, dst, args[0], args[1]),
            // `minsd x, y` is x where x < y, else y: so the operands change places.
            Op::FMin => self.float(FloatOp::Min, dst, args[1], args[0]),
            Op::FMax => self.float(FloatOp::Max, dst, args[1], args[0]),
            Op::FNeg => self.float_sign(SignOp::Neg, dst, args[0]),
            Op::FAbs => self.float_sign(SignOp::Abs, dst, args[0]),
            Op::FSqrt => {
                let src = self.src(args[0]);
                self.push(Inst::FloatSqrt { dst, src });
            }
            Op::FFloor => self.round(Round::Floor, Rt::Floor, dst, args[0]),
            Op::FCeil => self.round(Round::Ceil, Rt::Ceil, dst, args[0]),
            Op::FTrunc => self.round(Round::Trunc, Rt::Trunc, dst, args[0]),
            Op::IToF => {
                let src = self.reg_or_mem(args[0]);
                self.push(Inst::IntToFloat { dst, src });
            }
            Op::FToI => {
                let src = self.reg(args[0]);
                self.push(Inst::FloatToInt { dst, src });
            }
            Op::Select => self.select_op(dst, args[0], args[1], args[2]),

            Op::StrLen
            | Op::StrByte
            | Op::ArrayLen
            | Op::ArrayData
            | Op::LoadElem
            | Op::LoadField
            | Op::LoadGlobal
            | Op::LoadCapture => self.load(dst, inst),
            Op::StoreElem => self.store(inst, args[2], Some(args[0])),
            Op::StoreField => self.store(inst, args[1], Some(args[0])),
            Op::StoreGlobal => self.store(inst, args[0], None),

            Op::NewStruct => self.new_struct(dst, data.imm, args),
            Op::NewClosure => self.new_closure(dst, data.imm, args),
            Op::Call => self.call(FuncRef(data.imm as u32), args, data.result.map(|_| dst)),
            Op::CallValue => self.call_value(args, data.result.map(|_| dst)),
            Op::Rt if facts::row(data.imm) == Rt::Burn => self.push(Inst::Burn),
            Op::Rt => self.call_runtime(facts::row(data.imm), args, data.result.map(|_| dst)),
        }
    }
}

#[cfg(test)]
mod tests;
