//! Values that stand for others: a pass that finds `v` equal to `w` forwards `v` to `w` and rewrites
//! the operands once, at its end.
//!
//! A union-find forest without ranks, with path halving: the representative is the value that the
//! last forwarding of a chain names.

use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::ir::{Function, Value};

/// For each value: the value to use in its place.
#[derive(Clone, Debug)]
pub struct Forward {
    to: Buffer<Value>,
    used: bool,
}

const SELF: Value = Value(u32::MAX);

impl Forward {
    /// Every value stands for itself.
    pub fn new(function: &Function) -> Self {
        Self { to: Buffer::filled(SELF, function.values.len()), used: false }
    }

    /// What is noted of a value; nothing of one made since.
    #[inline]
    fn next(&self, value: Value) -> Value {
        self.to.get(value.index()).copied().unwrap_or(SELF)
    }

    /// Uses `to` in place of `from` from now on. `to` must not stand for `from`.
    pub fn set(&mut self, from: Value, to: Value) {
        debug_assert!(self.resolve(to) != from);
        if from.index() >= self.to.len() {
            self.to.resize(from.index() + 1, SELF);
        }
        self.to[from.index()] = to;
        self.used = true;
    }

    /// The value to use in place of `value`.
    #[inline]
    pub fn resolve(&mut self, mut value: Value) -> Value {
        loop {
            let next = self.next(value);
            if next == SELF {
                return value;
            }
            let after = self.next(next);
            if after == SELF {
                return next;
            }
            self.to[value.index()] = after;
            value = after;
        }
    }

    /// Whether `value` stands for itself.
    #[inline]
    pub fn is_own(&self, value: Value) -> bool {
        self.next(value) == SELF
    }

    /// Whether some value stands for another.
    pub fn is_used(&self) -> bool {
        self.used
    }

    /// Rewrites every operand in the function.
    pub fn apply(&mut self, function: &mut Function) {
        if !self.used {
            return;
        }
        for block in function.blocks.values_mut() {
            for &inst in &block.insts {
                let args = function.insts[inst].args;
                for arg in function.pool.get_mut(args) {
                    *arg = self.resolve(*arg);
                }
            }
            block.terminator.map_uses(|value| self.resolve(value));
        }
    }
}
