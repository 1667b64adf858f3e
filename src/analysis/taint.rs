//! Taint: a forward may problem on values. What comes from outside (`read_line`, `args`, the
//! arguments of `main`) is tainted, and so is what is computed from it. A branch that compares a
//! tainted value with one that is not clears it behind; so does a check of it as an index, for the
//! index that it gives.
//!
//! Told are tainted values that come to an index, the length of a new array, the count of a shift or
//! the code of `exit`. Each function is looked at alone: what a call gives is tainted where an
//! argument is. Lengths of tainted strings and arrays are not tainted.

use super::board::{self, Board, Ways};
use super::crossing::Crossing;
use super::dataflow::{Direction, Lattice, Problem, Words, solve};
use super::facts::Point;
use super::problems::Row;
use crate::ir::print::Printer;
use crate::ir::{Block, Cfg, ENTRY, Function, ImmKind, Inst, Module, Op, Terminator, Value};
use crate::source::Diagnostic;
use std::collections::BTreeSet;
use toyjit_runtime::Rt;

/// Its row in the table of problems.
pub(super) const ROW: Row = Row {
    name: "taint",
    about: "taint: the values that come from input and that nothing has compared",
    how: "forward, union",
    draw,
};

fn draw(module: &Module, f: &Function, cfg: &Cfg, ways: Ways) -> Board {
    board::of(f, cfg, &Taint::new(module, f, cfg), ways)
}

/// The values that are tainted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tainted(BTreeSet<Value>);

impl Lattice for Tainted {
    fn meet(&mut self, other: &Self) -> bool {
        let before = self.0.len();
        self.0.extend(&other.0);
        self.0.len() != before
    }
}

/// The problem.
#[derive(Debug)]
pub struct Taint<'a> {
    module: &'a Module,
    crossing: Crossing,
}

impl<'a> Taint<'a> {
    /// The problem of a function.
    pub fn new(module: &'a Module, f: &Function, cfg: &Cfg) -> Self {
        Self { module, crossing: Crossing::compute(f, cfg) }
    }
}

impl Problem for Taint<'_> {
    type State = Tainted;
    const DIRECTION: Direction = Direction::Forward;

    fn top(&self, _: &Function) -> Tainted {
        Tainted::default()
    }

    fn boundary(&self, f: &Function) -> Tainted {
        match self.module.main {
            Some((main, true, _)) if main == f.id() => {
                Tainted(f.blocks[ENTRY].params.iter().copied().collect())
            }
            _ => Tainted::default(),
        }
    }

    fn transfer(&self, f: &Function, at: Point, state: &mut Tainted) {
        let Some(inst) = at.inst(f) else { return };
        let Some(result) = f.insts[inst].result else { return };
        let tainted = match f.insts[inst].op {
            Op::StrLen | Op::ArrayLen | Op::CheckBounds => false,
            _ if matches!(called(f, inst), Some(Rt::ReadLine | Rt::Args)) => true,
            op if op.is_comparison() => false,
            _ => f.args(inst).iter().any(|arg| state.0.contains(arg)),
        };
        match tainted {
            true => _ = state.0.insert(result),
            false => _ = state.0.remove(&result),
        }
    }

    fn edge(&self, f: &Function, from: Block, index: usize, state: &mut Tainted) {
        if let Terminator::Branch { op, args: [a, b], .. } = f.blocks[from].terminator {
            let clears = match op {
                Op::IEq => index == 0,
                Op::INe => index == 1,
                _ => true,
            };
            match (state.0.contains(&a), state.0.contains(&b)) {
                (true, false) if clears => _ = state.0.remove(&a),
                (false, true) if clears => _ = state.0.remove(&b),
                _ => {}
            }
        }
        let to = f.blocks[from].terminator.edges()[index].target;
        state.0.retain(|&value| self.crossing.matters_in(to, value));
    }

    fn describe(&self, f: &Function, state: &Tainted) -> Words {
        let printer = Printer::new(self.module);
        Words::Facts(state.0.iter().map(|&value| printer.value(f, value)).collect())
    }
}

/// The row of the runtime that an instruction calls.
fn called(f: &Function, inst: Inst) -> Option<Rt> {
    let data = &f.insts[inst];
    (data.op.info().imm_kind == ImmKind::Row).then_some(())?;
    Rt::ALL.get(data.imm as usize).copied()
}

/// The operands that must not be tainted, and what they are.
fn sink(f: &Function, inst: Inst) -> Option<(&[Value], &'static str)> {
    let args = f.args(inst);
    match f.insts[inst].op {
        Op::CheckBounds => Some((&args[..1], "an index")),
        Op::Shl | Op::Sar | Op::Shr | Op::Rotl | Op::Rotr => {
            Some((&args[1..], "the count of a shift"))
        }
        _ => match called(f, inst)? {
            Rt::StrSlice | Rt::ArraySlice => Some((&args[1..], "an index")),
            Rt::ArrayNew | Rt::ArrayFillFloat | Rt::ArrayFillRef => {
                Some((&args[1..], "the length of an array"))
            }
            Rt::ArrayFillInt => Some((&args[2..], "the length of an array")),
            Rt::Exit => Some((&args[..1], "an exit code")),
            _ => None,
        },
    }
}

/// Warns of input that is used unchecked, in all functions of a module in the variable form.
pub fn check(module: &Module) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for f in module.functions.values() {
        let cfg = Cfg::compute(f);
        let problem = Taint::new(module, f, &cfg);
        let solution = solve(f, &cfg, &problem);
        for &block in cfg.rpo() {
            solution.replay(f, &problem, block, |at, tainted| {
                let found = at.inst(f).and_then(|inst| Some((inst, sink(f, inst)?)));
                if let Some((inst, (values, what))) = found
                    && values.iter().any(|value| tainted.0.contains(value))
                {
                    let span = f.locs[f.insts[inst].loc].span;
                    let message = format!("input becomes {what} unchecked");
                    let help = "compare it with something first";
                    out.push(Diagnostic::warning("W0620", span, message, "").help(help));
                }
            });
        }
    }
    out.sort_by_key(Diagnostic::span);
    out
}
