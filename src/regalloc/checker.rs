//! Proves an allocation right, or points at the instruction where it is wrong.
//!
//! Idea: symbolic execution as in regalloc2's checker. The state maps each place (registers and
//! spill slots) to the set of virtual registers whose value it surely holds. Edits copy sets,
//! instructions check their uses and overwrite their definitions, edges rename arguments to
//! parameters all at once, and where edges meet, sets are intersected; this is iterated to a
//! fixpoint, and only then are uses checked. The checker shares nothing with the allocator, not
//! even liveness.
//!
//! Proved, for every path: each use reads the value it names, in a place that its constraint
//! allows; early definitions and temps share no register with uses, nor definitions with late uses;
//! clobbers hold nothing afterwards; parameters receive their arguments; edits are well formed, and
//! scratch registers carry nothing from one point to the next; a rematerialised constant is one; at
//! each safepoint every reference that is live across it is in a slot that the stack map names, the
//! map names no other slot, and no other copy of a reference is used afterwards.
//!
//! References made by rematerialisable instructions are constants outside the collected heap: no
//! safepoint moves them, so none of the rules for references is applied to them.
//!
//! Input: code in strict SSA form, an allocation, the registers. Output: nothing, or the first
//! [`CheckError`]. Registers that the prologue must save are the emitter's matter.

mod error;
mod live;
mod shape;
mod state;

use crate::entity::Entity;
use crate::mach::{
    Allocation, Constraint, Edit, Operand, PReg, Place, ProgPoint, RegClass, RegSet, RegisterFile,
    Role, Side, SpillSlot, VBlock, VCode, VInst, VReg,
};
pub use error::{CheckError, CheckPoint};
use live::{Liveness, Walk};
use state::{Pairs, State};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

type Checked = Result<(), CheckError>;

/// Checks `allocation` of `code`.
pub fn check<I: VInst>(
    code: &VCode<I>,
    allocation: &Allocation,
    registers: &RegisterFile,
) -> Result<(), CheckError> {
    let checker = Checker::new(code, allocation, registers)?;
    let mut entries = checker.solve()?;
    let mut state = State::new(checker.places());
    for block in code.blocks.keys() {
        if let Some(entry) = entries[block.index()].take() {
            state.load(&entry);
            checker.block(
                block,
                &mut state,
                Some(checker.liveness.walk(code, block, &checker.traced)),
            )?;
        }
    }
    Ok(())
}

struct Checker<'a, I> {
    code: &'a VCode<I>,
    allocation: &'a Allocation,
    registers: &'a RegisterFile,
    liveness: Liveness,
    /// For each virtual register, whether a collection may move what it refers to.
    traced: Vec<bool>,
}

impl<'a, I: VInst> Checker<'a, I> {
    fn new(
        code: &'a VCode<I>,
        allocation: &'a Allocation,
        registers: &'a RegisterFile,
    ) -> Result<Self, CheckError> {
        let mut traced: Vec<bool> = code.vregs.values().map(|v| v.is_ref).collect();
        for inst in code.insts.iter().filter(|i| i.is_rematerializable()) {
            inst.operands(&mut |operand| traced[operand.vreg.index()] = false);
        }
        let checker = Self { code, allocation, registers, liveness: Liveness::new(code), traced };
        checker.shape()?;
        Ok(checker)
    }

    fn places(&self) -> usize {
        PReg::COUNT + self.allocation.num_slots as usize
    }

    /// The state at the beginning of each block that can be reached.
    fn solve(&self) -> Result<Vec<Option<Pairs>>, CheckError> {
        let blocks = &self.code.blocks;
        let mut entries: Vec<Option<Pairs>> = vec![None; blocks.len()];
        let Some(first) = entries.first_mut() else { return Ok(entries) };
        *first = Some(Vec::new());
        let mut queued = vec![false; blocks.len()];
        // Blocks stand in an order in which most of what comes before them does.
        let mut queue = BinaryHeap::from([Reverse(VBlock::new(0))]);
        let mut state = State::new(self.places());
        let mut out = Vec::new();
        while let Some(Reverse(block)) = queue.pop() {
            queued[block.index()] = false;
            if let Some(entry) = &entries[block.index()] {
                state.load(entry);
            }
            self.block(block, &mut state, None)?;
            state.store(&mut out);
            for succ in 0..blocks[block].succs.len() as u32 {
                state.load(&out);
                self.edge(block, succ, &mut state)?;
                let target = blocks[block].succs[succ as usize].target;
                if state.meet_into(&mut entries[target.index()]) && !queued[target.index()] {
                    queued[target.index()] = true;
                    queue.push(Reverse(target));
                }
            }
        }
        Ok(entries)
    }

    /// Executes a block, and checks it where a walk over it is given.
    fn block(&self, block: VBlock, state: &mut State, mut live: Option<Walk>) -> Checked {
        let insts = self.code.blocks[block].insts.clone();
        let edits = &self.allocation.edits;
        let begin = ProgPoint { inst: insts.start, side: Side::Before };
        let mut next = edits.partition_point(|(point, _)| *point < begin);
        for i in insts {
            for side in [Side::Before, Side::After] {
                let point = ProgPoint { inst: i, side };
                if side == Side::After {
                    self.instruction(i, state, live.as_mut())?;
                }
                let from = next;
                while edits.get(next).is_some_and(|(p, _)| *p == point) {
                    next += 1;
                }
                let here = edits[from..next].iter().map(|(_, edit)| edit);
                self.edits(here, state, CheckPoint::Edits(point))?;
            }
        }
        Ok(())
    }

    fn edits<'e>(
        &self,
        edits: impl Iterator<Item = &'e Edit>,
        state: &mut State,
        at: CheckPoint,
    ) -> Checked {
        let mut any = false;
        for edit in edits {
            any = true;
            match *edit {
                Edit::Move { to, from } => {
                    self.may_edit(to, at)?;
                    self.may_edit(from, at)?;
                    match (to, from) {
                        (Place::Slot(_), Place::Slot(_)) => return fail(at, "slot to slot"),
                        (Place::Reg(a), Place::Reg(b)) if a.class() != b.class() => {
                            return fail(at, format!("{} to {}", self.name(from), self.name(to)));
                        }
                        _ => {}
                    }
                    state.copy(number(to), number(from));
                }
                Edit::Remat { to, inst } => {
                    self.may_edit(Place::Reg(to), at)?;
                    let constant = self.code.insts.get(inst as usize);
                    let Some(constant) = constant.filter(|i| i.is_rematerializable()) else {
                        return fail(at, format!("instruction {inst} is no constant"));
                    };
                    let mut value = None;
                    constant.operands(&mut |operand| value = Some(operand.vreg));
                    let Some(value) = value else { return fail(at, "a constant without value") };
                    if self.class(value) != to.class() {
                        return fail(at, format!("{value} made in a register of another class"));
                    }
                    state.set(number(Place::Reg(to)), value);
                }
            }
        }
        if any {
            for scratch in self.registers.scratch {
                state.clear(number(Place::Reg(scratch)));
            }
        }
        Ok(())
    }

    fn may_edit(&self, place: Place, at: CheckPoint) -> Checked {
        if self.exists(place) { Ok(()) } else { fail(at, "an edit of no such place") }
    }

    fn exists(&self, place: Place) -> bool {
        (number(place) as usize) < self.places()
    }

    fn instruction(&self, i: u32, state: &mut State, mut live: Option<&mut Walk>) -> Checked {
        let inst = &self.code.insts[i as usize];
        let places = self.allocation.of(i as usize);
        let mut operands: smallvec::SmallVec<[(Operand, Place); 8]> = smallvec::SmallVec::new();
        inst.operands(&mut |operand| operands.push((operand, places[operands.len()])));
        if live.is_some() {
            self.places_fit(i, &operands, inst.clobbers())?;
            for &(operand, place) in operands.iter().filter(|(o, _)| is_use(o.role)) {
                if !state.holds(number(place), operand.vreg) {
                    let held = state.describe(number(place));
                    return fail(
                        CheckPoint::Inst(i),
                        format!(
                            "{} read in {}, which holds {held}",
                            operand.vreg,
                            self.name(place)
                        ),
                    );
                }
            }
        }
        let copied = inst.as_move().and_then(|(to, from)| {
            let source = operands.iter().find(|(o, _)| is_use(o.role) && o.vreg == from)?;
            Some((to, state.get(number(source.1)).to_vec()))
        });
        for &(operand, place) in &operands {
            if matches!(operand.role, Role::EarlyDef | Role::Temp) {
                state.clear(number(place));
            }
        }
        if inst.is_safepoint() {
            self.safepoint(i, state, live.as_deref())?;
        }
        for reg in inst.clobbers().iter() {
            state.clear(number(Place::Reg(reg)));
        }
        for &(operand, place) in operands.iter().filter(|(o, _)| is_def(o.role)) {
            state.set(number(place), operand.vreg);
            if let Some((to, values)) = &copied
                && *to == operand.vreg
            {
                for &value in values {
                    state.add(number(place), value);
                }
            }
        }
        if let Some(live) = &mut live {
            live.step(i, operands.iter().map(|&(operand, _)| operand));
        }
        Ok(())
    }

    /// The places of an instruction's operands respect its constraints.
    fn places_fit(&self, i: u32, operands: &[(Operand, Place)], clobbers: RegSet) -> Checked {
        let wrong = |operand: Operand, place: Place, why: &str| {
            fail(CheckPoint::Inst(i), format!("{} in {}: {why}", operand.vreg, self.name(place)))
        };
        for (k, &(operand, place)) in operands.iter().enumerate() {
            let allocatable = match place {
                Place::Slot(_) => true,
                Place::Reg(reg) => {
                    if reg.class() != self.class(operand.vreg) {
                        return wrong(operand, place, "another class");
                    }
                    self.registers.allocatable.contains(&reg)
                }
            };
            let fits = match operand.constraint {
                Constraint::Any => allocatable && operand.role != Role::Temp,
                Constraint::Reg => allocatable && place.reg().is_some(),
                Constraint::Fixed(reg) => place == Place::Reg(reg),
                Constraint::SameAsFirst => allocatable && place == operands[0].1,
            };
            if !fits {
                return wrong(operand, place, "not where it must be");
            }
            let lost = place.reg().is_some_and(|reg| clobbers.contains(reg));
            let fixed = matches!(operand.constraint, Constraint::Fixed(_));
            if lost && (operand.role == Role::LateUse || (operand.role != Role::Use && !fixed)) {
                return wrong(operand, place, "clobbered");
            }
            for &(other, at) in &operands[..k] {
                if place == at && apart(operand, other) {
                    return wrong(operand, place, &format!("{} is there, too", other.vreg));
                }
            }
        }
        Ok(())
    }

    /// The stack map is exact; afterwards, references are where it says and nowhere else.
    fn safepoint(&self, i: u32, state: &mut State, live: Option<&Walk>) -> Checked {
        let maps = &self.allocation.stack_maps;
        let map = maps.binary_search_by_key(&i, |(inst, _)| *inst).map(|at| &maps[at].1);
        let mapped = map.map_or(&[][..], |slots| slots);
        if let Some(live) = live {
            let at = CheckPoint::Inst(i);
            let across: Vec<VReg> = live.across(i).collect();
            let mut rooted = Vec::new();
            for &slot in mapped {
                let before = rooted.len();
                let held = state.get(number(Place::Slot(slot)));
                rooted.extend(held.iter().filter(|vreg| across.binary_search(vreg).is_ok()));
                if rooted.len() == before {
                    return fail(at, format!("stack map names {slot}: no live reference is there"));
                }
            }
            rooted.sort_unstable();
            for vreg in across {
                if rooted.binary_search(&vreg).is_err() {
                    return fail(at, format!("reference {vreg} is in no slot of the stack map"));
                }
            }
        }
        state.retain(|place, vreg| {
            let slot = place.checked_sub(PReg::COUNT as u32).map(SpillSlot);
            !self.traced[vreg.index()] || slot.is_some_and(|s| mapped.binary_search(&s).is_ok())
        });
        Ok(())
    }

    /// Takes an edge: its moves, then arguments become parameters.
    fn edge(&self, from: VBlock, succ: u32, state: &mut State) -> Checked {
        let moves = &self.allocation.edge_moves;
        if let Ok(found) = moves.binary_search_by_key(&(from, succ), |m| (m.from, m.succ)) {
            self.edits(moves[found].edits.iter(), state, CheckPoint::Edge(from, succ))?;
        }
        let edge = &self.code.blocks[from].succs[succ as usize];
        let params = &self.code.blocks[edge.target].params;
        if params.len() != edge.args.len() {
            return fail(CheckPoint::Edge(from, succ), "one argument for each parameter is needed");
        }
        state.rename(
            |vreg| self.liveness.is_live_in(edge.target, vreg),
            edge.args.iter().copied().zip(params.iter().copied()),
        );
        Ok(())
    }

    fn class(&self, vreg: VReg) -> RegClass {
        self.code.vregs[vreg].class
    }

    fn name(&self, place: Place) -> String {
        match place {
            Place::Reg(reg) => (self.registers.name)(reg).to_string(),
            Place::Slot(slot) => slot.to_string(),
        }
    }
}

fn is_use(role: Role) -> bool {
    matches!(role, Role::Use | Role::LateUse)
}

fn is_def(role: Role) -> bool {
    matches!(role, Role::Def | Role::EarlyDef)
}

/// Whether two operands of one instruction are in need of a place at one time, one of them to
/// write it.
fn apart(a: Operand, b: Operand) -> bool {
    let moments = |role| match role {
        Role::Use => (true, false),
        Role::LateUse | Role::Temp | Role::EarlyDef => (true, true),
        Role::Def => (false, true),
    };
    let (a_early, a_late) = moments(a.role);
    let (b_early, b_late) = moments(b.role);
    let together = (a_early && b_early) || (a_late && b_late);
    together && !(is_use(a.role) && is_use(b.role))
}

fn number(place: Place) -> u32 {
    match place {
        Place::Reg(reg) => u32::from(reg.0),
        Place::Slot(slot) => PReg::COUNT as u32 + slot.0,
    }
}

fn fail<T>(at: CheckPoint, message: impl Into<String>) -> Result<T, CheckError> {
    Err(CheckError { at, message: message.into() })
}
