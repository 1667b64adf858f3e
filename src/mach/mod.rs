//! What every target must say.
