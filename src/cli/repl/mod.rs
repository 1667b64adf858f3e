//! `toyjit repl`, and `toyjit` without arguments: entries are compiled and run as they come.
//!
//! On a terminal there is a line editor; from a pipe there are no prompts and no colours. Values go to
//! standard output, messages to standard error.

mod builtins;
mod commands;
mod editor;
mod paint;

use super::exit::{EXIT_ERRORS, EXIT_FAULT, EXIT_INTERRUPTED, EXIT_TRAP, EXIT_USAGE};
use super::limits::LimitArgs;
use super::run::CompileArgs;
use super::source;
use clap::Args;
use editor::Assistant;
use etcetera::BaseStrategy;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Editor};
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::PathBuf;
use toyjit::engine::{ExitCodes, Input, Language, Stop, Watch};
use toyjit::session::{Failure, Outcome, Session};
use toyjit::source::{Sources, Trace};
use toyjit::timing::Timings;

/// Enter code line by line.
#[derive(Args)]
#[command(after_help = "\
Examples:
  toyjit                                     the same as toyjit repl
  toyjit repl -O0                            entries compiled fastest
  printf '1 + 1\\n:asm f\\n' | toyjit repl     entries from a pipe: no prompts, no colours")]
pub struct ReplArgs {
    #[command(flatten)]
    compile: CompileArgs,

    #[command(flatten)]
    limits: LimitArgs,
}

/// How many entries the history keeps.
const HISTORY: usize = 10_000;

/// A session with its face.
pub struct Shell<'a> {
    args: &'a ReplArgs,
    session: Session,
    color: bool,
    /// The entries that ran, for `:save`.
    log: Vec<String>,
    /// The exit code of the first entry that failed.
    failed: i32,
}

/// Whether the shell goes on.
pub enum Next {
    /// On with the next entry.
    Go,
    /// The session ends with this exit code.
    Leave(i32),
}

pub fn main(args: &ReplArgs) -> i32 {
    let interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
    let session = match new_session(args, interactive) {
        Ok(session) => session,
        Err(stop) => {
            return source::stop_code(Language::Toy, &Sources::new(), &stop, &Trace::default());
        }
    };
    let color = interactive && source::color();
    let mut shell = Shell { args, session, color, log: Vec::new(), failed: 0 };
    match interactive {
        true => shell.on_terminal(),
        false => shell.run_pipe(),
    }
}

fn new_session(args: &ReplArgs, interactive: bool) -> Result<Session, Stop> {
    let engine = args.limits.apply(args.compile.engine());
    let mut session = Session::new(&engine)?;
    if !interactive {
        // The program's input and the entries are one stream: nothing may be read ahead.
        session.set_input(Input::from(Box::new(BufReader::with_capacity(1, io::stdin()))));
    }
    Ok(session)
}

impl Shell<'_> {
    fn run_pipe(&mut self) -> i32 {
        let mut text = String::new();
        loop {
            let mut line = Vec::new();
            let read = io::stdin().lock().read_until(b'\n', &mut line);
            let is_end = !matches!(read, Ok(n) if n > 0);
            text.push_str(&String::from_utf8_lossy(&line));
            let is_command = text.starts_with(':');
            if !is_end && !is_command && paint::is_incomplete(&text) {
                continue;
            }
            if let Next::Leave(code) = self.entry(text.trim_end()) {
                return code;
            }
            text.clear();
            if is_end {
                return self.failed;
            }
        }
    }

    fn on_terminal(&mut self) -> i32 {
        let mut editor = match self.editor() {
            Ok(editor) => editor,
            Err(error) => {
                source::complain(&format!("no line editor: {error}"), None);
                return EXIT_FAULT;
            }
        };
        let history = history_file();
        if let Some(file) = &history {
            // There is none the first time.
            let _ = editor.load_history(file);
        }
        anstream::println!("toyjit {}; :help tells what there is", env!("CARGO_PKG_VERSION"));
        let code = loop {
            if let Some(helper) = editor.helper_mut() {
                helper.names = self.session.names();
            }
            match editor.readline("toy> ") {
                Ok(text) => {
                    if !text.trim().is_empty() {
                        // A history that can't be kept is none.
                        let _ = editor.add_history_entry(text.as_str());
                    }
                    if let Next::Leave(code) = self.entry(&text) {
                        break code;
                    }
                }
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => break 0,
                Err(error) => {
                    source::complain(&error.to_string(), None);
                    break EXIT_FAULT;
                }
            }
        };
        if let Some(file) = &history
            && let Err(error) = editor.save_history(file)
        {
            source::complain(&format!("can't write {}: {error}", file.display()), None);
        }
        code
    }

    fn editor(&self) -> rustyline::Result<Editor<Assistant, DefaultHistory>> {
        let config = rustyline::Config::builder()
            .max_history_size(HISTORY)?
            .history_ignore_dups(true)?
            .completion_type(CompletionType::List)
            .bracketed_paste(true)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Assistant { names: Vec::new(), color: self.color }));
        Ok(editor)
    }

    /// Does what a line, or a number of lines, says.
    fn entry(&mut self, text: &str) -> Next {
        let text = text.trim();
        if text.is_empty() {
            return Next::Go;
        }
        if let Some(command) = text.strip_prefix(':') {
            return commands::run(self, command);
        }
        self.enter_and_tell(None, text)
    }

    /// Compiles and runs an entry, which Ctrl-C ends, and tells what came of it.
    fn enter_and_tell(&mut self, name: Option<&str>, text: &str) -> Next {
        let watch = self.watch();
        let timings = &mut Timings::new();
        let result = match name {
            Some(name) => self.session.enter_as(name, text, timings),
            None => self.session.enter(text, timings),
        };
        let next = self.tell(text, result);
        self.end(watch);
        next
    }

    /// Compiles and runs an entry, which Ctrl-C ends.
    fn enter(&mut self, text: &str, timings: &mut Timings) -> Result<Outcome, Failure> {
        let watch = self.watch();
        let result = self.session.enter(text, timings);
        self.end(watch);
        result
    }

    /// Begins to watch over an entry. Without a thread that watches, Ctrl-C ends the process.
    fn watch(&self) -> Option<Watch> {
        let codes = ExitCodes { interrupted: EXIT_INTERRUPTED, out_of_time: EXIT_TRAP };
        Watch::start(self.session.interrupter(), self.args.limits.timeout(), codes).ok()
    }

    /// Ends it. What came too late for this entry is not for the next.
    fn end(&self, watch: Option<Watch>) {
        drop(watch);
        self.session.interrupter().clear();
    }

    /// Tells what came of an entry.
    fn tell(&mut self, text: &str, result: Result<Outcome, Failure>) -> Next {
        match result {
            Ok(outcome) => {
                source::tell(self.session.sources(), &outcome.warnings);
                for note in &outcome.notes {
                    source::note(note);
                }
                self.log.push(text.trim().to_owned());
                match outcome.value {
                    Some((value, ty)) => self.say(&format!("= {value} : {ty}\n")),
                    None => Next::Go,
                }
            }
            Err(failure) => self.tell_failure(&failure),
        }
    }

    fn tell_failure(&mut self, failure: &Failure) -> Next {
        let code = match failure {
            Failure::Diagnostics(list) => {
                source::tell(self.session.sources(), list);
                EXIT_ERRORS
            }
            Failure::Stopped(halt) => {
                let code = source::stop_code(
                    Language::Toy,
                    self.session.sources(),
                    &halt.stop,
                    &halt.trace,
                );
                if !matches!(halt.stop, Stop::Trap(_)) {
                    return Next::Leave(code);
                }
                code
            }
            Failure::Fault(what) => source::fault(what),
        };
        if self.failed == 0 {
            self.failed = code;
        }
        Next::Go
    }

    /// Writes to standard output.
    fn say(&self, text: &str) -> Next {
        match super::print(text) {
            0 => Next::Go,
            code => Next::Leave(code),
        }
    }

    fn error(&mut self, message: &str) -> Next {
        self.error_meaning(message, None)
    }

    /// The same, with what was perhaps meant.
    fn error_meaning(&mut self, message: &str, meant: Option<&str>) -> Next {
        source::complain(message, meant);
        if self.failed == 0 {
            self.failed = EXIT_USAGE;
        }
        Next::Go
    }
}

/// Where the history is kept across sessions.
fn history_file() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir()).join("toyjit");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}
