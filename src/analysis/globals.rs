//! Globals reached too early: a top-level statement must not lead, through calls or mentions of
//! functions, to a function that uses a global which has no value yet (LANGUAGE.md §6, §9.1).
//!
//! A global that is declared with a value has it exactly in the statements below its declaration, so
//! that for each function one number is enough: the lowest declaration in the text among the globals
//! that it leads to. Globals declared without a value are a forward must problem on the script, and
//! for each function a set. Both go through the components of the graph of mentions, callees first.

use super::assignment::unassigned;
use super::bits::{Bits, May, Must};
use super::components::components;
use super::dataflow::{Direction, GenKill, Lattice, Solution, solve};
use super::facts::{Facts, Mention, Mentioned, Point};
use super::sparse::SLICE;
use crate::entity::{Entity, SideTable};
use crate::ir::cfg::Cfg;
use crate::ir::{FuncRef, Function, Global, Module, Op, Terminator};
use crate::source::Diagnostic;
use std::collections::VecDeque;

/// Reports what the script (and `main` behind it) reaches too early: once for each statement.
pub(super) fn check(module: &Module, facts: &Facts, out: &mut Vec<Diagnostic>) {
    let Some(script) = module.script else { return };
    if facts.globals.is_empty() {
        return;
    }
    let check = Check::new(module, facts, script);
    let mut early = vec![None; facts.statements.len()];
    check.declared_below(&mut early);
    let late: Vec<Global> = facts.globals.keys().filter(|&g| facts.globals[g].late).collect();
    for globals in late.chunks(SLICE) {
        check.without_value(globals, &mut early, out);
    }
    for (statement, found) in early.iter().enumerate() {
        if let Some((mention, global)) = found {
            out.push(check.too_early(statement, mention, *global));
        }
    }
}

/// For each statement the first mention that leads to a global too early.
type Early<'a> = Vec<Option<(&'a Mention, Global)>>;

struct Check<'a> {
    module: &'a Module,
    facts: &'a Facts,
    f: &'a Function,
    cfg: Cfg,
    /// What the script mentions where it can be reached, in the order of the points.
    mentions: Vec<&'a Mention>,
    component: Vec<usize>,
    /// The functions, those of lower components first.
    callees_first: Vec<FuncRef>,
}

impl<'a> Check<'a> {
    fn new(module: &'a Module, facts: &'a Facts, script: FuncRef) -> Self {
        let f = &module.functions[script];
        let cfg = Cfg::compute(f);
        let about = &facts.functions[script];
        let mut mentions: Vec<_> =
            about.mentions.iter().filter(|mention| cfg.is_reachable(mention.at.block)).collect();
        mentions.sort_by_key(|mention| mention.at);
        let component = components(facts.functions.len(), |number| {
            let mentions = &facts.functions[FuncRef::new(number)].mentions;
            mentions.iter().filter_map(|m| m.function()).map(Entity::index).collect()
        });
        let mut callees_first: Vec<_> = facts.functions.keys().collect();
        callees_first.sort_by_key(|function| component[function.index()]);
        Self { module, facts, f, cfg, mentions, component, callees_first }
    }

    /// The component of a function.
    fn component(&self, function: FuncRef) -> usize {
        self.component[function.index()]
    }

    /// The statement of a mention.
    fn statement(&self, mention: &Mention) -> usize {
        let behind = self.facts.statements.partition_point(|s| s.start <= mention.span.start);
        behind.saturating_sub(1)
    }

    /// Finds mentions that lead to a global declared (with a value) in that statement or below.
    fn declared_below(&self, early: &mut Early<'a>) {
        let mut lowest: Vec<Option<(u32, Global)>> = vec![None; self.component.len()];
        for &function in &self.callees_first {
            let own = self.component(function);
            for mention in &self.facts.functions[function].mentions {
                let reached = match mention.what {
                    Mentioned::Function(callee) => lowest[self.component(callee)],
                    Mentioned::Global(global) | Mentioned::Store(global) => {
                        let about = &self.facts.globals[global];
                        (!about.late && !about.known).then_some((about.statement, global))
                    }
                };
                lowest[own] = lowest[own].max(reached);
            }
        }
        for &mention in &self.mentions {
            let Some(function) = mention.function() else { continue };
            let statement = self.statement(mention);
            if let Some((declared, global)) = lowest[self.component(function)]
                && declared as usize >= statement
                && let Some(found) = early.get_mut(statement)
            {
                found.get_or_insert((mention, global));
            }
        }
    }

    /// Finds mentions that lead to globals declared without a value and not assigned yet.
    fn without_value(&self, globals: &[Global], early: &mut Early<'a>, out: &mut Vec<Diagnostic>) {
        let problem = AssignedGlobals::new(self, globals);
        let solution = solve(self.f, &self.cfg, &problem);
        let reached = self.reached(&problem);
        let first_missing = |function: FuncRef, assigned: &Bits<Must>| {
            let mut reached = reached[self.component(function)].iter();
            reached.find(|&bit| !assigned.contains(bit)).map(|bit| globals[bit])
        };
        let blocks = self.cfg.rpo();
        for &block in blocks {
            solution.replay(self.f, &problem, block, |at, assigned| {
                for &mention in problem.mentions_at(at) {
                    let statement = self.statement(mention);
                    match mention.what {
                        Mentioned::Function(function) => {
                            if let Some(global) = first_missing(function, assigned)
                                && let Some(found) = early.get_mut(statement)
                            {
                                found.get_or_insert((mention, global));
                            }
                        }
                        Mentioned::Global(global) => {
                            if problem.bit(global).is_some_and(|bit| !assigned.contains(bit)) {
                                let name = &self.module.globals[global].name;
                                let declared = self.facts.globals[global].span;
                                out.push(unassigned(name, mention.span, declared));
                            }
                        }
                        Mentioned::Store(_) => {}
                    }
                }
            });
        }
        if let Some((main, ..)) = self.module.main
            && let Some(assigned) = self.at_the_end(&problem, &solution)
            && let Some(global) = first_missing(main, &assigned)
        {
            out.push(self.main_too_early(main, global));
        }
    }

    /// For each component the globals that it leads to.
    fn reached(&self, problem: &AssignedGlobals<'_, '_>) -> Vec<Bits<May>> {
        let mut reached = vec![Bits::<May>::empty(problem.globals.len()); self.component.len()];
        for &function in &self.callees_first {
            let own = self.component(function);
            for mention in &self.facts.functions[function].mentions {
                match mention.what {
                    Mentioned::Function(callee) => {
                        let other = self.component(callee);
                        if other != own {
                            let (others, owns) = reached.split_at_mut(own);
                            owns[0].meet(&others[other]);
                        }
                    }
                    Mentioned::Global(global) | Mentioned::Store(global) => {
                        if let Some(bit) = problem.bit(global) {
                            reached[own].insert(bit);
                        }
                    }
                }
            }
        }
        reached
    }

    /// What is assigned where the script ends; none where it does not.
    fn at_the_end(
        &self,
        problem: &AssignedGlobals<'_, '_>,
        solution: &Solution<Bits<Must>>,
    ) -> Option<Bits<Must>> {
        let ends = self.cfg.rpo().iter().filter_map(|&block| {
            let data = &self.f.blocks[block];
            let index = data.insts.len() as u32;
            let is_end = matches!(data.terminator, Terminator::Return(_));
            is_end.then(|| solution.at(self.f, problem, Point { block, index }))
        });
        ends.reduce(|mut all, end| {
            all.meet(&end);
            all
        })
    }

    fn too_early(&self, statement: usize, mention: &Mention, global: Global) -> Diagnostic {
        let name = &self.module.globals[global].name;
        let about = &self.facts.globals[global];
        let span = self.facts.statements[statement];
        let message = format!("this statement reaches a use of `{name}` before it has a value");
        let mut chain = vec![mention];
        chain.extend(mention.function().map(|f| self.chain(f, global)).unwrap_or_default());
        let declared = match about.late {
            true => format!("`{name}` is declared here without a value"),
            false => format!("`{name}` is declared here"),
        };
        let error = Diagnostic::error("E0503", span, message, "");
        self.show_chain(error, &[], &chain).label(about.span, declared)
    }

    fn main_too_early(&self, main: FuncRef, global: Global) -> Diagnostic {
        let name = &self.module.globals[global].name;
        let about = &self.facts.globals[global];
        let message = format!("`main` reaches a use of `{name}` before it has a value");
        let error = Diagnostic::error("E0503", self.facts.functions[main].head, message, "");
        self.show_chain(error, &["`main`"], &self.chain(main, global))
            .label(about.span, format!("`{name}` is declared here without a value"))
            .help(format!("assign `{name}` in the top-level statements, or where it is declared"))
    }

    /// Adds the chain of mentions to an error; of a long one the first and last few.
    fn show_chain(&self, mut error: Diagnostic, before: &[&str], chain: &[&Mention]) -> Diagnostic {
        const SHOWN: usize = 5;
        let mut words: Vec<String> = before.iter().map(|&word| word.to_owned()).collect();
        for (index, mention) in chain.iter().enumerate() {
            if index >= SHOWN && chain.len() - index > SHOWN {
                if index == SHOWN {
                    words.push("…".to_owned());
                }
                continue;
            }
            let (shown, text) = match mention.what {
                Mentioned::Function(function) => match &self.facts.functions[function].name {
                    Some(name) => (format!("`{name}`"), format!("leads to `{name}`")),
                    None => {
                        let shown = "a function expression".to_owned();
                        (shown.clone(), format!("leads to {shown}"))
                    }
                },
                Mentioned::Global(global) | Mentioned::Store(global) => {
                    let name = &self.module.globals[global].name;
                    (format!("`{name}`"), format!("uses `{name}`"))
                }
            };
            words.push(shown);
            error = error.label(mention.span, text);
        }
        error.note(format!("the chain: {}", words.join(" → ")))
    }

    /// A shortest chain of mentions from a function to the use of a global.
    fn chain(&self, from: FuncRef, global: Global) -> Vec<&'a Mention> {
        let mut came_by: SideTable<FuncRef, Option<(FuncRef, &Mention)>> = SideTable::new(None);
        let mut queue = VecDeque::from([from]);
        while let Some(function) = queue.pop_front() {
            for mention in &self.facts.functions[function].mentions {
                match mention.what {
                    Mentioned::Global(used) | Mentioned::Store(used) if used == global => {
                        let mut chain = vec![mention];
                        let mut at = function;
                        while at != from
                            && let Some((caller, mention)) = came_by[at]
                        {
                            chain.push(mention);
                            at = caller;
                        }
                        chain.reverse();
                        return chain;
                    }
                    Mentioned::Function(callee) if callee != from && came_by[callee].is_none() => {
                        came_by[callee] = Some((function, mention));
                        queue.push_back(callee);
                    }
                    _ => {}
                }
            }
        }
        Vec::new()
    }
}

/// The problem: which of some globals are assigned on every path through the script.
struct AssignedGlobals<'a, 'm> {
    module: &'m Module,
    globals: &'a [Global],
    bits: SideTable<Global, u32>,
    mentions: &'a [&'m Mention],
}

const NO_BIT: u32 = u32::MAX;

impl<'a, 'm> AssignedGlobals<'a, 'm> {
    fn new(check: &'a Check<'m>, globals: &'a [Global]) -> Self {
        let mut bits = SideTable::new(NO_BIT);
        for (bit, &global) in globals.iter().enumerate() {
            bits[global] = bit as u32;
        }
        Self { module: check.module, globals, bits, mentions: &check.mentions }
    }

    fn bit(&self, global: Global) -> Option<usize> {
        Some(self.bits[global]).filter(|&bit| bit != NO_BIT).map(|bit| bit as usize)
    }

    fn mentions_at(&self, at: Point) -> &'a [&'m Mention] {
        let first = self.mentions.partition_point(|mention| mention.at < at);
        let rest = &self.mentions[first..];
        &rest[..rest.iter().take_while(|mention| mention.at == at).count()]
    }
}

impl GenKill for AssignedGlobals<'_, '_> {
    type Meet = Must;
    const DIRECTION: Direction = Direction::Forward;

    fn len(&self, _: &Function) -> usize {
        self.globals.len()
    }

    fn transfer(&self, f: &Function, at: Point, bits: &mut Bits<Must>) {
        let read = self.mentions_at(at).iter().filter_map(|mention| match mention.what {
            Mentioned::Global(global) => Some(global),
            _ => None,
        });
        let stored = at.inst(f).map(|inst| &f.insts[inst]).filter(|i| i.op == Op::StoreGlobal);
        let stored = stored.map(|inst| Global::new(inst.imm as usize));
        for bit in read.chain(stored).filter_map(|global| self.bit(global)) {
            bits.insert(bit);
        }
    }

    fn name(&self, _: &Function, bit: usize) -> String {
        self.module.globals[self.globals[bit]].name.clone()
    }
}
