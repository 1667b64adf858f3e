//! Times of other engines, taken by `benches/peers/compare`, summed up in the same way as our own.

use super::format::factor_between;
use super::json::{VERSION, summary};
use super::machine::Machine;
use super::outcome::noise;
use super::page::{self, factor_cell, section, table, time_cell};
use super::{plot, table as terminal};
use serde_json::{Map, Value};
use toyjit::bench::{Comparison, Summary};

/// A comparison with peers.
#[derive(Debug)]
pub struct Peers {
    /// The file as it was read.
    file: Value,
    /// The times.
    comparison: Comparison,
    /// The engine that ratios refer to.
    base: usize,
    /// Names of means, and for each the mean by engine.
    means: Vec<(String, Vec<Option<Summary>>)>,
    /// Engines that are shown in one plot.
    panels: Vec<(String, Vec<usize>)>,
    /// What was left out, and why.
    left_out: Vec<(String, String)>,
    rounds: usize,
}

fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

impl Peers {
    /// Reads what `compare` wrote.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let file: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if file["schema"] != "toyjit-peers" || file["version"] != VERSION {
            return Err(format!("it is no comparison with peers of version {VERSION}"));
        }
        let engines = strings(&file["engines"]);
        let mut comparison = Comparison { engines, ..Comparison::default() };
        for program in list(&file, "programs") {
            let times = comparison.engines.iter().map(|engine| {
                let rounds = list(&program["engines"][engine.as_str()], "rounds");
                rounds.iter().map(Value::as_f64).collect()
            });
            comparison.times.push(times.collect());
            comparison.programs.push(text(program, "name"));
        }
        let base = text(&file, "base");
        let base = comparison.engine(&base).ok_or_else(|| format!("it has no engine `{base}`"))?;
        let means = list(&file, "means").iter().map(|mean| {
            let without = strings(&mean["without"]);
            let takes = |name: &str| !without.iter().any(|left| left == name);
            let by_engine = 0..comparison.engines.len();
            let means = by_engine.map(|engine| comparison.mean(engine, base, takes)).collect();
            (text(mean, "title"), means)
        });
        let means = means.collect();
        let panels = list(&file, "panels").iter().map(|panel| {
            let engines = strings(&panel["engines"]);
            let engines = engines.iter().filter_map(|name| comparison.engine(name));
            (text(panel, "title"), engines.filter(|&engine| engine != base).collect())
        });
        let panels = panels.collect();
        let left_out = list(&file, "left_out").iter();
        let left_out = left_out.map(|left| (text(left, "engine"), text(left, "why"))).collect();
        let rounds = comparison.times.iter().flatten().map(Vec::len).max().unwrap_or(0);
        Ok(Self { file, comparison, base, means, panels, left_out, rounds })
    }

    /// The figures on a terminal.
    pub fn text(&self) -> String {
        let base = &self.comparison.engines[self.base];
        let mut text = format!("{base}: its time. The others: how many times as long.\n");
        text += &terminal::peers(&self.comparison, self.base, &self.means);
        for line in self.said() {
            text += &format!("{line}\n");
        }
        text
    }

    fn said(&self) -> Vec<String> {
        let mut said = noise(&self.comparison, self.rounds);
        said.extend(
            self.left_out.iter().map(|(engine, why)| format!("Left out: {engine} ({why}).")),
        );
        said
    }

    /// The file with what the times say.
    pub fn json(&self) -> Value {
        let mut file = self.file.clone();
        let c = &self.comparison;
        let by_engine = |figure: &dyn Fn(usize) -> Option<Summary>| {
            let rows = c.engines.iter().enumerate();
            let rows = rows.filter_map(|(e, name)| Some((name.clone(), summary(&figure(e)?))));
            Value::Object(rows.collect::<Map<_, _>>())
        };
        let programs = file["programs"].as_array_mut().into_iter().flatten().enumerate();
        for (program, row) in programs {
            row["times"] = by_engine(&|e| c.time(program, e));
            row["ratios"] = by_engine(&|e| c.ratio(program, e, self.base));
        }
        let means = file["means"].as_array_mut().into_iter().flatten();
        for (row, (_, means)) in means.zip(&self.means) {
            row["ratios"] = by_engine(&|e| means[e].clone());
        }
        file["drift"] = c.drift().into();
        file["said"] = self.said().into();
        file
    }

    /// The page.
    pub fn page(&self) -> String {
        let (c, base) = (&self.comparison, &self.comparison.engines[self.base]);
        let clock = match self.file["clock"].as_str() {
            Some("wall") => "elapsed time of whole processes, start and compilation included",
            _ => "user and system time of whole processes, start and compilation included",
        };
        let intro = page::intro(&self.machine(), &page::method(clock, self.rounds));
        let label = format!("run time, times that of {base}");
        let mut sections = vec![self.overall(&label)];
        for (title, engines) in self.panels.iter().filter(|panel| !panel.1.is_empty()) {
            for engines in engines.chunks(plot::SERIES) {
                let about = format!("{title}: ratio of run times to {base}, by program");
                let body = page::factors(&about, &label, c, engines, self.base);
                let text = format!("Left of the dashed line is faster than {base}.");
                sections.push(section(title, &text, &body));
            }
        }
        sections.push(self.table());
        sections.push(page::noise(&self.said()));
        page::page("toyjit and its peers", &intro, &sections)
    }

    fn machine(&self) -> Machine {
        let machine = &self.file["machine"];
        Machine {
            date: text(&self.file, "date"),
            processor: text(machine, "processor"),
            processors: machine["processors"].as_u64().unwrap_or(1) as usize,
            load: machine["load"].as_f64().map_or_else(String::new, |load| format!("{load:.2}")),
        }
    }

    /// The mean of each engine, the programs behind it.
    fn overall(&self, label: &str) -> String {
        let c = &self.comparison;
        let mut rows = Vec::new();
        if let Some((_, means)) = self.means.first() {
            for (engine, mean) in means.iter().enumerate().filter(|&(e, _)| e != self.base) {
                let Some(mean) = mean else { continue };
                let programs = c.programs.iter().enumerate();
                let dots = programs.filter_map(|(p, name)| {
                    let ratio = c.ratio(p, engine, self.base)?;
                    Some((ratio.median, format!("{name}: {}", factor_between(&ratio))))
                });
                rows.push(page::mean_row(&c.engines[engine], mean, dots.collect()));
            }
        }
        let body = page::means("Geometric mean of each engine", label, &rows);
        let about = "The square is the geometric mean over the programs that an engine has a twin \
                     of, the dots are the programs.";
        section("All programs", about, &body)
    }

    fn table(&self) -> String {
        let c = &self.comparison;
        let others = || (0..c.engines.len()).filter(|&engine| engine != self.base);
        let head: Vec<String> = ["program".to_owned(), c.engines[self.base].clone()]
            .into_iter()
            .chain(others().map(|engine| c.engines[engine].clone()))
            .map(|name| plot::escape(&name))
            .collect();
        let rows: Vec<Vec<String>> = (0..c.programs.len())
            .map(|program| {
                let first = plot::escape(&c.programs[program]);
                let base = time_cell(c.time(program, self.base).as_ref());
                let ratios = others()
                    .map(|engine| factor_cell(c.ratio(program, engine, self.base).as_ref()));
                [first, base].into_iter().chain(ratios).collect()
            })
            .collect();
        let means: Vec<Vec<String>> = self
            .means
            .iter()
            .map(|(title, means)| {
                let ratios = others().map(|engine| factor_cell(means[engine].as_ref()));
                [plot::escape(title), String::new()].into_iter().chain(ratios).collect()
            })
            .collect();
        let about = "The first column tells times, the others how many times as long, with the \
                     interval.";
        section("All figures", about, &table(&head, &rows, &means))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Value {
        serde_json::json!({
            "schema": "toyjit-peers", "version": 1, "date": "2026-01-02", "clock": "processor",
            "machine": { "processor": "<p>", "processors": 2, "load": 0.5 },
            "base": "a", "engines": ["a", "b", "c"],
            "programs": [
                { "name": "p", "engines": {
                    "a": { "rounds": [1.0, 2.0, 1.0] }, "b": { "rounds": [2.0, 4.0, 2.0] } } },
                { "name": "q", "engines": {
                    "a": { "rounds": [1.0, 1.0, 1.0] }, "b": { "rounds": [8.0, 8.0, 8.0] },
                    "c": { "rounds": [0.5, 0.5, 0.5] } } },
            ],
            "means": [
                { "title": "geometric mean", "without": [] },
                { "title": "without p", "without": ["p"] },
            ],
            "panels": [{ "title": "Others", "engines": ["b", "c", "not there"] }],
            "left_out": [{ "engine": "d", "why": "it is not installed" }],
        })
    }

    #[test]
    fn ratios_means_and_page() {
        let peers = Peers::parse(file().to_string().as_bytes()).expect("a comparison");
        let json = peers.json();
        assert_eq!(json["programs"][0]["ratios"]["b"]["median"], 2.0);
        assert_eq!(json["programs"][0]["ratios"].get("c"), None);
        for (number, mean) in [(0, 4.0), (1, 8.0)] {
            let told = json["means"][number]["ratios"]["b"]["median"].as_f64().expect("a mean");
            assert!((told - mean).abs() < 1e-12, "{told}, not {mean}");
        }
        assert!(peers.text().contains("Left out: d (it is not installed)."));
        let page = peers.page();
        assert!(page.contains("&lt;p&gt;") && !page.contains("http"));
        let again = Peers::parse(json.to_string().as_bytes()).expect("it can be read again");
        assert_eq!(again.page(), page);
    }

    #[test]
    fn other_files_are_refused() {
        for text in ["", "{}", "[1]", r#"{"schema":"toyjit-peers","version":2}"#] {
            assert!(Peers::parse(text.as_bytes()).is_err(), "{text}");
        }
        let mut wrong = file();
        wrong["base"] = "z".into();
        assert!(Peers::parse(wrong.to_string().as_bytes()).unwrap_err().contains("`z`"));
    }
}
