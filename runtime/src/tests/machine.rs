//! Machine code on the Toy stack: hand-written functions in the convention of compiled ones.

use std::arch::naked_asm;

use super::{config, runtime};
use crate::context::{INTERRUPT, LAST_SP, NURSERY_END, NURSERY_NEXT, STACK_LIMIT};
use crate::layout::{HEADER_LOG_BYTE, LOG_MASK, Slot};
use crate::trap::{Frame, SHOWN_FRAMES, Stop, Trap};
use crate::types::{FIRST_REGISTERED, TypeInfo};
use crate::{Arguments, CodeRange, Interrupt, Results, Rt, Runtime, Site, Stopped};

/// `fn build(n) { if n == 0 { nil } else { Node { next: build(n - 1), value: n } } }`
///
/// Frame of 24 bytes: [rsp] the reference to the list, [rsp + 8] n.
#[unsafe(naked)]
unsafe extern "C" fn build() {
    naked_asm!(
        "sub rsp, 24",
        "cmp rsp, [r15 + {limit}]",
        "jb 9f",
        "xor eax, eax",
        "test rdi, rdi",
        "jz 7f",
        "mov [rsp + 8], rdi",
        "dec rdi",
        "call {build}",
        ".global toyjit_test_build_inner",
        "toyjit_test_build_inner:",
        "mov [rsp], rax",
        "mov rax, [r15 + {next}]",
        "lea rcx, [rax + 24]",
        "cmp rcx, [r15 + {end}]",
        "ja 8f",
        "mov [r15 + {next}], rcx",
        "mov qword ptr [rax], {node}",
        "6:",
        "mov rcx, [rsp]",
        "mov [rax + 8], rcx",
        "mov rcx, [rsp + 8]",
        "mov [rax + 16], rcx",
        "7:",
        "add rsp, 24",
        "ret",
        "8:",
        "mov [r15 + {last_sp}], rsp",
        "mov rdi, r15",
        "mov esi, 24",
        "mov edx, {node}",
        "call [r15 + {alloc}]",
        ".global toyjit_test_build_alloc",
        "toyjit_test_build_alloc:",
        "jmp 6b",
        "9:",
        "mov [r15 + {last_sp}], rsp",
        "mov rdi, r15",
        "call [r15 + {stack}]",
        ".global toyjit_test_build_end",
        "toyjit_test_build_end:",
        limit = const STACK_LIMIT,
        build = sym build,
        next = const NURSERY_NEXT,
        end = const NURSERY_END,
        node = const FIRST_REGISTERED,
        last_sp = const LAST_SP,
        alloc = const Rt::AllocSlow.offset(),
        stack = const Rt::TrapStack.offset(),
    )
}

unsafe extern "C" {
    static toyjit_test_build_inner: u8;
    static toyjit_test_build_alloc: u8;
    static toyjit_test_build_end: u8;
    static toyjit_test_store_site: u8;
    static toyjit_test_store_end: u8;
    static toyjit_test_print_end: u8;
    static toyjit_test_spin_end: u8;
}

/// `fn store(object, value) { object.next = value }`, with the write barrier.
#[unsafe(naked)]
unsafe extern "C" fn store() {
    naked_asm!(
        "sub rsp, 8",
        "mov [rdi + 8], rsi",
        "test byte ptr [rdi + {log_byte}], {log}",
        "jz 7f",
        "mov [r15 + {last_sp}], rsp",
        "mov rsi, rdi",
        "mov rdi, r15",
        "call [r15 + {remember}]",
        ".global toyjit_test_store_site",
        "toyjit_test_store_site:",
        "7:",
        "add rsp, 8",
        "ret",
        ".global toyjit_test_store_end",
        "toyjit_test_store_end:",
        log_byte = const HEADER_LOG_BYTE,
        log = const LOG_MASK,
        last_sp = const LAST_SP,
        remember = const Rt::Remember.offset(),
    )
}

/// `fn print_any(x) { write(x) }`
#[unsafe(naked)]
unsafe extern "C" fn print_any() {
    naked_asm!(
        "sub rsp, 8",
        "mov [r15 + {last_sp}], rsp",
        "mov rsi, rdi",
        "mov rdi, r15",
        "call [r15 + {print}]",
        ".global toyjit_test_print_end",
        "toyjit_test_print_end:",
        "add rsp, 8",
        "ret",
        last_sp = const LAST_SP,
        print = const Rt::PrintRef.offset(),
    )
}

/// Loops until the run is interrupted.
#[unsafe(naked)]
unsafe extern "C" fn spin() {
    naked_asm!(
        "sub rsp, 8",
        "7:",
        "cmp qword ptr [r15 + {interrupt}], 0",
        "je 7b",
        "mov [r15 + {last_sp}], rsp",
        "mov rdi, r15",
        "call [r15 + {trap}]",
        ".global toyjit_test_spin_end",
        "toyjit_test_spin_end:",
        interrupt = const INTERRUPT,
        last_sp = const LAST_SP,
        trap = const Rt::TrapInterrupt.offset(),
    )
}

/// Gives the last word and the last float, each after a change to show that it was this code.
#[unsafe(naked)]
unsafe extern "C" fn last_arguments() {
    naked_asm!(
        "lea rax, [rdi + r9]",
        "addsd xmm0, xmm7",
        "mov rbx, 1",
        "mov r12, 2",
        "mov r13, 3",
        "mov r14, 4",
        "mov rbp, 5",
        "ret",
    )
}

fn address(code: unsafe extern "C" fn()) -> u64 {
    code as *const () as u64
}

fn machine(gc_stress: bool, stack_size: usize) -> Runtime {
    let mut config = config(gc_stress);
    config.stack_size = stack_size;
    let (mut runtime, _) = runtime(config);
    let fields = vec![("next".to_owned(), Slot::Ref), ("value".to_owned(), Slot::Int)];
    let node = runtime.register_type(TypeInfo::Struct { name: "Node".into(), fields });
    assert_eq!(node, FIRST_REGISTERED);
    let at = |label: &'static u8| &raw const *label as u64;
    let site = |address, loc, refs: &[u32]| Site { address, loc, refs: refs.to_vec() };
    let range = |code, end, function, frame_size| CodeRange {
        start: address(code),
        end,
        function,
        frame_size,
    };
    // SAFETY: the labels stand in the functions above.
    unsafe {
        let end = at(&toyjit_test_build_end);
        let sites = vec![
            site(at(&toyjit_test_build_inner), 10, &[]),
            site(at(&toyjit_test_build_alloc), 11, &[0]),
            site(end, 12, &[]),
        ];
        runtime.code.add(range(build, end, 1, 24), sites);
        let end = at(&toyjit_test_store_end);
        let sites = vec![site(at(&toyjit_test_store_site), 20, &[])];
        runtime.code.add(range(store, end, 2, 8), sites);
        let end = at(&toyjit_test_print_end);
        runtime.code.add(range(print_any, end, 3, 8), vec![site(end, 30, &[])]);
        let end = at(&toyjit_test_spin_end);
        runtime.code.add(range(spin, end, 4, 8), vec![site(end, 40, &[])]);
    }
    runtime
}

fn run(
    runtime: &mut Runtime,
    code: unsafe extern "C" fn(),
    words: &[u64],
) -> Result<Results, Box<Stopped>> {
    let mut arguments = Arguments::default();
    arguments.words[..words.len()].copy_from_slice(words);
    // SAFETY: the functions of this module follow the conventions, and are in the code map.
    unsafe { runtime.enter(address(code), &arguments) }
}

/// The values of a list from its head on.
fn values(runtime: &Runtime, mut list: u64) -> Vec<u64> {
    let mut values = Vec::new();
    while list != 0 {
        values.push(runtime.field(list, 1));
        list = runtime.field(list, 0);
    }
    values
}

#[test]
fn arguments_and_results() {
    let mut runtime = machine(false, 1 << 16);
    let mut arguments = Arguments { words: [40, 0, 0, 0, 0, 2], ..Arguments::default() };
    (arguments.floats[0], arguments.floats[7]) = (0.5, 0.25);
    // SAFETY: the function takes any arguments.
    let results = unsafe { runtime.enter(address(last_arguments), &arguments) }.unwrap();
    assert_eq!((results.word, results.float), (42, 0.75));
}

#[test]
fn lists_survive_in_frames() {
    for (stress, n) in [(false, 1000), (true, 300), (false, 200_000)] {
        let mut runtime = machine(stress, 64 << 20);
        let list = run(&mut runtime, build, &[n]).unwrap().word;
        assert_eq!(values(&runtime, list), (1..=n).rev().collect::<Vec<_>>());
        let stats = runtime.heap_stats();
        assert_eq!(stats.minor + stats.major > 0, n != 1000, "{stats:?}");
    }
}

#[test]
fn the_barrier_keeps_young_objects() {
    for stress in [false, true] {
        let mut runtime = machine(stress, 1 << 20);
        let old = run(&mut runtime, build, &[1]).unwrap().word;
        runtime.roots.push(old);
        runtime.collect(false).unwrap();
        for n in 2..50 {
            let new = run(&mut runtime, build, &[n]).unwrap().word;
            let old = runtime.roots.get(0);
            run(&mut runtime, store, &[old, new]).unwrap();
            runtime.collect(n % 7 == 0).unwrap();
            let list = values(&runtime, runtime.roots.get(0));
            assert_eq!(list[1..], (1..=n).rev().collect::<Vec<_>>());
        }
    }
}

#[test]
fn deep_recursion_is_a_trap_each_time() {
    let mut runtime = machine(false, 4 << 20);
    for _ in 0..100 {
        let stopped = run(&mut runtime, build, &[1 << 40]).unwrap_err();
        assert_eq!(stopped.stop, Stop::Trap(Trap::Stack));
        let trace = stopped.backtrace;
        assert_eq!((trace.first.len(), trace.last.len()), (SHOWN_FRAMES, SHOWN_FRAMES));
        assert_eq!(trace.first[0], Frame { function: 1, loc: 12 });
        assert_eq!(trace.last[19], Frame { function: 1, loc: 10 });
        assert!(trace.left_out > 100_000, "{}", trace.left_out);
        let list = run(&mut runtime, build, &[1000]).unwrap().word;
        assert_eq!(runtime.field(list, 1), 1000);
    }
}

#[test]
fn a_panic_becomes_a_fault() {
    let mut runtime = machine(false, 1 << 20);
    let unknown = (Rt::AllocSlow.entry().call)(&mut runtime, &[16, 9999]).unwrap();
    let stopped = run(&mut runtime, print_any, &[unknown]).unwrap_err();
    assert!(matches!(stopped.stop, Stop::Fault(_)), "{stopped:?}");
    assert_eq!(stopped.backtrace.first, [Frame { function: 3, loc: 30 }]);
    let text = runtime.static_str(b"on it goes");
    run(&mut runtime, print_any, &[text]).unwrap();
}

#[test]
fn interruption_from_another_thread() {
    let mut runtime = machine(false, 1 << 20);
    for (why, trap) in [(Interrupt::Time, Trap::Time), (Interrupt::Interrupted, Trap::Interrupted)]
    {
        let interrupter = runtime.interrupter();
        let thread = std::thread::spawn(move || interrupter.interrupt(why));
        let stopped = run(&mut runtime, spin, &[]).unwrap_err();
        thread.join().unwrap();
        assert_eq!(stopped.stop, Stop::Trap(trap));
        // Nothing was called where the request came before the run.
        let frames = stopped.backtrace.first;
        assert!(frames.is_empty() || frames == [Frame { function: 4, loc: 40 }], "{frames:?}");
        runtime.interrupter().clear();
    }
}

#[test]
#[ignore = "a measurement, for release builds"]
fn deep_stacks_are_walked_quickly() {
    let mut runtime = machine(false, 256 << 20);
    let start = std::time::Instant::now();
    let list = run(&mut runtime, build, &[8_000_000]).unwrap().word;
    println!("{:?} {:?}", start.elapsed(), runtime.heap_stats());
    assert_eq!(runtime.field(list, 1), 8_000_000);
}
