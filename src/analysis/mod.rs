//! Facts about a function: the dataflow framework, its problems, and what is reported from them.

pub mod assignment;
pub mod available;
pub mod bits;
pub mod board;
pub mod busy;
pub mod components;
pub mod constants;
pub mod crossing;
pub mod dataflow;
pub mod dominance;
pub mod expressions;
pub mod facts;
pub mod frontier;
pub mod globals;
pub mod graph;
pub mod lints;
pub mod liveness;
pub mod loops;
pub mod nesting;
pub mod problems;
pub mod reachability;
pub mod reaching;
mod soon;
pub mod sparse;
pub mod subset;
pub mod taint;
pub mod variables;

use crate::ir::Module;
use crate::ir::cfg::Cfg;
use crate::source::Diagnostic;
use facts::Facts;

/// Checks what depends on paths (variables used before they are assigned, functions that end
/// without their result, code that can't be reached) on a module in the variable form and the facts
/// that came with it. The diagnostics are in the order of their places.
pub fn check_flow(module: &Module, facts: &Facts) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for (id, about) in facts.functions.iter() {
        let f = &module.functions[id];
        let cfg = Cfg::compute(f);
        let before = out.len();
        reachability::check(f, &cfg, about, &mut out);
        assignment::check(f, &cfg, about, &mut out);
        if out.len() == before {
            lints::check(f, &cfg, about, &mut out);
        }
    }
    globals::check(module, facts, &mut out);
    out.sort_by_key(Diagnostic::span);
    out
}

#[cfg(test)]
pub(crate) mod tests;
