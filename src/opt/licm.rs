//! Loop-invariant code motion, by placement in one pass.
//!
//! What gives the same each time round moves before the loop: to the outermost loop in which its
//! operands don't change and the memory that it reads is not written. It may then run where it
//! did not before, so only what can't fail moves: pure operators, divisions by what is known not to
//! be zero, loads through references. Lengths and buffers of arrays are what pays most.
//!
//! Why loads can't fail: a reference that may be nil is not loaded through, but the result of its
//! `check_nil`, which stays where it is; any other reference that is loaded through has a type
//! without nil, and is an object wherever it is defined. **This pass must run before a pass that
//! removes checks of nil from what is known on a path.** Elements are loaded early only where the
//! index is the result of a check that stands before the loop.
//!
//! What must run first each time round anyway, in the loop's header before anything else that has
//! an effect, may fail in front of the loop as well: such checks move too, out of one loop. Once
//! loops are inverted that is the beginning of the body. [`run_late`] is for then: it loads through
//! no reference that it hasn't seen loaded through on the way in.
//!
//! What is cheap stays, unless something dear that moves needs it: a register that lives through
//! the loop costs more.
//!
//! SSA → SSA; linear in instructions times the nesting of loops. Loops get preheaders.

use super::Context;
use super::effects::{add, clobbers, effects};
use crate::analysis::loops::{Loop, Loops};
use crate::entity::{EntitySet, SideTable};
use crate::ir::{
    Block, Cfg, Const, Edge, Effects, Function, Inst, Module, Op, Terminator, Value, Writes,
};

/// Moves invariant code out of loops, where all checks of nil are still in place.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    move_code(f, cx, true);
}

/// Moves invariant code out of loops, where checks of nil may be gone.
pub fn run_late(f: &mut Function, cx: &mut Context<'_>) {
    move_code(f, cx, false);
}

fn move_code(f: &mut Function, cx: &mut Context<'_>, all_loads: bool) {
    let Some((cfg, loops)) = cx.graph.loops(f) else { return };
    let targets = Plan::new(f, cx.module, &cfg, &loops, all_loads).targets(f, &cfg, cx);
    let moved = demanded(f, &cfg, &targets);
    if !moved.is_empty() {
        carry_out(f, &cfg, &loops, &targets, &moved);
        for inst in moved.iter().filter(|&inst| !is_cheap(f, inst)) {
            let name = f.insts[inst].op.info().name;
            cx.remarks
                .say("licm", f, f.insts[inst].loc, || format!("`{name}` moved before the loop"));
        }
    }
}

/// Where values would be if everything that can move did.
struct Plan<'a> {
    module: &'a Module,
    loops: &'a Loops,
    all_loads: bool,
    /// What each loop writes, inner loops included.
    writes: Vec<Writes>,
    /// The innermost loop around a value's planned place.
    homes: SideTable<Value, Option<Loop>>,
}

impl<'a> Plan<'a> {
    fn new(f: &Function, module: &'a Module, cfg: &Cfg, loops: &'a Loops, all_loads: bool) -> Self {
        let mut writes = vec![Writes::default(); loops.iter().len()];
        for &block in cfg.rpo() {
            let Some(id) = loops.innermost(block) else { continue };
            for &inst in &f.blocks[block].insts {
                add(&mut writes[id.0 as usize], clobbers(module, f, inst));
            }
        }
        for (id, data) in loops.iter() {
            let mut own = std::mem::take(&mut writes[id.0 as usize]);
            own.sort();
            if let Some(parent) = data.parent {
                writes[parent.0 as usize].add_all(&own);
            }
            writes[id.0 as usize] = own;
        }
        Self { module, loops, all_loads, writes, homes: SideTable::with_len(None, f.values.len()) }
    }

    /// For each instruction that can move: the loop before which it would stand.
    fn targets(
        mut self,
        f: &Function,
        cfg: &Cfg,
        cx: &mut Context<'_>,
    ) -> SideTable<Inst, Option<Loop>> {
        let mut targets = SideTable::with_len(None, f.insts.len());
        for &block in cfg.rpo() {
            let innermost = self.loops.innermost(block);
            f.blocks[block].params.iter().for_each(|&param| self.homes[param] = innermost);
            let mut runs_first = innermost.is_some_and(|id| self.loops.get(id).header == block);
            for &inst in &f.blocks[block].insts {
                let mut home = innermost;
                let early = self.may_run_early(f, inst);
                let movable = early || runs_first && self.only(f, inst, CHECKS);
                if movable && (is_cheap(f, inst) || cx.fuel.tick()) {
                    while let Some(id) = home
                        && self.is_invariant(f, inst, id)
                    {
                        targets[inst] = Some(id);
                        home = self.loops.get(id).parent;
                        if !early {
                            break;
                        }
                    }
                }
                runs_first &= home != innermost || self.only(f, inst, Effects::READS);
                if let Some(result) = f.insts[inst].result {
                    self.homes[result] = home;
                }
            }
        }
        targets
    }

    fn is_invariant(&self, f: &Function, inst: Inst, id: Loop) -> bool {
        let data = &f.insts[inst];
        let reads = effects(self.module, f, inst).has(Effects::READS);
        let changes = |writes: &Writes| writes.has(data.op.info().space, data.imm);
        !(reads && (data.op == Op::Call || changes(&self.writes[id.0 as usize])))
            && f.args(inst).iter().all(|&arg| !self.is_within(self.homes[arg], id))
    }

    /// Whether a place in loop `at` is in the loop `id`.
    fn is_within(&self, mut at: Option<Loop>, id: Loop) -> bool {
        // Inner loops have lower numbers.
        while let Some(inner) = at
            && inner <= id
        {
            if inner == id {
                return true;
            }
            at = self.loops.get(inner).parent;
        }
        false
    }

    /// Whether an operator gives a result and has no effects but these.
    fn only(&self, f: &Function, inst: Inst, allowed: Effects) -> bool {
        let data = &f.insts[inst];
        data.op != Op::Rt
            && data.result.is_some()
            && effects(self.module, f, inst).0 & !allowed.0 == 0
    }

    /// Whether an instruction can't fail wherever its operands are defined, and does nothing but
    /// compute.
    fn may_run_early(&self, f: &Function, inst: Inst) -> bool {
        let data = &f.insts[inst];
        let args = f.args(inst);
        let result_of =
            |value: Value, op: Op| f.def_inst(value).is_some_and(|i| f.insts[i].op == op);
        match data.op {
            Op::SDiv | Op::SRem => match f.as_const(args[1]) {
                Some(constant) => constant != Const::Int(0),
                None => result_of(args[1], Op::CheckDiv),
            },
            Op::LoadElem | Op::StrByte => {
                result_of(args[1], Op::CheckBounds) || result_of(args[1], Op::CheckRead)
            }
            Op::ArrayLen | Op::ArrayData | Op::LoadField | Op::StrLen | Op::LoadCapture => {
                self.all_loads && f.as_const(args[0]) != Some(Const::Nil)
            }
            // It may be long.
            Op::Call => false,
            _ => self.only(f, inst, Effects::READS),
        }
    }
}

const CHECKS: Effects = Effects::READS.and(Effects::TRAPS);

/// Whether to compute this again each time is about as good as to keep it in a register.
fn is_cheap(f: &Function, inst: Inst) -> bool {
    let op = f.insts[inst].op;
    let args = f.args(inst);
    let by_constant = || args.iter().any(|&arg| f.as_const(arg).is_some());
    match op {
        Op::Copy | Op::BToI | Op::INot | Op::INeg => true,
        Op::IAdd | Op::ISub | Op::IAnd | Op::Shl | Op::Sar | Op::Shr => by_constant(),
        _ => op.is_comparison(),
    }
}

/// What moves: the dear, and what that needs.
fn demanded(f: &Function, cfg: &Cfg, targets: &SideTable<Inst, Option<Loop>>) -> EntitySet<Inst> {
    let mut moved = EntitySet::with_len(f.insts.len());
    for block in cfg.postorder() {
        for &inst in f.blocks[block].insts.iter().rev() {
            if targets[inst].is_none() || is_cheap(f, inst) && !moved.contains(inst) {
                continue;
            }
            moved.insert(inst);
            for inst in f.args(inst).iter().filter_map(|&arg| f.def_inst(arg)) {
                if targets[inst].is_some() {
                    moved.insert(inst);
                }
            }
        }
    }
    moved
}

fn carry_out(
    f: &mut Function,
    cfg: &Cfg,
    loops: &Loops,
    targets: &SideTable<Inst, Option<Loop>>,
    moved: &EntitySet<Inst>,
) {
    let mut preheaders: SideTable<Loop, Option<Block>> = SideTable::new(None);
    for &block in cfg.rpo() {
        let mut insts = std::mem::take(&mut f.blocks[block].insts);
        insts.retain(|&inst| {
            let Some(id) = targets[inst].filter(|_| moved.contains(inst)) else { return true };
            let before = match preheaders[id] {
                Some(block) => block,
                None => preheader(f, cfg, loops, id),
            };
            preheaders[id] = Some(before);
            f.blocks[before].insts.push(inst);
            false
        });
        f.blocks[block].insts = insts;
    }
}

/// The block that leads to the loop and nowhere else; made where there is none.
pub(super) fn preheader(f: &mut Function, cfg: &Cfg, loops: &Loops, id: Loop) -> Block {
    let header = loops.get(id).header;
    let entries: Vec<_> =
        cfg.pred_edges(header).iter().filter(|edge| !loops.contains(id, edge.block)).collect();
    if let [edge] = entries[..]
        && matches!(f.blocks[edge.block].terminator, Terminator::Jump(_))
    {
        return edge.block;
    }
    let before = f.add_block();
    f.blocks[before].loc = f.blocks[header].loc;
    if let [entry] = entries[..] {
        let edges = f.blocks[entry.block].terminator.edges_mut();
        let edge = std::mem::replace(&mut edges[entry.index as usize], Edge::to(before));
        f.blocks[before].terminator = Terminator::Jump(edge);
        return before;
    }
    let mut edge = Edge::to(header);
    for i in 0..f.blocks[header].params.len() {
        let ty = f.values[f.blocks[header].params[i]].ty;
        edge.args.push(f.add_param(before, ty));
    }
    f.blocks[before].terminator = Terminator::Jump(edge);
    for entry in entries {
        f.blocks[entry.block].terminator.edges_mut()[entry.index as usize].target = before;
    }
    before
}
