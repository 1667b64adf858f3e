//! Idioms of indices: in bounds or just not, and what shows it.

use super::super::Generator;

impl Generator {
    pub(super) fn indices(&mut self) {
        let ((a, len), (b, other)) = (self.numbers(), self.numbers());
        let most = if self.traps { len.max(other) } else { len.min(other) - 1 };
        let least = if self.traps && self.random.chance(40) { -1 } else { 0 };
        let i = self.hidden(&[least, 0, most, most - 1, most / 2]);
        match self.random.below(4) {
            0 => self.line(&format!("print({a}[{i}], {b}[{i}], {a}[{i}]);")),
            1 => self.line(&format!("{b}[{i}] = {a}[{i}] + {b}[{i}]; print({b});")),
            2 => self.line(&format!("if {i} > 0 {{ print({a}[{i} - 1] - {b}[{i} - 1]); }}")),
            _ if self.traps => {
                self.line(&format!("if {i} <= len({a}) {{ print({b}[{i} - 1], {a}[{i}]); }}"));
            }
            _ => self.line(&format!("if {i} + 1 < len({a}) {{ print({a}[{i} + 1], {a}[{i}]); }}")),
        }
    }

    /// Loops whose indices leave the array at one end or the other, or just don't.
    pub(super) fn parts(&mut self) {
        let (a, len) = self.numbers();
        let (i, v) = (self.name("i"), self.result());
        let spread = self.random.below(4) as i64;
        let past = if self.traps { self.random.below(3) as i64 } else { 0 };
        let step = 1 + self.random.below(2) as i64;
        let rounds = (len - spread + past).max(0);
        match self.random.below(6) {
            0 => {
                self.open(&format!("for {i} in 0..hide({rounds}) {{"));
                self.line(&format!("{v} += {a}[{i}] ^ {a}[{i} + {spread}];"));
            }
            1 => {
                let first = len - 1 + past;
                self.line(&format!("var {i} = hide({first});"));
                self.open(&format!("while {i} >= hide({}) {{", if past > 1 { -1 } else { 0 }));
                self.line(&format!("{v} = {v} * 3 + {a}[{i}];"));
                self.line(&format!("{i} -= {step};"));
            }
            2 => {
                self.line(&format!("var {i} = 0;"));
                let last = if past > 0 { "<=" } else { "<" };
                self.open(&format!("while {i} {last} len({a}) {{"));
                self.line(&format!("{a}[{i}] += {i}; {v} ^= {a}[{i}];"));
                self.line(&format!("{i} += {step};"));
            }
            3 => {
                let width = 1 + self.random.below(3) as i64;
                let rows = len / width + past;
                self.open(&format!("for {i} in 0..hide({rows}) {{"));
                self.open(&format!("for j in 0..{width} {{"));
                self.line(&format!("{v} += {a}[{i} * {width} + j] * (j + 1);"));
                self.close();
            }
            // What is in bounds in the last round only since the product wraps.
            4 if self.traps => {
                let factor = self.hidden(&[1 << 62, 1 << 63, 1 << 63, 1]);
                let rounds = *self.random.pick(&[3, 5]);
                self.open(&format!("for {i} in 0..hide({rounds}) {{"));
                self.line(&format!("{v} += {a}[{i} * {factor}] + 1;"));
            }
            _ => {
                let from = -(past.min(1));
                self.open(&format!("for {i} in hide({from})..hide({}) {{", len - 1));
                self.line(&format!("{v} += {a}[{i} + 1]; {a}[{i} + 1] = {v} & 63;"));
                if from < 0 {
                    self.line(&format!("{v} -= {a}[{i}];"));
                }
            }
        }
        self.close();
        self.line(&format!("print({v}, {a});"));
    }

    /// Tests that show an index to be in bounds, or nearly do.
    pub(super) fn tested_indices(&mut self) {
        let (a, len) = self.numbers();
        let (j, v) = (self.name("j"), self.result());
        let by = 1 + self.random.below(2) as i64;
        if self.traps && self.random.chance(60) {
            let op = *self.random.pick(&["+", "-"]);
            // Beyond the end of int, or just not.
            let end = if op == "+" { i64::MAX - by + 1 } else { i64::MIN + by - 1 };
            let i = self.hidden(&[end, end, i64::MIN, i64::MAX, 0, len - 1]);
            let sum = format!("let {j} = {i} {op} {by};");
            let (head, tail) = match self.random.below(3) {
                0 => (format!("{sum} if {j} < len({a}) && {i} >= 0 {{"), ""),
                1 => (format!("{sum} if {i} < len({a}) && {j} >= 0 {{"), ""),
                _ => (format!("if {i} < len({a}) {{ {sum} if {j} >= 0 {{"), "}"),
            };
            self.line(&format!("{head} print({a}[{j}], {a}[{j}] + {v}); }}{tail}"));
            return;
        }
        let past = if self.traps { self.random.below(3) as i64 } else { 0 };
        let i = self.hidden(&[0, 1]);
        let rounds = self.hidden(&[(len - 1 + past) / by]);
        self.line(&format!("var {j} = {i};"));
        self.open(&format!("if {j} < len({a}) {{"));
        self.open(&format!("for e in 0..{rounds} {{"));
        self.open(&format!("if {j} >= 0 {{"));
        self.line(&format!("{v} += {a}[{j}]; {j} += {by};"));
        self.close();
        self.close();
        self.close();
        self.line(&format!("print({v}, {j});"));
    }
}
