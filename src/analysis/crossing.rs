//! Which values cross an edge: those that some block reads before it defines them. Problems that
//! keep a fact for each value forget the others at the ends of blocks, so that their states stay
//! small.
//!
//! In a large function that is not enough: a fact about a value that nobody reads any more would be
//! carried to the end. There a value crosses an edge only where it is live; each value is followed
//! from its reads back to its definitions (Boissinot et al. 2011), so that the work is linear in how
//! far values live.
//!
//! [`Function`], [`Cfg`] → [`Crossing`].

use super::subset::Buckets;
use crate::entity::{EntitySet, SideTable};
use crate::ir::{Block, Cfg, Function, Value};

/// Functions with more pairs of block and crossing value are large.
const LARGE: usize = 1 << 20;

/// The values that cross edges.
#[derive(Debug)]
pub struct Crossing {
    all: EntitySet<Value>,
    /// In a large function: the values that are live where each block begins, sorted.
    live: Option<Buckets<Value>>,
}

impl Crossing {
    /// Those of a function.
    pub fn compute(f: &Function, cfg: &Cfg) -> Self {
        let Exposed { reads, definitions } = exposed(f, cfg);
        let all: EntitySet<Value> = reads.iter().map(|&(value, _)| value).collect();
        let is_large = all.iter().count().saturating_mul(cfg.rpo().len()) > LARGE;
        let live = is_large.then(|| live_in(f, cfg, &reads, &definitions));
        Self { all, live }
    }

    /// Whether a fact about a value matters where `block` begins.
    pub fn matters_in(&self, block: Block, value: Value) -> bool {
        match &self.live {
            Some(live) => live.of(block).binary_search(&value).is_ok(),
            None => self.all.contains(value),
        }
    }
}

struct Exposed {
    /// Values with blocks that read them before they define them.
    reads: Vec<(Value, Block)>,
    /// Values with blocks that define them.
    definitions: Vec<(Value, Block)>,
}

fn exposed(f: &Function, cfg: &Cfg) -> Exposed {
    let (mut reads, mut definitions) = (Vec::new(), Vec::new());
    let mut defined_in = SideTable::with_len(None, f.values.len());
    let mut read_in = SideTable::with_len(None, f.values.len());
    for &block in cfg.rpo() {
        let data = &f.blocks[block];
        let mut define = |value: Value, defined_in: &mut SideTable<Value, Option<Block>>| {
            if defined_in[value].replace(block) != Some(block) {
                definitions.push((value, block));
            }
        };
        let mut read = |value: Value, defined_in: &SideTable<Value, Option<Block>>| {
            if f.as_const(value).is_none()
                && defined_in[value] != Some(block)
                && read_in[value].replace(block) != Some(block)
            {
                reads.push((value, block));
            }
        };
        data.params.iter().for_each(|&param| define(param, &mut defined_in));
        for &inst in &data.insts {
            f.args(inst).iter().for_each(|&arg| read(arg, &defined_in));
            if let Some(result) = f.insts[inst].result {
                define(result, &mut defined_in);
            }
        }
        data.terminator.for_each_use(|value| read(value, &defined_in));
    }
    Exposed { reads, definitions }
}

fn live_in(
    f: &Function,
    cfg: &Cfg,
    reads: &[(Value, Block)],
    definitions: &[(Value, Block)],
) -> Buckets<Value> {
    let reads = Buckets::new(f.values.len(), reads);
    let definitions = Buckets::new(f.values.len(), definitions);
    let mut live = Vec::new();
    // The last value that a block was found to define, and to be reached by.
    let mut defines = SideTable::with_len(None, f.blocks.len());
    let mut reached = SideTable::with_len(None, f.blocks.len());
    let mut open = Vec::new();
    for value in f.values.keys() {
        definitions.of(value).iter().for_each(|&block| defines[block] = Some(value));
        open.extend_from_slice(reads.of(value));
        while let Some(block) = open.pop() {
            if reached[block].replace(value) != Some(value) {
                live.push((block, value));
                open.extend(cfg.preds(block).filter(|&pred| defines[pred] != Some(value)));
            }
        }
    }
    Buckets::new(f.blocks.len(), &live)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::dataflow::{GenKill, solve};
    use crate::analysis::facts::Point;
    use crate::analysis::liveness::Liveness;
    use crate::ir::generate::{self, Rng, Shape};
    use crate::ir::{Form, Variable};

    #[test]
    fn following_reads_back_gives_the_live_variables() {
        for seed in 0..200 {
            let shape = Shape { form: Form::Variable, ..Shape::default() };
            let module = generate::module(&mut Rng::new(seed), &shape);
            for f in module.functions.values() {
                let cfg = Cfg::compute(f);
                let Exposed { reads, definitions } = exposed(f, &cfg);
                let live = live_in(f, &cfg, &reads, &definitions);
                let variables: Vec<Variable> = f.variables.keys().collect();
                let problem = Liveness::new(&variables);
                let solution = solve(f, &cfg, &problem);
                for &block in cfg.rpo() {
                    let first = Point { block, index: 0 };
                    let mut at_start = solution.at(f, &problem, first);
                    GenKill::transfer(&problem, f, first, &mut at_start);
                    for (bit, variable) in f.variables.values().enumerate() {
                        let found = live.of(block).binary_search(&variable.value).is_ok();
                        assert_eq!(found, at_start.contains(bit), "seed {seed}, {block}");
                    }
                }
            }
        }
    }
}
