//! The IR as Bril, in any form: what the compiler makes of a program, for other tools.
//!
//! A function becomes a function, a block a label with its instructions. In SSA form each edge
//! `set`s the parameters of the block that it leads to, and the block `get`s them. Constants are
//! made anew in each block that uses them, those of loops at the beginning. What Bril has no operation for is composed of what it
//! has (a remainder of a division, a choice of a branch); where that is not possible the function
//! is refused with a reason.
//!
//! A pointer is a region and an index in the IR. Here the region is a Bril pointer and the index an
//! int that `ptradd` adds before an access, so that the checks of the IR vanish: Bril's own loads
//! and stores make them. A pointer that comes out of memory or of a call has its index in it
//! already; what the IR reads as the index is then 0. Characters are ints.
//!
//! [`Module`] → [`Program`](ast::Program), and for each function left out why.

use super::ast::{self, Code, Inst, Literal, Name};
use super::lower::{DATA, LEN, OFFSETS, READY};
use super::pointees::Pointees;
use super::program::{Base, Ty};
use crate::analysis::loops::Loops;
use crate::entity::{Entity, SideTable};
use crate::ir::{
    self, Block, Cfg, Const, Dominators, ENTRY, Edge, Form, FuncRef, Function, InstData, Module,
    Op, Terminator, Type, Value, ValueDef, imm_field,
};
use crate::source::{Interner, Span};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use toyjit_runtime::Rt;

/// What came of writing a module as Bril.
#[derive(Debug)]
pub struct Exported {
    /// The functions that Bril can express.
    pub program: ast::Program,
    /// The others: their names, and what can't be expressed.
    pub refused: Vec<(String, String)>,
}

/// Where a module came from: what its main function takes.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// Toy: the script stands for `main` where there is none.
    Toy,
    /// This Bril program.
    Bril(&'a super::Program),
}

/// Writes functions as Bril.
pub fn export(
    module: &Module,
    chosen: &[FuncRef],
    origin: Origin<'_>,
    interner: &mut Interner,
) -> Exported {
    let pointees = Pointees::of(module, origin);
    let mut exported = Exported { program: ast::Program::default(), refused: Vec::new() };
    for &id in chosen {
        let is_script = module.script == Some(id);
        let keeps = match origin {
            Origin::Bril(_) => !is_script,
            Origin::Toy => !is_script || module.main.is_none() || !is_empty(&module.functions[id]),
        };
        if !keeps {
            continue;
        }
        let writer = Writer::new(module, id, origin, &pointees, interner);
        match writer.function() {
            Ok(function) => exported.program.functions.push(function),
            Err(why) => exported.refused.push((module.functions[id].name.clone(), why)),
        }
    }
    exported
}

/// Whether a function does nothing.
fn is_empty(f: &Function) -> bool {
    let entry = &f.blocks[ENTRY];
    entry.insts.is_empty() && matches!(entry.terminator, Terminator::Return(None))
}

type Write<T> = Result<T, String>;

fn refuse<T>(what: impl Into<String>) -> Write<T> {
    Err(what.into())
}

struct Writer<'a> {
    module: &'a Module,
    id: FuncRef,
    f: &'a Function,
    origin: Origin<'a>,
    pointees: &'a Pointees,
    interner: &'a mut Interner,
    names: SideTable<Value, Option<Name>>,
    /// The values that something in Bril is made of.
    needed: SideTable<Value, bool>,
    /// The checked indices of loads.
    loaded: SideTable<Value, bool>,
    taken: FxHashSet<String>,
    fresh: u32,
    body: Vec<Code>,
    /// The constants that loops use, which stand before everything.
    head: Vec<Code>,
    held: Vec<(Const, Name)>,
    /// The constants that the block at hand has made.
    constants: Vec<(Const, Name)>,
    /// Whether the block at hand is in a loop.
    in_loop: bool,
    /// What is to be printed at the end of the line.
    line: Vec<Name>,
    /// The region and the index of a store of a pointer whose index is still to come.
    stored: Option<(Name, Value, Name)>,
}

impl<'a> Writer<'a> {
    fn new(
        module: &'a Module,
        id: FuncRef,
        origin: Origin<'a>,
        pointees: &'a Pointees,
        interner: &'a mut Interner,
    ) -> Self {
        let f = &module.functions[id];
        let needed = needed(f, matches!(origin, Origin::Bril(_)));
        Self {
            module,
            id,
            f,
            origin,
            pointees,
            interner,
            names: SideTable::with_len(None, f.values.len()),
            loaded: loaded(f, &needed),
            needed,
            taken: FxHashSet::default(),
            fresh: 0,
            body: Vec::new(),
            head: Vec::new(),
            held: Vec::new(),
            constants: Vec::new(),
            in_loop: false,
            line: Vec::new(),
            stored: None,
        }
    }

    fn is_main(&self) -> bool {
        match self.origin {
            Origin::Bril(program) => program.main.is_some_and(|f| f.index() == self.id.index()),
            Origin::Toy => match self.module.main {
                Some((main, ..)) => main == self.id,
                None => self.module.script == Some(self.id),
            },
        }
    }

    fn function_name(&mut self, id: FuncRef) -> Write<Name> {
        let own = &self.module.functions[id].name;
        let text = match self.module.script == Some(id) && self.module.main.is_none() {
            true => "main",
            false => own.as_str(),
        };
        if !is_name(text) {
            return refuse(format!("the name `{text}`"));
        }
        let text = text.to_owned();
        Ok(self.intern(&text))
    }

    fn function(mut self) -> Write<ast::Function> {
        let f = self.f;
        if f.signature.env {
            return refuse("closures");
        }
        let name = self.function_name(self.id)?;
        let mut params = Vec::new();
        for &param in &f.blocks[ENTRY].params {
            let (name, ty) = (self.name(param), self.ty(param)?);
            params.push((name, ty));
        }
        if self.is_main() {
            self.main_params(&mut params)?;
        }
        let result = match f.signature.result {
            Some(ty) if !self.is_main() => Some(self.type_word(self.pointees.result(self.id), ty)?),
            _ => None,
        };
        let cfg = Cfg::compute(f);
        let loops = Loops::compute(&cfg, &Dominators::compute(&cfg));
        let order: Vec<Block> = cfg.rpo().to_vec();
        for (at, &block) in order.iter().enumerate() {
            self.in_loop = loops.innermost(block).is_some();
            self.block(block, order.get(at + 1).copied())?;
        }
        let mut body = self.head;
        body.append(&mut self.body);
        let end = Span::default();
        Ok(ast::Function { name, params, result, body, end })
    }

    /// Characters are given to `main` as such.
    fn main_params(&mut self, params: &mut [(Name, ast::Type)]) -> Write<()> {
        let program = match self.origin {
            Origin::Bril(program) => program,
            Origin::Toy if params.is_empty() => return Ok(()),
            Origin::Toy => return refuse("the arguments of `main`"),
        };
        let f = &program.functions[super::program::Func(self.id.0)];
        for (param, &var) in params.iter_mut().zip(&f.params) {
            if f.vars[var].ty == Ty::CHAR {
                let given = self.fresh_name();
                let wanted = std::mem::replace(&mut param.0, given);
                param.1 = self.bril_type(Ty::CHAR);
                self.value_inst(wanted, Ty::INT, "char2int", &[given]);
            }
        }
        Ok(())
    }

    // Names and types.

    fn intern(&mut self, text: &str) -> Name {
        Name { symbol: self.interner.intern(text), span: Span::default() }
    }

    /// A name that nothing else in the function has.
    fn fresh_name(&mut self) -> Name {
        loop {
            let text = format!("t{}", self.fresh);
            self.fresh += 1;
            if self.taken.insert(text.clone()) {
                return self.intern(&text);
            }
        }
    }

    /// The name of a value that is no constant.
    fn name(&mut self, value: Value) -> Name {
        if let Some(name) = self.names[value] {
            return name;
        }
        let wanted = match self.f.values[value].def {
            ValueDef::Variable(variable) => {
                let text = &self.f.variables[variable].name;
                if is_name(text) { text.clone() } else { format!("x{}", variable.0) }
            }
            _ => format!("v{}", value.0),
        };
        let mut text = wanted.clone();
        let mut number = 0;
        while !self.taken.insert(text.clone()) {
            number += 1;
            text = format!("{wanted}.{number}");
        }
        let name = self.intern(&text);
        self.names[value] = Some(name);
        name
    }

    fn bril_type(&mut self, ty: Ty) -> ast::Type {
        let base = match ty.base {
            Base::Int => "int",
            Base::Bool => "bool",
            Base::Float => "float",
            Base::Char => "char",
        };
        let pointer = self.interner.intern("ptr");
        let mut words: SmallVec<_> = std::iter::repeat_n(pointer, ty.pointers as usize).collect();
        words.push(self.interner.intern(base));
        ast::Type { words, span: Span::default() }
    }

    fn type_word(&mut self, pointee: Option<Ty>, ty: Type) -> Write<ast::Type> {
        let ty = scalar(ty).or_else(|| pointee.map(|ty| Ty { pointers: ty.pointers + 1, ..ty }));
        match ty {
            Some(ty) => Ok(self.bril_type(ty)),
            None => refuse("objects of Toy"),
        }
    }

    fn bril_ty(&self, value: Value) -> Write<Ty> {
        let pointee = self.pointees.value(self.id, value);
        scalar(self.f.values[value].ty)
            .or_else(|| pointee.map(|ty| Ty { pointers: ty.pointers + 1, ..ty }))
            .ok_or_else(|| "objects of Toy".to_owned())
    }

    fn ty(&mut self, value: Value) -> Write<ast::Type> {
        let ty = self.bril_ty(value)?;
        Ok(self.bril_type(ty))
    }

    // Instructions.

    fn inst(&mut self, op: &str) -> Inst {
        Inst {
            op: self.intern(op),
            dest: None,
            ty: None,
            args: SmallVec::new(),
            funcs: SmallVec::new(),
            labels: SmallVec::new(),
            value: None,
            span: Span::default(),
        }
    }

    fn put(&mut self, inst: Inst) {
        self.body.push(Code::Inst(inst));
    }

    fn value_inst(&mut self, dest: Name, ty: Ty, op: &str, args: &[Name]) {
        let (empty, ty) = (self.inst(op), Some(self.bril_type(ty)));
        self.put(Inst { dest: Some(dest), ty, args: SmallVec::from_slice(args), ..empty });
    }

    /// The same with a fresh name for its result.
    fn temporary(&mut self, ty: Ty, op: &str, args: &[Name]) -> Name {
        let dest = self.fresh_name();
        self.value_inst(dest, ty, op, args);
        dest
    }

    fn effect(&mut self, op: &str, args: &[Name]) {
        let empty = self.inst(op);
        self.put(Inst { args: SmallVec::from_slice(args), ..empty });
    }

    fn jump(&mut self, label: Name) {
        let empty = self.inst("jmp");
        self.put(Inst { labels: SmallVec::from_slice(&[label]), ..empty });
    }

    fn branch(&mut self, condition: Name, yes: Name, no: Name) {
        let empty = self.inst("br");
        let args = SmallVec::from_slice(&[condition]);
        self.put(Inst { args, labels: SmallVec::from_slice(&[yes, no]), ..empty });
    }

    fn label(&mut self, block: Block) -> Name {
        self.intern(&format!("b{}", block.0))
    }

    fn constant(&mut self, constant: Const) -> Write<Name> {
        let mut known = self.held.iter().chain(&self.constants);
        if let Some(&(_, name)) = known.find(|(known, _)| *known == constant) {
            return Ok(name);
        }
        if !self.in_loop {
            let name = self.make_constant(constant)?;
            self.constants.push((constant, name));
            return Ok(name);
        }
        std::mem::swap(&mut self.body, &mut self.head);
        let name = self.make_constant(constant);
        std::mem::swap(&mut self.body, &mut self.head);
        let name = name?;
        self.held.push((constant, name));
        Ok(name)
    }

    fn make_constant(&mut self, constant: Const) -> Write<Name> {
        let (literal, ty) = match constant {
            Const::Int(value) => (Literal::Int(value), Ty::INT),
            Const::Bool(value) => (Literal::Bool(value), Ty::BOOL),
            Const::Float(bits) => {
                let value = f64::from_bits(bits);
                if !value.is_finite() {
                    return self.infinite(value);
                }
                (Literal::Float(value), Ty::FLOAT)
            }
            Const::Nil | Const::Str(_) | Const::Func(_) => return refuse("references of Toy"),
        };
        let dest = self.fresh_name();
        let (empty, ty) = (self.inst("const"), Some(self.bril_type(ty)));
        let value = Some((literal, Span::default()));
        self.put(Inst { dest: Some(dest), ty, value, ..empty });
        Ok(dest)
    }

    /// What no literal can be written for.
    fn infinite(&mut self, value: f64) -> Write<Name> {
        let top = if value.is_nan() { 0.0 } else { 1f64.copysign(value) };
        let top = self.make_constant(Const::Float(top.to_bits()))?;
        let zero = self.make_constant(Const::Float(0))?;
        Ok(self.temporary(Ty::FLOAT, "fdiv", &[top, zero]))
    }

    fn arg(&mut self, value: Value) -> Write<Name> {
        match self.f.as_const(value) {
            Some(constant) => self.constant(constant),
            None => Ok(self.name(value)),
        }
    }

    // Blocks.

    fn block(&mut self, block: Block, next: Option<Block>) -> Write<()> {
        let f = self.f;
        let data = &f.blocks[block];
        self.constants.clear();
        if block != ENTRY {
            let label = self.label(block);
            self.body.push(Code::Label(label));
            for &param in &data.params {
                let (name, ty) = (self.name(param), self.bril_ty(param)?);
                self.value_inst(name, ty, "get", &[]);
            }
        }
        for (at, &inst) in data.insts.iter().enumerate() {
            self.operator(block, at, inst)?;
        }
        if !self.line.is_empty() {
            return refuse("a line that is printed in parts");
        }
        if self.stored.is_some() {
            return refuse("a store of half a pointer");
        }
        self.terminator(block, &data.terminator, next)
    }

    fn terminator(
        &mut self,
        block: Block,
        terminator: &Terminator,
        next: Option<Block>,
    ) -> Write<()> {
        match terminator {
            Terminator::Jump(edge) => {
                self.pass(edge)?;
                if Some(edge.target) != next {
                    let label = self.label(edge.target);
                    self.jump(label);
                }
            }
            Terminator::Branch { op, args, edges } => {
                let condition = self.fresh_name();
                self.compare(condition, *op, args)?;
                let [yes, no] = edges;
                self.pass(yes)?;
                let labels = [self.label(yes.target), self.label(no.target)];
                if yes.target == no.target && yes.args != no.args {
                    // The parameters are those of one block: the second way sets them anew.
                    let way = self.intern(&format!("b{}.no", block.0));
                    self.branch(condition, labels[0], way);
                    self.body.push(Code::Label(way));
                    self.constants.clear();
                    self.pass(no)?;
                    self.jump(labels[1]);
                } else {
                    self.pass(no)?;
                    self.branch(condition, labels[0], labels[1]);
                }
            }
            Terminator::Return(value) => {
                let value = match value {
                    Some(value) if !self.is_main() => Some(self.returned(block, *value)?),
                    _ => None,
                };
                self.effect("ret", value.as_slice());
            }
            Terminator::Unreachable => {
                // Control never comes here.
                let here = self.intern(&format!("b{}.end", block.0));
                self.body.push(Code::Label(here));
                self.jump(here);
            }
        }
        Ok(())
    }

    /// Sets the parameters of the block that an edge leads to.
    fn pass(&mut self, edge: &Edge) -> Write<()> {
        let params = &self.f.blocks[edge.target].params;
        for (&param, &arg) in params.iter().zip(&edge.args) {
            let (param, arg) = (self.name(param), self.arg(arg)?);
            self.effect("set", &[param, arg]);
        }
        Ok(())
    }

    /// A returned value; of a pointer with the index that was stored last.
    fn returned(&mut self, block: Block, value: Value) -> Write<Name> {
        if self.f.values[value].ty != Type::Ref {
            return self.arg(value);
        }
        let region = self.arg(value)?;
        let insts = &self.f.blocks[block].insts;
        for &inst in insts.iter().rev() {
            match self.f.insts[inst].op {
                Op::StoreGlobal => {
                    let index = self.arg(self.f.args(inst)[0])?;
                    let ty = self.bril_ty(value)?;
                    return Ok(self.temporary(ty, "ptradd", &[region, index]));
                }
                Op::Call if self.f.insts[inst].result == Some(value) => return Ok(region),
                Op::Call | Op::CallValue => break,
                _ => {}
            }
        }
        refuse("a pointer whose index is not at hand")
    }

    // Operators.

    fn compare(&mut self, dest: Name, op: Op, args: &[Value]) -> Write<()> {
        let bools = self.f.values[args[0]].ty == Type::Bool;
        match op {
            Op::IEq | Op::INe if bools => {
                let constant = args.iter().find_map(|&arg| self.f.as_const(arg));
                if let Some(Const::Bool(value)) = constant {
                    let other = args.iter().find(|&&arg| self.f.as_const(arg).is_none());
                    let other = self.arg(other.copied().unwrap_or(args[0]))?;
                    let same = value == (op == Op::IEq);
                    self.value_inst(dest, Ty::BOOL, if same { "id" } else { "not" }, &[other]);
                    return Ok(());
                }
                let (a, b) = (self.arg(args[0])?, self.arg(args[1])?);
                match op {
                    Op::INe => self.exclusive_or(dest, a, b),
                    _ => {
                        let differ = self.fresh_name();
                        self.exclusive_or(differ, a, b);
                        self.value_inst(dest, Ty::BOOL, "not", &[differ]);
                    }
                }
                return Ok(());
            }
            _ => {}
        }
        let args = [self.arg(args[0])?, self.arg(args[1])?];
        let (name, negated) = match op {
            Op::IEq => ("eq", false),
            Op::INe => ("eq", true),
            Op::ILt => ("lt", false),
            Op::ILe => ("le", false),
            Op::IGt => ("gt", false),
            Op::IGe => ("ge", false),
            Op::FEq => ("feq", false),
            Op::FNe => ("feq", true),
            Op::FLt => ("flt", false),
            Op::FLe => ("fle", false),
            Op::FGt => ("fgt", false),
            Op::FGe => ("fge", false),
            op => return refuse(format!("`{}`", op.info().name)),
        };
        if negated {
            let held = self.temporary(Ty::BOOL, name, &args);
            self.value_inst(dest, Ty::BOOL, "not", &[held]);
        } else {
            self.value_inst(dest, Ty::BOOL, name, &args);
        }
        Ok(())
    }

    fn exclusive_or(&mut self, dest: Name, a: Name, b: Name) {
        let either = self.temporary(Ty::BOOL, "or", &[a, b]);
        let both = self.temporary(Ty::BOOL, "and", &[a, b]);
        let not_both = self.temporary(Ty::BOOL, "not", &[both]);
        self.value_inst(dest, Ty::BOOL, "and", &[either, not_both]);
    }

    /// `dest = if condition { yes } else { no }`
    fn choose(&mut self, dest: Name, ty: Ty, condition: Name, yes: Name, no: Name) {
        let chosen = self.fresh_name();
        let at = self.fresh;
        self.fresh += 1;
        let [end, other] = [format!("s{at}"), format!("s{at}.no")].map(|text| self.intern(&text));
        self.effect("set", &[chosen, yes]);
        self.branch(condition, end, other);
        self.body.push(Code::Label(other));
        self.effect("set", &[chosen, no]);
        self.body.push(Code::Label(end));
        self.value_inst(chosen, ty, "get", &[]);
        self.value_inst(dest, ty, "id", &[chosen]);
    }

    fn operator(&mut self, block: Block, at: usize, inst: ir::Inst) -> Write<()> {
        let f = self.f;
        let InstData { op, imm, result, .. } = f.insts[inst];
        let args = f.args(inst);
        let field = imm_field(imm).1;
        if result.is_some_and(|value| !self.needed[value]) && f.effects(inst).removable() {
            return Ok(());
        }
        // What is another name of an operand, or of nothing in Bril.
        match op {
            Op::CheckRead if result.is_none_or(|index| !self.loaded[index]) => {
                let pointer = self.place(args[0], args[1])?;
                let ty = self.element(args[0])?;
                self.temporary(ty, "load", &[pointer]);
                return self.alias(result, args[1]);
            }
            Op::CheckRead | Op::CheckWrite => return self.alias(result, args[1]),
            Op::LoadField if field == DATA || field == OFFSETS => {
                return self.alias(result, args[0]);
            }
            Op::LoadField if field == LEN || field == READY => return Ok(()),
            Op::StoreField if self.is_region(imm) => return Ok(()),
            Op::StoreGlobal if self.is_index(imm) => return Ok(()),
            Op::CheckNil => return self.alias(result, args[0]),
            Op::CheckDiv => {
                if !self.is_divided_soon(block, at, result) {
                    let arg = self.arg(args[0])?;
                    self.temporary(Ty::INT, "div", &[arg, arg]);
                }
                return self.alias(result, args[0]);
            }
            Op::Rt => return self.row(imm, result, args),
            Op::StoreElem => return self.store_elem(imm, args),
            _ => {}
        }
        let Some(value) = result else {
            if op == Op::Call {
                return self.call(None, FuncRef(imm as u32), args);
            }
            return refuse(format!("`{}`", op.info().name));
        };
        let dest = self.name(value);
        let binary = |name: &'static str, ty: Ty| Some((name, ty));
        let direct = match op {
            Op::IAdd => binary("add", Ty::INT),
            Op::ISub => binary("sub", Ty::INT),
            Op::IMul => binary("mul", Ty::INT),
            Op::SDiv => binary("div", Ty::INT),
            Op::FAdd => binary("fadd", Ty::FLOAT),
            Op::FSub => binary("fsub", Ty::FLOAT),
            Op::FMul => binary("fmul", Ty::FLOAT),
            Op::FDiv => binary("fdiv", Ty::FLOAT),
            Op::IAnd if f.values[value].ty == Type::Bool => binary("and", Ty::BOOL),
            Op::IOr if f.values[value].ty == Type::Bool => binary("or", Ty::BOOL),
            _ => None,
        };
        if let Some((name, ty)) = direct {
            let args = [self.arg(args[0])?, self.arg(args[1])?];
            self.value_inst(dest, ty, name, &args);
            return Ok(());
        }
        if op.is_comparison() {
            return self.compare(dest, op, args);
        }
        match op {
            Op::Copy => {
                if let Some(constant) = f.as_const(args[0])
                    && constant == Const::Nil
                {
                    // The beginning of a doubtful pointer, which nothing reads.
                    let ty = self.bril_ty(value)?;
                    self.value_inst(dest, ty, "undef", &[]);
                    return Ok(());
                }
                let (arg, ty) = (self.arg(args[0])?, self.bril_ty(value)?);
                self.value_inst(dest, ty, "id", &[arg]);
            }
            Op::SRem => {
                let [a, b] = [self.arg(args[0])?, self.arg(args[1])?];
                let quotient = self.temporary(Ty::INT, "div", &[a, b]);
                let product = self.temporary(Ty::INT, "mul", &[quotient, b]);
                self.value_inst(dest, Ty::INT, "sub", &[a, product]);
            }
            Op::INeg => {
                let (zero, arg) = (self.constant(Const::Int(0))?, self.arg(args[0])?);
                self.value_inst(dest, Ty::INT, "sub", &[zero, arg]);
            }
            Op::INot => {
                let (ones, arg) = (self.constant(Const::Int(-1))?, self.arg(args[0])?);
                self.value_inst(dest, Ty::INT, "sub", &[ones, arg]);
            }
            Op::Shl => match f.as_const(args[1]) {
                Some(Const::Int(by)) => {
                    let factor = self.constant(Const::Int(1i64.wrapping_shl(by as u32 & 63)))?;
                    let arg = self.arg(args[0])?;
                    self.value_inst(dest, Ty::INT, "mul", &[arg, factor]);
                }
                _ => return refuse("shifts"),
            },
            Op::IXor if f.values[value].ty == Type::Bool => self.compare(dest, Op::INe, args)?,
            Op::FNeg => {
                let minus = self.constant(Const::Float((-1f64).to_bits()))?;
                let arg = self.arg(args[0])?;
                self.value_inst(dest, Ty::FLOAT, "fmul", &[arg, minus]);
            }
            Op::BToI => {
                let (one, zero) = (self.constant(Const::Int(1))?, self.constant(Const::Int(0))?);
                let arg = self.arg(args[0])?;
                self.choose(dest, Ty::INT, arg, one, zero);
            }
            Op::IMin | Op::IMax => {
                let [a, b] = [self.arg(args[0])?, self.arg(args[1])?];
                let name = if op == Op::IMin { "lt" } else { "gt" };
                let first = self.temporary(Ty::BOOL, name, &[a, b]);
                self.choose(dest, Ty::INT, first, a, b);
            }
            Op::IAbs => {
                let (zero, arg) = (self.constant(Const::Int(0))?, self.arg(args[0])?);
                let negative = self.temporary(Ty::BOOL, "lt", &[arg, zero]);
                let other = self.temporary(Ty::INT, "sub", &[zero, arg]);
                self.choose(dest, Ty::INT, negative, other, arg);
            }
            Op::Select => {
                let ty = self.bril_ty(value)?;
                let [c, yes, no] = [self.arg(args[0])?, self.arg(args[1])?, self.arg(args[2])?];
                self.choose(dest, ty, c, yes, no);
            }
            Op::LoadGlobal if self.is_index(imm) => {
                let zero = self.constant(Const::Int(0))?;
                self.value_inst(dest, Ty::INT, "id", &[zero]);
            }
            Op::LoadElem => {
                if imm == u64::from(super::lower::INDICES.0) && self.is_bril() {
                    let zero = self.constant(Const::Int(0))?;
                    self.value_inst(dest, Ty::INT, "id", &[zero]);
                } else {
                    let pointer = self.place(args[0], args[1])?;
                    let ty = self.element(args[0])?;
                    self.value_inst(dest, ty, "load", &[pointer]);
                }
            }
            Op::NewStruct if self.is_bril() => {
                let (region, ty) = (self.arg(args[2])?, self.bril_ty(value)?);
                self.value_inst(dest, ty, "id", &[region]);
            }
            Op::Call => self.call(Some(value), FuncRef(imm as u32), args)?,
            op => return refuse(format!("`{}`", op.info().name)),
        }
        Ok(())
    }

    fn is_bril(&self) -> bool {
        matches!(self.origin, Origin::Bril(_))
    }

    fn is_region(&self, imm: u64) -> bool {
        self.is_bril() && matches!(imm_field(imm).1, READY | LEN)
    }

    fn is_index(&self, imm: u64) -> bool {
        self.is_bril() && imm == 0
    }

    /// Makes a value another name of an operand.
    fn alias(&mut self, result: Option<Value>, of: Value) -> Write<()> {
        let Some(result) = result else { return Ok(()) };
        let name = self.arg(of)?;
        match self.f.values[result].def {
            ValueDef::Variable(_) => {
                let (dest, ty) = (self.name(result), self.bril_ty(result)?);
                self.value_inst(dest, ty, "id", &[name]);
            }
            // A constant has a name in this block only.
            _ if self.f.as_const(of).is_some() => {
                let (dest, ty) = (self.name(result), self.bril_ty(result)?);
                self.value_inst(dest, ty, "id", &[name]);
            }
            _ => self.names[result] = Some(name),
        }
        Ok(())
    }

    /// Whether a division by a checked divisor follows in the block, before anything that shows.
    fn is_divided_soon(&self, block: Block, at: usize, divisor: Option<Value>) -> bool {
        for &inst in &self.f.blocks[block].insts[at + 1..] {
            let op = self.f.insts[inst].op;
            if matches!(op, Op::SDiv | Op::SRem) && Some(self.f.args(inst)[1]) == divisor {
                return true;
            }
            if !self.f.effects(inst).removable() {
                return false;
            }
        }
        false
    }

    /// The type of the elements behind a region or one of its buffers.
    fn element(&self, region: Value) -> Write<Ty> {
        let found = self.pointees.value(self.id, region);
        found.ok_or_else(|| "objects of Toy".to_owned())
    }

    /// The pointer to an element.
    fn place(&mut self, region: Value, index: Value) -> Write<Name> {
        let ty = self.element(region)?;
        let (region, index) = (self.arg(region)?, self.arg(index)?);
        Ok(self.temporary(Ty { pointers: ty.pointers + 1, ..ty }, "ptradd", &[region, index]))
    }

    fn store_elem(&mut self, imm: u64, args: &[Value]) -> Write<()> {
        if !self.is_bril() {
            return refuse("arrays");
        }
        if imm == u64::from(super::lower::INDICES.0) {
            let Some((place, _, region)) = self.stored.take().filter(|&(_, at, _)| at == args[1])
            else {
                return refuse("a store of half a pointer");
            };
            let index = self.arg(args[2])?;
            let ty = self.element(args[0])?;
            let pointer = self.temporary(ty, "ptradd", &[region, index]);
            self.effect("store", &[place, pointer]);
            return Ok(());
        }
        let place = self.place(args[0], args[1])?;
        let value = self.arg(args[2])?;
        if self.f.values[args[2]].ty == Type::Ref {
            self.stored = Some((place, args[1], value));
        } else {
            self.effect("store", &[place, value]);
        }
        Ok(())
    }

    fn call(&mut self, result: Option<Value>, callee: FuncRef, args: &[Value]) -> Write<()> {
        let func = self.function_name(callee)?;
        let mut names = SmallVec::new();
        for &arg in args {
            names.push(self.arg(arg)?);
        }
        let (dest, ty) = match result {
            Some(value) => (Some(self.name(value)), Some(self.ty(value)?)),
            None => (None, None),
        };
        let empty = self.inst("call");
        let funcs = SmallVec::from_slice(&[func]);
        self.put(Inst { dest, ty, args: names, funcs, ..empty });
        Ok(())
    }

    /// A call of the runtime.
    fn row(&mut self, row: u64, result: Option<Value>, args: &[Value]) -> Write<()> {
        let Some(&row) = Rt::ALL.get(row as usize) else { return refuse("the runtime") };
        match row {
            Rt::PrintInt | Rt::PrintBool | Rt::PrintBrilFloat => {
                let arg = self.arg(args[0])?;
                // The variable may change before the line ends.
                let ty = self.bril_ty(args[0])?;
                let held = match self.f.form {
                    Form::Ssa => arg,
                    Form::Variable => self.temporary(ty, "id", &[arg]),
                };
                self.line.push(held);
            }
            Rt::PrintChar => {
                let arg = self.arg(args[0])?;
                let character = self.temporary(Ty::CHAR, "int2char", &[arg]);
                self.line.push(character);
            }
            Rt::PrintSpace => {}
            Rt::PrintNewline => {
                let line = std::mem::take(&mut self.line);
                self.effect("print", &line);
            }
            Rt::Panic => {
                let zero = self.constant(Const::Int(0))?;
                self.temporary(Ty::INT, "div", &[zero, zero]);
            }
            Rt::CharOf => {
                let arg = self.arg(args[0])?;
                let character = self.temporary(Ty::CHAR, "int2char", &[arg]);
                if let Some(result) = result {
                    let dest = self.name(result);
                    self.value_inst(dest, Ty::INT, "char2int", &[character]);
                }
            }
            Rt::FloatBits | Rt::FloatOfBits => {
                let arg = self.arg(args[0])?;
                let ty = if row == Rt::FloatBits { Ty::INT } else { Ty::FLOAT };
                if let Some(result) = result {
                    let dest = self.name(result);
                    self.value_inst(dest, ty, "bitcast", &[arg]);
                }
            }
            Rt::RegionNew => {
                let count = self.arg(args[1])?;
                let Some(result) = result else { return refuse("memory that nothing holds") };
                let (dest, ty) = (self.name(result), self.bril_ty(result)?);
                self.value_inst(dest, ty, "alloc", &[count]);
            }
            Rt::RegionOffsets => {}
            Rt::RegionFree => {
                let pointer = self.place(args[0], args[1])?;
                self.effect("free", &[pointer]);
            }
            row => return refuse(format!("`{}`", row.entry().name)),
        }
        Ok(())
    }
}

/// The values that are used by what is written: of a region only its buffer, of what is freed not
/// the length.
fn needed(f: &Function, bril: bool) -> SideTable<Value, bool> {
    let mut needed = SideTable::with_len(false, f.values.len());
    let mut work = Vec::new();
    let mut need = |value: Value, work: &mut Vec<Value>| {
        if !std::mem::replace(&mut needed[value], true) {
            work.push(value);
        }
    };
    let parts = |inst: ir::Inst| {
        let (op, args) = (f.insts[inst].op, f.args(inst));
        match op {
            Op::NewStruct if bril => &args[2..3],
            Op::Rt if f.insts[inst].imm == Rt::RegionFree as u64 => &args[..2],
            _ => args,
        }
    };
    for data in f.blocks.values() {
        data.terminator.for_each_use(|value| need(value, &mut work));
        for &inst in &data.insts {
            let result = f.insts[inst].result;
            let is_variable = |value: Value| f.def_inst(value) != Some(inst);
            if !f.effects(inst).removable() || result.is_some_and(is_variable) {
                parts(inst).iter().for_each(|&value| need(value, &mut work));
                result.into_iter().for_each(|value| need(value, &mut work));
            }
        }
    }
    while let Some(value) = work.pop() {
        if let Some(inst) = f.def_inst(value) {
            parts(inst).iter().for_each(|&value| need(value, &mut work));
        }
    }
    needed
}

/// The indices that elements are loaded at, as far as the loads are written.
fn loaded(f: &Function, needed: &SideTable<Value, bool>) -> SideTable<Value, bool> {
    let mut loaded = SideTable::with_len(false, f.values.len());
    for &inst in f.blocks.values().flat_map(|data| &data.insts) {
        let InstData { op, result, .. } = f.insts[inst];
        if op == Op::LoadElem && result.is_some_and(|value| needed[value]) {
            loaded[f.args(inst)[1]] = true;
        }
    }
    loaded
}

/// The Bril type of a value that is no reference.
fn scalar(ty: Type) -> Option<Ty> {
    match ty {
        Type::Int => Some(Ty::INT),
        Type::Bool => Some(Ty::BOOL),
        Type::Float => Some(Ty::FLOAT),
        Type::Ref => None,
    }
}

/// Whether Bril's text takes this for a name.
fn is_name(text: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '%';
    text.starts_with(first) && text.chars().all(|c| first(c) || c.is_ascii_digit() || c == '.')
}
