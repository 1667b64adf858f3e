//! The worker's side of `cover`: inputs are changed, and those that reach something new are kept.
//!
//! What an input reaches is told as by AFL: for each edge of the control flow, about how often it
//! was taken (once, twice, 3, 4 to 7, … at least 128 times).

use super::counters;
use crate::front;
use crate::generate::Random;
use crate::verdict::{Failure, Matter, Verdict, judge};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What a batch of inputs gave.
#[derive(Default)]
pub struct Batch {
    /// Inputs that fail, and how.
    pub failures: Vec<(Vec<u8>, Failure)>,
    /// Inputs kept so far.
    pub corpus: usize,
    /// Edges reached so far.
    pub edges: usize,
}

/// Keeps what was reached, and the inputs that reached it.
pub struct Explorer {
    matter: Matter,
    folder: PathBuf,
    random: Random,
    corpus: Vec<Vec<u8>>,
    /// Names of the files that are in the corpus.
    known: BTreeSet<String>,
    /// For each edge the classes of counts that were seen, a bit each.
    seen: Vec<u8>,
}

impl Explorer {
    /// Begins with good texts of a matter (the folder's come with the first batch).
    pub fn new(matter: Matter, folder: &Path, seed: u64) -> Self {
        let mut explorer = Self {
            matter,
            folder: folder.to_owned(),
            random: Random::new(seed),
            corpus: Vec::new(),
            known: BTreeSet::new(),
            seen: vec![0; counters::len()],
        };
        for text in front::seeds(matter) {
            explorer.consider(text);
        }
        explorer
    }

    /// Tries so many inputs. The one at hand is in `current`, for whoever finds this process dead.
    pub fn batch(&mut self, count: u64, current: &Path) -> std::io::Result<Batch> {
        let mut batch = Batch::default();
        self.share()?;
        let mut current = std::fs::File::create(current)?;
        for _ in 0..count {
            let text = self.changed();
            write_over(&mut current, &text)?;
            if let Some(failure) = self.consider(text.clone()) {
                batch.failures.push((text, failure));
            }
        }
        batch.corpus = self.corpus.len();
        batch.edges = self.seen.iter().filter(|&&classes| classes != 0).count();
        Ok(batch)
    }

    /// A text of the corpus with something changed; those found lately come more often.
    fn changed(&mut self) -> Vec<u8> {
        let Some(last) = self.corpus.len().checked_sub(1) else {
            return front::text(self.random.bits());
        };
        let lately = last.saturating_sub(200);
        let at = match self.random.chance(50) {
            true => lately + self.random.below(last - lately + 1),
            false => self.random.below(last + 1),
        };
        let other = self.random.below(last + 1);
        front::changed(&mut self.random, &self.corpus[at], &self.corpus[other], self.matter)
    }

    /// Judges a text, and keeps it where it reaches something new.
    fn consider(&mut self, text: Vec<u8>) -> Option<Failure> {
        counters::take(|_, _| ());
        let verdict = judge(Matter::Front, &text, 0);
        let mut new = false;
        let seen = &mut self.seen;
        counters::take(|edge, count| {
            let class = class(count);
            new |= seen[edge] & class == 0;
            seen[edge] |= class;
        });
        if let Verdict::Fail(failure) = verdict {
            return Some(failure);
        }
        if new {
            let name = fingerprint(&text);
            if self.known.insert(name.clone()) {
                // A file that can't be written is missed by the next run only.
                let _ = std::fs::write(self.folder.join(name), &text);
                self.corpus.push(text);
            }
        }
        None
    }

    /// Takes in what other workers and earlier runs have found.
    fn share(&mut self) -> std::io::Result<()> {
        let mut names: Vec<String> = std::fs::read_dir(&self.folder)?
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.') && !self.known.contains(name))
            .collect();
        names.sort();
        for name in names {
            let text = std::fs::read(self.folder.join(&name))?;
            self.known.insert(name);
            self.consider(text.clone());
            self.corpus.push(text);
        }
        Ok(())
    }
}

fn write_over(file: &mut std::fs::File, text: &[u8]) -> std::io::Result<()> {
    use std::io::Seek;
    file.rewind()?;
    file.write_all(text)?;
    file.set_len(text.len() as u64)
}

/// About how often, as a bit.
fn class(count: u8) -> u8 {
    match count {
        0 => 0,
        1 => 1,
        2 => 1 << 1,
        3 => 1 << 2,
        4..=7 => 1 << 3,
        8..=15 => 1 << 4,
        16..=31 => 1 << 5,
        32..=127 => 1 << 6,
        128.. => 1 << 7,
    }
}

/// A name for a text, by FNV-1a.
pub fn fingerprint(text: &[u8]) -> String {
    let hash = text.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_has_one_class() {
        assert_eq!(class(0), 0);
        let classes: BTreeSet<u8> = (1..=255).map(class).collect();
        assert_eq!(classes.len(), 8);
        assert!(classes.iter().all(|class| class.count_ones() == 1));
    }
}
