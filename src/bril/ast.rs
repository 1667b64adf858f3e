//! Bril programs as they are written: the tree that the text and the JSON form have in common.
//!
//! Names are symbols of an [`Interner`](crate::source::Interner); every part that a message may
//! point at has its place.

use crate::source::{Span, Symbol};
use smallvec::SmallVec;

/// A name and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name, without `@` or `.`.
    pub symbol: Symbol,
    /// Where it stands, with `@` or `.`.
    pub span: Span,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// What it takes from other files.
    pub imports: Vec<Import>,
    /// Its functions.
    pub functions: Vec<Function>,
}

/// `from "PATH" import @NAME as @ALIAS, …;`
#[derive(Clone, Debug)]
pub struct Import {
    /// The other file.
    pub path: String,
    /// Where its name stands.
    pub span: Span,
    /// The functions, each with the name that it gets here.
    pub functions: Vec<(Name, Option<Name>)>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<(Name, Type)>,
    /// The type of its result.
    pub result: Option<Type>,
    /// Labels and instructions in order.
    pub body: Vec<Code>,
    /// Where its body ends.
    pub end: Span,
}

/// A type: `int`, or `ptr<…>` around one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The words from the outside in; all but the last have brackets around what follows.
    pub words: SmallVec<[Symbol; 2]>,
    /// Where it stands.
    pub span: Span,
}

/// A label or an instruction.
#[derive(Clone, Debug)]
pub enum Code {
    /// `.name:`
    Label(Name),
    /// An instruction.
    Inst(Inst),
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    /// The operation.
    pub op: Name,
    /// The variable that gets the result.
    pub dest: Option<Name>,
    /// The result's type.
    pub ty: Option<Type>,
    /// The variables that it takes.
    pub args: SmallVec<[Name; 2]>,
    /// The functions that it names.
    pub funcs: SmallVec<[Name; 1]>,
    /// The labels that it names.
    pub labels: SmallVec<[Name; 2]>,
    /// The constant.
    pub value: Option<(Literal, Span)>,
    /// All of it.
    pub span: Span,
}

/// A constant as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// `42`
    Int(i64),
    /// `4.2`
    Float(f64),
    /// `true`
    Bool(bool),
    /// `'c'`
    Char(char),
}
