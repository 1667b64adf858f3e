//! A function of the IR: blocks of instructions over values, in one of two forms.
//!
//! In the **variable form** named variables may be assigned many times. Each variable has one
//! value of kind `ValueDef::Variable` that stands for "its content now": as an operand it reads the
//! variable, as an instruction's result it assigns it. Temporaries beside it are ordinary values
//! with one definition. In the **SSA form** there are no variable values: every value has one
//! definition that dominates its uses, and values meet at block parameters, to which each incoming
//! edge carries its arguments. The same instructions, printer, parser, verifier and interpreter
//! serve both forms.
//!
//! Constants are values, interned per function; they belong to no block.

use super::Type;
use super::op::{Effects, ImmKind, Op, ResultKind};
use super::switch::Switch;
use crate::entity::{Arena, List, ListPool};
use crate::source::Span;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

crate::entity! {
    /// A basic block.
    Block = "b";
    /// An instruction.
    Inst = "inst";
    /// A value: constant, variable, block parameter or an instruction's result.
    Value = "v";
    /// A named variable of the variable form.
    Variable = "x";
    /// A source location with its chain of inlined calls.
    Loc = "loc";
    /// A function of the module.
    FuncRef = "f";
    /// A string literal of the module.
    StrRef = "s";
}

/// Which form a function is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Variables, assigned many times.
    Variable,
    /// Static single assignment.
    Ssa,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    /// An int.
    Int(i64),
    /// A float, by its bits.
    Float(u64),
    /// A bool.
    Bool(bool),
    /// The reference to nothing.
    Nil,
    /// A string literal (a static object).
    Str(StrRef),
    /// A named function as a value (a static closure object).
    Func(FuncRef),
}

impl Const {
    /// Its type.
    pub fn ty(self) -> Type {
        match self {
            Const::Int(_) => Type::Int,
            Const::Float(_) => Type::Float,
            Const::Bool(_) => Type::Bool,
            Const::Nil | Const::Str(_) | Const::Func(_) => Type::Ref,
        }
    }

    /// Its word, for what the evaluation functions of operators take; none for static objects.
    pub fn bits(self) -> Option<u64> {
        match self {
            Const::Int(i) => Some(i as u64),
            Const::Float(bits) => Some(bits),
            Const::Bool(b) => Some(u64::from(b)),
            Const::Nil => Some(0),
            Const::Str(_) | Const::Func(_) => None,
        }
    }

    /// The constant of a type with this word; none for a reference that is not nil.
    pub fn from_bits(ty: Type, bits: u64) -> Option<Const> {
        match ty {
            Type::Int => Some(Const::Int(bits as i64)),
            Type::Float => Some(Const::Float(bits)),
            Type::Bool => Some(Const::Bool(bits != 0)),
            Type::Ref => (bits == 0).then_some(Const::Nil),
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// The result of an instruction.
    Inst(Inst),
    /// A parameter of a block (of the entry block: of the function).
    Param(Block, u32),
    /// The content of a variable (variable form only).
    Variable(Variable),
    /// A constant.
    Const(Const),
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Its definition.
    pub def: ValueDef,
}

/// A variable of the variable form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableData {
    /// Its name, as printed.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The value that stands for it.
    pub value: Value,
    /// Where it is declared in the source.
    pub span: Span,
}

/// An instruction: 32 bytes, its operands in the function's pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstData {
    /// The operator.
    pub op: Op,
    /// The operands.
    pub args: List,
    /// The result, if it has one; in the variable form it may be a variable's value.
    pub result: Option<Value>,
    /// Where in the source it comes from: a trap in it points there.
    pub loc: Loc,
    /// What the operator's row says it means.
    pub imm: u64,
}

/// A source location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocData {
    /// The place in the source.
    pub span: Span,
    /// The function whose text it is in.
    pub function: FuncRef,
    /// Where that function was inlined: the location of the call.
    pub inlined_at: Option<Loc>,
}

/// An edge of the CFG: the arguments become the target's parameters, all at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The block it leads to.
    pub target: Block,
    /// One argument for each parameter of the target.
    pub args: SmallVec<[Value; 4]>,
}

impl Edge {
    /// An edge without arguments.
    pub fn to(target: Block) -> Edge {
        Edge { target, args: SmallVec::new() }
    }
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// On to another block.
    Jump(Edge),
    /// To the first edge where the comparison holds, else to the second.
    Branch {
        /// A comparison (`Op::is_comparison`).
        op: Op,
        /// Its operands.
        args: [Value; 2],
        /// Edges for true and for false.
        edges: [Edge; 2],
    },
    /// To the edge that a table has for a number.
    Switch(Box<Switch>),
    /// Back to the caller.
    Return(Option<Value>),
    /// Control never comes here: behind a call that does not return; in the variable form also
    /// where a function with a result falls off its end (a compile error unless unreachable).
    Unreachable,
}

impl Terminator {
    /// The outgoing edges.
    #[inline]
    pub fn edges(&self) -> &[Edge] {
        match self {
            Terminator::Jump(edge) => std::slice::from_ref(edge),
            Terminator::Branch { edges, .. } => edges,
            Terminator::Switch(switch) => &switch.edges,
            Terminator::Return(_) | Terminator::Unreachable => &[],
        }
    }

    /// The outgoing edges, to be changed.
    #[inline]
    pub fn edges_mut(&mut self) -> &mut [Edge] {
        match self {
            Terminator::Jump(edge) => std::slice::from_mut(edge),
            Terminator::Branch { edges, .. } => edges,
            Terminator::Switch(switch) => &mut switch.edges,
            Terminator::Return(_) | Terminator::Unreachable => &mut [],
        }
    }

    /// Visits each value used: a branch's operands, a switch's, a returned value, then edge arguments.
    #[inline]
    pub fn for_each_use(&self, mut f: impl FnMut(Value)) {
        match self {
            Terminator::Branch { args, .. } => args.iter().for_each(|&v| f(v)),
            Terminator::Switch(switch) => f(switch.value),
            Terminator::Return(Some(value)) => f(*value),
            _ => {}
        }
        for edge in self.edges() {
            edge.args.iter().for_each(|&v| f(v));
        }
    }

    /// Rewrites each value used.
    #[inline]
    pub fn map_uses(&mut self, mut f: impl FnMut(Value) -> Value) {
        match self {
            Terminator::Branch { args, .. } => args.iter_mut().for_each(|v| *v = f(*v)),
            Terminator::Switch(switch) => switch.value = f(switch.value),
            Terminator::Return(Some(value)) => *value = f(*value),
            _ => {}
        }
        for edge in self.edges_mut() {
            edge.args.iter_mut().for_each(|v| *v = f(*v));
        }
    }
}

/// A block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockData {
    /// Its parameters.
    pub params: SmallVec<[Value; 4]>,
    /// Its instructions in order.
    pub insts: Vec<Inst>,
    /// How it ends.
    pub terminator: Terminator,
    /// Where its end (a branch) comes from.
    pub loc: Loc,
}

/// The type of a function.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Signature {
    /// Parameter types, without the environment.
    pub params: Vec<Type>,
    /// The result type.
    pub result: Option<Type>,
    /// Whether the entry block's first parameter is the closure itself (a function expression):
    /// it then precedes `params`.
    pub env: bool,
}

/// A function. Block 0 is its entry, which no edge leads to.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name as shown in traps and dumps (`main`, `fn@12:8` for a function expression).
    pub name: String,
    /// Its type.
    pub signature: Signature,
    /// The form it is in.
    pub form: Form,
    /// The blocks. Blocks that no path reaches may stay in the arena; they are empty and end in
    /// `Unreachable`, and no pass looks at them.
    pub blocks: Arena<Block, BlockData>,
    /// The instructions; those no block lists are dead.
    pub insts: Arena<Inst, InstData>,
    /// The values.
    pub values: Arena<Value, ValueData>,
    /// The variables (variable form).
    pub variables: Arena<Variable, VariableData>,
    /// The source locations.
    pub locs: Arena<Loc, LocData>,
    /// The operands of all instructions.
    pub pool: ListPool<Value>,
    constants: FxHashMap<Const, Value>,
}

/// The entry block.
pub const ENTRY: Block = Block(0);

impl Function {
    /// A function with an empty entry block and location 0 (no span) in the variable form.
    pub fn new(name: impl Into<String>, id: FuncRef, signature: Signature) -> Self {
        let mut function = Self {
            name: name.into(),
            signature,
            form: Form::Variable,
            blocks: Arena::new(),
            insts: Arena::new(),
            values: Arena::new(),
            variables: Arena::new(),
            locs: Arena::new(),
            pool: ListPool::new(),
            constants: FxHashMap::default(),
        };
        function.locs.push(LocData { span: Span::default(), function: id, inlined_at: None });
        function.add_block();
        function
    }

    /// Leaves only what is needed to call it and to tell of its traps.
    pub fn drop_code(&mut self) {
        self.form = Form::Variable;
        self.blocks = Arena::new();
        self.insts = Arena::new();
        self.values = Arena::new();
        self.variables = Arena::new();
        self.pool = ListPool::new();
        self.constants = FxHashMap::default();
        self.add_block();
    }

    /// Whether an edge leads to a block that is numbered no higher: without one there is no cycle.
    pub fn may_loop(&self) -> bool {
        let edges = |data: &BlockData| data.terminator.edges().iter().map(|edge| edge.target).min();
        self.blocks.iter().any(|(block, data)| edges(data).is_some_and(|least| least <= block))
    }

    /// Makes room for so many more instructions, their values, operands and locations.
    pub fn reserve(&mut self, insts: usize) {
        self.insts.reserve(insts);
        self.values.reserve(insts);
        self.locs.reserve(insts);
        self.pool.reserve(2 * insts);
    }

    /// Its number in the module, as its first location tells.
    pub fn id(&self) -> FuncRef {
        self.locs[Loc(0)].function
    }

    /// A new block without instructions that ends in `Unreachable`.
    pub fn add_block(&mut self) -> Block {
        self.blocks.push(BlockData {
            params: SmallVec::new(),
            insts: Vec::new(),
            terminator: Terminator::Unreachable,
            loc: Loc(0),
        })
    }

    /// A new parameter at the end of a block's list.
    pub fn add_param(&mut self, block: Block, ty: Type) -> Value {
        let index = self.blocks[block].params.len() as u32;
        let value = self.values.push(ValueData { ty, def: ValueDef::Param(block, index) });
        self.blocks[block].params.push(value);
        value
    }

    /// A new variable.
    pub fn add_variable(&mut self, name: impl Into<String>, ty: Type, span: Span) -> Variable {
        let variable = self.variables.next_key();
        let value = self.values.push(ValueData { ty, def: ValueDef::Variable(variable) });
        self.variables.push(VariableData { name: name.into(), ty, value, span })
    }

    /// The value of a constant.
    pub fn constant(&mut self, constant: Const) -> Value {
        *self.constants.entry(constant).or_insert_with(|| {
            self.values.push(ValueData { ty: constant.ty(), def: ValueDef::Const(constant) })
        })
    }

    /// The value of an int constant.
    pub fn int(&mut self, value: i64) -> Value {
        self.constant(Const::Int(value))
    }

    /// The constant that a value is, if it is one.
    #[inline]
    pub fn as_const(&self, value: Value) -> Option<Const> {
        match self.values[value].def {
            ValueDef::Const(constant) => Some(constant),
            _ => None,
        }
    }

    /// The instruction whose result a value is, if it is one.
    #[inline]
    pub fn def_inst(&self, value: Value) -> Option<Inst> {
        match self.values[value].def {
            ValueDef::Inst(inst) => Some(inst),
            _ => None,
        }
    }

    /// What an instruction does besides computing its result: its operator's row says it, or for
    /// `rt` the row of the runtime's table.
    pub fn effects(&self, inst: Inst) -> Effects {
        let InstData { op, imm, .. } = self.insts[inst];
        match op.info().imm_kind {
            ImmKind::Row => Effects::of_row(imm),
            _ => op.info().effects,
        }
    }

    /// The operands of an instruction.
    #[inline]
    pub fn args(&self, inst: Inst) -> &[Value] {
        self.pool.get(self.insts[inst].args)
    }

    /// The operands of an instruction, to be changed in place.
    #[inline]
    pub fn args_mut(&mut self, inst: Inst) -> &mut [Value] {
        self.pool.get_mut(self.insts[inst].args)
    }

    /// Makes an instruction that no block lists yet. `ty` is the result's type where the
    /// operator's row does not tell it (`ResultKind::Stated`), else ignored.
    pub fn make_inst(
        &mut self,
        op: Op,
        args: &[Value],
        imm: u64,
        ty: Option<Type>,
        loc: Loc,
    ) -> Inst {
        let inst = self.insts.next_key();
        let ty = match op.info().result {
            ResultKind::None => None,
            ResultKind::Is(ty) => Some(ty),
            ResultKind::SameAsLast => args.last().map(|&v| self.values[v].ty),
            ResultKind::Stated => ty,
        };
        let result = ty.map(|ty| self.values.push(ValueData { ty, def: ValueDef::Inst(inst) }));
        let args = self.pool.list(args);
        self.insts.push(InstData { op, args, result, loc, imm })
    }

    /// Appends an instruction with a new temporary as its result.
    pub fn append(
        &mut self,
        block: Block,
        op: Op,
        args: &[Value],
        imm: u64,
        ty: Option<Type>,
        loc: Loc,
    ) -> Inst {
        let inst = self.make_inst(op, args, imm, ty, loc);
        self.blocks[block].insts.push(inst);
        inst
    }

    /// Appends an instruction that assigns `variable` (variable form).
    pub fn append_assign(
        &mut self,
        block: Block,
        variable: Variable,
        op: Op,
        args: &[Value],
        imm: u64,
        loc: Loc,
    ) -> Inst {
        let result = Some(self.variables[variable].value);
        let args = self.pool.list(args);
        let inst = self.insts.push(InstData { op, args, result, loc, imm });
        self.blocks[block].insts.push(inst);
        inst
    }

    /// The blocks that an edge leads to from this one, in edge order (with repetition).
    #[inline]
    pub fn succs(&self, block: Block) -> impl DoubleEndedIterator<Item = Block> + '_ {
        self.blocks[block].terminator.edges().iter().map(|edge| edge.target)
    }
}

const _: () = assert!(size_of::<InstData>() <= 32);
