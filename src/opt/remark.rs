//! What the passes say of their work: what was done, what was not, and why, at a place of the source.
//!
//! `--remarks` asks for it. Nothing is put into words where nobody asks.

use crate::ir::{Function, Loc};
use crate::source::Span;

/// A remark.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// The place in the source.
    pub span: Span,
    /// The pass.
    pub pass: &'static str,
    /// What it says.
    pub text: String,
}

/// The remarks of a compilation.
#[derive(Debug, Default)]
pub struct Remarks {
    wanted: bool,
    list: Vec<Remark>,
}

impl Remarks {
    /// None yet; none ever where they are not wanted.
    pub fn new(wanted: bool) -> Self {
        Self { wanted, list: Vec::new() }
    }

    /// Says something at a place, if that is one of the source.
    pub fn say(
        &mut self,
        pass: &'static str,
        f: &Function,
        at: Loc,
        text: impl FnOnce() -> String,
    ) {
        if self.wanted {
            self.say_at(pass, f.locs[at].span, text);
        }
    }

    /// Says something at a stretch of the source.
    pub fn say_at(&mut self, pass: &'static str, span: Span, text: impl FnOnce() -> String) {
        if self.wanted && span != Span::default() {
            self.list.push(Remark { span, pass, text: text() });
        }
    }

    /// All that was said, in the order of the source.
    pub fn into_sorted(mut self) -> Vec<Remark> {
        self.list.sort();
        self.list.dedup();
        self.list
    }
}
