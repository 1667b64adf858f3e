//! The table of entry points.
