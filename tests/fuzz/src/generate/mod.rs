//! Random Toy programs: well typed by construction, ending by construction.
//!
//! A type is chosen first, then an expression that has it. Loops have few rounds or count a hidden
//! variable; functions call only those with a larger number, or themselves with a smaller depth;
//! and every function and loop spends from a global `fuel`, so that no nesting of loops and calls
//! runs for long. About one program in six is allowed to trap.
//!
//! *Swarm testing* (Groce et al. 2012): each program switches off a random part of the
//! constructs, so that the others become dense.

mod bril;
mod expr;
mod idiom;
mod late;
mod random;
mod stmt;

pub use bril::bril;
pub use random::Random;
use std::fmt::Write;

/// A type of the generated program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Int,
    Float,
    Bool,
    Byte,
    Str,
    Array(Box<Ty>),
    Struct(usize),
    Optional(Box<Ty>),
    Function(Vec<Ty>, Box<Ty>),
}

impl Ty {
    fn text(&self) -> String {
        match self {
            Ty::Int => "int".into(),
            Ty::Float => "float".into(),
            Ty::Bool => "bool".into(),
            Ty::Byte => "byte".into(),
            Ty::Str => "str".into(),
            Ty::Array(element) => format!("[{}]", element.text()),
            Ty::Struct(n) => format!("S{n}"),
            Ty::Optional(inner) => match **inner {
                Ty::Function(..) => format!("({})?", inner.text()),
                _ => format!("{}?", inner.text()),
            },
            Ty::Function(params, result) => {
                let params: Vec<String> = params.iter().map(Ty::text).collect();
                format!("fn({}) -> {}", params.join(", "), result.text())
            }
        }
    }
}

/// A variable in scope.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    ty: Ty,
    mutable: bool,
}

/// A function that may be called.
#[derive(Clone, Debug)]
struct Signature {
    params: Vec<Ty>,
    result: Ty,
    /// Whether the first parameter is a depth that each call of itself makes smaller.
    recursive: bool,
}

/// The constructs that a program may have switched off.
#[derive(Clone, Copy, Debug)]
struct Swarm {
    floats: bool,
    bytes: bool,
    strings: bool,
    arrays: bool,
    structs: bool,
    optionals: bool,
    closures: bool,
    loops: bool,
    matches: bool,
    calls: bool,
    division: bool,
    shifts: bool,
}

/// What every program begins with: the fuel, a value that no compiler knows, and strings that don't
/// grow without bound.
const PRELUDE: &str = "\
var fuel = 400;
fn hide(x: int) -> int { if args().len() > 1000 { return hide(x + 1); } return x; }
fn tell(x: int) -> int { print(\"told\", x); return x; }
fn tree(n: int, d: int) -> int { if n < 2 { return n + 7 / d; } return tree(n - 1, d) + tree(n - 2, d); }
fn steps(n: int, d: int) -> int { if n < 1 { return 6 % d; } return steps(n - 1, d) + n; }
fn short(s: str) -> str { if s.len() > 200 { return slice(s, 0, 200); } return s; }
fn join(a: str, b: str) -> str { if a.len() + b.len() > 200 { return a; } return a + b; }
";

/// How large a program is to be.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Functions at most.
    pub functions: usize,
    /// Statements of a block at most.
    pub statements: usize,
    /// Nesting of expressions.
    pub depth: usize,
}

impl Size {
    /// The size of a seed's program: most are small, some are large.
    pub fn of(seed: u64) -> Self {
        match seed % 10 {
            0..5 => Self { functions: 2, statements: 4, depth: 3 },
            9 => Self { functions: 6, statements: 9, depth: 5 },
            _ => Self::default(),
        }
    }
}

impl Default for Size {
    fn default() -> Self {
        Self { functions: 5, statements: 6, depth: 4 }
    }
}

struct Generator {
    random: Random,
    out: String,
    indent: usize,
    swarm: Swarm,
    traps: bool,
    size: Size,
    structs: Vec<Vec<Ty>>,
    signatures: Vec<Signature>,
    globals: Vec<Variable>,
    scope: Vec<Variable>,
    /// The number of the function that is being written.
    function: usize,
    loops: usize,
    in_closure: bool,
    names: usize,
}

/// The program of a seed.
pub fn program(seed: u64, size: Size) -> String {
    let mut random = Random::new(seed);
    let mut on = || random.chance(70);
    let swarm = Swarm {
        floats: on(),
        bytes: on(),
        strings: on(),
        arrays: on(),
        structs: on(),
        optionals: on(),
        closures: on(),
        loops: on(),
        matches: on(),
        calls: on(),
        division: on(),
        shifts: on(),
    };
    let traps = random.chance(30);
    let generator = Generator {
        random,
        out: String::new(),
        indent: 0,
        swarm,
        traps,
        size,
        structs: Vec::new(),
        signatures: Vec::new(),
        globals: Vec::new(),
        scope: Vec::new(),
        function: 0,
        loops: 0,
        in_closure: false,
        names: 0,
    };
    generator.program()
}

impl Generator {
    fn program(mut self) -> String {
        self.out.push_str(PRELUDE);
        if self.swarm.structs {
            for _ in 0..=self.random.below(3) {
                self.structure();
            }
        }
        for _ in 0..self.random.below(5) {
            self.global();
        }
        let functions = 1 + self.random.below(self.size.functions);
        for _ in 0..functions {
            let recursive = self.random.chance(25);
            let most = if self.random.chance(10) { 14 } else { 5 };
            let count = self.random.below(most);
            let mut params: Vec<Ty> = (0..count).map(|_| self.any_type(2)).collect();
            if recursive {
                params.insert(0, Ty::Int);
            }
            let result = self.any_type(2);
            self.signatures.push(Signature { params, result, recursive });
        }
        for function in 0..functions {
            self.function(function);
        }
        self.script();
        self.out
    }

    fn structure(&mut self) {
        let number = self.structs.len();
        self.structs.push(Vec::new());
        let mut fields: Vec<Ty> = (0..self.random.below(5)).map(|_| self.any_type(1)).collect();
        // A field of the struct itself must be optional, or no value could be made.
        // One is enough: with two, what is printed of a circle doubles with each level of it.
        let mut refers = false;
        for field in &mut fields {
            if self.mentions(field, number) {
                let again = std::mem::replace(&mut refers, true);
                *field = if again { Ty::Int } else { Ty::Optional(Box::new(Ty::Struct(number))) };
            }
        }
        let text: Vec<String> =
            fields.iter().enumerate().map(|(i, ty)| format!("f{i}: {}", ty.text())).collect();
        self.line(&format!("struct S{number} {{ {} }}", text.join(", ")));
        self.structs[number] = fields;
    }

    fn mentions(&self, ty: &Ty, structure: usize) -> bool {
        match ty {
            Ty::Struct(n) => *n == structure,
            Ty::Array(inner) | Ty::Optional(inner) => self.mentions(inner, structure),
            Ty::Function(params, result) => {
                params.iter().any(|p| self.mentions(p, structure))
                    || self.mentions(result, structure)
            }
            _ => false,
        }
    }

    fn global(&mut self) {
        let ty = self.any_type(2);
        let name = self.name("g");
        let value = self.constant(&ty, 2);
        self.line(&format!("var {name}: {} = {value};", ty.text()));
        self.globals.push(Variable { name, ty, mutable: true });
    }

    fn function(&mut self, number: usize) {
        let signature = self.signatures[number].clone();
        self.function = number;
        self.scope.clear();
        let mut params = Vec::new();
        for (i, ty) in signature.params.iter().enumerate() {
            let name = if signature.recursive && i == 0 { "depth".into() } else { self.name("p") };
            params.push(format!("{name}: {}", ty.text()));
            let mutable = !(signature.recursive && i == 0);
            self.scope.push(Variable { name, ty: ty.clone(), mutable });
        }
        let head = format!("fn f{number}({}) -> {} {{", params.join(", "), signature.result.text());
        self.open(&head);
        let rest = self.constant(&signature.result, 1);
        self.line("fuel -= 1;");
        self.line(&format!("if fuel < 0 {{ return {rest}; }}"));
        let statements = 1 + self.random.below(self.size.statements);
        self.statements(statements, 3);
        let value = self.expr(&signature.result, self.size.depth);
        self.line(&format!("return {value};"));
        self.close();
    }

    fn script(&mut self) {
        self.scope.clear();
        self.function = usize::MAX;
        let statements = 2 + self.random.below(self.size.statements * 2);
        self.statements(statements, 3);
        for number in 0..self.signatures.len() {
            let call = self.call(number, 2);
            self.line(&format!("print(\"f{number}\", {call});"));
        }
        let globals = self.globals.clone();
        for global in &globals {
            self.line(&format!("print(\"{0}\", {0});", global.name));
        }
        let scope = self.scope.clone();
        for variable in &scope {
            self.line(&format!("print(\"{0}\", {0});", variable.name));
        }
    }

    /// A type of values; deeper ones where `depth` allows.
    fn any_type(&mut self, depth: usize) -> Ty {
        let swarm = self.swarm;
        let on = |switch: bool, weight: usize| if switch { weight } else { 0 };
        let deep = depth > 0;
        let weights = [
            30,
            on(swarm.floats, 14),
            12,
            on(swarm.bytes, 8),
            on(swarm.strings, 8),
            on(swarm.arrays && deep, 12),
            on(!self.structs.is_empty(), 10),
            on(swarm.optionals && deep, 6),
            on(swarm.closures && deep, 4),
        ];
        match self.random.weighted(&weights) {
            0 => Ty::Int,
            1 => Ty::Float,
            2 => Ty::Bool,
            3 => Ty::Byte,
            4 => Ty::Str,
            5 => Ty::Array(Box::new(self.any_type(depth - 1))),
            6 => Ty::Struct(self.random.below(self.structs.len())),
            7 => loop {
                let inner = self.any_type(depth - 1);
                match inner {
                    Ty::Str | Ty::Array(_) | Ty::Struct(_) | Ty::Function(..) => {
                        return Ty::Optional(Box::new(inner));
                    }
                    _ if !swarm.strings && !swarm.arrays && self.structs.is_empty() => {
                        return Ty::Int;
                    }
                    _ if depth == 1 && !swarm.strings && self.structs.is_empty() => return Ty::Int,
                    _ => {}
                }
            },
            _ => {
                let params = (0..self.random.below(3)).map(|_| self.any_type(0)).collect();
                Ty::Function(params, Box::new(self.any_type(0)))
            }
        }
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", self.indent * 4);
    }

    fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }
}
