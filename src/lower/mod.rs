//! HIR to the variable form of the IR.
