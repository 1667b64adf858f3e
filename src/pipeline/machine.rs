//! Machine code of all functions, by several threads where there is much of it.
//!
//! Functions pass through the back end on their own, so each thread takes a stretch of them, and the
//! answer is the same whoever does it. Optimised SSA form → machine code that is not in place yet.

use super::{CompileError, Options, back, selected, target};
use crate::entity::Entity;
use crate::ir::{FuncRef, Function, Module};
use crate::mach::{CompiledFunction, Target};
use crate::timing::Timings;
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

/// Optimised SSA form to machine code that is not in place yet.
pub fn machine_code(
    module: &Module,
    options: &Options,
    timings: &mut Timings,
) -> Result<Vec<CompiledFunction>, CompileError> {
    let target = target(options);
    let compile = |part: Range<usize>, timings: &mut Timings| {
        let one = |i| Ok(back(&target, module, FuncRef::new(i), options, timings)?.compiled);
        part.map(one).collect::<Result<Vec<_>, CompileError>>()
    };
    let mut parts = stretches(module, options.threads).into_iter();
    let Some(first) = parts.next() else { return Ok(Vec::new()) };
    thread::scope(|scope| {
        let (compile, apart) = (&compile, timings.apart());
        let start = |part: Range<usize>| {
            let (there, mut own) = (part.clone(), apart.clone());
            let work = move || (compile(there, &mut own), own);
            // Without another thread, this one does it.
            (part, thread::Builder::new().spawn_scoped(scope, work).ok())
        };
        let others: Vec<_> = parts.map(start).collect();
        let mut functions = compile(first, timings)?;
        for (part, other) in others {
            let code = match other {
                None => compile(part, timings),
                Some(other) => {
                    let (code, own) = other.join().unwrap_or_else(|panic| resume_unwind(panic));
                    timings.join(&own);
                    code
                }
            };
            functions.extend(code?);
        }
        Ok(functions)
    })
}

/// The same, of functions that nobody needs then: each goes when its instructions are selected, where
/// one thread does it all.
pub fn machine_code_in_place_of(
    module: &mut Module,
    options: &Options,
    timings: &mut Timings,
) -> Result<Vec<CompiledFunction>, CompileError> {
    if stretches(module, options.threads).len() > 1 {
        return machine_code(module, options, timings);
    }
    let target = target(options);
    let mut functions = Vec::with_capacity(module.functions.len());
    for id in module.functions.keys() {
        let code = timings.time("select", || target.select(module, id));
        module.functions[id].drop_code();
        functions.push(selected(&target, code, options, timings)?.compiled);
    }
    Ok(functions)
}

/// All functions in stretches of about as many instructions, one for each of so many threads at most.
fn stretches(module: &Module, threads: Option<usize>) -> Vec<Range<usize>> {
    /// So many instructions take some milliseconds, a hundred times what starting a thread takes.
    const LEAST_INSTS: usize = 4_000;
    /// More threads bring little, since the passes before run in one.
    const MOST_THREADS: usize = 4;
    let size = |f: &Function| f.blocks.values().map(|block| block.insts.len() + 1).sum::<usize>();
    let total: usize = module.functions.values().map(size).sum();
    let threads = match total / LEAST_INSTS {
        0 | 1 => 1,
        // The system is asked only where it matters: that takes longer than to compile a function.
        wanted => wanted.min(threads.unwrap_or_else(|| {
            thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
        })),
    };
    let threads = threads.max(1);
    let (mut found, mut start, mut insts) = (Vec::with_capacity(threads), 0, 0);
    for (function, code) in module.functions.iter() {
        insts += size(code);
        if insts * threads >= total * (found.len() + 1) {
            found.push(start..function.index() + 1);
            start = function.index() + 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{construct, front};
    use crate::source::Sources;
    use crate::ssa::Folding;

    #[test]
    fn several_threads_make_the_same_code() {
        let shape = crate::bench::shapes::named("functions").expect("a shape");
        let mut sources = Sources::new();
        sources.add("functions.toy", (shape.make)(10_000));
        let (front, _) = front(&sources, &mut Timings::new());
        let mut module = front.expect("a program that is right").lowered.module;
        construct(&mut module, &Options::default(), Folding::On);
        let code = |threads| {
            let options = Options { threads: Some(threads), verify: false, ..Options::default() };
            let mut timings = Timings::new();
            let code = machine_code(&module, &options, &mut timings).expect("code");
            let bytes: Vec<_> = code.into_iter().map(|f| (f.bytes, f.source_map)).collect();
            (bytes, timings.copies)
        };
        let alone = code(1);
        assert_eq!(stretches(&module, Some(3)).len(), 3);
        assert!(alone == code(3) && alone == code(0));
        assert!(
            machine_code(&Module::default(), &Options::default(), &mut Timings::new())
                .is_ok_and(|code| code.is_empty())
        );
    }
}
