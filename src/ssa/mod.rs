//! SSA construction: from the variable form to block parameters.

pub mod braun;
pub mod constants;
pub mod cytron;
mod defs;
pub mod event;
pub mod figures;
pub mod forward;
mod minimal;
mod numbering;
pub mod params;
pub mod phis;
mod reducible;
pub mod unreachable;

pub use constants::evaluate;
pub use event::Event;
pub use forward::Forward;
pub use phis::Phis;
pub use unreachable::empty_unreachable;

use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::ir::{Block, Function, Value, ValueDef};
use crate::pooled;
use crate::watch::Watch;
use cytron::Pruning;

/// How to construct SSA form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Construction {
    /// Braun et al. 2013: on demand, without dominators; pruned and minimal.
    #[default]
    Braun,
    /// Cytron et al. 1991: φs on the iterated dominance frontiers.
    Minimal,
    /// The same without φs of variables whose values cross no edge (Briggs et al. 1998).
    SemiPruned,
    /// The same without φs of variables that are not live.
    Pruned,
    /// Braun's with value numbering while building.
    BraunGvn,
}

impl Construction {
    /// All of them.
    pub const ALL: [Construction; 5] =
        [Self::Braun, Self::Minimal, Self::SemiPruned, Self::Pruned, Self::BraunGvn];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Braun => "braun",
            Self::Minimal => "minimal",
            Self::SemiPruned => "semi-pruned",
            Self::Pruned => "pruned",
            Self::BraunGvn => "braun+gvn",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|construction| construction.name() == name)
    }
}

/// The construction for a function, where none was asked for: Braun's, which folds while it builds
/// and needs no dominators, but where variables are mentioned far apart. Its look-ups take up to one
/// step for each block between a variable's mentions, which then outgrow the bit sets of the pruned
/// one (`cargo bench --bench growth -- live`).
pub fn choose(function: &Function) -> Construction {
    const FEW_PAIRS: usize = 1 << 12;
    /// What the pruned one costs more, in steps of a look-up, by counting instructions (`ifs`, `match`).
    const STEPS_PER_INST: usize = 4;
    const STEPS_PER_BLOCK: usize = 8;
    let (insts, blocks) = (function.insts.len(), function.blocks.len());
    let pairs = blocks.saturating_mul(function.variables.len());
    let enough = STEPS_PER_INST * insts + STEPS_PER_BLOCK * blocks;
    if pairs <= FEW_PAIRS || steps(function) <= enough {
        Construction::Braun
    } else {
        Construction::Pruned
    }
}

/// The blocks between the first and the last that mention a variable, summed over the variables.
fn steps(function: &Function) -> usize {
    let mut spans = Buffer::filled(None, function.variables.len());
    for (block, data) in function.blocks.iter() {
        let mut mention = |value: Value| {
            if let ValueDef::Variable(variable) = function.values[value].def {
                let (_, last) = spans[variable.index()].get_or_insert((block, block));
                *last = block;
            }
        };
        for &inst in &data.insts {
            function.args(inst).iter().copied().for_each(&mut mention);
            function.insts[inst].result.into_iter().for_each(&mut mention);
        }
        data.terminator.for_each_use(&mut mention);
    }
    spans.iter().flatten().map(|(first, last)| last.index() - first.index()).sum()
}

pooled! { Option<(Block, Block)> }

/// What is evaluated while values are being numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Folding {
    /// Nothing: every instruction stays, copies too.
    Off,
    /// Copies become their operand, and operators on constants become constants.
    #[default]
    On,
}

/// Brings `function` from the variable form into SSA form.
pub fn construct(function: &mut Function, construction: Construction, folding: Folding) {
    construct_watched(function, construction, folding, &mut ());
}

/// The same, watched.
pub fn construct_watched(
    function: &mut Function,
    construction: Construction,
    folding: Folding,
    watch: &mut impl Watch<Event>,
) {
    let pruning = match construction {
        Construction::Braun => return braun::construct(function, folding, false, watch),
        Construction::BraunGvn => return braun::construct(function, folding, true, watch),
        Construction::Minimal => Pruning::Minimal,
        Construction::SemiPruned => Pruning::SemiPruned,
        Construction::Pruned => Pruning::Pruned,
    };
    cytron::construct(function, pruning, folding, watch);
}

#[cfg(test)]
mod braun_tests;
#[cfg(test)]
pub(crate) mod shapes;
#[cfg(test)]
mod tests;
