//! The oracle: an interpreter on the typed tree.
