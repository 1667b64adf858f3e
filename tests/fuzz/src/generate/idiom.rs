//! Statements that stand for one thing each that compilers look for: random expressions come to the
//! shapes that a rewrite or an instruction asks for too seldom, and to values at its edges hardly
//! ever. What each computes is printed or goes on living in a variable.

mod rounds;

use super::{Generator, Ty, Variable};

type Idiom = fn(&mut Generator);

const IDIOMS: &[(&str, Idiom)] = &[
    ("zeros of both signs", Generator::zeros),
    ("floats that are not numbers", Generator::not_a_number),
    ("sums at the ends of int", Generator::ends),
    ("tests and their opposites", Generator::opposites),
    ("tests of a range", Generator::ranges),
    ("tables of numbers", Generator::table),
    ("arrays filled", Generator::filled),
    ("arrays copied", Generator::copied),
    ("small arrays", Generator::small_array),
    ("masked sums", Generator::masks),
    ("indices in several arrays", Generator::indices),
    ("loads before stores", Generator::loads),
    ("sums in loops", Generator::sums),
    ("loops over parts of arrays", Generator::parts),
    ("products in loops", Generator::products),
    ("rows in loops", Generator::rows),
    ("indices that are tested", Generator::tested_indices),
    ("operands that print", Generator::order),
    ("the same trap in two arms", Generator::arms),
    ("traps behind output", Generator::behind_output),
    ("what may be nil", Generator::nil),
    ("old arrays of young objects", Generator::old_and_young),
    ("calls that were made already", Generator::again),
    ("many references at once", Generator::references),
    ("quotients", Generator::quotients),
];

impl Generator {
    /// One of the idioms.
    pub(super) fn idiom(&mut self) {
        let (_, write) = *self.random.pick(IDIOMS);
        write(self);
    }

    /// An int that no compiler knows, one of these.
    pub(super) fn hidden(&mut self, values: &[i64]) -> String {
        let name = self.name("h");
        let value = *self.random.pick(values);
        self.line(&format!("let {name} = hide({value});"));
        name
    }

    fn hidden_float(&mut self, values: &[&str]) -> String {
        let name = self.name("h");
        let value = *self.random.pick(values);
        self.line(&format!("let {name} = float(hide(1)) * {value};"));
        name
    }

    /// An array of ints that no other name refers to, with more than one element.
    fn numbers(&mut self) -> (String, i64) {
        let name = self.name("a");
        let len = 2 + self.random.below(7) as i64;
        match self.random.chance(50) {
            true => self.line(&format!("let {name} = [hide({}); hide({len})];", len * 3)),
            false => {
                let items: Vec<String> =
                    (0..len).map(|_| self.random.below(90).to_string()).collect();
                self.line(&format!("let {name} = [{}];", items.join(", ")));
            }
        }
        self.scope.push(Variable {
            name: name.clone(),
            ty: Ty::Array(Box::new(Ty::Int)),
            mutable: false,
        });
        (name, len)
    }

    /// A variable for what an idiom computes.
    pub(super) fn result(&mut self) -> String {
        let name = self.name("v");
        self.line(&format!("var {name} = {};", self.names));
        self.scope.push(Variable { name: name.clone(), ty: Ty::Int, mutable: true });
        name
    }

    fn zeros(&mut self) {
        let x = self.hidden_float(&["(-0.0)", "0.0", "(-1.0)", "1.5", "(1.0 / 0.0)"]);
        let shapes = ["X + 0.0", "X - 0.0", "0.0 - X", "X * 1.0", "X + (-0.0)", "-X", "X * (-1.0)"];
        let more = ["X / 3.0", "X / 4.0", "X * 0.5", "X / (-0.1)", "1.0 / X", "X - X", "abs(X)"];
        let (first, second) = (*self.random.pick(&shapes), *self.random.pick(&more));
        self.line(&format!("print({}, {});", first.replace('X', &x), second.replace('X', &x)));
    }

    fn not_a_number(&mut self) {
        let x = self.hidden_float(&["sqrt(-1.0)", "2.0", "(-2.0)", "0.0"]);
        let y = self.hidden_float(&["sqrt(-1.0)", "2.0", "3.0", "(-0.0)"]);
        let y = if self.random.chance(40) { x.clone() } else { y };
        let op = *self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
        let not = *self.random.pick(&["", "!"]);
        let v = self.result();
        let k = self.random.below(3);
        match k {
            0 => self.line(&format!("if {not}({x} {op} {y}) {{ {v} = 5; }}")),
            1 => self.line(&format!("if {not}({x} {op} {y}) {{ {v} = 5; }} else {{ {v} = 6; }}")),
            _ => self.line(&format!("if {not}({x} {op} {y}) {{ print(1); }} else {{ print(2); }}")),
        }
        self.line(&format!("print({v}, {not}({x} {op} {y}), int({x}), min({x}, {y}));"));
    }

    fn ends(&mut self) {
        const MAX: i64 = i64::MAX;
        let x =
            self.hidden(&[MAX, MAX - 1, MAX - 2, i64::MIN + 1, i64::MIN + 2, -1, 0, 1, 1 << 31]);
        let (by, to) = (1 + self.random.below(3), self.random.below(8) as i64 - 4);
        let op = *self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let sign = *self.random.pick(&["+", "-"]);
        self.line(&format!("print({x} {sign} {by} {op} {to}, {to} {op} {x} {sign} {by});"));
        let far =
            *self.random.pick(&[1i64 << 31, (1 << 31) - 1, -(1 << 31), -(1 << 31) - 1, 1 << 32]);
        self.line(&format!("print({x} {op} {far}, {x} + {far}, {x} - ({far}), {x} & {far});"));
    }

    fn opposites(&mut self) {
        let float = self.random.chance(50);
        let (x, y) = match float {
            true => (
                self.hidden_float(&["1.0", "sqrt(-1.0)", "2.0"]),
                self.hidden_float(&["1.0", "2.0"]),
            ),
            false => (self.hidden(&[1, 2, -1]), self.hidden(&[1, 2, -1])),
        };
        let (a, b) =
            *self.random.pick(&[("<", "<"), ("<", ">"), ("<=", ">="), ("<", ">="), ("==", "!=")]);
        let (c, d, v) = (self.name("c"), self.name("d"), self.result());
        self.line(&format!("let {c} = {x} {a} {y};"));
        self.line(&format!("let {d} = !{c};"));
        if self.random.chance(50) {
            self.line(&format!("print({c}, {d});"));
        }
        match self.random.chance(50) {
            true => self.line(&format!("if {d} {{ {v} = 4; }}")),
            false => self.line(&format!("if {d} {{ {v} = 7; }} else {{ {v} = 8; }}")),
        }
        self.line(&format!("print({v}, {y} {b} {x}, {x} {b} {y}, !({y} {a} {x}));"));
    }

    fn ranges(&mut self) {
        let low = self.random.below(40) as i64 - 20;
        let high = low + 1 + self.random.below(9) as i64;
        let x = self.hidden(&[low - 1, low, low + 1, high - 1, high, high + 1, i64::MIN, i64::MAX]);
        let (below, above) = (*self.random.pick(&["<", "<="]), *self.random.pick(&[">", ">="]));
        let v = self.result();
        match self.random.below(3) {
            0 => {
                self.line(&format!("if {x} {above} {low} && {x} {below} {high} {{ {v} += {x}; }}"))
            }
            1 => self.line(&format!("if {x} {below} {low} || {x} {above} {high} {{ {v} -= 3; }}")),
            _ => self.line(&format!(
                "match {x} {{ {low}..{high} => {{ {v} = 1; }} _ => {{ {v} = 2; }} }}"
            )),
        }
        self.line(&format!("print({v}, {x} {above} {low} && {x} {below} {high});"));
    }

    fn masks(&mut self) {
        const EDGES: &[i64] = &[-1, 1, 255, 7, 0xFFFF_FFFF, 0x7FFF_FFFF, 1 << 31, 1 << 40, -256];
        let (x, y) = (self.hidden(EDGES), self.hidden(EDGES));
        let mask =
            *self.random.pick(&[0xFFFF_FFFFi64, 0xFF, 0xFFFF, 8, 12, 256, 0x7FFF_FFFF, 1 << 31]);
        let low =
            *self.random.pick(&[7i64, 255, 0xFFFF_FFFF, 0x7FFF_FFFF, mask, mask, mask | 24, -8]);
        let op = *self.random.pick(&["+", "-", "*"]);
        let (v, by) = (self.result(), self.random.below(5));
        match self.random.below(3) {
            0 => self.line(&format!("{v} = ({x} {op} {y}) & {mask};")),
            1 => self.line(&format!("{v} = (({x} & {low}) {op} ({y} & {low})) & {mask};")),
            _ => self.line(&format!("{v} = ((({x} {op} {y}) & {mask}) >> {by}) {op} {x};")),
        }
        self.line(&format!("print({v}, {v} & {mask}, {v} / 3);"));
    }

    fn indices(&mut self) {
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

    fn loads(&mut self) {
        let (a, _) = self.numbers();
        let (t, v) = (self.name("t"), self.result());
        let op = *self.random.pick(&["+", "-", "&", "^", "*"]);
        self.line(&format!("let {t} = {a}[1];"));
        match self.random.below(3) {
            0 => self.line(&format!("{a}[1] = {v} - 1;")),
            1 => self.line(&format!("{a}[hide(1)] = 4; {a}.push({v});")),
            _ => self.line(&format!("for e in 0..hide(2) {{ {a}[1] = {a}[e] + 1; }}")),
        }
        self.line(&format!("{v} = {v} {op} {t};"));
        self.line(&format!("print({v}, {t}, {a}[1] == {t}, {a});"));
    }

    fn sums(&mut self) {
        let ((a, len), (b, other)) = (self.numbers(), self.numbers());
        let (i, v) = (self.name("i"), self.result());
        let op = *self.random.pick(&["+", "*", "^", "&", "|"]);
        let round = len.min(other);
        self.open(&format!("for {i} in 0..hide({round}) {{"));
        match self.random.below(3) {
            0 => self.line(&format!("{v} = {v} {op} {a}[{i}] {op} {b}[{i}];")),
            1 => self.line(&format!("{v} = {a}[{i}] {op} ({v} {op} {b}[{i}]) {op} 3;")),
            _ => {
                let name = *self.random.pick(&["min", "max"]);
                self.line(&format!("{v} = {name}({name}({v} + 1, {a}[{i}]), {b}[{i}]);"));
            }
        }
        self.close();
        self.line(&format!("print({v});"));
    }

    /// Loops whose indices leave the array at one end or the other, or just don't.
    fn parts(&mut self) {
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
    fn tested_indices(&mut self) {
        let (a, len) = self.numbers();
        let (j, v) = (self.name("j"), self.result());
        let by = 1 + self.random.below(2);
        if self.traps && self.random.chance(60) {
            let i = self.hidden(&[i64::MIN, i64::MAX, i64::MIN + 1, 0, len - 1]);
            let op = *self.random.pick(&["+", "-"]);
            self.line(&format!("let {j} = {i} {op} {by};"));
            let test = *self.random.pick(&["I < len(A) && J >= 0", "J < len(A) && I >= 0"]);
            let test = test.replace('I', &i).replace('J', &j).replace('A', &a);
            self.line(&format!("if {test} {{ print({a}[{j}], {a}[{j}] + {v}); }}"));
            return;
        }
        let past = if self.traps { self.random.below(3) as i64 } else { 0 };
        let i = self.hidden(&[0, 1]);
        self.line(&format!("var {j} = {i};"));
        self.open(&format!("if {j} < len({a}) {{"));
        let rounds = (len - 1 + past) / by as i64;
        self.open(&format!("for e in 0..hide({rounds}) {{"));
        self.open(&format!("if {j} >= 0 {{"));
        self.line(&format!("{v} += {a}[{j}]; {j} += {by};"));
        self.close();
        self.close();
        self.close();
        self.line(&format!("print({v}, {j});"));
    }

    /// Whatever prints tells when it was evaluated.
    fn order(&mut self) {
        let k = self.random.below(5);
        let op = *self.random.pick(&["+", "-", "*", "<<"]);
        match self.random.below(3) {
            0 => self.line(&format!("print(tell({k}) {op} tell(3), tell(1) < tell({k}));")),
            1 => {
                let (a, _) = self.numbers();
                let sign = *self.random.pick(&["", "+", "^"]);
                self.line(&format!("{a}[tell(1)] {sign}= tell({k});"));
                self.line(&format!("print({a});"));
            }
            _ => {
                let structs = self.structs.clone();
                let found = self
                    .variable(|v| matches!(v.ty, Ty::Struct(n) if structs[n].contains(&Ty::Int)));
                let Some(Variable { name, ty: Ty::Struct(n), .. }) = found else { return };
                let field = structs[n].iter().position(|ty| *ty == Ty::Int).unwrap_or(0);
                let (f, s) = (self.name("m"), self.name("s"));
                self.line(&format!("let {s} = {name};"));
                self.line(&format!("let {f} = fn() -> S{n} {{ print(\"at\"); return {s}; }};"));
                self.line(&format!("{f}().f{field} = tell({k});"));
                self.line(&format!("print({s}.f{field});"));
            }
        }
    }

    fn arms(&mut self) {
        let (a, len) = self.numbers();
        let least = if self.traps { 0 } else { 1 };
        let (c, d, x) = (self.hidden(&[0, 1]), self.hidden(&[least, 2, -1]), self.hidden(&[7, -9]));
        let i = self.hidden(&[0, if self.traps { len } else { 1 }]);
        let (v, more) = (self.result(), self.random.below(2));
        let texts = [format!("{x} / {d}"), format!("{a}[{i}]"), format!("{x} % {d}")];
        let (yes, no) = (self.random.pick(&texts).clone(), self.random.pick(&texts).clone());
        let no = if self.random.chance(70) { yes.clone() } else { no };
        self.open(&format!("if {c} > 0 {{"));
        self.line(&format!("{v} = {yes};"));
        self.indent -= 1;
        self.line("} else {");
        self.indent += 1;
        self.line(&format!("{v} = {no} + {more};"));
        self.close();
        self.line(&format!("print({v});"));
    }

    fn behind_output(&mut self) {
        let (a, len) = self.numbers();
        let least = if self.traps { 0 } else { 1 };
        let (c, d) = (self.hidden(&[0, 1]), self.hidden(&[least, least, 3]));
        let i = self.hidden(&[0, if self.traps { len } else { 1 }]);
        let v = self.result();
        let texts = [format!("100 / {d}"), format!("{a}[{i}]")];
        let text = self.random.pick(&texts).clone();
        match self.random.below(3) {
            0 => {
                self.line(&format!("if {c} > 0 {{ print(\"yes\"); {v} += {text}; }} else {{ print(\"no\"); {v} -= {text}; }}"));
            }
            1 => self.line(&format!("for e in 0..hide(3) {{ print(e); {v} += {text}; }}")),
            _ => self.line(&format!("if {c} > 0 {{ {a}[0] = 3; print({a}[0]); }} {v} = {text};")),
        }
        self.line(&format!("print({v});"));
    }

    fn nil(&mut self) {
        let (f, o) = (self.name("m"), self.name("o"));
        let most = if self.traps { 1 } else { 2 };
        let k = self.hidden(&[most, 3]);
        self.line(&format!(
            "let {f} = fn(k: int) -> [int]? {{ if k < 2 {{ return nil; }} return [k, 5]; }};"
        ));
        self.line(&format!("var {o} = {f}({k});"));
        match self.random.below(3) {
            0 => self.line(&format!("print(len({o}!));")),
            1 => self.line(&format!("{o}![1] = {k}; print({o});")),
            _ => self.line(&format!(
                "if {o} != nil {{ {o} = {f}({k} - 1); }} print({o} == nil, {o}![0]);"
            )),
        }
    }

    fn old_and_young(&mut self) {
        let (a, i) = (self.name("a"), self.name("i"));
        self.line(&format!("var {a} = [str(hide(1))];"));
        self.line(&format!("let {a}_0 = {a};"));
        let rounds = 1 + self.random.below(4);
        self.open(&format!("for {i} in 0..{rounds} {{"));
        match self.random.below(3) {
            0 => self.line(&format!("push({a}, str({i}) + \"x\");")),
            1 => self.line(&format!("{a}[0] = {a}[0] + str({i});")),
            _ => self.line(&format!("push({a}, join({a}[{i}], \"y\")); {a}[{i}] = str({i} * 7);")),
        }
        self.close();
        self.line(&format!("print({a}, {a}_0, len(str({a})));"));
        self.scope.push(Variable { name: a, ty: Ty::Array(Box::new(Ty::Str)), mutable: true });
    }

    /// Of two ways to a join one has made the call; what may trap stands between.
    fn again(&mut self) {
        let least = if self.traps { 0 } else { 1 };
        let (c, d, n) = (self.hidden(&[0, 1]), self.hidden(&[least, 2]), self.hidden(&[0, 1, 4]));
        let v = self.result();
        let step = *self.random.pick(&["tree", "steps"]);
        self.open(&format!("if {c} > 0 {{"));
        self.line(&format!("{v} = {step}({n}, {d});"));
        self.close();
        if self.random.chance(50) {
            self.line(&format!("{v} += 9 % {d};"));
        }
        self.line(&format!("{v} += {step}({n}, {d});"));
        self.line(&format!("print({v}, {step}({n}, 1 | {d}));"));
    }

    fn references(&mut self) {
        let count = 3 + self.random.below(6);
        let names: Vec<String> = (0..count).map(|_| self.name("s")).collect();
        for (k, name) in names.iter().enumerate() {
            self.line(&format!("let {name} = str(hide({k})) + \"-\";"));
        }
        self.line(&format!("print({}, {});", names.join(" + "), names.join(", ")));
    }

    fn quotients(&mut self) {
        const MIN: i64 = i64::MIN + 1;
        let x = self.hidden(&[7, -7, -8, 8, -1, MIN, i64::MAX, 1 << 40, 100, -100, 0]);
        let edges = [3i64, 5, 7, 10, 1000, 8, 2, 1 << 20, -3, -8, 1 << 62, 641, 6, 9, 11, 12, 25];
        let d = *self.random.pick(&edges);
        let y = if self.traps { self.hidden(&[-1, 0, 2, 3]) } else { self.hidden(&[-1, 1, 2, 3]) };
        let w = *self.random.pick(&["hide(-9223372036854775807) - 1", "hide(12)", "hide(-13)"]);
        self.line(&format!(
            "print({x} / ({d}), {x} % ({d}), {x} % 8 == 0, ({w}) / {y}, ({w}) % {y});"
        ));
    }
}
