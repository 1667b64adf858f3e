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

use super::flow::{Flow, Place};
use super::program::{Base, BinaryOp, Constant, Func, Function, Kind, Program, Ty, UnaryOp, Var};
use crate::entity::Entity;
use crate::ir::module::{ElemClass, Global, GlobalData, Module, Structure, StructureData};
use crate::ir::{
    self, Block, Const, ENTRY, Edge, FuncRef, Loc, LocData, Op, Signature, Terminator, Type, Value,
    Variable, field_imm,
};
use crate::source::Span;
use rustc_hash::FxHashMap;
use toyjit_runtime::layout::BUFFER_ELEMENTS;
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

/// What comes before and after `main`.
fn script_of(program: &Program, checks: Checks, id: FuncRef) -> ir::Function {
    let mut f = ir::Function::new("start", id, Signature::default());
    let loc = Loc(0);
    if let Some(main) = program.main {
        let of = &program.functions[main];
        let count = f.int(of.params.len() as i64);
        let at = f.locs.push(LocData { span: of.span, function: id, inlined_at: None });
        f.append(ENTRY, Op::Rt, &[count], Rt::BrilArgs as u64, None, at);
        let mut args = Vec::new();
        for (number, &param) in of.params.iter().enumerate() {
            let base = of.vars[param].ty.base;
            let kind = f.int(base as i64);
            let number = f.int(number as i64);
            let row = Rt::BrilArg as u64;
            let inst = f.append(ENTRY, Op::Rt, &[kind, number], row, Some(Type::Int), at);
            let word = f.insts[inst].result.unwrap_or(number);
            args.push(match base {
                Base::Int | Base::Char => word,
                Base::Bool => {
                    let zero = f.int(0);
                    result(&mut f, Op::INe, &[word, zero], 0, None)
                }
                Base::Float => {
                    let row = Rt::FloatOfBits as u64;
                    result(&mut f, Op::Rt, &[word], row, Some(Type::Float))
                }
            });
        }
        f.append(ENTRY, Op::Call, &args, main.index() as u64, None, at);
        if checks == Checks::On {
            f.append(ENTRY, Op::Rt, &[], Rt::RegionLeaks as u64, None, loc);
        }
    }
    f.blocks[ENTRY].terminator = Terminator::Return(None);
    f
}

fn result(f: &mut ir::Function, op: Op, args: &[Value], imm: u64, ty: Option<Type>) -> Value {
    let inst = f.append(ENTRY, op, args, imm, ty, Loc(0));
    f.insts[inst].result.unwrap_or(args[0])
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

    // Instructions.

    fn inst(&mut self, node: usize, at: usize) {
        let source = self.source;
        match &source.code[at].kind {
            Kind::Const(dest, constant) => {
                let constant = match *constant {
                    Constant::Int(value) => Const::Int(value),
                    Constant::Bool(value) => Const::Bool(value),
                    Constant::Float(value) => Const::Float(value.to_bits()),
                    Constant::Char(value) => Const::Int(i64::from(u32::from(value))),
                };
                let value = self.f.constant(constant);
                let dest = self.dest(*dest);
                self.copy(dest, value);
            }
            &Kind::Unary(op, dest, arg) => self.unary(op, dest, arg),
            &Kind::Binary(op, dest, [a, b]) => self.binary(op, dest, a, b),
            &Kind::Id(dest, arg) => self.named_copy(dest.index(), arg),
            &Kind::Bitcast(dest, arg) => self.bitcast(dest, arg),
            Kind::Jmp(_) => {
                let target = self.blocks[self.flow.nodes[node].succs[0]];
                self.end(Terminator::Jump(Edge::to(target)));
            }
            &Kind::Br(arg, _) => {
                let arg = self.scalar(arg);
                let no = self.f.constant(Const::Bool(false));
                let succs = &self.flow.nodes[node].succs;
                let edges = [succs[0], succs[1]].map(|succ| Edge::to(self.blocks[succ]));
                self.end(Terminator::Branch { op: Op::INe, args: [arg, no], edges });
            }
            Kind::Ret(None) => self.end(Terminator::Return(None)),
            &Kind::Ret(Some(arg)) => {
                let mut words = self.words(arg);
                let value = words.next();
                if let Some(index) = words.next() {
                    let imm = u64::from(INDEX.0);
                    self.f.append(self.block, Op::StoreGlobal, &[index], imm, None, self.loc);
                }
                self.end(Terminator::Return(value));
            }
            Kind::Call(dest, callee, args) => self.call(*dest, *callee, args),
            Kind::Print(args) => self.print(args),
            Kind::Nop => {}
            &Kind::Alloc(dest, count) => self.alloc(dest, count),
            &Kind::Free(pointer) => self.free(pointer),
            &Kind::Store(pointer, value) => self.store(pointer, value),
            &Kind::Load(dest, pointer) => self.load(dest, pointer),
            &Kind::PtrAdd(dest, pointer, by) => {
                let [region, index] = self.pointer(pointer);
                let by = self.scalar(by);
                let home = self.homes[dest.index()];
                home.index.into_iter().for_each(|to| self.assign(to, Op::IAdd, &[index, by], 0));
                let dest = self.dest(dest);
                if self.variable(dest) != region {
                    self.copy(dest, region);
                }
            }
            Kind::Phi(dest, _) => {
                let name = &source.vars[*dest].name;
                let message = format!("the `phi` of `{name}` has no value for the way here");
                self.copy_place(dest.index(), self.flow.phis[&at], &message);
            }
            &Kind::Get(dest) => {
                let name = &source.vars[dest].name;
                let message = format!("`get` of `{name}` without a `set` before");
                self.copy_place(dest.index(), self.flow.gets[&dest], &message);
            }
            &Kind::Set(shadow, value) => match shadow {
                Some(shadow) => self.named_copy(self.flow.gets[&shadow], value),
                None => {
                    let name = &source.vars[value].name;
                    let message = format!("undefined variable `{name}`");
                    if let Some(state) = self.homes[value.index()].state {
                        self.require(state, Op::INe, NOTHING, [&message, ""]);
                    }
                }
            },
            &Kind::Undef(dest) => self.clear(dest.index(), UNDEF),
        }
    }

    fn named_copy(&mut self, to: Place, from: Var) {
        let message = format!("undefined variable `{}`", self.source.vars[from].name);
        self.copy_place(to, from.index(), &message);
    }

    fn unary(&mut self, op: UnaryOp, dest: Var, arg: Var) {
        let arg = self.scalar(arg);
        let dest = self.dest(dest);
        match op {
            UnaryOp::Not => {
                let yes = self.f.constant(Const::Bool(true));
                self.assign(dest, Op::IXor, &[arg, yes], 0);
            }
            UnaryOp::CharToInt => self.copy(dest, arg),
            UnaryOp::IntToChar => self.assign(dest, Op::Rt, &[arg], Rt::CharOf as u64),
        }
    }

    fn binary(&mut self, op: BinaryOp, dest: Var, a: Var, b: Var) {
        let (a, mut b) = (self.scalar(a), self.scalar(b));
        use BinaryOp::*;
        let op = match op {
            Add => Op::IAdd,
            Sub => Op::ISub,
            Mul => Op::IMul,
            Div => {
                b = self.op(Op::CheckDiv, &[b], 0, None);
                Op::SDiv
            }
            Eq | CEq => Op::IEq,
            Lt | CLt => Op::ILt,
            Gt | CGt => Op::IGt,
            Le | CLe => Op::ILe,
            Ge | CGe => Op::IGe,
            And => Op::IAnd,
            Or => Op::IOr,
            FAdd => Op::FAdd,
            FSub => Op::FSub,
            FMul => Op::FMul,
            FDiv => Op::FDiv,
            FEq => Op::FEq,
            FLt => Op::FLt,
            FGt => Op::FGt,
            FLe => Op::FLe,
            FGe => Op::FGe,
        };
        let dest = self.dest(dest);
        self.assign(dest, op, &[a, b], 0);
    }

    fn bitcast(&mut self, dest: Var, arg: Var) {
        let row = match (self.source.vars[arg].ty, self.source.vars[dest].ty) {
            (Ty::FLOAT, Ty::INT) => Rt::FloatBits,
            (Ty::INT, Ty::FLOAT) => Rt::FloatOfBits,
            _ => {
                self.home(arg);
                return self.move_place(dest.index(), arg.index());
            }
        };
        let arg = self.scalar(arg);
        let dest = self.dest(dest);
        self.assign(dest, Op::Rt, &[arg], row as u64);
    }

    fn call(&mut self, dest: Option<Var>, callee: Func, args: &[Var]) {
        let mut words = Vec::with_capacity(args.len());
        for &arg in args {
            words.extend(self.words(arg));
        }
        let imm = callee.index() as u64;
        let Some(dest) = dest else {
            self.f.append(self.block, Op::Call, &words, imm, None, self.loc);
            return;
        };
        let home = self.homes[dest.index()];
        let dest = self.dest(dest);
        self.assign(dest, Op::Call, &words, imm);
        if let Some(index) = home.index {
            self.assign(index, Op::LoadGlobal, &[], u64::from(INDEX.0));
        }
        debug_assert_eq!(self.program.functions[callee].result, Some(home.ty));
    }

    fn print(&mut self, args: &[Var]) {
        // Nothing is printed where an argument has no value.
        args.iter().for_each(|&arg| _ = self.home(arg));
        for (number, &arg) in args.iter().enumerate() {
            if number > 0 {
                self.rt(Rt::PrintSpace, &[]);
            }
            let ty = self.source.vars[arg].ty;
            let home = self.homes[arg.index()];
            if let Some(index) = home.index {
                let index = self.variable(index);
                let open = self.text("[");
                self.rt(Rt::PrintRef, &[open]);
                self.rt(Rt::PrintInt, &[index]);
                let close = self.text("]");
                self.rt(Rt::PrintRef, &[close]);
                continue;
            }
            let value = self.variable(home.value);
            let row = match ty.base {
                Base::Int => Rt::PrintInt,
                Base::Bool => Rt::PrintBool,
                Base::Float => Rt::PrintBrilFloat,
                Base::Char => Rt::PrintChar,
            };
            self.rt(row, &[value]);
        }
        self.rt(Rt::PrintNewline, &[]);
    }

    // Memory.

    fn alloc(&mut self, dest: Var, count: Var) {
        let count = self.scalar(count);
        let home = self.homes[dest.index()];
        let Some(pointee) = home.ty.pointee() else { return };
        let number = element(pointee);
        let slot = self.f.int(ELEMENTS[number as usize].1 as i64);
        let row = Rt::RegionNew as u64;
        let data = self.op(Op::Rt, &[slot, count], row, Some(Type::Ref));
        let offsets = match pointee.is_pointer() {
            true => self.op(Op::Rt, &[count], Rt::RegionOffsets as u64, Some(Type::Ref)),
            false => self.f.constant(Const::Nil),
        };
        let variable = self.dest(dest);
        if self.checks == Checks::Off && !pointee.is_pointer() {
            self.copy(variable, data);
        } else {
            let map = if pointee.is_pointer() { offsets } else { data };
            let map_at = self.map_at(count, ELEMENTS[number as usize].1);
            let zero = self.f.int(0);
            let fields = [zero, count, data, offsets, map, map_at, zero];
            self.assign(variable, Op::NewStruct, &fields, u64::from(number));
        }
        if let Some(index) = home.index {
            let zero = self.f.int(0);
            self.copy(index, zero);
        }
    }

    /// Where the elements of a buffer end.
    fn map_at(&mut self, count: Value, slot: Slot) -> Value {
        let bytes = match slot {
            Slot::Bool | Slot::Byte => {
                let (seven, mask) = (self.f.int(7), self.f.int(-8));
                let more = self.op(Op::IAdd, &[count, seven], 0, None);
                self.op(Op::IAnd, &[more, mask], 0, None)
            }
            Slot::Int | Slot::Float | Slot::Ref => {
                let three = self.f.int(3);
                self.op(Op::Shl, &[count, three], 0, None)
            }
        };
        let start = self.f.int(BUFFER_ELEMENTS as i64);
        self.op(Op::IAdd, &[bytes, start], 0, None)
    }

    fn free(&mut self, pointer: Var) {
        let [region, index] = self.pointer(pointer);
        let Some(pointee) = self.source.vars[pointer].ty.pointee() else { return };
        if self.checks == Checks::Off {
            return;
        }
        let structure = Structure(element(pointee));
        let len = field_imm(structure, LEN);
        let held = self.op(Op::LoadField, &[region], len, Some(Type::Int));
        self.rt(Rt::RegionFree, &[region, index, held]);
        let zero = self.f.int(0);
        self.f.append(self.block, Op::StoreField, &[region, zero], len, None, self.loc);
    }

    /// The buffers of a region of such elements, and the index in them, checked by `check`.
    fn place(
        &mut self,
        check: Op,
        [region, mut index]: [Value; 2],
        pointee: Ty,
    ) -> (Value, Option<Value>, Value) {
        let structure = Structure(element(pointee));
        let field = |lowering: &mut Self, field| {
            lowering.op(Op::LoadField, &[region], field_imm(structure, field), Some(Type::Ref))
        };
        if self.checks == Checks::Off && !pointee.is_pointer() {
            return (region, None, index);
        }
        if self.checks == Checks::On {
            index = self.op(check, &[region, index], field_imm(structure, LEN), None);
        }
        let data = field(self, DATA);
        let offsets = pointee.is_pointer().then(|| field(self, OFFSETS));
        (data, offsets, index)
    }

    fn store(&mut self, pointer: Var, value: Var) {
        let pointer_ty = self.source.vars[pointer].ty;
        let Some(pointee) = pointer_ty.pointee() else { return };
        let words = self.pointer(pointer);
        let values: Vec<Value> = self.words(value).collect();
        let (data, offsets, at) = self.place(Op::CheckWrite, words, pointee);
        let class = u64::from(element(pointee));
        let args = [data, at, values[0]];
        self.f.append(self.block, Op::StoreElem, &args, class, None, self.loc);
        if let (Some(offsets), Some(&index)) = (offsets, values.get(1)) {
            let args = [offsets, at, index];
            let class = u64::from(INDICES.0);
            self.f.append(self.block, Op::StoreElem, &args, class, None, self.loc);
        }
    }

    fn load(&mut self, dest: Var, pointer: Var) {
        let pointer_ty = self.source.vars[pointer].ty;
        let Some(pointee) = pointer_ty.pointee() else { return };
        let words = self.pointer(pointer);
        let (data, offsets, at) = self.place(Op::CheckRead, words, pointee);
        let class = u64::from(element(pointee));
        let home = self.homes[dest.index()];
        if let (Some(offsets), Some(index)) = (offsets, home.index) {
            self.assign(index, Op::LoadElem, &[offsets, at], u64::from(INDICES.0));
        }
        let dest = self.dest(dest);
        self.assign(dest, Op::LoadElem, &[data, at], class);
    }
}
