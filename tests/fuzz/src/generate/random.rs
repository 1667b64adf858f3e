//! Random choices, repeatable from a seed.

/// A source of choices.
#[derive(Clone, Debug)]
pub struct Random(oorandom::Rand64);

impl Random {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Self {
        Self(oorandom::Rand64::new(u128::from(seed)))
    }

    /// A number below `n` (> 0).
    pub fn below(&mut self, n: usize) -> usize {
        self.0.rand_range(0..n as u64) as usize
    }

    /// True `percent` times of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.rand_u64()
    }

    /// An index into weights, as often as its weight says; the sum must not be 0.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut at = self.below(weights.iter().sum());
        for (index, &weight) in weights.iter().enumerate() {
            if at < weight {
                return index;
            }
            at -= weight;
        }
        weights.len() - 1
    }

    /// An int: mostly at the edges of what can go wrong.
    pub fn int(&mut self) -> i64 {
        const EDGES: &[i64] = &[
            0,
            1,
            -1,
            2,
            3,
            7,
            8,
            9,
            10,
            63,
            64,
            65,
            127,
            128,
            255,
            256,
            1000,
            0x7FFF_FFFF,
            0x8000_0000,
            0x8000_0001,
            -0x8000_0000,
            -0x8000_0001,
            0xFFFF_FFFF,
            0xFFFF_FFFF,
            0x1_0000_0000,
            0x1_0000_0001,
            (1 << 53) + 1,
            (1 << 62) - 1,
            (1 << 62) + 1,
            i64::MAX,
            i64::MAX - 1,
            i64::MIN,
            i64::MIN + 1,
        ];
        match self.below(10) {
            0..5 => *self.pick(EDGES),
            5..8 => self.below(41) as i64 - 20,
            _ => self.bits() as i64,
        }
    }

    /// A float as it is written; `inf` and `NaN` come out as divisions.
    pub fn float(&mut self) -> String {
        const EDGES: &[&str] = &[
            "0.0",
            "-0.0",
            "1.0",
            "-1.0",
            "0.5",
            "0.1",
            "1e-308",
            "5e-324",
            "1e308",
            "(1.0 / 0.0)",
            "(-1.0 / 0.0)",
            "(0.0 / 0.0)",
            "9007199254740992.0",
            "9223372036854775807.0",
            "-9223372036854775808.0",
            "3.7",
            "-3.7",
            "2.5",
        ];
        match self.below(10) {
            0..4 => (*self.pick(EDGES)).to_owned(),
            4..8 => format!("{:?}", (self.below(2001) as f64 - 1000.0) / 8.0),
            _ => {
                let x = f64::from_bits(self.bits());
                if x.is_finite() { format!("{x:?}") } else { "0.25".to_owned() }
            }
        }
    }
}
