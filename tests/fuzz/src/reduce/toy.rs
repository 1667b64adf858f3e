//! Makes a Toy program small, on its tree, coarse to fine.
//!
//! Each kind of step has targets, numbered in preorder, and choices at each. A step that the
//! predicate takes is tried again at the same target; a round goes through all kinds; rounds end
//! when none of their steps was taken. Whether a candidate is still a program is for the predicate
//! to say, so that the steps need to know no types.

use super::visit::{Cut, Node, Tree, walk};
use toyjit::source::{Interner, Span};
use toyjit::syntax::ast::{Expr, ExprKind, Name, Stmt, StmtKind, UnaryOp};
use toyjit::syntax::{parse, print};

/// The smallest program found that the predicate takes; it takes `text` itself.
pub fn reduce(text: &str, takes: &mut dyn FnMut(&str) -> Option<bool>) -> String {
    let mut sources = toyjit::source::Sources::new();
    let mut names = Interner::new();
    if sources.add("program.toy", text).is_none() {
        return text.to_owned();
    }
    let (program, _) = parse(&sources, 0, &mut names);
    let tree = Tree::new(program);
    let printed = print(&tree.program(), &names);
    if takes(&printed) != Some(true) {
        return text.to_owned();
    }
    let mut reducer = Reducer { tree, best: printed, names, takes, over: false };
    while reducer.round() && !reducer.over {}
    reducer.best
}

/// What became of an attempt to change a tree.
enum Edit {
    Done,
    NoSuchChoice,
    NoSuchTarget,
}

struct Reducer<'p> {
    tree: Tree,
    best: String,
    names: Interner,
    takes: &'p mut dyn FnMut(&str) -> Option<bool>,
    over: bool,
}

impl Reducer<'_> {
    fn round(&mut self) -> bool {
        let mut progress = false;
        progress |= self.cut_lists();
        progress |= self.step(unwrap_statement);
        progress |= self.step(drop_else);
        progress |= self.cut_lists();
        progress |= self.step(drop_param);
        progress |= self.step(drop_field);
        progress |= self.step(simplify_expr);
        progress |= self.step(shrink_constant);
        progress
    }

    /// Keeps a candidate that the predicate takes.
    fn keep(&mut self, candidate: Tree) -> bool {
        let text = print(&candidate.program(), &self.names);
        if text == self.best {
            return false;
        }
        match (self.takes)(&text) {
            Some(true) => {
                (self.tree, self.best) = (candidate, text);
                true
            }
            Some(false) => false,
            None => {
                self.over = true;
                false
            }
        }
    }

    fn step(&mut self, edit: fn(&mut Tree, usize, usize) -> Edit) -> bool {
        let (mut target, mut choice, mut progress) = (0, 0, false);
        while !self.over {
            let mut candidate = self.tree.clone();
            match edit(&mut candidate, target, choice) {
                Edit::NoSuchTarget => break,
                Edit::NoSuchChoice => (target, choice) = (target + 1, 0),
                Edit::Done if self.keep(candidate) => (choice, progress) = (0, true),
                Edit::Done => choice += 1,
            }
        }
        progress
    }

    /// Cuts halves, quarters, … single items out of each list (Zeller's ddmin, by complements).
    fn cut_lists(&mut self) -> bool {
        let (mut target, mut progress) = (0, false);
        while let Some(len) = list_len(&mut self.tree, target) {
            let mut chunk = len.div_ceil(2).max(1);
            loop {
                let mut at = 0;
                while let Some(len) = list_len(&mut self.tree, target).filter(|&len| at < len) {
                    if self.over {
                        return progress;
                    }
                    let mut candidate = self.tree.clone();
                    // From the end: what comes later is used by nothing before.
                    let to = len - at;
                    let from = to.saturating_sub(chunk);
                    with_list(&mut candidate, target, |list| list.cut(from, to));
                    match self.keep(candidate) {
                        true => progress = true,
                        false => at += chunk,
                    }
                }
                if chunk == 1 {
                    break;
                }
                chunk = chunk.div_ceil(2);
            }
            target += 1;
        }
        progress
    }
}

fn with_list(tree: &mut Tree, target: usize, act: impl FnOnce(&mut dyn Cut)) {
    let (mut count, mut act) = (0, Some(act));
    walk(tree, &mut |node| {
        if let Node::List(list) = node {
            if count == target
                && let Some(act) = act.take()
            {
                act(list);
            }
            count += 1;
        }
    });
}

fn list_len(tree: &mut Tree, target: usize) -> Option<usize> {
    let mut len = None;
    with_list(tree, target, |list| len = Some(list.len()));
    len
}

/// Puts in place of a statement what stands in it. Targets are statements.
fn unwrap_statement(tree: &mut Tree, target: usize, choice: usize) -> Edit {
    let (mut first, mut edit) = (0, Edit::NoSuchTarget);
    walk(tree, &mut |node| {
        let Node::Statements(statements) = node else { return };
        let count = statements.len();
        if (first..first + count).contains(&target) {
            let at = target - first;
            edit = match inside(&statements[at]).into_iter().nth(choice) {
                Some(inner) => {
                    statements.splice(at..=at, inner);
                    Edit::Done
                }
                None => Edit::NoSuchChoice,
            };
            first = usize::MAX / 2;
            return;
        }
        first += count;
    });
    edit
}

/// What may stand for a statement.
fn inside(statement: &Stmt) -> Vec<Vec<Stmt>> {
    let mut choices = Vec::new();
    let alone = |expr: &Expr| vec![Stmt { kind: StmtKind::Expr(expr.clone()), span: expr.span }];
    match &statement.kind {
        StmtKind::If { arms, otherwise } => {
            choices.extend(arms.iter().map(|(_, block)| block.statements.clone()));
            choices.extend(otherwise.iter().map(|block| block.statements.clone()));
            choices.extend(arms.iter().map(|(condition, _)| alone(condition)));
        }
        StmtKind::While { body, .. } => choices.push(body.statements.clone()),
        StmtKind::For { name, from, body, .. } => {
            let declare = StmtKind::Declare {
                mutable: false,
                keyword: Span::default(),
                name: *name,
                ty: None,
                value: Some(from.clone()),
            };
            let mut statements = vec![Stmt { kind: declare, span: statement.span }];
            statements.extend(body.statements.iter().cloned());
            choices.push(statements);
            choices.push(body.statements.clone());
        }
        StmtKind::Match { arms, value } => {
            choices.extend(arms.iter().map(|arm| arm.body.statements.clone()));
            choices.push(alone(value));
        }
        StmtKind::Block(block) => choices.push(block.statements.clone()),
        StmtKind::Declare { value: Some(value), .. } | StmtKind::Assign { value, .. } => {
            choices.push(alone(value));
        }
        _ => {}
    }
    choices
}

fn drop_else(tree: &mut Tree, target: usize, choice: usize) -> Edit {
    let (mut count, mut edit) = (0, Edit::NoSuchTarget);
    walk(tree, &mut |node| {
        if let Node::Else(otherwise) = node {
            if count == target {
                edit = match otherwise.take() {
                    Some(_) if choice == 0 => Edit::Done,
                    _ => Edit::NoSuchChoice,
                };
            }
            count += 1;
        }
    });
    edit
}

/// Drops a parameter, with the argument of every call. Targets are functions, choices parameters.
fn drop_param(tree: &mut Tree, target: usize, choice: usize) -> Edit {
    let Some(function) = tree.functions.get_mut(target) else { return Edit::NoSuchTarget };
    if choice >= function.lambda.params.len() {
        return Edit::NoSuchChoice;
    }
    function.lambda.params.remove(choice);
    let name = function.name;
    drop_part(tree, name, choice);
    Edit::Done
}

fn drop_field(tree: &mut Tree, target: usize, choice: usize) -> Edit {
    let Some(structure) = tree.structs.get_mut(target) else { return Edit::NoSuchTarget };
    if choice >= structure.fields.len() {
        return Edit::NoSuchChoice;
    }
    structure.fields.remove(choice);
    let name = structure.name;
    drop_part(tree, name, choice);
    Edit::Done
}

fn drop_part(tree: &mut Tree, name: Name, index: usize) {
    walk(tree, &mut |node| {
        if let Node::Parts(symbol, parts) = node
            && symbol == name.symbol
            && index < parts.len()
        {
            parts.cut(index, index + 1);
        }
    });
}

fn with_expr(tree: &mut Tree, target: usize, act: impl FnOnce(&mut Expr) -> Edit) -> Edit {
    let (mut count, mut act, mut edit) = (0, Some(act), Edit::NoSuchTarget);
    walk(tree, &mut |node| {
        if let Node::Expr(expr) = node {
            if count == target
                && let Some(act) = act.take()
            {
                edit = act(expr);
            }
            count += 1;
        }
    });
    edit
}

fn simplify_expr(tree: &mut Tree, target: usize, choice: usize) -> Edit {
    with_expr(tree, target, |expr| match simpler(&expr.kind).into_iter().nth(choice) {
        Some(kind) => {
            expr.kind = kind;
            Edit::Done
        }
        None => Edit::NoSuchChoice,
    })
}

/// What may stand for an expression: a part of it, or a constant.
fn simpler(kind: &ExprKind) -> Vec<ExprKind> {
    let constant = matches!(
        kind,
        ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Byte(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::Nil
    );
    if constant {
        return Vec::new();
    }
    let mut choices = vec![
        ExprKind::Int(0),
        ExprKind::Int(1),
        ExprKind::Bool(false),
        ExprKind::Bool(true),
        ExprKind::Float(0.0),
        ExprKind::Str(Box::default()),
        ExprKind::Nil,
        ExprKind::Byte(0),
    ];
    if !matches!(kind, ExprKind::Array(_)) {
        choices.push(ExprKind::Array(Vec::new()));
    }
    let mut parts: Vec<&Expr> = Vec::new();
    match kind {
        ExprKind::Unary { operand, .. } | ExprKind::Unwrap(operand) => parts.push(operand),
        ExprKind::Chain(chain) => {
            parts.push(&chain.first);
            parts.extend(chain.rest.iter().map(|(_, _, operand)| operand));
        }
        ExprKind::Compare(compare) => parts.extend([&compare.left, &compare.right]),
        ExprKind::Logic(logic) => parts.extend(&logic.operands),
        ExprKind::Call(call) => {
            parts.extend(&call.args);
            if let ExprKind::Lambda(lambda) = &call.callee.kind {
                parts.extend(returned(&lambda.body.statements));
            }
        }
        ExprKind::Method(method) => {
            parts.push(&method.receiver);
            parts.extend(&method.args);
        }
        ExprKind::Field(field) => parts.push(&field.object),
        ExprKind::Index { object, index } => {
            parts.extend([&**object, &**index]);
            if let ExprKind::Array(elements) = &object.kind {
                parts.extend(elements);
            }
        }
        ExprKind::Array(elements) => parts.extend(elements),
        ExprKind::Repeat { value, count } => parts.extend([&**value, &**count]),
        ExprKind::Struct(literal) => parts.extend(literal.fields.iter().map(|(_, value)| value)),
        _ => {}
    }
    choices.extend(parts.into_iter().map(|part| part.kind.clone()));
    choices
}

/// The values that a body returns at its own level.
fn returned(statements: &[Stmt]) -> impl Iterator<Item = &Expr> {
    statements.iter().filter_map(|statement| match &statement.kind {
        StmtKind::Return(value) => value.as_ref(),
        _ => None,
    })
}

fn shrink_constant(tree: &mut Tree, target: usize, choice: usize) -> Edit {
    with_expr(tree, target, |expr| match smaller(&expr.kind).into_iter().nth(choice) {
        Some(kind) => {
            expr.kind = kind;
            Edit::Done
        }
        None => Edit::NoSuchChoice,
    })
}

/// Constants nearer to nothing.
fn smaller(kind: &ExprKind) -> Vec<ExprKind> {
    match kind {
        ExprKind::Int(value) => {
            let near = [0, 1, 2, value / 16, value / 2, value.saturating_sub(1)];
            near.into_iter()
                .filter(|near| near.unsigned_abs() < value.unsigned_abs() && *near >= 0)
                .map(ExprKind::Int)
                .collect()
        }
        ExprKind::Float(value) => {
            let near = [0.0, 1.0, value.trunc(), (value / 2.0).trunc()];
            near.into_iter()
                .filter(|near| near.abs() < value.abs() && near.is_finite() && *near >= 0.0)
                .map(ExprKind::Float)
                .collect()
        }
        ExprKind::Byte(value) if *value > 0 => vec![ExprKind::Byte(0), ExprKind::Byte(value / 2)],
        ExprKind::Str(bytes) if !bytes.is_empty() => {
            vec![ExprKind::Str(Box::default()), ExprKind::Str(bytes[..bytes.len() / 2].into())]
        }
        ExprKind::Unary { op: UnaryOp::Neg | UnaryOp::BitNot | UnaryOp::Not, operand } => {
            vec![operand.kind.clone()]
        }
        _ => Vec::new(),
    }
}
