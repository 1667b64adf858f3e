//! Diagnostics as text, by way of annotate-snippets (rustc's own renderer).
//!
//! Input: the sources and what is to be said about them. Output: for each diagnostic, in the order
//! of their places, `error[E0101]: message`, then `--> FILE:LINE:COLUMN` with the source lines, the
//! labels, notes and the suggested edit. Spans may be anything: they are cut to their file and to
//! whole characters. Only the lines that a diagnostic speaks of are handed to the renderer, so that
//! the cost of a message does not grow with the file.

use super::{Diagnostic, File, Severity, Sources, Span, floor_boundary};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet, Title,
};
use std::borrow::Cow;
use std::ops::Range;

/// Labels further apart than this many lines get snippets of their own.
const NEAR: usize = 8;

/// A line of more bytes than this is costly to show: of such lines so many bytes are shown in all.
const WIDE: usize = 1_000;
const MOST_WIDE: usize = 1 << 20;

/// The text of `diagnostics`, errors and warnings alike, ordered by place.
pub fn render(sources: &Sources, diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = renderer(color);
    let mut order: Vec<&Diagnostic> = diagnostics.iter().collect();
    order.sort_by_key(|d| (d.labels.first().map(|l| l.0), d.severity));
    let mut out = String::new();
    let mut wide = 0;
    for diagnostic in order {
        wide += wide_bytes(sources, diagnostic);
        let groups = match wide > MOST_WIDE {
            false => report(sources, diagnostic),
            true => vec![brief(sources, diagnostic)],
        };
        out.push_str(&renderer.render(&groups));
        out.push_str("\n\n");
    }
    out
}

/// The text of a trap: `trap: message` (or another name), and the source where it happened.
pub fn render_trap(
    sources: &Sources,
    name: &str,
    message: &str,
    at: Option<Span>,
    color: bool,
) -> String {
    let title = Level::ERROR.with_name(name).primary_title(message);
    let mut group = Group::with_title(title);
    if let Some(span) = at.filter(|_| !sources.files().is_empty()) {
        let place = Stretch::of(sources, span);
        let window = Window::around(place.file, place.range.clone());
        let marked = AnnotationKind::Primary.span(window.cut(&place.range));
        group = group.element(
            Snippet::source(window.text)
                .path(place.file.name.as_str())
                .line_start(window.line)
                .annotation(marked),
        );
    }
    let mut text = renderer(color).render(&[group]);
    text.push('\n');
    text
}

fn renderer(color: bool) -> Renderer {
    match color {
        true => Renderer::styled().decor_style(DecorStyle::Unicode),
        false => Renderer::plain(),
    }
}

/// The bytes of the very long lines on which a diagnostic stands.
fn wide_bytes(sources: &Sources, diagnostic: &Diagnostic) -> usize {
    if sources.files().is_empty() {
        return 0;
    }
    let bytes = |(span, _): &(Span, String)| {
        let place = Stretch::of(sources, *span);
        Window::around(place.file, place.range).text.len()
    };
    diagnostic.labels.iter().map(bytes).filter(|&bytes| bytes > WIDE).sum()
}

/// A diagnostic without the source.
fn brief<'a>(sources: &'a Sources, diagnostic: &'a Diagnostic) -> Group<'a> {
    let place = sources.place(diagnostic.span().start);
    let origin = Origin::path(place.file).line(place.line).char_column(place.column);
    Group::with_title(title(diagnostic)).element(origin)
}

fn title(diagnostic: &Diagnostic) -> Title<'_> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    level.primary_title(diagnostic.message.as_str()).id(diagnostic.code)
}

fn report<'a>(sources: &'a Sources, diagnostic: &'a Diagnostic) -> Vec<Group<'a>> {
    let mut group = Group::with_title(title(diagnostic));
    if !sources.files().is_empty() {
        group = group.elements(snippets(sources, diagnostic));
    }
    group = group.elements(diagnostic.notes.iter().map(|n| Level::NOTE.message(n.as_str())));
    let patch = diagnostic
        .suggestion
        .as_ref()
        .filter(|_| !sources.files().is_empty())
        .and_then(|(span, text)| patch(sources, *span, text));
    match (patch, &diagnostic.help, &diagnostic.suggestion) {
        (Some(patch), help, Some((span, text))) => {
            let help = match help {
                Some(help) => help.clone(),
                None if text.is_empty() => "remove this".into(),
                None if span.start == span.end => format!("add `{text}`"),
                None => "write".into(),
            };
            vec![group, Level::HELP.secondary_title(help).element(patch)]
        }
        (_, Some(help), _) => vec![group.element(Level::HELP.message(help.as_str()))],
        (_, None, _) => vec![group],
    }
}

/// The lines with an edit in them; none where they are too long, for they would be shown whole.
fn patch<'a>(sources: &'a Sources, span: Span, text: &'a str) -> Option<Snippet<'a, Patch<'a>>> {
    let place = Stretch::of(sources, span);
    let window = Window::around(place.file, place.range.clone());
    let patch = Patch::new(window.cut(&place.range), text);
    (window.text.len() <= WIDE)
        .then(|| Snippet::source(window.text).line_start(window.line).patch(patch))
}

/// The snippets of a diagnostic: one for each neighbourhood of labels, the primary label's first.
fn snippets<'a>(
    sources: &'a Sources,
    diagnostic: &'a Diagnostic,
) -> impl Iterator<Item = Snippet<'a, Annotation<'a>>> {
    let mut hoods: Vec<Hood<'a>> = Vec::new();
    for (index, (span, _)) in diagnostic.labels.iter().enumerate() {
        let place = Stretch::of(sources, *span);
        let label = (index, place.range.clone());
        match hoods.iter_mut().find(|hood| hood.place.is_near(&place)) {
            Some(hood) => {
                hood.labels.push(label);
                hood.place.range.start = hood.place.range.start.min(place.range.start);
                hood.place.range.end = hood.place.range.end.max(place.range.end);
            }
            None => hoods.push(Hood { place, labels: vec![label] }),
        }
    }
    hoods.into_iter().map(|Hood { place, labels }| {
        let window = Window::around(place.file, place.range);
        let mut snippet = Snippet::source(window.text.clone())
            .path(place.file.name.as_str())
            .line_start(window.line);
        for (index, range) in labels {
            let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let text = diagnostic.labels[index].1.as_str();
            let annotation = kind.span(window.cut(&range));
            snippet = snippet.annotation(annotation.label((!text.is_empty()).then_some(text)));
        }
        snippet
    })
}

/// Labels that stand close to each other, by their number, and the stretch that holds them.
struct Hood<'a> {
    place: Stretch<'a>,
    labels: Vec<(usize, Range<usize>)>,
}

/// A span within its file, cut to whole characters.
struct Stretch<'a> {
    file: &'a File,
    range: Range<usize>,
}

impl<'a> Stretch<'a> {
    fn of(sources: &'a Sources, span: Span) -> Self {
        let (file, start) = sources.locate(span.start);
        let end = (start + span.end.saturating_sub(span.start) as usize).min(file.text.len());
        let start = floor_boundary(&file.text, start);
        let mut end = end.max(start);
        while !file.text.is_char_boundary(end) {
            end += 1;
        }
        Self { file, range: start..end }
    }

    fn is_near(&self, other: &Self) -> bool {
        let lines = |s: &Self| (s.file.line_of(s.range.start), s.file.line_of(s.range.end));
        let ((a, b), (c, d)) = (lines(self), lines(other));
        std::ptr::eq(self.file, other.file) && c <= b + NEAR && a <= d + NEAR
    }
}

/// The whole lines around a stretch.
struct Window<'a> {
    text: Cow<'a, str>,
    start: usize,
    line: usize,
}

impl<'a> Window<'a> {
    fn around(file: &'a File, range: Range<usize>) -> Self {
        let (first, last) = (file.line_of(range.start), file.line_of(range.end));
        let start = file.line_starts[first - 1] as usize;
        let end = file.line_starts.get(last).map_or(file.text.len(), |&e| e as usize);
        let mut text = Cow::Borrowed(&file.text[start..end]);
        if range.end == end && text.ends_with('\n') {
            // The renderer knows an empty last line only by its end.
            text.to_mut().push('\n');
        }
        Self { text, start, line: first }
    }

    fn cut(&self, range: &Range<usize>) -> Range<usize> {
        range.start - self.start..range.end - self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbtest::arbtest;
    use std::time::Duration;

    fn span(start: u32, end: u32) -> Span {
        Span::new(start, end)
    }

    #[test]
    fn shape() {
        let mut sources = Sources::new();
        sources.add("a.toy", "let x = 1\r\nlet\ty = é + z;\r\n");
        let diagnostics = [
            Diagnostic::warning("W0601", span(16, 17), "`y` is not used", ""),
            Diagnostic::error("E0111", span(9, 9), "expected `;`", "here").suggest(span(9, 9), ";"),
        ];
        let text = render(&sources, &diagnostics, false);
        assert_eq!(
            text,
            "error[E0111]: expected `;`
 --> a.toy:1:10
  |
1 | let x = 1
  |          ^ here
  |
help: add `;`
  |
1 | let x = 1;
  |          +

warning[W0601]: `y` is not used
 --> a.toy:2:6
  |
2 | let    y = é + z;
  |         ^

"
        );
        assert!(render(&sources, &diagnostics, true).contains("\u{1b}["));
        assert_eq!(render(&sources, &[], false), "");
        assert!(render(&Sources::new(), &diagnostics, false).starts_with("error[E0111]: "));
    }

    #[test]
    fn far_labels_and_other_files() {
        let mut sources = Sources::new();
        sources.add("a.toy", "x\n".repeat(100));
        let base = sources.add("b.toy", "y").unwrap();
        let error = Diagnostic::error("E0201", span(180, 181), "twice", "again")
            .label(span(0, 1), "first")
            .label(span(base, base + 1), "and here")
            .note("a note");
        let text = render(&sources, &[error], false);
        for part in ["--> a.toy:91:1", "a.toy:1:1", "b.toy:1:1", "= note: a note"] {
            assert!(text.contains(part), "{text}");
        }
    }

    /// The place in the output is the place that `Sources::place` tells, and nothing panics.
    #[test]
    fn random_spans() {
        const PIECES: &[&str] =
            &["a", "é", "漢", "👩‍👩‍👧", "\t", "\r\n", "\n", "\r", "\0", "\u{feff}", "\u{301}", " "];
        arbtest(|u| {
            let mut sources = Sources::new();
            for index in 0..u.int_in_range(1..=2)? {
                let mut text = String::new();
                for _ in 0..u.int_in_range(0..=30)? {
                    text.push_str(u.choose(PIECES)?);
                }
                sources.add(format!("f{index}"), text);
            }
            let any = |u: &mut arbtest::arbitrary::Unstructured| {
                let start = u.int_in_range(0..=150)?;
                Ok(span(start, start + u.int_in_range(0..=20)?))
            };
            let first = any(u)?;
            let mut error =
                Diagnostic::error("E0001", first, "message", *u.choose(&["", "label"])?);
            for _ in 0..u.int_in_range(0..=3)? {
                error = error.label(any(u)?, "more");
            }
            if u.arbitrary()? {
                error = error.suggest(any(u)?, *u.choose(&["", ";", "a\nb"])?);
            }
            render(&sources, std::slice::from_ref(&error), true);
            let text = render(&sources, &[error], false);
            let place = sources.place(first.start);
            let place = format!("--> {}:{}:{}\n", place.file, place.line, place.column);
            assert!(
                text.starts_with("error[E0001]: message\n") && text.contains(&place),
                "{text}{place}{first:?} {:?}",
                sources.files()
            );
            Ok(())
        })
        .budget(Duration::from_secs(2));
    }
}
