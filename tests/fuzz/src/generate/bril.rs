//! Random Bril programs: graphs of any shape over variables, memory, shadows and phis.
//!
//! Control flow is anything that a graph can be. Most variables are assigned at the beginning, some
//! are not, so that a run may read what has no value; most accesses of memory are in bounds of what
//! was stored, some are not. Every block takes from a counter in memory, which each function is
//! given, and where that is spent the function ends: so every program ends. Functions call later
//! ones only.

use super::Random;
use std::fmt::Write;

/// The variables of a function: their types, and how many there are of each.
const POOL: [(&str, &str, usize); 7] = [
    ("i", "int", 5),
    ("b", "bool", 3),
    ("x", "float", 3),
    ("c", "char", 2),
    ("p", "ptr<int>", 2),
    ("q", "ptr<bool>", 1),
    ("r", "ptr<ptr<int>>", 1),
];
/// Elements of the regions that a function begins with.
const SIZE: usize = 4;

/// The text of a seed.
pub fn bril(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xB811);
    let functions = 1 + random.below(4);
    let heads: Vec<Head> = (0..functions).map(|_| Head::new(&mut random)).collect();
    let mut text = String::from("@main {\n  n: int = const 1;\n  fuel: ptr<int> = alloc n;\n");
    let fuel = 20 + random.below(200);
    let _ = writeln!(text, "  n: int = const {fuel};\n  store fuel n;");
    let mut body =
        Body { random: &mut random, heads: &heads, number: 0, text, next: 0, missing: Vec::new() };
    body.begin(false);
    body.call(0);
    body.text.push_str("  free fuel;\n  free p0;\n  free q0;\n  free r0;\n  free p1;\n}\n");
    let mut text = body.text;
    for number in 0..functions {
        let mut body = Body {
            random: &mut random,
            heads: &heads,
            number: number + 1,
            text: String::new(),
            next: 0,
            missing: Vec::new(),
        };
        body.function();
        text.push_str(&body.text);
    }
    text
}

/// The type of a function.
struct Head {
    params: Vec<usize>,
    result: Option<usize>,
}

impl Head {
    fn new(random: &mut Random) -> Self {
        let params = (0..random.below(5)).map(|_| random.below(POOL.len())).collect();
        Self { params, result: random.chance(70).then(|| random.below(POOL.len())) }
    }
}

struct Body<'a> {
    random: &'a mut Random,
    heads: &'a [Head],
    /// Which function this is; functions from here on may be called.
    number: usize,
    text: String,
    next: usize,
    /// The variables that are not assigned at the beginning.
    missing: Vec<(usize, String)>,
}

impl Body<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn var(&mut self, kind: usize) -> String {
        let (name, _, count) = POOL[kind];
        format!("{name}{}", self.random.below(count))
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("t{}", self.next)
    }

    fn constant(&mut self, kind: usize) -> String {
        match kind {
            0 if self.random.chance(60) => (self.random.below(9) as i64 - 2).to_string(),
            0 => self.random.int().to_string(),
            1 => self.random.chance(50).to_string(),
            2 => {
                let value = self.random.below(64) as f64 / 8.0 - 2.0;
                format!("{value:?}")
            }
            _ => format!("'{}'", char::from(b'a' + self.random.below(26) as u8)),
        }
    }

    fn assign_constant(&mut self, kind: usize, name: &str) {
        let constant = self.constant(kind);
        let ty = POOL[kind].1;
        self.line(&format!("{name}: {ty} = const {constant};"));
    }

    /// Gives the variables their first values, and makes regions; those that are `given` stay.
    fn begin(&mut self, some_missing: bool) {
        for (kind, &(name, _, count)) in POOL.iter().enumerate().take(4) {
            for number in 0..count {
                let name = format!("{name}{number}");
                if !some_missing || self.random.chance(98) {
                    self.assign_constant(kind, &name);
                } else {
                    self.missing.push((kind, name));
                }
            }
        }
        self.line(&format!("size: int = const {SIZE};"));
        for (name, ty) in
            [("p0", "ptr<int>"), ("p1", "ptr<int>"), ("q0", "ptr<bool>"), ("r0", "ptr<ptr<int>>")]
        {
            self.line(&format!("{name}: {ty} = alloc size;"));
            self.line(&format!("own.{name}: {ty} = id {name};"));
            let holes = some_missing && self.random.chance(20);
            for index in 0..SIZE {
                if holes && self.random.chance(40) {
                    continue;
                }
                self.line(&format!("at: int = const {index};"));
                self.line(&format!("{name}.at: {ty} = ptradd {name} at;"));
                let value = match name {
                    "q0" => self.var(1),
                    "r0" => self.var(4),
                    _ => "at".to_owned(),
                };
                self.line(&format!("store {name}.at {value};"));
            }
        }
    }

    fn function(&mut self) {
        let head = &self.heads[self.number - 1];
        let mut params = vec!["fuel: ptr<int>".to_owned()];
        params.extend(
            head.params.iter().enumerate().map(|(n, &kind)| format!("a{n}: {}", POOL[kind].1)),
        );
        let result = head.result.map(|kind| format!(": {}", POOL[kind].1)).unwrap_or_default();
        let number = self.number - 1;
        let _ = writeln!(self.text, "@f{number}({}){result} {{", params.join(", "));
        self.begin(true);
        for (number, &kind) in head.params.iter().enumerate() {
            let (to, ty) = (self.var(kind), POOL[kind].1);
            self.line(&format!("{to}: {ty} = id a{number};"));
        }
        for kind in [0, 1, 2, 4] {
            if self.random.chance(95) {
                let value = self.var(kind);
                self.line(&format!("set g{kind} {value};"));
            }
        }
        let blocks = 1 + self.random.below(8);
        let mut gets = vec![0, 1, 2, 4];
        for block in 0..blocks {
            self.block(block, blocks, &mut gets);
        }
        let _ = writeln!(self.text, ".exit:");
        if self.random.chance(60) {
            let shown: Vec<String> = (0..4).map(|kind| self.var(kind)).collect();
            self.line(&format!("print {};", shown.join(" ")));
        }
        let keeps = match head.result {
            Some(kind) if kind >= 4 => Some(self.var(kind)),
            _ => None,
        };
        for name in ["p0", "p1", "q0", "r0"] {
            if keeps.is_none() && self.random.chance(97) {
                self.line(&format!("free own.{name};"));
            }
        }
        match (head.result, keeps) {
            (_, Some(pointer)) => self.line(&format!("ret {pointer};")),
            (Some(kind), None) => {
                let value = self.var(kind);
                self.line(&format!("ret {value};"));
            }
            (None, None) => self.line("ret;"),
        }
        // Each variable is assigned somewhere.
        for (kind, name) in std::mem::take(&mut self.missing) {
            self.assign_constant(kind, &name);
        }
        self.text.push_str("}\n");
    }

    fn block(&mut self, block: usize, blocks: usize, gets: &mut Vec<usize>) {
        let _ = writeln!(self.text, ".b{block}:");
        // The first has a way in without a label.
        while self.random.chance(if block == 0 { 1 } else { 15 }) {
            self.phi(blocks);
        }
        if self.random.chance(25)
            && let Some(kind) = gets.pop()
        {
            let ty = POOL[kind].1;
            self.line(&format!("g{kind}: {ty} = get;"));
            let to = self.var(kind);
            self.line(&format!("{to}: {ty} = id g{kind};"));
        }
        for (name, op) in [("left: int", "load fuel"), ("one: int", "const 1")] {
            self.line(&format!("{name} = {op};"));
        }
        self.line("left: int = sub left one;");
        self.line("store fuel left;");
        self.line("zero: int = const 0;");
        self.line("more: bool = gt left zero;");
        self.line(&format!("br more .go{block} .exit;"));
        let _ = writeln!(self.text, ".go{block}:");
        for _ in 0..self.random.below(9) {
            self.inst();
        }
        let target = |random: &mut Random| match random.below(blocks + 1) {
            at if at == blocks => ".exit".to_owned(),
            at => format!(".b{at}"),
        };
        match self.random.below(10) {
            0 => {}
            1 | 2 => {
                let to = target(self.random);
                self.line(&format!("jmp {to};"));
            }
            _ => {
                let (yes, no) = (target(self.random), target(self.random));
                let condition = self.var(1);
                self.line(&format!("br {condition} {yes} {no};"));
            }
        }
    }

    fn phi(&mut self, blocks: usize) {
        let kind = self.random.below(POOL.len());
        let (to, ty) = (self.var(kind), POOL[kind].1);
        let mut ways = String::new();
        for block in 0..blocks {
            if self.random.chance(99) {
                let _ = write!(ways, " .go{block} {}", self.var(kind));
            }
        }
        self.line(&format!("{to}: {ty} = phi{ways};"));
    }

    fn inst(&mut self) {
        const INTS: [&str; 3] = ["add", "sub", "mul"];
        const COMPARE: [&str; 5] = ["eq", "lt", "gt", "le", "ge"];
        match self.random.below(22) {
            0..=2 => self.binary(0, 0, &INTS, ""),
            3 => {
                let divisor = self.fresh();
                self.assign_constant(0, &divisor);
                let (to, a) = (self.var(0), self.var(0));
                let by = if self.random.chance(85) { divisor } else { self.var(0) };
                self.line(&format!("{to}: int = div {a} {by};"));
            }
            4 | 5 => self.binary(0, 1, &COMPARE, ""),
            6 => self.binary(2, 2, &["fadd", "fsub", "fmul", "fdiv"], ""),
            7 => self.binary(2, 1, &COMPARE, "f"),
            8 => self.binary(3, 1, &COMPARE, "c"),
            9 => self.binary(1, 1, &["and", "or"], ""),
            10 => {
                let (to, from) = (self.var(1), self.var(1));
                self.line(&format!("{to}: bool = not {from};"));
            }
            11 => {
                let kind = self.random.below(4);
                let to = self.var(kind);
                self.assign_constant(kind, &to);
            }
            12 => {
                let kind = self.random.below(POOL.len());
                let (to, from, ty) = (self.var(kind), self.var(kind), POOL[kind].1);
                self.line(&format!("{to}: {ty} = id {from};"));
            }
            13 => {
                let kind = [0, 1, 2, 4][self.random.below(4)];
                let from = self.var(kind);
                self.line(&format!("set g{kind} {from};"));
            }
            14 => {
                let shown: Vec<String> =
                    (0..self.random.below(4)).map(|kind| self.var(kind)).collect();
                self.line(&format!("print {};", shown.join(" ")));
            }
            15 if self.random.chance(20) => {
                let kind = self.random.below(POOL.len());
                let (to, ty) = (self.var(kind), POOL[kind].1);
                self.line(&format!("{to}: {ty} = undef;"));
            }
            15 => {
                let (i, c, x) = (self.var(0), self.var(3), self.var(2));
                match self.random.below(6) {
                    0 => self.line(&format!("{i}: int = char2int {c};")),
                    1 => {
                        let number = self.fresh();
                        let value = self.random.below(0xD7FF);
                        self.line(&format!("{number}: int = const {value};"));
                        self.line(&format!("{c}: char = int2char {number};"));
                    }
                    2 => self.line(&format!("{i}: int = bitcast {x};")),
                    3 => self.line(&format!("{i}: int = float2bits {x};")),
                    4 => self.line(&format!("{x}: float = bits2float {i};")),
                    _ => self.line(&format!("{x}: float = bitcast {i};")),
                }
            }
            16..=20 => self.memory(),
            _ => {
                if self.number < self.heads.len() {
                    let callee = self.number + self.random.below(self.heads.len() - self.number);
                    self.call(callee);
                }
            }
        }
    }

    fn binary(&mut self, from: usize, to: usize, ops: &[&str], before: &str) {
        let (dest, a, b) = (self.var(to), self.var(from), self.var(from));
        let (op, ty) = (*self.random.pick(ops), POOL[to].1);
        self.line(&format!("{dest}: {ty} = {before}{op} {a} {b};"));
    }

    fn memory(&mut self) {
        let kind = 4 + self.random.below(3);
        let ty = POOL[kind].1;
        let inner = [0, 1, 4][kind - 4];
        let pointer = self.var(kind);
        if self.random.chance(3) {
            return self.line(&format!("free {pointer};"));
        }
        if self.random.chance(4) {
            let size = self.fresh();
            let count = self.random.below(6);
            self.line(&format!("{size}: int = const {count};"));
            return self.line(&format!("{pointer}: {ty} = alloc {size};"));
        }
        let index = self.fresh();
        let far = self.random.chance(2);
        let at = self.random.below(if far { SIZE + 2 } else { SIZE }) as i64 - i64::from(far);
        self.line(&format!("{index}: int = const {at};"));
        if self.random.chance(4) {
            // The rest of a division by 2: an index that nobody knows beforehand, 0 or next to it.
            let (some, half) = (self.var(0), self.fresh());
            self.line(&format!("{index}: int = const 2;"));
            self.line(&format!("{half}: int = div {some} {index};"));
            self.line(&format!("{half}: int = mul {half} {index};"));
            self.line(&format!("{index}: int = sub {some} {half};"));
        }
        let place = self.fresh();
        self.line(&format!("{place}: {ty} = ptradd {pointer} {index};"));
        let value = self.var(inner);
        if self.random.chance(10) {
            self.line(&format!("{pointer}: {ty} = id {place};"));
        } else if self.random.chance(50) {
            self.line(&format!("store {place} {value};"));
        } else {
            let ty = POOL[inner].1;
            self.line(&format!("{value}: {ty} = load {place};"));
        }
    }

    fn call(&mut self, callee: usize) {
        let Head { params, result } = &self.heads[callee];
        let args: Vec<String> = params.iter().map(|&kind| self.var(kind)).collect();
        let call = format!("call @f{callee} fuel {};", args.join(" "));
        match *result {
            Some(kind) => {
                let (to, ty) = (self.var(kind), POOL[kind].1);
                self.line(&format!("{to}: {ty} = {call}"));
            }
            None => self.line(&call),
        }
    }
}
