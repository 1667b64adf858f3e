//! Idioms of objects: those that are not there, those that have several names, and old and young
//! ones that refer to each other while they are moved and marked.

use super::super::{Generator, Ty, Variable};

/// For each kind of what may be nil: its type, a value, what uses it.
const OPTIONALS: [(&str, &str, &[&str]); 3] = [
    (
        "[int]?",
        "[k, 5]",
        &[
            "print(len(O!));",
            "O![1] = K; print(O);",
            "print(O[0] + 1);",
            "O[1] += K; print(O);",
            "if O != nil { O = M(K - 1); } print(O == nil, O![0]);",
        ],
    ),
    (
        "Cell?",
        "Cell { at: k, next: nil }",
        &[
            "print(O.at);",
            "O.at -= K; print(O);",
            "print(O.next == nil, O!.at);",
            "O.next = M(K - 2); print(O.next.at);",
            "while O != nil { print(O.at); O = O.next; }",
        ],
    ),
    (
        "(fn(int) -> int)?",
        "fn(x: int) -> int { return x - k; }",
        &["print(O(K));", "print(O!(4));", "O = M(O(K)); print(O == nil, O(1));"],
    ),
];

impl Generator {
    pub(super) fn nil(&mut self) {
        let (f, o) = (self.name("m"), self.name("o"));
        let most = if self.traps { 1 } else { 4 };
        let k = self.hidden(&[most, 4, 5]);
        let (ty, value, uses) = *self.random.pick(&OPTIONALS);
        self.line(&format!(
            "let {f} = fn(k: int) -> {ty} {{ if k < 2 {{ return nil; }} return {value}; }};"
        ));
        self.line(&format!("var {o} = {f}({k});"));
        let text = *self.random.pick(uses);
        // What is made of a smaller number may be nil.
        if self.traps || !text.contains('M') {
            self.line(&text.replace('O', &o).replace('K', &k).replace('M', &f));
        }
    }

    /// An object that nobody else sees under two names, of which one is that of another object on
    /// some way.
    pub(super) fn names_of_one(&mut self) {
        let (p, q) = (self.name("p"), self.name("q"));
        let (c, v) = (self.hidden(&[0, 1, 2]), self.result());
        self.line(&format!("var {p} = Cell {{ at: {c}, next: nil }};"));
        let first = *self.random.pick(&["P", "P", "Cell { at: 7, next: nil }"]);
        self.line(&format!("var {q} = {};", first.replace('P', &p)));
        let sign = *self.random.pick(&["", "+", "-"]);
        let head = format!("for e in 0..hide({}) {{", 1 + self.random.below(4));
        match self.random.below(5) {
            0 => self.line(&format!("if {c} > 0 {{ {q} = Cell {{ at: 3, next: nil }}; }}")),
            1 => self.line(&format!("if {c} > 0 {{ {q} = {p}; {v} -= 1; }} else {{ {v} += 2; }}")),
            2 => {
                self.open(&head);
                self.line(&format!("{q}.at += {p}.at;"));
                self.line(&format!("if e == {c} {{ {q} = {p}; }}"));
                self.close();
            }
            3 => {
                self.open(&head);
                self.line(&format!("let t = {p}; {p} = {q}; {q} = t;"));
                self.line(&format!("{p}.at += e;"));
                self.close();
            }
            _ => {
                self.open(&head);
                self.line(&format!("{q} = Cell {{ at: {q}.at + 1, next: nil }};"));
                self.line(&format!("if e < {c} {{ {p} = {q}; {p}.at {sign}= 2; }}"));
                self.close();
            }
        }
        self.line(&format!("{q}.at {sign}= 5;"));
        self.line(&format!("{v} += {p}.at;"));
        self.line(&format!("print({v}, {p}.at, {q}.at);"));
    }

    /// A call between looks at what it writes or reads, and at what it doesn't.
    pub(super) fn written(&mut self) {
        let (p, q, n) = (self.name("p"), self.name("q"), self.hidden(&[0, 1, 2]));
        let (a, _) = self.numbers();
        let v = self.result();
        self.line(&format!("let {p} = Cell {{ at: {n} * 5, next: nil }};"));
        self.line(&format!("let {q} = Cell {{ at: 9, next: {p} }};"));
        let looks = format!("{p}.at * 7 + {a}[0] * 3 + {q}.at + fuel");
        self.line(&format!("{v} = {looks};"));
        let calls = [format!("poke({p}, {n})"), format!("put({a}, {n})"), format!("burn({n})")];
        let call = self.random.pick(&calls).clone();
        match self.random.below(4) {
            0 => self.line(&format!("for e in 0..hide(3) {{ {v} += {call} + {p}.at; }}")),
            1 => {
                let place = if self.random.chance(50) { "fuel" } else { &format!("{p}.at") };
                let body = format!("{place} -= 1; {v} += peek({p}, {n});");
                self.line(&format!("for e in 0..hide(3) {{ {body} }}"));
            }
            _ => self.line(&format!("{v} -= {call};")),
        }
        self.line(&format!("print({v}, {looks});"));
    }

    pub(super) fn old_and_young(&mut self) {
        let (a, i) = (self.name("a"), self.name("i"));
        self.line(&format!("var {a} = [str(hide(1))];"));
        self.line(&format!("let {a}_0 = {a};"));
        let rounds = 1 + self.random.below(8);
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

    /// Old objects change hands, while others are made in between.
    pub(super) fn hands(&mut self) {
        let (a, b, i, t) = (self.name("a"), self.name("b"), self.name("i"), self.name("t"));
        let len = 2 + self.random.below(16);
        let element = *self.random.pick(&["str(I) + \"x\"", "str(I * 99)"]);
        let element = element.replace('I', &i);
        self.line(&format!("let {a}: [str] = [];"));
        self.line(&format!("for {i} in 0..{len} {{ push({a}, {element}); }}"));
        let rounds = 2 + self.random.below(5);
        match self.random.below(4) {
            0 => {
                self.open(&format!("for {b} in 0..{rounds} {{"));
                self.open(&format!("for {i} in 0..len({a}) / 2 {{"));
                self.line(&format!("let {t} = {a}[{i}];"));
                self.line(&format!("{a}[{i}] = {a}[len({a}) - 1 - {i}];"));
                self.line(&format!("{a}[len({a}) - 1 - {i}] = {t};"));
                self.line(&format!("str({i});"));
                self.close();
                self.close();
            }
            // Each of them in an object of its own, and large.
            3 => {
                self.line(&format!("let {b}: [[[int]]] = [];"));
                self.line(&format!("for {i} in 0..{len} {{ push({b}, [[{i}; 60]]); }}"));
                self.open(&format!("for e in 0..{rounds} {{"));
                self.open(&format!("for {i} in 0..len({b}) / 2 {{"));
                self.line(&format!("let {t} = {b}[{i}][0];"));
                self.line(&format!("{b}[{i}][0] = {b}[len({b}) - 1 - {i}][0];"));
                self.line(&format!("{b}[len({b}) - 1 - {i}][0] = {t};"));
                self.line(&format!("{a}[0] = str([e; 60][5]);"));
                self.close();
                self.close();
                self.line(&format!("for {t} in {b} {{ write({t}[0][0], \" \", {t}[0][59]); }}"));
            }
            1 => {
                self.line(&format!("let {b}: [str] = [];"));
                self.open(&format!("while len({a}) > 0 {{"));
                self.line(&format!("push({b}, pop({a}));"));
                self.line(&format!("let {t} = str(len({b})) + \"-\";"));
                self.line(&format!("if len({a}) == 1 {{ push({b}, {t}); }}"));
                self.close();
                self.line(&format!("print({b});"));
            }
            _ => {
                self.line(&format!("var {b}: Cell? = nil;"));
                self.open(&format!("for {i} in 0..len({a}) {{"));
                self.line(&format!("{b} = Cell {{ at: {i} * 5, next: {b} }};"));
                self.close();
                self.line(&format!("var {t}: Cell? = nil;"));
                self.open(&format!("while {b} != nil {{"));
                self.line(&format!("let {i} = {b}.next;"));
                self.line(&format!("{b}.next = {t}; {t} = {b}; {b} = {i};"));
                self.line(&format!("{a}[0] = str({t}.at);"));
                self.close();
                self.line(&format!("print({t});"));
            }
        }
        self.line(&format!("print({a});"));
    }

    pub(super) fn references(&mut self) {
        let count = 3 + self.random.below(6);
        let names: Vec<String> = (0..count).map(|_| self.name("s")).collect();
        for (k, name) in names.iter().enumerate() {
            self.line(&format!("let {name} = str(hide({k})) + \"-\";"));
        }
        self.line(&format!("print({}, {});", names.join(" + "), names.join(", ")));
    }
}
