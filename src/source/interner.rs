//! Names, each stored once and compared by number.

use crate::entity::Arena;
use rustc_hash::FxHashMap;

crate::entity! {
    /// An interned name.
    Symbol = "sym";
}

/// The table of names of one compilation. Iteration order never depends on the hash.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    map: FxHashMap<Box<str>, Symbol>,
    names: Arena<Symbol, Box<str>>,
}

impl Interner {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The symbol of a name.
    pub fn intern(&mut self, name: &str) -> Symbol {
        if let Some(&symbol) = self.map.get(name) {
            return symbol;
        }
        let symbol = self.names.push(name.into());
        self.map.insert(name.into(), symbol);
        symbol
    }

    /// The symbol of a name that was interned before.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.map.get(name).copied()
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol]
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.len() == 0
    }
}
