//! Reaching definitions: a forward may problem on the variable form. An assignment reaches a point
//! where some path leads from it to there on which its variable is not assigned again.

use super::bits::{Bits, May};
use super::board::{self, Board, Ways};
use super::dataflow::{Direction, GenKill};
use super::facts::Point;
use super::problems::Row;
use super::subset::{Buckets, Subset};
use super::variables::assigned_variable;
use crate::entity::{Arena, SideTable};
use crate::ir::print::Printer;
use crate::ir::{Block, Cfg, Function, Inst, Module, Variable};

crate::entity! {
    /// An assignment of a variable.
    Definition = "d";
}

/// Its row in the table of problems.
pub(super) const ROW: Row = Row {
    name: "reaching",
    about: "reaching definitions: the assignments that may be a variable's latest",
    how: "forward, union",
    draw,
};

fn draw(module: &Module, f: &Function, cfg: &Cfg, ways: Ways) -> Board {
    let definitions = Definitions::compute(f, cfg);
    let all: Vec<Definition> = definitions.keys().collect();
    let mut board = board::of_sets(f, cfg, &Reaching::new(&definitions, &all), ways);
    let printer = Printer::new(module);
    let legend = definitions.list.iter().map(|(definition, &(inst, block))| {
        (name(definition), format!("{} in {block}", printer.inst(f, inst)))
    });
    board.legend = legend.collect();
    board
}

/// The first definition is d1.
fn name(definition: Definition) -> String {
    format!("d{}", definition.0 + 1)
}

/// The assignments of a function, in reverse postorder.
#[derive(Debug)]
pub struct Definitions {
    list: Arena<Definition, (Inst, Block)>,
    of_inst: SideTable<Inst, Option<Definition>>,
    of_variable: Buckets<Definition>,
}

impl Definitions {
    /// The assignments in reachable blocks.
    pub fn compute(f: &Function, cfg: &Cfg) -> Self {
        let mut list = Arena::new();
        let mut of_inst = SideTable::with_len(None, f.insts.len());
        let mut pairs = Vec::new();
        for &block in cfg.rpo() {
            for &inst in &f.blocks[block].insts {
                if let Some(variable) = assigned_variable(f, inst) {
                    let definition = list.push((inst, block));
                    of_inst[inst] = Some(definition);
                    pairs.push((variable, definition));
                }
            }
        }
        Self { list, of_inst, of_variable: Buckets::new(f.variables.len(), &pairs) }
    }

    /// All of them.
    pub fn keys(&self) -> impl Iterator<Item = Definition> + use<> {
        self.list.keys()
    }

    /// The one that an instruction is.
    pub fn of_inst(&self, inst: Inst) -> Option<Definition> {
        self.of_inst[inst]
    }

    /// Those of a variable.
    pub fn of_variable(&self, variable: Variable) -> &[Definition] {
        self.of_variable.of(variable)
    }

    /// The block of one.
    pub fn block(&self, definition: Definition) -> Block {
        self.list[definition].1
    }
}

/// The problem, for some of the definitions.
#[derive(Clone, Copy, Debug)]
pub struct Reaching<'a> {
    definitions: &'a Definitions,
    some: Subset<'a, Definition>,
}

impl<'a> Reaching<'a> {
    /// The problem for these definitions, in the order of their numbers.
    pub fn new(definitions: &'a Definitions, some: &'a [Definition]) -> Self {
        Self { definitions, some: Subset::new(some) }
    }

    /// The bits of those of a variable's definitions that are among these.
    pub fn bits(&self, definitions: &'a [Definition]) -> impl Iterator<Item = usize> + 'a {
        self.some.bits(definitions)
    }

    /// The blocks that add facts.
    pub fn seeds(&self) -> impl Iterator<Item = Block> + 'a {
        let definitions = self.definitions;
        self.some.facts().iter().map(|&definition| definitions.block(definition))
    }
}

impl GenKill for Reaching<'_> {
    type Meet = May;
    const DIRECTION: Direction = Direction::Forward;

    fn len(&self, _: &Function) -> usize {
        self.some.len()
    }

    fn transfer(&self, f: &Function, at: Point, bits: &mut Bits<May>) {
        let Some(inst) = at.inst(f) else { return };
        let Some(variable) = assigned_variable(f, inst) else { return };
        let others = self.definitions.of_variable(variable);
        self.some.bits(others).for_each(|bit| bits.remove(bit));
        let own = self.definitions.of_inst(inst);
        if let Some(bit) = own.and_then(|definition| self.some.bit(definition)) {
            bits.insert(bit);
        }
    }

    fn name(&self, _: &Function, bit: usize) -> String {
        name(self.some.fact(bit))
    }
}
