mod code;
mod mutate;
mod quality;
mod scale;

use super::checker::check;
use super::fake::{FakeInst, registers, run_allocated, run_virtual};
use super::generate::{Rng, Shape, generate};
use super::{Options, allocate};
use crate::mach::{Allocation, RegisterFile, VCode};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

const FUEL: u64 = 60;

fn listing(code: &VCode<FakeInst>) -> String {
    let mut text = String::new();
    for (block, data) in code.blocks.iter() {
        text += &format!("{block}{:?} depth {} cold {}\n", data.params, data.loop_depth, data.cold);
        for i in data.insts.clone() {
            let inst = &code.insts[i as usize];
            text += &format!("  {i}:");
            for o in &inst.operands {
                let v = code.vregs[o.vreg];
                let kind = if v.is_ref { "!" } else { "" };
                text += &format!(" {:?} {:?}{kind} {:?},", o.role, o.vreg, o.constraint);
            }
            let clobbers: Vec<_> = inst.clobbers.iter().collect();
            text += &format!(" clobbers {clobbers:?}");
            if inst.safepoint {
                text += " safepoint";
            }
            if inst.constant {
                text += " constant";
            }
            text += "\n";
        }
        for edge in &data.succs {
            text += &format!("    -> {}{:?}\n", edge.target, edge.args);
        }
    }
    text
}

fn allocated_listing(code: &VCode<FakeInst>, allocation: &Allocation) -> String {
    let mut text = String::new();
    for i in 0..code.insts.len() {
        for (p, e) in allocation.edits.iter().filter(|(p, _)| p.inst as usize == i) {
            text += &format!("    {:?} {e:?}\n", p.side);
        }
        text += &format!("  {i}: {:?}\n", allocation.of(i));
    }
    for m in &allocation.edge_moves {
        text += &format!("{m:?}\n");
    }
    text + &format!("{:?}", allocation.stack_maps)
}

/// Allocates, checks, executes; the error tells it all.
fn try_one(
    code: &VCode<FakeInst>,
    registers: &RegisterFile,
    options: &Options,
) -> Result<(), String> {
    let allocated = catch_unwind(AssertUnwindSafe(|| allocate(code, registers, options)));
    let Ok(allocation) = allocated else { return Err("panic".into()) };
    let verdict = check(code, &allocation, registers).map_err(|e| e.to_string()).and_then(|()| {
        let wanted = run_virtual(code, FUEL);
        let got = run_allocated(code, &allocation, FUEL)?;
        if got == wanted { Ok(()) } else { Err("another trace".into()) }
    });
    verdict.map_err(|error| format!("{error}\n{}", allocated_listing(code, &allocation)))
}

/// The code, registers and options of a seed.
fn random_case(seed: u64) -> (VCode<FakeInst>, RegisterFile, Options, Rng) {
    let mut rng = Rng::new(seed);
    let (ints, floats) = [(3, 2), (4, 3), (6, 4), (14, 15)][rng.below(4)];
    let registers = registers(ints, floats);
    let options = Options { spill_everything: rng.percent(20) };
    let shape = Shape::random(&mut rng);
    let code = generate(&mut rng, shape, &registers);
    (code, registers, options, rng)
}

fn fuzz(seeds: Range<u64>) {
    for seed in seeds {
        let (code, registers, options, _) = random_case(seed);
        if let Err(error) = try_one(&code, &registers, &options) {
            panic!(
                "seed {seed}, {} registers, {options:?}\n{}\n{error}",
                registers.allocatable.len(),
                listing(&code)
            );
        }
    }
}

#[test]
fn random_code() {
    fuzz(0..1500);
}

/// The seeds in `TOYJIT_FUZZ`, written `first..end`.
#[test]
#[ignore = "as long as you like"]
fn random_code_of_chosen_seeds() {
    let seeds = std::env::var("TOYJIT_FUZZ").unwrap_or_else(|_| "1500..100000".into());
    let bounds: Vec<u64> = seeds.split("..").filter_map(|bound| bound.parse().ok()).collect();
    let &[first, end] = &bounds[..] else { panic!("TOYJIT_FUZZ=first..end") };
    fuzz(first..end);
}
