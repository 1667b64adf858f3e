//! SSA construction: from the variable form to block parameters.

pub mod braun;
pub mod constants;
mod defs;
pub mod forward;
mod minimal;
pub mod params;
pub mod phis;
pub mod unreachable;

pub use constants::evaluate;
pub use forward::Forward;
pub use phis::Phis;
pub use unreachable::empty_unreachable;

use crate::ir::Function;

/// How to construct SSA form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Construction {
    /// Braun et al. 2013: on demand, without dominators.
    #[default]
    Braun,
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
    match construction {
        Construction::Braun => braun::construct(function, folding),
    }
}

#[cfg(test)]
pub(crate) mod shapes;
#[cfg(test)]
mod tests;
