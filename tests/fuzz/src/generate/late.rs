//! Idioms of what the last passes look for: tests of one int that make a table of jumps, loops that
//! fill arrays or copy them.

use super::Generator;

impl Generator {
    /// As many tests of one int as make a table of jumps.
    pub(super) fn table(&mut self) {
        let low = self.random.below(9) as i64 - 4;
        let count = 5 + self.random.below(5) as i64;
        let edges = [low - 1, low, low + 1, low + count / 2, low + count - 1, low + count];
        let x = match self.random.chance(80) {
            true => self.hidden(&edges),
            false => self.hidden(&[i64::MIN, i64::MAX, 1 << 32, -(1 << 31), low + 256]),
        };
        let (t, v) = (self.name("t"), self.result());
        let arms: Vec<(i64, String)> = (0..count)
            .map(|k| match self.random.below(3) {
                0 => (low + k, format!("{v} += {k};")),
                1 => (low + k, format!("{v} = {v} * 3 - {k};")),
                _ => (low + k, format!("print(\"way {k}\");")),
            })
            .collect();
        self.open(&format!("for {t} in 0..hide(2) {{"));
        if self.random.chance(40) {
            let test = |(k, what): &(i64, String)| format!("if {x} + {t} == {k} {{ {what} }}");
            self.line(&arms.iter().map(test).collect::<Vec<_>>().join(" else "));
        } else {
            self.open(&format!("match {x} + {t} {{"));
            for (k, what) in &arms {
                self.line(&format!("{k} => {{ {what} }}"));
            }
            if self.random.chance(60) {
                self.line(&format!("_ => {{ {v} -= 1; }}"));
            }
            self.close();
        }
        self.close();
        self.line(&format!("print({v});"));
    }

    /// An array of its own, its length, and a value for its elements.
    fn long_array(&mut self) -> (String, i64, &'static str) {
        let (a, len) = (self.name("a"), 30 + self.random.below(50) as i64);
        let of = *self.random.pick(&["int", "byte", "float", "bool"]);
        let (first, value) = match of {
            "int" => ("hide(3)", "hide(-7)"),
            "byte" => ("byte(hide(3))", "byte(hide(200))"),
            "float" => ("float(hide(3))", "float(hide(2)) * 0.25"),
            _ => ("hide(1) == 0", "hide(1) == 1"),
        };
        self.line(&format!("let {a} = [{first}; hide({len})];"));
        (a, len, value)
    }

    /// A loop that fills a part of an array; where there may be traps, a little more.
    pub(super) fn filled(&mut self) {
        let (a, len, value) = self.long_array();
        let (i, v) = (self.name("i"), self.name("e"));
        let past = if self.traps { self.random.below(3) as i64 - 1 } else { 0 };
        let from = self.random.below(4) as i64 - past.max(0) * self.random.below(2) as i64;
        let by = self.random.below(3) as i64;
        self.line(&format!("let {v} = {value};"));
        match self.random.chance(50) {
            true => {
                let to = len - by + past;
                self.open(&format!("for {i} in hide({from})..hide({to}) {{"));
                self.line(&format!("{a}[{i} + {by}] = {v};"));
                self.close();
            }
            false => {
                self.line(&format!("var {i} = hide({from});"));
                self.open(&format!("while {i} < hide({}) {{", len + past));
                self.line(&format!("{a}[{i}] = {v}; {i} += {};", 1 + by / 2));
                self.close();
                self.line(&format!("print({i});"));
            }
        }
        self.line(&format!("print({a});"));
    }

    /// A loop that copies a part of an array into another one, or into itself.
    pub(super) fn copied(&mut self) {
        let (a, len, value) = self.long_array();
        let (i, b) = (self.name("i"), self.name("b"));
        for k in 0..3 {
            self.line(&format!("{a}[hide({})] = {value};", k * 9));
        }
        match self.random.below(3) {
            0 => self.line(&format!("let {b} = {a};")),
            _ => self.line(&format!("let {b} = slice({a}, 0, hide({len}));")),
        }
        let past = if self.traps { self.random.below(3) as i64 - 1 } else { 0 };
        let (x, y) = (self.random.below(4) as i64, self.random.below(4) as i64);
        let to = len - x.max(y) + past;
        self.open(&format!("for {i} in 0..hide({to}) {{"));
        self.line(&format!("{b}[{i} + {x}] = {a}[{i} + {y}];"));
        self.close();
        self.line(&format!("print({a}, {b});"));
    }

    /// A small array that is seen here only, or nearly so.
    pub(super) fn small_array(&mut self) {
        let (a, v) = (self.name("a"), self.result());
        let len = 2 + self.random.below(4) as i64;
        let x = self.hidden(&[0, 1, 300, -1]);
        let byte = self.random.chance(30);
        let of = |text: String| if byte { format!("byte({text})") } else { text };
        match self.random.chance(60) {
            true => {
                let items = (0..len).map(|k| of(format!("{x} + {k}"))).collect::<Vec<_>>();
                self.line(&format!("let {a} = [{}];", items.join(", ")));
            }
            false => self.line(&format!("let {a} = [{}; {len}];", of(x.clone()))),
        }
        let past = i64::from(self.traps && self.random.chance(10));
        for _ in 0..1 + self.random.below(3) {
            let [i, j] = [(); 2].map(|()| self.random.below(len as usize) as i64);
            match self.random.below(5) {
                0 => self.line(&format!("{a}[{i}] = {a}[{}];", j + past)),
                1 => {
                    self.line(&format!("if {x} > 0 {{ {a}[{i}] = {}; }}", of(format!("{v} + {j}"))))
                }
                2 => {
                    self.line(&format!("for k in 0..{} {{ {v} += int({a}[k]) * k; }}", len + past))
                }
                3 => self.line(&format!("{v} = {v} * 7 + int({a}[{i}]) + len({a});")),
                _ => self
                    .line(&format!("for k in 0..{len} {{ {a}[k] = {}; }}", of(format!("{v} - k")))),
            }
        }
        if self.random.chance(15) {
            self.line(&format!("print({a});"));
        }
        self.line(&format!("print({v}, {a}[0], {a}[{}]);", len - 1));
    }
}
