//! Random code for the fake machine: any control flow (irreducible, with self loops, critical edges
//! and several edges between two blocks), any order of blocks, values of all kinds, parameters
//! with rotated arguments, and instructions whose constraints are as hard as can be and yet
//! satisfiable by the registers that are given.
//!
mod operands;

use super::fake::FakeInst;
use crate::entity::{Arena, Entity};
use crate::ir::Loc;
use crate::mach::{
    Operand, RegClass, RegSet, RegisterFile, VBlock, VBlockData, VCode, VEdge, VReg, VRegData,
};

/// A generator of random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.number() % bound as u64) as usize }
    }

    /// True in `percent` of all cases.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        from.get(self.below(from.len())).copied()
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// How big and how wild the code is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How many blocks.
    pub blocks: usize,
    /// How many instructions in a block, at most.
    pub insts: usize,
    /// How many values are wanted alive at once.
    pub pressure: usize,
    /// Per cent of instructions that clobber registers.
    pub clobbers: usize,
    /// Whether blocks stand in any order, rather than with dominators first.
    pub shuffle: bool,
}

impl Shape {
    /// A random shape.
    pub fn random(rng: &mut Rng) -> Self {
        let large = if rng.percent(4) { 6 } else { 1 };
        Self {
            blocks: 1 + rng.below(12 * large),
            insts: 1 + rng.below(10),
            pressure: 2 + rng.below(24),
            clobbers: [0, 10, 30][rng.below(3)],
            shuffle: rng.percent(25),
        }
    }
}

/// Makes random code.
pub fn generate(rng: &mut Rng, shape: Shape, registers: &RegisterFile) -> VCode<FakeInst> {
    let graph = Graph::random(rng, shape);
    let mut generator = Generator {
        rng,
        shape,
        registers,
        vregs: Arena::new(),
        params: vec![Vec::new(); graph.succs.len()],
        bodies: vec![Vec::new(); graph.succs.len()],
        args: vec![Vec::new(); graph.succs.len()],
    };
    generator.fill(&graph);
    generator.assemble(&graph)
}

/// A control-flow graph, its blocks numbered with dominators first.
struct Graph {
    succs: Vec<Vec<usize>>,
    idom: Vec<usize>,
}

impl Graph {
    fn random(rng: &mut Rng, shape: Shape) -> Self {
        let count = shape.blocks.max(1);
        let mut succs: Vec<Vec<usize>> = vec![Vec::new(); count];
        for block in 1..count {
            let near = block - 1 - rng.below(block.min(3));
            let from = if succs[near].len() < 3 { near } else { block - 1 };
            succs[from].push(block);
        }
        if count > 1 {
            for _ in 0..rng.below(count + 1) {
                let from = rng.below(count);
                if succs[from].len() < 3 {
                    let again = succs[from].first().copied().filter(|_| rng.percent(10));
                    succs[from].push(again.unwrap_or_else(|| 1 + rng.below(count - 1)));
                }
            }
        }
        for succs in &mut succs {
            rng.shuffle(succs);
        }
        let idom = dominators(&succs);
        Self { succs, idom }
    }
}

/// Immediate dominators, by intersecting paths until nothing changes (Cooper, Harvey, Kennedy);
/// block numbers are a depth-first order, so an ancestor's number is lower.
fn dominators(succs: &[Vec<usize>]) -> Vec<usize> {
    let mut preds = vec![Vec::new(); succs.len()];
    for (block, succs) in succs.iter().enumerate() {
        for &succ in succs {
            preds[succ].push(block);
        }
    }
    let mut idom = vec![usize::MAX; succs.len()];
    idom[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for block in 1..succs.len() {
            let known = preds[block].iter().copied().filter(|&p| idom[p] != usize::MAX);
            let new = known.reduce(|mut a, mut b| {
                while a != b {
                    if a > b {
                        a = idom[a];
                    } else {
                        b = idom[b];
                    }
                }
                a
            });
            if let Some(new) = new
                && idom[block] != new
            {
                idom[block] = new;
                changed = true;
            }
        }
    }
    idom
}

struct Generator<'a> {
    rng: &'a mut Rng,
    shape: Shape,
    registers: &'a RegisterFile,
    vregs: Arena<VReg, VRegData>,
    params: Vec<Vec<VReg>>,
    bodies: Vec<Vec<FakeInst>>,
    /// For each block and successor, the arguments.
    args: Vec<Vec<Vec<VReg>>>,
}

impl Generator<'_> {
    fn fill(&mut self, graph: &Graph) {
        for block in 1..graph.succs.len() {
            for _ in 0..self.rng.below(5) {
                let param = self.new_vreg();
                self.params[block].push(param);
            }
        }
        let mut at_end: Vec<Vec<VReg>> = Vec::new();
        for block in 0..graph.succs.len() {
            let mut known = match block {
                0 => Vec::new(),
                _ => at_end[graph.idom[block]].clone(),
            };
            known.extend(&self.params[block]);
            while known.len() < self.shape.pressure.min(4) {
                self.constant(block, &mut known);
            }
            for _ in 0..self.rng.below(self.shape.insts + 1) {
                match self.rng.below(12) {
                    0 => self.constant(block, &mut known),
                    1 => self.copy(block, &mut known),
                    _ => self.instruction(block, &mut known),
                }
            }
            for &succ in &graph.succs[block] {
                let mut args = Vec::new();
                for param in self.params[succ].clone() {
                    args.push(self.argument(block, succ, param, &mut known));
                }
                self.args[block].push(args);
            }
            self.terminator(block, graph.succs[block].len(), &known);
            at_end.push(known);
        }
    }

    fn new_vreg(&mut self) -> VReg {
        let float = self.rng.percent(30);
        let class = if float { RegClass::Float } else { RegClass::Int };
        let is_ref = !float && self.rng.percent(30);
        self.vregs.push(VRegData { class, is_ref })
    }

    fn constant(&mut self, block: usize, known: &mut Vec<VReg>) {
        let vreg = self.new_vreg();
        self.constant_for(block, vreg, known);
    }

    fn constant_for(&mut self, block: usize, vreg: VReg, known: &mut Vec<VReg>) {
        let constant = self.rng.percent(70);
        let operands = vec![Operand::def(vreg)];
        self.bodies[block].push(FakeInst { operands, constant, ..FakeInst::default() });
        known.push(vreg);
    }

    fn copy(&mut self, block: usize, known: &mut Vec<VReg>) {
        let Some(from) = self.rng.pick(known) else { return };
        let to = self.vregs.push(self.vregs[from]);
        let source = if self.rng.percent(50) { Operand::any(from) } else { Operand::reg(from) };
        let operands = vec![source, Operand::def(to)];
        self.bodies[block].push(FakeInst { operands, copy: true, ..FakeInst::default() });
        known.push(to);
    }

    /// An argument for a parameter of `target`; in loops often another of its parameters, so that
    /// they are permuted.
    fn argument(
        &mut self,
        block: usize,
        target: usize,
        param: VReg,
        known: &mut Vec<VReg>,
    ) -> VReg {
        let wanted = self.vregs[param];
        let fitting: Vec<VReg> =
            known.iter().copied().filter(|&v| self.vregs[v] == wanted).collect();
        let params = &self.params[target];
        let own: Vec<VReg> = fitting.iter().copied().filter(|v| params.contains(v)).collect();
        if self.rng.percent(50)
            && let Some(other) = self.rng.pick(&own)
        {
            return other;
        }
        let recent = fitting.len().saturating_sub(self.shape.pressure);
        self.rng.pick(&fitting[recent..]).unwrap_or_else(|| {
            let vreg = self.vregs.push(wanted);
            self.constant_for(block, vreg, known);
            vreg
        })
    }

    fn any_use(&mut self, known: &[VReg], class: RegClass) -> Option<VReg> {
        let fitting: Vec<VReg> =
            known.iter().copied().filter(|&v| self.vregs[v].class == class).collect();
        let recent = fitting.len().saturating_sub(self.shape.pressure);
        self.rng.pick(&fitting[recent..])
    }

    fn instruction(&mut self, block: usize, known: &mut Vec<VReg>) {
        let mut inst = FakeInst { safepoint: self.rng.percent(12), ..FakeInst::default() };
        if self.rng.percent(self.shape.clobbers) {
            inst.clobbers = self.some_clobbers();
        }
        let mut defined = Vec::new();
        for class in [RegClass::Int, RegClass::Float] {
            if class == RegClass::Int || self.rng.percent(50) {
                self.operands(&mut inst, class, known, &mut defined, true);
            }
        }
        known.extend(defined);
        self.bodies[block].push(inst);
    }

    fn some_clobbers(&mut self) -> RegSet {
        let all: RegSet = self.registers.allocatable.iter().copied().collect();
        match self.rng.below(4) {
            0 => all,
            1 => all.iter().filter(|_| self.rng.percent(30)).collect(),
            _ => all.iter().filter(|&r| !self.registers.callee_saved.contains(r)).collect(),
        }
    }

    fn vreg_of(&mut self, class: RegClass) -> VReg {
        let is_ref = class == RegClass::Int && self.rng.percent(30);
        self.vregs.push(VRegData { class, is_ref })
    }

    fn terminator(&mut self, block: usize, succs: usize, known: &[VReg]) {
        let mut inst = FakeInst::default();
        if succs != 1 {
            for class in [RegClass::Int, RegClass::Float] {
                self.operands(&mut inst, class, known, &mut Vec::new(), false);
            }
        }
        self.bodies[block].push(inst);
    }

    /// Puts everything in the order of emission.
    fn assemble(self, graph: &Graph) -> VCode<FakeInst> {
        let mut order: Vec<usize> = (0..graph.succs.len()).collect();
        if self.shape.shuffle {
            self.rng.shuffle(&mut order[1..]);
        }
        let mut number = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old] = new;
        }
        let cold_from =
            if self.rng.percent(40) { 1 + self.rng.below(order.len()) } else { order.len() };
        let depth_seed = self.rng.below(3);
        let mut code = VCode {
            name: "random".into(),
            blocks: Arena::new(),
            insts: Vec::new(),
            locs: Vec::new(),
            vregs: self.vregs,
        };
        for (position, &old) in order.iter().enumerate() {
            let start = code.insts.len() as u32;
            code.insts.extend(self.bodies[old].iter().cloned());
            let edges = graph.succs[old].iter().zip(&self.args[old]);
            code.blocks.push(VBlockData {
                insts: start..code.insts.len() as u32,
                params: self.params[old].iter().copied().collect(),
                succs: edges
                    .map(|(&target, args)| VEdge {
                        target: VBlock::new(number[target]),
                        args: args.iter().copied().collect(),
                    })
                    .collect(),
                preds: Default::default(),
                loop_depth: ((old * 7 + depth_seed) % 3) as u32,
                cold: position >= cold_from,
            });
        }
        for block in code.blocks.keys() {
            for edge in code.blocks[block].succs.clone() {
                code.blocks[edge.target].preds.push(block);
            }
        }
        code.locs = vec![Loc::new(0); code.insts.len()];
        code
    }
}
