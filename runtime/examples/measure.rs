//! Prints how quick the heap is: `cargo run --release -p toyjit-runtime --example measure`.

use std::time::Instant;

use toyjit_runtime::{Config, Runtime, Slot, Stop, TypeInfo};

/// A structure with two references and an int.
fn node(runtime: &mut Runtime) -> u32 {
    let fields = [("left", Slot::Ref), ("right", Slot::Ref), ("value", Slot::Int)];
    let fields = fields.map(|(name, slot)| (name.to_owned(), slot)).to_vec();
    runtime.register_type(TypeInfo::Struct { name: "Node".to_owned(), fields })
}

fn tree(runtime: &mut Runtime, node: u32, depth: u32) -> Result<u64, Stop> {
    if depth == 0 {
        return runtime.alloc_struct(node, &[0, 0, 1]);
    }
    let left = tree(runtime, node, depth - 1)?;
    let left = runtime.roots.push(left);
    let right = tree(runtime, node, depth - 1)?;
    let left = runtime.roots.get(left);
    runtime.roots.pop();
    runtime.alloc_struct(node, &[left, right, 1])
}

fn garbage(runtime: &mut Runtime, node: u32) -> Result<(), Stop> {
    for i in 0..50_000_000 {
        runtime.alloc_struct(node, &[0, 0, i])?;
    }
    Ok(())
}

fn trees(runtime: &mut Runtime, node: u32) -> Result<(), Stop> {
    let kept = tree(runtime, node, 18)?;
    runtime.roots.push(kept);
    for _ in 0..100 {
        tree(runtime, node, 16)?;
    }
    Ok(())
}

fn long_list(runtime: &mut Runtime, node: u32) -> Result<(), Stop> {
    let root = runtime.roots.push(0);
    for i in 0..10_000_000 {
        let list = runtime.alloc_struct(node, &[runtime.roots.get(root), 0, i])?;
        runtime.roots.set(root, list);
    }
    let start = Instant::now();
    runtime.collect(true)?;
    println!("  everything: {:?}", start.elapsed());
    Ok(())
}

fn replaced_at_random(runtime: &mut Runtime, node: u32) -> Result<(), Stop> {
    let array = runtime.alloc_array(Slot::Ref, 1 << 20)?;
    let array = runtime.roots.push(array);
    let mut random: u64 = 42;
    for i in 0..20_000_000 {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let new = runtime.alloc_struct(node, &[0, 0, i])?;
        runtime.array_set(runtime.roots.get(array), (random >> 44) as i64, new)?;
    }
    Ok(())
}

fn strings(runtime: &mut Runtime, _: u32) -> Result<(), Stop> {
    let array = runtime.alloc_array(Slot::Ref, 0)?;
    let array = runtime.roots.push(array);
    for i in 0..5_000_000 {
        let text = runtime.str_of_int(i)?;
        if i % 4 == 0 {
            runtime.array_push(runtime.roots.get(array), text)?;
        }
    }
    Ok(())
}

fn pushes(runtime: &mut Runtime, _: u32) -> Result<(), Stop> {
    let array = runtime.alloc_array(Slot::Int, 0)?;
    let array = runtime.roots.push(array);
    for i in 0..50_000_000 {
        runtime.array_push(runtime.roots.get(array), i)?;
    }
    Ok(())
}

/// The largest part of this process that was in memory, in MiB, since the last time asked.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let figure = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    // Where this is not allowed the figure is the peak since the start.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    figure.unwrap_or(0) / 1024
}

fn main() -> Result<(), Stop> {
    type Case = fn(&mut Runtime, u32) -> Result<(), Stop>;
    let cases: [(&str, Case); 6] = [
        ("garbage, 50 M nodes", garbage),
        ("trees of 2^16 nodes, 100 times", trees),
        ("a list of 10 M nodes", long_list),
        ("1 M nodes replaced at random, 20 M times", replaced_at_random),
        ("5 M strings, a quarter kept", strings),
        ("50 M pushes", pushes),
    ];
    let only = std::env::args().nth(1);
    for (name, case) in cases {
        if only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        peak();
        let mut runtime = Runtime::new(Config::default())?;
        let node = node(&mut runtime);
        println!("{name}");
        let start = Instant::now();
        case(&mut runtime, node)?;
        let time = start.elapsed();
        let stats = runtime.heap_stats();
        println!(
            "  {time:?}, allocated {} MiB, survived {} MiB, live {} MiB, peak {} MiB",
            stats.allocated >> 20,
            stats.survived >> 20,
            stats.live >> 20,
            peak(),
        );
        println!(
            "  minor {}, major {}, pauses {:?} in all, longest {:?}",
            stats.minor, stats.major, stats.pauses.total, stats.pauses.longest,
        );
    }
    Ok(())
}
