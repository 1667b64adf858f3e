//! The work of allocating is near-linear in the size of the code.

use super::code::Blocks;
use crate::mach::{VCode, VReg};
use crate::regalloc::fake::{FakeInst, registers};
use crate::regalloc::generate::Rng;
use crate::regalloc::{Options, allocate_counted};

fn straight_line(size: usize) -> VCode<FakeInst> {
    let mut rng = Rng::new(1);
    let mut code = Blocks::new(1);
    let mut known: Vec<VReg> = (0..20).map(|_| code.value(0)).collect();
    for i in 0..size {
        let (a, b) = (known[rng.below(20)], known[rng.below(20)]);
        let new = code.operation(0, &[a, b]);
        if i % 50 == 0 {
            code.call(0, &[a, b]);
        }
        known[rng.below(20)] = new;
    }
    code.finish()
}

fn many_ifs(size: usize) -> VCode<FakeInst> {
    let count = size / 4;
    let mut code = Blocks::new(count * 3 + 1);
    let mut carried = [code.value(0), code.value(0), code.value(0)];
    for k in 0..count {
        let (top, then, join) = (k * 3, k * 3 + 1, k * 3 + 2);
        code.branch(top, carried[0], &[then, join]);
        code.call(then, &[carried[1]]);
        code.jump(then, join);
        carried[k % 3] = code.operation(join, &[carried[0], carried[2]]);
        code.jump(join, k * 3 + 3);
    }
    code.finish()
}

fn many_values_through_many_blocks(size: usize) -> VCode<FakeInst> {
    let (values, blocks) = (1000, size / 2);
    let mut code = Blocks::new(blocks);
    let all: Vec<VReg> = (0..values).map(|_| code.value(0)).collect();
    for block in 0..blocks - 1 {
        let used = code.operation(block, &[all[block % values], all[block * 7 % values]]);
        if block % 10 == 3 {
            code.call(block, &[used]);
        }
        let back = if block % 97 == 96 { block - 90 } else { block + 1 };
        code.branch(block, used, &[block + 1, back]);
    }
    for value in all {
        code.operation(blocks - 1, &[value]);
    }
    code.finish()
}

fn nested_loops(size: usize) -> VCode<FakeInst> {
    let depth = 50;
    let nests = size / (depth * 4);
    let mut code = Blocks::new(nests * depth * 2 + 1);
    let mut carried: Vec<VReg> = (0..20).map(|_| code.value(0)).collect();
    for nest in 0..nests {
        let base = nest * depth * 2;
        for level in 0..depth {
            let value = code.operation(base + level, &[carried[level % 20], carried[nest % 20]]);
            code.set_depth(base + level, level);
            code.jump(base + level, base + level + 1);
            let latch = base + depth * 2 - 1 - level;
            code.set_depth(latch, level);
            let cond = code.operation(latch, &[value, carried[(level + 7) % 20]]);
            code.branch(latch, cond, &[latch + 1, base + level.max(1)]);
            if level == 0 {
                carried[nest % 20] = value;
            }
        }
    }
    code.finish()
}

fn check(make: fn(usize) -> VCode<FakeInst>, small: usize) {
    let registers = registers(14, 15);
    for spill_everything in [false, true] {
        let options = Options { spill_everything };
        let work = |size: usize| {
            let code = make(size);
            let started = std::time::Instant::now();
            let (_, work) = allocate_counted(&code, &registers, &options, &mut ());
            eprintln!("{} instructions: work {work}, {:?}", code.insts.len(), started.elapsed());
            work as f64
        };
        let growth = work(small * 4) / work(small);
        assert!(growth < 4.0 * 1.6, "four times the code is {growth:.1} times the work");
    }
}

#[test]
fn straight_line_code() {
    check(straight_line, 5000);
}

#[test]
fn code_with_many_branches() {
    check(many_ifs, 5000);
}

#[test]
fn many_values_live_through_many_blocks() {
    check(many_values_through_many_blocks, 2000);
}

#[test]
fn deeply_nested_loops() {
    check(nested_loops, 5000);
}

#[test]
#[ignore = "prints times; for optimised builds"]
fn times() {
    check(straight_line, 100_000);
    check(many_ifs, 100_000);
    check(many_values_through_many_blocks, 5_000);
    check(nested_loops, 100_000);
}
