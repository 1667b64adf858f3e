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
pub mod unreachable;

pub use constants::evaluate;
pub use event::Event;
pub use forward::Forward;
pub use phis::Phis;
pub use unreachable::empty_unreachable;

use crate::ir::Function;
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
/// and needs no dominators, but for functions so large that its look-ups (up to one step for each
/// variable and block) outgrow the bit sets of the pruned one (`cargo bench --bench growth -- live`).
pub fn choose(function: &Function) -> Construction {
    const MOST_PAIRS: usize = 1 << 20;
    let pairs = function.blocks.len().saturating_mul(function.variables.len());
    if pairs <= MOST_PAIRS { Construction::Braun } else { Construction::Pruned }
}

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
