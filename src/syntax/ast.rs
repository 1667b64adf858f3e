//! The abstract syntax tree: what was written, with the place of everything.
//!
//! Chains of one precedence level (`a + b - c`, `p && q && r`, `else if …`) are flat lists, so that
//! the depth of the tree is the nesting of the source and never the length of a line.

use crate::source::{Span, Symbol};

/// A whole source file.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Functions, structs and top-level statements in the order written.
    pub items: Vec<Item>,
}

/// What stands at top level.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `fn name(…) { … }`
    Function(Function),
    /// `struct Name { … }`
    Struct(Struct),
    /// A statement.
    Statement(Stmt),
}

/// A name where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub symbol: Symbol,
    /// Its place.
    pub span: Span,
}

/// A named function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Everything after the name.
    pub lambda: Lambda,
}

/// Parameters, result and body: of a named function or of a function expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// The parameters.
    pub params: Vec<Param>,
    /// The result type, if one is given.
    pub result: Option<Type>,
    /// The body.
    pub body: Block,
    /// The head: from `fn` to before the body.
    pub head: Span,
}

/// A parameter or a struct's field.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
}

/// A struct declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// Its name.
    pub name: Name,
    /// The fields.
    pub fields: Vec<Param>,
    /// The whole declaration.
    pub span: Span,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// The forms of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `int`, `float`, `bool`, `byte`, `str` or a struct's name: a name either way.
    Name(Symbol),
    /// `[T]`
    Array(Box<Type>),
    /// `fn(A, B) -> R`
    Function(Vec<Type>, Option<Box<Type>>),
    /// `T?`
    Optional(Box<Type>),
    /// What could not be parsed; reported already.
    Error,
}

/// `{ … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Stmt>,
    /// From brace to brace.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// The whole statement.
    pub span: Span,
}

/// The forms of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `let`/`var NAME [: type] [= expr];`
    Declare {
        /// `var` rather than `let`.
        mutable: bool,
        /// The keyword's place.
        keyword: Span,
        /// The name.
        name: Name,
        /// The annotation.
        ty: Option<Box<Type>>,
        /// The value; absent only with `var`.
        value: Option<Expr>,
    },
    /// `place = expr;` or `place op= expr;`
    Assign {
        /// The place: a name, field or index expression.
        place: Expr,
        /// The operator of a compound assignment and its place.
        op: Option<(BinaryOp, Span)>,
        /// The right side.
        value: Expr,
    },
    /// `expr;`
    Expr(Expr),
    /// `if … { } else if … { } else { }`
    If {
        /// Conditions and their blocks: `if`, then each `else if`.
        arms: Vec<(Expr, Block)>,
        /// The last `else`.
        otherwise: Option<Block>,
    },
    /// `while cond { }`
    While {
        /// The condition.
        condition: Expr,
        /// The body.
        body: Block,
    },
    /// `for x in e { }`, `for i in a..b { }`, `for i in a..=b { }`
    For {
        /// The loop's variable.
        name: Name,
        /// The iterable, or the range's start.
        from: Expr,
        /// The range's end, and whether it is included; absent for an iterable.
        to: Option<Box<(Expr, bool)>>,
        /// The body.
        body: Box<Block>,
    },
    /// `match e { … }`
    Match {
        /// What is looked at.
        value: Expr,
        /// The arms in order.
        arms: Vec<Arm>,
    },
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return [e];`
    Return(Option<Expr>),
    /// `{ … }`
    Block(Block),
    /// What could not be parsed; reported already.
    Error,
}

/// An arm of a `match`.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The patterns, any of which selects the arm.
    pub patterns: Vec<Pattern>,
    /// The body.
    pub body: Block,
}

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Its place.
    pub span: Span,
}

/// The forms of patterns. Literal expressions are one of `Int`, `Float`, `Byte`, `Bool`, `Str`,
/// `Nil` (a leading `-` is folded into the number).
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// A literal.
    Literal(Expr),
    /// `lo..hi` or `lo..=hi`.
    Range {
        /// The lower end.
        from: Expr,
        /// The upper end.
        to: Expr,
        /// `..=`
        inclusive: bool,
    },
    /// `_`
    Any,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its place (parentheses around it included).
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// An integer literal; `-9223372036854775808` is one too, as is a hexadecimal bit pattern.
    Int(i64),
    /// A float literal.
    Float(f64),
    /// A byte literal.
    Byte(u8),
    /// `true`, `false`
    Bool(bool),
    /// A string literal with its escapes resolved.
    Str(Box<[u8]>),
    /// `nil`
    Nil,
    /// A name.
    Name(Symbol),
    /// `-e`, `!e`, `~e`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `a + b - c …`: operators of one precedence level, grouped to the left.
    Chain(Box<Chain>),
    /// `a < b`; comparisons do not chain.
    Compare(Box<Compare>),
    /// `a && b && c` or `a || b || c`.
    Logic(Box<Logic>),
    /// `f(a, b)`
    Call(Box<Call>),
    /// `x.f(a, b)`
    Method(Box<Method>),
    /// `x.name`
    Field(Box<Field>),
    /// `x[i]`
    Index {
        /// `x`
        object: Box<Expr>,
        /// `i`
        index: Box<Expr>,
    },
    /// `x!`
    Unwrap(Box<Expr>),
    /// `[a, b, c]`
    Array(Vec<Expr>),
    /// `[e; n]`
    Repeat {
        /// `e`
        value: Box<Expr>,
        /// `n`
        count: Box<Expr>,
    },
    /// `Name { field: e, … }`
    Struct(Box<StructLiteral>),
    /// `fn(…) { … }`
    Lambda(Box<Lambda>),
    /// What could not be parsed; reported already.
    Error,
}

/// Operators of one precedence level.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The leftmost operand.
    pub first: Expr,
    /// The operators, their places and right operands.
    pub rest: Vec<(BinaryOp, Span, Expr)>,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    /// The operator.
    pub op: CompareOp,
    /// The operator's place.
    pub op_span: Span,
    /// Left operand.
    pub left: Expr,
    /// Right operand.
    pub right: Expr,
}

/// Operands of `&&` or of `||`.
#[derive(Clone, Debug, PartialEq)]
pub struct Logic {
    /// Whether it is `&&`.
    pub and: bool,
    /// Two or more operands.
    pub operands: Vec<Expr>,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The callee.
    pub callee: Expr,
    /// The arguments.
    pub args: Vec<Expr>,
}

/// A call in the form of a method's.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// The first argument, before the point.
    pub receiver: Expr,
    /// The function's name.
    pub name: Name,
    /// The arguments after the receiver.
    pub args: Vec<Expr>,
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The object.
    pub object: Expr,
    /// The field's name.
    pub name: Name,
}

/// A struct literal.
#[derive(Clone, Debug, PartialEq)]
pub struct StructLiteral {
    /// The struct's name.
    pub name: Name,
    /// Fields in the order written.
    pub fields: Vec<(Name, Expr)>,
}

// Trees of large programs are most of what the front end holds: their nodes stay small.
const _: () = assert!(size_of::<Expr>() == 32 && size_of::<Stmt>() == 88);

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
    /// `~`
    BitNot,
}

/// Binary operators that group to the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    /// `>>`
    Shr,
    /// `>>>`
    UShr,
    BitAnd,
    BitXor,
    BitOr,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl UnaryOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Not => "!",
            UnaryOp::BitNot => "~",
        }
    }
}

impl BinaryOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::UShr => ">>>",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
        }
    }
}

impl CompareOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}
