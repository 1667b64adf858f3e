//! Writes code for the fake machine by hand.

use crate::entity::{Arena, Entity};
use crate::ir::Loc;
use crate::mach::{
    Operand, PReg, RegClass, RegSet, VBlock, VBlockData, VCode, VEdge, VReg, VRegData,
};
use crate::regalloc::fake::FakeInst;

/// Registers that a call loses, of a file of 14 + 15.
pub fn clobbers() -> RegSet {
    (0..10).chain(16..31).map(PReg).collect()
}

/// Blocks that are being filled; they stand in order of their numbers.
pub struct Blocks {
    bodies: Vec<Vec<FakeInst>>,
    blocks: Vec<VBlockData>,
    vregs: Arena<VReg, VRegData>,
}

impl Blocks {
    pub fn new(count: usize) -> Self {
        let block = VBlockData {
            insts: 0..0,
            params: Default::default(),
            succs: Default::default(),
            preds: Default::default(),
            loop_depth: 0,
            cold: false,
        };
        Self { bodies: vec![Vec::new(); count], blocks: vec![block; count], vregs: Arena::new() }
    }

    pub fn vreg(&mut self) -> VReg {
        self.vregs.push(VRegData { class: RegClass::Int, is_ref: false })
    }

    pub fn reference(&mut self) -> VReg {
        self.vregs.push(VRegData { class: RegClass::Int, is_ref: true })
    }

    pub fn param(&mut self, block: usize) -> VReg {
        let vreg = self.vreg();
        self.blocks[block].params.push(vreg);
        vreg
    }

    pub fn push(&mut self, block: usize, operands: &[Operand]) -> &mut FakeInst {
        let inst = FakeInst { operands: operands.to_vec(), ..FakeInst::default() };
        self.bodies[block].push(inst);
        let at = self.bodies[block].len() - 1;
        &mut self.bodies[block][at]
    }

    /// Defines a value from nothing.
    pub fn value(&mut self, block: usize) -> VReg {
        self.operation(block, &[])
    }

    /// Defines a value from others, all in registers.
    pub fn operation(&mut self, block: usize, uses: &[VReg]) -> VReg {
        let def = self.vreg();
        let mut operands: Vec<Operand> = uses.iter().map(|&v| Operand::reg(v)).collect();
        operands.push(Operand::def(def));
        self.push(block, &operands);
        def
    }

    /// Defines a value in the place of the first of others.
    pub fn two_address(&mut self, block: usize, first: VReg, second: VReg) -> VReg {
        let def = self.vreg();
        self.push(block, &[Operand::reg(first), Operand::any(second), Operand::def_same(def)]);
        def
    }

    /// A call with arguments in registers 0, 1, … and its result in register 0.
    pub fn call(&mut self, block: usize, args: &[VReg]) -> VReg {
        let result = self.vreg();
        let fixed = args.iter().enumerate().map(|(i, &v)| Operand::fixed(v, PReg(i as u8)));
        let operands: Vec<Operand> = fixed.chain([Operand::def_fixed(result, PReg(0))]).collect();
        let call = self.push(block, &operands);
        call.clobbers = clobbers();
        call.safepoint = true;
        result
    }

    pub fn edge(&mut self, block: usize, target: usize, args: &[VReg]) {
        let target = VBlock::new(target);
        self.blocks[block].succs.push(VEdge { target, args: args.iter().copied().collect() });
    }

    pub fn jump(&mut self, block: usize, target: usize) {
        self.jump_with(block, target, &[]);
    }

    pub fn jump_with(&mut self, block: usize, target: usize, args: &[VReg]) {
        self.push(block, &[]);
        self.edge(block, target, args);
    }

    pub fn branch(&mut self, block: usize, condition: VReg, targets: &[usize]) {
        self.push(block, &[Operand::reg(condition)]);
        for &target in targets {
            self.edge(block, target, &[]);
        }
    }

    pub fn set_depth(&mut self, block: usize, depth: usize) {
        self.blocks[block].loop_depth = depth as u32;
    }

    pub fn set_cold(&mut self, block: usize) {
        self.blocks[block].cold = true;
    }

    /// The code; blocks without successors that lack a terminator get one.
    pub fn finish(mut self) -> VCode<FakeInst> {
        let mut insts = Vec::new();
        for (block, body) in self.blocks.iter_mut().zip(self.bodies) {
            let start = insts.len() as u32;
            insts.extend(body);
            if block.succs.is_empty() {
                insts.push(FakeInst::default());
            }
            block.insts = start..insts.len() as u32;
        }
        for block in 0..self.blocks.len() {
            for edge in self.blocks[block].succs.clone() {
                self.blocks[edge.target.index()].preds.push(VBlock::new(block));
            }
        }
        VCode {
            name: "by hand".into(),
            blocks: self.blocks.into_iter().collect(),
            locs: vec![Loc::new(0); insts.len()],
            insts,
            vregs: self.vregs,
        }
    }
}
