//! Cytron, Ferrante, Rosen, Wegman and Zadeck, "Efficiently Computing Static Single Assignment Form
//! and the Control Dependence Graph" (1991), and its two prunings.
//!
//! First φs are placed: a variable needs one in each block of the iterated dominance frontier of the
//! blocks that assign it. **Minimal** stops there. **Semi-pruned** (Briggs, Cooper, Harvey and
//! Simpson 1998) leaves out variables that no block reads before it assigns them: their values
//! cross no edge. **Pruned** (Choi, Cytron and Ferrante 1991) places a φ only where the variable is
//! live, so that none is dead.
//!
//! Then a walk over the dominator tree renames: each variable has a stack of versions, here its
//! current version and one log of the versions to go back to when a subtree is done. A block's
//! operands are renamed before its results. A variable read where no assignment has come has an
//! *undefined* version, the zero of its type, like everywhere in this compiler.
//!
//! Variable form → SSA form, in place, as [`braun`](super::braun) does it. Near-linear but for the
//! frontiers themselves, which grow with the nesting of loops.

use super::Folding;
use super::constants::{fold, undefined};
use super::empty_unreachable;
use super::event::Event;
use super::forward::Forward;
use crate::analysis::frontier::{Frontier, Step};
use crate::analysis::liveness::Liveness;
use crate::analysis::sparse::{SLICE, Sparse};
use crate::analysis::variables::{Mentions, variable_of};
use crate::entity::SideTable;
use crate::ir::cfg::Cfg;
use crate::ir::dominators::Dominators;
use crate::ir::{Block, Form, Function, Inst, Terminator, Value, ValueData, ValueDef, Variable};
use crate::watch::Watch;

/// Which φs are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruning {
    /// None.
    Minimal,
    /// Those of variables whose values cross no edge.
    SemiPruned,
    /// Those of variables that are not live at the block.
    Pruned,
}

/// Brings `function` into SSA form; nothing happens where it is in it already.
pub fn construct(
    function: &mut Function,
    pruning: Pruning,
    folding: Folding,
    watch: &mut impl Watch<Event>,
) {
    if function.form != Form::Variable {
        return;
    }
    let cfg = Cfg::compute(function);
    let dominators = Dominators::compute(&cfg);
    let phis = place(function, &cfg, &dominators, pruning, watch);
    let mut renamer = Renamer {
        forward: Forward::new(function),
        current: SideTable::with_len(None, function.variables.len()),
        log: Vec::new(),
        function,
        phis,
        folding,
        watch,
    };
    renamer.run(&dominators);
    empty_unreachable(function, &cfg);
    function.form = Form::Ssa;
}

/// For each block the variables that have a φ there, in the order of their numbers.
type Phis = SideTable<Block, Vec<Variable>>;

fn place(
    f: &Function,
    cfg: &Cfg,
    dominators: &Dominators,
    pruning: Pruning,
    watch: &mut impl Watch<Event>,
) -> Phis {
    let frontier = Frontier::compute(cfg, dominators);
    let mentions = Mentions::compute(f, cfg);
    let mut phis = Phis::with_len(Vec::new(), f.blocks.len());
    // Which variable a block was last seen for: in a frontier, as one that assigns it, …
    let [mut seen, mut assigns, mut reads_first] =
        std::array::from_fn(|_| SideTable::with_len(u32::MAX, f.blocks.len()));
    let mut blocks = Vec::new();
    let mut live = Sparse::new(f);
    let variables: Vec<Variable> = f.variables.keys().collect();
    for slice in variables.chunks(SLICE) {
        let problem = Liveness::new(slice);
        if pruning == Pruning::Pruned {
            let seeds =
                slice.iter().flat_map(|&variable| mentions.exposed(variable).iter().copied());
            live.solve(f, cfg, &problem, seeds);
        }
        for (bit, &variable) in slice.iter().enumerate() {
            if pruning != Pruning::Minimal && !mentions.is_global(variable) {
                continue;
            }
            let (assigned, exposed) = (mentions.assigned(variable), mentions.exposed(variable));
            assigned.iter().for_each(|&block| assigns[block] = variable.0);
            exposed.iter().for_each(|&block| reads_first[block] = variable.0);
            // Live where control enters: read first, or live where it leaves and not assigned.
            let is_live = |block| {
                reads_first[block] == variable.0
                    || assigns[block] != variable.0
                        && live.input(block).is_some_and(|behind| behind.contains(bit))
            };
            blocks.extend_from_slice(assigned);
            watch.see(|| Event::Place(variable, assigned.to_vec()));
            frontier.iterated(&mut blocks, &mut seen, variable.0, |step| match step {
                Step::Look(block) => watch.see(|| Event::Look(variable, block)),
                Step::Join(block) => {
                    let needed = pruning != Pruning::Pruned || is_live(block);
                    watch.see(|| Event::Join(variable, block, needed));
                    if needed {
                        phis[block].push(variable);
                    }
                }
            });
        }
    }
    phis
}

struct Renamer<'a, W> {
    watch: &'a mut W,
    function: &'a mut Function,
    phis: Phis,
    folding: Folding,
    forward: Forward,
    /// The version on top of each variable's stack.
    current: SideTable<Variable, Option<Value>>,
    /// What was below, the latest last.
    log: Vec<(Variable, Option<Value>)>,
}

impl<W: Watch<Event>> Renamer<'_, W> {
    fn run(&mut self, dominators: &Dominators) {
        // Open blocks, each with the length of the log to go back to.
        let mut open: Vec<(Block, usize)> = Vec::new();
        for &block in dominators.preorder() {
            while let Some(&(above, mark)) = open.last()
                && !dominators.dominates(above, block)
            {
                self.watch.see(|| Event::Leave(above));
                for (variable, version) in self.log.drain(mark..).rev() {
                    self.watch.see(|| Event::Pop(variable, version));
                    self.current[variable] = version;
                }
                open.pop();
            }
            open.push((block, self.log.len()));
            self.block(block);
        }
    }

    fn block(&mut self, block: Block) {
        self.watch.see(|| Event::Enter(block));
        for i in 0..self.phis[block].len() {
            let variable = self.phis[block][i];
            let param = self.function.add_param(block, self.function.variables[variable].ty);
            self.push(variable, param);
        }
        let mut insts = std::mem::take(&mut self.function.blocks[block].insts);
        insts.retain(|&inst| self.inst(block, inst));
        self.function.blocks[block].insts = insts;
        let mut terminator =
            std::mem::replace(&mut self.function.blocks[block].terminator, Terminator::Unreachable);
        terminator.map_uses(|value| self.operand(value));
        self.watch.see(|| {
            let mut operands = Vec::new();
            terminator.for_each_use(|value| operands.push(value));
            Event::Filled(block, operands)
        });
        for edge in terminator.edges_mut() {
            for i in 0..self.phis[edge.target].len() {
                let variable = self.phis[edge.target][i];
                let version = self.version(variable);
                self.watch.see(|| Event::Argument(block, edge.target, variable, version));
                edge.args.push(version);
            }
        }
        self.function.blocks[block].terminator = terminator;
    }

    /// Renames an instruction; whether it stays.
    fn inst(&mut self, block: Block, inst: Inst) -> bool {
        for i in 0..self.function.args(inst).len() {
            let operand = self.operand(self.function.args(inst)[i]);
            self.function.args_mut(inst)[i] = operand;
        }
        let Some(result) = self.function.insts[inst].result else {
            self.renamed(block, inst, None, None);
            return true;
        };
        let ty = self.function.values[result].ty;
        let folded = fold(self.function, inst, ty, self.folding);
        match (variable_of(self.function, result), folded) {
            (Some(variable), Some(value)) => {
                self.renamed(block, inst, Some(value), folded);
                self.push(variable, value);
            }
            (Some(variable), None) => {
                let def = ValueDef::Inst(inst);
                let value = self.function.values.push(ValueData { ty, def });
                self.function.insts[inst].result = Some(value);
                self.renamed(block, inst, Some(value), None);
                self.push(variable, value);
            }
            (None, Some(value)) => {
                self.renamed(block, inst, Some(result), folded);
                self.forward.set(result, value);
            }
            (None, None) => self.renamed(block, inst, Some(result), None),
        }
        folded.is_none()
    }

    fn renamed(&mut self, block: Block, inst: Inst, result: Option<Value>, folded: Option<Value>) {
        let operands = || self.function.args(inst).to_vec();
        self.watch.see(|| Event::Renamed(block, inst, operands(), result, folded));
    }

    fn operand(&mut self, value: Value) -> Value {
        match variable_of(self.function, value) {
            Some(variable) => self.version(variable),
            None => self.forward.resolve(value),
        }
    }

    fn version(&mut self, variable: Variable) -> Value {
        match self.current[variable] {
            Some(value) => value,
            None => undefined(self.function, variable),
        }
    }

    fn push(&mut self, variable: Variable, version: Value) {
        self.watch.see(|| Event::Push(variable, version));
        let below = self.current[variable].replace(version);
        self.log.push((variable, below));
    }
}
