//! Expressions of a wanted type.

use super::{Generator, Ty, Variable};

impl Generator {
    /// An expression of this type, in parentheses where it is more than a primary.
    pub(super) fn expr(&mut self, ty: &Ty, depth: usize) -> String {
        if depth == 0 || self.random.chance(12) {
            return self.leaf(ty);
        }
        if self.random.chance(10)
            && let Some(text) = self.access(ty, depth)
        {
            return text;
        }
        if self.swarm.calls
            && self.random.chance(8)
            && let Some(text) = self.any_call(ty, depth)
        {
            return text;
        }
        match ty {
            Ty::Int => self.int(depth - 1),
            Ty::Float => self.float(depth - 1),
            Ty::Bool => self.bool(depth - 1),
            Ty::Byte => self.byte(depth - 1),
            Ty::Str => self.string(depth - 1),
            Ty::Array(element) => self.array(element, depth - 1),
            Ty::Struct(n) => self.structure_value(*n, depth - 1),
            Ty::Optional(inner) => match self.random.chance(75) {
                true => self.expr(inner, depth - 1),
                false => "nil".into(),
            },
            Ty::Function(params, result) => self.closure(params, result, depth - 1),
        }
    }

    /// A variable of the type, or a constant.
    fn leaf(&mut self, ty: &Ty) -> String {
        if self.random.chance(75)
            && let Some(variable) = self.variable(|v| v.ty == *ty)
        {
            return variable.name;
        }
        self.constant(ty, 1)
    }

    /// A variable in scope (globals too) that fits.
    pub(super) fn variable(&mut self, fits: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let found: Vec<&Variable> =
            self.scope.iter().chain(&self.globals).filter(|v| fits(v)).collect();
        if found.is_empty() {
            return None;
        }
        let index = self.random.below(found.len());
        Some(found[index].clone())
    }

    /// A value that needs no variables; `depth` bounds structs in structs.
    pub(super) fn constant(&mut self, ty: &Ty, depth: usize) -> String {
        match ty {
            Ty::Int => {
                let value = self.random.int();
                if value < 0 { format!("({value})") } else { value.to_string() }
            }
            Ty::Float => {
                let text = self.random.float();
                if text.starts_with('-') { format!("({text})") } else { text }
            }
            Ty::Bool => (if self.random.chance(50) { "true" } else { "false" }).into(),
            Ty::Byte => format!("byte({})", self.random.below(256)),
            Ty::Str => {
                let texts = [
                    "\"\"",
                    "\"a\"",
                    "\"abc\"",
                    "\"é\"",
                    "\"two words\"",
                    "\"\\n\\\"\"",
                    "\"\\xff\\0\"",
                ];
                (*self.random.pick(&texts)).into()
            }
            Ty::Array(element) => {
                if depth == 0 {
                    return self.empty(ty);
                }
                let len = self.random.below(5);
                if len == 0 {
                    return self.empty(ty);
                }
                let items: Vec<String> =
                    (0..len).map(|_| self.constant(element, depth - 1)).collect();
                match items.iter().all(|item| item == "nil") || self.has_optional(element) {
                    true => self.empty(ty),
                    false => format!("[{}]", items.join(", ")),
                }
            }
            Ty::Struct(n) => {
                let fields = self.structs[*n].clone();
                let fields: Vec<String> = fields
                    .iter()
                    .enumerate()
                    .map(|(i, ty)| format!("f{i}: {}", self.constant(ty, depth.saturating_sub(1))))
                    .collect();
                format!("S{n} {{ {} }}", fields.join(", "))
            }
            Ty::Optional(inner) => match depth > 0 && self.random.chance(60) {
                true => self.constant(inner, depth - 1),
                false => "nil".into(),
            },
            Ty::Function(params, result) => {
                let params: Vec<String> =
                    params.iter().map(|ty| format!("{}: {}", self.name("q"), ty.text())).collect();
                let value = self.constant(result, depth.saturating_sub(1));
                format!("(fn({}) -> {} {{ return {value}; }})", params.join(", "), result.text())
            }
        }
    }

    /// An empty array whose type is known wherever it stands.
    fn empty(&mut self, ty: &Ty) -> String {
        format!("(fn() -> {} {{ return []; }})()", ty.text())
    }

    fn has_optional(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Optional(_) => true,
            Ty::Array(inner) => self.has_optional(inner),
            _ => false,
        }
    }

    fn int(&mut self, depth: usize) -> String {
        let swarm = self.swarm;
        let on = |switch: bool, weight: usize| if switch { weight } else { 0 };
        let weights = [
            40,
            on(swarm.division, 12),
            on(swarm.shifts, 10),
            10,
            8,
            on(swarm.arrays || swarm.strings, 6),
            on(swarm.floats, 4),
            6,
            6,
        ];
        match self.random.weighted(&weights) {
            0 => {
                let op = *self.random.pick(&["+", "-", "*", "&", "|", "^"]);
                self.chain(&Ty::Int, op, depth)
            }
            1 => {
                let op = *self.random.pick(&["/", "%"]);
                let left = self.expr(&Ty::Int, depth);
                let right = self.divisor(depth);
                format!("({left} {op} {right})")
            }
            2 => {
                let op = *self.random.pick(&["<<", ">>", ">>>"]);
                let left = self.expr(&Ty::Int, depth);
                let right = match self.random.chance(60) {
                    true => self.random.below(70).to_string(),
                    false => self.expr(&Ty::Int, depth),
                };
                format!("({left} {op} {right})")
            }
            3 => format!("(-{})", self.expr(&Ty::Int, depth)),
            4 => {
                let name = *self.random.pick(&["min", "max", "rotl", "rotr"]);
                let left = self.expr(&Ty::Int, depth);
                format!("{name}({left}, {})", self.expr(&Ty::Int, depth))
            }
            5 => {
                let ty = match self.swarm.strings && self.random.chance(50) {
                    true => Ty::Str,
                    false => Ty::Array(Box::new(self.any_type(0))),
                };
                format!("len({})", self.expr(&ty, depth))
            }
            6 => format!("int({})", self.expr(&Ty::Float, depth)),
            7 => format!("int({})", self.expr(&Ty::Bool, depth)),
            _ => {
                let name = *self.random.pick(&["abs", "popcount", "clz", "ctz", "~", "hide"]);
                format!("{name}({})", self.expr(&Ty::Int, depth))
            }
        }
    }

    /// A divisor that is zero only where traps are allowed.
    fn divisor(&mut self, depth: usize) -> String {
        match self.random.below(10) {
            0..5 => {
                let value = match self.random.below(4) {
                    0 if self.random.chance(60) => 1i64 << self.random.below(6),
                    0 => 1i64 << self.random.below(63),
                    1 => -(1i64 << self.random.below(63)),
                    2 => 1 + self.random.below(20) as i64,
                    _ => self.random.int(),
                };
                let value = if value == 0 { 3 } else { value };
                if value < 0 { format!("({value})") } else { value.to_string() }
            }
            5 if self.traps => self.expr(&Ty::Int, depth),
            _ => format!("({} | 1)", self.expr(&Ty::Int, depth)),
        }
    }

    /// Two or more operands of one operator.
    fn chain(&mut self, ty: &Ty, op: &str, depth: usize) -> String {
        let operands = 2 + self.random.below(2);
        let operands: Vec<String> = (0..operands).map(|_| self.expr(ty, depth)).collect();
        format!("({})", operands.join(&format!(" {op} ")))
    }

    fn float(&mut self, depth: usize) -> String {
        match self.random.below(8) {
            0..4 => {
                let op = *self.random.pick(&["+", "-", "*", "/"]);
                self.chain(&Ty::Float, op, depth)
            }
            4 => format!("(-{})", self.expr(&Ty::Float, depth)),
            5 => format!("float({})", self.expr(&Ty::Int, depth)),
            6 => {
                let name = *self.random.pick(&["min", "max", "pow", "atan2"]);
                let left = self.expr(&Ty::Float, depth);
                format!("{name}({left}, {})", self.expr(&Ty::Float, depth))
            }
            _ => {
                let names =
                    ["abs", "sqrt", "floor", "ceil", "trunc", "round", "sin", "exp", "float"];
                let name = *self.random.pick(&names);
                format!("{name}({})", self.expr(&Ty::Float, depth))
            }
        }
    }

    pub(super) fn bool(&mut self, depth: usize) -> String {
        match self.random.below(10) {
            0..5 => {
                let ty = self.comparable();
                let op = match ty {
                    Ty::Bool => *self.random.pick(&["==", "!="]),
                    _ => *self.random.pick(&["==", "!=", "<", "<=", ">", ">="]),
                };
                let left = self.expr(&ty, depth);
                format!("({left} {op} {})", self.expr(&ty, depth))
            }
            5 | 6 => {
                let op = *self.random.pick(&["&&", "||"]);
                self.chain(&Ty::Bool, op, depth)
            }
            7 => {
                let op = *self.random.pick(&["&", "|", "^"]);
                self.chain(&Ty::Bool, op, depth)
            }
            8 if self.swarm.optionals => match self.variable(|v| matches!(v.ty, Ty::Optional(_))) {
                Some(v) => format!("({} {} nil)", v.name, self.random.pick(&["==", "!="])),
                None => self.leaf(&Ty::Bool),
            },
            _ => format!("(!{})", self.expr(&Ty::Bool, depth)),
        }
    }

    fn comparable(&mut self) -> Ty {
        let on = |switch: bool, weight: usize| if switch { weight } else { 0 };
        let weights = [
            50,
            on(self.swarm.floats, 25),
            10,
            on(self.swarm.bytes, 10),
            on(self.swarm.strings, 10),
        ];
        [Ty::Int, Ty::Float, Ty::Bool, Ty::Byte, Ty::Str][self.random.weighted(&weights)].clone()
    }

    fn byte(&mut self, depth: usize) -> String {
        match self.random.below(6) {
            0..3 => {
                let op = *self.random.pick(&["+", "-", "*", "&", "|", "^"]);
                self.chain(&Ty::Byte, op, depth)
            }
            3 => {
                let op = *self.random.pick(&["<<", ">>", ">>>"]);
                let left = self.expr(&Ty::Byte, depth);
                format!("({left} {op} {})", self.expr(&Ty::Int, depth))
            }
            4 => format!("byte({})", self.expr(&Ty::Int, depth)),
            _ => {
                let op = *self.random.pick(&["/", "%"]);
                let left = self.expr(&Ty::Byte, depth);
                format!("({left} {op} ({} | byte(1)))", self.expr(&Ty::Byte, depth))
            }
        }
    }

    fn string(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 if self.random.chance(50) => {
                let left = self.leaf(&Ty::Str);
                format!("join({left}, {})", self.leaf(&Ty::Str))
            }
            0 => format!("({} + {})", self.constant(&Ty::Str, 0), self.leaf(&Ty::Str)),
            1 => {
                let ty = self.any_type(1);
                let value = self.expr(&ty, depth);
                if value == "nil" { "\"nil\"".into() } else { format!("short(str({value}))") }
            }
            2 => {
                let text = self.leaf(&Ty::Str);
                match self.traps && self.random.chance(30) {
                    true => format!("slice({text}, 0, {})", self.expr(&Ty::Int, depth)),
                    false => format!("slice({text}, 0, min(1, len({text})))"),
                }
            }
            _ => self.leaf(&Ty::Str),
        }
    }

    fn array(&mut self, element: &Ty, depth: usize) -> String {
        let array = Ty::Array(Box::new(element.clone()));
        match self.random.below(4) {
            0 | 1 => {
                let len = 1 + self.random.below(5);
                let items: Vec<String> = (0..len).map(|_| self.expr(element, depth)).collect();
                match self.has_optional(element) {
                    true => self.leaf(&array),
                    false => format!("[{}]", items.join(", ")),
                }
            }
            2 if !self.has_optional(element) => {
                format!("[{}; {}]", self.expr(element, depth), self.random.below(6))
            }
            _ => {
                let value = self.leaf(&array);
                format!("slice({value}, 0, len({value}) / 2)")
            }
        }
    }

    fn structure_value(&mut self, number: usize, depth: usize) -> String {
        let fields = self.structs[number].clone();
        let mut fields: Vec<String> = fields
            .iter()
            .enumerate()
            .map(|(i, ty)| {
                let value = if depth > 0 { self.expr(ty, depth) } else { self.leaf(ty) };
                format!("f{i}: {value}")
            })
            .collect();
        if self.random.chance(30) {
            fields.reverse();
        }
        format!("S{number} {{ {} }}", fields.join(", "))
    }

    fn closure(&mut self, params: &[Ty], result: &Ty, depth: usize) -> String {
        if self.in_closure {
            return self.leaf(&Ty::Function(params.to_vec(), Box::new(result.clone())));
        }
        let outer = self.scope.clone();
        // What is captured can't be assigned.
        for variable in &mut self.scope {
            variable.mutable = false;
        }
        self.in_closure = true;
        let mut names = Vec::new();
        for ty in params {
            let name = self.name("q");
            names.push(format!("{name}: {}", ty.text()));
            self.scope.push(Variable { name, ty: ty.clone(), mutable: true });
        }
        let value = self.expr(result, depth);
        self.in_closure = false;
        self.scope = outer;
        format!("(fn({}) -> {} {{ return {value}; }})", names.join(", "), result.text())
    }

    /// A field, element or unwrapped value of the type.
    fn access(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        match self.random.below(4) {
            0 => {
                let structs = self.structs.clone();
                let variable = self.variable(|v| match v.ty {
                    Ty::Struct(n) => structs[n].contains(ty),
                    _ => false,
                })?;
                let Ty::Struct(n) = variable.ty else { return None };
                let fields: Vec<usize> =
                    (0..structs[n].len()).filter(|&i| structs[n][i] == *ty).collect();
                Some(format!("{}.f{}", variable.name, self.random.pick(&fields)))
            }
            1 => {
                let wanted = Ty::Array(Box::new(ty.clone()));
                let array = self.variable(|v| v.ty == wanted)?.name;
                Some(self.element(&array, ty, depth))
            }
            2 => {
                let wanted = Ty::Optional(Box::new(ty.clone()));
                let variable = self.variable(|v| v.ty == wanted)?.name;
                self.traps.then(|| format!("{variable}!"))
            }
            _ => {
                let variable =
                    self.variable(|v| matches!(&v.ty, Ty::Function(_, result) if **result == *ty))?;
                let Ty::Function(params, _) = variable.ty else { return None };
                let args: Vec<String> = params.iter().map(|ty| self.leaf(ty)).collect();
                Some(format!("{}({})", variable.name, args.join(", ")))
            }
        }
    }

    /// An element that is there, or (where traps are allowed) may not be.
    fn element(&mut self, array: &str, ty: &Ty, depth: usize) -> String {
        if self.traps && self.random.chance(25) {
            return format!("{array}[{}]", self.expr(&Ty::Int, depth.min(2)));
        }
        let index = self.expr(&Ty::Int, depth.min(1));
        let other = self.constant(ty, 0);
        match self.random.chance(50) || self.has_optional(ty) {
            true => {
                let text = ty.text();
                format!(
                    "(fn(a: [{text}], i: int) -> {text} {{ if i >= 0 && i < len(a) {{ return a[i]; }} return {other}; }})({array}, {index})"
                )
            }
            false => format!("[{other}, {other}, {other}, {other}][({index}) & 3]"),
        }
    }

    /// A call of a function with this result.
    fn any_call(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let first = if self.function == usize::MAX { 0 } else { self.function };
        let fitting: Vec<usize> = (first..self.signatures.len())
            .filter(|&n| {
                self.signatures[n].result == *ty
                    && (n > first || self.function == usize::MAX || self.signatures[n].recursive)
            })
            .collect();
        if fitting.is_empty() || self.in_closure {
            return None;
        }
        let number = *self.random.pick(&fitting);
        if number == self.function {
            let args = self.arguments(number, depth.min(2));
            let mut args = args.into_iter();
            args.next();
            let rest: String = args.map(|arg| format!(", {arg}")).collect();
            let other = self.constant(ty, 0);
            let text = ty.text();
            if self.has_optional(ty) {
                return None;
            }
            let _ = text;
            return Some(format!(
                "[{other}, f{number}(max(depth - 1, 0){rest})][int(depth > 0) & int(fuel > 0)]"
            ));
        }
        Some(self.call(number, depth.min(2)))
    }

    /// A call of a function.
    pub(super) fn call(&mut self, number: usize, depth: usize) -> String {
        format!("f{number}({})", self.arguments(number, depth).join(", "))
    }

    fn arguments(&mut self, number: usize, depth: usize) -> Vec<String> {
        let signature = self.signatures[number].clone();
        signature
            .params
            .iter()
            .enumerate()
            .map(|(i, ty)| match signature.recursive && i == 0 {
                true => self.random.below(6).to_string(),
                false => self.expr(ty, depth),
            })
            .collect()
    }
}
