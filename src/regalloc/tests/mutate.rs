//! The checker refuses wrong allocations: right ones are spoiled in one place, and unless the
//! spoiled code still does the same, the checker has to notice.

use super::{FUEL, random_case};
use crate::entity::Entity;
use crate::mach::{Allocation, Edit, PReg, Place, SpillSlot, VCode};
use crate::regalloc::allocate;
use crate::regalloc::checker::check;
use crate::regalloc::fake::{FakeInst, run_allocated, run_virtual};
use crate::regalloc::generate::Rng;

/// Spoils the allocation in one place; what was done, if it could be done.
fn spoil(rng: &mut Rng, allocation: &mut Allocation) -> Option<&'static str> {
    let slots = allocation.num_slots as usize;
    let edits = allocation.edits.len();
    let edges = allocation.edge_moves.len();
    let operands = allocation.places.len();
    match rng.below(9) {
        0 if operands > 0 => {
            let at = rng.below(operands);
            let place = &mut allocation.places[at];
            *place = match *place {
                Place::Reg(reg) => Place::Reg(PReg((reg.0 & 16) | rng.below(15) as u8)),
                Place::Slot(_) => Place::Slot(SpillSlot::new(rng.below(slots))),
            };
            Some("another place for an operand")
        }
        1 if edits > 0 => {
            allocation.edits.remove(rng.below(edits));
            Some("an edit dropped")
        }
        2 if edges > 0 => {
            let moves = &mut allocation.edge_moves[rng.below(edges)];
            if moves.edits.len() > 1 {
                let at = rng.below(moves.edits.len());
                moves.edits.remove(at);
                return Some("a move on an edge dropped");
            }
            None
        }
        3 if edges > 0 => {
            allocation.edge_moves.remove(rng.below(edges));
            Some("all moves of an edge dropped")
        }
        4 if edits > 1 => {
            let at = rng.below(edits - 1);
            let (a, b) = (allocation.edits[at], allocation.edits[at + 1]);
            if a.0 != b.0 {
                return None;
            }
            allocation.edits.swap(at, at + 1);
            Some("two edits swapped")
        }
        5 if edits > 0 && slots > 1 => {
            let at = rng.below(edits);
            let other = Place::Slot(SpillSlot::new(rng.below(slots)));
            if let Edit::Move { to, from } = &mut allocation.edits[at].1 {
                let side = if to.reg().is_none() { to } else { from };
                if side.reg().is_none() {
                    *side = other;
                    return Some("another slot in a move");
                }
            }
            None
        }
        6 if edits > 0 => {
            let at = rng.below(edits);
            if let Edit::Move { to: Place::Reg(to), .. } | Edit::Remat { to, .. } =
                &mut allocation.edits[at].1
            {
                *to = PReg((to.0 & 16) | rng.below(15) as u8);
                return Some("a move to another register");
            }
            None
        }
        7 => {
            let maps = allocation.stack_maps.len();
            if maps == 0 {
                return None;
            }
            let map = &mut allocation.stack_maps[rng.below(maps)].1;
            if map.is_empty() {
                return None;
            }
            let at = rng.below(map.len());
            map.remove(at);
            Some("a root dropped")
        }
        8 if operands > 1 => {
            let (a, b) = (rng.below(operands), rng.below(operands));
            allocation.places.swap(a, b);
            Some("two places swapped")
        }
        _ => None,
    }
}

/// Whether the code still does what it should in a few runs.
fn is_neutral(code: &VCode<FakeInst>, allocation: &Allocation) -> bool {
    run_allocated(code, allocation, FUEL) == Ok(run_virtual(code, FUEL))
}

#[test]
fn wrong_allocations_are_refused() {
    let (mut wrong, mut missed) = (0, Vec::new());
    for seed in 100_000..100_700 {
        let (code, registers, options, mut rng) = random_case(seed);
        let right = allocate(&code, &registers, &options);
        for _ in 0..4 {
            let mut spoiled = right.clone();
            let Some(how) = spoil(&mut rng, &mut spoiled) else { continue };
            let refused = check(&code, &spoiled, &registers).is_err();
            if !is_neutral(&code, &spoiled) {
                wrong += 1;
                if !refused {
                    missed.push((seed, how));
                }
            }
        }
    }
    assert!(wrong > 500, "only {wrong} wrong allocations");
    assert!(missed.len() * 100 <= wrong, "{} of {wrong} were not seen: {missed:?}", missed.len());
    assert_eq!(missed, [], "of {wrong}");
}
