//! Faults that the text syntax cannot express; the others are file tests.

use super::{MAX_ERRORS, verify};
use crate::ir::{
    Block, Const, FuncRef, Function, Inst, Loc, Module, StrRef, Terminator, Type, Value, ValueData,
    ValueDef, parse, print,
};

const TEXT: &str = "
fn @f(int) -> int {
  var n: int
b0(v0: int):
  n = copy v0
  v1 = iadd n, 1
  br ilt v1, 9 -> b1, b2
b1:
  jump b2
b2:
  ret v1
}
";

/// The first error after a change, if there is one.
fn after(change: impl FnOnce(&mut Function)) -> Option<String> {
    let mut module = parse::module(TEXT).unwrap();
    let mut function = module.functions[FuncRef(0)].clone();
    change(&mut function);
    // Whatever is wrong, it can be printed.
    print::function(&module, &function);
    module.functions[FuncRef(0)] = function;
    verify(&module, &module.functions[FuncRef(0)]).err().map(|errors| errors[0].to_string())
}

#[test]
fn dangling_references_are_told() {
    assert_eq!(after(|_| ()), None);
    let nowhere = "it refers to what does not exist";
    let error = after(|f| f.args_mut(Inst(1))[1] = Value(99)).unwrap();
    assert_eq!(error, format!("@f b0: v1 = iadd n, v99: {nowhere}"));
    let error = after(|f| f.insts[Inst(1)].loc = Loc(99)).unwrap();
    assert_eq!(error, format!("@f b0: v1 = iadd n, 1: {nowhere}"));
    let error = after(|f| f.blocks[Block(1)].terminator.edges_mut()[0].target = Block(7));
    assert_eq!(error.unwrap(), format!("@f b1: jump b7: {nowhere}"));
    let error = after(|f| f.blocks[Block(2)].terminator = Terminator::Return(Some(Value(50))));
    assert_eq!(error.unwrap(), format!("@f b2: ret v50: {nowhere}"));
    let error = after(|f| f.blocks[Block(1)].insts.push(Inst(99))).unwrap();
    assert_eq!(error, "@f b1: inst99 does not exist");
    let error = after(|f| f.blocks[Block(1)].params.push(Value(99))).unwrap();
    assert_eq!(error, "@f b1: a parameter is no value of this function");
}

#[test]
fn values_are_what_they_say() {
    let error = after(|f| f.insts[Inst(1)].result = Some(Value(99))).unwrap();
    assert!(error.ends_with("it refers to what does not exist"), "{error}");
    let error = after(|f| f.variables.values_mut().for_each(|x| x.value = Value(0))).unwrap();
    assert_eq!(error, "@f: the value of the variable n is another thing");
    let error = after(|f| {
        let def = ValueDef::Const(Const::Int(1));
        f.values.push(ValueData { ty: Type::Bool, def });
    });
    assert!(error.unwrap().ends_with("does not exist"));
    let error = after(|f| _ = f.constant(Const::Str(StrRef(0)))).unwrap();
    assert!(error.ends_with("does not exist"), "{error}");
    let error = after(|f| _ = f.constant(Const::Func(FuncRef(1)))).unwrap();
    assert!(error.ends_with("does not exist"), "{error}");
}

#[test]
fn lists_are_consistent() {
    let error = after(|f| f.blocks[Block(1)].insts.push(Inst(1))).unwrap();
    assert_eq!(error, "@f b1: v1 = iadd n, 1: the instruction is listed twice");
    let error = after(|f| f.blocks[Block(0)].insts.truncate(1)).unwrap();
    assert_eq!(error, "@f b0: br ilt v1, 9 -> b1, b2: v1 is defined nowhere");
    let error = after(|f| {
        let one = f.int(1);
        f.insts[Inst(1)].result = Some(one);
    });
    assert_eq!(error.unwrap(), "@f b0: 1 = iadd n, 1: the result is a constant");
}

#[test]
fn a_function_without_blocks_is_refused() {
    let error = after(|f| f.blocks.clear());
    assert_eq!(error.unwrap(), "@f: there is no entry block");
}

#[test]
fn errors_are_not_endless() {
    let mut module = parse::module(TEXT).unwrap();
    let function = &mut module.functions[FuncRef(0)];
    let (one, op, loc) = (function.int(1), function.insts[Inst(1)].op, Loc(0));
    for _ in 0..1000 {
        function.append(Block(1), op, &[one], 0, None, loc);
    }
    let errors = verify(&module, &module.functions[FuncRef(0)]).unwrap_err();
    assert_eq!(errors.len(), MAX_ERRORS);
    assert!(verify(&Module::default(), &module.functions[FuncRef(0)]).is_err());
}
