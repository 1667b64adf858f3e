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

mod compose;
mod names;
mod needs;
mod operators;

use self::needs::{loaded, needed};
use crate::analysis::loops::Loops;
use crate::bril::ast::{self, Code, Name};
use crate::bril::pointees::Pointees;
use crate::bril::program::Ty;
use crate::entity::{Entity, SideTable};
use crate::ir::{
    Block, BlockData, Cfg, Const, Dominators, ENTRY, Edge, FuncRef, Function, Module, Op,
    Terminator, Type, Value, switch,
};
use crate::source::{Interner, Span};
use rustc_hash::FxHashSet;

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
    Bril(&'a crate::bril::Program),
}

/// Writes functions as Bril, which has no switches: tests take their place.
pub fn export(
    module: &Module,
    chosen: &[FuncRef],
    origin: Origin<'_>,
    interner: &mut Interner,
) -> Exported {
    let is_switch = |data: &BlockData| matches!(data.terminator, Terminator::Switch(_));
    let opened;
    let module = match module.functions.values().any(|f| f.blocks.values().any(is_switch)) {
        true => {
            let mut copy = module.clone();
            copy.functions.values_mut().for_each(switch::open);
            opened = copy;
            &opened
        }
        false => module,
    };
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
        let f = &program.functions[crate::bril::program::Func(self.id.0)];
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
                let [mut yes, mut no] = [&edges[0], &edges[1]];
                let condition = match self.tested(*op, args) {
                    Some((value, wanted)) => {
                        if !wanted {
                            std::mem::swap(&mut yes, &mut no);
                        }
                        self.arg(value)?
                    }
                    None => {
                        let condition = self.fresh_name();
                        self.compare(condition, *op, args)?;
                        condition
                    }
                };
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
            Terminator::Switch(_) => return refuse("a switch"),
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
