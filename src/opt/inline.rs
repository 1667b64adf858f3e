//! Inlining: a call becomes the called function's blocks.
//!
//! Functions come callees first (see the runner), so that what is copied has been through the early
//! passes and has its own calls inlined. Small functions always go in, larger ones where the call
//! is in a loop, and still larger ones where it is the only call in a whole program; a caller grows
//! up to a budget. A function that calls itself is not copied into others; into itself it is, a few
//! rounds deep, which makes of many calls few; or once, where it is pure and makes some calls twice
//! then, which `pre` sees to.
//!
//! Function values that are known are called like functions; what one has captured takes the place of
//! the loads. Where a function that is handed one goes into a caller that makes it, the call is
//! known only then: such calls are looked for again.
//!
//! Each copied location remembers the call (`inlined_at`), so that the chain of calls of a trap is
//! what it was. The call's block is cut behind the call; returns become jumps to the rest.
//!
//! SSA → SSA, linear in the result.

use super::Context;
use super::callee::{callee, closure, known, name_callees};
use super::pre::{self, is_pure_call};
use crate::analysis::graph::Graph;
use crate::entity::SideTable;
use crate::ir::{
    Block, Cfg, ENTRY, Edge, FuncRef, Function, Inst, Loc, LocData, Module, Op, Terminator, Value,
    ValueData, ValueDef,
};
use crate::source::Span;
use crate::ssa::{Forward, empty_unreachable};
use smallvec::SmallVec;
use toyjit_runtime::fault::{self, Fault};

/// Callees of at most this size (instructions and blocks) always go in.
const SMALL: usize = 20;
/// In loops and in functions that call themselves, up to this size.
const HOT: usize = 80;
/// Where it is the only call, up to this size, in a loop or not, if no code has come into the function
/// by so many calls: else chains of functions would be copied again and again.
const ONCE: usize = 400;
const ONCE_DEPTH: usize = 4;
/// How much a caller grows at most by callees that are not small, and by all.
const GROWTH: [usize; 2] = [1000, 4000];
/// A function goes into itself while it is smaller than this, at most so many rounds.
const RECURSION: (usize, usize) = (60, 3);
/// Callees with more blocks, dead ones too, are not looked at.
const MAX_BLOCKS: usize = 256;
/// So often calls of function values are looked for again.
const VALUE_ROUNDS: usize = 3;
/// Chains of inlined calls get no longer than this.
const MAX_DEPTH: usize = 24;

/// Inlines calls.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let (module, own) = (cx.module, cx.id);
    let recursive = calls(f, own);
    let mut grown = 0;
    let mut choose = |Site { id, in_loop, span, .. }: Site| {
        let callee = module.functions.get(id).filter(|_| id != own)?;
        let mut refuse = |why: &str| {
            cx.remarks.say_at("inline", span, || format!("`{}` not inlined: {why}", callee.name));
            None
        };
        let once = module.summaries.get(id.0 as usize).is_some_and(|s| s.calls == 1);
        let mut measured = size(callee, HOT, MAX_DEPTH);
        let mut hot = in_loop || recursive;
        if module.is_whole && once && (measured.is_none() || !hot) {
            let whole = size(callee, ONCE, ONCE_DEPTH);
            (measured, hot) = (whole.or(measured), hot || whole.is_some());
        }
        let Some(size) = measured else { return refuse("it is large") };
        if size > SMALL && !hot {
            return refuse("it is not small, and the call is in no loop");
        }
        if grown >= GROWTH[usize::from(size <= SMALL)] {
            return refuse("the function has grown enough");
        }
        if calls(callee, id) {
            return refuse("it calls itself");
        }
        if !cx.fuel.tick() {
            return None;
        }
        grown += size;
        cx.remarks.say_at("inline", span, || format!("`{}` inlined", callee.name));
        Some(callee)
    };
    inline(f, module, cx.graph, &mut choose);
    let calls_value = |f: &Function, inst: &Inst| f.insts[*inst].op == Op::CallValue;
    if f.blocks.values().any(|data| data.insts.iter().any(|inst| calls_value(f, inst))) {
        for _ in 0..VALUE_ROUNDS {
            let mut insts = f.blocks.values().flat_map(|data| &data.insts);
            if !insts.any(|inst| calls_value(f, inst) && known(f, module, *inst).is_some()) {
                break;
            }
            inline(f, module, cx.graph, |site| site.by_value.then(|| choose(site)).flatten());
        }
        name_callees(f, module);
    }
    if recursive && size(f, HOT, MAX_DEPTH).is_some_and(|size| size < RECURSION.0) {
        if let Some(once) = once_into_itself(f, cx) {
            *f = once;
            return;
        }
        let body = f.clone();
        for _ in 0..RECURSION.1 {
            inline(f, module, cx.graph, |Site { id, span, .. }| {
                let go = id == own && cx.fuel.tick();
                let said = || format!("`{}` inlined into itself", body.name);
                go.then(|| cx.remarks.say_at("inline", span, said)).map(|()| &body)
            });
            if size(f, HOT, MAX_DEPTH).is_none_or(|size| size >= RECURSION.0) {
                break;
            }
        }
    }
}

/// A pure function with one of its calls of itself inlined, or all of them, where that lets calls be
/// made once that were made twice.
fn once_into_itself(f: &Function, cx: &mut Context<'_>) -> Option<Function> {
    let own = cx.id;
    let is_own = |&inst: &Inst| callee(f, inst) == Some(own);
    let insts = || f.blocks.values().flat_map(|data| data.insts.iter().copied()).filter(is_own);
    if insts().count() < 2 || !insts().all(|inst| is_pure_call(f, cx.module, inst)) {
        return None;
    }
    [1, usize::MAX].into_iter().find_map(|most| {
        let (mut once, mut left) = (f.clone(), most);
        inline(&mut once, cx.module, cx.graph, |Site { id, .. }| {
            let go = id == own && left > 0 && cx.fuel.tick();
            left -= usize::from(go);
            go.then_some(f)
        });
        pre::pays(&once, cx.module).then_some(once)
    })
}

/// Instructions and blocks of a function that may be copied; none where they are more than `most`,
/// or it can't.
fn size(f: &Function, most: usize, most_deep: usize) -> Option<usize> {
    if f.blocks.len() > MAX_BLOCKS {
        return None;
    }
    let mut size = 0;
    for data in f.blocks.values() {
        size += data.insts.len() + data.terminator.edges().len();
        let mut loads = data.insts.iter().filter(|&&inst| f.insts[inst].op == Op::LoadCapture);
        if loads.any(|&load| f.blocks[ENTRY].params.first() != f.args(load).first()) {
            return None;
        }
        if size > most || data.insts.iter().any(|&inst| depth(f, f.insts[inst].loc) >= most_deep) {
            return None;
        }
    }
    Some(size)
}

fn depth(f: &Function, loc: Loc) -> usize {
    std::iter::successors(Some(loc), |&loc| f.locs[loc].inlined_at).take(MAX_DEPTH).count()
}

/// Whether a function calls `id`.
fn calls(f: &Function, id: FuncRef) -> bool {
    let mut insts = f.blocks.values().flat_map(|data| &data.insts);
    insts.any(|&inst| callee(f, inst) == Some(id))
}

/// A call that may be inlined.
struct Site {
    id: FuncRef,
    in_loop: bool,
    /// Where it stands in the source.
    span: Span,
    /// Whether a function value is called.
    by_value: bool,
}

/// Inlines the calls for which `choose` gives a body.
fn inline<'a>(
    f: &mut Function,
    module: &Module,
    graph: &mut Graph,
    mut choose: impl FnMut(Site) -> Option<&'a Function>,
) {
    let is_call = |&inst: &Inst| known(f, module, inst).is_some();
    if !f.blocks.values().any(|data| data.insts.iter().any(is_call)) {
        return;
    }
    let (cfg, loops) = (graph.cfg(f), graph.loops(f).map(|(_, loops)| loops));
    let mut results = Forward::new(f);
    let mut changed = false;
    for &block in cfg.rpo() {
        if !f.blocks[block].insts.iter().any(|&inst| known(f, module, inst).is_some()) {
            continue;
        }
        let in_loop = loops.as_ref().is_some_and(|loops| loops.depth(block) > 0);
        let insts = std::mem::take(&mut f.blocks[block].insts);
        let end = std::mem::replace(&mut f.blocks[block].terminator, Terminator::Unreachable);
        let mut at = block;
        for inst in insts {
            let by_value = f.insts[inst].op == Op::CallValue;
            let span = f.locs[f.insts[inst].loc].span;
            match known(f, module, inst).and_then(|id| choose(Site { id, in_loop, span, by_value }))
            {
                Some(body) => {
                    changed = true;
                    at = Copy::new(f, inst, body).carry_out(at, &mut results);
                }
                None => f.blocks[at].insts.push(inst),
            }
        }
        f.blocks[at].terminator = end;
        f.blocks[at].loc = f.blocks[block].loc;
    }
    if changed {
        results.apply(f);
        empty_unreachable(f, &graph.cfg(f));
    }
}

/// A body on its way into a function, in place of a call.
struct Copy<'a> {
    f: &'a mut Function,
    call: Inst,
    body: &'a Function,
    values: SideTable<Value, Option<Value>>,
    blocks: SideTable<Block, Option<Block>>,
    locs: SideTable<Loc, Option<Loc>>,
}

impl<'a> Copy<'a> {
    fn new(f: &'a mut Function, call: Inst, body: &'a Function) -> Self {
        let (values, blocks, locs) =
            (SideTable::new(None), SideTable::new(None), SideTable::new(None));
        Self { f, call, body, values, blocks, locs }
    }

    /// Appends the body to a block; the block where it goes on behind the call.
    fn carry_out(mut self, at: Block, results: &mut Forward) -> Block {
        let body = self.body;
        let cfg = Cfg::compute(body);
        let after = self.f.add_block();
        let result = self.f.insts[self.call].result;
        let mut returned =
            cfg.rpo().iter().filter_map(|&block| match body.blocks[block].terminator {
                Terminator::Return(value) => value,
                _ => None,
            });
        let only = returned.next().filter(|_| returned.next().is_none());
        if let (Some(result), None) = (result, only) {
            let param = self.f.add_param(after, self.f.values[result].ty);
            results.set(result, param);
        }
        let is_named = self.f.insts[self.call].op == Op::CallValue && !body.signature.env;
        let args = &self.f.args(self.call)[usize::from(is_named)..];
        for (&param, &arg) in body.blocks[ENTRY].params.iter().zip(args) {
            self.values[param] = Some(arg);
        }
        self.blocks[ENTRY] = Some(at);
        for &block in &cfg.rpo()[1..] {
            let copy = self.f.add_block();
            self.blocks[block] = Some(copy);
            for &param in &body.blocks[block].params {
                self.values[param] = Some(self.f.add_param(copy, body.values[param].ty));
            }
        }
        for &block in cfg.rpo() {
            let copy = self.blocks[block].unwrap_or(at);
            for &inst in &body.blocks[block].insts {
                if body.insts[inst].op == Op::LoadCapture {
                    self.capture(inst);
                    continue;
                }
                let inst = self.inst(inst);
                self.f.blocks[copy].insts.push(inst);
            }
            self.f.blocks[copy].loc = self.loc(body.blocks[block].loc);
            self.f.blocks[copy].terminator = self.terminator(&body.blocks[block].terminator, after);
        }
        if let (Some(result), Some(only)) = (result, only) {
            let value = self.value(only);
            results.set(result, value);
        }
        after
    }

    fn inst(&mut self, inst: Inst) -> Inst {
        let mut data = self.body.insts[inst];
        let args: SmallVec<[Value; 4]> =
            self.body.args(inst).iter().map(|&arg| self.value(arg)).collect();
        data.args = self.f.pool.list(&args);
        data.loc = self.loc(data.loc);
        let copy = self.f.insts.next_key();
        data.result = data.result.map(|result| {
            let ty = self.body.values[result].ty;
            let value = self.f.values.push(ValueData { ty, def: ValueDef::Inst(copy) });
            self.values[result] = Some(value);
            value
        });
        self.f.insts.push(data)
    }

    /// What a function value captured, in place of its load.
    fn capture(&mut self, load: Inst) {
        let data = self.body.insts[load];
        let made = closure(self.f, self.f.args(self.call)[0]);
        let (Some(result), Some(made)) = (data.result, made) else { return };
        let place = data.imm as usize * usize::from(!fault::is(Fault::InlineCaptures));
        self.values[result] = Some(self.f.args(made)[place]);
    }

    fn terminator(&mut self, terminator: &Terminator, after: Block) -> Terminator {
        if let Terminator::Return(value) = terminator {
            let mut edge = Edge::to(after);
            if !self.f.blocks[after].params.is_empty() {
                edge.args.extend(value.map(|value| self.value(value)));
            }
            return Terminator::Jump(edge);
        }
        let mut copy = terminator.clone();
        copy.map_uses(|value| self.value(value));
        for edge in copy.edges_mut() {
            edge.target = self.blocks[edge.target].unwrap_or(edge.target);
        }
        copy
    }

    fn value(&mut self, value: Value) -> Value {
        match (self.values[value], self.body.as_const(value)) {
            (Some(copy), _) => copy,
            (None, Some(constant)) => self.f.constant(constant),
            (None, None) => value,
        }
    }

    /// The location of the copy: the same place, inlined at the call.
    fn loc(&mut self, loc: Loc) -> Loc {
        let mut chain: SmallVec<[Loc; 8]> = SmallVec::new();
        let mut at = Some(loc);
        let mut above = self.f.insts[self.call].loc;
        while let Some(loc) = at {
            if let Some(copy) = self.locs[loc] {
                above = copy;
                break;
            }
            chain.push(loc);
            at = self.body.locs[loc].inlined_at;
        }
        for loc in chain.into_iter().rev() {
            let LocData { span, function, .. } = self.body.locs[loc];
            above = self.f.locs.push(LocData { span, function, inlined_at: Some(above) });
            self.locs[loc] = Some(above);
        }
        above
    }
}
