//! What the checks on the flow of control must know beside the code itself.
//!
//! Lowering fills these tables while it walks the typed tree: which variables begin without a
//! value, where such a variable is read and in which words of the source, which statement begins in
//! which block, and what mentions which function or global. The checks then need neither tree nor
//! names. Entities are those of the module that lowering makes beside it.

use crate::entity::Arena;
use crate::ir::{Block, FuncRef, Function, Global, Inst, Variable};
use crate::source::Span;

/// A point in a function: before the instruction with this index in its block, or before the
/// block's terminator where the index is the number of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// The block.
    pub block: Block,
    /// The index in the block's list.
    pub index: u32,
}

impl Point {
    /// The instruction that stands here; none at a terminator.
    pub fn inst(self, function: &Function) -> Option<Inst> {
        function.blocks[self.block].insts.get(self.index as usize).copied()
    }
}

/// What the checks must know of a whole program.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Of each function.
    pub functions: Arena<FuncRef, FunctionFacts>,
    /// Of each global.
    pub globals: Arena<Global, GlobalFacts>,
    /// The top-level statements, in order.
    pub statements: Vec<Span>,
}

/// What the checks must know of a function.
#[derive(Clone, Debug, Default)]
pub struct FunctionFacts {
    /// Its name, as written in the source; none for a function expression and the script.
    pub name: Option<String>,
    /// Its name's place or its head.
    pub head: Span,
    /// Its body from brace to brace.
    pub body: Span,
    /// The variables declared without a value.
    pub late: Vec<Variable>,
    /// Where those are read.
    pub reads: Vec<Read>,
    /// Declarations and assignments of its variables (but parameters' and loop variables').
    pub writes: Vec<Write>,
    /// What it mentions of the module.
    pub mentions: Vec<Mention>,
    /// Its statements, each before those inside it.
    pub statements: Vec<Statement>,
    /// For a function with a result: the block in which control falls off its end.
    pub end: Option<Block>,
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct GlobalFacts {
    /// Its name's place in its declaration.
    pub span: Span,
    /// Its declaration's place among the top-level statements.
    pub statement: u32,
    /// Whether it is declared without a value.
    pub late: bool,
    /// Whether it has had its value before.
    pub known: bool,
}

/// A read of a variable that was declared without a value.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// When.
    pub at: Point,
    /// Which.
    pub variable: Variable,
    /// In which words.
    pub span: Span,
}

/// A declaration or an assignment of a variable.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// When it is done.
    pub at: Point,
    /// Which variable.
    pub variable: Variable,
    /// The variable's name there.
    pub span: Span,
    /// What kind of write it is.
    pub kind: WriteKind,
}

/// The kinds of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// A declaration with a value.
    Declaration,
    /// A declaration without one.
    Late,
    /// An assignment.
    Assignment,
}

/// A mention of something of the module.
#[derive(Clone, Copy, Debug)]
pub struct Mention {
    /// When.
    pub at: Point,
    /// What.
    pub what: Mentioned,
    /// In which words.
    pub span: Span,
}

impl Mention {
    /// The function mentioned, if it is one.
    pub fn function(&self) -> Option<FuncRef> {
        match self.what {
            Mentioned::Function(function) => Some(function),
            _ => None,
        }
    }
}

/// What is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mentioned {
    /// A function: called, or used as a value.
    Function(FuncRef),
    /// A global that is read.
    Global(Global),
    /// A global that is assigned.
    Store(Global),
}

/// A statement.
#[derive(Clone, Copy, Debug)]
pub struct Statement {
    /// The block in which it begins.
    pub block: Block,
    /// Its place.
    pub span: Span,
    /// Where the list of statements that it stands in ends.
    pub list_end: u32,
    /// Whether it begins an arm of a `match`. Arms that can never match are reported where the
    /// patterns are checked.
    pub begins_arm: bool,
}
