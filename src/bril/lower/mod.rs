//! Lowering: checked Bril to the variable form of the IR.
//!
//! A function becomes a function, a variable a variable. A pointer is two: the region (a reference
//! to a struct, see `toyjit_runtime::region`) and the index in it, so that moving a pointer is an
//! addition and a function that gets one gets two. The index of a pointer that a function gives
//! back stands in a global. The regions of each element type are a structure and an element class
//! of their own, so that stores to one never hide what loads of another gave.
//!
//! A variable that may be read without a value (`flow`) has a state beside it, an int: 0 where
//! nothing was assigned, 1 where `undef` was, 2 where it has a value; each read of it is preceded
//! by a look. `set`, `get` and `phi` go through variables of their own, the shadows.
//!
//! Beside the program's functions there is the script, which takes the arguments from the command
//! line, calls `main` and looks for memory that was not freed.
//!
//! Without checks a region is its buffer alone, and nothing is looked at.
//!
//! [`Program`] → [`Module`].

mod insts;
mod memory;
mod script;

use self::script::script_of;
use crate::bril::flow::{Flow, Place};
use crate::bril::program::{Base, Func, Function, Program, Ty, Var};
use crate::entity::Entity;
use crate::ir::module::{ElemClass, Global, GlobalData, Module, StructureData};
use crate::ir::{
    self, Block, Const, ENTRY, Edge, FuncRef, Loc, LocData, Op, Signature, Terminator, Type, Value,
    Variable,
};
use crate::source::Span;
use rustc_hash::FxHashMap;
use toyjit_runtime::{Rt, Slot};

/// How memory is lowered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checks {
    /// Each access is checked.
    #[default]
    On,
    /// None is: a wrong one does anything.
    Off,
}

/// The fields of a region's structure. A check speaks of its length, which changes only when it is
/// freed; how much of it is ready is a matter of the runtime and the machine code alone.
pub(super) const READY: u32 = 0;
pub(super) const LEN: u32 = 1;
pub(super) const DATA: u32 = 2;
pub(super) const OFFSETS: u32 = 3;
const FIELDS: [(&str, Slot); 7] = [
    ("ready", Slot::Int),
    ("len", Slot::Int),
    ("data", Slot::Ref),
    ("offsets", Slot::Ref),
    ("map", Slot::Ref),
    ("map_at", Slot::Int),
    ("beyond", Slot::Int),
];
/// What the elements of a region are: by its number its structure and its element class.
pub(super) const ELEMENTS: [(&str, Slot); 5] = [
    ("int", Slot::Int),
    ("bool", Slot::Bool),
    ("float", Slot::Float),
    ("char", Slot::Int),
    ("ptr", Slot::Ref),
];
/// The element class of the indices of pointers.
pub(super) const INDICES: ElemClass = ElemClass(ELEMENTS.len() as u32);
/// The index of the pointer that a function has given back.
const INDEX: Global = Global(0);

/// The states of a doubtful place.
const NOTHING: i64 = 0;
const UNDEF: i64 = 1;
const VALUE: i64 = 2;

/// Lowers a program.
pub fn lower(program: &Program, checks: Checks) -> Module {
    let mut module = Module::default();
    for (name, slot) in ELEMENTS {
        let fields = FIELDS.map(|(name, slot)| (name.to_owned(), slot)).to_vec();
        module.structures.push(StructureData { name: format!("region<{name}>"), fields });
        module.classes.push(slot);
    }
    module.classes.push(Slot::Int);
    module.globals.push(GlobalData::new("index", Slot::Int));
    let mut texts = FxHashMap::default();
    for (id, function) in program.functions.iter() {
        let lowered =
            Lowering::new(program, function, id, checks, &mut module, &mut texts).function();
        add(&mut module, lowered);
    }
    let script = FuncRef::new(module.functions.len());
    let lowered = script_of(program, checks, script);
    add(&mut module, lowered);
    module.script = Some(script);
    module
}

fn add(module: &mut Module, function: ir::Function) {
    module.names.push(Some(function.name.clone()));
    module.captures.push(Vec::new());
    module.functions.push(function);
}

/// The number of a type among [`ELEMENTS`].
pub(super) fn element(ty: Ty) -> u32 {
    if ty.is_pointer() { 4 } else { ty.base as u32 }
}

/// The IR type of a value that is no pointer.
fn type_of(base: Base) -> Type {
    match base {
        Base::Int | Base::Char => Type::Int,
        Base::Bool => Type::Bool,
        Base::Float => Type::Float,
    }
}

/// The IR types of a value.
fn types_of(ty: Ty) -> impl Iterator<Item = Type> {
    let first = if ty.is_pointer() { Type::Ref } else { type_of(ty.base) };
    std::iter::once(first).chain(ty.is_pointer().then_some(Type::Int))
}

/// The variables of a place.
#[derive(Clone, Copy)]
struct Home {
    ty: Ty,
    /// The value, or a pointer's region.
    value: Variable,
    /// A pointer's index.
    index: Option<Variable>,
    /// Whether it has a value, where that is in doubt.
    state: Option<Variable>,
}

struct Lowering<'a> {
    program: &'a Program,
    source: &'a Function,
    flow: Flow,
    checks: Checks,
    module: &'a mut Module,
    texts: &'a mut FxHashMap<String, ir::StrRef>,
    f: ir::Function,
    homes: Vec<Home>,
    /// The IR block of each node.
    blocks: Vec<Block>,
    block: Block,
    loc: Loc,
}

impl<'a> Lowering<'a> {
    fn new(
        program: &'a Program,
        source: &'a Function,
        id: Func,
        checks: Checks,
        module: &'a mut Module,
        texts: &'a mut FxHashMap<String, ir::StrRef>,
    ) -> Self {
        let params =
            source.params.iter().flat_map(|&param| types_of(source.vars[param].ty)).collect();
        let result = source.result.and_then(|ty| types_of(ty).next());
        let signature = Signature { params, result, env: false };
        Self {
            program,
            source,
            flow: Flow::of(source),
            checks,
            module,
            texts,
            f: ir::Function::new(&*source.name, FuncRef::new(id.index()), signature),
            homes: Vec::new(),
            blocks: Vec::new(),
            block: ENTRY,
            loc: Loc(0),
        }
    }

    fn function(mut self) -> ir::Function {
        self.make_homes();
        self.blocks = (0..self.flow.nodes.len())
            .map(|node| if node == 0 { ENTRY } else { self.f.add_block() })
            .collect();
        self.at(self.source.span);
        for &param in &self.source.params {
            let Home { ty, value, index, state } = self.homes[param.index()];
            for (ty, variable) in types_of(ty).zip([Some(value), index]) {
                let param = self.f.add_param(ENTRY, ty);
                variable.into_iter().for_each(|variable| self.copy(variable, param));
            }
            self.set_state(state, VALUE);
        }
        self.begin_doubtful();
        for node in 0..self.flow.nodes.len() {
            self.block = self.blocks[node];
            self.node(node);
        }
        self.f
    }

    fn make_homes(&mut self) {
        let source = self.source;
        let mut places: Vec<(String, Ty, Span)> =
            source.vars.values().map(|var| (var.name.clone(), var.ty, var.span)).collect();
        places.resize(self.flow.doubtful.len(), (String::new(), Ty::INT, Span::default()));
        let phis = self
            .flow
            .phis
            .iter()
            .filter_map(|(&at, &place)| source.code[at].kind.dest().map(|var| (place, var)));
        let gets = self.flow.gets.iter().map(|(&var, &place)| (place, var));
        for (place, var) in phis.chain(gets) {
            let var = &source.vars[var];
            places[place] = (format!("{}.shadow", var.name), var.ty, var.span);
        }
        for (place, (name, ty, span)) in places.into_iter().enumerate() {
            let index = ty
                .is_pointer()
                .then(|| self.f.add_variable(format!("{name}.index"), Type::Int, span));
            let state = self.flow.doubtful[place]
                .then(|| self.f.add_variable(format!("{name}.state"), Type::Int, span));
            let first = if ty.is_pointer() { Type::Ref } else { type_of(ty.base) };
            let value = self.f.add_variable(name, first, span);
            self.homes.push(Home { ty, value, index, state });
        }
    }

    /// Gives every doubtful place something at the beginning.
    fn begin_doubtful(&mut self) {
        let params: Vec<Place> = self.source.params.iter().map(|var| var.index()).collect();
        for place in 0..self.homes.len() {
            if self.flow.doubtful[place] && !params.contains(&place) {
                self.clear(place, NOTHING);
            }
        }
    }

    /// Makes a doubtful place one without a value.
    fn clear(&mut self, place: Place, state: i64) {
        let Home { value, index, state: variable, .. } = self.homes[place];
        for variable in [Some(value), index].into_iter().flatten() {
            if let Some(zero) = Const::from_bits(self.f.variables[variable].ty, 0) {
                let zero = self.f.constant(zero);
                self.copy(variable, zero);
            }
        }
        self.set_state(variable, state);
    }

    fn node(&mut self, node: usize) {
        let passes = std::mem::take(&mut self.flow.nodes[node].passes);
        for (shadow, from) in passes {
            match from {
                Some(var) => self.move_place(shadow, var.index()),
                None => self.set_state(self.homes[shadow].state, NOTHING),
            }
        }
        let code = self.flow.nodes[node].code.clone();
        for at in code.clone() {
            self.at(self.source.code[at].span);
            self.inst(node, at);
        }
        let ended = self.source.code[code].last().is_some_and(|inst| inst.kind.ends_block());
        match self.flow.nodes[node].succs.first() {
            _ if ended => {}
            Some(&next) => self.end(Terminator::Jump(Edge::to(self.blocks[next]))),
            None => {
                self.at(self.source.end);
                if self.source.result.is_some() {
                    let name = &self.source.name;
                    self.fail(&format!("@{name} ends without a value to give back"));
                } else {
                    self.end(Terminator::Return(None));
                }
            }
        }
    }

    // Pieces.

    fn at(&mut self, span: Span) {
        let function = self.f.id();
        let data = LocData { span, function, inlined_at: None };
        let last = Loc(self.f.locs.len() as u32 - 1);
        self.loc = if self.f.locs[last] == data { last } else { self.f.locs.push(data) };
    }

    fn end(&mut self, terminator: Terminator) {
        let block = &mut self.f.blocks[self.block];
        block.terminator = terminator;
        block.loc = self.loc;
    }

    fn assign(&mut self, variable: Variable, op: Op, args: &[Value], imm: u64) {
        self.f.append_assign(self.block, variable, op, args, imm, self.loc);
    }

    fn copy(&mut self, variable: Variable, value: Value) {
        self.assign(variable, Op::Copy, &[value], 0);
    }

    fn set_state(&mut self, state: Option<Variable>, value: i64) {
        if let Some(state) = state {
            let value = self.f.int(value);
            self.copy(state, value);
        }
    }

    fn op(&mut self, op: Op, args: &[Value], imm: u64, ty: Option<Type>) -> Value {
        let inst = self.f.append(self.block, op, args, imm, ty, self.loc);
        self.f.insts[inst].result.unwrap_or_else(|| args[0])
    }

    fn rt(&mut self, row: Rt, args: &[Value]) {
        self.f.append(self.block, Op::Rt, args, row as u64, None, self.loc);
    }

    fn variable(&self, variable: Variable) -> Value {
        self.f.variables[variable].value
    }

    /// A string literal.
    fn text(&mut self, text: &str) -> Value {
        let string = match self.texts.get(text) {
            Some(&string) => string,
            None => {
                let string = self.module.strings.push(text.as_bytes().into());
                self.texts.insert(text.to_owned(), string);
                string
            }
        };
        self.f.constant(Const::Str(string))
    }

    /// Ends the run with a message.
    fn fail(&mut self, message: &str) {
        let text = self.text(message);
        self.rt(Rt::Panic, &[text]);
        self.end(Terminator::Unreachable);
    }

    /// Goes on in a new block where a comparison holds, and in the one given back where not.
    fn unless(&mut self, op: Op, args: [Value; 2]) -> Block {
        let [good, bad] = [(); 2].map(|()| self.f.add_block());
        let edges = [Edge::to(good), Edge::to(bad)];
        self.end(Terminator::Branch { op, args, edges });
        self.block = good;
        bad
    }

    /// Fails with a message in the block at hand where `op` does not hold for a state.
    fn require(&mut self, state: Variable, op: Op, than: i64, messages: [&str; 2]) {
        let (state, than) = (self.variable(state), self.f.int(than));
        let bad = self.unless(op, [state, than]);
        let good = std::mem::replace(&mut self.block, bad);
        if messages[1].is_empty() {
            self.fail(messages[0]);
        } else {
            let nothing = self.f.int(NOTHING);
            let undef = self.unless(Op::IEq, [state, nothing]);
            self.fail(messages[0]);
            self.block = undef;
            self.fail(messages[1]);
        }
        self.block = good;
    }

    /// Looks whether a variable has a value, where that is in doubt; its home.
    fn home(&mut self, var: Var) -> Home {
        let mut home = self.homes[var.index()];
        let name = &self.source.vars[var].name;
        if let Some(state) = home.state {
            let messages = [
                format!("undefined variable `{name}`"),
                format!("`{name}` is undef, which has no value"),
            ];
            self.require(state, Op::IEq, VALUE, [&messages[0], &messages[1]]);
            if home.ty.is_pointer() {
                // It is not nil here, which no pass could know otherwise.
                let region = self.variable(home.value);
                let found = self.op(Op::CheckNil, &[region], 0, None);
                let name = format!("{name}.region");
                let variable = self.f.add_variable(name, Type::Ref, Span::default());
                self.copy(variable, found);
                home.value = variable;
            }
        }
        home
    }

    /// The value of a variable that is no pointer.
    fn scalar(&mut self, var: Var) -> Value {
        let home = self.home(var);
        self.variable(home.value)
    }

    /// Region and index of a pointer.
    fn pointer(&mut self, var: Var) -> [Value; 2] {
        let home = self.home(var);
        [self.variable(home.value), self.variable(home.index.unwrap_or(home.value))]
    }

    /// The words of a variable.
    fn words(&mut self, var: Var) -> impl Iterator<Item = Value> + use<> {
        let home = self.home(var);
        let index = home.index.map(|index| self.variable(index));
        std::iter::once(self.variable(home.value)).chain(index)
    }

    /// Copies a place to another with its state, which the caller has looked at.
    fn move_place(&mut self, to: Place, from: Place) {
        let (to, from) = (self.homes[to], self.homes[from]);
        let value = self.variable(from.value);
        self.copy(to.value, value);
        if let (Some(to), Some(from)) = (to.index, from.index) {
            let index = self.variable(from);
            self.copy(to, index);
        }
        match (to.state, from.state) {
            (Some(to), Some(from)) => {
                let state = self.variable(from);
                self.copy(to, state);
            }
            (to, _) => self.set_state(to, VALUE),
        }
    }

    /// Copies a variable to a place, `undef` too.
    fn copy_place(&mut self, to: Place, from: Place, message: &str) {
        if let Some(state) = self.homes[from].state {
            self.require(state, Op::INe, NOTHING, [message, ""]);
        }
        self.move_place(to, from);
    }

    /// The variable for a result, which has a value from now on.
    fn dest(&mut self, var: Var) -> Variable {
        let home = self.homes[var.index()];
        self.set_state(home.state, VALUE);
        home.value
    }
}
