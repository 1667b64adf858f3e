//! The fault that a worker's compiler is to have: one of `toyjit_runtime::fault`, where the crate was built
//! with the feature `seeded-faults`.

use std::str::FromStr;

/// A seeded fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(toyjit_runtime::fault::Fault);

impl Fault {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Fault> {
        toyjit_runtime::fault::Fault::ALL.iter().copied().map(Fault)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Gives the fault to the compiler of this process.
    pub fn install(self) {
        toyjit_runtime::fault::install(self.0);
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Fault::all()
            .find(|fault| fault.name() == name)
            .ok_or_else(|| format!("there is no fault `{name}`"))
    }
}
