//! A fixed number of programs, modules and texts on every `cargo test`; their seeds are fixed, so
//! that a failure comes again.

use crate::generate::{Size, program};
use crate::reduce;
use crate::verdict::{Matter, Verdict, judge, keep_panics};
use toyjit::source::{Interner, Sources};
use toyjit::syntax::{dump_ast, parse, print};

/// On a stack as a worker has it.
fn on_a_large_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(384 << 20).spawn(run);
    let ended = thread.expect("a thread starts").join();
    assert!(ended.is_ok(), "see the output above");
}

fn all_agree(matter: Matter, seeds: std::ops::Range<u64>) {
    on_a_large_stack(move || {
        let count = seeds.end - seeds.start;
        let mut discarded = 0;
        let hook = std::panic::take_hook();
        keep_panics();
        let verdicts: Vec<_> =
            seeds.map(|seed| (seed, judge(matter, &matter.text(seed), seed))).collect();
        std::panic::set_hook(hook);
        for (seed, verdict) in verdicts {
            match verdict {
                Verdict::Agree { .. } => {}
                Verdict::Discard => discarded += 1,
                Verdict::Fail(failure) => {
                    let name = matter.name();
                    panic!(
                        "{}: {}\n{}\ntoyjit-fuzz show {seed} --matter {name}",
                        failure.engine, failure.kind, failure.detail
                    );
                }
            }
        }
        assert!(discarded * 50 <= count, "{discarded} of {count} were of no use");
    });
}

#[test]
fn engines_agree_on_programs() {
    all_agree(Matter::Programs, 1_000..1_150);
}

#[test]
fn engines_agree_on_graphs() {
    all_agree(Matter::Ir, 2_000..2_100);
}

#[test]
fn engines_agree_on_bril() {
    all_agree(Matter::Bril, 4_000..4_100);
}

#[test]
fn the_front_end_takes_anything() {
    all_agree(Matter::Front, 3_000..5_000);
}

/// The tree without places, and its text.
fn parsed(text: &str) -> (String, String) {
    let (mut sources, mut names) = (Sources::new(), Interner::new());
    sources.add("t.toy", text).expect("a short text");
    let (program, diagnostics) = parse(&sources, 0, &mut names);
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
    let dump = dump_ast(&sources, &program, &names);
    let tree = dump.lines().map(|line| line.rsplit_once("  @").map_or(line, |(tree, _)| tree));
    (tree.collect::<Vec<_>>().join("\n"), print(&program, &names))
}

#[test]
fn printed_trees_parse_to_the_same() {
    on_a_large_stack(|| {
        for seed in 0..300 {
            let text = program(seed, Size::of(seed));
            let (tree, printed) = parsed(&text);
            assert_eq!(parsed(&printed), (tree, printed.clone()), "seed {seed}");
        }
    });
}

#[test]
fn reduced_programs_keep_what_matters() {
    on_a_large_stack(|| {
        let text = program(7, Size::of(7)) + "print(hide(6) * 7 + len([1, 2, 3]));\n";
        let small = reduce::toy::reduce(&text, &mut |text| {
            let whole = crate::subject::Subject::toy(text).is_ok();
            Some(whole && text.contains("hide") && text.contains(" * "))
        });
        assert!(small.lines().count() <= 12, "{small}");
    });
}
