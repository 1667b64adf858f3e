//! An allocator that keeps every value in a slot of its own and loads operands into registers that
//! rotate, so that in the course of a test every register is an operand of every instruction.

use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::ir::generate::Rng;
use crate::mach::{
    Allocation, Constraint, EdgeMoves, Edit, Operand, PReg, Place, ProgPoint, RegClass, RegSet,
    Role, Side, SpillSlot, VBlock, VCode, VInst,
};
use crate::x64::Inst;
use crate::x64::regs::{CALLEE_SAVED, CALLER_SAVED};

pub(in crate::x64) fn allocate(code: &VCode<Inst>, seed: u64) -> Allocation {
    let mut rng = Rng::new(seed);
    let count = code.vregs.len() as u32;
    let live = live_across(code);
    let mut allocation =
        Allocation { num_slots: 2 * count, starts: Buffer::filled(0, 1), ..Allocation::default() };
    for (i, inst) in code.insts.iter().enumerate() {
        let mut operands = Vec::new();
        inst.operands(&mut |operand| operands.push(operand));
        let mut taken: RegSet = operands
            .iter()
            .filter_map(|o| match o.constraint {
                Constraint::Fixed(reg) => Some(reg),
                _ => None,
            })
            .collect();
        let mut places: Vec<Place> = Vec::new();
        for operand in &operands {
            let slot = SpillSlot(operand.vreg.0);
            let place = match operand.constraint {
                Constraint::Fixed(reg) => Place::Reg(reg),
                Constraint::SameAsFirst => places[0],
                Constraint::Any if operand.role == Role::Use && rng.percent(50) => {
                    Place::Slot(slot)
                }
                Constraint::Any | Constraint::Reg => {
                    let free = CALLER_SAVED.union(CALLEE_SAVED).iter().filter(|&reg| {
                        reg.class() == code.vregs[operand.vreg].class && !taken.contains(reg)
                    });
                    let free: Vec<PReg> = free.collect();
                    let reg = rng.pick(&free);
                    taken = taken.with(reg);
                    Place::Reg(reg)
                }
            };
            places.push(place);
        }
        let uses = |o: &Operand| matches!(o.role, Role::Use | Role::LateUse);
        for (operand, &to) in operands.iter().zip(&places).filter(|(o, _)| uses(o)) {
            let from = Place::Slot(SpillSlot(operand.vreg.0));
            if from != to {
                let point = ProgPoint { inst: i as u32, side: Side::Before };
                allocation.edits.push((point, Edit::Move { to, from }));
            }
        }
        let defines = |o: &Operand| matches!(o.role, Role::Def | Role::EarlyDef);
        for (operand, &from) in operands.iter().zip(&places).filter(|(o, _)| defines(o)) {
            let to = Place::Slot(SpillSlot(operand.vreg.0));
            let point = ProgPoint { inst: i as u32, side: Side::After };
            allocation.edits.push((point, Edit::Move { to, from }));
        }
        allocation.places.extend(places);
        allocation.starts.push(allocation.places.len() as u32);
        if inst.is_safepoint() {
            let slots = live[i].iter().map(|&v| SpillSlot(v)).collect();
            allocation.stack_maps.push((i as u32, slots));
        }
    }
    for (block, data) in code.blocks.iter() {
        for (succ, edge) in data.succs.iter().enumerate() {
            let edits = edge_edits(code, count, edge);
            if !edits.is_empty() {
                allocation.edge_moves.push(EdgeMoves { from: block, succ: succ as u32, edits });
            }
        }
    }
    allocation
}

/// All arguments to second slots, then from there to the parameters: both at once, so to say.
fn edge_edits(code: &VCode<Inst>, count: u32, edge: &crate::mach::VEdge) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut copy = |to: u32, from: u32, class: RegClass| {
        let via = match class {
            RegClass::Int => Place::Reg(crate::x64::regs::SCRATCH),
            RegClass::Float => Place::Reg(crate::x64::regs::FSCRATCH),
        };
        edits.push(Edit::Move { to: via, from: Place::Slot(SpillSlot(from)) });
        edits.push(Edit::Move { to: Place::Slot(SpillSlot(to)), from: via });
    };
    let params = &code.blocks[edge.target].params;
    for (param, arg) in params.iter().zip(&edge.args) {
        copy(count + param.0, arg.0, code.vregs[*param].class);
    }
    for param in params {
        copy(param.0, count + param.0, code.vregs[*param].class);
    }
    edits
}

/// For each safepoint, the references that are live across it.
fn live_across(code: &VCode<Inst>) -> Vec<Vec<u32>> {
    let blocks = code.blocks.len();
    let mut live_in = vec![vec![false; code.vregs.len()]; blocks];
    let mut result = vec![Vec::new(); code.insts.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..blocks).rev() {
            let data = &code.blocks[VBlock::new(block)];
            let mut live = vec![false; code.vregs.len()];
            for edge in &data.succs {
                let params = &code.blocks[edge.target].params;
                for (v, &is) in live_in[edge.target.index()].iter().enumerate() {
                    live[v] |= is && !params.iter().any(|p| p.index() == v);
                }
                for arg in &edge.args {
                    live[arg.index()] = true;
                }
            }
            for i in data.insts.clone().rev() {
                let inst = &code.insts[i as usize];
                inst.operands(&mut |o| {
                    if !matches!(o.role, Role::Use | Role::LateUse) {
                        live[o.vreg.index()] = false;
                    }
                });
                let across = code.vregs.iter().filter(|(v, data)| live[v.index()] && data.is_ref);
                result[i as usize] = across.map(|(v, _)| v.0).collect();
                inst.operands(&mut |o| {
                    if matches!(o.role, Role::Use | Role::LateUse) {
                        live[o.vreg.index()] = true;
                    }
                });
            }
            if live_in[block] != live {
                live_in[block] = live;
                changed = true;
            }
        }
    }
    result
}
