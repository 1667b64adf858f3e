//! What repeated measurements say: a median, an interval, outliers.
//!
//! The interval is made of two of the measured values (order statistics): the narrowest pair, equally
//! far from both ends, between which the true median lies with 99 % confidence. That holds whatever
//! the distribution of the times is; a busy machine's is far from normal. Below 8 values no pair gives
//! so much: then it is the least and the greatest, with the confidence that these give. 99 % and not
//! 95 %, since a comparison tells hundreds of ratios and each is to hold when it is repeated.
//!
//! An outlier is a value more than one and a half interquartile ranges outside of the quartiles
//! (Tukey's fences). Outliers are told and stay in.

/// The confidence that an interval has where there are values enough.
pub const CONFIDENCE: f64 = 0.99;

/// Repeated measurements of one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The value in the middle.
    pub median: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// With what confidence, between 0 and 1, the true median lies in it.
    pub confidence: f64,
    /// How many values lie outside of Tukey's fences.
    pub outliers: usize,
    /// How many values there are.
    pub count: usize,
}

impl Summary {
    /// Sums up; none where there is no value.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        let (cut, confidence) = interval(count);
        let (q1, q3) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
        let fence = 1.5 * (q3 - q1);
        Some(Self {
            median: quantile(&sorted, 0.5),
            low: if cut < count { sorted[cut] } else { first },
            high: if cut < count { sorted[count - 1 - cut] } else { last },
            confidence,
            outliers: sorted.iter().filter(|&&v| v < q1 - fence || v > q3 + fence).count(),
            count,
        })
    }

    /// How far the interval goes from the median, as a part of it, on the wider side.
    pub fn spread(&self) -> f64 {
        if self.median == 0.0 {
            return 0.0;
        }
        (self.high - self.median).max(self.median - self.low) / self.median
    }

    /// Whether the intervals have something in common.
    pub fn agrees(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// How many of `count` sorted values are cut off at each end, and the confidence of what is left:
/// the median lies below the value number `k` (from 0) where at most `k` of `count` fair coins fall on
/// one side. Beyond 1,000 values the interval is wider than it need be: smaller powers of a half are 0.
fn interval(count: usize) -> (usize, f64) {
    let mut cut = 0;
    let mut coin = 0.5f64.powi(count.min(1000) as i32);
    let mut outside = 2.0 * coin;
    let mut confidence = 1.0 - outside;
    loop {
        coin *= (count - cut) as f64 / (cut + 1) as f64;
        outside += 2.0 * coin;
        if 1.0 - outside < CONFIDENCE || cut + 1 >= count.div_ceil(2) {
            return (cut, confidence.max(0.0));
        }
        cut += 1;
        confidence = 1.0 - outside;
    }
}

/// The value below which a part of the sorted values lies, between two of them where need be.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = part * sorted.len().saturating_sub(1) as f64;
    let (below, rest) = (at.floor() as usize, at.fract());
    let Some(&low) = sorted.get(below) else { return 0.0 };
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    low + (high - low) * rest
}

/// The median of values in any order; 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// The geometric mean of values above 0; none of none.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(values: &[f64]) -> Summary {
        Summary::of(values).expect("values")
    }

    #[test]
    fn medians() {
        assert_eq!(summary(&[3.0]).median, 3.0);
        assert_eq!(summary(&[4.0, 1.0]).median, 2.5);
        assert_eq!(summary(&[9.0, 1.0, 5.0]).median, 5.0);
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(median(&[]), 0.0);
    }

    #[test]
    fn quartiles_lie_between_values() {
        let sorted = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&sorted, 0.25), 1.75);
        assert_eq!(quantile(&sorted, 0.75), 3.25);
        assert_eq!(quantile(&sorted, 1.0), 4.0);
    }

    #[test]
    fn confidence_of_order_statistics() {
        // From the table of binomial coefficients.
        for (count, cut, confidence) in [
            (1, 0, 0.0),
            (2, 0, 0.5),
            (5, 0, 0.9375),
            (7, 0, 0.984375),
            (8, 0, 0.9921875),
            (11, 0, 0.9990234375),
            (12, 1, 1.0 - 26.0 / 4096.0),
            (15, 2, 1.0 - 2.0 * 121.0 / 32768.0),
        ] {
            assert_eq!(interval(count), (cut, confidence), "{count} values");
        }
        let (cut, confidence) = interval(1000);
        assert!((450..=465).contains(&cut) && confidence >= CONFIDENCE);
    }

    #[test]
    fn an_outlier_is_told_and_cut_off_where_there_are_values_enough() {
        let mut values: Vec<f64> = (0..12).map(|i| 10.0 + f64::from(i) / 10.0).collect();
        values[3] = 50.0;
        let told = summary(&values);
        assert_eq!((told.outliers, told.count), (1, 12));
        assert!(told.low > 10.0 && told.high < 12.0, "{told:?}");
        assert_eq!(summary(&[1.0; 9]).outliers, 0);
    }

    #[test]
    fn spread_and_agreement() {
        let (a, b) = (summary(&[9.0, 10.0, 12.0]), summary(&[12.0, 13.0, 14.0]));
        assert_eq!(a.spread(), 0.2);
        assert!(a.agrees(&b) && b.agrees(&a));
        assert!(!a.agrees(&summary(&[12.5, 13.0])));
    }

    #[test]
    fn means() {
        assert_eq!(geometric_mean(&[]), None);
        assert!((geometric_mean(&[1.0, 4.0]).unwrap() - 2.0).abs() < 1e-12);
    }
}
