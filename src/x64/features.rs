//! What the processor can do beyond the x86-64 baseline.

/// Extensions that selection may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// `roundsd`
    pub sse41: bool,
    /// `popcnt`
    pub popcnt: bool,
    /// `lzcnt`
    pub lzcnt: bool,
    /// `tzcnt`
    pub bmi1: bool,
    /// `shlx`, `sarx`, `shrx`
    pub bmi2: bool,
}

impl Features {
    /// None of them: every processor of the architecture.
    pub const BASELINE: Features =
        Features { sse41: false, popcnt: false, lzcnt: false, bmi1: false, bmi2: false };

    /// Those of this processor.
    pub fn detect() -> Features {
        Features {
            sse41: is_x86_feature_detected!("sse4.1"),
            popcnt: is_x86_feature_detected!("popcnt"),
            lzcnt: is_x86_feature_detected!("lzcnt"),
            bmi1: is_x86_feature_detected!("bmi1"),
            bmi2: is_x86_feature_detected!("bmi2"),
        }
    }

    /// Their names.
    pub fn names(&self) -> Vec<&'static str> {
        [
            (self.sse41, "sse4.1"),
            (self.popcnt, "popcnt"),
            (self.lzcnt, "lzcnt"),
            (self.bmi1, "bmi1"),
            (self.bmi2, "bmi2"),
        ]
        .into_iter()
        .filter_map(|(has, name)| has.then_some(name))
        .collect()
    }
}
