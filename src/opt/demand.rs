//! Bits that nobody looks at need not be right (demanded bits).
//!
//! What is stored in an array of bytes, masked, or shifted out is looked at in part only, and so is what it is
//! the sum, the product, the exclusive or of: the low bits of these depend on low bits. From the
//! uses back it is found which bits of each int matter. A mask that changes none of these goes.
//!
//! Runs after what asks for ranges: without its mask a value has a wider one.
//!
//! SSA → SSA, linear: a value whose bits are asked for in many portions is asked for whole.

use super::Context;
use super::effects::slot;
use crate::entity::SideTable;
use crate::ir::{
    Block, Cfg, Const, ENTRY, Function, Inst, Module, Op, Space, Terminator, Type, Value, ValueDef,
};
use crate::ssa::Forward;
use toyjit_runtime::fault::{self, Fault};
use toyjit_runtime::layout::Slot;

/// After so many portions all bits are needed.
const MAX_PORTIONS: u8 = 4;

/// Takes masks out.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let insts = f.blocks.values().flat_map(|data| &data.insts);
    if !insts.clone().any(|&inst| mask(f, inst).is_some()) {
        return;
    }
    let cfg = cx.graph.cfg(f);
    let mut demand = Demand {
        f,
        cfg: &cfg,
        bits: SideTable::with_len(0, f.values.len()),
        portions: SideTable::with_len(0, f.values.len()),
        open: Vec::new(),
    };
    for &block in cfg.rpo() {
        demand.roots(cx.module, block);
    }
    demand.spread();
    let bits = demand.bits;
    let mut forward = Forward::new(f);
    for &block in cfg.rpo() {
        let mut insts = std::mem::take(&mut f.blocks[block].insts);
        insts.retain(|&inst| match (mask(f, inst), f.insts[inst].result) {
            (Some(mask), Some(result)) if bits[result] & !mask == 0 && cx.fuel.tick() => {
                let arg = forward.resolve(f.args(inst)[0]);
                forward.set(result, arg);
                false
            }
            _ => true,
        });
        f.blocks[block].insts = insts;
    }
    forward.apply(f);
}

/// The bits that an instruction lets through as they are, where it changes others.
fn mask(f: &Function, inst: Inst) -> Option<u64> {
    let constant = |i: usize| match f.as_const(f.args(inst)[i]) {
        Some(Const::Int(i)) => Some(i as u64),
        _ => None,
    };
    match f.insts[inst].op {
        Op::IAnd => constant(1),
        Op::IOr => constant(1).map(|bits| !bits),
        _ => None,
    }
}

struct Demand<'a> {
    f: &'a Function,
    cfg: &'a Cfg,
    bits: SideTable<Value, u64>,
    portions: SideTable<Value, u8>,
    open: Vec<Value>,
}

impl Demand<'_> {
    fn need(&mut self, value: Value, bits: u64) {
        if self.f.values[value].ty == Type::Int && bits & !self.bits[value] != 0 {
            self.portions[value] = self.portions[value].saturating_add(1);
            let all = self.portions[value] > MAX_PORTIONS;
            self.bits[value] |= if all { u64::MAX } else { bits };
            self.open.push(value);
        }
    }

    /// What a block needs whatever is needed of its results.
    fn roots(&mut self, module: &Module, block: Block) {
        let f = self.f;
        let data = &f.blocks[block];
        for &inst in &data.insts {
            let InstKind::Whole = kind(f, inst) else { continue };
            let (args, data) = (f.args(inst), &f.insts[inst]);
            // (Fields and globals take words.)
            let narrow = data.op == Op::StoreElem
                && slot(module, Space::Elements, data.imm) == Some(Slot::Byte);
            for (place, &arg) in args.iter().enumerate() {
                let last = narrow && place + 1 == args.len();
                self.need(arg, if last { 0xFF } else { u64::MAX });
            }
        }
        match &data.terminator {
            Terminator::Branch { args, .. } => {
                args.iter().for_each(|&arg| self.need(arg, u64::MAX))
            }
            Terminator::Return(Some(value)) => self.need(*value, u64::MAX),
            _ => {}
        }
    }

    /// Takes what is needed of results to operands.
    fn spread(&mut self) {
        let f = self.f;
        while let Some(value) = self.open.pop() {
            let bits = self.bits[value];
            match f.values[value].def {
                ValueDef::Param(block, place) if block != ENTRY => {
                    for edge in self.cfg.pred_edges(block) {
                        let edge = &f.blocks[edge.block].terminator.edges()[edge.index as usize];
                        self.need(edge.args[place as usize], bits);
                    }
                }
                ValueDef::Inst(inst) => self.operands(inst, bits),
                _ => {}
            }
        }
    }

    fn operands(&mut self, inst: Inst, bits: u64) {
        let f = self.f;
        let args = f.args(inst);
        match kind(f, inst) {
            InstKind::Whole => {}
            InstKind::Each => args.iter().for_each(|&arg| self.need(arg, bits)),
            InstKind::Low => {
                let low = u64::MAX >> bits.leading_zeros();
                let low = if fault::is(Fault::DemandCarry) { bits } else { low };
                args.iter().for_each(|&arg| self.need(arg, low));
            }
            InstKind::Masked(mask) => self.need(args[0], bits & mask),
            InstKind::Shl(by) => self.need(args[0], bits >> by),
            InstKind::Shr(by) => self.need(args[0], bits << by),
            InstKind::Sar(by) => {
                let sign = if bits.leading_zeros() < by { 1 << 63 } else { 0 };
                self.need(args[0], bits << by | sign);
            }
        }
    }
}

/// Which bits of its operands an operator looks at for which of its result.
enum InstKind {
    /// All for any.
    Whole,
    /// The same.
    Each,
    /// The same and all below.
    Low,
    /// Those of them that the mask has.
    Masked(u64),
    /// Those so many places below.
    Shl(u32),
    /// Those so many places above.
    Shr(u32),
    /// The same, and the sign.
    Sar(u32),
}

fn kind(f: &Function, inst: Inst) -> InstKind {
    let args = f.args(inst);
    let constant = |i: usize| match f.as_const(*args.get(i)?) {
        Some(Const::Int(i)) => Some(i as u64),
        _ => None,
    };
    let is_int = f.insts[inst].result.is_some_and(|value| f.values[value].ty == Type::Int);
    match (f.insts[inst].op, constant(1)) {
        _ if !is_int => InstKind::Whole,
        (Op::IAnd, Some(mask)) => InstKind::Masked(mask),
        (Op::IOr, Some(set)) => InstKind::Masked(!set),
        (Op::IAnd | Op::IOr | Op::IXor | Op::INot | Op::Copy | Op::Select, _) => InstKind::Each,
        (Op::IAdd | Op::ISub | Op::IMul | Op::INeg, _) => InstKind::Low,
        (Op::Shl, Some(by)) => InstKind::Shl(by as u32 & 63),
        (Op::Shr, Some(by)) => InstKind::Shr(by as u32 & 63),
        (Op::Sar, Some(by)) => InstKind::Sar(by as u32 & 63),
        _ => InstKind::Whole,
    }
}
