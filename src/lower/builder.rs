//! The state in which one function is lowered, and the few ways to add code to it.

use super::tables::{Tables, result_type, type_of};
use super::tidy::tidy;
use crate::analysis::facts::{FunctionFacts, Mention, Mentioned, Point, Read, Write, WriteKind};
use crate::entity::{Arena, EntitySet};
use crate::ir::{
    Block, Const, ENTRY, Edge, FuncRef, Function, Global, Inst, Loc, LocData, Op, Signature,
    Terminator, Type, Value, Variable,
};
use crate::sema::hir::{self, FuncId, FunctionKind, LocalId, Program};
use crate::source::{Interner, Span};
use rustc_hash::FxHashMap;
use toyjit_runtime::entry::{Abi, Rt};

/// Where an expression's value is wanted: in this variable, or anywhere.
pub(super) type Dest = Option<Variable>;

/// Room for the code of a small function: growing from nothing cost more than its lowering.
const USUAL_INSTS: usize = 16;

/// The targets of `break` and `continue` in a loop.
#[derive(Clone, Copy)]
pub(super) struct LoopTargets {
    pub on_break: Block,
    pub on_continue: Block,
}

/// A function while it is lowered.
pub(super) struct Builder<'a> {
    pub program: &'a Program,
    pub interner: &'a Interner,
    pub tables: &'a mut Tables,
    id: FuncRef,
    pub f: Function,
    /// Where code is added.
    pub block: Block,
    /// The loops around, the innermost last.
    pub loops: Vec<LoopTargets>,
    pub facts: FunctionFacts,
    locals: Arena<LocalId, Variable>,
    late: EntitySet<Variable>,
    names: FxHashMap<&'a str, u32>,
}

impl<'a> Builder<'a> {
    /// An empty function.
    pub fn new(
        program: &'a Program,
        interner: &'a Interner,
        tables: &'a mut Tables,
        id: FuncId,
    ) -> Self {
        let function = &program.functions[id];
        let name = match (function.kind, function.name) {
            (FunctionKind::Script, _) => "script".to_owned(),
            (_, Some(name)) => interner.name(name).to_owned(),
            (_, None) => format!("fn@{}", function.span.start),
        };
        let param = |&local: &LocalId| type_of(function.locals[local].ty);
        let signature = Signature {
            params: function.params.iter().map(param).collect(),
            result: result_type(function.result),
            env: function.kind == FunctionKind::Lambda,
        };
        let id = tables.here(id);
        let mut f = Function::new(name, id, signature);
        f.reserve(USUAL_INSTS);
        f.locs[Loc(0)].span = function.span;
        Self {
            program,
            interner,
            tables,
            id,
            f,
            block: ENTRY,
            loops: Vec::new(),
            facts: FunctionFacts {
                name: function.name.map(|name| interner.name(name).to_owned()),
                head: function.span,
                body: function.body.span,
                ..FunctionFacts::default()
            },
            locals: Arena::new(),
            late: EntitySet::new(),
            names: FxHashMap::default(),
        }
    }

    /// Lowers the whole function.
    pub fn function(mut self, function: &hir::Function) -> (Function, FunctionFacts) {
        for local in function.locals.values() {
            let variable =
                self.new_variable(self.interner.name(local.name), type_of(local.ty), local.span);
            self.locals.push(variable);
        }
        self.burn(function.span);
        if self.f.signature.env {
            let closure = self.f.add_param(ENTRY, Type::Ref);
            for (number, capture) in function.captures.iter().enumerate() {
                let inner = self.locals[capture.inner];
                let imm = number as u64;
                self.inst(Op::LoadCapture, &[closure], imm, None, capture.span, Some(inner));
            }
        }
        for &local in &function.params {
            let value = self.f.add_param(ENTRY, type_of(function.locals[local].ty));
            self.op(Op::Copy, &[value], function.locals[local].span, Some(self.locals[local]));
        }
        let list_end = match function.kind {
            FunctionKind::Script => u32::MAX,
            _ => function.body.span.end,
        };
        self.statements(&function.body.statements, list_end);
        if self.tables.is_unit && function.kind == FunctionKind::Script {
            self.needs_values(&function.body.statements);
        }
        if self.f.signature.result.is_some() {
            self.facts.end = Some(self.block);
        } else {
            self.f.blocks[self.block].terminator = Terminator::Return(None);
        }
        tidy(&mut self.f, &mut self.facts);
        (self.f, self.facts)
    }

    /// Notes at the end of a unit that what comes later reads its globals.
    fn needs_values(&mut self, statements: &[hir::Stmt]) {
        for statement in statements {
            if let hir::StmtKind::Global { global, value: None } = statement.kind {
                let span = self.program.globals[global].span;
                self.mention(Mentioned::Global(Global(global.0)), span);
            }
        }
    }

    /// A new variable; a name that is taken gets a number behind it.
    pub fn new_variable(&mut self, name: &'a str, ty: Type, span: Span) -> Variable {
        let name = match self.names.get_mut(name) {
            Some(count) => {
                *count += 1;
                format!("{name}.{count}")
            }
            None => {
                self.names.insert(name, 0);
                name.to_owned()
            }
        };
        self.f.add_variable(name, ty, span)
    }

    /// The variable of a local.
    pub fn local(&self, local: LocalId) -> Variable {
        self.locals[local]
    }

    /// Notes that a local is declared without a value.
    pub fn declare_late(&mut self, local: LocalId) {
        let variable = self.locals[local];
        if self.late.insert(variable) {
            self.facts.late.push(variable);
        }
    }

    /// The content of a local, as an operand.
    pub fn read_local(&mut self, local: LocalId, span: Span) -> Value {
        let variable = self.locals[local];
        if self.late.contains(variable) {
            let at = self.here();
            self.facts.reads.push(Read { at, variable, span });
        }
        self.f.variables[variable].value
    }

    /// Notes that the code here mentions a function or a global.
    pub fn mention(&mut self, what: Mentioned, span: Span) {
        let at = self.here();
        self.facts.mentions.push(Mention { at, what, span });
    }

    /// Notes that a local has been declared or assigned.
    pub fn wrote(&mut self, local: LocalId, span: Span, kind: WriteKind) {
        let (at, variable) = (self.here(), self.locals[local]);
        self.facts.writes.push(Write { at, variable, span, kind });
    }

    fn here(&self) -> Point {
        Point { block: self.block, index: self.f.blocks[self.block].insts.len() as u32 }
    }

    /// The location of a place in the source. Equal neighbours are one.
    pub fn loc(&mut self, span: Span) -> Loc {
        let data = LocData { span, function: self.id, inlined_at: None };
        let last = Loc(self.f.locs.len() as u32 - 1);
        if self.f.locs[last] == data { last } else { self.f.locs.push(data) }
    }

    /// Adds an instruction. `ty` is the result's type where the operator's row does not tell it
    /// and it is not `dest`'s.
    pub fn inst(
        &mut self,
        op: Op,
        args: &[Value],
        imm: u64,
        ty: Option<Type>,
        span: Span,
        dest: Dest,
    ) -> Inst {
        let loc = self.loc(span);
        match dest {
            Some(variable) => self.f.append_assign(self.block, variable, op, args, imm, loc),
            None => self.f.append(self.block, op, args, imm, ty, loc),
        }
    }

    /// Adds an instruction with a result whose type the operator's row tells.
    pub fn op(&mut self, op: Op, args: &[Value], span: Span, dest: Dest) -> Value {
        let inst = self.inst(op, args, 0, None, span, dest);
        self.result(inst)
    }

    /// Adds an instruction with a result of type `ty`, and an `imm`.
    pub fn load(
        &mut self,
        op: Op,
        args: &[Value],
        imm: u64,
        ty: Type,
        span: Span,
        dest: Dest,
    ) -> Value {
        let inst = self.inst(op, args, imm, Some(ty), span, dest);
        self.result(inst)
    }

    /// Adds a call of the runtime.
    pub fn rt(&mut self, entry: Rt, args: &[Value], span: Span) -> Option<Value> {
        let inst = self.inst(Op::Rt, args, entry as u64, rt_result(entry), span, None);
        self.f.insts[inst].result
    }

    /// Burns a unit of fuel, where that is asked for.
    pub fn burn(&mut self, span: Span) {
        if self.tables.metered {
            self.rt(Rt::Burn, &[], span);
        }
    }

    /// Adds a call of the runtime that has a result.
    pub fn rt_value(&mut self, entry: Rt, args: &[Value], span: Span, dest: Dest) -> Value {
        let inst = self.inst(Op::Rt, args, entry as u64, rt_result(entry), span, dest);
        self.result(inst)
    }

    fn result(&self, inst: Inst) -> Value {
        self.f.insts[inst].result.expect("an operator used as a value has a result")
    }

    /// The value of a constant.
    pub fn constant(&mut self, constant: Const, span: Span, dest: Dest) -> Value {
        let value = self.f.constant(constant);
        self.put(value, span, dest)
    }

    /// Copies a value to where it is wanted.
    pub fn put(&mut self, value: Value, span: Span, dest: Dest) -> Value {
        match dest {
            Some(variable) if self.f.variables[variable].value != value => {
                self.op(Op::Copy, &[value], span, dest)
            }
            _ => value,
        }
    }

    /// The block where code is added from now on.
    pub fn start(&mut self, block: Block) {
        self.block = block;
    }

    /// Ends the block.
    pub fn end(&mut self, terminator: Terminator, span: Span) {
        let loc = self.loc(span);
        let block = &mut self.f.blocks[self.block];
        block.terminator = terminator;
        block.loc = loc;
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, target: Block) {
        self.f.blocks[self.block].terminator = Terminator::Jump(Edge::to(target));
    }

    /// Ends the block with a branch.
    pub fn branch(&mut self, op: Op, args: [Value; 2], yes: Block, no: Block, span: Span) {
        self.end(Terminator::Branch { op, args, edges: [Edge::to(yes), Edge::to(no)] }, span);
    }

    /// Goes on in a block that nothing leads to: behind a `return`, `break` or `continue`.
    pub fn start_dead(&mut self) {
        let block = self.f.add_block();
        self.start(block);
    }
}

/// The type of a runtime call's result.
fn rt_result(entry: Rt) -> Option<Type> {
    entry.entry().result.map(|abi| match abi {
        Abi::Int => Type::Int,
        Abi::Float => Type::Float,
        Abi::Bool => Type::Bool,
        Abi::Ref => Type::Ref,
    })
}
