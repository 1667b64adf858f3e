//! How Toy's values and objects lie in memory.

/// What one field, element, capture or global holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// An int.
    Int,
    /// A float.
    Float,
    /// A bool.
    Bool,
    /// A byte.
    Byte,
    /// A reference: nil or an object.
    Ref,
}
