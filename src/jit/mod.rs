//! Executable memory and linking.
