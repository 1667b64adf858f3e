//! A process that judges, and the parent's handle on it.
//!
//! Programs are judged in a process of its own, so that a crash, a hang or too much memory is a
//! finding and not the end of the run. One worker lives as long as nothing goes wrong with it.
//!
//! The parent writes requests, one a line, to the worker's standard input:
//!
//! ```text
//! seeds MATTER FIRST COUNT
//! judge MATTER SEED LENGTH ENGINE        (all engines of the seed where ENGINE is empty)
//! …LENGTH bytes…
//! cover MATTER SEED COUNT FILE           (the input at hand is kept in the file, the corpus beside it)
//! ```
//!
//! The worker answers with a line of JSON for each program; for `cover` with one for each that fails
//! and one at the end. Where it stays silent while it uses
//! [`PATIENCE`] of processor time, it hangs: on a busy machine silence alone says nothing.

use crate::cover::Explorer;
use crate::fault::Fault;
use crate::verdict::{Failure, Matter, Verdict, judge, judge_by, keep_panics};
use clap::{Args, ValueEnum};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The kind of failure of a worker that is silent.
pub const HANG: &str = "hang";
/// How much processor time a worker may use in silence, where nobody says otherwise.
const PATIENCE: Duration = Duration::from_secs(20);
/// So many times as long it may be silent and use none: then it waits for what never comes.
const ROUNDS: usize = 15;
/// The stack that programs are judged on: the front end wants more than a thread's usual.
const STACK: usize = 384 << 20;

/// How a worker is to be.
#[derive(Args, Clone, Debug)]
pub struct WorkerArgs {
    /// How many MiB of address space a worker may take beside its stack.
    #[arg(long, default_value_t = 4096)]
    memory: u64,
    /// The fault that its compiler has.
    #[arg(long)]
    fault: Option<Fault>,
}

impl WorkerArgs {
    /// What judges this matter: a text must not take more than 256 MiB of the front end.
    pub fn of(matter: Matter) -> Self {
        Self { memory: if matter == Matter::Front { 256 } else { 4096 }, fault: None }
    }

    /// With a fault in its compiler, or none.
    pub fn with_fault(self, fault: impl Into<Option<Fault>>) -> Self {
        Self { fault: fault.into(), ..self }
    }
}

/// The worker's own side: answers requests until there are no more.
pub fn serve(args: &WorkerArgs) -> i32 {
    keep_panics();
    if let Some(fault) = args.fault {
        fault.install();
    }
    let memory = args.memory << 20;
    let judge = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        limit_memory(memory);
        // The end of the conversation is the end of the work.
        let _ = answer(&mut BufReader::new(io::stdin()), &mut io::stdout());
    });
    i32::from(judge.is_err() || judge.is_ok_and(|judge| judge.join().is_err()))
}

/// Allows so many bytes of address space beyond what is in use.
fn limit_memory(allowance: u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let in_use =
        status.lines().find_map(|line| line.strip_prefix("VmSize:")?.split_whitespace().next());
    let in_use: u64 = in_use.and_then(|kilobytes| kilobytes.parse().ok()).unwrap_or(0);
    let limit = (in_use << 10) + allowance;
    let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
    if let Err(error) = setrlimit(Resource::As, limit) {
        eprintln!("error: can't limit the memory: {error}");
    }
}

fn answer(requests: &mut impl BufRead, answers: &mut impl Write) -> io::Result<()> {
    let mut line = String::new();
    let mut explorer: Option<Explorer> = None;
    loop {
        line.clear();
        if requests.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut words = line.trim_end_matches('\n').splitn(5, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (verb, matter) = (word(), word());
        let Ok(matter) = Matter::from_str(matter, false) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let mut number = || word().parse().map_err(|_| io::ErrorKind::InvalidInput);
        match verb {
            "seeds" => {
                let (first, count): (u64, u64) = (number()?, number()?);
                for seed in first..first.saturating_add(count) {
                    writeln!(
                        answers,
                        "{}",
                        encode(seed, &judge(matter, &matter.text(seed), seed))
                    )?;
                    answers.flush()?;
                }
            }
            "judge" => {
                let (seed, length): (u64, u64) = (number()?, number()?);
                let engine = word();
                let mut text = vec![0; length as usize];
                requests.read_exact(&mut text)?;
                let verdict = match engine.parse() {
                    Ok(engine) => judge_by(matter, &text, &[engine]),
                    Err(_) => judge(matter, &text, seed),
                };
                writeln!(answers, "{}", encode(seed, &verdict))?;
                answers.flush()?;
            }
            "cover" => {
                let (seed, count): (u64, u64) = (number()?, number()?);
                let current = PathBuf::from(word());
                let folder = current.parent().unwrap_or(Path::new("."));
                let explorer = explorer.get_or_insert_with(|| Explorer::new(matter, folder, seed));
                let batch = explorer.batch(count, &current)?;
                for (text, failure) in batch.failures {
                    let mut answer = encode(seed, &Verdict::Fail(failure));
                    answer["text"] = text.into();
                    writeln!(answers, "{answer}")?;
                }
                let end = json!({ "corpus": batch.corpus, "edges": batch.edges });
                writeln!(answers, "{end}")?;
                answers.flush()?;
            }
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

fn encode(seed: u64, verdict: &Verdict) -> Value {
    match verdict {
        Verdict::Agree { trapped } => json!({ "seed": seed, "trapped": trapped }),
        Verdict::Discard => json!({ "seed": seed, "discard": true }),
        Verdict::Fail(Failure { engine, kind, detail }) => {
            json!({ "seed": seed, "engine": engine, "kind": kind, "detail": detail })
        }
    }
}

fn decode(answer: &Value) -> Verdict {
    let text = |key: &str| answer[key].as_str().map(str::to_owned);
    match text("engine") {
        Some(engine) => Verdict::Fail(Failure {
            engine,
            kind: text("kind").unwrap_or_default(),
            detail: text("detail").unwrap_or_default(),
        }),
        None if answer["discard"] == true => Verdict::Discard,
        None => Verdict::Agree { trapped: answer["trapped"] == true },
    }
}

/// How a worker ended that should not have: `crash: signal N` or `hang`.
pub struct Died(pub String);

/// The parent's handle.
pub struct Worker {
    args: WorkerArgs,
    /// How much processor time it may use in silence.
    pub patience: Duration,
    process: Option<Process>,
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
}

impl Process {
    /// The next answer, for which the worker may take its time.
    fn hear(&self, patience: Duration) -> Result<String, RecvTimeoutError> {
        let before = self.processor_time();
        for _ in 0..ROUNDS {
            let answer = self.answers.recv_timeout(patience);
            let used = self.processor_time().saturating_sub(before);
            if answer != Err(RecvTimeoutError::Timeout) || used >= patience {
                return answer;
            }
        }
        Err(RecvTimeoutError::Timeout)
    }

    /// What it has used so far, user and system, as the system tells; nothing of a process that is
    /// gone.
    fn processor_time(&self) -> Duration {
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = std::fs::read_to_string(path).unwrap_or_default();
        // The name, in brackets, may hold anything; the fourteenth and fifteenth fields are ticks.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: u64 =
            fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1))
    }
}

impl Worker {
    /// A worker; its process starts when it is needed.
    pub fn new(args: WorkerArgs) -> Self {
        Self { args, patience: PATIENCE, process: None }
    }

    fn process(&mut self) -> io::Result<&mut Process> {
        let process = match self.process.take() {
            Some(process) => process,
            None => Process::start(&self.args)?,
        };
        Ok(self.process.insert(process))
    }

    /// Judges the seeds in order and tells of each; the seed at which it died, if it did.
    pub fn seeds(
        &mut self,
        matter: Matter,
        first: u64,
        count: u64,
        mut each: impl FnMut(u64, Verdict),
    ) -> Result<(), (u64, Died)> {
        let request = format!("seeds {} {first} {count}\n", matter.name());
        for seed in first..first + count {
            let ask = if seed == first { request.as_bytes() } else { &[] };
            let answer = self.exchange(ask).map_err(|died| (seed, died))?;
            each(seed, decode(&answer));
        }
        Ok(())
    }

    /// Judges a text: by the engine, or by all of a seed where none is named.
    pub fn judge(&mut self, matter: Matter, text: &[u8], seed: u64, engine: &str) -> Verdict {
        // A program that fails before it comes to an engine is judged by all.
        let engine = if engine == crate::verdict::FRONT { "" } else { engine };
        let mut request =
            format!("judge {} {seed} {} {engine}\n", matter.name(), text.len()).into_bytes();
        request.extend_from_slice(text);
        match self.exchange(&request) {
            Ok(answer) => decode(&answer),
            Err(Died(kind)) => {
                let detail = String::new();
                Verdict::Fail(Failure { engine: engine.to_owned(), kind, detail })
            }
        }
    }

    /// Has so many texts changed and judged, and tells of each that fails; how many texts are kept, and
    /// how many edges reached.
    pub fn cover(
        &mut self,
        matter: Matter,
        (seed, count): (u64, u64),
        current: &Path,
        mut each: impl FnMut(Vec<u8>, Failure),
    ) -> Result<(u64, u64), Died> {
        let request = format!("cover {} {seed} {count} {}\n", matter.name(), current.display());
        let mut ask = request.as_bytes();
        loop {
            let answer = self.exchange(std::mem::take(&mut ask))?;
            let Verdict::Fail(failure) = decode(&answer) else {
                let figure = |key: &str| answer[key].as_u64().unwrap_or(0);
                return Ok((figure("corpus"), figure("edges")));
            };
            let bytes = answer["text"].as_array().into_iter().flatten();
            each(bytes.filter_map(Value::as_u64).map(|byte| byte as u8).collect(), failure);
        }
    }

    fn exchange(&mut self, request: &[u8]) -> Result<Value, Died> {
        let patience = self.patience;
        let process = self.process().map_err(|error| Died(format!("can't start: {error}")))?;
        // Where the worker is gone, its silence tells.
        let _ = process.requests.write_all(request).and_then(|()| process.requests.flush());
        match process.hear(patience) {
            Ok(line) => Ok(serde_json::from_str(&line).unwrap_or(Value::Null)),
            Err(why) => {
                let mut process = self.process.take();
                let status = process.as_mut().map(|process| {
                    if why == RecvTimeoutError::Timeout {
                        let _ = process.child.kill();
                    }
                    process.child.wait()
                });
                Err(Died(match (why, status) {
                    (RecvTimeoutError::Timeout, _) => HANG.into(),
                    (_, Some(Ok(status))) => match status.signal() {
                        Some(signal) => format!("crash: signal {signal}"),
                        None => format!("crash: {status}"),
                    },
                    _ => "crash".into(),
                }))
            }
        }
    }
}

impl Process {
    fn start(args: &WorkerArgs) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["worker", "--memory", &args.memory.to_string()]);
        if let Some(fault) = args.fault {
            command.args(["--fault", fault.name()]);
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (Some(requests), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, requests, answers })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
