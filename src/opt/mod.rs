//! Optimisation passes.
