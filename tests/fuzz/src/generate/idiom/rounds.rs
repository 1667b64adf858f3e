//! Loops in which something is the same each round, or grows by what is the same.

use super::Generator;

impl Generator {
    /// Products of a counter and what does not change, as values and as indices.
    pub(super) fn products(&mut self) {
        let (a, len) = self.numbers();
        let (w, c) = (self.hidden(&[1, 2, 3, -1, i64::MAX]), self.hidden(&[0, 1, -5]));
        let (i, v) = (self.name("i"), self.result());
        let step = 1 + self.random.below(3) as i64;
        let from = self.random.below(5) as i64 - 1;
        match self.random.below(3) {
            0 => self.open(&format!("for {i} in {from}..hide({}) {{", from + 4)),
            1 => {
                self.line(&format!("var {i} = hide({from});"));
                self.open(&format!("while {i} < hide({}) {{", from + 3 * step));
                self.line(&format!("{i} += {step};"));
            }
            _ => {
                self.line(&format!("var {i} = hide({});", from + 3 * step));
                self.open(&format!("while {i} > hide({from}) {{"));
                self.line(&format!("{i} -= {step};"));
            }
        }
        match self.random.below(3) {
            0 => self.line(&format!("{v} = {v} * 3 + {i} * {w};")),
            1 => self.line(&format!("{v} ^= ({i} + 1) * {w} - {c};")),
            _ if self.traps => self.line(&format!("{v} += {a}[{i} * {w} + {c}];")),
            _ => self.line(&format!("{v} += {a}[({i} * {w} + {c}) & 1];")),
        }
        self.close();
        self.line(&format!("print({v}, {w} * {len});"));
    }

    /// A row that is the same each round, found behind what may trap or print first.
    pub(super) fn rows(&mut self) {
        let (a, len) = self.numbers();
        let (rows, i, v) = (self.name("r"), self.name("i"), self.result());
        let past = if self.traps { self.random.below(2) as i64 } else { 0 };
        let k = self.hidden(&[0, 1, 1 + past]);
        self.line(&format!("let {rows} = [[hide(3); {len}], {a}];"));
        self.open(&format!("for {i} in 0..hide({}) {{", len + past));
        match self.random.below(3) {
            0 => self.line(&format!("{v} = {v} * 3 + {a}[{i}] * {rows}[{k}][{i}];")),
            1 => self.line(&format!("print({i}); {v} += {rows}[{k}][{i}];")),
            _ => self.line(&format!("{a}[{i}] = {v}; {v} += {rows}[{k}][{i}] + {i};")),
        }
        self.close();
        self.line(&format!("print({v}, {a});"));
    }
}
