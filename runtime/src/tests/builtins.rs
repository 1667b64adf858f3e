//! The builtins through the table of entry points, as interpreters call them.

use super::{config, runtime};
use crate::layout::{BUFFER_ELEMENTS, Slot};
use crate::stack::MARGIN;
use crate::trap::{Stop, Trap};
use crate::types::TypeInfo;
use crate::{Config, ENTRIES, Input, Interrupt, Rt, Runtime};

fn call(runtime: &mut Runtime, rt: Rt, arguments: &[u64]) -> Result<u64, Stop> {
    (rt.entry().call)(runtime, arguments)
}

fn shown(runtime: &mut Runtime, reference: u64) -> String {
    let string = call(runtime, Rt::StrOfRef, &[reference]).unwrap();
    String::from_utf8(runtime.str_bytes(string).to_vec()).unwrap()
}

fn string(runtime: &mut Runtime, bytes: &[u8]) -> u64 {
    runtime.new_str(bytes).unwrap()
}

#[test]
fn the_table_is_whole() {
    assert_eq!(ENTRIES.len(), Rt::ALL.len());
    for &rt in Rt::ALL {
        assert_eq!(Rt::named(rt.entry().name), Some(rt));
        assert_ne!((rt.entry().address)(), 0);
    }
    let (mut runtime, _) = runtime(config(false));
    assert!(matches!(call(&mut runtime, Rt::Exp, &[]), Err(Stop::Fault(_))));
}

#[test]
fn numbers_are_shown() {
    let (mut runtime, captured) = runtime(config(false));
    for value in [0, -1, i64::MIN, i64::MAX, 1234567890] {
        call(&mut runtime, Rt::PrintInt, &[value as u64]).unwrap();
        call(&mut runtime, Rt::PrintSpace, &[]).unwrap();
    }
    for value in [1.0, -0.0, 0.1, 1e16, 1e-7, f64::NAN, -f64::NAN, f64::INFINITY, 5e-324] {
        call(&mut runtime, Rt::PrintFloat, &[value.to_bits()]).unwrap();
        call(&mut runtime, Rt::PrintSpace, &[]).unwrap();
    }
    call(&mut runtime, Rt::PrintBool, &[1]).unwrap();
    call(&mut runtime, Rt::PrintNewline, &[]).unwrap();
    assert_eq!(captured.take(), b"");
    runtime.output.flush().unwrap();
    let expected = "0 -1 -9223372036854775808 9223372036854775807 1234567890 \
                    1.0 -0.0 0.1 1e16 1e-7 NaN NaN inf 5e-324 true\n";
    assert_eq!(String::from_utf8(captured.take()).unwrap(), expected);
}

#[test]
fn strings_are_shown_raw_or_quoted() {
    let (mut runtime, captured) = runtime(config(false));
    let tricky = runtime.static_str(b"a\"\\\n\r\t\0\x01\x7F\xFFz\xC3\xA9\xE2\x82");
    call(&mut runtime, Rt::PrintRef, &[tricky]).unwrap();
    runtime.output.flush().unwrap();
    assert_eq!(captured.take(), b"a\"\\\n\r\t\0\x01\x7F\xFFz\xC3\xA9\xE2\x82");
    let array = call(&mut runtime, Rt::ArrayFillRef, &[tricky, 1]).unwrap();
    let expected = r#"["a\"\\\n\r\t\0\x01\x7F\xFFzé\xE2\x82"]"#;
    assert_eq!(shown(&mut runtime, array), expected);
    assert_eq!(shown(&mut runtime, 0), "nil");
}

#[test]
fn objects_are_shown() {
    let (mut runtime, _) = runtime(config(true));
    let field = |name: &str, slot| (name.to_owned(), slot);
    let none = runtime.register_type(TypeInfo::Struct { name: "None".into(), fields: vec![] });
    let fields = vec![
        field("i", Slot::Int),
        field("f", Slot::Float),
        field("b", Slot::Bool),
        field("y", Slot::Byte),
        field("s", Slot::Ref),
        field("n", Slot::Ref),
        field("e", Slot::Ref),
        field("g", Slot::Ref),
        field("h", Slot::Ref),
    ];
    let all = runtime.register_type(TypeInfo::Struct { name: "All".into(), fields });
    let named =
        TypeInfo::Closure { name: Some("go".to_owned()), function: 1, captures: Vec::new() };
    let named = runtime.register_type(named);
    let named = runtime.static_closure(named);
    let unnamed = TypeInfo::Closure { name: None, function: 2, captures: vec![Slot::Int] };
    let unnamed = runtime.register_type(unnamed);
    let empty = runtime.alloc_struct(none, &[]).unwrap();
    let empty = runtime.roots.push(empty);
    let closure = runtime.alloc_closure(unnamed, 77, &[5]).unwrap();
    let closure = runtime.roots.push(closure);
    let text = string(&mut runtime, b"hi");
    let (empty, closure) = (runtime.roots.get(empty), runtime.roots.get(closure));
    let words = [(-3i64) as u64, 2.5f64.to_bits(), 1, 255, text, 0, empty, named, closure];
    let object = runtime.alloc_struct(all, &words).unwrap();
    let expected = "All { i: -3, f: 2.5, b: true, y: 255, s: \"hi\", n: nil, e: None {}, \
                    g: <fn go>, h: <fn> }";
    let object = runtime.roots.push(object);
    let at = runtime.roots.get(object);
    assert_eq!(shown(&mut runtime, at), expected);
    for (slot, word, expected) in [
        (Slot::Int, 7, "[7, 7]"),
        (Slot::Float, 1f64.to_bits(), "[1.0, 1.0]"),
        (Slot::Bool, 1, "[true, true]"),
        (Slot::Byte, 200, "[200, 200]"),
        (Slot::Ref, 0, "[nil, nil]"),
    ] {
        let array = runtime.array_fill(slot, word, 2).unwrap();
        assert_eq!(shown(&mut runtime, array), expected);
        let array = runtime.array_new(slot, 0).unwrap();
        assert_eq!(shown(&mut runtime, array), "[]");
    }
}

#[test]
fn nesting_ends_at_level_64() {
    let (mut runtime, _) = runtime(config(false));
    let fields = vec![("next".to_owned(), Slot::Ref)];
    let link = runtime.register_type(TypeInfo::Struct { name: "L".into(), fields });
    let mut chain = 0;
    for _ in 0..64 {
        chain = runtime.alloc_struct(link, &[chain]).unwrap();
    }
    let text = shown(&mut runtime, chain);
    assert_eq!((text.matches('L').count(), text.matches("nil").count()), (64, 1));
    assert!(!text.contains("..."));
    let ring = runtime.alloc_struct(link, &[0]).unwrap();
    runtime.set_field(ring, 0, ring);
    let text = shown(&mut runtime, ring);
    assert_eq!((text.matches('L').count(), text.matches("...").count()), (64, 1));
    assert_eq!(text.matches('}').count(), 64);
}

#[test]
fn showing_and_collecting_fit_the_margin_of_the_stack() {
    let work = || {
        let (mut runtime, _) = runtime(config(false));
        let mut array = 0;
        for _ in 0..100_000 {
            array = runtime.array_fill(Slot::Ref, array, 1).unwrap();
        }
        runtime.roots.push(array);
        runtime.collect(true).unwrap();
        let array = runtime.roots.get(0);
        assert_eq!(shown(&mut runtime, array).len(), 2 * 64 + 3);
    };
    std::thread::Builder::new().stack_size(MARGIN / 2).spawn(work).unwrap().join().unwrap();
}

#[test]
fn endless_text_is_stopped() {
    let (mut runtime, _) = runtime(Config { max_heap: Some(4 << 20), ..config(false) });
    let mut array = runtime.array_fill(Slot::Int, 1, 4).unwrap();
    for _ in 0..60 {
        array = runtime.array_fill(Slot::Ref, array, 4).unwrap();
    }
    runtime.roots.push(array);
    assert_eq!(call(&mut runtime, Rt::StrOfRef, &[array]), Err(Trap::Memory.into()));
    let interrupter = runtime.interrupter();
    let array = runtime.roots.get(0);
    let thread = std::thread::spawn(move || interrupter.interrupt(Interrupt::Time));
    assert_eq!(call(&mut runtime, Rt::PrintRef, &[array]), Err(Trap::Time.into()));
    thread.join().unwrap();
    assert_eq!(runtime.interrupted(), Some(Trap::Time));
    runtime.interrupter().clear();
    assert_eq!(runtime.interrupted(), None);
}

#[test]
fn strings_are_joined_cut_and_compared() {
    for stress in [false, true] {
        let (mut runtime, _) = runtime(config(stress));
        let runtime = &mut runtime;
        let (a, b) = (runtime.static_str(b"ab"), runtime.static_str(b"abc"));
        let joined = call(runtime, Rt::StrConcat, &[a, b]).unwrap();
        let joined = runtime.roots.push(joined);
        let twice = call(runtime, Rt::StrConcat, &[runtime.roots.get(joined); 2]).unwrap();
        assert_eq!(runtime.str_bytes(twice), b"ababcababc");
        let joined = runtime.roots.pop();
        let cut = call(runtime, Rt::StrSlice, &[joined, 1, 4]).unwrap();
        assert_eq!(runtime.str_bytes(cut), b"bab");
        let cut = |runtime: &mut Runtime, from: i64, to: i64| {
            call(runtime, Rt::StrSlice, &[b, from as u64, to as u64])
        };
        assert_eq!(cut(runtime, 0, 3), Ok(b));
        for (from, to) in [(-1, 2), (2, 1), (0, 4), (i64::MIN, i64::MAX)] {
            assert_eq!(cut(runtime, from, to), Err(Trap::Slice { from, to, len: 3 }.into()));
        }
        let high = runtime.static_str(b"ab\xFF");
        let compare = |runtime: &mut Runtime, x, y| call(runtime, Rt::StrCmp, &[x, y]).unwrap();
        assert_eq!(compare(runtime, a, b) as i64, -1);
        assert_eq!(compare(runtime, high, b), 1);
        assert_eq!(compare(runtime, b, b), 0);
        let equal = |runtime: &mut Runtime, x, y| call(runtime, Rt::StrEq, &[x, y]).unwrap();
        let same = string(runtime, b"abc");
        assert_eq!(equal(runtime, same, b), 1);
        assert_eq!((equal(runtime, a, b), equal(runtime, 0, b), equal(runtime, 0, 0)), (0, 0, 1));
        assert_eq!(runtime.str_get(b, 2), Ok(99));
        assert_eq!(runtime.str_get(b, -1), Err(Trap::Index { index: -1, len: 3 }));
        let bytes = call(runtime, Rt::ToBytes, &[b]).unwrap();
        runtime.array_set(bytes, 0, 255).unwrap();
        let back = call(runtime, Rt::FromBytes, &[bytes]).unwrap();
        assert_eq!(runtime.str_bytes(back), b"\xFFbc");
    }
}

#[test]
fn arrays_grow_and_shrink() {
    for stress in [false, true] {
        let (mut runtime, _) = runtime(config(stress));
        let runtime = &mut runtime;
        for slot in [Slot::Int, Slot::Bool, Slot::Byte] {
            let array = call(runtime, Rt::ArrayNew, &[slot as u64, 0]).unwrap();
            let root = runtime.roots.push(array);
            for i in 0..1000 {
                let array = runtime.roots.get(root);
                call(runtime, Rt::ArrayPushInt, &[array, i % 2]).unwrap();
            }
            let array = runtime.roots.pop();
            assert_eq!(runtime.array_len(array), 1000);
            for i in (0..1000).rev() {
                assert_eq!(call(runtime, Rt::ArrayPopInt, &[array]), Ok(i % 2));
            }
            assert_eq!(call(runtime, Rt::ArrayPopInt, &[array]), Err(Trap::Pop.into()));
        }
        let length = Err(Trap::Length(-1).into());
        assert_eq!(call(runtime, Rt::ArrayNew, &[0, u64::MAX]), length);
        assert_eq!(call(runtime, Rt::ArrayFillFloat, &[0, u64::MAX]), length);
        let floats = call(runtime, Rt::ArrayFillFloat, &[1.5f64.to_bits(), 3]).unwrap();
        let slice = call(runtime, Rt::ArraySlice, &[floats, 1, 3]).unwrap();
        let root = runtime.roots.push(slice);
        assert_eq!(shown(runtime, slice), "[1.5, 1.5]");
        let slice = runtime.roots.get(root);
        let slice = call(runtime, Rt::ArraySlice, &[slice, 2, 1]);
        assert_eq!(slice, Err(Trap::Slice { from: 2, to: 1, len: 2 }.into()));
    }
}

#[test]
fn very_large_arrays_grow() {
    let (mut runtime, _) = runtime(config(false));
    let ints = runtime.array_new(Slot::Int, 0).unwrap();
    let refs = runtime.array_new(Slot::Ref, 0).unwrap();
    let (ints, refs) = (runtime.roots.push(ints), runtime.roots.push(refs));
    let count = if cfg!(miri) { 100 } else { 600_000 };
    for i in 0..count {
        runtime.array_push(runtime.roots.get(ints), i).unwrap();
        let text = if i % 4 == 0 { runtime.str_of_int(i as i64).unwrap() } else { 0 };
        runtime.array_push(runtime.roots.get(refs), text).unwrap();
    }
    for full in [false, true] {
        runtime.collect(full).unwrap();
        let (ints, refs) = (runtime.roots.get(ints), runtime.roots.get(refs));
        for i in 0..count {
            assert_eq!(runtime.array_get(ints, i as i64), Ok(i));
            let text = runtime.array_get(refs, i as i64).unwrap();
            if i % 4 == 0 {
                assert_eq!(runtime.str_bytes(text), i.to_string().as_bytes());
            } else {
                assert_eq!(text, 0);
            }
        }
    }
}

#[test]
fn too_much_memory_is_a_trap() {
    let limit = 16 << 20;
    let (mut runtime, _) = runtime(Config { max_heap: Some(limit), ..config(false) });
    let memory = Err(Trap::Memory.into());
    for len in [i64::MAX, 1 << 60, 1 << 47, 1 << 40, limit as i64] {
        for slot in Slot::ALL {
            assert_eq!(runtime.array_fill(slot, 0, len), memory, "{len} {slot:?}");
        }
    }
    assert_eq!(runtime.alloc_str(u64::MAX), memory);
    let mut text = string(&mut runtime, b"x");
    let failed = loop {
        match runtime.str_concat(text, text) {
            Ok(longer) => text = longer,
            Err(stop) => break stop,
        }
    };
    assert_eq!(failed, Trap::Memory.into());
    for slot in [Slot::Byte, Slot::Ref] {
        let array = runtime.array_new(slot, 0).unwrap();
        let root = runtime.roots.push(array);
        let failed = loop {
            if let Err(stop) = runtime.array_push(runtime.roots.get(root), 0) {
                break stop;
            }
        };
        assert_eq!(failed, Trap::Memory.into());
        runtime.roots.pop();
    }
    let fields = vec![("next".to_owned(), Slot::Ref)];
    let link = runtime.register_type(TypeInfo::Struct { name: "L".into(), fields });
    runtime.roots.push(0);
    let failed = loop {
        match runtime.alloc_struct(link, &[runtime.roots.get(0)]) {
            Ok(longer) => runtime.roots.set(0, longer),
            Err(stop) => break stop,
        }
    };
    assert_eq!(failed, Trap::Memory.into());
    runtime.roots.pop();
    assert!(runtime.alloc_array(Slot::Int, 1 << 17).is_ok());
}

#[test]
fn a_very_large_array_costs_nothing_until_it_is_used() {
    let (mut runtime, _) = runtime(Config { max_heap: Some(1 << 40), ..config(false) });
    let array = runtime.alloc_array(Slot::Int, 1 << 31).unwrap();
    runtime.array_set(array, (1 << 31) - 1, 5).unwrap();
    assert_eq!(runtime.array_get(array, 1 << 30), Ok(0));
    const { assert!(BUFFER_ELEMENTS == 16) };
}

#[test]
fn input_and_arguments() {
    let args = vec![b"one".to_vec(), b"".to_vec(), b"\xFF".to_vec()];
    let input = Input::bytes(b"first\n\nlast".to_vec());
    let (mut runtime, captured) = runtime(Config { args, input, ..config(true) });
    let runtime = &mut runtime;
    let array = call(runtime, Rt::Args, &[]).unwrap();
    assert_eq!(shown(runtime, array), "[\"one\", \"\", \"\\xFF\"]");
    call(runtime, Rt::PrintInt, &[1]).unwrap();
    for expected in [&b"first"[..], b"", b"last"] {
        let line = call(runtime, Rt::ReadLine, &[]).unwrap();
        assert_eq!(runtime.str_bytes(line), expected);
    }
    assert_eq!(captured.take(), b"1");
    assert_eq!(call(runtime, Rt::ReadLine, &[]), Ok(0));
    let first = f64::from_bits(call(runtime, Rt::Clock, &[]).unwrap());
    assert!(f64::from_bits(call(runtime, Rt::Clock, &[]).unwrap()) >= first);
}

#[test]
fn stops() {
    let (mut runtime, _) = runtime(config(false));
    let runtime = &mut runtime;
    let text = runtime.static_str(b"why");
    let assertion =
        |message: Option<&[u8]>| Err(Trap::Assertion(message.map(<[u8]>::to_vec)).into());
    assert_eq!(call(runtime, Rt::AssertFail, &[0]), assertion(None));
    assert_eq!(call(runtime, Rt::AssertFail, &[text]), assertion(Some(b"why")));
    assert_eq!(call(runtime, Rt::Panic, &[text]), Err(Trap::Panic(b"why".to_vec()).into()));
    assert_eq!(call(runtime, Rt::Exit, &[-1i64 as u64]), Err(Stop::Exit(255)));
    assert_eq!(call(runtime, Rt::TrapNil, &[]), Err(Trap::Nil.into()));
    let index = Err(Trap::Index { index: -1, len: 3 }.into());
    assert_eq!(call(runtime, Rt::TrapIndex, &[u64::MAX, 3]), index);
    assert_eq!(call(runtime, Rt::TrapInterrupt, &[]), Err(Trap::Interrupted.into()));
}

#[test]
fn handles_outlive_the_runtime() {
    let (runtime, _) = runtime(config(false));
    let interrupter = runtime.interrupter();
    drop(runtime);
    interrupter.interrupt(Interrupt::Interrupted);
    assert_eq!(interrupter.why(), Some(Trap::Interrupted));
    interrupter.clear();
    assert_eq!(interrupter.why(), None);
}
