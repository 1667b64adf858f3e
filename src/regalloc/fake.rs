//! A machine without hardware, to test the allocator: instructions with any operands, a register
//! file of any size, and two interpreters, one for virtual registers and one for allocated code.
//!
//! Each instruction's results are a hash of what it is and what it reads, and the run's trace is
//! all that was read; so two runs agree only if every use of every instruction executed read the
//! same. In allocated code everything that is lost is overwritten by garbage at the earliest moment
//! that the contract allows, and at each safepoint all references move: only those in the slots of
//! the stack map are told.

use crate::entity::Entity;
use crate::mach::{
    Allocation, Edit, Operand, PReg, Place, ProgPoint, RegSet, RegisterFile, Role, Side, VBlock,
    VCode, VInst, VReg,
};
use std::hash::{Hash, Hasher};

/// An instruction.
#[derive(Clone, Debug, Default)]
pub struct FakeInst {
    /// Its operands.
    pub operands: Vec<Operand>,
    /// What it clobbers.
    pub clobbers: RegSet,
    /// Whether references move here.
    pub safepoint: bool,
    /// Whether it only copies its use to its definition.
    pub copy: bool,
    /// Whether it is a constant.
    pub constant: bool,
}

impl VInst for FakeInst {
    fn operands(&self, visit: &mut dyn FnMut(Operand)) {
        self.operands.iter().copied().for_each(visit);
    }

    fn clobbers(&self) -> RegSet {
        self.clobbers
    }

    fn is_safepoint(&self) -> bool {
        self.safepoint
    }

    fn as_move(&self) -> Option<(VReg, VReg)> {
        let find = |def| self.operands.iter().find(|o| is_def(o.role) == def).map(|o| o.vreg);
        if self.copy { find(true).zip(find(false)) } else { None }
    }

    fn is_rematerializable(&self) -> bool {
        self.constant
    }
}

fn is_def(role: Role) -> bool {
    matches!(role, Role::Def | Role::EarlyDef)
}

/// A register file with `ints` and `floats` registers, at most 14 and 15; the last third of the
/// integer registers is preserved by calls.
pub fn registers(ints: u8, floats: u8) -> RegisterFile {
    const NAMES: [&str; PReg::COUNT] = [
        "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13",
        "r14", "r15", "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11",
        "f12", "f13", "f14", "f15",
    ];
    RegisterFile {
        allocatable: (0..ints).chain(16..16 + floats).map(PReg).collect(),
        callee_saved: (ints - ints / 3..ints).map(PReg).collect(),
        scratch: [PReg(15), PReg(31)],
        name: |reg| NAMES.get(reg.0 as usize).copied().unwrap_or("?"),
    }
}

/// What was read, instruction after instruction.
pub type Trace = Vec<u64>;

fn hash(parts: impl Hash) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// The result for one definition.
fn result(inst: &FakeInst, index: u32, operand: usize, read: &[u64]) -> u64 {
    if inst.copy && read.len() == 1 { read[0] } else { hash((index, operand, read)) }
}

fn choose(succs: usize, step: u64, read: &[u64]) -> usize {
    (hash((step, read)) >> 7) as usize % succs
}

/// Executes code over virtual registers for `fuel` blocks at most.
pub fn run_virtual(code: &VCode<FakeInst>, fuel: u64) -> Trace {
    let mut values = vec![0u64; code.vregs.len()];
    let mut trace = Trace::new();
    let mut block = VBlock::new(0);
    for step in 0..fuel {
        let data = &code.blocks[block];
        let mut read = Vec::new();
        for i in data.insts.clone() {
            let inst = &code.insts[i as usize];
            read.clear();
            let uses = inst.operands.iter().filter(|o| matches!(o.role, Role::Use | Role::LateUse));
            read.extend(uses.map(|o| values[o.vreg.index()]));
            trace.push(hash((i, &read)));
            for (k, operand) in inst.operands.iter().enumerate().filter(|(_, o)| is_def(o.role)) {
                values[operand.vreg.index()] = result(inst, i, k, &read);
            }
        }
        if data.succs.is_empty() {
            break;
        }
        let edge = &data.succs[choose(data.succs.len(), step, &read)];
        let args: Vec<u64> = edge.args.iter().map(|arg| values[arg.index()]).collect();
        for (&param, arg) in code.blocks[edge.target].params.iter().zip(args) {
            values[param.index()] = arg;
        }
        block = edge.target;
    }
    trace
}

/// A value in a place, and for a reference that can move, how often references had moved when it
/// was told last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    bits: u64,
    moved: Option<u32>,
}

struct Machine<'a> {
    code: &'a VCode<FakeInst>,
    allocation: &'a Allocation,
    traced: Vec<bool>,
    places: Vec<Word>,
    moved: u32,
    garbage: u64,
}

/// Executes allocated code for `fuel` blocks at most; an error where it reads a stale reference.
pub fn run_allocated(
    code: &VCode<FakeInst>,
    allocation: &Allocation,
    fuel: u64,
) -> Result<Trace, String> {
    let mut traced: Vec<bool> = code.vregs.values().map(|v| v.is_ref).collect();
    for operand in code.insts.iter().filter(|i| i.constant).flat_map(|i| &i.operands) {
        traced[operand.vreg.index()] = false;
    }
    let places = PReg::COUNT + allocation.num_slots as usize;
    let empty = Word { bits: 0, moved: None };
    let mut machine =
        Machine { code, allocation, traced, places: vec![empty; places], moved: 0, garbage: 0 };
    let mut trace = Trace::new();
    let mut block = VBlock::new(0);
    for step in 0..fuel {
        let data = &code.blocks[block];
        let mut read = Vec::new();
        for i in data.insts.clone() {
            machine.edits(ProgPoint { inst: i, side: Side::Before });
            machine.instruction(i, &mut read)?;
            trace.push(hash((i, &read)));
            machine.edits(ProgPoint { inst: i, side: Side::After });
        }
        if data.succs.is_empty() {
            break;
        }
        let succ = choose(data.succs.len(), step, &read);
        for moves in &allocation.edge_moves {
            if moves.from == block && moves.succ as usize == succ {
                moves.edits.iter().for_each(|&edit| machine.edit(edit));
            }
        }
        block = data.succs[succ].target;
    }
    Ok(trace)
}

impl Machine<'_> {
    fn place(&mut self, place: Place) -> &mut Word {
        &mut self.places[match place {
            Place::Reg(reg) => reg.0 as usize,
            Place::Slot(slot) => PReg::COUNT + slot.index(),
        }]
    }

    fn spoil(&mut self, place: Place) {
        self.garbage += 1;
        let bits = hash(("garbage", self.garbage));
        *self.place(place) = Word { bits, moved: None };
    }

    fn edits(&mut self, point: ProgPoint) {
        let edits = &self.allocation.edits;
        let first = edits.partition_point(|(p, _)| *p < point);
        for &(_, edit) in edits[first..].iter().take_while(|(p, _)| *p == point) {
            self.edit(edit);
        }
    }

    fn edit(&mut self, edit: Edit) {
        match edit {
            Edit::Move { to, from } => *self.place(to) = *self.place(from),
            Edit::Remat { to, inst } => {
                let bits = result(&self.code.insts[inst as usize], inst, 0, &[]);
                *self.place(Place::Reg(to)) = Word { bits, moved: None };
            }
        }
    }

    fn read(&mut self, i: u32, vreg: VReg, place: Place) -> Result<u64, String> {
        let word = *self.place(place);
        if self.traced[vreg.index()] && word.moved.is_some_and(|moved| moved != self.moved) {
            return Err(format!("instruction {i} reads a stale reference {vreg} in {place:?}"));
        }
        Ok(word.bits)
    }

    fn instruction(&mut self, i: u32, read: &mut Vec<u64>) -> Result<(), String> {
        let inst = &self.code.insts[i as usize];
        let operands: Vec<(Operand, Place)> =
            inst.operands.iter().copied().zip(self.allocation.of(i as usize).to_vec()).collect();
        read.clear();
        for &(operand, place) in &operands {
            if matches!(operand.role, Role::Temp | Role::EarlyDef) {
                self.spoil(place);
            }
        }
        for &(operand, place) in &operands {
            match operand.role {
                Role::Use => read.push(self.read(i, operand.vreg, place)?),
                Role::LateUse => read.push(0),
                _ => {}
            }
        }
        inst.clobbers.iter().for_each(|reg| self.spoil(Place::Reg(reg)));
        for &(operand, place) in operands.iter().filter(|(o, _)| o.role == Role::Def) {
            let _ = operand;
            self.spoil(place);
        }
        let uses = operands.iter().filter(|(o, _)| matches!(o.role, Role::Use | Role::LateUse));
        for (k, &(operand, place)) in uses.enumerate() {
            if operand.role == Role::LateUse {
                read[k] = self.read(i, operand.vreg, place)?;
            }
        }
        if inst.safepoint {
            self.collect(i)?;
        }
        for (k, &(operand, place)) in operands.iter().enumerate() {
            if is_def(operand.role) {
                let moved = self.traced[operand.vreg.index()].then_some(self.moved);
                *self.place(place) = Word { bits: result(inst, i, k, read), moved };
            }
        }
        Ok(())
    }

    /// All references move; those in the slots of the stack map are told.
    fn collect(&mut self, i: u32) -> Result<(), String> {
        let maps = &self.allocation.stack_maps;
        let before = self.moved;
        self.moved += 1;
        let found = maps.binary_search_by_key(&i, |(inst, _)| *inst);
        for slot in found.map_or(Vec::new(), |found| maps[found].1.clone()) {
            let moved = self.moved;
            let word = self.place(Place::Slot(slot));
            match word.moved {
                Some(told) if told != before => {
                    return Err(format!("instruction {i}: {slot} holds a stale reference"));
                }
                Some(_) => word.moved = Some(moved),
                None => {}
            }
        }
        Ok(())
    }
}
