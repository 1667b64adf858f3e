//! The problems against the meaning of programs: what a solution allows is done, and the programs must
//! print and end as they did.

use super::each_module;
use crate::analysis::available::Available;
use crate::analysis::busy::Busy;
use crate::analysis::constants::{Constants, Known, constant};
use crate::analysis::dataflow::{GenKill, solve};
use crate::analysis::expressions::{Expression, Expressions};
use crate::analysis::facts::Point;
use crate::entity::Entity;
use crate::ir::interp::Interpreter;
use crate::ir::print;
use crate::ir::{Cfg, Function, Loc, Module, Op};
use crate::source::Span;
use toyjit_runtime::{Config, Input, Output, Runtime, Stop};

fn outcome(module: &Module) -> (Vec<u8>, Result<i32, Stop>) {
    let (output, captured) = Output::capture();
    let config = Config { output, input: Input::bytes(Vec::new()), ..Config::default() };
    let mut runtime = Runtime::new(config).expect("a runtime");
    let interpreter = Interpreter::new(module, &mut runtime).expect("a program that fits");
    let result = interpreter.with_limit(1 << 20).run_program();
    (captured.take(), result.map_err(|stopped| stopped.stop))
}

/// Rewrites each function by what `rewrite` finds, and expects the program to do the same.
fn rewritten(seeds: u64, rewrite: impl Fn(&Module, &Function, &Cfg, &mut Function) -> usize) {
    let mut count = 0;
    each_module(seeds, |seed, module| {
        let mut changed = module.clone();
        for (id, f) in module.functions.iter() {
            count += rewrite(module, f, &Cfg::compute(f), &mut changed.functions[id]);
        }
        let text = || print::module(&changed);
        assert_eq!(outcome(&changed), outcome(module), "seed {seed}\n{}", text());
    });
    assert!(count > seeds as usize / 4, "only {count} rewrites");
}

#[test]
fn what_is_constant_may_be_replaced() {
    rewritten(200, |module, f, cfg, changed| {
        let problem = Constants::new(module, f, cfg);
        let solution = solve(f, cfg, &problem);
        let mut count = 0;
        for &block in cfg.rpo() {
            solution.replay(f, &problem, block, |at, known| {
                let (Some(inst), Known::Constants(known)) = (at.inst(f), known) else { return };
                for (i, &arg) in f.args(inst).iter().enumerate() {
                    if let Some(found) = constant(f, known, arg)
                        && f.as_const(arg).is_none()
                    {
                        changed.args_mut(inst)[i] = changed.constant(found);
                        count += 1;
                    }
                }
            });
        }
        count
    });
}

#[test]
fn what_is_available_need_not_be_computed() {
    rewritten(200, |_, f, cfg, changed| {
        let expressions = Expressions::compute(f, cfg);
        let all: Vec<Expression> = expressions.keys().collect();
        let problem = Available::new(&expressions, &all);
        let solution = solve(f, cfg, &problem);
        // A variable for each expression keeps what was computed last.
        let mut kept = vec![None; all.len()];
        let mut count = 0;
        for &block in cfg.rpo() {
            let mut insts = Vec::new();
            solution.replay(f, &problem, block, |at, available| {
                let Some(inst) = at.inst(f) else { return };
                insts.push(inst);
                let Some((expression, result)) =
                    expressions.of_inst(inst).zip(f.insts[inst].result)
                else {
                    return;
                };
                let ty = f.values[result].ty;
                let variable = *kept[expression.index()].get_or_insert_with(|| {
                    changed.add_variable(format!("kept{expression}"), ty, Span::default())
                });
                if available.contains(expression.index()) {
                    let args = changed.pool.list(&[changed.variables[variable].value]);
                    let data = &mut changed.insts[inst];
                    (data.op, data.args, data.imm) = (Op::Copy, args, 0);
                    count += 1;
                } else {
                    // `append_assign` puts it at the end of the block, whose list is replaced below.
                    insts.push(changed.append_assign(
                        block,
                        variable,
                        Op::Copy,
                        &[result],
                        0,
                        Loc(0),
                    ));
                }
            });
            changed.blocks[block].insts = insts;
        }
        count
    });
}

#[test]
fn what_is_very_busy_may_be_computed_before() {
    rewritten(200, |_, f, cfg, changed| {
        let expressions = Expressions::compute(f, cfg);
        let all: Vec<Expression> = expressions.keys().collect();
        let problem = Busy::new(&expressions, cfg, &all);
        let solution = solve(f, cfg, &problem);
        let mut example = vec![None; all.len()];
        for &block in cfg.rpo() {
            for &inst in &f.blocks[block].insts {
                if let Some(expression) = expressions.of_inst(inst) {
                    example[expression.index()] = Some(inst);
                }
            }
        }
        let mut count = 0;
        for &block in cfg.rpo() {
            let mut state = solution.at(f, &problem, Point { block, index: 0 });
            GenKill::transfer(&problem, f, Point { block, index: 0 }, &mut state);
            let mut early = Vec::new();
            for &expression in expressions.trapping() {
                let Some(inst) = example[expression.index()] else { continue };
                let data = f.insts[inst];
                if state.contains(expression.index()) && !expressions.is_nested(expression) {
                    let (op, args) = (data.op, f.args(inst).to_vec());
                    early.push(changed.make_inst(op, &args, data.imm, None, data.loc));
                    count += 1;
                }
            }
            // Several early checks in one place may trap in another order than before.
            early.truncate(1);
            changed.blocks[block].insts.splice(0..0, early);
        }
        count
    });
}
