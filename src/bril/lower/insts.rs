//! Instructions, but those of memory.

use super::{INDEX, Lowering, NOTHING, UNDEF};
use crate::bril::flow::Place;
use crate::bril::program::{Base, BinaryOp, Constant, Func, Kind, Ty, UnaryOp, Var};
use crate::entity::Entity;
use crate::ir::{Const, Edge, Op, Terminator};
use toyjit_runtime::Rt;

impl Lowering<'_> {
    pub(super) fn inst(&mut self, node: usize, at: usize) {
        let source = self.source;
        match &source.code[at].kind {
            Kind::Const(dest, constant) => {
                let constant = match *constant {
                    Constant::Int(value) => Const::Int(value),
                    Constant::Bool(value) => Const::Bool(value),
                    Constant::Float(value) => Const::Float(value.to_bits()),
                    Constant::Char(value) => Const::Int(i64::from(u32::from(value))),
                };
                let value = self.f.constant(constant);
                let dest = self.dest(*dest);
                self.copy(dest, value);
            }
            &Kind::Unary(op, dest, arg) => self.unary(op, dest, arg),
            &Kind::Binary(op, dest, [a, b]) => self.binary(op, dest, a, b),
            &Kind::Id(dest, arg) => self.named_copy(dest.index(), arg),
            &Kind::Bitcast(dest, arg) => self.bitcast(dest, arg),
            Kind::Jmp(_) => {
                let target = self.blocks[self.flow.nodes[node].succs[0]];
                self.end(Terminator::Jump(Edge::to(target)));
            }
            &Kind::Br(arg, _) => {
                let arg = self.scalar(arg);
                let no = self.f.constant(Const::Bool(false));
                let succs = &self.flow.nodes[node].succs;
                let edges = [succs[0], succs[1]].map(|succ| Edge::to(self.blocks[succ]));
                self.end(Terminator::Branch { op: Op::INe, args: [arg, no], edges });
            }
            Kind::Ret(None) => self.end(Terminator::Return(None)),
            &Kind::Ret(Some(arg)) => {
                let mut words = self.words(arg);
                let value = words.next();
                if let Some(index) = words.next() {
                    let imm = u64::from(INDEX.0);
                    self.f.append(self.block, Op::StoreGlobal, &[index], imm, None, self.loc);
                }
                self.end(Terminator::Return(value));
            }
            Kind::Call(dest, callee, args) => self.call(*dest, *callee, args),
            Kind::Print(args) => self.print(args),
            Kind::Nop => {}
            &Kind::Alloc(dest, count) => self.alloc(dest, count),
            &Kind::Free(pointer) => self.free(pointer),
            &Kind::Store(pointer, value) => self.store(pointer, value),
            &Kind::Load(dest, pointer) => self.load(dest, pointer),
            &Kind::PtrAdd(dest, pointer, by) => {
                let [region, index] = self.pointer(pointer);
                let by = self.scalar(by);
                let home = self.homes[dest.index()];
                home.index.into_iter().for_each(|to| self.assign(to, Op::IAdd, &[index, by], 0));
                let dest = self.dest(dest);
                if self.variable(dest) != region {
                    self.copy(dest, region);
                }
            }
            Kind::Phi(dest, _) => {
                let name = &source.vars[*dest].name;
                let message = format!("the `phi` of `{name}` has no value for the way here");
                self.copy_place(dest.index(), self.flow.phis[&at], &message);
            }
            &Kind::Get(dest) => {
                let name = &source.vars[dest].name;
                let message = format!("`get` of `{name}` without a `set` before");
                self.copy_place(dest.index(), self.flow.gets[&dest], &message);
            }
            &Kind::Set(shadow, value) => match shadow {
                Some(shadow) => self.named_copy(self.flow.gets[&shadow], value),
                None => {
                    let name = &source.vars[value].name;
                    let message = format!("undefined variable `{name}`");
                    if let Some(state) = self.homes[value.index()].state {
                        self.require(state, Op::INe, NOTHING, [&message, ""]);
                    }
                }
            },
            &Kind::Undef(dest) => self.clear(dest.index(), UNDEF),
        }
    }

    pub(super) fn named_copy(&mut self, to: Place, from: Var) {
        let message = format!("undefined variable `{}`", self.source.vars[from].name);
        self.copy_place(to, from.index(), &message);
    }

    pub(super) fn unary(&mut self, op: UnaryOp, dest: Var, arg: Var) {
        let arg = self.scalar(arg);
        let dest = self.dest(dest);
        match op {
            UnaryOp::Not => {
                let yes = self.f.constant(Const::Bool(true));
                self.assign(dest, Op::IXor, &[arg, yes], 0);
            }
            UnaryOp::CharToInt => self.copy(dest, arg),
            UnaryOp::IntToChar => self.assign(dest, Op::Rt, &[arg], Rt::CharOf as u64),
            UnaryOp::FloatToBits => self.assign(dest, Op::Rt, &[arg], Rt::FloatBits as u64),
            UnaryOp::BitsToFloat => self.assign(dest, Op::Rt, &[arg], Rt::FloatOfBits as u64),
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, dest: Var, a: Var, b: Var) {
        let (a, mut b) = (self.scalar(a), self.scalar(b));
        use BinaryOp::*;
        let op = match op {
            Add => Op::IAdd,
            Sub => Op::ISub,
            Mul => Op::IMul,
            Div => {
                b = self.op(Op::CheckDiv, &[b], 0, None);
                Op::SDiv
            }
            Eq | CEq => Op::IEq,
            Lt | CLt => Op::ILt,
            Gt | CGt => Op::IGt,
            Le | CLe => Op::ILe,
            Ge | CGe => Op::IGe,
            And => Op::IAnd,
            Or => Op::IOr,
            FAdd => Op::FAdd,
            FSub => Op::FSub,
            FMul => Op::FMul,
            FDiv => Op::FDiv,
            FEq => Op::FEq,
            FLt => Op::FLt,
            FGt => Op::FGt,
            FLe => Op::FLe,
            FGe => Op::FGe,
        };
        let dest = self.dest(dest);
        self.assign(dest, op, &[a, b], 0);
    }

    pub(super) fn bitcast(&mut self, dest: Var, arg: Var) {
        match (self.source.vars[arg].ty, self.source.vars[dest].ty) {
            (Ty::FLOAT, Ty::INT) => self.unary(UnaryOp::FloatToBits, dest, arg),
            (Ty::INT, Ty::FLOAT) => self.unary(UnaryOp::BitsToFloat, dest, arg),
            _ => {
                self.home(arg);
                self.move_place(dest.index(), arg.index());
            }
        }
    }

    pub(super) fn call(&mut self, dest: Option<Var>, callee: Func, args: &[Var]) {
        let mut words = Vec::with_capacity(args.len());
        for &arg in args {
            words.extend(self.words(arg));
        }
        let imm = callee.index() as u64;
        let Some(dest) = dest else {
            self.f.append(self.block, Op::Call, &words, imm, None, self.loc);
            return;
        };
        let home = self.homes[dest.index()];
        let dest = self.dest(dest);
        self.assign(dest, Op::Call, &words, imm);
        if let Some(index) = home.index {
            self.assign(index, Op::LoadGlobal, &[], u64::from(INDEX.0));
        }
        debug_assert_eq!(self.program.functions[callee].result, Some(home.ty));
    }

    pub(super) fn print(&mut self, args: &[Var]) {
        // Nothing is printed where an argument has no value.
        args.iter().for_each(|&arg| _ = self.home(arg));
        for (number, &arg) in args.iter().enumerate() {
            if number > 0 {
                self.rt(Rt::PrintSpace, &[]);
            }
            let ty = self.source.vars[arg].ty;
            let home = self.homes[arg.index()];
            if let Some(index) = home.index {
                let index = self.variable(index);
                let open = self.text("[");
                self.rt(Rt::PrintRef, &[open]);
                self.rt(Rt::PrintInt, &[index]);
                let close = self.text("]");
                self.rt(Rt::PrintRef, &[close]);
                continue;
            }
            let value = self.variable(home.value);
            let row = match ty.base {
                Base::Int => Rt::PrintInt,
                Base::Bool => Rt::PrintBool,
                Base::Float => Rt::PrintBrilFloat,
                Base::Char => Rt::PrintChar,
            };
            self.rt(row, &[value]);
        }
        self.rt(Rt::PrintNewline, &[]);
    }
}
