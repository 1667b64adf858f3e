//! Large functions of a few shapes, for tests of linearity.

use crate::ir::{Block, ENTRY, Edge, Function, Loc, Op, Terminator, Type, Variable};
use crate::source::Span;

/// Fills a function of the variable form with `n` blocks or so.
pub(crate) type Shape = fn(&mut Function, usize);

fn compare(f: &mut Function, at: Block, variable: Variable, yes: Block, no: Block) {
    let args = [f.variables[variable].value, f.int(7)];
    let edges = [Edge::to(yes), Edge::to(no)];
    f.blocks[at].terminator = Terminator::Branch { op: Op::ILt, args, edges };
}

fn increment(f: &mut Function, at: Block, variable: Variable) {
    let args = [f.variables[variable].value, f.int(1)];
    f.append_assign(at, variable, Op::IAdd, &args, 0, Loc(0));
}

/// Variables that begin with the function's arguments.
fn variables(f: &mut Function, n: usize) -> Vec<Variable> {
    let all: Vec<_> = (0..n).map(|_| f.add_variable("x", Type::Int, Span::default())).collect();
    for &variable in &all {
        f.signature.params.push(Type::Int);
        let param = f.add_param(ENTRY, Type::Int);
        f.append_assign(ENTRY, variable, Op::Copy, &[param], 0, Loc(0));
    }
    all
}

fn finish(f: &mut Function, at: Block, variables: &[Variable]) {
    for &variable in variables {
        increment(f, at, variable);
    }
    f.blocks[at].terminator = Terminator::Return(None);
}

/// Blocks in a row; every one, or only the last, uses the variables.
pub(crate) fn chain(f: &mut Function, n: usize) {
    let all = variables(f, 10);
    let mut at = ENTRY;
    for i in 0..n {
        let next = f.add_block();
        f.blocks[at].terminator = Terminator::Jump(Edge::to(next));
        increment(f, next, all[i % 5]);
        at = next;
    }
    finish(f, at, &all);
}

pub(crate) fn diamonds(f: &mut Function, n: usize) {
    let all = variables(f, 4);
    let mut at = ENTRY;
    for _ in 0..n {
        let [yes, no, join] = [(); 3].map(|()| f.add_block());
        compare(f, at, all[0], yes, no);
        increment(f, yes, all[1]);
        f.blocks[yes].terminator = Terminator::Jump(Edge::to(join));
        f.blocks[no].terminator = Terminator::Jump(Edge::to(join));
        at = join;
    }
    finish(f, at, &all);
}

/// Loops one after another, all within one.
pub(crate) fn loops(f: &mut Function, n: usize) {
    let all = variables(f, 4);
    let outer = f.add_block();
    f.blocks[ENTRY].terminator = Terminator::Jump(Edge::to(outer));
    let mut at = outer;
    for _ in 0..n {
        let [head, next] = [(); 2].map(|()| f.add_block());
        f.blocks[at].terminator = Terminator::Jump(Edge::to(head));
        increment(f, head, all[1]);
        compare(f, head, all[0], head, next);
        at = next;
    }
    let end = f.add_block();
    compare(f, at, all[0], outer, end);
    finish(f, end, &all);
}

/// Loops within loops.
pub(crate) fn nest(f: &mut Function, n: usize) {
    let all = variables(f, 4);
    let mut heads = vec![ENTRY];
    for _ in 0..n {
        let head = f.add_block();
        f.blocks[heads[heads.len() - 1]].terminator = Terminator::Jump(Edge::to(head));
        heads.push(head);
    }
    let mut at = heads[n];
    increment(f, at, all[1]);
    for &head in heads[1..].iter().rev() {
        let next = f.add_block();
        compare(f, at, all[0], head, next);
        at = next;
    }
    finish(f, at, &all);
}

/// A long `else if`: every arm leads to one join.
pub(crate) fn ladder(f: &mut Function, n: usize) {
    let all = variables(f, 4);
    let join = f.add_block();
    let mut at = ENTRY;
    for i in 0..n {
        let [arm, next] = [(); 2].map(|()| f.add_block());
        compare(f, at, all[0], arm, next);
        increment(f, arm, all[1 + i % 2]);
        f.blocks[arm].terminator = Terminator::Jump(Edge::to(join));
        at = next;
    }
    f.blocks[at].terminator = Terminator::Jump(Edge::to(join));
    finish(f, join, &all);
}

pub(crate) static SHAPES: [(&str, Shape); 5] = [
    ("chain", chain),
    ("diamonds", diamonds),
    ("loops", loops),
    ("nest", nest),
    ("ladder", ladder),
];
