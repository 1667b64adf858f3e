//! Checked Bril: names resolved, types right. What the interpreter and the lowering read.
//!
//! A function's code is one list, in the order of the text; a label is the place of the instruction
//! that follows it. Nothing here needs to be checked again, but what depends on the run: whether a
//! variable has been assigned, what memory holds, divisors, the end of a function with a result.

use crate::entity::Arena;
use crate::source::Span;

crate::entity! {
    /// A function.
    Func = "f";
    /// A variable of a function.
    Var = "x";
    /// A label of a function.
    Label = "l";
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The functions of all its files.
    pub functions: Arena<Func, Function>,
    /// Where it begins.
    pub main: Option<Func>,
}

/// A type without `ptr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// 64 bits, two's complement.
    Int,
    /// `true` or `false`.
    Bool,
    /// binary64.
    Float,
    /// A Unicode scalar value.
    Char,
}

/// A type: so many `ptr` around a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ty {
    /// What is inside.
    pub base: Base,
    /// How many `ptr` are around it.
    pub pointers: u32,
}

impl Ty {
    /// `int`
    pub const INT: Ty = Ty { base: Base::Int, pointers: 0 };
    /// `bool`
    pub const BOOL: Ty = Ty { base: Base::Bool, pointers: 0 };
    /// `float`
    pub const FLOAT: Ty = Ty { base: Base::Float, pointers: 0 };
    /// `char`
    pub const CHAR: Ty = Ty { base: Base::Char, pointers: 0 };

    /// Whether it is a pointer.
    pub fn is_pointer(self) -> bool {
        self.pointers > 0
    }

    /// What a pointer points at.
    pub fn pointee(self) -> Option<Ty> {
        Some(Ty { pointers: self.pointers.checked_sub(1)?, ..self })
    }
}

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let base = match self.base {
            Base::Int => "int",
            Base::Bool => "bool",
            Base::Float => "float",
            Base::Char => "char",
        };
        for _ in 0..self.pointers {
            f.write_str("ptr<")?;
        }
        f.write_str(base)?;
        for _ in 0..self.pointers {
            f.write_str(">")?;
        }
        Ok(())
    }
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// Where its body ends.
    pub end: Span,
    /// The variables that its arguments go to.
    pub params: Vec<Var>,
    /// The type of its result.
    pub result: Option<Ty>,
    /// Its variables.
    pub vars: Arena<Var, VarData>,
    /// Where its labels lead to: an index of `code`, or its length.
    pub labels: Arena<Label, LabelData>,
    /// Its instructions.
    pub code: Vec<Inst>,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct VarData {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// Where it first stands with its type.
    pub span: Span,
}

/// A label.
#[derive(Clone, Debug)]
pub struct LabelData {
    /// Its name.
    pub name: String,
    /// The instruction that follows it.
    pub at: u32,
}

/// An instruction and its place.
#[derive(Clone, Debug)]
pub struct Inst {
    /// What it does.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// Of type int.
    Int(i64),
    /// Of type bool.
    Bool(bool),
    /// Of type float.
    Float(f64),
    /// Of type char.
    Char(char),
}

/// What an instruction does. The variable that gets the result comes first.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Const(Var, Constant),
    Unary(UnaryOp, Var, Var),
    Binary(BinaryOp, Var, [Var; 2]),
    Id(Var, Var),
    Bitcast(Var, Var),
    Jmp(Label),
    Br(Var, [Label; 2]),
    Ret(Option<Var>),
    Call(Option<Var>, Func, Vec<Var>),
    Print(Vec<Var>),
    Nop,
    Alloc(Var, Var),
    Free(Var),
    Store(Var, Var),
    Load(Var, Var),
    PtrAdd(Var, Var, Var),
    /// By the label that control came from.
    Phi(Var, Vec<(Label, Var)>),
    /// Sets the shadow of a variable; none where no `get` reads it.
    Set(Option<Var>, Var),
    /// The shadow of the variable that gets it.
    Get(Var),
    Undef(Var),
}

impl Kind {
    /// Whether what stands behind it is reached by labels only.
    pub fn ends_block(&self) -> bool {
        matches!(self, Kind::Jmp(_) | Kind::Br(..) | Kind::Ret(_))
    }

    /// The labels that it may jump to.
    pub fn targets(&self) -> &[Label] {
        match self {
            Kind::Jmp(label) => std::slice::from_ref(label),
            Kind::Br(_, labels) => labels,
            _ => &[],
        }
    }

    /// The variable that it assigns.
    pub fn dest(&self) -> Option<Var> {
        match *self {
            Kind::Const(dest, _)
            | Kind::Unary(_, dest, _)
            | Kind::Binary(_, dest, _)
            | Kind::Id(dest, _)
            | Kind::Bitcast(dest, _)
            | Kind::Alloc(dest, _)
            | Kind::Load(dest, _)
            | Kind::PtrAdd(dest, ..)
            | Kind::Phi(dest, _)
            | Kind::Get(dest)
            | Kind::Undef(dest) => Some(dest),
            Kind::Call(dest, ..) => dest,
            _ => None,
        }
    }
}

/// The operations on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Not,
    CharToInt,
    IntToChar,
    FloatToBits,
    BitsToFloat,
}

/// The operations on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Eq,
    Lt,
    Gt,
    Le,
    Ge,
    And,
    Or,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FEq,
    FLt,
    FGt,
    FLe,
    FGe,
    CEq,
    CLt,
    CGt,
    CLe,
    CGe,
}

/// What stands where an operation is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op {
    Const,
    Unary(UnaryOp),
    Binary(BinaryOp),
    Id,
    Bitcast,
    Jmp,
    Br,
    Ret,
    Call,
    Print,
    Nop,
    Alloc,
    Free,
    Store,
    Load,
    PtrAdd,
    Phi,
    Set,
    Get,
    Undef,
    /// An extension that is not supported, by its name.
    Foreign(&'static str),
}

impl BinaryOp {
    /// The type of its operands and that of its result.
    pub fn types(self) -> (Ty, Ty) {
        use BinaryOp::*;
        match self {
            Add | Sub | Mul | Div => (Ty::INT, Ty::INT),
            Eq | Lt | Gt | Le | Ge => (Ty::INT, Ty::BOOL),
            And | Or => (Ty::BOOL, Ty::BOOL),
            FAdd | FSub | FMul | FDiv => (Ty::FLOAT, Ty::FLOAT),
            FEq | FLt | FGt | FLe | FGe => (Ty::FLOAT, Ty::BOOL),
            CEq | CLt | CGt | CLe | CGe => (Ty::CHAR, Ty::BOOL),
        }
    }
}

impl UnaryOp {
    /// The type of its operand and that of its result.
    pub fn types(self) -> (Ty, Ty) {
        match self {
            UnaryOp::Not => (Ty::BOOL, Ty::BOOL),
            UnaryOp::CharToInt => (Ty::CHAR, Ty::INT),
            UnaryOp::IntToChar => (Ty::INT, Ty::CHAR),
            UnaryOp::FloatToBits => (Ty::FLOAT, Ty::INT),
            UnaryOp::BitsToFloat => (Ty::INT, Ty::FLOAT),
        }
    }
}

/// The operations by their names.
pub const OPS: &[(&str, Op)] = &[
    ("const", Op::Const),
    ("add", Op::Binary(BinaryOp::Add)),
    ("sub", Op::Binary(BinaryOp::Sub)),
    ("mul", Op::Binary(BinaryOp::Mul)),
    ("div", Op::Binary(BinaryOp::Div)),
    ("eq", Op::Binary(BinaryOp::Eq)),
    ("lt", Op::Binary(BinaryOp::Lt)),
    ("gt", Op::Binary(BinaryOp::Gt)),
    ("le", Op::Binary(BinaryOp::Le)),
    ("ge", Op::Binary(BinaryOp::Ge)),
    ("not", Op::Unary(UnaryOp::Not)),
    ("and", Op::Binary(BinaryOp::And)),
    ("or", Op::Binary(BinaryOp::Or)),
    ("fadd", Op::Binary(BinaryOp::FAdd)),
    ("fsub", Op::Binary(BinaryOp::FSub)),
    ("fmul", Op::Binary(BinaryOp::FMul)),
    ("fdiv", Op::Binary(BinaryOp::FDiv)),
    ("feq", Op::Binary(BinaryOp::FEq)),
    ("flt", Op::Binary(BinaryOp::FLt)),
    ("fgt", Op::Binary(BinaryOp::FGt)),
    ("fle", Op::Binary(BinaryOp::FLe)),
    ("fge", Op::Binary(BinaryOp::FGe)),
    ("ceq", Op::Binary(BinaryOp::CEq)),
    ("clt", Op::Binary(BinaryOp::CLt)),
    ("cgt", Op::Binary(BinaryOp::CGt)),
    ("cle", Op::Binary(BinaryOp::CLe)),
    ("cge", Op::Binary(BinaryOp::CGe)),
    ("char2int", Op::Unary(UnaryOp::CharToInt)),
    ("int2char", Op::Unary(UnaryOp::IntToChar)),
    ("float2bits", Op::Unary(UnaryOp::FloatToBits)),
    ("bits2float", Op::Unary(UnaryOp::BitsToFloat)),
    ("bitcast", Op::Bitcast),
    ("id", Op::Id),
    ("jmp", Op::Jmp),
    ("br", Op::Br),
    ("ret", Op::Ret),
    ("call", Op::Call),
    ("print", Op::Print),
    ("nop", Op::Nop),
    ("alloc", Op::Alloc),
    ("free", Op::Free),
    ("store", Op::Store),
    ("load", Op::Load),
    ("ptradd", Op::PtrAdd),
    ("phi", Op::Phi),
    ("set", Op::Set),
    ("get", Op::Get),
    ("undef", Op::Undef),
    ("speculate", Op::Foreign("speculative execution")),
    ("commit", Op::Foreign("speculative execution")),
    ("guard", Op::Foreign("speculative execution")),
];
