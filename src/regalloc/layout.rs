//! What the allocator knows of the code before it begins: all that depends on the machine's
//! instructions is read here once, and the phases after this one are the same code for all
//! machines.

use super::loops::Loops;
use super::position::Pos;
use crate::buffer::Buffer;
use crate::entity::{Arena, Entity};
use crate::mach::{
    Constraint, Operand, PReg, RegClass, RegSet, Role, VBlock, VBlockData, VCode, VInst, VReg,
    VRegData,
};
use crate::pooled;

const NONE: u32 = u32::MAX;

/// How an operand gets its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is where its virtual register is, early or late or both; `required` if in a register.
    Here {
        /// Needed early.
        early: bool,
        /// Needed late.
        late: bool,
        /// Needed in a register.
        required: bool,
    },
    /// A copy in this register is made in the gap before.
    CopyTo(PReg),
    /// A copy in the place of this definition, which is that of the first operand, is made in the
    /// gap before.
    CopyToDef(VReg),
    /// It is made in this register and moved away just after.
    DefIn(PReg),
    /// It is this register, and no value.
    TempIn(PReg),
}

pooled! { Access, (u32, RegSet), (u32, VReg, VReg) }

/// The code, laid out for the allocator.
#[derive(Debug)]
pub struct Layout<'a> {
    /// The blocks.
    pub blocks: &'a Arena<VBlock, VBlockData>,
    /// The virtual registers.
    pub vregs: &'a Arena<VReg, VRegData>,
    operands: Buffer<Operand>,
    accesses: Buffer<Access>,
    starts: Buffer<u32>,
    block_of: Buffer<VBlock>,
    /// Registers clobbered: (instruction, which).
    pub clobbers: Buffer<(u32, RegSet)>,
    /// The safepoints in order.
    pub safepoints: Buffer<u32>,
    /// Register copies: (instruction, destination, source).
    pub moves: Buffer<(u32, VReg, VReg)>,
    remat: Buffer<u32>,
    weights: Buffer<f32>,
    /// The loops.
    pub loops: Loops,
    /// From here on, all blocks are cold.
    pub cold_from: Pos,
}

impl<'a> Layout<'a> {
    /// Reads the code.
    pub fn new<I: VInst>(code: &'a VCode<I>) -> Self {
        let count = code.insts.len();
        let mut layout = Self {
            blocks: &code.blocks,
            vregs: &code.vregs,
            operands: Buffer::with_capacity(count * 3),
            accesses: Buffer::with_capacity(count * 3),
            starts: Buffer::with_capacity(count + 1),
            block_of: Buffer::filled(VBlock::new(0), count),
            clobbers: Buffer::new(),
            safepoints: Buffer::new(),
            moves: Buffer::new(),
            remat: Buffer::filled(NONE, code.vregs.len()),
            weights: code.blocks.values().map(weight).collect(),
            loops: Loops::new(&code.blocks),
            cold_from: Pos::gap(count as u32),
        };
        for (i, inst) in code.insts.iter().enumerate() {
            let i = i as u32;
            layout.starts.push(layout.operands.len() as u32);
            let first = layout.operands.len();
            inst.operands(&mut |operand| layout.operands.push(operand));
            add_accesses(&layout.operands[first..], &mut layout.accesses);
            let clobbers = inst.clobbers();
            if !clobbers.is_empty() {
                layout.clobbers.push((i, clobbers));
            }
            if inst.is_safepoint() {
                layout.safepoints.push(i);
            }
            if let Some((to, from)) = inst.as_move() {
                layout.moves.push((i, to, from));
            }
            if inst.is_rematerializable()
                && let [Operand { vreg, .. }] = *layout.operands(i)
            {
                layout.remat[vreg.index()] = i;
            }
        }
        layout.starts.push(layout.operands.len() as u32);
        for (block, data) in code.blocks.iter() {
            layout.block_of[data.insts.start as usize..data.insts.end as usize].fill(block);
        }
        for data in code.blocks.values().rev().take_while(|data| data.cold) {
            layout.cold_from = Pos::gap(data.insts.start);
        }
        layout
    }

    /// How many instructions there are.
    pub fn len(&self) -> u32 {
        self.block_of.len() as u32
    }

    /// The operands of an instruction.
    #[inline]
    pub fn operands(&self, inst: u32) -> &[Operand] {
        let end = self.starts.get(inst as usize + 1).map_or(self.operands.len(), |&e| e as usize);
        &self.operands[self.starts[inst as usize] as usize..end]
    }

    /// Where each instruction's operands begin.
    pub fn into_starts(self) -> Buffer<u32> {
        self.starts
    }

    /// How many operands there are in all.
    pub fn num_operands(&self) -> usize {
        self.operands.len()
    }

    /// The class of a virtual register.
    #[inline]
    pub fn class(&self, vreg: VReg) -> RegClass {
        self.vregs[vreg].class
    }

    /// The block of an instruction.
    #[inline]
    pub fn block_of(&self, inst: u32) -> VBlock {
        self.block_of[inst as usize]
    }

    /// Where a block begins.
    #[inline]
    pub fn block_start(&self, block: VBlock) -> Pos {
        Pos::gap(self.blocks[block].insts.start)
    }

    /// Where a block ends.
    #[inline]
    pub fn block_end(&self, block: VBlock) -> Pos {
        Pos::gap(self.blocks[block].insts.end)
    }

    /// The last position of a block.
    #[inline]
    pub fn block_last(&self, block: VBlock) -> Pos {
        Pos::after(self.blocks[block].insts.end - 1)
    }

    /// How often a block is executed, about.
    #[inline]
    pub fn weight(&self, block: VBlock) -> f32 {
        self.weights[block.index()]
    }

    /// The instruction that makes this value again anywhere, if there is one.
    #[inline]
    pub fn remat(&self, vreg: VReg) -> Option<u32> {
        let inst = self.remat[vreg.index()];
        (inst != NONE).then_some(inst)
    }

    /// Whether a collection may move what the virtual register refers to.
    pub fn is_traced(&self, vreg: VReg) -> bool {
        self.vregs[vreg].is_ref && self.remat(vreg).is_none()
    }

    /// Visits an instruction's operands and how each gets its place.
    #[inline]
    pub fn accesses(&self, inst: u32, mut visit: impl FnMut(Operand, Access)) {
        let operands = self.operands(inst);
        let accesses = &self.accesses[self.starts[inst as usize] as usize..];
        for (&operand, &access) in operands.iter().zip(accesses) {
            visit(operand, access);
        }
    }
}

/// How each operand of an instruction gets its place.
fn add_accesses(operands: &[Operand], accesses: &mut Vec<Access>) {
    let tied = operands.iter().find(|o| o.constraint == Constraint::SameAsFirst);
    accesses.extend(operands.iter().map(|operand| {
        let required = operand.constraint != Constraint::Any;
        let here = |early, late| Access::Here { early, late, required };
        match (operand.role, operand.constraint) {
            (Role::Use | Role::LateUse, Constraint::Fixed(reg)) => Access::CopyTo(reg),
            (Role::Use, _) => match tied {
                Some(def) if operand.vreg == operands[0].vreg => Access::CopyToDef(def.vreg),
                _ => here(true, false),
            },
            (Role::Def | Role::EarlyDef, Constraint::Fixed(reg)) => Access::DefIn(reg),
            (Role::Temp, Constraint::Fixed(reg)) => Access::TempIn(reg),
            (Role::Temp, _) => Access::Here { early: true, late: true, required: true },
            (Role::Def, Constraint::SameAsFirst) | (Role::EarlyDef | Role::LateUse, _) => {
                here(true, true)
            }
            (Role::Def, _) => here(false, true),
        }
    }));
}

/// Ten times more for each loop; rarely executed blocks a thousand times less.
fn weight(block: &VBlockData) -> f32 {
    let often = 10f32.powi(block.loop_depth.min(8) as i32);
    if block.cold { often / 1000.0 } else { often }
}
