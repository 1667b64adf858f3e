//! The typed tree (HIR): names resolved, types known, every implicit step written out.
//!
//! A tree that came out of `sema::check` without an error is well typed, so that its consumers
//! (the interpreter and lowering) check nothing. What depends on paths (assignment before use,
//! return on every path, code that can't be reached) is not decided here but on the CFG.

mod builtin;
mod types;

pub use builtin::Builtin;
pub use types::{TyKind, Types};

use crate::entity::Arena;
use crate::source::{Span, Symbol};
pub use crate::syntax::ast::{BinaryOp, CompareOp, UnaryOp};

crate::entity! {
    /// A type, interned: equal types have equal numbers.
    Ty = "ty";
    /// A struct.
    StructId = "struct";
    /// A function: named, a function expression, or the script (the top-level statements).
    FuncId = "fn";
    /// A global variable.
    GlobalId = "g";
    /// A local variable of one function: parameter, `let`, `var`, loop variable or captured copy.
    LocalId = "local";
}

/// A whole checked program.
#[derive(Clone, Debug)]
pub struct Program {
    /// All types.
    pub types: Types,
    /// All structs.
    pub structs: Arena<StructId, Struct>,
    /// All functions; the script is one of them.
    pub functions: Arena<FuncId, Function>,
    /// All globals, in the order declared.
    pub globals: Arena<GlobalId, Global>,
    /// The function that holds the top-level statements (no parameters, no result).
    pub script: FuncId,
    /// The user's `main`, called after the script.
    pub main: Option<Main>,
    /// So many functions at the beginning are the host's: they have no bodies, and the globals of the
    /// same numbers hold their values.
    pub hosts: usize,
    /// Whether its code shall burn fuel.
    pub metered: bool,
}

/// The user's `main` and its signature.
#[derive(Clone, Copy, Debug)]
pub struct Main {
    /// The function.
    pub function: FuncId,
    /// Whether it takes `args: [str]`.
    pub takes_args: bool,
    /// Whether it gives the exit code.
    pub returns_int: bool,
}

/// A struct.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Its name.
    pub name: Symbol,
    /// Field names and types in the order declared.
    pub fields: Vec<(Symbol, Ty)>,
    /// The name's place.
    pub span: Span,
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name.
    pub name: Symbol,
    /// Its type.
    pub ty: Ty,
    /// `var` rather than `let`.
    pub mutable: bool,
    /// The name's place in its declaration.
    pub span: Span,
}

/// What kind of function it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// The top-level statements.
    Script,
    /// A named function.
    Named,
    /// A function expression.
    Lambda,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name; none for a function expression and the script.
    pub name: Option<Symbol>,
    /// What kind it is.
    pub kind: FunctionKind,
    /// Parameters in order.
    pub params: Vec<LocalId>,
    /// The result type, `Ty::UNIT` for none.
    pub result: Ty,
    /// The function's own type.
    pub ty: Ty,
    /// For a function expression: what is captured, by value, when it is evaluated.
    pub captures: Vec<Capture>,
    /// All local variables.
    pub locals: Arena<LocalId, Local>,
    /// The body.
    pub body: Block,
    /// The name's place (named), else the head's (`fn (…) -> R`); the whole text for the script.
    pub span: Span,
}

/// A captured variable.
#[derive(Clone, Copy, Debug)]
pub struct Capture {
    /// The variable of the enclosing function whose value is taken.
    pub outer: LocalId,
    /// The variable of this function that holds the copy.
    pub inner: LocalId,
    /// A use inside, to be named when `outer` is not assigned at that time.
    pub span: Span,
}

/// A local variable.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name.
    pub name: Symbol,
    /// Its type.
    pub ty: Ty,
    /// Whether it may be assigned again.
    pub mutable: bool,
    /// The name's place in its declaration.
    pub span: Span,
}

/// A block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its statements.
    pub statements: Vec<Stmt>,
    /// From brace to brace.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// The whole statement.
    pub span: Span,
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A local declaration; without a value (`var x: T;`) the variable becomes unassigned.
    Let {
        /// The variable.
        local: LocalId,
        /// Its first value, of exactly the variable's type.
        value: Option<Expr>,
    },
    /// A global declaration (in the script only).
    Global {
        /// The variable.
        global: GlobalId,
        /// Its first value.
        value: Option<Expr>,
    },
    /// `place = value;`: parts of the place, then the value, then nil and bounds checks, then the
    /// store.
    Assign {
        /// The place.
        place: Place,
        /// The value, of exactly the place's type.
        value: Expr,
    },
    /// `place op= value;`: parts of the place once, the old value with its checks, the right side,
    /// then the checks again and the store.
    Compound {
        /// The place.
        place: Place,
        /// The operator, on the place's type (`str` for `+` on strings).
        op: BinaryOp,
        /// The operator's place, where a division's trap points.
        op_span: Span,
        /// The right side (an `int` for shifts).
        value: Expr,
    },
    /// An expression for its effect.
    Expr(Expr),
    /// Conditions and blocks in order, then the `else`.
    If {
        /// `if`, `else if` …
        arms: Vec<(Expr, Block)>,
        /// `else`
        otherwise: Option<Block>,
    },
    /// A loop on a condition. Where the condition is the literal `true`, only `break` leaves it.
    While {
        /// The condition.
        condition: Expr,
        /// The body.
        body: Block,
    },
    /// A loop over ints.
    ForRange {
        /// The variable, new each time round.
        local: LocalId,
        /// The first value; evaluated once.
        from: Expr,
        /// The end; evaluated once, after `from`.
        to: Expr,
        /// Whether the end itself is included.
        inclusive: bool,
        /// The body.
        body: Block,
    },
    /// A loop over the elements of an array or the bytes of a string, while the index is below the
    /// length at that moment.
    ForIn {
        /// The variable, new each time round.
        local: LocalId,
        /// The array or string; evaluated once.
        iterable: Expr,
        /// The body.
        body: Block,
    },
    /// The first arm with a pattern that fits, or nothing.
    Match {
        /// An int, byte, bool or str.
        value: Expr,
        /// The arms in order.
        arms: Vec<Arm>,
    },
    /// Leaves the innermost loop.
    Break,
    /// Goes on with the innermost loop's next round.
    Continue,
    /// Leaves the function.
    Return(Option<Expr>),
    /// A block.
    Block(Block),
}

/// An arm of a match.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The patterns; an arm whose pattern list is empty can never match (its patterns were empty
    /// ranges).
    pub patterns: Vec<Pattern>,
    /// The body.
    pub body: Block,
    /// From the first pattern to the end of the body.
    pub span: Span,
}

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Ints or bytes from the first to the second, both included; never empty.
    Range(i64, i64),
    /// A bool.
    Bool(bool),
    /// A string.
    Str(Box<[u8]>),
    /// Anything.
    Any,
}

/// Where an assignment goes.
#[derive(Clone, Debug)]
pub struct Place {
    /// What it is.
    pub kind: PlaceKind,
    /// The type of what is stored there.
    pub ty: Ty,
    /// Where a trap points.
    pub span: Span,
}

/// The forms of places.
#[derive(Clone, Debug)]
pub enum PlaceKind {
    /// A local variable.
    Local(LocalId),
    /// A global variable.
    Global(GlobalId),
    /// A field; traps where the object is nil and its type is optional.
    Field {
        /// The object.
        object: Box<Expr>,
        /// Its struct.
        structure: StructId,
        /// The field's number.
        field: u32,
    },
    /// An element of an array.
    Index {
        /// The array.
        object: Box<Expr>,
        /// The index.
        index: Box<Expr>,
    },
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type; `Ty::UNIT` for a call without a result.
    pub ty: Ty,
    /// Its place; a trap in it points there.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An int.
    Int(i64),
    /// A float.
    Float(f64),
    /// A byte.
    Byte(u8),
    /// A bool.
    Bool(bool),
    /// A string.
    Str(Box<[u8]>),
    /// `nil`, of the optional type in `ty`.
    Nil,
    /// A local variable.
    Local(LocalId),
    /// A global variable.
    Global(GlobalId),
    /// A named function as a value.
    Function(FuncId),
    /// A function expression: a new closure of the function with its captures' current values.
    Closure(FuncId),
    /// A `T` as a `T?`; the same bits.
    Wrap(Box<Expr>),
    /// A unary operator on int, float, byte or bool (the operand's type).
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// Operators of one level on one type (int, float, byte, bool, or `+` on str), left to right.
    Chain(Box<Chain>),
    /// A comparison; both sides have one type (`T` beside `T?` is wrapped; `nil` is `Nil`). Arrays,
    /// structs and functions compare by identity; str by its bytes, a `str?` by its bytes where
    /// both are not nil.
    Compare {
        /// The operator.
        op: CompareOp,
        /// Left side.
        left: Box<Expr>,
        /// Right side.
        right: Box<Expr>,
    },
    /// Short-circuit and/or of two or more operands.
    Logic {
        /// `&&` rather than `||`.
        and: bool,
        /// The operands.
        operands: Box<[Expr]>,
    },
    /// `int(x)`, `float(x)`, `byte(x)`, `str(x)`: from the operand's type to `ty`.
    Convert(Box<Expr>),
    /// A field; traps where the object is nil and its type is optional.
    Field {
        /// The object.
        object: Box<Expr>,
        /// Its struct.
        structure: StructId,
        /// The field's number.
        field: u32,
    },
    /// An element of an array (or of an optional one: traps on nil), or a byte of a str.
    Index {
        /// The array or str.
        object: Box<Expr>,
        /// The index.
        index: Box<Expr>,
    },
    /// `x!`: traps on nil.
    Unwrap(Box<Expr>),
    /// A call of a known function.
    Call {
        /// The function.
        function: FuncId,
        /// The arguments.
        args: Box<[Expr]>,
    },
    /// A call of a function value (or of an optional one: traps on nil after the arguments).
    CallValue(Box<CallValue>),
    /// A call of a builtin.
    Builtin {
        /// Which.
        builtin: Builtin,
        /// The arguments.
        args: Box<[Expr]>,
    },
    /// `[a, b, c]`
    Array(Box<[Expr]>),
    /// `[e; n]`
    Repeat {
        /// The element.
        value: Box<Expr>,
        /// How many.
        count: Box<Expr>,
    },
    /// A struct literal with all fields, in the order written.
    Struct {
        /// The struct.
        structure: StructId,
        /// Field numbers and values.
        fields: Box<[(u32, Expr)]>,
    },
    /// What was reported already. Never in a checked program.
    Error,
}

/// Operators of one level on one type.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The leftmost operand.
    pub first: Expr,
    /// Operator, its place (where a division's trap points) and right operand; the count of a shift
    /// is an int.
    pub rest: Box<[(BinaryOp, Span, Expr)]>,
}

/// A call of a function value.
#[derive(Clone, Debug)]
pub struct CallValue {
    /// The function value.
    pub callee: Expr,
    /// The arguments.
    pub args: Box<[Expr]>,
}

// As of the tree as written, nodes stay small.
const _: () = assert!(size_of::<Expr>() == 40);
