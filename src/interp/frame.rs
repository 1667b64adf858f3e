//! Frames and held values: where words live while a program runs.

use super::Interpreter;
use crate::entity::Arena;
use crate::sema::hir::{FuncId, Function, LocalId, Ty};

/// Where a function's variables stand in its frame.
pub(super) struct Layout {
    locals: Arena<LocalId, Home>,
    words: usize,
    references: usize,
}

/// A variable's place: an offset into the frame's stretch of words or of references.
#[derive(Clone, Copy)]
enum Home {
    Word(usize),
    Reference(usize),
}

impl Layout {
    pub(super) fn of(function: &Function) -> Layout {
        let (mut words, mut references) = (0, 0);
        let next = |count: &mut usize| {
            *count += 1;
            *count - 1
        };
        let locals = function
            .locals
            .values()
            .map(|local| match local.ty.is_ref() {
                true => Home::Reference(next(&mut references)),
                false => Home::Word(next(&mut words)),
            })
            .collect();
        Layout { locals, words, references }
    }
}

/// A frame: the function and where its stretches begin.
pub(super) struct Frame {
    function: FuncId,
    words: usize,
    references: usize,
}

/// A value kept safe while something else is evaluated.
#[derive(Clone, Copy)]
pub(super) enum Held {
    Word(u64),
    Reference(usize),
}

impl Interpreter<'_> {
    pub(super) fn push_frame(&mut self, function: FuncId) -> Frame {
        let layout = &self.layouts[function];
        let frame =
            Frame { function, words: self.words.len(), references: self.runtime.roots.len() };
        self.words.resize(frame.words + layout.words, 0);
        for _ in 0..layout.references {
            self.runtime.roots.push(0);
        }
        frame
    }

    pub(super) fn pop_frame(&mut self, frame: &Frame) {
        self.words.truncate(frame.words);
        self.runtime.roots.truncate(frame.references);
    }

    pub(super) fn local(&self, frame: &Frame, local: LocalId) -> u64 {
        match self.layouts[frame.function].locals[local] {
            Home::Word(at) => self.words[frame.words + at],
            Home::Reference(at) => self.runtime.roots.get(frame.references + at),
        }
    }

    pub(super) fn set_local(&mut self, frame: &Frame, local: LocalId, word: u64) {
        match self.layouts[frame.function].locals[local] {
            Home::Word(at) => self.words[frame.words + at] = word,
            Home::Reference(at) => self.runtime.roots.set(frame.references + at, word),
        }
    }

    /// Keeps a value of this type until `release`.
    pub(super) fn hold(&mut self, ty: Ty, word: u64) -> Held {
        match ty.is_ref() {
            true => Held::Reference(self.runtime.roots.push(word)),
            false => Held::Word(word),
        }
    }

    /// The value now.
    pub(super) fn held(&self, held: Held) -> u64 {
        match held {
            Held::Word(word) => word,
            Held::Reference(at) => self.runtime.roots.get(at),
        }
    }

    /// Where `release` goes back to.
    pub(super) fn mark(&self) -> usize {
        self.runtime.roots.len()
    }

    /// Lets go of all that was held since `mark`.
    pub(super) fn release(&mut self, mark: usize) {
        self.runtime.roots.truncate(mark);
    }
}
