//! Plots as SVG that stands in the page.
//!
//! A plot is as wide as the page gives it: places along x are parts of a hundred, places along y and
//! the sizes of marks and letters are pixels, so that nothing shrinks on a phone. Each series has a
//! colour and a mark of its own; in grey, or to the colour-blind, the marks tell them apart.

use std::fmt::Write;

/// A scale along x.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    low: f64,
    high: f64,
    unit: fn(f64) -> String,
}

impl Axis {
    /// A logarithmic axis on which all these values have a place.
    pub fn over(
        label: &str,
        values: impl IntoIterator<Item = f64>,
        unit: fn(f64) -> String,
    ) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for value in values.into_iter().filter(|value| *value > 0.0 && value.is_finite()) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (0.5, 2.0);
        }
        let margin = (high / low).powf(0.04).max(1.03);
        Self { label: label.to_owned(), low: low / margin, high: high * margin, unit }
    }

    /// The place of a value, between 0 and 1.
    fn at(&self, value: f64) -> f64 {
        let value = value.max(self.low);
        ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }

    /// Round values on the axis, no two of them nearer than `gap`: the roundest first, and others
    /// between them as long as there are few.
    fn ticks(&self, gap: f64) -> Vec<f64> {
        const FINER: [(u32, &[u32]); 5] = [
            (10, &[10]),
            (10, &[20, 50]),
            (10, &[15, 30, 70]),
            (10, &[11, 12, 13, 14, 16, 17, 18, 19, 25, 40, 60, 80, 90, 95]),
            (100, &[102, 104, 105, 106, 108, 970, 980, 990]),
        ];
        const ENOUGH: usize = 4;
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let mut ticks: Vec<f64> = Vec::new();
        for (unit, steps) in FINER {
            if ticks.len() >= ENOUGH {
                break;
            }
            for power in powers.clone() {
                for &step in steps {
                    let tick = f64::from(step) / f64::from(unit) * 10f64.powi(power);
                    let is_free = |other: &f64| (self.at(*other) - self.at(tick)).abs() >= gap;
                    if (self.low..=self.high).contains(&tick) && ticks.iter().all(is_free) {
                        ticks.push(tick);
                    }
                }
            }
        }
        ticks.sort_by(f64::total_cmp);
        ticks
    }
}

/// A value with its interval.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Which series it belongs to: its colour and shape.
    pub series: usize,
    /// The value.
    pub value: f64,
    /// The interval.
    pub low: f64,
    /// Its other end.
    pub high: f64,
    /// What is said where one points at it.
    pub said: String,
}

/// A line of a plot.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// What stands at its left.
    pub label: String,
    /// Its marks, one below the other.
    pub marks: Vec<Mark>,
    /// Values without an interval, small and behind the marks, and what is said of them.
    pub dots: Vec<(f64, String)>,
}

/// How many series have a look of their own.
pub const SERIES: usize = 6;

/// Shapes to be used in all plots of a page: one for each series, and the small dot.
pub const SHAPES: &str = "<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>\
<circle id=\"m0\" r=\"4.5\"/>\
<rect id=\"m1\" x=\"-4\" y=\"-4\" width=\"8\" height=\"8\"/>\
<path id=\"m2\" d=\"M0-5.5 5 4H-5Z\"/>\
<path id=\"m3\" d=\"M0-6 5 0 0 6-5 0Z\"/>\
<path id=\"m4\" d=\"M0 5.5 5-4H-5Z\"/>\
<path id=\"m5\" d=\"M-5-2H-2V-5H2V-2H5V2H2V5H-2V2H-5Z\"/>\
<circle id=\"dot\" r=\"2.5\"/>\
</defs></svg>\n";

/// Text in markup.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A series as a legend shows it.
pub fn legend(names: &[String]) -> String {
    let mut html = "<p class=\"legend\">".to_owned();
    for (series, name) in names.iter().enumerate() {
        let s = series % SERIES;
        let _ = writeln!(
            html,
            "<span><svg class=\"key\" width=\"14\" height=\"14\" aria-hidden=\"true\"><use \
             href=\"#m{s}\" x=\"7\" y=\"7\" class=\"s{s}\"/></svg>{}</span>",
            escape(name)
        );
    }
    html + "</p>\n"
}

fn x(part: f64) -> String {
    format!("{:.2}%", part * 100.0)
}

/// The least distance of ticks along x: what a label takes on a phone.
const ACROSS: f64 = 0.18;
/// The same along y.
const UP: f64 = 0.09;

const TOP: f64 = 8.0;
const BOTTOM: f64 = 42.0;

fn open(height: f64, about: &str) -> String {
    format!(
        "<svg class=\"plot\" height=\"{height}\" role=\"img\" aria-label=\"{0}\">\n",
        escape(about)
    )
}

/// The axis below a plot: ticks with their lines through it, the label.
fn axis(svg: &mut String, axis: &Axis, top: f64, bottom: f64) {
    for tick in axis.ticks(ACROSS) {
        let at = x(axis.at(tick));
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{at}\" x2=\"{at}\" y1=\"{top}\" y2=\"{bottom}\"/><text \
             class=\"tick\" x=\"{at}\" y=\"{}\">{}</text>",
            bottom + 15.0,
            (axis.unit)(tick)
        );
    }
    let _ = writeln!(
        svg,
        "<line class=\"axis\" x1=\"0\" x2=\"100%\" y1=\"{bottom}\" y2=\"{bottom}\"/><text \
         class=\"name\" x=\"50%\" y=\"{}\">{}</text>",
        bottom + 34.0,
        escape(&axis.label)
    );
}

fn mark(svg: &mut String, axis: &Axis, mark: &Mark, y: f64) {
    let (s, at) = (mark.series % SERIES, x(axis.at(mark.value)));
    let (low, high) = (x(axis.at(mark.low)), x(axis.at(mark.high)));
    let _ = write!(svg, "<g class=\"s{s}\"><title>{}</title>", escape(&mark.said));
    let _ = write!(svg, "<line class=\"range\" x1=\"{low}\" x2=\"{high}\" y1=\"{y}\" y2=\"{y}\"/>");
    for end in [low, high] {
        let (up, down) = (y - 3.0, y + 3.0);
        let _ = write!(
            svg,
            "<line class=\"range\" x1=\"{end}\" x2=\"{end}\" y1=\"{up}\" y2=\"{down}\"/>"
        );
    }
    let _ = writeln!(svg, "<use href=\"#m{s}\" x=\"{at}\" y=\"{y}\"/></g>");
}

/// Rows with names at the left, and their marks along an axis; `line` is a value to compare with.
pub fn rows(about: &str, along: &Axis, rows: &[Row], line: Option<f64>) -> String {
    const SLOT: f64 = 8.0;
    let height = |row: &Row| SLOT * row.marks.len().max(1) as f64 + 10.0;
    let bottom = TOP + rows.iter().map(height).sum::<f64>();
    let mut svg = open(bottom + BOTTOM, about);
    let mut top = TOP;
    for (number, row) in rows.iter().enumerate() {
        if number % 2 == 0 {
            let _ = writeln!(
                svg,
                "<rect class=\"band\" x=\"0\" y=\"{top}\" width=\"100%\" height=\"{}\"/>",
                height(row)
            );
        }
        top += height(row);
    }
    axis(&mut svg, along, TOP, bottom);
    if let Some(line) = line {
        let at = x(along.at(line));
        let _ = writeln!(
            svg,
            "<line class=\"line\" x1=\"{at}\" x2=\"{at}\" y1=\"{TOP}\" y2=\"{bottom}\"/>"
        );
    }
    let mut top = TOP;
    for row in rows {
        let middle = top + height(row) / 2.0;
        let _ = writeln!(
            svg,
            "<text class=\"row\" x=\"-8\" y=\"{}\">{}</text>",
            middle + 4.0,
            escape(&row.label)
        );
        for (value, said) in &row.dots {
            let at = x(along.at(*value));
            let _ = writeln!(
                svg,
                "<g class=\"dot\"><title>{}</title><use href=\"#dot\" x=\"{at}\" y=\"{middle}\"/></g>",
                escape(said)
            );
        }
        for (slot, value) in row.marks.iter().enumerate() {
            mark(&mut svg, along, value, top + 5.0 + SLOT * (slot as f64 + 0.5));
        }
        top += height(row);
    }
    svg + "</svg>\n"
}

/// A point with an interval both ways.
#[derive(Clone, Debug)]
pub struct Point {
    /// What stands beside it.
    pub label: String,
    /// Along x.
    pub across: Mark,
    /// Along y; its series is that of `across`.
    pub up: Mark,
}

/// Points in a plane.
pub fn plane(about: &str, across: &Axis, up: &Axis, points: &[Point]) -> String {
    const HEIGHT: f64 = 260.0;
    let (top, bottom) = (TOP + 22.0, TOP + 22.0 + HEIGHT);
    let y = |value: f64| bottom - HEIGHT * up.at(value);
    let mut svg = open(bottom + BOTTOM, about);
    let _ = writeln!(
        svg,
        "<text class=\"up\" x=\"0\" y=\"{}\">{}</text>",
        TOP + 8.0,
        escape(&up.label)
    );
    for tick in up.ticks(UP) {
        let at = y(tick);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text \
             class=\"row\" x=\"-8\" y=\"{:.1}\">{}</text>",
            at + 4.0,
            (up.unit)(tick)
        );
    }
    let _ = writeln!(svg, "<line class=\"axis\" x1=\"0\" x2=\"0\" y1=\"{top}\" y2=\"{bottom}\"/>");
    axis(&mut svg, across, top, bottom);
    let mut taken: Vec<(f64, f64)> =
        points.iter().map(|p| (WIDTH * across.at(p.across.value), y(p.up.value))).collect();
    for point in points {
        let (s, at) = (point.across.series % SERIES, across.at(point.across.value));
        let (low, high) = (y(point.up.low), y(point.up.high));
        let _ = writeln!(
            svg,
            "<line class=\"range s{s}\" x1=\"{0}\" x2=\"{0}\" y1=\"{low:.1}\" y2=\"{high:.1}\"/>",
            x(at)
        );
        mark(&mut svg, across, &point.across, y(point.up.value));
        let (left, below) = free_side(&mut taken, WIDTH * at, y(point.up.value));
        let (side, dx) = if left { ("left", -9) } else { ("right", 9) };
        let dy = if below { 16 } else { -7 };
        let _ = writeln!(
            svg,
            "<svg x=\"{}\" y=\"{:.1}\" class=\"at\"><text class=\"{side}\" x=\"{dx}\" y=\"{dy}\">{}\
             </text></svg>",
            x(at),
            y(point.up.value),
            escape(&point.label)
        );
    }
    svg + "</svg>\n"
}

/// A plane is taken to be so wide, in pixels, when labels look for room: that of a phone.
const WIDTH: f64 = 260.0;

/// On which side of a point its label has the most room: whether left of it, whether below. What is
/// taken are the middles of marks and labels.
fn free_side(taken: &mut Vec<(f64, f64)>, x: f64, y: f64) -> (bool, bool) {
    let sides = [(false, false), (true, false), (false, true), (true, true)];
    let middle = |(left, below): (bool, bool)| {
        (if left { x - 21.0 } else { x + 21.0 }, if below { y + 11.0 } else { y - 11.0 })
    };
    let room = |side: (bool, bool)| {
        let (x, y) = middle(side);
        let inside = if (15.0..WIDTH - 15.0).contains(&x) { 1.0 } else { 0.2 };
        let distance = |&(to, down): &(f64, f64)| ((x - to) / 2.0).hypot(y - down).min(30.0);
        inside * taken.iter().map(distance).fold(30.0, f64::min)
    };
    let mut best = sides[0];
    for side in sides {
        if room(side) > room(best) + 1e-9 {
            best = side;
        }
    }
    let middle = middle(best);
    taken.push(middle);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(value: f64) -> String {
        format!("{value}")
    }

    #[test]
    fn ticks_are_round_and_have_room() {
        for (low, high) in
            [(0.9, 1.1), (0.98, 1.02), (0.5, 3.0), (0.17, 0.42), (0.001, 90.0), (1e-9, 1e9)]
        {
            let axis = Axis::over("x", [low, high], plain);
            let ticks = axis.ticks(ACROSS);
            assert!((2..=6).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
            assert!(ticks.windows(2).all(|two| axis.at(two[1]) - axis.at(two[0]) >= ACROSS));
            assert!(axis.at(low) > 0.0 && axis.at(high) < 1.0);
        }
        let nothing = Axis::over("x", [0.0, f64::NAN], plain);
        assert!((nothing.at(1.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn labels_go_where_there_is_room() {
        let mut taken = vec![(100.0, 100.0)];
        assert_eq!(free_side(&mut taken, 100.0, 100.0), (false, false));
        assert_ne!(free_side(&mut taken, 100.0, 100.0), (false, false));
        assert!(free_side(&mut Vec::new(), WIDTH, 50.0).0, "not out of the plot");
    }

    #[test]
    fn names_are_escaped() {
        let row = Row { label: "a<b>&\"".into(), ..Row::default() };
        let svg = rows("about", &Axis::over("s", [1.0, 2.0], plain), &[row], Some(1.5));
        assert!(svg.contains("a&lt;b&gt;&amp;&quot;"));
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
    }
}
