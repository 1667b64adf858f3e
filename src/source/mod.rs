//! Source text, places in it, and what is said about them.

pub mod decode;
pub mod diagnostic;
mod hash;
pub mod interner;
mod nearest;
pub mod render;
pub mod trace;

pub use decode::{Utf8Problem, decode};
pub use diagnostic::{Diagnostic, Severity};
pub use hash::fnv1a;
pub use interner::{Interner, Symbol};
pub use nearest::nearest;
pub use render::render;
pub use trace::{Trace, TraceFrame};

/// A half-open stretch of bytes. Offsets count through all files of one [`Sources`], one after the
/// other, so that a span needs no file beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The stretch `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The shortest stretch that holds both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One source file: its name as it is shown, and its text.
#[derive(Clone, Debug)]
pub struct File {
    /// The name shown in messages.
    pub name: String,
    /// The text, always UTF-8 (bytes that are not are refused before a file is made).
    pub text: String,
    base: u32,
    line_starts: Vec<u32>,
    /// In which columns are bytes.
    ascii: bool,
}

/// The files of one compilation (one, or an entry after another in the REPL).
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<File>,
}

/// A place as people name it; line and column count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Sources {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file; the offset at which its text begins is the answer, or `None` where the texts
    /// of all files together would pass 4 GiB.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> Option<u32> {
        let text = text.into();
        let base = self.files.last().map_or(0, |f| f.base as usize + f.text.len() + 1);
        let base = u32::try_from(base).ok()?;
        u32::try_from(base as usize + text.len() + 1).ok()?;
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        let ascii = text.is_ascii();
        self.files.push(File { name: name.into(), text, base, line_starts, ascii });
        Some(base)
    }

    /// Takes the last file away.
    pub fn remove_last(&mut self) {
        self.files.pop();
    }

    /// The file in which an offset lies, and the offset within it.
    pub fn locate(&self, offset: u32) -> (&File, usize) {
        let index = self.files.partition_point(|f| f.base <= offset).saturating_sub(1);
        let file = &self.files[index];
        (file, ((offset - file.base) as usize).min(file.text.len()))
    }

    /// The place of an offset.
    pub fn place(&self, offset: u32) -> Place {
        let (file, at) = self.locate(offset);
        let line = file.line_of(at);
        let start = file.line_starts[line - 1] as usize;
        let column = match file.ascii {
            true => at - start + 1,
            false => file.text[start..floor_boundary(&file.text, at)].chars().count() + 1,
        };
        Place { file: file.name.clone(), line, column }
    }

    /// The text under a span.
    pub fn text(&self, span: Span) -> &str {
        let (file, start) = self.locate(span.start);
        let end = (start + (span.end - span.start) as usize).min(file.text.len());
        file.text.get(start..end).unwrap_or("")
    }

    /// All files, in the order they were added.
    pub fn files(&self) -> &[File] {
        &self.files
    }
}

impl File {
    /// The offset of its first byte among all files.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// The line (from 1) of an offset within the file.
    pub fn line_of(&self, at: usize) -> usize {
        self.line_starts.partition_point(|&s| s as usize <= at)
    }

    /// The text of a line (from 1), without its end.
    pub fn line(&self, line: usize) -> &str {
        let start = self.line_starts[line - 1] as usize;
        let end = self.line_starts.get(line).map_or(self.text.len(), |&e| e as usize);
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
