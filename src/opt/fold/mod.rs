//! Folding: operators on constants by the table of operators, and the algebraic identities that
//! hold for wrapping integers and, bit by bit, for floats.
//!
//! One walk in reverse postorder. Each instruction is rewritten until no rule applies: to a value
//! that is there already (then it goes), or in place to a simpler operator. Rules only ever make
//! an instruction simpler or more canonical (constants on the right, subtraction of a constant as
//! addition, multiplication by 2^k as a shift), so a few steps suffice. Branches take over the
//! comparison that made the bool they test, `not` swaps their edges, and with a known outcome they
//! become jumps.
//!
//! Rules look through checks: `x / check_div x` is 1, and the check stays.
//!
//! SSA → SSA, linear. Empties blocks that are reached no longer.

mod compare;
mod float;
mod int;

use super::Context;
use super::effects::is_never_nil;
use crate::ir::{Block, Const, Function, Inst, Module, Op, Terminator, Type, Value};
use crate::ssa::{Forward, empty_unreachable, evaluate};
use compare::Test;
use smallvec::{SmallVec, smallvec};
use toyjit_runtime::fault::{self, Fault};

/// Folds and simplifies.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let cfg = cx.graph.cfg(f);
    let forward = Forward::new(f);
    let mut folder = Folder { f, module: cx.module, forward, decided: false };
    for &block in cfg.rpo() {
        let mut insts = std::mem::take(&mut folder.f.blocks[block].insts);
        insts.retain(|&inst| folder.inst(inst, cx));
        folder.f.blocks[block].insts = insts;
        folder.branch(block, cx);
    }
    folder.forward.apply(folder.f);
    let decided = folder.decided;
    if decided {
        empty_unreachable(f, &cx.graph.cfg(f));
    }
}

/// What an instruction is replaced by.
enum Rewrite {
    /// A value that is there already.
    Value(Value),
    /// Another operator, in place.
    Inst(Op, Operands),
}

type Operands = SmallVec<[Value; 3]>;

/// No chain of rewrites is that long; a bound all the same, so that no pair of rules can hang us.
const MAX_STEPS: usize = 16;

struct Folder<'a> {
    f: &'a mut Function,
    module: &'a Module,
    forward: Forward,
    /// Whether a branch has become a jump.
    decided: bool,
}

impl Folder<'_> {
    /// Rewrites an instruction; whether it stays.
    fn inst(&mut self, inst: Inst, cx: &mut Context<'_>) -> bool {
        for i in 0..self.f.args(inst).len() {
            let arg = self.forward.resolve(self.f.args(inst)[i]);
            self.f.args_mut(inst)[i] = arg;
        }
        let Some(result) = self.f.insts[inst].result else { return true };
        let ty = self.f.values[result].ty;
        for _ in 0..MAX_STEPS {
            let op = self.f.insts[inst].op;
            let args = Operands::from_slice(self.f.args(inst));
            let Some(rewrite) = self.simplify(op, &args, ty) else { break };
            if !cx.fuel.tick() {
                break;
            }
            match rewrite {
                Rewrite::Value(value) => {
                    self.forward.set(result, value);
                    return false;
                }
                Rewrite::Inst(op, args) => {
                    let args = self.f.pool.list(&args);
                    let data = &mut self.f.insts[inst];
                    (data.op, data.args) = (op, args);
                }
            }
        }
        true
    }

    /// The first rule that applies.
    fn simplify(&mut self, op: Op, args: &[Value], ty: Type) -> Option<Rewrite> {
        let constants = args.iter().map(|&arg| self.f.as_const(arg));
        if let Some(constant) = evaluate(op, constants, Some(ty)) {
            return Some(self.constant(constant));
        }
        if let &[a, b] = args {
            if op.is_comparison() {
                return Some(match self.test(op, a, b)? {
                    Test::Known(known) => self.constant(Const::Bool(known)),
                    Test::Is(value) => Rewrite::Value(value),
                    Test::Not(value) => self.not(value),
                    Test::Compare(op, [a, b]) => Rewrite::Inst(op, smallvec![a, b]),
                });
            }
            if op.info().commutes && self.is_const(a) && !self.is_const(b) {
                return Some(Rewrite::Inst(op, smallvec![b, a]));
            }
        }
        match op {
            Op::Copy => Some(Rewrite::Value(args[0])),
            Op::Select => self.select(args),
            Op::CheckBounds | Op::CheckNil | Op::CheckDiv => self.check(op, args),
            Op::StrLen | Op::StrByte => self.string(op, args),
            Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FNeg | Op::FAbs => self.float(op, args),
            Op::FMin | Op::FMax => (args[0] == args[1]).then(|| Rewrite::Value(args[0])),
            Op::FFloor | Op::FCeil | Op::FTrunc => self.round(args[0]),
            _ => self.int_rule(op, args, ty),
        }
    }

    fn select(&mut self, args: &[Value]) -> Option<Rewrite> {
        let &[condition, yes, no] = args else { return None };
        if yes == no {
            return Some(Rewrite::Value(yes));
        }
        match self.f.as_const(condition) {
            Some(Const::Bool(true)) => return Some(Rewrite::Value(yes)),
            Some(Const::Bool(false)) => return Some(Rewrite::Value(no)),
            _ => {}
        }
        match (self.f.as_const(yes), self.f.as_const(no)) {
            (Some(Const::Bool(true)), Some(Const::Bool(false))) => {
                return Some(Rewrite::Value(condition));
            }
            (Some(Const::Bool(false)), Some(Const::Bool(true))) => {
                return Some(self.not(condition));
            }
            _ => {}
        }
        let inner = self.negated(condition)?;
        let (yes, no) = if fault::is(Fault::FoldSelectNot) { (no, yes) } else { (yes, no) };
        Some(Rewrite::Inst(Op::Select, smallvec![inner, no, yes]))
    }

    /// A check that can't fail is its operand. (One that must fail stays: it is what traps.)
    fn check(&mut self, op: Op, args: &[Value]) -> Option<Rewrite> {
        let passes = match op {
            Op::CheckNil => is_never_nil(self.f, args[0]),
            Op::CheckBounds => match self.def(args[0]) {
                Some((Op::CheckBounds, of)) => {
                    of[1] == args[1] || fault::is(Fault::FoldBoundsTwice)
                }
                _ => false,
            },
            _ => matches!(self.def(args[0]), Some((Op::CheckDiv, _))),
        };
        passes.then(|| Rewrite::Value(args[0]))
    }

    fn string(&mut self, op: Op, args: &[Value]) -> Option<Rewrite> {
        let Some(Const::Str(literal)) = self.f.as_const(args[0]) else { return None };
        let bytes = self.module.strings.get(literal)?;
        let value = match op {
            Op::StrLen => bytes.len() as i64,
            _ => i64::from(*bytes.get(usize::try_from(self.int(args[1])?).ok()?)?),
        };
        Some(self.constant(Const::Int(value)))
    }

    /// Lets a branch test what its bool was made from, or turns it into a jump.
    fn branch(&mut self, block: Block, cx: &mut Context<'_>) {
        let mut terminator =
            std::mem::replace(&mut self.f.blocks[block].terminator, Terminator::Unreachable);
        terminator.map_uses(|value| self.forward.resolve(value));
        for _ in 0..MAX_STEPS {
            let Terminator::Branch { op, args, edges } = &mut terminator else { break };
            let Some(test) = self.branch_test(*op, *args) else { break };
            if !cx.fuel.tick() {
                break;
            }
            match test {
                Test::Known(known) => {
                    let edge = edges[usize::from(!known)].clone();
                    terminator = Terminator::Jump(edge);
                    self.decided = true;
                }
                Test::Compare(to, operands) => (*op, *args) = (to, operands),
                Test::Is(value) => {
                    (*op, *args) = (Op::INe, [value, self.f.constant(Const::Bool(false))]);
                }
                Test::Not(value) => {
                    (*op, *args) = (Op::INe, [value, self.f.constant(Const::Bool(false))]);
                    edges.swap(0, 1);
                }
            }
        }
        self.f.blocks[block].terminator = terminator;
    }

    /// A simpler test than the one a branch makes.
    fn branch_test(&mut self, op: Op, [a, b]: [Value; 2]) -> Option<Test> {
        let constants = [self.f.as_const(a), self.f.as_const(b)];
        if let Some(Const::Bool(known)) = evaluate(op, constants, Some(Type::Bool)) {
            return Some(Test::Known(known));
        }
        match self.test(op, a, b)? {
            Test::Is(value) => match self.def(value) {
                Some((op, args)) if op.is_comparison() => {
                    Some(Test::Compare(op, [args[0], args[1]]))
                }
                Some((Op::IXor, args)) if self.is_true(args[1]) => Some(Test::Not(args[0])),
                _ if op == Op::INe => None,
                _ => Some(Test::Is(value)),
            },
            test => Some(test),
        }
    }

    /// Operator and operands of the instruction that a value is the result of.
    fn def(&mut self, value: Value) -> Option<(Op, Operands)> {
        let inst = self.f.def_inst(value)?;
        let mut args = Operands::from_slice(self.f.args(inst));
        args.iter_mut().for_each(|arg| *arg = self.forward.resolve(*arg));
        Some((self.f.insts[inst].op, args))
    }

    /// The value that a check gave back.
    fn unchecked(&mut self, mut value: Value) -> Value {
        while let Some((Op::CheckDiv | Op::CheckBounds | Op::CheckNil, args)) = self.def(value) {
            value = args[0];
        }
        value
    }

    /// The bool of which a bool is the negation.
    fn negated(&mut self, value: Value) -> Option<Value> {
        match self.def(value) {
            Some((Op::IXor, args)) if self.is_true(args[1]) => Some(args[0]),
            _ => None,
        }
    }

    fn not(&mut self, value: Value) -> Rewrite {
        let yes = self.f.constant(Const::Bool(true));
        Rewrite::Inst(Op::IXor, smallvec![value, yes])
    }

    fn constant(&mut self, constant: Const) -> Rewrite {
        Rewrite::Value(self.f.constant(constant))
    }

    fn int(&self, value: Value) -> Option<i64> {
        match self.f.as_const(value) {
            Some(Const::Int(i)) => Some(i),
            _ => None,
        }
    }

    fn is_const(&self, value: Value) -> bool {
        self.f.as_const(value).is_some()
    }

    fn is_true(&self, value: Value) -> bool {
        self.f.as_const(value) == Some(Const::Bool(true))
    }
}
