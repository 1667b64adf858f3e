//! Standard input for programs that run many times: it is read once, when a program first asks for
//! it, and each run reads all of it.

use std::io::{self, BufReader, Read};
use std::sync::{Arc, OnceLock};
use toyjit::engine::Input;

/// What standard input gives, as soon as someone has asked for it.
#[derive(Clone, Default)]
pub struct Kept(Arc<OnceLock<Vec<u8>>>);

impl Kept {
    /// The input of one run.
    pub fn input(&self) -> Input {
        Input::from(Box::new(BufReader::new(Reader { kept: self.clone(), at: 0 })))
    }

    /// No input: the program itself came from there.
    pub fn nothing() -> Self {
        Self(Arc::new(OnceLock::from(Vec::new())))
    }
}

struct Reader {
    kept: Kept,
    at: usize,
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let all = self.kept.0.get_or_init(|| {
            let mut all = Vec::new();
            // What can't be read has ended.
            let _ = io::stdin().lock().read_to_end(&mut all);
            all
        });
        let rest = &all[self.at..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_reads_all() {
        let kept = Kept(Arc::new(OnceLock::from(b"abc".to_vec())));
        for _ in 0..2 {
            let mut text = String::new();
            let mut reader = Reader { kept: kept.clone(), at: 0 };
            assert_eq!(reader.read(&mut [0; 2]).expect("bytes"), 2);
            reader.read_to_string(&mut text).expect("bytes");
            assert_eq!(text, "c");
        }
    }
}
