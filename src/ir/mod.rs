//! The intermediate representation.
