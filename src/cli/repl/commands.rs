//! The commands of the REPL: a table, and what each does.

use super::builtins::BUILTINS;
use super::paint::paint_assembly;
use super::{Next, Shell, new_session};
use crate::cli::bench::table;
use crate::cli::explain::{explanation, nearest_code};
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use toyjit::bench::Summary;
use toyjit::engine::Output;
use toyjit::inspect::{PROBLEMS, Stage, View, problem};
use toyjit::session::Failure;
use toyjit::source::{decode, nearest};
use toyjit::timing::{Clock, Timings};

/// A command.
pub struct Command {
    /// Its name, without the colon.
    pub name: &'static str,
    args: &'static str,
    about: &'static str,
    run: fn(&mut Shell<'_>, &str) -> Next,
}

const fn command(
    name: &'static str,
    args: &'static str,
    about: &'static str,
    run: fn(&mut Shell<'_>, &str) -> Next,
) -> Command {
    Command { name, args, about, run }
}

/// All commands, in the order in which `:help` lists them.
pub const COMMANDS: &[Command] = &[
    command("help", "", "what you read now", |shell, _| help(shell)),
    command("type", "E", "the type of an expression, which is not run", type_of),
    command(
        "asm",
        "F",
        "the machine code of a function (or of statements), source lines between",
        |shell, args| emit_stage(shell, Stage::Asm, args),
    ),
    command("cfg", "F", "its three-address code over variables", |shell, args| {
        emit_stage(shell, Stage::Cfg, args)
    }),
    command("ssa", "F", "its SSA form", |shell, args| emit_stage(shell, Stage::Ssa, args)),
    command(
        "emit",
        "STAGE F",
        "what a stage makes of it: cfg ssa opt vcode regalloc asm",
        |shell, args| {
            let (stage, rest) = split(args);
            match Stage::named(stage) {
                Some(stage) => emit_stage(shell, stage, rest),
                None => shell.error_meaning(
                    "a stage is cfg, ssa, opt, vcode, regalloc or asm",
                    nearest(stage, Stage::ALL.map(Stage::name).into_iter()),
                ),
            }
        },
    ),
    command("analyze", "PROBLEM F", "a dataflow problem solved on it", analyze),
    command("time", "E", "how long compiling and running it takes, several times", time),
    command("bench", "E", "the same at each optimisation level", bench),
    command("opt", "N", "compiles at level N from now on", optimise),
    command("load", "FILE", "enters a file", load),
    command("save", "FILE", "writes what was declared and done to a file", save),
    command("vars", "", "the variables, functions and structs there are", |shell, _| {
        variables(shell)
    }),
    command("doc", "NAME", "what a name, a builtin or a diagnostic code means", doc),
    command("reset", "", "forgets everything", |shell, _| reset(shell)),
    command("quit", "", "leaves (as Ctrl-D does)", |shell, _| Next::Leave(shell.failed)),
];

/// The first word and the rest.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

/// Runs a command, given without its colon. A beginning that only one has will do.
pub fn run(shell: &mut Shell<'_>, text: &str) -> Next {
    let (name, args) = split(text);
    let mut fitting = COMMANDS.iter().filter(|c| !name.is_empty() && c.name.starts_with(name));
    let exact = COMMANDS.iter().find(|command| command.name == name);
    match (exact, fitting.next(), fitting.next()) {
        (Some(command), ..) | (None, Some(command), None) => {
            if !command.args.is_empty() && args.is_empty() {
                return shell.error(&format!("write `:{} {}`", command.name, command.args));
            }
            (command.run)(shell, args)
        }
        (None, Some(_), Some(_)) => shell.error(&format!("`:{name}` may be several commands")),
        (None, None, _) => {
            let meant = nearest(name, COMMANDS.iter().map(|command| command.name));
            let meant = meant.map(|meant| format!(":{meant}"));
            let message = format!("there is no command `:{name}`; `:help` lists them");
            shell.error_meaning(&message, meant.as_deref())
        }
    }
}

fn help(shell: &mut Shell<'_>) -> Next {
    let mut text = String::new();
    for Command { name, args, about, .. } in COMMANDS {
        let _ = writeln!(text, "  {:<18} {about}", format!(":{name} {args}"));
    }
    text += "A command may be cut short: `:an live f`. Anything else is code. `_` is the last value. A `;`\n\
             at its end may be left out.\n";
    shell.say(&text)
}

fn type_of(shell: &mut Shell<'_>, text: &str) -> Next {
    match shell.session.type_of(text) {
        Ok(Some(ty)) => shell.say(&format!("{ty}\n")),
        Ok(None) => shell.say("no value\n"),
        Err(failure) => shell.tell_failure(&failure),
    }
}

/// What is made of a function of the session, or of statements where it is no function's name.
fn viewed<T>(
    shell: &mut Shell<'_>,
    text: &str,
    show: impl FnOnce(&View<'_>) -> T,
) -> Result<T, Next> {
    if text.is_empty() {
        return Err(shell.error("name a function"));
    }
    let viewed = shell.session.view(text).map(|view| show(&view));
    viewed.map_err(|failure| shell.tell_failure(&failure))
}

fn emit_stage(shell: &mut Shell<'_>, stage: Stage, text: &str) -> Next {
    match viewed(shell, text, |view| view.emit(stage)) {
        Ok(Ok(text)) if shell.color && stage == Stage::Asm => shell.say(&paint_assembly(&text)),
        Ok(Ok(text)) => shell.say(&text),
        Ok(Err(fault)) => shell.tell_failure(&Failure::Fault(fault.to_string())),
        Err(next) => next,
    }
}

fn analyze(shell: &mut Shell<'_>, args: &str) -> Next {
    let (name, text) = split(args);
    let Some(problem) = problem(name) else {
        let names: Vec<&str> = PROBLEMS.iter().map(|row| row.name).collect();
        let message = format!("a problem is one of {}", names.join(", "));
        return shell.error_meaning(&message, nearest(name, names.into_iter()));
    };
    match viewed(shell, text, |view| view.analyze(problem).text(false)) {
        Ok(text) => shell.say(&text),
        Err(next) => next,
    }
}

/// How often an entry is measured, and how often at each level.
const RUNS: usize = 9;

/// Seconds of processor time that compiling and running an entry took, by round.
type Rounds = (Vec<f64>, Vec<f64>);

/// Measures an entry at levels in turn. Each run but the first is without its output.
fn measure(shell: &mut Shell<'_>, text: &str, levels: &[u8]) -> Result<Vec<Rounds>, Failure> {
    let mut rounds = vec![Rounds::default(); levels.len()];
    let mut quiet = false;
    for _ in 0..RUNS {
        for (&level, (compile, run)) in levels.iter().zip(&mut rounds) {
            let timings = enter_once(shell, text, level, quiet)?;
            let ran = timings.stage("run");
            run.push(ran.as_secs_f64());
            compile.push(timings.total().saturating_sub(ran).as_secs_f64());
            quiet = true;
        }
    }
    Ok(rounds)
}

fn enter_once(
    shell: &mut Shell<'_>,
    text: &str,
    level: u8,
    quiet: bool,
) -> Result<Timings, Failure> {
    let mut timings = Timings::by(Clock::Processor);
    let before = shell.session.level();
    shell.session.set_level(level);
    let output = quiet.then(|| shell.session.set_output(Output::to(Box::new(io::sink()))));
    let result = shell.enter(text, &mut timings);
    if let Some(output) = output {
        shell.session.set_output(output);
    }
    shell.session.set_level(before);
    result.map(|_| timings)
}

fn time(shell: &mut Shell<'_>, text: &str) -> Next {
    let level = shell.session.level();
    told(shell, text, &[level])
}

fn bench(shell: &mut Shell<'_>, text: &str) -> Next {
    told(shell, text, &[0, 1, 2, 3])
}

fn told(shell: &mut Shell<'_>, text: &str, levels: &[u8]) -> Next {
    match measure(shell, text, levels) {
        Ok(rounds) => {
            let rows = levels.iter().zip(&rounds).map(|(level, (compile, run))| {
                (format!("-O{level}"), Summary::of(compile), Summary::of(run))
            });
            shell.say(&table::levels(&rows.collect::<Vec<_>>()))
        }
        Err(failure) => shell.tell_failure(&failure),
    }
}

fn optimise(shell: &mut Shell<'_>, text: &str) -> Next {
    match text.parse() {
        Ok(level @ 0..=3) => {
            shell.session.set_level(level);
            Next::Go
        }
        _ => shell.error("a level is 0, 1, 2 or 3"),
    }
}

fn load(shell: &mut Shell<'_>, path: &str) -> Next {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return shell.error(&format!("can't read {path}: {error}")),
    };
    match decode(bytes) {
        Ok(text) if text.starts_with(SAVED) => load_saved(shell, path, &text),
        Ok(text) => shell.enter_and_tell(Some(path), &text),
        Err(problem) => {
            shell.error(&format!("{path}:{}:{}: {problem}", problem.line, problem.column))
        }
    }
}

/// The first line of a saved session, and the line between two entries: a session may define a name
/// again, as a program may not.
const SAVED: &str = "// a session of toyjit\n";
const BETWEEN: &str = "// then\n";

/// Enters what was saved, entry after entry, up to the first that fails.
fn load_saved(shell: &mut Shell<'_>, path: &str, text: &str) -> Next {
    let failed = std::mem::take(&mut shell.failed);
    let mut next = Next::Go;
    let mut lines = 1;
    for entry in text[SAVED.len()..].split(BETWEEN) {
        // Messages count the lines of the file.
        let placed = "\n".repeat(lines) + entry;
        next = shell.enter_and_tell(Some(path), &placed);
        if shell.failed != 0 || matches!(next, Next::Leave(_)) {
            break;
        }
        lines += entry.matches('\n').count() + 1;
    }
    if failed != 0 {
        shell.failed = failed;
    }
    next
}

fn save(shell: &mut Shell<'_>, path: &str) -> Next {
    let mut text = SAVED.to_owned();
    for (number, entry) in shell.log.iter().enumerate() {
        text += if number > 0 { BETWEEN } else { "" };
        text += entry;
        text += if entry.ends_with([';', '}']) { "\n" } else { ";\n" };
    }
    match std::fs::write(path, text) {
        Ok(()) => Next::Go,
        Err(error) => shell.error(&format!("can't write {path}: {error}")),
    }
}

fn variables(shell: &mut Shell<'_>) -> Next {
    let mut text = String::new();
    for variable in shell.session.variables() {
        let keyword = if variable.mutable { "var" } else { "let" };
        let _ = writeln!(text, "{keyword} {}: {} = {}", variable.name, variable.ty, variable.value);
    }
    for head in shell.session.definitions() {
        let _ = writeln!(text, "{head}");
    }
    shell.say(&text)
}

fn doc(shell: &mut Shell<'_>, name: &str) -> Next {
    if let Some(text) = shell.session.describe(name) {
        return shell.say(&format!("{text}\n"));
    }
    if let Some((_, call, about)) = BUILTINS.iter().find(|row| row.0 == name) {
        return shell.say(&format!("{call}\n  {about}\n"));
    }
    match explanation(name) {
        Some(text) => shell.say(&text),
        None => {
            let names = shell.session.names();
            let names = names.iter().map(String::as_str).chain(BUILTINS.iter().map(|row| row.0));
            let meant = nearest(name, names).or_else(|| nearest_code(name)).map(str::to_owned);
            shell.error_meaning(&format!("nothing is known of `{name}`"), meant.as_deref())
        }
    }
}

fn reset(shell: &mut Shell<'_>) -> Next {
    let level = shell.session.level();
    match new_session(shell.args, shell.color || io::stdin().is_terminal()) {
        Ok(session) => {
            shell.session = session;
            shell.session.set_level(level);
            shell.log.clear();
            Next::Go
        }
        Err(stop) => shell.error(&format!("no memory for a session: {stop:?}")),
    }
}
