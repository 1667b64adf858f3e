//! The ways to run a program.
//!
//! An engine is written as on a command line, `native -O2 --no-gvn --gc-stress`, and read back from
//! that: findings name their engine so, and `toyjit-fuzz check --engine` takes it.

use crate::generate::Random;
use std::fmt;
use std::str::FromStr;
use toyjit::opt::{PASSES, Pass};
use toyjit::pipeline::Options;
use toyjit::x64::Features;

/// What executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The interpreter on the typed tree: what a program means.
    Oracle,
    /// The IR interpreter on the variable form.
    Variables,
    /// The IR interpreter after construction and the passes of a level.
    Ir,
    /// Machine code.
    Native,
    /// What the passes of a level make of a Bril program, written as Bril, in the oracle.
    Written,
}

const HOW: [(&str, How); 5] = [
    ("oracle", How::Oracle),
    ("variables", How::Variables),
    ("ir", How::Ir),
    ("native", How::Native),
    ("written", How::Written),
];

/// A way to run a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// What executes.
    pub how: How,
    /// Optimisation level.
    pub level: u8,
    /// Passes left out.
    pub without: Vec<String>,
    /// Whether every value lives in its spill slot.
    pub spill: bool,
    /// Whether every allocation collects.
    pub gc_stress: bool,
    /// Whether the processor's extensions stay unused.
    pub baseline: bool,
    /// Whether values have few registers only.
    pub few: bool,
    /// How many rewrites the passes may make.
    pub fuel: Option<u64>,
    /// How many calls and rounds of loops the program may make.
    pub units: Option<u64>,
}

impl Engine {
    /// An engine with everything usual.
    pub fn new(how: How, level: u8) -> Self {
        let (spill, gc_stress, baseline, few) = (false, false, false, false);
        let (fuel, units) = (None, None);
        Self { how, level, without: Vec::new(), spill, gc_stress, baseline, few, fuel, units }
    }

    /// The options of the pipeline.
    pub fn options(&self) -> Options {
        Options {
            level: self.level,
            verify: true,
            disabled: self.without.clone(),
            spill_everything: self.spill,
            fuel: self.fuel,
            few_registers: self.few,
            drop_unused: true,
            features: if self.baseline { Features::BASELINE } else { Features::detect() },
            ..Options::default()
        }
    }

    /// Which rows of the table of passes run, a bit each.
    pub fn passes(&self) -> u128 {
        const { assert!(PASSES.len() <= 128) };
        let runs = |pass: &Pass| {
            self.optimises()
                && pass.level <= self.level
                && !self.without.iter().any(|name| name == pass.name)
        };
        PASSES.iter().rev().fold(0, |rows, pass| rows << 1 | u128::from(runs(pass)))
    }

    /// Whether the verifier reads the IR after each pass; else it does after the last one.
    pub fn verifies_passes(&self) -> bool {
        self.without.is_empty() && self.level >= 2 && self.units.is_none()
    }

    /// Whether another engine does the very same: of levels with the same passes one is enough.
    pub fn is_same(&self, other: &Engine) -> bool {
        let alike = Engine { level: other.level, without: other.without.clone(), ..self.clone() };
        alike == *other
            && self.passes() == other.passes()
            && (self.how != How::Written || self.level == other.level)
    }

    /// Whether the passes have a part in it.
    pub fn optimises(&self) -> bool {
        matches!(self.how, How::Ir | How::Native | How::Written) && self.level > 0
    }
}

/// Every engine that a program is run by; which pass is left out follows from the seed.
pub fn engines(seed: u64) -> Vec<Engine> {
    let mut random = Random::new(seed ^ 0x5EED);
    let without: Vec<String> = PASSES
        .get(random.below(PASSES.len() + 1))
        .map(|pass| pass.name.to_owned())
        .into_iter()
        .collect();
    let native = Engine::new(How::Native, 2);
    let mut engines = vec![Engine::new(How::Variables, 0)];
    engines.extend((0..=3).map(|level| Engine::new(How::Ir, level)));
    engines.push(Engine { without: without.clone(), ..Engine::new(How::Ir, 2) });
    engines.extend((0..=3).map(|level| Engine::new(How::Native, level)));
    engines.push(Engine { without, ..native.clone() });
    engines.push(Engine { spill: true, ..native.clone() });
    engines.push(Engine { gc_stress: true, ..native.clone() });
    engines.push(Engine { few: true, level: 3, ..native.clone() });
    engines.push(Engine { baseline: true, ..native });
    if random.below(4) == 0 {
        let units = Some(random.below(1000) as u64);
        engines.push(Engine { units, ..Engine::new(How::Ir, 1) });
        engines.extend([0, 3].map(|level| Engine { units, ..Engine::new(How::Native, level) }));
    }
    engines
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = HOW.iter().find(|(_, how)| *how == self.how).map_or("", |(name, _)| name);
        f.write_str(name)?;
        if let Some(units) = self.units {
            write!(f, " --fuel={units}")?;
        }
        if matches!(self.how, How::Oracle | How::Variables) {
            return Ok(());
        }
        write!(f, " -O{}", self.level)?;
        for pass in &self.without {
            write!(f, " --no-{pass}")?;
        }
        for (on, flag) in [
            (self.spill, "--spill-everything"),
            (self.gc_stress, "--gc-stress"),
            (self.baseline, "--baseline"),
            (self.few, "--few-registers"),
        ] {
            if on {
                write!(f, " {flag}")?;
            }
        }
        match self.fuel {
            Some(fuel) => write!(f, " --opt-fuel={fuel}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let how = HOW.iter().find(|(known, _)| *known == name);
        let (_, how) = how.ok_or_else(|| format!("there is no engine `{name}`"))?;
        let mut engine = Engine::new(*how, 0);
        for word in words {
            let unknown = || format!("an engine knows no `{word}`");
            match word {
                "--spill-everything" => engine.spill = true,
                "--gc-stress" => engine.gc_stress = true,
                "--baseline" => engine.baseline = true,
                "--few-registers" => engine.few = true,
                _ => {
                    if let Some(level) = word.strip_prefix("-O") {
                        engine.level = level.parse().map_err(|_| unknown())?;
                    } else if let Some(units) = word.strip_prefix("--fuel=") {
                        engine.units = Some(units.parse().map_err(|_| unknown())?);
                    } else if let Some(fuel) = word.strip_prefix("--opt-fuel=") {
                        engine.fuel = Some(fuel.parse().map_err(|_| unknown())?);
                    } else if let Some(pass) = word.strip_prefix("--no-") {
                        engine.without.push(pass.to_owned());
                    } else {
                        return Err(unknown());
                    }
                }
            }
        }
        Ok(engine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_the_same_by_their_passes() {
        let engine = |text: &str| text.parse::<Engine>().unwrap();
        let top = PASSES.iter().map(|pass| pass.level).max().unwrap_or(0);
        let highest = engine(&format!("native -O{top}"));
        assert!(highest.is_same(&Engine { level: 200, ..highest.clone() }));
        assert!(highest.is_same(&engine(&format!("native -O{top} --no-such"))));
        for other in ["native -O0", "native -O2 --no-gvn", "native -O2 --gc-stress", "ir -O2"] {
            assert!(!engine("native -O2").is_same(&engine(other)), "{other}");
        }
    }

    #[test]
    fn engines_read_back() {
        for engine in (0..20).flat_map(engines) {
            let fueled = Engine { fuel: Some(7), ..engine.clone() };
            assert_eq!(engine.to_string().parse(), Ok(engine));
            if fueled.optimises() {
                assert_eq!(fueled.to_string().parse(), Ok(fueled));
            }
        }
    }
}
