//! From source text to printed IR.

use super::{Lowered, lower};
use crate::ir::print;
use crate::source::{Interner, Severity, Sources};

/// Runs on a stack that is large enough for the deepest nesting.
fn deep<R: Send>(test: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 20);
        thread.spawn_scoped(scope, test).expect("a thread").join().expect("no panic")
    })
}

fn lowered(source: &str) -> Option<Lowered> {
    let mut sources = Sources::new();
    let base = sources.add("test.toy", source)?;
    let mut interner = Interner::new();
    let (program, errors) = crate::syntax::parse(&sources, base, &mut interner);
    let (program, _) = crate::sema::check(&program, &interner);
    let broken = errors.iter().any(|d| d.severity == Severity::Error);
    Some(lower(&program.filter(|_| !broken)?, &interner))
}

#[test]
fn show() {
    let path = std::env::var("TOY").unwrap();
    let source = std::fs::read_to_string(path).unwrap();
    println!("{}", print::module(&lowered(&source).unwrap().module));
}
