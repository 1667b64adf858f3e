//! The whole flow.
