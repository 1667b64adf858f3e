//! When and where something was measured.

use serde_json::{Value, json};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};
use toyjit::engine::Features;

/// A machine at a time.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The day, in UTC.
    pub date: String,
    /// What the processor calls itself.
    pub processor: String,
    /// How many of it there are.
    pub processors: usize,
    /// How many programs wanted to run when the measuring began, over a minute.
    pub load: String,
}

impl Machine {
    /// This machine, now.
    pub fn here() -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model =
            cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            date: date(seconds / 86_400),
            processor: model.map_or("an unknown processor", |(_, name)| name.trim()).to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            load: load.split(' ').next().unwrap_or_default().to_owned(),
        }
    }

    /// For tools.
    pub fn json(&self) -> Value {
        json!({
            "processor": self.processor,
            "processors": self.processors,
            "load": self.load.parse::<f64>().ok(),
            "extensions": Features::detect().names(),
        })
    }

    /// One line for people.
    pub fn line(&self) -> String {
        let Self { date, processor, processors, load } = self;
        let many = if *processors == 1 { "processor" } else { "processors" };
        format!("{date}, {processor}, {processors} {many}, load {load} at the start")
    }
}

/// The date of a day since the first of January 1970, by the civil calendar: the year is taken to
/// begin in March, so that the day that leaps is its last.
fn date(days: u64) -> String {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", year_of_era + era * 400 + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (day, text) in [
            (0, "1970-01-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_786, "2026-11-29"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(day), text);
        }
    }

    #[test]
    fn this_machine() {
        let here = Machine::here();
        assert!(here.processors > 0 && here.line().starts_with("20"));
    }
}
