//! What collections must and must not do, one thing a test.

use super::{config, runtime};
use crate::layout::Slot;
use crate::runtime::Runtime;
use crate::types::TypeInfo;

const MIB: u64 = 1 << 20;

/// A type with one reference and one int.
fn link(runtime: &mut Runtime) -> u32 {
    let fields = vec![("next".to_owned(), Slot::Ref), ("value".to_owned(), Slot::Int)];
    runtime.register_type(TypeInfo::Struct { name: "Link".into(), fields })
}

/// An array of so many links with the values 0, 1, 2 …, held by the root at the answer.
fn links(runtime: &mut Runtime, link: u32, count: u64) -> usize {
    let array = runtime.alloc_array(Slot::Ref, count).unwrap();
    let array = runtime.roots.push(array);
    for i in 0..count {
        let new = runtime.alloc_struct(link, &[0, i]).unwrap();
        runtime.array_set(runtime.roots.get(array), i as i64, new).unwrap();
    }
    array
}

#[test]
fn objects_are_remembered_again_after_each_collection() {
    let (mut runtime, _) = runtime(config(false));
    let link = link(&mut runtime);
    let count = 5000;
    let array = links(&mut runtime, link, count);
    for round in 0..6 {
        runtime.collect(round % 2 == 0).unwrap();
        for i in 0..count {
            let new = runtime.alloc_struct(link, &[0, 100 * i + round]).unwrap();
            let old = runtime.array_get(runtime.roots.get(array), i as i64).unwrap();
            runtime.set_field(old, 0, new);
        }
        runtime.collect(round % 3 == 0).unwrap();
        for i in 0..count {
            let old = runtime.array_get(runtime.roots.get(array), i as i64).unwrap();
            assert_eq!(runtime.field(old, 1), i);
            assert_eq!(runtime.field(runtime.field(old, 0), 1), 100 * i + round);
        }
    }
}

/// Collects the nursery again and again, until marking has begun, or ended.
fn collect_until(runtime: &mut Runtime, link: u32, is_marking: bool) {
    while runtime.heap.is_marking() != is_marking {
        for _ in 0..1000 {
            let new = runtime.alloc_struct(link, &[0, 0]).unwrap();
            runtime.roots.push(new);
        }
        runtime.collect(false).unwrap();
        let count = runtime.roots.len() - if is_marking { 0 } else { 1000 };
        runtime.roots.truncate(count);
    }
}

#[test]
fn what_changes_while_marking_lives() {
    let (mut runtime, _) = runtime(config(false));
    let link = link(&mut runtime);
    let count = 150_000;
    let array = links(&mut runtime, link, count);
    for i in 0..count {
        let child = runtime.alloc_struct(link, &[0, 7 * i]).unwrap();
        let parent = runtime.array_get(runtime.roots.get(array), i as i64).unwrap();
        runtime.set_field(parent, 0, child);
    }
    let mut children: Vec<u64> = (0..count).map(|i| 7 * i).collect();
    let mut random: u64 = 1;
    let mut steps = 0;
    for _ in 0..3 {
        collect_until(&mut runtime, link, true);
        while runtime.heap.is_marking() {
            // Children are known to one parent each, and change places.
            for _ in 0..200 {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let (a, b) = ((random >> 33) % count, (random >> 13) % count);
                let parents =
                    [a, b].map(|i| runtime.array_get(runtime.roots.get(array), i as i64).unwrap());
                let [first, second] = parents.map(|parent| runtime.field(parent, 0));
                runtime.set_field(parents[0], 0, second);
                runtime.set_field(parents[1], 0, first);
                children.swap(a as usize, b as usize);
            }
            runtime.collect(false).unwrap();
            steps += 1;
        }
        for (i, &value) in children.iter().enumerate() {
            let parent = runtime.array_get(runtime.roots.get(array), i as i64).unwrap();
            assert_eq!(runtime.field(runtime.field(parent, 0), 1), value);
        }
        runtime.roots.truncate(array + 1);
    }
    assert!(steps > 10, "{steps}");
}

#[test]
fn large_arrays_grow_while_marking() {
    let (mut runtime, _) = runtime(config(false));
    let link = link(&mut runtime);
    let array = runtime.array_new(Slot::Ref, 0).unwrap();
    let array = runtime.roots.push(array);
    // Beyond so many elements a buffer is a mapping, which grows where it is or moves.
    let (mapped, count) = (1 << 17, (1 << 18) + 1000);
    for i in 0..count {
        if i > mapped && u64::is_power_of_two(i) {
            collect_until(&mut runtime, link, true);
        }
        let new = runtime.alloc_struct(link, &[0, i]).unwrap();
        runtime.array_push(runtime.roots.get(array), new).unwrap();
    }
    collect_until(&mut runtime, link, false);
    for i in 0..count {
        let old = runtime.array_get(runtime.roots.get(array), i as i64).unwrap();
        assert_eq!(runtime.field(old, 1), i);
    }
}

#[test]
fn popped_elements_are_freed() {
    let (mut runtime, _) = runtime(config(false));
    let array = runtime.array_new(Slot::Ref, 0).unwrap();
    let array = runtime.roots.push(array);
    for _ in 0..100 {
        let text = runtime.alloc_str(100_000).unwrap();
        runtime.array_push(runtime.roots.get(array), text).unwrap();
    }
    runtime.collect(true).unwrap();
    assert!(runtime.heap_stats().live > 10_000_000);
    for _ in 0..100 {
        runtime.array_pop(runtime.roots.get(array)).unwrap();
    }
    runtime.collect(true).unwrap();
    assert!(runtime.heap_stats().live < 100_000);
}

#[test]
fn garbage_is_freed() {
    let (mut runtime, _) = runtime(config(false));
    let link = link(&mut runtime);
    for _ in 0..40 {
        links(&mut runtime, link, 20_000);
        runtime.roots.pop();
    }
    let stats = runtime.heap_stats();
    assert!(stats.allocated > 20 * MIB && stats.taken < 16 * MIB, "{stats:?}");
    for _ in 0..40 {
        runtime.alloc_str(3 << 20).unwrap();
        assert!(runtime.heap_stats().taken < 32 * MIB);
    }
    let stats = runtime.heap_stats();
    assert!(stats.allocated > 140 * MIB, "{stats:?}");
    assert!(stats.pauses.percentile(0.5) <= stats.pauses.longest);
    assert!(stats.survived <= stats.collected);
}

#[test]
fn scattered_survivors_are_moved_together() {
    let (mut runtime, _) = runtime(config(false));
    let link = link(&mut runtime);
    let count = 300_000;
    let array = links(&mut runtime, link, count);
    runtime.collect(true).unwrap();
    for i in 0..count {
        if i % 16 != 5 {
            runtime.array_set(runtime.roots.get(array), i as i64, 0).unwrap();
        }
    }
    runtime.collect(true).unwrap();
    let stats = runtime.heap_stats();
    assert!(stats.live < 11 * MIB, "{stats:?}");
    assert!(stats.taken < 2 * stats.live + 32 * MIB, "{stats:?}");
    for i in (5..count).step_by(16) {
        let kept = runtime.array_get(runtime.roots.get(array), i as i64).unwrap();
        assert_eq!(runtime.field(kept, 1), i);
    }
}

#[test]
fn a_very_long_list_is_traced_without_recursion() {
    let (mut runtime, _) = runtime(config(false));
    let link = link(&mut runtime);
    let count = 300_000;
    let list = runtime.roots.push(0);
    for i in 0..count {
        let new = runtime.alloc_struct(link, &[runtime.roots.get(list), i]).unwrap();
        runtime.roots.set(list, new);
    }
    runtime.collect(true).unwrap();
    let mut at = runtime.roots.get(list);
    for i in (0..count).rev() {
        assert_eq!(runtime.field(at, 1), i);
        at = runtime.field(at, 0);
    }
    assert_eq!(at, 0);
}

#[test]
fn nothing_is_taken_before_the_first_allocation() {
    let (mut runtime, _) = runtime(config(false));
    let text = runtime.static_str(b"hello");
    runtime.print_ref(text).unwrap();
    let stats = runtime.heap_stats();
    assert_eq!((stats.allocated, stats.taken), (0, 0));
    runtime.collect(true).unwrap();
    runtime.collect(false).unwrap();
    assert_eq!(runtime.str_bytes(text), b"hello");
}
