//! What happens while SSA form is constructed.
//!
//! Values and instructions are named by number; the function that comes out still has all of them,
//! those that are gone too.

use crate::ir::{Block, Inst, Value, Variable};

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The instructions of a block are being renamed from here on.
    Fill(Block),
    /// An instruction has these operands now, and this result; it stays, or this value does for it.
    Renamed(Block, Inst, Vec<Value>, Option<Value>, Option<Value>),
    /// A block is filled: its end has these operands.
    Filled(Block, Vec<Value>),
    /// A variable has this value at the end of what is renamed of a block.
    Defined(Variable, Block, Value),
    /// A search for a variable's value passed through a block, and found this.
    Found(Variable, Block, Value),
    /// All predecessors of a block are filled: its incomplete φs get their operands.
    Sealed(Block),
    /// The search for a variable's value comes to a join whose operands may differ.
    Marked(Variable, Block),
    /// The operands of a marked join are all this value: no φ is needed.
    Agreed(Variable, Block, Value),
    /// A φ is made; incomplete where it waits for the block to be sealed.
    Phi(Variable, Block, Value, bool),
    /// A φ gets its operands.
    Operands(Value, Vec<Value>),
    /// A φ is trivial, or a redundant component has it: this value stands for it.
    Replaced(Value, Value),
    /// Where φs of a variable go is looked for, from the blocks that assign it.
    Place(Variable, Vec<Block>),
    /// The frontier of a block is looked at, for the variable.
    Look(Variable, Block),
    /// A block is in the iterated frontier: it gets a φ of the variable, or needs none.
    Join(Variable, Block, bool),
    /// The renaming walk enters a block.
    Enter(Block),
    /// A version comes on top of a variable's stack.
    Push(Variable, Value),
    /// The walk goes back above this block.
    Leave(Block),
    /// The top of a variable's stack goes; below it is this.
    Pop(Variable, Option<Value>),
    /// On the way to this block the variable's φ gets this value.
    Argument(Block, Block, Variable, Value),
}
