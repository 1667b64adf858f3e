//! Every operator that the table can evaluate, on edge values: operands in registers, in slots and
//! as constants.

use super::machine::Machine;
use crate::entity::Entity;
use crate::ir::{
    Const, ENTRY, Form, FuncRef, Function, Kind, Loc, Module, Op, ResultKind, Signature,
    Terminator, Type,
};
use crate::x64::Features;

const INTS: [i64; 40] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    5,
    7,
    -7,
    8,
    -8,
    9,
    10,
    16,
    63,
    64,
    65,
    100,
    127,
    128,
    -128,
    -129,
    255,
    256,
    1000,
    -1000,
    1_000_000_007,
    0x7FFF_FFFF,
    0x8000_0000,
    -0x8000_0000,
    -0x8000_0001,
    0xFFFF_FFFF,
    0x1_0000_0000,
    0x1122_3344_5566_7788,
    i64::MAX,
    i64::MAX - 1,
    i64::MIN,
    i64::MIN + 1,
    0x5555_5555_5555_5555,
];

fn floats() -> Vec<u64> {
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        1e300,
        -1e300,
        5e-324,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -f64::NAN,
        9.223372036854775e18,
        9.223372036854776e18,
        -9.223372036854776e18,
        -9.223372036854778e18,
        4503599627370497.5,
        0.1,
    ];
    values.map(f64::to_bits).to_vec()
}

fn words(ty: Type) -> Vec<u64> {
    match ty {
        Type::Int => INTS.map(|i| i as u64).to_vec(),
        Type::Float => floats(),
        Type::Bool => vec![0, 1],
        Type::Ref => vec![0],
    }
}

/// The operand types that an operator is tried with.
fn param_types(op: Op) -> Vec<Vec<Type>> {
    let Some(kinds) = op.info().params else { return Vec::new() };
    let mut lists = Vec::new();
    for any in [Type::Int, Type::Float, Type::Bool] {
        let list = kinds.iter().map(|kind| match kind {
            Kind::Is(ty) => *ty,
            Kind::Word | Kind::Any => any,
        });
        let list: Vec<Type> = list.collect();
        let fits = any != Type::Float || !kinds.contains(&Kind::Word);
        if fits && !lists.contains(&list) {
            lists.push(list);
        }
    }
    lists
}

/// A module of functions, each of which applies an operator: constants where `constants` tells, else
/// parameters. In a second group the result decides a branch.
struct Cases {
    module: Module,
    cases: Vec<Case>,
}

struct Case {
    function: FuncRef,
    op: Op,
    types: Vec<Type>,
    constants: Vec<Option<u64>>,
}

impl Cases {
    fn new() -> Self {
        Self { module: Module::default(), cases: Vec::new() }
    }

    fn add(&mut self, op: Op, types: &[Type], constants: &[Option<u64>], branch: bool) {
        let id = FuncRef::new(self.module.functions.len());
        let params = types.iter().zip(constants).filter(|(_, c)| c.is_none()).map(|(&ty, _)| ty);
        let params: Vec<Type> = params.collect();
        let result = match op.info().result {
            ResultKind::Is(ty) => ty,
            _ => *types.last().expect("an operand"),
        };
        let signature = Signature { params: params.clone(), result: Some(result), env: false };
        let mut function = Function::new("f", id, signature);
        function.form = Form::Ssa;
        let mut given =
            params.iter().map(|&ty| function.add_param(ENTRY, ty)).collect::<Vec<_>>().into_iter();
        let args: Vec<_> = types
            .iter()
            .zip(constants)
            .map(|(&ty, constant)| match constant {
                None => given.next().expect("a parameter"),
                Some(bits) => {
                    let constant = Const::from_bits(ty, *bits).expect("a constant");
                    function.constant(constant)
                }
            })
            .collect();
        if branch {
            let (yes, no) = (function.add_block(), function.add_block());
            let bools = [true, false].map(|b| function.constant(Const::Bool(b)));
            for (block, value) in [yes, no].into_iter().zip(bools) {
                function.blocks[block].terminator = Terminator::Return(Some(value));
            }
            function.blocks[ENTRY].terminator = Terminator::Branch {
                op,
                args: [args[0], args[1]],
                edges: [yes, no].map(crate::ir::Edge::to),
            };
        } else {
            let inst = function.append(ENTRY, op, &args, 0, None, Loc(0));
            let value = function.insts[inst].result;
            function.blocks[ENTRY].terminator = Terminator::Return(value);
        }
        self.module.functions.push(function);
        self.module.captures.push(Vec::new());
        self.module.names.push(None);
        let (types, constants) = (types.to_vec(), constants.to_vec());
        self.cases.push(Case { function: id, op, types, constants });
    }

    fn run(self, features: Features, seed: u64) {
        let mut machine = Machine::spilled(&self.module, features, seed);
        for case in &self.cases {
            let choices: Vec<Vec<u64>> = case
                .types
                .iter()
                .zip(&case.constants)
                .map(|(&ty, constant)| constant.map_or_else(|| words(ty), |bits| vec![bits]))
                .collect();
            let total: usize = choices.iter().map(Vec::len).product();
            for mut n in 0..total {
                let operands: Vec<u64> = choices
                    .iter()
                    .map(|words| {
                        let word = words[n % words.len()];
                        n /= words.len();
                        word
                    })
                    .collect();
                let passed: Vec<u64> = operands
                    .iter()
                    .zip(&case.constants)
                    .filter(|(_, constant)| constant.is_none())
                    .map(|(&word, _)| word)
                    .collect();
                let expected = case.op.info().eval.expect("evaluated")(&operands);
                let may_trap = case.op.info().effects.has(crate::ir::Effects::TRAPS);
                if expected.is_none() && !may_trap {
                    continue;
                }
                if case.op == Op::CheckBounds && (operands[1] as i64) < 0 {
                    continue;
                }
                let result = machine.call(&self.module, case.function, &passed).ok();
                let is_nan = |bits: Option<u64>| bits.is_some_and(|b| f64::from_bits(b).is_nan());
                let float =
                    self.module.functions[case.function].signature.result == Some(Type::Float);
                // Which NaN comes out of an operation on two is not laid down.
                let same = result == expected || float && is_nan(result) && is_nan(expected);
                assert!(
                    same,
                    "{:?} {operands:x?} (constants {:x?}) gives {result:x?}, not {expected:x?}",
                    case.op, case.constants
                );
            }
        }
    }
}

fn each_op(mut visit: impl FnMut(Op, &[Type])) {
    for &op in Op::ALL.iter().filter(|op| op.info().eval.is_some()) {
        for types in param_types(op) {
            visit(op, &types);
        }
    }
}

#[test]
fn on_registers() {
    for features in [Features::detect(), Features::BASELINE] {
        for seed in 0..4 {
            let mut cases = Cases::new();
            each_op(|op, types| {
                cases.add(op, types, &vec![None; types.len()], false);
                if op.is_comparison() {
                    cases.add(op, types, &[None, None], true);
                }
            });
            cases.run(features, seed);
        }
    }
}

#[test]
fn on_constants() {
    for features in [Features::detect(), Features::BASELINE] {
        let mut cases = Cases::new();
        each_op(|op, types| {
            for at in 0..types.len() {
                for word in words(types[at]) {
                    let mut constants = vec![None; types.len()];
                    constants[at] = Some(word);
                    cases.add(op, types, &constants, false);
                    if op.is_comparison() {
                        cases.add(op, types, &constants, true);
                    }
                }
            }
        });
        cases.run(features, 0);
    }
}

#[test]
fn on_constants_alone() {
    let mut cases = Cases::new();
    each_op(|op, types| {
        let all: Vec<Vec<u64>> = types.iter().map(|&ty| words(ty)).collect();
        for n in 0..12 {
            let pick = |(i, words): (usize, &Vec<u64>)| Some(words[(n * (i + 3)) % words.len()]);
            let constants: Vec<Option<u64>> = all.iter().enumerate().map(pick).collect();
            cases.add(op, types, &constants, false);
            if op.is_comparison() {
                cases.add(op, types, &constants, true);
            }
        }
    });
    cases.run(Features::detect(), 0);
}
