use crate::analysis::available::Available;
use crate::analysis::dataflow::solve;
use crate::analysis::expressions::{Expression, Expressions};
use crate::analysis::graph::Graph;
use crate::entity::Entity;
use crate::ir::generate::{self, Rng, Shape};
use crate::ir::{Block, Cfg, Dominators, Function, Inst};
use crate::opt::{Context, Fuel};

/// What every path has computed and a dominating block too is not computed again: numbering finds
/// at least what the dataflow problem finds, where there is one value to take.
#[test]
fn finds_what_is_available() {
    let mut found = 0;
    for seed in 0..300 {
        let module = generate::module(&mut Rng::new(seed), &Shape::default());
        for (id, f) in module.functions.iter() {
            let cfg = Cfg::compute(f);
            let redundant = redundant(f, &cfg);
            let (mut after, mut fuel) = (f.clone(), Fuel::new(None));
            let remarks = &mut crate::opt::remark::Remarks::default();
            let cx = &mut Context {
                module: &module,
                id,
                fuel: &mut fuel,
                remarks,
                graph: &mut Graph::default(),
            };
            super::run(&mut after, cx);
            let left: Vec<Inst> =
                after.blocks.values().flat_map(|data| data.insts.clone()).collect();
            let missed = redundant.iter().find(|inst| left.contains(inst));
            assert_eq!(missed, None, "seed {seed}, {id}");
            found += redundant.len();
        }
    }
    assert!(found > 100, "only {found} were available");
}

/// The instructions whose expression is available where they stand and computed by another
/// instruction on the way from the entry.
fn redundant(f: &Function, cfg: &Cfg) -> Vec<Inst> {
    let dominators = Dominators::compute(cfg);
    let expressions = Expressions::compute(f, cfg);
    let all: Vec<Expression> = expressions.keys().collect();
    let problem = Available::new(&expressions, &all);
    let solution = solve(f, cfg, &problem);
    let mut redundant = Vec::new();
    for &block in cfg.rpo() {
        let mut here = Vec::new();
        solution.replay(f, &problem, block, |at, available| {
            let Some(inst) = at.inst(f) else { return };
            let Some(expression) = expressions.of_inst(inst) else { return };
            let above = |&other: &Block| other != block && dominators.dominates(other, block);
            let dominated =
                here.contains(&expression) || expressions.blocks(expression).iter().any(above);
            if dominated && available.contains(expression.index()) {
                redundant.push(inst);
            }
            here.push(expression);
        });
    }
    redundant
}
