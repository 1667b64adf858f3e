//! How much the passes make of a program, in instructions and rewrites: counted, so that it is the
//! same on every machine. What grows beyond all measure is a finding, *compile-work blow-up*, before
//! it becomes a hang.

use std::collections::BTreeMap;
use toyjit::ir::{FuncRef, Function, Module};
use toyjit::mach::CompiledFunction;
use toyjit::opt::{Event, Observer};

/// A program of no size may have so many instructions.
const BASE: usize = 500;
/// Of one instruction may become so many.
const GROWTH: usize = 8;
/// One instruction may take so many bytes of machine code.
const BYTES: usize = 80;
/// So many times each instruction that a program may have may be rewritten.
const REWRITES: u64 = 2;

/// Counts while the passes run.
pub struct Work {
    /// Instructions of the program as it came.
    before: usize,
    /// Instructions of each function now.
    sizes: BTreeMap<FuncRef, usize>,
    now: usize,
    rewrites: u64,
    /// The most instructions so far, and the pass that left them.
    most: (usize, &'static str),
}

impl Work {
    /// Nothing done yet.
    pub fn of(module: &Module) -> Self {
        let sizes: BTreeMap<_, _> =
            module.functions.iter().map(|(id, function)| (id, size(function))).collect();
        let before = sizes.values().sum();
        Self { before, sizes, now: before, rewrites: 0, most: (before, "construction") }
    }

    /// What is wrong, if anything is.
    pub fn judge(&self) -> Result<(), String> {
        let allowed = BASE + GROWTH * self.before;
        let (most, pass) = self.most;
        if most > allowed {
            return Err(format!("blow-up: `{pass}` left {most} instructions of {}", self.before));
        }
        if self.rewrites > REWRITES * allowed as u64 {
            return Err(format!("blow-up: {} rewrites on {}", self.rewrites, self.before));
        }
        Ok(())
    }
}

/// What is wrong with the size of a module's machine code, if anything is.
pub fn judge_code(module: &Module, functions: &[CompiledFunction]) -> Result<(), String> {
    let sizes = module.functions.values().map(size);
    let (insts, bytes): (usize, usize) =
        (sizes.sum(), functions.iter().map(|function| function.bytes.len()).sum());
    if bytes > BYTES * (BASE + insts) {
        return Err(format!("blow-up: {bytes} bytes of machine code of {insts} instructions"));
    }
    Ok(())
}

/// Instructions, a block's end and each of its parameters being some, too.
fn size(function: &Function) -> usize {
    function.blocks.values().map(|block| block.insts.len() + block.params.len() + 1).sum()
}

impl Observer for Work {
    fn after(&mut self, event: &Event<'_>) {
        let before = self.sizes.insert(event.id, size(event.function)).unwrap_or(0);
        self.now = self.now - before + self.sizes[&event.id];
        self.rewrites += event.stats.rewrites;
        if self.now > self.most.0 {
            self.most = (self.now, event.pass.name);
        }
    }
}
