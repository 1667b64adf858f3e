//! The table of entry points.

/// How a parameter or result is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Abi {
    Int,
    Float,
    Bool,
    Ref,
}

/// Effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Effects(pub u8);
#[allow(missing_docs)]
impl Effects {
    pub const READS: Effects = Effects(1);
    pub const WRITES: Effects = Effects(2);
    pub const ALLOCATES: Effects = Effects(4);
    pub const TRAPS: Effects = Effects(8);
    pub const IO: Effects = Effects(16);
    pub const fn contains(self, other: Effects) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A row.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct EntryPoint {
    pub name: &'static str,
    pub params: &'static [Abi],
    pub result: Option<Abi>,
    pub effects: Effects,
}

/// The rows.
pub static ENTRIES: [EntryPoint; 2] = [
    EntryPoint { name: "print_int", params: &[Abi::Int], result: None, effects: Effects::IO },
    EntryPoint { name: "print_newline", params: &[], result: None, effects: Effects::IO },
];
