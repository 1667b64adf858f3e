//! Operands with hard constraints that can be satisfied.
//!
//! They can if, in each class, what has to be in a register of its choice early, late, or both, is
//! no more than the registers that fixed operands and clobbers leave at that time.

use super::Generator;
use crate::mach::{Constraint, Operand, PReg, RegClass, RegSet, Role, VReg};
use crate::regalloc::fake::FakeInst;

/// Registers that an instruction's fixed operands leave to the others of a class.
struct Room {
    early: usize,
    late: usize,
    both: usize,
}

impl Generator<'_> {
    /// Adds operands of one class; `defines` if definitions are allowed.
    pub(super) fn operands(
        &mut self,
        inst: &mut FakeInst,
        class: RegClass,
        known: &[VReg],
        defined: &mut Vec<VReg>,
        defines: bool,
    ) {
        let mut operands = Vec::new();
        let room = self.fixed(inst, class, known, defined, defines, &mut operands);
        let Room { mut early, mut late, mut both } = room;
        let tied = defines
            && both > 0
            && inst.operands.is_empty()
            && self.rng.percent(35)
            && self.tied(class, known, defined, &mut operands);
        if tied {
            (early, late, both) = (early - 1, late - 1, both - 1);
        }
        for _ in 0..self.rng.below(6) {
            let role = match self.rng.below(9) {
                0..=3 => Role::Use,
                4 => Role::LateUse,
                5 | 6 if defines => Role::Def,
                7 if defines => Role::EarlyDef,
                _ => Role::Temp,
            };
            let anywhere = role != Role::Temp && self.rng.percent(25);
            let constraint = if anywhere { Constraint::Any } else { Constraint::Reg };
            if !anywhere {
                match role {
                    Role::Use if early > 0 => early -= 1,
                    Role::Def if late > 0 => late -= 1,
                    Role::LateUse | Role::EarlyDef | Role::Temp if both > 0 => {
                        early -= 1;
                        late -= 1;
                        both -= 1;
                    }
                    _ => continue,
                }
                both = both.min(early).min(late);
            }
            let vreg = match role {
                Role::Use | Role::LateUse => match self.any_use(known, class) {
                    Some(vreg) => vreg,
                    None => continue,
                },
                _ => self.vreg_of(class),
            };
            if matches!(role, Role::Def | Role::EarlyDef) {
                defined.push(vreg);
            }
            operands.push(Operand { vreg, role, constraint });
        }
        inst.operands.extend(operands);
    }

    /// Adds a use first of all, and a definition tied to it.
    fn tied(
        &mut self,
        class: RegClass,
        known: &[VReg],
        defined: &mut Vec<VReg>,
        operands: &mut Vec<Operand>,
    ) -> bool {
        let Some(source) = self.any_use(known, class) else { return false };
        let def = self.vreg_of(class);
        operands.insert(0, Operand::reg(source));
        operands.push(Operand::def_same(def));
        defined.push(def);
        true
    }

    /// Adds operands in fixed registers; what they and the clobbers leave is the answer.
    fn fixed(
        &mut self,
        inst: &FakeInst,
        class: RegClass,
        known: &[VReg],
        defined: &mut Vec<VReg>,
        defines: bool,
        operands: &mut Vec<Operand>,
    ) -> Room {
        let allocatable = self.registers.allocatable.iter().copied();
        let mut regs: Vec<PReg> = allocatable.filter(|reg| reg.class() == class).collect();
        let mut early: RegSet = RegSet::EMPTY;
        let mut late: RegSet =
            regs.iter().copied().filter(|&r| inst.clobbers.contains(r)).collect();
        let count = regs.len();
        let often = [0, 0, 15, 60][self.rng.below(4)];
        self.rng.shuffle(&mut regs);
        for reg in regs {
            if !self.rng.percent(often) {
                continue;
            }
            let constraint = Constraint::Fixed(reg);
            let clobbered = inst.clobbers.contains(reg);
            match self.rng.below(6) {
                0..=2 => {
                    let Some(vreg) = self.any_use(known, class) else { continue };
                    let stays = !clobbered && self.rng.percent(25);
                    let role = if stays { Role::LateUse } else { Role::Use };
                    operands.push(Operand { vreg, role, constraint });
                    early = early.with(reg);
                    if stays {
                        late = late.with(reg);
                    } else if defines && self.rng.percent(40) {
                        let vreg = self.vreg_of(class);
                        operands.push(Operand { vreg, role: Role::Def, constraint });
                        defined.push(vreg);
                        late = late.with(reg);
                    }
                }
                3 | 4 if defines => {
                    let vreg = self.vreg_of(class);
                    let first = self.rng.percent(30);
                    let role = if first { Role::EarlyDef } else { Role::Def };
                    operands.push(Operand { vreg, role, constraint });
                    defined.push(vreg);
                    late = late.with(reg);
                    if first {
                        early = early.with(reg);
                    }
                }
                _ => {
                    let vreg = self.vreg_of(class);
                    operands.push(Operand { vreg, role: Role::Temp, constraint });
                    early = early.with(reg);
                    late = late.with(reg);
                }
            }
        }
        Room {
            early: count - early.len(),
            late: count - late.len(),
            both: count - early.union(late).len(),
        }
    }
}
