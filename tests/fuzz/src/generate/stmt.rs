//! Statements.

use super::{Generator, Ty, Variable};

impl Generator {
    /// So many statements; `depth` bounds the nesting of blocks.
    pub(super) fn statements(&mut self, count: usize, depth: usize) {
        for _ in 0..count {
            self.statement(depth);
        }
    }

    fn block(&mut self, depth: usize) {
        let outer = self.scope.len();
        let count = self.random.below(self.size.statements / 2 + 1);
        self.statements(count, depth);
        self.scope.truncate(outer);
    }

    fn statement(&mut self, depth: usize) {
        let swarm = self.swarm;
        let deep = depth > 0;
        let on = |switch: bool, weight: usize| if switch { weight } else { 0 };
        let weights = [
            24,
            26,
            on(deep, 12),
            on(deep && swarm.loops, 12),
            on(deep && swarm.matches, 6),
            8,
            on(swarm.arrays, 5),
            on(self.loops > 0, 4),
            on(deep, 2),
            on(self.traps, 2),
            on(self.scope.len() > 2, 6),
            on(deep && swarm.arrays && swarm.loops, 7),
            on(!self.in_closure, if swarm.idioms { 60 } else { 9 }),
        ];
        match self.random.weighted(&weights) {
            0 => self.declare(),
            1 => self.assign(),
            2 => self.branch(depth - 1),
            3 => self.looping(depth - 1),
            4 => self.matching(depth - 1),
            5 => self.print(),
            6 => self.push_or_pop(),
            7 => {
                let word = *self.random.pick(&["break", "continue"]);
                let condition = self.bool(2);
                self.line(&format!("if {condition} {{ {word}; }}"));
            }
            8 => {
                self.open("{");
                self.block(depth - 1);
                self.close();
            }
            9 => {
                let condition = self.bool(2);
                self.line(&format!("assert({condition}, \"wanted\");"));
            }
            10 => self.rotate(),
            11 => self.sweep(),
            _ => self.idiom(),
        }
    }

    fn declare(&mut self) {
        let ty = self.any_type(2);
        let value = self.expr(&ty, self.size.depth);
        let mutable = self.random.chance(70);
        // At the top level a later global is not seen by functions above, which is what we want
        // here: such variables stand in a block of their own kind of name.
        let name = self.name("v");
        let keyword = if mutable { "var" } else { "let" };
        self.line(&format!("{keyword} {name}: {} = {value};", ty.text()));
        self.scope.push(Variable { name, ty, mutable });
    }

    fn assign(&mut self) {
        match self.random.below(4) {
            0 => {
                let structs = self.structs.clone();
                let found =
                    self.variable(|v| matches!(v.ty, Ty::Struct(n) if !structs[n].is_empty()));
                if let Some(Variable { name, ty: Ty::Struct(n), .. }) = found {
                    let field = self.random.below(structs[n].len());
                    let ty = structs[n][field].clone();
                    self.assign_to(&format!("{name}.f{field}"), &ty);
                    return;
                }
            }
            1 => {
                let found = self.variable(|v| matches!(v.ty, Ty::Array(_)));
                if let Some(Variable { name, ty: Ty::Array(element), .. }) = found {
                    let index = match self.traps && self.random.chance(30) {
                        true => self.expr(&Ty::Int, 2),
                        false => {
                            let index = self.expr(&Ty::Int, 1);
                            let at = self.name("i");
                            self.line(&format!("let {at} = {index};"));
                            self.open(&format!("if {at} >= 0 && {at} < len({name}) {{"));
                            self.assign_to(&format!("{name}[{at}]"), &element);
                            self.close();
                            return;
                        }
                    };
                    self.assign_to(&format!("{name}[{index}]"), &element);
                    return;
                }
            }
            _ => {}
        }
        match self.variable(|v| v.mutable) {
            Some(variable) => self.assign_to(&variable.name, &variable.ty),
            None => self.declare(),
        }
    }

    fn assign_to(&mut self, place: &str, ty: &Ty) {
        let value = self.expr(ty, self.size.depth);
        let op = match ty {
            Ty::Int if self.swarm.shifts && self.random.chance(10) => "<<",
            Ty::Int | Ty::Byte if self.random.chance(50) => {
                *self.random.pick(&["+", "-", "*", "&", "|", "^"])
            }
            Ty::Float if self.random.chance(40) => *self.random.pick(&["+", "-", "*", "/"]),
            Ty::Bool if self.random.chance(30) => *self.random.pick(&["&", "|", "^"]),
            _ => "",
        };
        self.line(&format!("{place} {op}= {value};"));
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.bool(3);
        self.open(&format!("if {condition} {{"));
        self.block(depth);
        self.indent -= 1;
        while self.random.chance(25) {
            let condition = self.bool(2);
            self.line(&format!("}} else if {condition} {{"));
            self.indent += 1;
            self.block(depth);
            self.indent -= 1;
        }
        if self.random.chance(50) {
            self.line("} else {");
            self.indent += 1;
            self.block(depth);
            self.indent -= 1;
        }
        self.line("}");
    }

    fn looping(&mut self, depth: usize) {
        self.loops += 1;
        let outer = self.scope.len();
        match self.random.below(10) {
            0..5 => {
                let name = self.name("i");
                let from = self.random.below(12) as i64 - 6;
                let (from, to) = match self.random.below(8) {
                    0 => ("9223372036854775804".into(), "9223372036854775807".into()),
                    1 => {
                        let end = self.expr(&Ty::Int, 1);
                        (format!("max({end}, -3)"), "5".to_string())
                    }
                    _ => (from.to_string(), (from + self.random.below(8) as i64).to_string()),
                };
                let range = if self.random.chance(30) { "..=" } else { ".." };
                self.open(&format!("for {name} in {from}{range}{to} {{"));
                self.scope.push(Variable { name, ty: Ty::Int, mutable: false });
            }
            5 | 6 if self.swarm.arrays => {
                let ty = self.any_type(1);
                let array = self.expr(&Ty::Array(Box::new(ty.clone())), 2);
                let name = self.name("x");
                self.open(&format!("for {name} in {array} {{"));
                self.scope.push(Variable { name, ty, mutable: false });
            }
            7 if self.swarm.strings => {
                let text = self.expr(&Ty::Str, 2);
                let name = self.name("c");
                self.open(&format!("for {name} in {text} {{"));
                self.scope.push(Variable { name, ty: Ty::Byte, mutable: false });
            }
            _ => {
                let counter = self.name("n");
                let rounds = 1 + self.random.below(8);
                self.line(&format!("var {counter} = 0;"));
                let condition = match self.random.chance(40) {
                    true => "true".to_owned(),
                    false => self.bool(2),
                };
                self.open(&format!("while {condition} {{"));
                self.line(&format!("{counter} += 1;"));
                self.line(&format!("if {counter} > {rounds} {{ break; }}"));
                self.scope.push(Variable { name: counter, ty: Ty::Int, mutable: false });
            }
        }
        self.line("fuel -= 1;");
        self.line("if fuel < 0 { break; }");
        self.block(depth);
        if self.random.chance(20) {
            self.rotate();
        }
        self.close();
        self.scope.truncate(outer);
        self.loops -= 1;
    }

    fn matching(&mut self, depth: usize) {
        let ty = match self.random.below(4) {
            0 if self.swarm.bytes => Ty::Byte,
            1 if self.swarm.strings => Ty::Str,
            2 => Ty::Bool,
            _ => Ty::Int,
        };
        let value = self.expr(&ty, 2);
        self.open(&format!("match {value} {{"));
        for _ in 0..self.random.below(5) {
            let pattern = self.pattern(&ty);
            self.open(&format!("{pattern} => {{"));
            self.block(depth);
            self.close();
        }
        if self.random.chance(50) {
            self.open("_ => {");
            self.block(depth);
            self.close();
        }
        self.close();
    }

    fn pattern(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Bool => (*self.random.pick(&["true", "false"])).into(),
            Ty::Str => self.constant(&Ty::Str, 0),
            Ty::Byte => {
                let low = self.random.below(200);
                let texts = [
                    format!("'\\x{low:02x}'"),
                    format!("'\\x{low:02x}'..='\\x{:02x}'", low + self.random.below(56)),
                ];
                self.random.pick(&texts).clone()
            }
            _ => {
                let low = self.random.int();
                match self.random.below(3) {
                    0 => low.to_string(),
                    1 => format!("{}..{}", low, low.saturating_add(self.random.below(300) as i64)),
                    _ => format!("{} | {}..=9", low, self.random.below(10)),
                }
            }
        }
    }

    fn print(&mut self) {
        let count = 1 + self.random.below(3);
        let mut args = Vec::new();
        for _ in 0..count {
            let ty = self.any_type(2);
            let value = self.expr(&ty, 3);
            args.push(if value == "nil" { "\"nil\"".to_owned() } else { value });
        }
        self.line(&format!("print({});", args.join(", ")));
    }

    fn push_or_pop(&mut self) {
        let found = self.variable(|v| matches!(v.ty, Ty::Array(_)));
        let Some(Variable { name, ty: Ty::Array(element), .. }) = found else { return };
        match self.random.below(4) {
            0 if self.traps => self.line(&format!("pop({name});")),
            0 => self.line(&format!("if len({name}) > 0 {{ {name}.pop(); }}")),
            _ => {
                let value = self.expr(&element, 2);
                self.line(&format!("if len({name}) < 50 {{ push({name}, {value}); }}"));
            }
        }
    }

    /// A loop over an array by index, as people write them.
    fn sweep(&mut self) {
        let numbers = |v: &Variable| v.ty == Ty::Array(Box::new(Ty::Int));
        let (a, ty) = match self.variable(|v| matches!(v.ty, Ty::Array(_)) && !numbers(v)) {
            Some(Variable { name, ty, .. }) if self.random.chance(30) => (name, ty),
            _ => match self.variable(numbers) {
                Some(Variable { name, ty, .. }) => (name, ty),
                None => {
                    let name = self.name("a");
                    let ty = Ty::Array(Box::new(Ty::Int));
                    let value = self.expr(&ty, 1);
                    self.line(&format!("let {name}: [int] = {value};"));
                    self.scope.push(Variable {
                        name: name.clone(),
                        ty: ty.clone(),
                        mutable: false,
                    });
                    (name, ty)
                }
            },
        };
        let (i, t) = (self.name("i"), self.name("t"));
        let k = self.random.below(3);
        let last = if self.traps && self.random.chance(20) { "..=" } else { ".." };
        let inner = self.random.below(if ty == Ty::Array(Box::new(Ty::Int)) { 6 } else { 2 });
        let sum = self.variable(|v| v.mutable && v.ty == Ty::Int);
        let sum = match sum {
            Some(variable) if variable.name != "depth" => variable.name,
            _ => {
                let name = self.name("v");
                self.line(&format!("var {name} = 0;"));
                self.scope.push(Variable { name: name.clone(), ty: Ty::Int, mutable: true });
                name
            }
        };
        match inner {
            0 => {
                self.open(&format!("for {i} in {k}{last}len({a}) {{"));
                self.line(&format!("let {t} = {a}[{i} - {k}];"));
                self.line(&format!("{a}[{i} - {k}] = {a}[{i}];"));
                self.line(&format!("{a}[{i}] = {t};"));
            }
            1 => {
                self.open(&format!("for {i} in 0{last}len({a}) / 2 {{"));
                self.line(&format!("let {t} = {a}[{i}];"));
                self.line(&format!("{a}[{i}] = {a}[len({a}) - 1 - {i}];"));
                self.line(&format!("{a}[len({a}) - 1 - {i}] = {t};"));
            }
            2 => {
                self.open(&format!("for {i} in 0{last}len({a}) - {k} {{"));
                self.line(&format!("{sum} ^= {a}[{i} + {k}] * {};", 2 * k + 3));
            }
            3 => {
                self.line(&format!("var {i} = len({a}) - 1;"));
                self.open(&format!("while {i} >= 0 {{"));
                self.line(&format!("{sum} = {sum} / 2 + {a}[{i}] % 8;"));
                self.line(&format!("{i} -= {};", k + 1));
            }
            4 => {
                self.line(&format!("var {i} = 0;"));
                self.open(&format!("while {i} < len({a}) {{"));
                self.line(&format!(
                    "if {a}[{i}] + {} < {sum} {{ {a}[{i}] += 1; }}",
                    1i64 << (20 * k)
                ));
                self.line(&format!("{i} += {};", k + 1));
            }
            _ => {
                self.open(&format!("for {i} in 0..len({a}) {{"));
                self.line(&format!("let {t} = {a}[{i}] >> {k};"));
                self.line(&format!("if {t} >= 0 && {t} <= len({a}) - 1 {{ {a}[{t}] -= {i}; }}"));
            }
        }
        self.close();
    }

    /// Variables of one type exchange their values in a circle.
    fn rotate(&mut self) {
        let Some(first) = self.variable(|v| v.mutable) else { return };
        let ring: Vec<String> = self
            .scope
            .iter()
            .filter(|v| v.mutable && v.ty == first.ty)
            .map(|v| v.name.clone())
            .take(2 + self.random.below(6))
            .collect();
        if ring.len() < 2 {
            return;
        }
        let keep = self.name("t");
        self.line(&format!("let {keep} = {};", ring[0]));
        for pair in ring.windows(2) {
            self.line(&format!("{} = {};", pair[0], pair[1]));
        }
        self.line(&format!("{} = {keep};", ring[ring.len() - 1]));
    }
}
