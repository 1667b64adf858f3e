//! The jump by a table.
//!
//! The table lies in the literal pool and holds distances from its own beginning, so that the code
//! may lie anywhere. Ways with moves are pieces of code behind the jump.
//!
//! A switch → its bytes.

use super::Emitter;
use super::cold::ColdKind;
use super::insts::reg;
use crate::entity::Entity;
use crate::mach::{Origin, Place, VBlock};
use crate::x64::emit::{Label, Mem, Rmi};
use crate::x64::inst::{AluOp, Cond, Inst};
use crate::x64::regs::SCRATCH;

impl Emitter<'_> {
    pub(super) fn switch(&mut self, inst: &Inst<Place>, block: VBlock, next: Option<VBlock>) {
        let Inst::Switch { value, temp, base, table } = inst else { return };
        let (value, temp) = (reg(*value), reg(*temp));
        let mut own = Vec::new();
        let count = self.plan.code.blocks[block].succs.len();
        let ways: Vec<Label> = (0..count).map(|way| self.way(block, way, &mut own)).collect();
        let index = match i32::try_from(*base) {
            Ok(0) => value,
            Ok(base) if base != i32::MIN => {
                self.asm.lea(temp, Mem::at(value, -base));
                temp
            }
            _ => {
                self.asm.mov_imm(SCRATCH, *base);
                self.copy(crate::mach::RegClass::Int, temp, value);
                self.asm.alu(AluOp::Sub, temp, Rmi::Reg(SCRATCH));
                temp
            }
        };
        self.asm.cmp(Rmi::Reg(index), Rmi::Imm(table.len() as i32));
        self.asm.jump_if(Cond::Ae, ways[0]);
        let places = table.iter().map(|&way| ways[usize::from(way)]).collect();
        self.asm.jump_by_table(index, temp, places);
        for (at, &(way, moves, label)) in own.iter().enumerate() {
            self.asm.bind(label);
            self.belongs(Origin::Edge(block, way as u32));
            self.edits_of_edge(Some(moves));
            let target = self.plan.code.blocks[block].succs[way].target;
            self.go_to(target, next.filter(|_| at + 1 == own.len()));
        }
    }

    /// Where a way out begins. One that has moves of its own is put down to be emitted.
    fn way(&mut self, block: VBlock, way: usize, own: &mut Vec<(usize, usize, Label)>) -> Label {
        let succ = self.plan.code.blocks[block].succs[way].target;
        let target = self.plan.forward[succ.index()];
        let Some(moves) = self.moves_of_own(block, way) else {
            return self.labels[target.index()];
        };
        if self.plan.tops[target.index()] == Some(moves) {
            return self.tops[target.index()];
        }
        if self.plan.code.blocks[succ].cold {
            return self.cold(ColdKind::Edge { moves }).0;
        }
        let label = self.asm.label();
        own.push((way, moves, label));
        label
    }
}
