//! Finds the first wrong rewrite: the passes get fuel for N rewrites, and N is halved down.
//!
//! With N − 1 rewrites the program runs as it should, with N it fails; the function before and
//! after that one rewrite is shown. Where it fails without any rewrite, construction, selection,
//! allocation or emission is at fault; where one pass left out mends it, that pass is named.

use crate::engine::{Engine, How};
use crate::subject::Subject;
use crate::verdict::{Failure, Matter, Verdict};
use crate::worker::{Worker, WorkerArgs};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use toyjit::ir::print;
use toyjit::opt::{Event, Observer, PASSES, Pass};
use toyjit::pipeline;
use toyjit::timing::Timings;

/// What is at fault, for people.
pub fn explain(matter: Matter, text: &[u8], failure: &Failure) -> String {
    let Ok(engine) = failure.engine.parse::<Engine>() else {
        return "no engine is at fault\n".into();
    };
    let mut worker = Worker::new(WorkerArgs::of(matter));
    let mut fails = |engine: &Engine| {
        let verdict = worker.judge(matter, text, 0, &engine.to_string());
        matches!(verdict, Verdict::Fail(found) if found.kind == failure.kind)
    };
    if !engine.optimises() {
        return "no pass has a part in it\n".into();
    }
    let with_fuel = |fuel| Engine { fuel: Some(fuel), ..engine.clone() };
    if !fails(&engine) {
        return "it does not fail again\n".into();
    }
    if fails(&with_fuel(0)) {
        return without_rewrites(&engine, &mut fails);
    }
    let (mut good, mut bad) = (0u64, 1u64);
    while !fails(&with_fuel(bad)) {
        (good, bad) = (bad, bad * 2);
        if bad > 1 << 32 {
            return "it fails only with rewrites that no pass counts\n".into();
        }
    }
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if fails(&with_fuel(middle)) {
            bad = middle;
        } else {
            good = middle;
        }
    }
    show_rewrite(matter, text, &engine, bad)
}

/// What can be said where the rewrites are not at fault.
fn without_rewrites(engine: &Engine, fails: &mut dyn FnMut(&Engine) -> bool) -> String {
    let mut said = "it fails without any rewrite\n".to_owned();
    for pass in PASSES {
        let mut without = engine.clone();
        without.without.push(pass.name.to_owned());
        if !fails(&without) {
            let _ = writeln!(said, "--no-{} mends it", pass.name);
        }
    }
    if engine.how == How::Native && !fails(&Engine { how: How::Ir, ..engine.clone() }) {
        said.push_str(
            "the IR is right: selection, allocation, emission or the runtime is at fault\n",
        );
    }
    said
}

/// What the passes did, one after the other.
#[derive(Default)]
struct Log {
    steps: Vec<Step>,
}

struct Step {
    pass: &'static str,
    rewrites: u64,
    text: String,
}

impl Observer for Log {
    fn after(&mut self, event: &Event<'_>) {
        self.steps.push(Step {
            pass: event.pass.name,
            rewrites: event.stats.rewrites,
            text: print::function(event.module, event.function),
        });
    }

    fn fault(&mut self, pass: &'static Pass, problem: &str, function: &str) {
        let text = format!("{function}\n{problem}\n");
        self.steps.push(Step { pass: pass.name, rewrites: u64::MAX >> 1, text });
    }
}

fn log(matter: Matter, text: &[u8], engine: &Engine) -> Log {
    let text = String::from_utf8_lossy(text);
    let mut log = Log::default();
    let run = AssertUnwindSafe(|| {
        let subject = match matter {
            Matter::Ir => Subject::ir(&text),
            Matter::Bril => Subject::bril(&text),
            _ => Subject::toy(&text),
        };
        if let Ok(subject) = subject {
            let mut module = subject.module().clone();
            pipeline::middle(&mut module, &engine.options(), &mut Timings::new(), &mut log);
        }
    });
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    // A panic is told in the log.
    let _ = catch_unwind(run);
    std::panic::set_hook(hook);
    log
}

fn show_rewrite(matter: Matter, text: &[u8], engine: &Engine, number: u64) -> String {
    let before = log(matter, text, &Engine { fuel: Some(number - 1), ..engine.clone() });
    let after = log(matter, text, &Engine { fuel: Some(number), ..engine.clone() });
    let mut made = 0;
    for (before, after) in before.steps.iter().zip(&after.steps) {
        made += after.rewrites;
        if made >= number {
            return format!(
                "pass `{}` is at fault: rewrite {number}\n--- with {} rewrites\n{}\n\
                 --- with {number} rewrites\n{}\n",
                after.pass,
                number - 1,
                before.text,
                after.text
            );
        }
    }
    format!("rewrite {number} is at fault\n")
}
