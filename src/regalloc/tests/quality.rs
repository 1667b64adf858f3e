//! Small programs whose allocation should be as good as by hand.

use super::code::Blocks;
use crate::entity::Entity;
use crate::mach::{Allocation, Edit, Operand, PReg, Place, Side, VBlock, VCode};
use crate::regalloc::checker::check;
use crate::regalloc::fake::{FakeInst, registers};
use crate::regalloc::generate::{Rng, Shape, generate};
use crate::regalloc::{Options, allocate, dump_intervals, written_registers};

fn allocated(code: &VCode<FakeInst>, ints: u8) -> Allocation {
    let registers = registers(ints, 15);
    let allocation = allocate(code, &registers, &Options::default());
    assert_eq!(check(code, &allocation, &registers), Ok(()));
    allocation
}

fn edits_in(code: &VCode<FakeInst>, allocation: &Allocation, block: usize) -> Vec<Edit> {
    let insts = code.blocks[VBlock::new(block)].insts.clone();
    let inside = allocation.edits.iter().filter(|(point, _)| insts.contains(&point.inst));
    inside.map(|&(_, edit)| edit).collect()
}

fn count(allocation: &Allocation) -> usize {
    let edges: usize = allocation.edge_moves.iter().map(|moves| moves.edits.len()).sum();
    allocation.edits.len() + edges
}

#[test]
fn a_counted_loop_has_no_moves() {
    let mut code = Blocks::new(3);
    let (start, step) = (code.value(0), code.value(0));
    let (i, sum) = (code.param(1), code.param(1));
    code.jump_with(0, 1, &[start, step]);
    let next_sum = code.two_address(1, sum, i);
    let next = code.two_address(1, i, step);
    code.set_depth(1, 1);
    code.branch(1, next, &[]);
    code.edge(1, 1, &[next, next_sum]);
    code.edge(1, 2, &[]);
    code.push(2, &[Operand::fixed(next_sum, PReg(0))]);
    let code = code.finish();
    let allocation = allocated(&code, 14);
    assert_eq!(edits_in(&code, &allocation, 1), []);
    assert!(allocation.edge_moves.iter().all(|moves| moves.from != VBlock::new(1)));
    assert!(count(&allocation) <= 2, "{allocation:?}");
}

#[test]
fn a_value_not_used_in_a_loop_leaves_its_register_before() {
    let mut code = Blocks::new(3);
    let idle = code.value(0);
    let all: Vec<_> = (0..3).map(|_| code.value(0)).collect();
    code.jump(0, 1);
    code.set_depth(1, 1);
    for _ in 0..3 {
        code.push(1, &all.iter().map(|&v| Operand::reg(v)).collect::<Vec<_>>());
    }
    code.branch(1, all[0], &[1, 2]);
    code.push(2, &[Operand::reg(idle)]);
    let code = code.finish();
    let allocation = allocated(&code, 3);
    assert_eq!(edits_in(&code, &allocation, 1), []);
    assert!(allocation.edge_moves.iter().all(|m| m.from == VBlock::new(0)), "{allocation:?}");
    assert_eq!(count(&allocation), 2, "a store and a reload: {allocation:?}");
}

#[test]
fn a_call_on_a_cold_path_costs_the_hot_path_nothing() {
    let mut code = Blocks::new(4);
    let values: Vec<_> = (0..8).map(|_| code.value(0)).collect();
    code.branch(0, values[0], &[1, 3]);
    for &value in &values {
        code.push(1, &[Operand::reg(value)]);
    }
    code.jump(1, 2);
    code.set_cold(3);
    code.call(3, &[]);
    code.jump(3, 1);
    let code = code.finish();
    let allocation = allocated(&code, 14);
    assert_eq!(edits_in(&code, &allocation, 0), []);
    assert_eq!(edits_in(&code, &allocation, 1), []);
    let edges = &allocation.edge_moves;
    assert!(edges.iter().all(|m| m.from == VBlock::new(3) || m.succ == 1), "{edges:?}");
}

#[test]
fn values_that_cross_a_call_live_in_registers_that_it_preserves() {
    let mut code = Blocks::new(1);
    let (a, b) = (code.value(0), code.value(0));
    let result = code.call(0, &[a]);
    code.push(0, &[Operand::reg(a), Operand::reg(b), Operand::reg(result)]);
    let code = code.finish();
    let allocation = allocated(&code, 14);
    assert_eq!(count(&allocation), 1, "the argument: {allocation:?}");
}

#[test]
fn a_reference_is_stored_once_and_reloaded_when_needed() {
    let mut code = Blocks::new(1);
    let object = code.reference();
    code.push(0, &[Operand::def(object)]);
    code.call(0, &[]);
    code.call(0, &[]);
    code.push(0, &[Operand::reg(object)]);
    code.push(0, &[Operand::reg(object)]);
    let code = code.finish();
    let allocation = allocated(&code, 14);
    let stores = allocation
        .edits
        .iter()
        .filter(|(_, edit)| matches!(edit, Edit::Move { to: Place::Slot(_), .. }));
    assert_eq!(stores.count(), 1);
    assert_eq!(count(&allocation), 2, "{allocation:?}");
    assert!(allocation.stack_maps.iter().all(|(_, slots)| slots.len() == 1));
}

#[test]
fn an_argument_is_computed_where_the_call_wants_it() {
    let mut code = Blocks::new(1);
    let (x, y) = (code.value(0), code.value(0));
    let sum = code.two_address(0, x, y);
    let result = code.call(0, &[y, sum]);
    code.push(0, &[Operand::fixed(result, PReg(0))]);
    let code = code.finish();
    let allocation = allocated(&code, 14);
    assert_eq!(count(&allocation), 0, "{allocation:?}");
}

#[test]
fn constants_are_made_again() {
    let mut code = Blocks::new(1);
    let constant = code.vreg();
    code.push(0, &[Operand::def(constant)]).constant = true;
    code.push(0, &[Operand::reg(constant)]);
    let all: Vec<_> = (0..3).map(|_| code.value(0)).collect();
    code.push(0, &all.iter().map(|&v| Operand::reg(v)).collect::<Vec<_>>());
    code.push(0, &[Operand::reg(constant)]);
    let code = code.finish();
    let allocation = allocated(&code, 3);
    assert_eq!(allocation.num_slots, 0);
    assert!(
        matches!(allocation.edits[..], [(point, Edit::Remat { inst: 0, .. })] if point.side == Side::Before),
        "{allocation:?}"
    );
}

#[test]
fn slots_are_shared() {
    let mut code = Blocks::new(1);
    for _ in 0..10 {
        let values: Vec<_> = (0..4).map(|_| code.value(0)).collect();
        for value in values {
            code.push(0, &[Operand::reg(value)]);
        }
    }
    let allocation = allocated(&code.finish(), 3);
    assert_eq!(allocation.num_slots, 1);
}

#[test]
fn intervals_are_printed() {
    let mut code = Blocks::new(1);
    let constant = code.vreg();
    code.push(0, &[Operand::def(constant)]).constant = true;
    code.push(0, &[Operand::reg(constant), Operand::any(constant)]);
    code.call(0, &[constant]);
    let code = code.finish();
    let text = dump_intervals(&code, &registers(14, 15), &Options::default());
    assert_eq!(text, "%0     r0       [0l, 2e)  uses 0l:r 1e:r 1e:a 2g:c\n");
}

#[test]
fn registers_that_are_written_are_known() {
    let mut code = Blocks::new(1);
    let a = code.value(0);
    code.call(0, &[]);
    code.push(0, &[Operand::reg(a)]);
    let code = code.finish();
    let allocation = allocated(&code, 14);
    let preserved = registers(14, 15).callee_saved;
    assert_eq!(written_registers(&code, &allocation).intersection(preserved).len(), 1);
}

/// Prints how much the allocator adds to random code, executed: moves, loads, stores, constants.
#[test]
#[ignore = "prints figures"]
fn figures() {
    for (ints, floats) in [(3, 2), (6, 4), (14, 15)] {
        for spill_everything in [false, true] {
            let registers = registers(ints, floats);
            let (mut insts, mut edits) = (0, [0; 4]);
            for seed in 0..300 {
                let mut rng = Rng::new(seed);
                let shape =
                    Shape { blocks: 12, insts: 10, pressure: 10, clobbers: 10, shuffle: false };
                let code = generate(&mut rng, shape, &registers);
                let allocation = allocate(&code, &registers, &Options { spill_everything });
                insts += code.insts.len();
                let on_edges = allocation.edge_moves.iter().flat_map(|moves| &moves.edits);
                for edit in allocation.edits.iter().map(|(_, edit)| edit).chain(on_edges) {
                    edits[match edit {
                        Edit::Move { to: Place::Slot(_), .. } => 2,
                        Edit::Move { from: Place::Slot(_), .. } => 1,
                        Edit::Move { .. } => 0,
                        Edit::Remat { .. } => 3,
                    }] += 1;
                }
            }
            let [moves, loads, stores, remats] = edits.map(|n| n as f64 / insts as f64);
            println!(
                "{ints} + {floats}, spill everything {spill_everything}: per instruction {moves:.2} moves, {loads:.2} loads, {stores:.2} stores, {remats:.2} constants"
            );
        }
    }
}
