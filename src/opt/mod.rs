//! The optimiser: a table of passes and the runner that walks it.
//!
//! Each row says what a pass is called, from which level it runs, and which passes come before it
//! and why. The runner gives every pass its time and statistics, its off switch, its verification
//! and its share of the rewrite fuel; where one panics, it says which pass and on what function.
//!
//! To add a pass, write its file and its row.
//!
//! `Module` of functions in SSA form → the same, better. What a program prints, returns and where
//! it traps never changes.

mod append;
pub mod arrays;
pub mod bulk;
pub mod callee;
pub mod carry;
pub mod cleanup;
pub mod dce;
pub mod dead_stores;
pub mod demand;
pub mod effects;
pub mod fold;
pub mod globals;
pub mod gvn;
pub mod hoist;
pub mod if_convert;
pub mod inline;
pub mod invert;
pub mod licm;
mod linear;
pub mod partial_unroll;
pub mod peel;
pub mod phi_of_ops;
pub mod pre;
pub mod promote;
pub mod range_test;
pub mod reassociate;
mod region;
pub mod remark;
pub mod scalar;
pub mod sccp;
pub mod split;
pub mod strength;
pub mod summaries;
mod sums;
pub mod switch;
pub mod unroll;
mod unused;

use crate::analysis::graph::Graph;
use crate::ir::verify::verify;
use crate::ir::{FuncRef, Function, Loc, Module, Signature, print, switch as ir_switch};
use remark::{Remark, Remarks};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::fn_addr_eq;
use std::time::{Duration, Instant};

/// A row of the table.
#[derive(Debug)]
pub struct Pass {
    /// The name: `--no-NAME` switches all rows of this name off.
    pub name: &'static str,
    /// The pass itself; functions come in SSA form and leave in it.
    pub run: fn(&mut Function, &mut Context<'_>),
    /// The lowest optimisation level at which it runs.
    pub level: u8,
    /// The passes that have to come before, and why.
    pub after: &'static [(&'static str, &'static str)],
}

/// The passes in the order in which they run.
pub static PASSES: &[Pass] = &[
    Pass { name: "globals", run: globals::run, level: 1, after: &[] },
    Pass {
        name: "fold",
        run: fold::run,
        level: 1,
        after: &[("globals", "named constants are constants then")],
    },
    Pass {
        name: "cleanup",
        run: cleanup::run,
        level: 1,
        after: &[("fold", "a branch on constants is a jump then")],
    },
    Pass {
        name: "gvn",
        run: gvn::run,
        level: 2,
        after: &[("fold", "equal instructions look equal then")],
    },
    Pass {
        name: "inline",
        run: inline::run,
        level: 2,
        after: &[("gvn", "sizes are what they will be")],
    },
    Pass {
        name: "gvn",
        run: gvn::run,
        level: 2,
        after: &[("inline", "caller and callee compute the same things")],
    },
    Pass {
        name: "pre",
        run: pre::run,
        level: 2,
        after: &[("inline", "a function's own calls stand beside those that it leads to")],
    },
    Pass {
        name: "licm",
        run: licm::run,
        level: 1,
        after: &[("gvn", "an array's length and buffer are loaded once, and move together")],
    },
    Pass {
        name: "sccp",
        run: sccp::run,
        level: 2,
        after: &[
            ("gvn", "one length of an array is one value, which checks compare with"),
            ("licm", "moving loads early relies on the checks of nil that this takes out"),
        ],
    },
    Pass {
        name: "fold",
        run: fold::run,
        level: 2,
        after: &[("sccp", "constants have come through loops and joins")],
    },
    Pass {
        name: "cleanup",
        run: cleanup::run,
        level: 2,
        after: &[("sccp", "branches are decided")],
    },
    Pass {
        name: "scalar",
        run: scalar::run,
        level: 2,
        after: &[
            ("inline", "most objects are seen by those who were called"),
            ("sccp", "checks of nil are gone"),
            ("cleanup", "branches that were decided pass nothing on"),
        ],
    },
    Pass {
        name: "range-test",
        run: range_test::run,
        level: 2,
        after: &[("cleanup", "nothing stands between two tests"), ("sccp", "it asks for signs")],
    },
    Pass {
        name: "hoist",
        run: hoist::run,
        level: 2,
        after: &[
            ("gvn", "equal operands are one value"),
            ("cleanup", "the arms of a branch are whole blocks"),
        ],
    },
    Pass {
        name: "if-convert",
        run: if_convert::run,
        level: 2,
        after: &[
            ("cleanup", "empty arms are gone, and both edges lead to one block"),
            ("hoist", "what both arms compute stands before the branch"),
        ],
    },
    Pass {
        name: "invert",
        run: invert::run,
        level: 1,
        after: &[
            ("cleanup", "headers are whole blocks"),
            ("sccp", "what a loop's test says still stands above its body"),
        ],
    },
    Pass {
        name: "cleanup",
        run: cleanup::run,
        level: 2,
        after: &[("invert", "a copied header belongs to the block that leads to it")],
    },
    Pass {
        name: "unroll",
        run: unroll::run,
        level: 2,
        after: &[
            ("invert", "loops test where they end"),
            ("sccp", "limits that are constant are constants"),
        ],
    },
    Pass {
        name: "peel",
        run: peel::run,
        level: 2,
        after: &[
            ("invert", "loops test where they end"),
            ("unroll", "a loop that was unrolled has no first round"),
        ],
    },
    Pass {
        name: "gvn",
        run: gvn::run,
        level: 1,
        after: &[("invert", "the copy of a header repeats what the guard computed")],
    },
    Pass {
        name: "fold",
        run: fold::run,
        level: 2,
        after: &[("gvn", "loads have become what was stored")],
    },
    Pass {
        name: "arrays",
        run: arrays::run,
        level: 2,
        after: &[
            ("inline", "most arrays are seen by those who were called"),
            ("unroll", "indices are constants"),
            ("fold", "sums of constants are constants"),
        ],
    },
    Pass {
        name: "phi-of-ops",
        run: phi_of_ops::run,
        level: 2,
        after: &[
            ("invert", "a loop's test stands where its edges leave"),
            ("gvn", "what is computed twice in a row is one value"),
        ],
    },
    Pass {
        name: "licm",
        run: licm::run_late,
        level: 2,
        after: &[("invert", "a loop's body begins with what runs each time round")],
    },
    Pass {
        name: "promote",
        run: promote::run,
        level: 2,
        after: &[
            ("invert", "what runs each time round stands in the loop's header"),
            ("licm", "objects, buffers and indices stand before the loop"),
        ],
    },
    Pass {
        name: "carry",
        run: carry::run,
        level: 2,
        after: &[
            ("licm", "buffers and lengths stand before the loop"),
            ("if-convert", "what is stored is chosen without branches"),
            ("invert", "loops have one back edge, from where the body ends"),
        ],
    },
    Pass {
        name: "reassociate",
        run: reassociate::run,
        level: 2,
        after: &[("carry", "what memory gave goes round in registers")],
    },
    Pass {
        name: "split",
        run: split::run,
        level: 2,
        after: &[
            ("invert", "loops test where they end"),
            ("licm", "what does not change stands before the loop"),
            ("carry", "it asks the checks for the lengths"),
        ],
    },
    Pass {
        name: "bulk",
        run: bulk::run,
        level: 2,
        after: &[
            ("split", "loops that fill or copy have a part without checks"),
            ("gvn", "a call that writes memory would hide what is known of it"),
        ],
    },
    Pass {
        name: "strength",
        run: strength::run,
        level: 2,
        after: &[
            ("split", "it sees what products are made of, and not what goes round"),
            ("invert", "loops have one back edge, from where the body ends"),
        ],
    },
    Pass {
        name: "partial-unroll",
        run: partial_unroll::run,
        level: 3,
        after: &[
            ("split", "the part without checks is what goes round"),
            ("bulk", "what the runtime fills or copies goes round no more"),
            ("strength", "products have become sums, which go round as counters do"),
        ],
    },
    Pass {
        name: "fold",
        run: fold::run,
        level: 3,
        after: &[("partial-unroll", "counters of rounds that follow each other are sums of sums")],
    },
    Pass {
        name: "demand",
        run: demand::run,
        level: 2,
        after: &[("sccp", "ranges tell more with the masks in place")],
    },
    Pass {
        name: "dead-stores",
        run: dead_stores::run,
        level: 2,
        after: &[
            ("gvn", "loads have become what was stored, and equal places are one value"),
            ("promote", "it stores where loops are left"),
        ],
    },
    Pass { name: "dce", run: dce::run, level: 1, after: &[("gvn", "much is used no longer")] },
    Pass {
        name: "cleanup",
        run: cleanup::run,
        level: 1,
        after: &[
            ("invert", "copied headers stand in blocks of their own"),
            ("dce", "blocks are empty"),
        ],
    },
    Pass {
        name: "switch",
        run: switch::run,
        level: 1,
        after: &[("cleanup", "nothing stands between tests, and no other pass knows of switches")],
    },
];

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The optimisation level, 0 to 3.
    pub level: u8,
    /// Names of passes to leave out.
    pub disabled: Vec<String>,
    /// Whether to verify the function after each pass.
    pub verify: bool,
    /// How many rewrites to make in all, to find the first wrong one by bisection.
    pub fuel: Option<u64>,
    /// Whether the observer is told what the passes say of their work.
    pub remarks: bool,
    /// Whether functions of a whole program lose their code when nobody is left to call them.
    pub drop_unused: bool,
}

impl Options {
    /// The options of a level: everything on; verification in debug builds.
    pub fn at_level(level: u8) -> Self {
        Self { level, verify: cfg!(debug_assertions), ..Self::default() }
    }

    fn enables(&self, pass: &Pass) -> bool {
        pass.level <= self.level && !self.disabled.iter().any(|name| name == pass.name)
    }
}

/// Counts rewrites, and refuses more of them than it was given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fuel {
    limit: Option<u64>,
    used: u64,
}

impl Fuel {
    /// Fuel for this many rewrites.
    pub fn new(limit: Option<u64>) -> Self {
        Self { limit, used: 0 }
    }

    /// Asks for one rewrite; a pass does not make it where the answer is no.
    #[inline]
    #[must_use]
    pub fn tick(&mut self) -> bool {
        let go = self.limit.is_none_or(|limit| self.used < limit);
        self.used += u64::from(go);
        go
    }

    /// How many rewrites were made.
    pub fn used(&self) -> u64 {
        self.used
    }
}

/// What a pass sees beside its function.
#[derive(Debug)]
pub struct Context<'a> {
    /// The module, in which the function's place is taken by an empty one.
    pub module: &'a Module,
    /// Which function it is.
    pub id: FuncRef,
    /// To be asked before each rewrite.
    pub fuel: &'a mut Fuel,
    /// To be told what was done, and what not, and why.
    pub remarks: &'a mut Remarks,
    /// To be asked for the graph, the dominators and the loops.
    pub graph: &'a mut Graph,
}

/// What one pass did to one function.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// How long it took, without its verification.
    pub time: Duration,
    /// Instructions before.
    pub insts_before: usize,
    /// Instructions after.
    pub insts_after: usize,
    /// How many rewrites it made.
    pub rewrites: u64,
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, more: Stats) {
        self.time += more.time;
        self.insts_before += more.insts_before;
        self.insts_after += more.insts_after;
        self.rewrites += more.rewrites;
    }
}

/// A pass has run on a function.
#[derive(Debug)]
pub struct Event<'a> {
    /// The pass.
    pub pass: &'static Pass,
    /// The module, for names.
    pub module: &'a Module,
    /// Which function.
    pub id: FuncRef,
    /// The function as the pass left it.
    pub function: &'a Function,
    /// What the pass did.
    pub stats: Stats,
}

/// Watches the passes: dumps, timings, tests.
pub trait Observer {
    /// A pass has run.
    fn after(&mut self, _event: &Event<'_>) {}

    /// All passes have run; what they say of it, in the order of the source.
    fn remarks(&mut self, _remarks: Vec<Remark>) {}

    /// A pass panicked, or left a function that is malformed: a fault of the compiler.
    fn fault(&mut self, pass: &'static Pass, problem: &str, function: &str) {
        eprintln!("pass `{}` {problem} on\n{function}", pass.name);
    }
}

impl Observer for () {}

/// Runs the passes of a level on every function, callees before their callers: first those up to
/// inlining on all, so that what is inlined has its checks and loads as the later ones want them.
/// A pass that found nothing to do is not run again before another has found something.
pub fn run(module: &mut Module, options: &Options, observer: &mut dyn Observer) {
    if !PASSES.iter().any(|pass| options.enables(pass)) {
        return;
    }
    module.functions.values_mut().for_each(ir_switch::open);
    let mut fuel = Fuel::new(options.fuel);
    let mut remarks = Remarks::new(options.remarks);
    let mut graph = Graph::default();
    globals::find(module);
    let order = summaries::find(module);
    let mut settled = vec![0; order.len()];
    let early = PASSES.iter().rposition(|pass| pass.name == "inline").map_or(0, |last| last + 1);
    let (early, late) = PASSES.split_at(early);
    let rows = |passes: &'static [Pass]| -> Vec<(&'static Pass, u64)> {
        let enabled = passes.iter().filter(|pass| options.enables(pass));
        enabled.map(|pass| (pass, same(pass))).collect()
    };
    let (early, late) = (rows(early), rows(late));
    // Stands in a function's place while it is worked on.
    let mut empty = Function::new("", FuncRef(0), Signature::default());
    for (is_late, passes) in [(false, &early), (true, &late)] {
        if is_late && options.drop_unused {
            unused::drop_unused(module);
        }
        for &id in &order {
            let Function { name, signature, .. } = &module.functions[id];
            empty.name.clone_from(name);
            empty.signature.clone_from(signature);
            empty.locs[Loc(0)].function = id;
            let mut function = std::mem::replace(&mut module.functions[id], empty);
            let mut insts = count(&function);
            let settled = &mut settled[id.0 as usize];
            for &(pass, own) in passes {
                if *settled & own != 0 {
                    let stats =
                        Stats { insts_before: insts, insts_after: insts, ..Stats::default() };
                    observer.after(&Event { pass, module, id, function: &function, stats });
                    continue;
                }
                let (fuel, remarks, graph) = (&mut fuel, &mut remarks, &mut graph);
                let context = Context { module, id, fuel, remarks, graph };
                let stats = run_pass(pass, &mut function, insts, context, observer);
                insts = stats.insts_after;
                *settled = if stats.rewrites == 0 { *settled | own } else { 0 };
                if options.verify {
                    check(pass, module, &function, observer);
                }
                observer.after(&Event { pass, module, id, function: &function, stats });
            }
            empty = std::mem::replace(&mut module.functions[id], function);
        }
    }
    if options.remarks {
        observer.remarks(remarks.into_sorted());
    }
}

/// The rows that run what this one runs, as a bit of its own.
fn same(pass: &Pass) -> u64 {
    debug_assert!(PASSES.len() <= 64);
    let first = PASSES.iter().position(|row| fn_addr_eq(row.run, pass.run));
    first.map_or(0, |row| 1 << row)
}

fn run_pass(
    pass: &'static Pass,
    function: &mut Function,
    insts_before: usize,
    mut context: Context<'_>,
    observer: &mut dyn Observer,
) -> Stats {
    let (used, start) = (context.fuel.used(), Instant::now());
    let run = AssertUnwindSafe(|| (pass.run)(function, &mut context));
    if let Err(panic) = catch_unwind(run) {
        observer.fault(pass, "panicked", &print::function(context.module, function));
        resume_unwind(panic);
    }
    let time = start.elapsed();
    let rewrites = context.fuel.used() - used;
    Stats { time, insts_before, insts_after: count(function), rewrites }
}

/// Verifies what a pass left; what is malformed there is the pass's fault.
fn check(pass: &'static Pass, module: &Module, function: &Function, observer: &mut dyn Observer) {
    if let Err(errors) = verify(module, function) {
        let lines: Vec<String> = errors.iter().map(|error| format!("\n  {error}")).collect();
        let problem = format!("left a malformed function:{}", lines.concat());
        observer.fault(pass, &problem, &print::function(module, function));
        panic!("pass `{}` {problem}", pass.name);
    }
}

fn count(function: &Function) -> usize {
    function.blocks.values().map(|block| block.insts.len()).sum()
}

#[cfg(test)]
mod tests;
