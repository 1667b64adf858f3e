//! The expressions of a function in the variable form, told apart by what is written: operator and
//! operands, where an operand that is a temporary of the same block counts as the expression that
//! made it, as long as no variable in that was assigned since. So `a * b + c` is one expression
//! wherever it stands. Other temporaries count as variables with one assignment.
//!
//! Expressions are pure operators and checks: what depends on its operands alone. A check is also
//! *trapping*.
//!
//! [`Function`], [`Cfg`] → [`Expressions`], near-linear.

use super::subset::Buckets;
use crate::entity::{Arena, EntitySet, SideTable};
use crate::ir::print::Printer;
use crate::ir::{Block, Cfg, Effects, Function, Inst, Module, Op, Type, Value, ValueDef};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

crate::entity! {
    /// An expression.
    Expression = "e";
}

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operand {
    Value(Value),
    Expression(Expression),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    op: Op,
    imm: u64,
    ty: Type,
    operands: SmallVec<[Operand; 3]>,
}

#[derive(Clone, Debug)]
struct ExpressionData {
    key: Key,
    /// The variables and temporaries that it depends on.
    leaves: SmallVec<[Value; 4]>,
}

/// An expression with more leaves than this counts as a variable where it is an operand.
const MAX_LEAVES: usize = 8;

/// The expressions of a function.
#[derive(Debug)]
pub struct Expressions {
    list: Arena<Expression, ExpressionData>,
    of_inst: SideTable<Inst, Option<Expression>>,
    /// By leaf: which expressions an assignment kills.
    killed_by: Buckets<Expression>,
    /// Where they are computed.
    blocks: Buckets<Block>,
    trapping: Vec<Expression>,
}

impl Expressions {
    /// The expressions in reachable blocks, in the order in which they first occur.
    pub fn compute(f: &Function, cfg: &Cfg) -> Self {
        let mut numbering = Numbering {
            f,
            list: Arena::new(),
            known: FxHashMap::default(),
            made: SideTable::with_len((0, None), f.values.len()),
            assigned: SideTable::with_len(0, f.values.len()),
            now: 0,
        };
        let mut of_inst = SideTable::with_len(None, f.insts.len());
        let mut blocks = Vec::new();
        for &block in cfg.rpo() {
            let start = numbering.now;
            for &inst in &f.blocks[block].insts {
                numbering.now += 1;
                let expression = numbering.inst(inst, start);
                of_inst[inst] = expression;
                blocks.extend(expression.map(|expression| (expression, block)));
            }
        }
        let list = numbering.list;
        let mut pairs = Vec::new();
        let mut trapping = Vec::new();
        let mut traps = EntitySet::<Expression>::with_len(list.len());
        for (expression, data) in list.iter() {
            pairs.extend(data.leaves.iter().map(|&leaf| (leaf, expression)));
            let inner = data.key.operands.iter().any(|operand| match operand {
                Operand::Expression(inner) => traps.contains(*inner),
                Operand::Value(_) => false,
            });
            if inner || data.key.op.info().effects.has(Effects::TRAPS) {
                traps.insert(expression);
                trapping.push(expression);
            }
        }
        Self {
            killed_by: Buckets::new(f.values.len(), &pairs),
            blocks: Buckets::new(list.len(), &blocks),
            list,
            of_inst,
            trapping,
        }
    }

    /// All of them.
    pub fn keys(&self) -> impl Iterator<Item = Expression> + use<> {
        self.list.keys()
    }

    /// The one that an instruction computes.
    pub fn of_inst(&self, inst: Inst) -> Option<Expression> {
        self.of_inst[inst]
    }

    /// Those that an assignment of this value kills: those that use it.
    pub fn killed_by(&self, value: Value) -> &[Expression] {
        self.killed_by.of(value)
    }

    /// The blocks that compute one.
    pub fn blocks(&self, expression: Expression) -> &[Block] {
        self.blocks.of(expression)
    }

    /// Those that may trap.
    pub fn trapping(&self) -> &[Expression] {
        &self.trapping
    }

    /// Whether an operand is itself an expression.
    pub fn is_nested(&self, expression: Expression) -> bool {
        let operands = &self.list[expression].key.operands;
        operands.iter().any(|operand| matches!(operand, Operand::Expression(_)))
    }

    /// An expression as one would write it.
    pub fn describe(&self, module: &Module, f: &Function, expression: Expression) -> String {
        let Key { op, operands, .. } = &self.list[expression].key;
        let operands = operands.iter().map(|operand| match *operand {
            Operand::Value(value) => Printer::new(module).value(f, value),
            Operand::Expression(inner) => format!("({})", self.describe(module, f, inner)),
        });
        format!("{} {}", op.info().name, operands.collect::<Vec<_>>().join(", "))
    }
}

struct Numbering<'a> {
    f: &'a Function,
    list: Arena<Expression, ExpressionData>,
    known: FxHashMap<Key, Expression>,
    /// When a temporary was made, and from which expression.
    made: SideTable<Value, (u32, Option<Expression>)>,
    /// When a variable or temporary was last assigned.
    assigned: SideTable<Value, u32>,
    /// Instructions are counted from 1.
    now: u32,
}

impl Numbering<'_> {
    /// The expression of an instruction in the block whose first instruction has the number after
    /// `start`.
    fn inst(&mut self, inst: Inst, start: u32) -> Option<Expression> {
        let f = self.f;
        let data = &f.insts[inst];
        let result = data.result?;
        let others = Effects(Effects::ALL.0 & !Effects::TRAPS.0);
        let expression = (data.op != Op::Copy && !f.effects(inst).has(others)).then(|| {
            let mut leaves = SmallVec::new();
            let operands = f.args(inst).iter().map(|&arg| self.operand(arg, start, &mut leaves));
            let operands = operands.collect();
            let key = Key { op: data.op, imm: data.imm, ty: f.values[result].ty, operands };
            leaves.sort_unstable();
            leaves.dedup();
            let list = &mut self.list;
            let enter = || list.push(ExpressionData { key: key.clone(), leaves });
            *self.known.entry(key.clone()).or_insert_with(enter)
        });
        if matches!(f.values[result].def, ValueDef::Inst(_)) {
            self.made[result] = (self.now, expression);
        }
        self.assigned[result] = self.now;
        expression
    }

    fn operand(&self, arg: Value, start: u32, leaves: &mut SmallVec<[Value; 4]>) -> Operand {
        if let (made, Some(expression)) = self.made[arg]
            && made > start
            && self.list[expression].leaves.len() <= MAX_LEAVES
            && self.list[expression].leaves.iter().all(|&leaf| self.assigned[leaf] < made)
        {
            leaves.extend_from_slice(&self.list[expression].leaves);
            return Operand::Expression(expression);
        }
        if self.f.as_const(arg).is_none() {
            leaves.push(arg);
        }
        Operand::Value(arg)
    }
}
