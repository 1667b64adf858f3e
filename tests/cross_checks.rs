//! Parts of the compiler against the textbook's version of what they find, on random programs.

use toyjit::analysis::constants::{Constants, Known, constant};
use toyjit::analysis::dataflow::solve;
use toyjit::analysis::facts::Point;
use toyjit::ir::generate::{self, Rng, Shape};
use toyjit::ir::{Cfg, Form, Terminator, Value};
use toyjit::opt::{self, PASSES};
use toyjit::ssa::{self, Construction, Folding};

/// The values that a block's end tests or returns.
fn operands(terminator: &Terminator) -> Vec<Value> {
    match terminator {
        Terminator::Branch { args, .. } => args.to_vec(),
        Terminator::Switch(switch) => vec![switch.value],
        Terminator::Return(value) => value.iter().copied().collect(),
        _ => Vec::new(),
    }
}

/// Sparse conditional propagation finds every constant that Kildall's lattice finds.
#[test]
fn sparse_conditional_propagation_finds_at_least_the_lattices_constants() {
    let others = PASSES.iter().filter(|pass| pass.name != "sccp");
    let disabled = others.map(|pass| pass.name.to_owned()).collect();
    let options = opt::Options { disabled, ..opt::Options::at_level(3) };
    let mut found = 0;
    for seed in 0..150 {
        let shape = Shape { form: Form::Variable, ..Shape::default() };
        let module = generate::module(&mut Rng::new(seed), &shape);
        let mut propagated = module.clone();
        for f in propagated.functions.values_mut() {
            ssa::construct(f, Construction::Pruned, Folding::Off);
        }
        opt::run(&mut propagated, &options, &mut ());
        for (id, f) in module.functions.iter() {
            let cfg = Cfg::compute(f);
            let problem = Constants::new(&module, f, &cfg);
            let solution = solve(f, &cfg, &problem);
            let after = &propagated.functions[id];
            let still = Cfg::compute(after);
            for &block in cfg.rpo().iter().filter(|&&block| still.is_reachable(block)) {
                let end = Point { block, index: f.blocks[block].insts.len() as u32 };
                let Known::Constants(known) = solution.at(f, &problem, end) else { continue };
                let (before, after_operands) =
                    (&f.blocks[block].terminator, operands(&after.blocks[block].terminator));
                // A branch that was decided tests nothing any longer.
                for (&value, &now) in operands(before).iter().zip(&after_operands) {
                    if let Some(expected) = constant(f, &known, value) {
                        assert_eq!(
                            after.as_const(now),
                            Some(expected),
                            "seed {seed}, {id}, {block}"
                        );
                        found += usize::from(f.as_const(value).is_none());
                    }
                }
            }
        }
    }
    assert!(found > 10, "only {found} constants");
}
