//! Programs by engines by rounds: the times of a comparison, and the ratios between them.
//!
//! A ratio is made of two times of one round, which were taken one shortly after the other: what
//! slows the machine for a while slows both. The mean over programs is made round by round too, so
//! that it has an interval like any other figure.

use super::stats::{Summary, geometric_mean, median};

/// The times of some engines on some programs.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Names of the engines.
    pub engines: Vec<String>,
    /// Names of the programs.
    pub programs: Vec<String>,
    /// Seconds: by program, by engine, by round; none where an engine took no part.
    pub times: Vec<Vec<Vec<Option<f64>>>>,
}

impl Comparison {
    /// The number of an engine.
    pub fn engine(&self, name: &str) -> Option<usize> {
        self.engines.iter().position(|engine| engine == name)
    }

    /// The times of an engine on a program.
    pub fn time(&self, program: usize, engine: usize) -> Option<Summary> {
        let taken: Vec<f64> = self.rounds(program, engine).iter().flatten().copied().collect();
        Summary::of(&taken)
    }

    fn rounds(&self, program: usize, engine: usize) -> &[Option<f64>] {
        self.times.get(program).and_then(|row| row.get(engine)).map_or(&[], Vec::as_slice)
    }

    /// How many times as long one engine takes as another, round by round.
    fn ratios(&self, program: usize, engine: usize, base: usize) -> Vec<Option<f64>> {
        let pairs = self.rounds(program, engine).iter().zip(self.rounds(program, base));
        pairs.map(|(own, base)| Some(own.as_ref()? / base.filter(|&base| base > 0.0)?)).collect()
    }

    /// How many times as long one engine takes as another on a program.
    pub fn ratio(&self, program: usize, engine: usize, base: usize) -> Option<Summary> {
        let ratios: Vec<f64> = self.ratios(program, engine, base).into_iter().flatten().collect();
        Summary::of(&ratios)
    }

    /// The geometric mean of these ratios over the programs that both engines run and that `takes`
    /// wants.
    pub fn mean(
        &self,
        engine: usize,
        base: usize,
        takes: impl Fn(&str) -> bool,
    ) -> Option<Summary> {
        let wanted = (0..self.programs.len()).filter(|&program| takes(&self.programs[program]));
        let rows: Vec<Vec<Option<f64>>> = wanted
            .map(|program| self.ratios(program, engine, base))
            .filter(|row| row.iter().flatten().next().is_some())
            .collect();
        let rounds = rows.iter().map(Vec::len).max().unwrap_or(0);
        let means: Vec<f64> = (0..rounds)
            .filter_map(|round| {
                let all: Option<Vec<f64>> =
                    rows.iter().map(|row| *row.get(round).unwrap_or(&None)).collect();
                geometric_mean(&all?)
            })
            .collect();
        Summary::of(&means)
    }

    /// By how much the last third of the rounds was slower (above 0) or faster than the first, over
    /// everything that was measured; 0 of fewer than three rounds.
    pub fn drift(&self) -> f64 {
        let mut by_round: Vec<Vec<f64>> = Vec::new();
        for (program, row) in self.times.iter().enumerate() {
            for engine in 0..row.len() {
                let Some(middle) = self.time(program, engine).map(|s| s.median) else { continue };
                for (round, time) in self.rounds(program, engine).iter().enumerate() {
                    let Some(time) = time.filter(|_| middle > 0.0) else { continue };
                    if by_round.len() <= round {
                        by_round.resize(round + 1, Vec::new());
                    }
                    by_round[round].push(time / middle);
                }
            }
        }
        let rounds: Vec<f64> = by_round.iter().map(|times| median(times)).collect();
        let third = rounds.len() / 3;
        if third == 0 {
            return 0.0;
        }
        let (first, last) = (median(&rounds[..third]), median(&rounds[rounds.len() - third..]));
        last / first - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two programs by two engines; the second engine takes twice and four times as long, on a
    /// machine that gets slower.
    fn comparison() -> Comparison {
        let slow = [1.0, 1.5, 2.0];
        let times = |factor: f64| slow.iter().map(|s| Some(s * factor)).collect::<Vec<_>>();
        Comparison {
            engines: vec!["a".into(), "b".into()],
            programs: vec!["p".into(), "q".into()],
            times: vec![vec![times(1.0), times(2.0)], vec![times(3.0), times(12.0)]],
        }
    }

    #[test]
    fn ratios_do_not_see_drift() {
        let c = comparison();
        let ratio = c.ratio(0, 1, 0).unwrap();
        assert_eq!((ratio.low, ratio.median, ratio.high), (2.0, 2.0, 2.0));
        let mean = c.mean(1, 0, |_| true).unwrap();
        assert!((mean.low - 8f64.sqrt()).abs() < 1e-12 && (mean.high - mean.low).abs() < 1e-12);
        assert_eq!(c.mean(1, 0, |name| name == "q").unwrap().median, 4.0);
        assert_eq!(c.mean(1, 0, |_| false), None);
    }

    #[test]
    fn drift_is_told() {
        let mut c = comparison();
        assert!((c.drift() - 1.0).abs() < 1e-12);
        c.times.iter_mut().flatten().for_each(|times| times.truncate(2));
        assert_eq!(c.drift(), 0.0);
    }

    #[test]
    fn rounds_without_a_time_do_not_count() {
        let mut c = comparison();
        c.times[0][1] = vec![Some(5.0), None, None];
        assert_eq!(c.time(0, 1).unwrap().count, 1);
        assert_eq!(c.ratio(0, 1, 0).unwrap().median, 5.0);
        let mean = c.mean(1, 0, |_| true).unwrap();
        assert_eq!(mean.count, 1);
        assert!((mean.median - 20f64.sqrt()).abs() < 1e-12);
        c.times[0][1] = vec![None; 3];
        assert_eq!(c.time(0, 1), None);
        assert_eq!(c.mean(1, 0, |_| true).unwrap().median, 4.0);
    }
}
