//! Texts and places of one function, each kept once and named by number.

use crate::entity::Entity;
use crate::ir::{Function, Loc, LocData};
use crate::source::{Sources, Span};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// The tables of a function.
pub struct Tables<'a> {
    sources: &'a Sources,
    /// The file that the function's text is in.
    pub file: usize,
    texts: Vec<String>,
    by_text: FxHashMap<String, u32>,
    /// Lines and columns from 1, the last one past the end; number 0 is nowhere.
    places: Vec<[u32; 4]>,
    by_span: FxHashMap<Span, u32>,
}

impl<'a> Tables<'a> {
    /// Empty tables for a function.
    pub fn new(sources: &'a Sources, f: &Function) -> Self {
        let mut tables = Self {
            sources,
            file: 0,
            texts: Vec::new(),
            by_text: FxHashMap::default(),
            places: vec![[0; 4]],
            by_span: FxHashMap::from_iter([(Span::default(), 0)]),
        };
        tables.file = own_spans(f).next().map_or(0, |span| tables.file_of(span));
        tables
    }

    fn file_of(&self, span: Span) -> usize {
        let files = self.sources.files();
        files.partition_point(|file| file.base() <= span.start).saturating_sub(1)
    }

    /// The number of a text.
    pub fn text(&mut self, text: String) -> u32 {
        let next = self.texts.len() as u32;
        *self.by_text.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            next
        })
    }

    /// The number of the place of a location in the function's file.
    pub fn place(&mut self, f: &Function, loc: Loc) -> u32 {
        let Some(LocData { span, .. }) = f.locs.get(loc) else { return 0 };
        if self.file_of(*span) != self.file {
            return 0;
        }
        let next = self.places.len() as u32;
        *self.by_span.entry(*span).or_insert_with(|| {
            let [start, end] = [span.start, span.end].map(|at| self.sources.place(at));
            let numbers = [start.line, start.column, end.line, end.column];
            self.places.push(numbers.map(|n| u32::try_from(n).unwrap_or(u32::MAX)));
            next
        })
    }

    /// The first and the last line of what is written in a function's own text.
    pub fn lines(&self, f: &Function) -> Option<(u32, u32)> {
        let first = own_spans(f).map(|span| span.start).min()?;
        let last = own_spans(f).map(|span| span.end).max()?;
        let line = |at| self.sources.place(at).line as u32;
        Some((line(first), line(last)))
    }

    /// All texts and all places.
    pub fn to_json(&self) -> (Value, Value) {
        (json!(self.texts), json!(self.places))
    }
}

/// The places in a function's own text.
fn own_spans(f: &Function) -> impl Iterator<Item = Span> + '_ {
    let own = |data: &&LocData| data.function == f.id() && data.span != Span::default();
    f.locs.values().filter(own).map(|data| data.span)
}

/// The number of an entity.
pub fn number(entity: impl Entity) -> usize {
    entity.index()
}
