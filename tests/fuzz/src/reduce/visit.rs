//! Everything in a tree that a reducer may change, in preorder.

use toyjit::source::Symbol;
use toyjit::syntax::ast::{
    Block, Call, Expr, ExprKind, Function, Item, Lambda, Pattern, PatternKind, Program, Stmt,
    StmtKind, Struct,
};

/// A program with its definitions before its statements: their order means nothing.
#[derive(Clone)]
pub struct Tree {
    pub functions: Vec<Function>,
    pub structs: Vec<Struct>,
    pub script: Vec<Stmt>,
}

impl Tree {
    pub fn new(program: Program) -> Self {
        let mut tree = Tree { functions: Vec::new(), structs: Vec::new(), script: Vec::new() };
        for item in program.items {
            match item {
                Item::Function(function) => tree.functions.push(function),
                Item::Struct(structure) => tree.structs.push(structure),
                Item::Statement(statement) => tree.script.push(statement),
            }
        }
        tree
    }

    pub fn program(&self) -> Program {
        let structs = self.structs.iter().cloned().map(Item::Struct);
        let functions = self.functions.iter().cloned().map(Item::Function);
        let script = self.script.iter().cloned().map(Item::Statement);
        Program { items: structs.chain(functions).chain(script).collect() }
    }
}

/// A list from which parts can be cut.
pub trait Cut {
    fn len(&self) -> usize;
    fn cut(&mut self, from: usize, to: usize);
}

impl<T> Cut for Vec<T> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn cut(&mut self, from: usize, to: usize) {
        self.drain(from..to);
    }
}

/// What is visited.
pub enum Node<'a> {
    /// A list of anything.
    List(&'a mut dyn Cut),
    /// A list of statements (visited as a list before).
    Statements(&'a mut Vec<Stmt>),
    /// An expression.
    Expr(&'a mut Expr),
    /// The last branch of an `if`.
    Else(&'a mut Option<Block>),
    /// A struct literal's or a call's parts, by the name of the struct or function.
    Parts(Symbol, &'a mut dyn Cut),
}

/// Visits a tree.
pub fn walk(tree: &mut Tree, visit: &mut dyn FnMut(Node<'_>)) {
    visit(Node::List(&mut tree.functions));
    visit(Node::List(&mut tree.structs));
    let mut walk = Walk { visit };
    walk.statements(&mut tree.script);
    tree.functions.iter_mut().for_each(|function| walk.lambda(&mut function.lambda));
}

struct Walk<'v> {
    visit: &'v mut dyn FnMut(Node<'_>),
}

impl Walk<'_> {
    fn lambda(&mut self, lambda: &mut Lambda) {
        self.statements(&mut lambda.body.statements);
    }

    fn block(&mut self, block: &mut Block) {
        self.statements(&mut block.statements);
    }

    fn statements(&mut self, statements: &mut Vec<Stmt>) {
        (self.visit)(Node::List(statements));
        (self.visit)(Node::Statements(statements));
        statements.iter_mut().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &mut Stmt) {
        match &mut statement.kind {
            StmtKind::Declare { value, .. } => value.iter_mut().for_each(|value| self.expr(value)),
            StmtKind::Assign { place, value, .. } => {
                // The place must stay one: only what stands in it may change.
                match &mut place.kind {
                    ExprKind::Field(field) => self.expr(&mut field.object),
                    ExprKind::Index { object, index } => {
                        self.expr(object);
                        self.expr(index);
                    }
                    _ => {}
                }
                self.expr(value);
            }
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::If { arms, otherwise } => {
                if arms.len() > 1 {
                    (self.visit)(Node::List(arms));
                }
                (self.visit)(Node::Else(otherwise));
                for (condition, block) in arms {
                    self.expr(condition);
                    self.block(block);
                }
                otherwise.iter_mut().for_each(|block| self.block(block));
            }
            StmtKind::While { condition, body } => {
                self.expr(condition);
                self.block(body);
            }
            StmtKind::For { from, to, body, .. } => {
                self.expr(from);
                to.iter_mut().for_each(|to| self.expr(&mut to.0));
                self.block(body);
            }
            StmtKind::Match { value, arms } => {
                self.expr(value);
                (self.visit)(Node::List(arms));
                for arm in arms {
                    if arm.patterns.len() > 1 {
                        (self.visit)(Node::List(&mut arm.patterns));
                    }
                    arm.patterns.iter_mut().for_each(|pattern| self.pattern(pattern));
                    self.block(&mut arm.body);
                }
            }
            StmtKind::Return(value) => value.iter_mut().for_each(|value| self.expr(value)),
            StmtKind::Block(block) => self.block(block),
            StmtKind::Break | StmtKind::Continue | StmtKind::Error => {}
        }
    }

    fn pattern(&mut self, pattern: &mut Pattern) {
        match &mut pattern.kind {
            PatternKind::Literal(literal) => self.expr(literal),
            PatternKind::Range { from, to, .. } => {
                self.expr(from);
                self.expr(to);
            }
            PatternKind::Any => {}
        }
    }

    fn exprs(&mut self, exprs: &mut [Expr]) {
        exprs.iter_mut().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &mut Expr) {
        (self.visit)(Node::Expr(expr));
        match &mut expr.kind {
            ExprKind::Unary { operand, .. } | ExprKind::Unwrap(operand) => self.expr(operand),
            ExprKind::Chain(chain) => {
                if chain.rest.len() > 1 {
                    (self.visit)(Node::List(&mut chain.rest));
                }
                self.expr(&mut chain.first);
                chain.rest.iter_mut().for_each(|(_, _, operand)| self.expr(operand));
            }
            ExprKind::Compare(compare) => {
                self.expr(&mut compare.left);
                self.expr(&mut compare.right);
            }
            ExprKind::Logic(logic) => {
                if logic.operands.len() > 2 {
                    (self.visit)(Node::List(&mut logic.operands));
                }
                self.exprs(&mut logic.operands);
            }
            ExprKind::Call(call) => {
                let Call { callee, args } = &mut **call;
                match callee.kind {
                    ExprKind::Name(symbol) => (self.visit)(Node::Parts(symbol, args)),
                    _ => self.expr(callee),
                }
                (self.visit)(Node::List(args));
                self.exprs(args);
            }
            ExprKind::Method(method) => {
                self.expr(&mut method.receiver);
                self.exprs(&mut method.args);
            }
            ExprKind::Field(field) => self.expr(&mut field.object),
            ExprKind::Index { object, index } => {
                self.expr(object);
                self.expr(index);
            }
            ExprKind::Array(elements) => {
                (self.visit)(Node::List(elements));
                self.exprs(elements);
            }
            ExprKind::Repeat { value, count } => {
                self.expr(value);
                self.expr(count);
            }
            ExprKind::Struct(literal) => {
                (self.visit)(Node::Parts(literal.name.symbol, &mut literal.fields));
                literal.fields.iter_mut().for_each(|(_, value)| self.expr(value));
            }
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Byte(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::Nil
            | ExprKind::Name(_)
            | ExprKind::Error => {}
        }
    }
}
